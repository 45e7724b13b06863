# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# Production kernels on the virtual SM120: kernel x data x model x seed. The quick part runs each kernel over data of five
# kinds; FPO_LONG=1 adds both models and five seeds for all of them. All outputs are compared, bit for bit.
runs=0

# the plug-in must be there: needs PLUGIN PACKAGE
needs() {
    plugin=$1
    [ -e "$FPO_PLUGINS/$plugin.so" ] ||
        skip "$plugin is not compiled (tools/get_nvcc or a CUDA 13 toolkit; tools/fetch_packages $2; cmake -DFPO_BUILD_KERNELS=ON)"
}

# matches COUNT OPTIONS...: so many kernels take v.safetensors, and each returns all bits of the model.
matches() {
    local wanted=$1
    shift
    run 0 run --kernel "$plugin" "$@" v.safetensors
    out "^$wanted matched, 0 diverged, 0 failed"
    runs=$((runs + wanted))
}

vector() { run 0 gen "$@" -o v.safetensors; }

# all_data COUNT FORMAT MODEL SECOND KEY RAGGED ALPHA: the kernels of a format over every kind of data. KEY and SECOND are the
# machine's name of the instruction and another model for it; RAGGED is a shape, ALPHA 1 where a kernel has none.
all_data() {
    local count=$1 format=$2 model=$3 second=$4 key=$5 ragged=$6 alpha=$7 seed
    local kinds=("powers 128x128x256 1" "codes 128x128x256 1" "uniform $ragged $alpha" "ladder 128x128x4096 1" "gaussian 128x256x512 $alpha")
    local kind first=yes
    for kind in "${kinds[@]}"; do
        read -r data shape factor <<<"$kind"
        vector --data "$data" --shape "$shape" --alpha "$factor" --format "$format" --model "$model"
        if [ "$data" = uniform ]; then
            matches "$count" --device virtual:sm120,sms=3 # twelve launches each: poison, guards, padding, stale data
        else
            matches "$count" --device virtual:sm120,seed=5,sms=2 --once
        fi
        [ -n "$first" ] && out 'VIRTUAL SM120'
        first=""
        [ -n "${FPO_LONG-}" ] || continue
        for seed in 1 2 3 4 6; do
            matches "$count" --device "virtual:sm120,seed=$seed,sms=$((seed + 1))" --once
            matches "$count" --device "virtual:sm120,seed=$seed,$key=$second" --model "$second" --once
        done
    done
    # The quick part has the second model once, on data that tells the two apart.
    vector --data ladder --shape 128x128x512 --format "$format" --model "$model" --model "$second"
    matches "$count" --device "virtual:sm120,$key=$second" --model "$second" --once
}

matrix_done() {
    echo "$runs runs of $plugin${FPO_LONG:+, the long list}"
    finish
}

# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# Production kernels on the virtual SM120: kernel x data x model x seed. The quick part runs each kernel over data of five
# kinds; FPO_LONG=1 adds both models and five seeds for all of them. All outputs are compared, bit for bit.
# FPO_SHARE=I/N does every N-th run from the I-th on, I from 0 (tests/cli/long_list.sh starts N of them).
runs=0 step=0
share=${FPO_SHARE:-0/1}
[[ $share =~ ^[0-9]+/[1-9][0-9]*$ ]] && [ "${share%/*}" -lt "${share#*/}" ] || { echo "FPO_SHARE=$share is not I/N with I < N"; exit 2; }
[ -z "${FPO_SHARE-}" ] || threads=,threads=1
: >"$work/tally"

# the plug-in must be there: needs PLUGIN PACKAGE
needs() {
    plugin=$1
    [ -e "$FPO_PLUGINS/$plugin.so" ] ||
        skip "$plugin is not compiled (tools/get_nvcc or a CUDA 13 toolkit; tools/fetch_packages $2; cmake -DFPO_BUILD_KERNELS=ON)"
}

# mine: whether the next run is one of this share's.
mine() {
    local number=$((step++))
    [ $((number % ${share#*/})) = "${share%/*}" ]
}

# vector OPTIONS...: what v.safetensors is from now on; made when a run of this share needs it.
vector() {
    options=("$@")
    made=""
}
make_vector() {
    [ -n "$made" ] || run 0 gen "${options[@]}" -o v.safetensors
    made=yes
}

# runs of each kernel and those with all bits right, from the output of `run`
tally() {
    awk '$1 == "kernel" { k = $2 } $2 == "v.safetensors" && $1 != "unsupported" { print k, $1 == "match" }' "$work/out" >>"$work/tally"
}

# matches COUNT DEVICE OPTIONS...: so many kernels take v.safetensors, and each returns all bits of the model.
matches() {
    local count=$1 device=$2
    shift 2
    mine || return 0
    make_vector
    run 0 run --kernel "$plugin" --device "$device${threads-}" "$@" v.safetensors
    out "^$count matched, 0 diverged, 0 failed"
    out "VIRTUAL ${machine-SM120}"
    tally
    runs=$((runs + count))
}

# all_data COUNT FORMAT MODEL SECOND KEY RAGGED ALPHA: the kernels of a format over every kind of data. KEY and SECOND are the
# machine's name of the instruction and another model for it; RAGGED is a shape, ALPHA 1 where a kernel has none.
all_data() {
    local count=$1 format=$2 model=$3 second=$4 key=$5 ragged=$6 alpha=$7 seed
    local long=4096
    [ -z "${FPO_SANITIZED-}" ] || long=1024
    local kinds=("powers 128x128x256 1" "codes 128x128x256 1" "uniform $ragged $alpha" "ladder 128x128x$long 1" "gaussian 128x256x512 $alpha")
    local kind
    for kind in "${kinds[@]}"; do
        read -r data shape factor <<<"$kind"
        vector --data "$data" --shape "$shape" --alpha "$factor" --format "$format" --model "$model"
        if [ "$data" = uniform ]; then
            matches "$count" virtual:sm120,sms=3 # twelve launches each: poison, guards, padding, stale data
        else
            matches "$count" virtual:sm120,seed=5,sms=2 --once
        fi
        [ -n "${FPO_LONG-}" ] || continue
        for seed in 1 2 3 4 6; do
            matches "$count" "virtual:sm120,seed=$seed,sms=$((seed + 1))" --once
            matches "$count" "virtual:sm120,seed=$seed,$key=$second" --model "$second" --once
        done
    done
    # The quick part has the second model once, on data that tells the two apart.
    vector --data ladder --shape 128x128x512 --format "$format" --model "$model" --model "$second"
    matches "$count" "virtual:sm120,$key=$second" --model "$second" --once
}

matrix_done() {
    sort "$work/tally" | awk '{ n[$1]++; right[$1] += $2 } END { for (k in n) printf "%s: %d of %d runs, all bits right\n", k, right[k], n[k] }' | sort
    echo "$runs runs of $plugin${FPO_LONG:+, the long list}${FPO_SHARE:+, share $FPO_SHARE}, $failures checks failed"
    finish
}

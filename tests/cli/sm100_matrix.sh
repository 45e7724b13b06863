# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# The kernels for SM100 on the virtual one: kernel x data x model x seed, all outputs compared, bit for bit. The quick part
# runs each kernel over data of five kinds, and with another model on data that tells the two apart. FPO_LONG=1 has nine
# vectors, K = 4096 among them, each with both models and five seeds. FPO_SHARE=I/N as for SM120.
. "$FPO_SOURCE_DIR/tests/cli/sm120_matrix.sh" || exit 1
machine=SM100
ran=""

# run_takers DEVICE OPTIONS...: the vector through the kernels of each PLUGIN[:PATTERN]=COUNT in `takers` that is there.
run_takers() {
    local taker
    for taker in $takers; do
        plugin=${taker%=*}
        case $plugin in
        *.json) [ -e "$plugin" ] || continue ;;
        *) [ -e "$FPO_PLUGINS/${plugin%%:*}.so" ] || continue ;;
        esac
        matches "${taker##*=}" "$@"
        ran=yes
    done
}

# refused KERNEL FORMAT DATA MODEL KEY=SECOND: the bits are the instruction's, which SECOND makes other ones.
refused() {
    [ -e "$FPO_PLUGINS/${1%%/*}.so" ] || return
    mine || return 0
    vector --data "$3" --shape 40x128x256 --format "$2" --model "$4"
    make_vector
    run 1 run --kernel "${1%%/*}:$1" --device "virtual:sm100,$5" --model "$4" --once --no-diagnosis v.safetensors
    out '^0 matched, 1 diverged, 0 failed'
}

# kernels_of FORMAT MODEL SECOND KEY TELLS RAGGED ALPHA PLUGIN[:PATTERN]=COUNT...: KEY is the machine's name of the instruction, SECOND
# another model for it, TELLS the data that tell the two apart, RAGGED a shape, ALPHA 1 where a kernel has none.
kernels_of() {
    local format=$1 model=$2 second=$3 key=$4 tells=$5 ragged=$6 alpha=$7 kind data shape factor seed
    shift 7
    takers=$*
    local kinds=("powers 136x128x256 1" "codes 136x128x256 1" "scale_codes 136x128x256 1" "uniform $ragged $alpha" "$tells 136x128x128 1")
    [ -z "${FPO_LONG-}" ] || kinds+=("$tells 136x128x512 1" "special 136x128x256 1" "uniform 136x128x4096 1" "gaussian 392x128x512 $alpha")
    for kind in "${kinds[@]}"; do
        read -r data shape factor <<<"$kind"
        vector --data "$data" --shape "$shape" --alpha "$factor" --format "$format" --model "$model"
        run_takers virtual:sm100,seed=5,sms=3 --once
        [ "$data" = "$tells" ] && run_takers "virtual:sm100,sms=2,$key=$second" --model "$second" --once
        [ -n "${FPO_LONG-}" ] || continue
        [ "$data" = uniform ] && run_takers virtual:sm100 # eight launches and more: poison, guards, padding, stale data
        for seed in 1 2 3 4 6; do
            run_takers "virtual:sm100,seed=$seed,sms=$((seed + 1))" --once
            run_takers "virtual:sm100,seed=$seed,$key=$second" --model "$second" --once
        done
    done
}

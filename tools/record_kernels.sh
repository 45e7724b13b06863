#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
#
# Runs the adapters' kernels over fresh vectors and compares every output with the kernel's model:
#   tools/record_kernels.sh BUILD OUT SEED [DEVICE [GROUP...]]
# BUILD holds bin/fp4oracle and the plug-ins in lib. OUT gets summary.txt, two JSON a group, outputs.txt (the digest of each
# output and what makes its vector again) and record/, the vectors and outputs of the small shapes. Groups run side by
# side: JOBS=4. LIMIT: seconds for a group's small or large shapes. VECTORS: a folder for the vectors, which are then kept
# and not made again; with DEVICE none, nothing is run.
set -uo pipefail
build=$1 out=$2 seed=$3 device=${4:-gpu:0}
shift 3
[ $# -eq 0 ] || shift
fp4oracle=$(realpath "$build/bin/fp4oracle")
export FPO_PLUGINS=$(realpath "$build/lib") OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}
mkdir -p "$out/record"
out=$(realpath "$out")
vectors=${VECTORS:-$(mktemp -d)}
[ -n "${VECTORS-}" ] || trap 'rm -rf "$vectors"' EXIT

# NAME FORMATS KERNELS, and whether they take alpha and C
groups="cutlass_e4m3 e4m3 cutlass_sm90:cutlass_sm90/tensor/e4m3/* c
cutlass_e5m2 e5m2,e4m3 cutlass_sm90:cutlass_sm90/tensor/e5m2_e4m3/* c
cutlass_block_e4m3 fp8_1x128,fp8_128x128 cutlass_sm90:cutlass_sm90/1x128_128x128/e4m3/* c
cutlass_block_e5m2 fp8_e5m2_1x128,fp8_128x128 cutlass_sm90:cutlass_sm90/1x128_128x128/e5m2_e4m3/* c
deepgemm fp8_1x128,fp8_128x128 deepgemm:deepgemm/* -
cudnn_e4m3 fp8_tensor cudnn:cudnn/tensor/e4m3/* -
cudnn_e5m2 fp8_e5m2_tensor,fp8_tensor cudnn:cudnn/tensor/e5m2_e4m3/* -
cudnn_nvfp4 nvfp4 cudnn:cudnn/nvfp4/* -
cudnn_mxfp4 mxfp4 cudnn:cudnn/mxfp4/* -
cudnn_mxfp8 mxfp8_e4m3 cudnn:cudnn/mxfp8/* -"
small=${SMALL-16x24x1040 32x16x96}
large=${LARGE-1x8x16 64x64x2048 200x264x336 128x512x640 128x128x4096}

# vector NAME OPTION...: one that holds no output of a model but the exact one.
vector() {
    local name=$1
    shift
    "$fp4oracle" gen --format "$formats" --shape "$shape" --seed "$seed" --model exact --digests-only "$@" \
        -o "$work/$shape.$name.safetensors" >/dev/null 2>>"$out/$group.err"
}

vectors() {
    vector uniform --data uniform
    vector ladder --data ladder
    vector gaussian --data gaussian
    vector codes --data codes
    [ "$scalars" = c ] || return 0
    vector negative --data powers --alpha -1
    vector c_f32 --data ladder --alpha 0.3 --c-format f32
    vector c_bf16 --data gaussian --alpha -1.7 --c-format bf16
}

# run SIZE OPTION...
run() {
    local size=$1
    shift
    [ "$device" != none ] || return 0
    timeout "${LIMIT:-600}" "$fp4oracle" run --kernel "$kernels" --device "$device" --no-diagnosis --json "$@" \
        "$folder/$size"/*.safetensors >"$out/$group.$size.json" 2>>"$out/$group.err"
}

run_group() {
    local group=$1 formats=$2 kernels=$3 scalars=$4 folder=$vectors/$1 shape work
    for size in small large; do
        work=$folder/$size
        [ -d "$work" ] || { mkdir -p "$work"; for shape in ${!size}; do vectors; done; }
    done
    run small --record "$out/record"
    run large --once
}

while read -r group formats kernels scalars; do
    case " $* " in "  " | *" $group "*) ;; *) continue ;; esac
    while [ "$(jobs -r | wc -l)" -ge "${JOBS:-1}" ]; do wait -n; done
    run_group "$group" "$formats" "$kernels" "$scalars" &
done <<<"$groups"
wait
[ "$device" != none ] || exit 0

exec python3 "$(dirname "$0")/record_summary.py" "$out" "$seed" "$groups"

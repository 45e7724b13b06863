# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# The reference kernels for SM120 on the virtual one: every instruction, every pair of types, f32 and bf16 outputs, ragged
# shapes, several kinds of data, two models, several seeds.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
[ -e "$FPO_PLUGINS/reference_sm120.so" ] || skip "reference_sm120 is not built: it needs nvcc (tools/get_nvcc)"

# matches KERNELS FORMATS SHAPE DATA: what `gen` makes is matched by so many kernels.
matches() {
    run 0 gen --data "$4" --shape "$3" --alpha 0.3 --seed 5 --format "$2" --model "${model:-default}" -o v.safetensors
    run 0 run --kernel reference_sm120 --device "virtual:sm120${more-}" ${once-} v.safetensors
    out "^$1 matched, 0 diverged, 0 failed"
}

# f32 and bf16 each; mxfp4 runs with 64 elements a step, and with 32 in bytes.
matches 2 nvfp4 37x21x75 uniform
matches 2 nvfp4 16x8x64 codes
matches 4 mxfp4 19x9x200 uniform
matches 2 nvfp4 16x40x4096 gaussian
out 'all bits as sm120_mxf4nvf4 (published)'; out 'computes with a VIRTUAL SM120'

# Every pair of types, scaled and not.
once=--once
elements="e4m3 e5m2 e2m3 e3m2 e2m1"
block() { case $1 in e2m1) echo mxfp4 ;; e[45]m?) echo "mxfp8_$1" ;; *) echo "mxfp6_$1" ;; esac; }
for a in $elements; do
    for b in $elements; do
        [ "$a$b" = e2m1e2m1 ] || matches 2 "$(block "$a"),$(block "$b")" 17x9x70 uniform
        matches 2 "$a,$b" 17x9x70 uniform
    done
done

# Another model in the machine is another arithmetic: it matches that one, and the published one no more.
more=,mxf4nvf4=sm120_mxf4nvf4_f25 model=sm120_mxf4nvf4_f25
run 0 gen --data ladder --shape 32x16x256 --format nvfp4 --model sm120_mxf4nvf4 --model sm120_mxf4nvf4_f25 -o ladder.safetensors
run 0 run --kernel reference_sm120:reference/mxf4nvf4/e2m1,e2m1/f32 --device "virtual:sm120$more" --model $model ladder.safetensors
out 'all bits as sm120_mxf4nvf4_f25'
run 1 run --kernel reference_sm120:reference/mxf4nvf4/e2m1,e2m1/f32 --device "virtual:sm120$more" ladder.safetensors
out '^mismatch '
model=default
for seed in 1 2 3 4; do
    more=,seed=$seed,sms=$seed
    matches 2 nvfp4 40x24x128 uniform
done

finish

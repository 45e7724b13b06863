# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# CUTLASS's and DeepGEMM's kernels for Hopper, the same objects that an H200 ran, on the virtual GPU. They are built where
# their packages and nvcc are (docs/plugins.md).
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
device=${FPO_TEST_DEVICE:-virtual:sm90}
there=0
[ -e "$FPO_PLUGINS/cutlass_sm90.so" ] && there=1 && for pair in e4m3:e4m3 e5m2,e4m3:e5m2_e4m3; do
    run 0 gen --format "${pair%%:*}" --data gaussian --shape 36x40x272 --alpha -1.7 --model exact -o v.safetensors
    run 0 gen --format "${pair%%:*}" --data gaussian --shape 36x40x272 --alpha -1.7 --c-format bf16 --model exact -o c.safetensors
    run 0 run --kernel "cutlass_sm90:cutlass_sm90/tensor/${pair##*:}/*" --device "$device" --once --no-diagnosis v.safetensors c.safetensors
    out '^6 matched, 0 diverged, 0 failed'
done
[ "$there" = 1 ] && for pair in fp8_1x128,fp8_128x128:e4m3 fp8_e5m2_1x128,fp8_128x128:e5m2_e4m3; do
    run 0 gen --format "${pair%%:*}" --data uniform --shape 36x136x272 --alpha 0.3 --model exact -o v.safetensors
    run 0 run --kernel "cutlass_sm90:cutlass_sm90/1x128_128x128/${pair##*:}/*" --device "$device" --once --no-diagnosis v.safetensors
    out '^2 matched, 0 diverged, 0 failed'
done
[ -e "$FPO_PLUGINS/deepgemm.so" ] && there=1 && {
    run 0 gen --format fp8_1x128,fp8_128x128 --data uniform --shape 33x136x272 --model exact -o v.safetensors
    run 0 run --kernel deepgemm --device "$device" --no-diagnosis v.safetensors
    out '^match .*tile 128x128.* all bits as sm90_fp8_blockwise'; out '^3 matched, 0 diverged, 0 failed'
}
# With checks: nothing, but that DeepGEMM's tile of 96 columns loads the scales of a second block of B in every CTA, also in
# those that have none, which then are not used.
[ "$device" = virtual:sm90 ] && for kernel in "cutlass_sm90:cutlass_sm90/1x128_128x128/e4m3/*" deepgemm; do
    [ -e "$FPO_PLUGINS/${kernel%%:*}.so" ] || continue
    run 0 gen --format fp8_1x128,fp8_128x128 --data uniform --shape 128x264x256 --model exact -o v.safetensors
    status=$([ "$kernel" = deepgemm ]; echo $((1 - $?)))
    run "$status" run --kernel "$kernel" --device "$device" --check --once --no-diagnosis v.safetensors
    out '^2 matched, [01] diverged, 0 failed'
    [ "$status" = 0 ] || out '^check_failed .*tile 64x96.* `ld.shared.f32` reads shared memory that nothing has written'
done
# Late copies and late wgmma.
[ "$there" = 1 ] && [ "$device" = virtual:sm90 ] && for seed in 1 2 3 4 5; do
    for kernel in "cutlass_sm90:cutlass_sm90/1x128_128x128/e4m3/*" deepgemm; do
        [ -e "$FPO_PLUGINS/${kernel%%:*}.so" ] || continue
        run 0 gen --format fp8_1x128,fp8_128x128 --data uniform --shape 36x136x528 --model exact -o v.safetensors
        run 0 run --kernel "$kernel" --device "$device,seed=$seed" --once --no-diagnosis v.safetensors
        out '^[23] matched, 0 diverged, 0 failed'
    done
done
[ "$there" = 1 ] || { echo "neither CUTLASS's nor DeepGEMM's plug-in is built"; exit 77; }
finish

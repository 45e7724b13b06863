# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# The plug-in `edited`: each kind of edit of the registry as a kernel that is broken that way, run and named.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1

run 0 run --kernel edited --list --json; json '.kernels | length > 1000' true
json '.kernels | map(.name | select(startswith("nvfp4+")) | sub("_(a|b|ab)$"; "")) | unique | length > 75' true
run 0 gen --data uniform --shape 40x36x256 --format nvfp4 --model fma_f32 --seed 5 -o nv.safetensors
run 0 gen --data uniform --shape 40x36x256 --format fp8_1x128,fp8_128x128 --model fma_f32 --seed 5 -o bl.safetensors
named() { # KERNEL VECTOR CAUSE: among the causes
    run 1 run --kernel "edited:$1" --once --json "$2"; json ".results[0].causes | map(.edit) | index(\"$3\") != null" true
}
named nvfp4+nibble_order_a nv.safetensors nibble_order
named nvfp4+scale_rows_swapped_b nv.safetensors scale_rows_swapped
named nvfp4+scale_k_shifted_a nv.safetensors scale_k_shifted
named nvfp4+row_offset_b nv.safetensors row_offset
named fp8_1x128+f32_scales_mantissa_dropped_a bl.safetensors f32_scales_mantissa_dropped
named fp8_1x128+f32_scales_rounded_up_b bl.safetensors f32_scales_rounded_up
finish

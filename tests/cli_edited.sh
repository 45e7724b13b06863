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

# An output with block scales: what is wrong with the product, and with how the output is quantised and written.
run 0 gen --data uniform --shape 40x48x256 --format nvfp4 --d nvfp4 --d-scale 0.3 --model fma_f32 --seed 5 -o out.safetensors
run 0 run --kernel 'edited:nvfp4/nvfp4+beta_dropped' --once out.safetensors; out '^match'
named nvfp4/nvfp4+nibble_order_a out.safetensors nibble_order
named nvfp4/nvfp4+scale_format_b out.safetensors scale_format
named nvfp4/nvfp4+d_scale_dropped out.safetensors d_scale_dropped
named nvfp4/nvfp4+output_scale_layout out.safetensors output_scale_layout
named nvfp4/nvfp4+output_scales_inverted out.safetensors output_scales_inverted
named nvfp4/nvfp4+output_nibble_order out.safetensors output_nibble_order
named nvfp4/nvfp4+output_recipe out.safetensors output_recipe
run 1 run --kernel edited:nvfp4/nvfp4+output_nibble_order --once out.safetensors; out 'the two 4-bit codes in each byte of D are in the other order'

# A kernel that quantises by another recipe: named where it is said which numbers are quantised, and not without.
python3 - nv.safetensors x.safetensors <<'P'
import json, struct, sys
data = open(sys.argv[1], "rb").read(); size = int.from_bytes(data[:8], "little"); header = json.loads(data[8:8 + size])
get = lambda name: data[8 + size:][slice(*header[name]["data_offsets"])]
e2m1 = [0, .5, 1, 1.5, 2, 3, 4, 6]
e2m1 += [-x for x in e2m1]
scale = lambda c: (c % 8 + (8 if c >= 8 else 0)) / 8 * 2.0 ** (max(c // 8, 1) - 7)
codes = [e2m1[n] for b in get("a") for n in (b & 15, b >> 4)]
scales = [scale(c) for c in get("a_scale")]
tensor = struct.unpack("<f", get("a_tensor_scale"))[0] if "a_tensor_scale" in header else 1.0
values = struct.pack(f"<{len(codes)}f", *(c * scales[i // 16] * tensor for i, c in enumerate(codes)))
text = json.dumps({"x": {"dtype": "F32", "shape": [40, 256], "data_offsets": [0, len(values)]}}).encode()
open(sys.argv[2], "wb").write(struct.pack("<Q", len(text)) + text + values)
P
run 1 run --kernel edited:nvfp4+recipe_a --once --json nv.safetensors; json '.results[0].causes | map(.edit) | index("recipe")' null
run 1 run --kernel edited:nvfp4+recipe_a --once --json --source-a x.safetensors nv.safetensors
json '.results[0].causes | map(.edit) | index("recipe") != null' true; json '.results[0].reproduce | test("--source-a x.safetensors")' true
run 1 run --kernel edited:nvfp4+recipe_a --once --source-a x.safetensors nv.safetensors; out 'A was quantised by the recipe'
run 2 run --kernel edited:nvfp4+recipe_a --source-a x.safetensors nv.safetensors bl.safetensors; err 'about the operands of one vector'
run 2 run --kernel edited:nvfp4+recipe_a --source-a x.safetensors --suite smoke; err 'about the operands of one vector'
run 2 run --kernel edited:nvfp4+recipe_a --once --source-b x.safetensors nv.safetensors; out '40 x 256 numbers, but the operand is 36 x 256'
run 2 run --kernel edited:nvfp4+recipe_a --once x.safetensors; out 'it is no vector. `fp4oracle gen` makes vectors'; not_out '(--format)'
run 2 coverage x.safetensors; err 'it is no vector. `fp4oracle gen` makes vectors'
finish

# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle diagnose: what is wrong, where, why and how sure that is, on vectors and on plain files. The wrong outputs are
# computed by Python fractions (tests/cli/exact_gemm.py), not by fp4oracle.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
gemm() { python3 "$FPO_SOURCE_DIR/tests/cli/exact_gemm.py" "$@" || fail "exact_gemm.py $*"; }
mix() { python3 "$FPO_SOURCE_DIR/tests/cli/mix.py" "$@" || fail "mix.py $*"; }

run 0 gen --data gaussian --shape 24x20x32 --format nvfp4 --model exact -o v.safetensors
gemm v.safetensors good.safetensors
gemm v.safetensors nibbles.safetensors nibbles_a
gemm v.safetensors noise.safetensors noise
run 0 diagnose v.safetensors --output good.safetensors; out '^match  good.safetensors against v.safetensors'
run 0 diagnose v.safetensors --output good.safetensors --json; json .verdict match; json '.causes | length' 0

# The whole output is wrong.
run 1 diagnose v.safetensors --output nibbles.safetensors
out '^fault '; out 'wrong  *all of it'; out 'cause  .*4-bit codes'; out 'how sure  .* bits of evidence where'
out '^the search$'; out 'of these  *.*[0-9]* of class 16.*; 0 pairs'; out 'hypotheses  *[0-9]* in '; out 'explanations  *[1-9]'; out '^reproduce: fp4oracle diagnose v.safetensors'
run 1 diagnose v.safetensors --output nibbles.safetensors --json; json .verdict fault
json '.causes | map(.edit) | index("nibble_order") != null' true; json .part.kind all; json '.candidates | length' 0
json '.evidence.bits > .evidence.needed' true; json '.seconds >= 0' true; json '.sample > 0' true

# A part of it is: the part is found, and the cause in it.
part() { # WHERE TEXT: that part has the nibbles of A exchanged
    mix good.safetensors nibbles.safetensors part.safetensors "$1"
    run 1 verify v.safetensors --output part.safetensors --json; json .verdict fault; json .part.text "$2"
    json '.causes | map(.edit) | index("nibble_order") != null' true
}
part 'r >= 8 and r < 16 and c < 8' 'rows 8 to 15, columns 0 to 7: the 8x8 tile (1, 0)'
part 'r >= 9' 'rows from 9 on, all columns'
part 'c % 2 == 1' 'all rows, every 2nd column from 1'
part 'r % 8 < 4 and c >= 10' 'of every 8 rows the first 4, from row 0, columns from 10 on'
part 'r >= 16 or c >= 16' 'the edge: rows from 16 on and columns from 16 on'
part 'r == 7' 'row 7, all columns'
part '6 <= r < 12' 'rows 6 to 11, all columns'
run 1 diagnose v.safetensors --output part.safetensors; out '^fault '; out 'wrong  *rows 6 to 11, all columns'
out 'in the wrong part alone'; out 'look at  *byte & 15'

# What is plainly no result has its name, in all of the output or in a part.
plain() { # SIGN BYTES WHERE
    mix good.safetensors "$2" plain.safetensors "$3"
    run 1 diagnose v.safetensors --output plain.safetensors --json; json .verdict fault; json .sign "$1"; json '.causes[0].edit' "$1"
}
plain all_zero 00000000 True
plain all_nan ffffff7f True
plain constant 0000e040 True
plain poison cdcdcdcd True
run 1 verify v.safetensors --output plain.safetensors; out '^fault '; out '^  *poison$'
plain poison ffffffff 'c >= 16'
mix good.safetensors ffffff7f nan.safetensors 'r % 4 == 1'
run 1 diagnose v.safetensors --output nan.safetensors; out 'wrong  *every 4th row from 1, all columns'; out 'NaN  *120 elements, where none should be: every 4th row from 1, all columns'
python3 - good.safetensors transposed.safetensors <<'P'
import sys
data = open(sys.argv[1], "rb").read(); n = 8 + int.from_bytes(data[:8], "little")
codes = [data[n + 4 * i:n + 4 * i + 4] for i in range(480)]
open(sys.argv[2], "wb").write(data[:n] + b"".join(codes[r * 20 + c] for c in range(20) for r in range(24)))
P
run 1 diagnose v.safetensors --output transposed.safetensors --json; json .sign transposed; json .verdict fault

# Too little to accuse anybody, and nothing that anybody did.
mix good.safetensors noise.safetensors few.safetensors 'r == 3 and c == 4'
run 1 diagnose v.safetensors --output few.safetensors --json; json .verdict unexplained; json '.causes | length' 0
json .differences.different 1; json .part.text 'row 3, column 4'
run 1 diagnose v.safetensors --output noise.safetensors; out '^unexplained '; out 'none of [0-9]* hypotheses gives every byte'; out "closest .*sampled elements are"

# Another documented model is no defect; what is wrong in a bf16 output is found, too.
run 0 gen --data gaussian --shape 4x1x256 --format fp8_tensor --model exact -o l.safetensors
run 0 gen --data gaussian --shape 4x1x256 --format fp8_tensor --model sm90_wgmma_fp8 -o h.safetensors
run 1 diagnose l.safetensors --output h.safetensors:d.sm90_wgmma_fp8; out '^legitimate '; out 'not a defect'
run 0 gen --data gaussian --shape 24x20x32 --format nvfp4 --d bf16 --model exact -o b.safetensors
run 0 gen --data gaussian --shape 24x20x32 --format nvfp4 --d bf16 --model exact --alpha 0.75 -o alpha.safetensors
mix b.safetensors:d.exact alpha.safetensors:d.exact part.safetensors 'r >= 10'
run 1 diagnose alpha.safetensors --output b.safetensors:d.exact --json; json .verdict fault; json '.causes[0].edit' alpha_dropped
run 1 diagnose alpha.safetensors --output part.safetensors --json; json .verdict fault; json '.causes[0].edit' alpha_dropped
json .part.text 'rows 0 to 9, all columns'

# Several explanations, and a vector that tells them apart: with 16 scales a row the 128x4 layout is its own inverse.
misread() { python3 "$FPO_SOURCE_DIR/tests/cli/misread.py" "$@" || fail "misread.py $*"; }
run 0 gen --data gaussian --shape 8x130x256 --format nvfp4 --model exact -o square.safetensors
misread square.safetensors square_d.safetensors linear_as_128x4 B
run 1 diagnose square.safetensors --output square_d.safetensors --json
json '.causes | map(.parameters) | index("operand=B,from=linear,to=128x4") != null' true
json '.causes | map(.parameters) | index("operand=B,from=128x4,to=linear") != null' true
run 1 diagnose square.safetensors --output square_d.safetensors --distinguish apart.safetensors
out 'these operands cannot tell the'; out 'tells apart'
misread apart.safetensors apart_d.safetensors linear_as_128x4 B
run 1 diagnose apart.safetensors --output apart_d.safetensors --json
json '.causes | map(.parameters) | index("operand=B,from=linear,to=128x4") != null' true
json '.causes | map(.parameters) | index("operand=B,from=128x4,to=linear")' null
run 2 diagnose v.safetensors --output good.safetensors --distinguish none.safetensors; err 'nothing to tell apart'; absent none.safetensors
run 2 diagnose square.safetensors --output square_d.safetensors --distinguish nowhere/x.safetensors; err nowhere

# A plain file.
python3 "$FPO_SOURCE_DIR/tests/cli/plain_file.py" v.safetensors plain_file.safetensors nibbles.safetensors || fail plain_file.py
run 1 diagnose plain_file.safetensors --format nvfp4 --output plain_file.safetensors:y --json; json .verdict fault
json '.causes | map(.edit) | index("nibble_order") != null' true
run 1 diagnose plain_file.safetensors --format nvfp4 --model exact --output plain_file.safetensors:y; out '^fault '

refuse() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    run 2 diagnose "$@"; err "$pattern"
}
refuse 'which vector' --output good.safetensors
refuse 'which output' v.safetensors
refuse 'absent.safetensors: No such file' absent.safetensors --output missing.safetensors --model exakt
refuse 'missing' v.safetensors --output missing.safetensors
refuse 'no model' v.safetensors --output good.safetensors --model exakt
run 0 gen --data gaussian --shape 24x21x32 --format nvfp4 --model exact -o other.safetensors
refuse 'other.safetensors:d.exact.*24.*21' v.safetensors --output other.safetensors:d.exact

# Quantisation in the loop: given the numbers that A was quantised from, the recipe is named; with a static tensor scale, too.
python3 - <<'P'
import json, random, struct
random.seed(5)
for name, rows in (("x", 6), ("w", 10)):
    values = struct.pack(f"<{rows * 64}f", *(random.gauss(0, 1) for _ in range(rows * 64)))
    header = json.dumps({name: {"dtype": "F32", "shape": [rows, 64], "data_offsets": [0, len(values)]}}).encode()
    open(name + ".safetensors", "wb").write(struct.pack("<Q", len(header)) + header + values)
P
run 0 gen --a x.safetensors --b w.safetensors --format nvfp4 --model exact -o recipe.safetensors
run 0 gen --a x.safetensors --b w.safetensors --format nvfp4 --recipe torchao_nvfp4_no_tensor_scale,nvfp4_divide --model exact -o other_recipe.safetensors
run 1 verify recipe.safetensors --output other_recipe.safetensors:d.exact --source-a x.safetensors
out '^fault'; out 'A was quantised by the recipe torchao_nvfp4_no_tensor_scale'
run 0 gen --a x.safetensors --b w.safetensors --format mxfp8_e4m3 --recipe flashinfer_mxfp8,flashinfer_mxfp8 --model exact -o mx.safetensors
run 0 gen --a x.safetensors --b w.safetensors --format mxfp8_e4m3 --recipe flashinfer_mxfp8,ocp_floor_mxfp8_e4m3 --model exact -o mx_floor.safetensors
run 1 verify mx.safetensors --output mx_floor.safetensors:d.exact --source-b w.safetensors; out 'B was quantised by the recipe'; out 'operand=B,to=ocp_floor_mxfp8_e4m3'
run 0 quantize x.safetensors --recipe nvfp4_divide --library-scale 0.002 -o static.safetensors
run 0 quantize x.safetensors --recipe flashinfer_nvfp4_4over6_448_mae --library-scale 500 -o static_other.safetensors
run 0 gen --a static.safetensors --b w.safetensors --format nvfp4 --model exact -o recipe.safetensors
run 0 gen --a static_other.safetensors --b w.safetensors --format nvfp4 --model exact -o other_recipe.safetensors
run 1 verify recipe.safetensors --output other_recipe.safetensors:d.exact --source-a x.safetensors
out 'recipe_given_scale (operand=A,to=flashinfer_nvfp4_4over6_448_mae)'
# An output with block scales: codes and scales are both what is observed. The outputs are quantised by Python.
quantise() { python3 "$FPO_SOURCE_DIR/tests/cli/quantise_output.py" "$@" || fail "quantise_output.py $*"; }
run 0 gen --data gaussian --shape 40x72x64 --format nvfp4 --model fma_f32 -o wide.safetensors
run 0 gen --data gaussian --shape 40x72x64 --format nvfp4 --d nvfp4 --d-scale 2.5 --model fma_f32 -o nv.safetensors
quantise wide.safetensors:d.fma_f32 scaled.safetensors right 2.5
run 0 diagnose nv.safetensors --output scaled.safetensors; out '^match '
scaled() { # HOW EDIT PARAMETERS
    quantise wide.safetensors:d.fma_f32 scaled.safetensors "$1" 2.5
    run 1 diagnose nv.safetensors --output scaled.safetensors --json; json .verdict fault
    json ".causes | map(select(.edit == \"$2\" and .parameters == \"$3\")) | length" 1
}
scaled norm_dropped d_scale_dropped ''
scaled norm_inverted d_scale_inverted ''
scaled swizzled output_scale_layout 'from=128x4,to=linear'
scaled nibbles output_nibble_order ''
scaled ue8m0 output_scale_format 'from=ue4m3,to=ue8m0'
scaled inverted output_scales_inverted ''
run 1 verify nv.safetensors --output scaled.safetensors; out '^fault'; out 'the block scales of D are written as their inverses'
out "of the output's block scales"
run 0 gen --data gaussian --shape 40x72x64 --format nvfp4 --d nvfp4 --d-scale 2.5 --alpha 0.75 --model fma_f32 -o alpha_nv.safetensors
run 1 verify alpha_nv.safetensors --output nv.safetensors:d.fma_f32 --output-scale nv.safetensors:d_scale.fma_f32; out 'alpha is never applied'
run 0 gen --data gaussian --shape 40x72x64 --format mxfp8_e4m3 --d mxfp8_e4m3 --model fma_f32 -o mx8.safetensors
run 0 gen --data gaussian --shape 40x72x64 --format mxfp8_e4m3 --d mxfp8_e4m3 --alpha 0.75 --model fma_f32 -o alpha_mx8.safetensors
run 1 verify alpha_mx8.safetensors --output mx8.safetensors:d.fma_f32 --output-scale mx8.safetensors:d_scale.fma_f32; out 'alpha is never applied'
# A plain file with a quantised output, and a plain file with C.
python3 "$FPO_SOURCE_DIR/tests/cli/plain_file.py" wide.safetensors plain_wide.safetensors good.safetensors || fail plain_file.py
quantise wide.safetensors:d.fma_f32 scaled.safetensors swizzled 1
run 1 diagnose plain_wide.safetensors --format nvfp4 --model fma_f32 --output scaled.safetensors --json
json '.causes | map(.edit) | index("output_scale_layout") != null' true
run 0 gen --data gaussian --shape 24x20x32 --format nvfp4 --c-format f32 --beta 1 --model exact -o with_c.safetensors
python3 - with_c.safetensors plain_c.safetensors <<'P'
import json, sys
data = open(sys.argv[1], "rb").read(); size = int.from_bytes(data[:8], "little"); header = json.loads(data[8:8 + size])
header = {name: t for name, t in header.items() if name != "__metadata__"}
whole = len(data) - 8 - size
kept = b""
for name in list(header):
    piece = data[8 + size:][slice(*header[name]["data_offsets"])]
    if name == "beta":
        del header[name]
        continue
    header[name]["data_offsets"] = [len(kept), len(kept) + len(piece)]
    kept += piece
text = json.dumps(header).encode(); text += b" " * (-len(text) % 8)
open(sys.argv[2], "wb").write(len(text).to_bytes(8, "little") + text + kept)
P
refuse 'there is a tensor c, but no beta.*--beta' plain_c.safetensors --format nvfp4 --output with_c.safetensors:d.exact
run 0 diagnose plain_c.safetensors --format nvfp4 --beta 1 --output with_c.safetensors:d.exact; out '^match '
run 1 diagnose plain_c.safetensors --format nvfp4 --beta 0 --model exact --output with_c.safetensors:d.exact; out '^fault\|^unexplained'
refuse 'beta belongs to a plain file' with_c.safetensors --beta 1 --output with_c.safetensors:d.exact
refuse 'beta is given, but the file has no tensor c' plain_wide.safetensors --format nvfp4 --beta 1 --output wide.safetensors:d.fma_f32
refuse 'it is no vector. `fp4oracle gen` makes vectors' plain_wide.safetensors --output wide.safetensors:d.fma_f32
refuse '--source-a w.safetensors: 10 x 64 numbers, but the operand is 6 x 64' recipe.safetensors --output other_recipe.safetensors:d.exact --source-a w.safetensors
refuse 'nothing.safetensors' recipe.safetensors --output other_recipe.safetensors:d.exact --source-b nothing.safetensors
finish

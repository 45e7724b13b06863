# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle verify: match, legitimate, fault and unexplained, on vectors and on plain files. The outputs are computed by
# Python fractions (tests/cli/exact_gemm.py), not by fp4oracle.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
gemm() { python3 "$FPO_SOURCE_DIR/tests/cli/exact_gemm.py" "$@" || fail "exact_gemm.py $*"; }

run 0 gen --data gaussian --shape 8x6x32 --format nvfp4 -o v.safetensors
gemm v.safetensors good.safetensors
run 0 verify v.safetensors --output good.safetensors; out '^match  good.safetensors against v.safetensors'; out 'all bits as  *exact'
run 0 verify v.safetensors --output good.safetensors:d --model exact --json
json .verdict match; json '.matches[0]' exact; json '.causes | length' 0; json .differences.different 0

# Another documented model than the one asked for: not a defect, and not what was asked for either.
run 1 verify v.safetensors --output v.safetensors:d.sm120_mxf4nvf4 --model exact; out '^legitimate '; out 'not a defect'
out '^reproduce: fp4oracle verify v.safetensors --output v.safetensors:d.sm120_mxf4nvf4 --model exact$'
run 1 verify v.safetensors --output v.safetensors:d.sm120_mxf4nvf4 --model exact --json; json .verdict legitimate
json '.matches | index("sm120_mxf4nvf4") != null' true; json '.causes[0].edit' accumulation
json '.differences.different > 0' true; json '.differences.first | length' 10; json .compared_with exact
run 0 verify v.safetensors --output v.safetensors:d.sm120_mxf4nvf4; out '^match '

# Misreadings are named.
gemm v.safetensors bad.safetensors nibbles_a
run 1 verify v.safetensors --output bad.safetensors --json; json .verdict fault; json '.causes | map(.edit) | index("nibble_order") != null' true
json '.causes[0].sentence | test("even k in the high nibble")' true
run 1 verify v.safetensors --output bad.safetensors; out '^fault '; out 'cause  .*4-bit codes'; out 'reproduce:'
out 'row  column'; out 'ulp between numbers'; out '128x128 tiles'
gemm v.safetensors bad.safetensors ue8m0_a
run 1 verify v.safetensors --output bad.safetensors --json; json .verdict fault; json '.causes[0].edit' scale_format
run 0 gen --data gaussian --shape 8x6x32 --format nvfp4 --d bf16 -o b.safetensors
gemm b.safetensors bad.safetensors truncate_bf16
run 1 verify b.safetensors --output bad.safetensors --model exact --json; json .verdict fault; json '.causes | map(.edit) | index("output_rounding") != null' true

# Noise accuses nobody.
gemm v.safetensors bad.safetensors noise
run 1 verify v.safetensors --output bad.safetensors --json; json .verdict unexplained; json '.causes | length' 0
run 1 verify v.safetensors --output bad.safetensors; out '^unexplained '; out 'none of [0-9]* hypotheses'

# One wrong element: its place, bits and distance.
python3 - good.safetensors one.safetensors <<'P'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = 8 + int.from_bytes(data[:8], "little") + 4 * (3 * 6 + 4)
data[at] ^= 1 if data[at] & 1 == 0 else 3
open(sys.argv[2], "wb").write(data)
P
run 1 verify v.safetensors --output one.safetensors --json; json .differences.different 1; json '.differences.rows | join(" ")' '3 3'
json '.differences.columns | join(" ")' '4 4'; json '.differences.first[0].ulps | fabs <= 3' true; json .differences.tiles_touched 1
run 1 verify v.safetensors --output one.safetensors; out 'different  *1 of 48 elements'; out 'rows 3 to 3, columns 4 to 4'

# D of another width: judged by the same spec with D of that width.
run 0 verify v.safetensors --output b.safetensors:d.exact; out '^match '
run 2 verify b.safetensors --output v.safetensors:a; err 'v.safetensors:a'

# Outputs that are digests alone; an nvfp4 output with its scales.
run 0 gen --data gaussian --shape 8x6x32 --format nvfp4 --digests-only -o digests.safetensors
run 0 verify digests.safetensors --output good.safetensors; out '^match '
run 1 verify digests.safetensors --output one.safetensors; out 'different  *1 of 48'
run 0 gen --data gaussian --shape 8x40x64 --format nvfp4 --d nvfp4 -o n.safetensors
run 0 verify n.safetensors --output n.safetensors:d.exact --output-scale n.safetensors:d_scale.exact; out '^match '
run 2 verify v.safetensors --output good.safetensors --output-scale good.safetensors:d; err 'has no scales'

# A plain file: tensor names, no metadata.
python3 "$FPO_SOURCE_DIR/tests/cli/plain_file.py" v.safetensors plain.safetensors good.safetensors || fail plain_file.py
run 0 verify plain.safetensors --format nvfp4 --output plain.safetensors:y; out '^match '; out 'all bits as  *exact'
run 0 verify plain.safetensors --format nvfp4 --output plain.safetensors:y --model exact --json; json .verdict match
run 1 verify plain.safetensors --format nvfp4 --output one.safetensors --model exact; out 'different  *1 of 48'
run 2 verify plain.safetensors --output plain.safetensors:y; err plain.safetensors
run 2 verify plain.safetensors --format mxfp8_e4m3 --output plain.safetensors:y; err plain.safetensors

refuse() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    run 2 verify "$@"; err "$pattern"
}
python3 - double.safetensors <<'P'
import json, sys
header = json.dumps({"y": {"dtype": "F64", "shape": [8, 6], "data_offsets": [0, 384]}}).encode()
open(sys.argv[1], "wb").write(len(header).to_bytes(8, "little") + header + bytes(384))
P
refuse 'tensor y is F64, but an output is F32' plain.safetensors --format nvfp4 --output double.safetensors
refuse 'tensor y is F64, but an output is F32' v.safetensors --output double.safetensors
refuse 'which vector' --output good.safetensors
refuse 'which output' v.safetensors
refuse 'one vector' v.safetensors v.safetensors --output good.safetensors
refuse 'missing' missing.safetensors --output good.safetensors
refuse 'missing' v.safetensors --output missing.safetensors
refuse 'absent.safetensors: No such file' absent.safetensors --output missing.safetensors --model exakt
refuse 'absent.safetensors: No such file' absent.safetensors --format nvfp9 --output missing.safetensors:y
refuse 'nothere' v.safetensors --output good.safetensors:nothere
refuse 'no model' v.safetensors --output good.safetensors --model exakt
refuse 'does not take' v.safetensors --output good.safetensors --model sm90_wgmma_fp8
refuse 'tensors' v.safetensors --output v.safetensors
refuse 'no operand format' plain.safetensors --format nvfp9 --output plain.safetensors:y
refuse '' . --output good.safetensors
refuse '' v.safetensors --output .
for size in 0 7 8 100 2000 $(($(stat -c %s v.safetensors) - 1)); do
    head -c "$size" v.safetensors >short.safetensors; refuse short.safetensors short.safetensors --output good.safetensors
    refuse short.safetensors v.safetensors --output short.safetensors:d
done
# A byte of the operands changed: the outputs are no longer what the vector's own digests or models say.
python3 - v.safetensors <<'P'
data = bytearray(open("v.safetensors", "rb").read()); data[-1] ^= 0xFF; open("corrupt.safetensors", "wb").write(data)
P
refuse 'corrupt.safetensors' corrupt.safetensors --output good.safetensors
finish

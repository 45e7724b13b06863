# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# Suites: as files, and run without files; what cannot be.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1

run 0 list suites; out 'smoke'; out 'full'
run 0 list suites --json; json '.suites | map(.name) | join(" ")' 'smoke interpretation precision robustness full'
json '(.suites[-1].of | keys) == (.suites | map(.of | keys[]) | unique)' true
# The document has a paragraph for each vector, and no other.
for name in $("$FP4ORACLE" list suites full --json | jq -r '.of | keys[]'); do
    grep -q "\*\*$name\*\*.*(.*)\." "$FPO_SOURCE_DIR/docs/suites.md" || fail "docs/suites.md says nothing about $name"
done

# Files: names, purposes, D as asked for, the same bytes again.
run 0 gen --suite smoke --format mxfp8_e4m3 --model exact -o s; out 'one_hot'; out 'ties_bf16 .*bf16'
run 0 gen --suite smoke --format mxfp8_e4m3 --model exact -o t --json; json .suite smoke; json '.left_out | length' 0
json '.vectors | map(.output) | map(select(test("^t/[a-z0-9_]+[.]safetensors$"))) | length' "$(ls s | wc -l)"
diff -r s t || fail 'the same arguments gave other files'
run 0 gen --suite smoke --format mxfp8_e4m3 --model exact --d bf16 -o b --json
json '.vectors | map(.d) | unique | join(" ")' bf16; absent b/ties_bf16.safetensors
run 0 verify s/one_hot.safetensors --output s/one_hot.safetensors:d.exact; out '^match '
run 0 run --kernel cpu_reference:cpu/mxfp8_e4m3 --suite s --once; out '^match .*s/special.safetensors'

# What a vector was seen to show, beside the document and without a change of anything else.
run 0 gen --suite interpretation --format fp8_row --model exact --separates -o p
run 0 verify p/one_hot.safetensors --output p/one_hot.safetensors:d.exact; out '^match '
python3 - p/one_hot.safetensors <<'EOP' || fail 'separates'
import json, struct, sys
raw = open(sys.argv[1], "rb").read()
metadata = json.loads(raw[8:8 + struct.unpack("<Q", raw[:8])[0]])["__metadata__"]
separates = json.loads(metadata["fp4oracle.separates"])
assert set(separates["scales_ignored"]) == {"operand=A", "operand=B", "operand=A and B"}, separates["scales_ignored"]
assert "separates" not in json.loads(metadata["fp4oracle"])
EOP
run 2 gen --data gaussian --shape 4x4x64 --format nvfp4 --separates -o x.safetensors; err 'belongs to --suite'; absent x.safetensors

# Without files: for the kernels that take the format, in D as they have it; a planted fault has its cause.
run 0 run --kernel 'cpu_reference:cpu/nvfp4*16' --suite smoke --once
out 'kernel cpu/nvfp4/bf16'; out 'kernel cpu/nvfp4/f16'; out '^match  *smoke/ties-nvfp4'; out '^[1-9][0-9]* matched, 0 diverged, 0 failed'
run 0 run --kernel cpu_reference:cpu/nvfp4 --suite smoke/special --once --json; json '.results | length' 1
json '.results[0].vector' smoke/special-nvfp4
json '.results[0].reproduce' 'fp4oracle run --kernel cpu_reference:cpu/nvfp4 --once --suite smoke/special --format nvfp4'
run 1 run --kernel cpu_reference:cpu/nvfp4+nibble_swap_a --suite smoke/one_hot --once --json
json '.results[0].causes | map(.edit) | index("nibble_order") != null' true
run 1 run --kernel cpu_reference:cpu/nvfp4+scales_as_ue8m0_a --suite smoke/one_hot --once; out 'block scales of A are ue4m3 and are read as ue8m0'

run 2 gen --suite smok --format nvfp4 -o x; err "did you mean 'smoke'"; absent x
run 2 gen --suite smoke -o x; err 'which format'; absent x
run 2 gen --suite smoke --format nvfp4; err 'where to'
run 2 gen --suite smoke --format nvfp4 --data gaussian -o x; err 'brings its own'; absent x
run 2 gen --suite smoke --format nvfp4 --alpha 2 -o x; err 'brings its own'; absent x
run 0 gen --suite smoke --format bf16 --model exact -o w --json; json '.left_out | map(.name) | index("one_hot") != null' true
touch file; run 2 gen --suite smoke --format nvfp4 -o file; err 'no folder'
run 2 run --kernel cpu_reference --suite smoke/none; err "has no vector 'none'"
run 2 run --kernel cpu_reference --suite smoke --format nvfp5; err "did you mean 'nvfp4'"
run 2 run --kernel cpu_reference --suite s --format nvfp4; err 'files say their own'
run 2 run --kernel cpu_reference --suite nosuite; err "there is no suite 'nosuite'"
finish

# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle gen: vectors from a seed and from tensors, and arguments that nothing can be done with.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
slice=$FPO_SOURCE_DIR/vectors/data/minilm/slice.safetensors

# From a seed: the same arguments give the same bytes, another seed gives others.
run 0 gen --data gaussian --shape 16x24x64 --format nvfp4 -o v.safetensors
out 'nvfp4 x nvfp4 -> f32'; out '16 x 24 x 64'; out 'd.exact'; out 'd.sm120_mxf4nvf4'; out 'seed 0'
run 0 gen --data gaussian --shape 16x24x64 --format nvfp4 -o again.safetensors --json
json '.outputs[0].model' exact; json .a nvfp4; json .d f32; json '.shape | join("x")' 16x24x64
cmp -s v.safetensors again.safetensors || fail 'the same arguments gave other bytes'
run 0 gen --data gaussian --shape 16x24x64 --format nvfp4 --seed 1 -o other.safetensors
cmp -s v.safetensors other.safetensors && fail 'another seed gave the same bytes'

# The exact output, computed again by Python fractions.
for format in nvfp4 mxfp4 mxfp8_e4m3 mxfp8_e5m2 mxfp8_e4m3,mxfp8_e5m2; do
    for kind in gaussian powers; do
        run 0 gen --data $kind --shape 5x7x96 --format $format --model exact --alpha 0.375 -o x.safetensors
        python3 "$FPO_SOURCE_DIR/tests/cli/exact_gemm.py" x.safetensors d.safetensors || fail 'exact_gemm.py'
        run 0 verify x.safetensors --output d.safetensors; out '^match '
    done
done

# Every kind of data and every format of the registries; D in every format.
for kind in $("$FP4ORACLE" list data --json | jq -r '.data[].name'); do
    run 0 gen --data "$kind" --shape 8x8x128 --format nvfp4 -o k.safetensors; out "data  *$kind"
done
for format in $("$FP4ORACLE" list blocks --json | jq -r '.blocks[].name'); do
    run 0 gen --data gaussian --shape 4x4x64 --format "$format" -o f.safetensors --json; json .a "$format"
done
for d in f32 bf16 f16 e4m3 e5m2 nvfp4; do
    run 0 gen --data gaussian --shape 4x32x64 --format nvfp4 --d $d -o d.safetensors --json; json .d $d
done

# Models: chosen, all, default; the default has exact first.
run 0 gen --data gaussian --shape 4x4x64 --format nvfp4 --model fma_f32 --model exact --model fma_f32 -o m.safetensors --json
json '.outputs | map(.model) | join(" ")' 'fma_f32 exact'
run 0 gen --data gaussian --shape 4x4x64 --format nvfp4 --model all -o m.safetensors --json; json '.outputs | length > 10' true
run 0 gen --data gaussian --shape 4x4x64 --format nvfp4 --model default --model fma_f32 -o m.safetensors --json
json '.outputs[0].model' exact; json '.outputs[-1].model' fma_f32
run 0 gen --data gaussian --shape 64x64x64 --format nvfp4 --digests-only -o small.safetensors
[ "$(stat -c %s small.safetensors)" -lt 10000 ] || fail 'digests only, but the outputs seem to be there'

# C and bias.
run 0 gen --data gaussian --shape 4x4x64 --format nvfp4 --c-format bf16 --bias-format f32 --beta -0.25 -o c.safetensors --json
json .beta -0.25
run 0 explain output c.safetensors 1 2; out 'fma(beta, C, y)'; out 'y + bias'

# From a real tensor.
run 0 gen --a "$slice:activations" --b "$slice:weight" --format nvfp4 --d bf16 -o real.safetensors
out '48 x 128 x 384'; out "a from .*slice.safetensors:activations"
run 0 gen --a "$slice:activations" --b "$slice:weight" --format fp8_1x128,fp8_128x128 --recipe fp8_1x128_divide,fp8_128x128_divide \
    -o real8.safetensors
run 0 gen --a "$slice:activations" --b "$slice:weight" --format bf16 --model all -o plain.safetensors

# Quantised first, or by gen itself: the same operands, and the same outputs.
run 0 quantize "$slice:weight" --recipe nvfp4_divide -o w.safetensors
run 0 gen --a "$slice:activations" --b w.safetensors --format nvfp4 --model exact -o chained.safetensors --json; cp out chained
run 0 gen --a "$slice:activations" --b "$slice:weight" --format nvfp4 --model exact -o direct.safetensors --json
json '.outputs[0].digest' "$(jq -r '.outputs[0].digest' <chained)"

refuse() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    run 2 gen "$@" -o bad.safetensors; err "$pattern"; absent bad.safetensors
}
for shape in 0x1x1 1x0x1 1x1x0 -1x1x1 99999999999999999999x1x1 4x4 4x4x4x4 4X4X4 axbxc '' ' 4x4x4' 4x4x4x 2147483648x1x1 0x10x4x4; do
    refuse 'is not MxNxK' --data gaussian --shape "$shape" --format nvfp4
done
refuse 'memory\|large\|size' --data gaussian --shape 2147483647x2147483647x2147483647 --format nvfp4
refuse "did you mean 'nvfp4'" --data gaussian --shape 4x4x64 --format nvfp5
refuse "no operand format 'x'" --data gaussian --shape 4x4x64 --format nvfp4,x
refuse 'no operand format' --data gaussian --shape 4x4x64 --format nvfp4,nvfp4,nvfp4
refuse "did you mean 'gaussian'" --data gausian --shape 4x4x64 --format nvfp4
refuse 'no model' --data gaussian --shape 4x4x64 --format nvfp4 --model exakt
refuse 'does not take these operands' --data gaussian --shape 4x4x64 --format nvfp4 --model sm90_wgmma_fp8
refuse 'D is f32' --data gaussian --shape 4x4x64 --format nvfp4 --d ue8m0
refuse 'no number format' --data gaussian --shape 4x4x64 --format nvfp4 --d f64
refuse 'seed' --data gaussian --shape 4x4x64 --format nvfp4 --seed -1
refuse 'seed' --data gaussian --shape 4x4x64 --format nvfp4 --seed 18446744073709551616
refuse 'is no number' --data gaussian --shape 4x4x64 --format nvfp4 --alpha 1,5
refuse 'beyond the largest f32; write inf' --data gaussian --shape 4x4x64 --format nvfp4 --alpha 1e39
refuse 'beyond the largest f32; write inf' --data gaussian --shape 4x4x64 --format nvfp4 --alpha=-0x1p128
refuse 'below the smallest f32; write 0' --data gaussian --shape 4x4x64 --format nvfp4 --alpha 1e-400
refuse 'below the smallest f32; write 0' --data gaussian --shape 4x4x64 --format nvfp4 --alpha=-0x1p-150
refuse 'there is no C' --data gaussian --shape 4x4x64 --format nvfp4 --beta 1
refuse 'which format' --data gaussian --shape 4x4x64
refuse 'which shape' --data gaussian --format nvfp4
refuse 'where from' --format nvfp4
refuse 'belong together' --a "$slice:weight" --format nvfp4
refuse 'not both' --a "$slice:weight" --b "$slice:weight" --data gaussian --shape 4x4x4 --format nvfp4
refuse 'the tensors say it' --a "$slice:weight" --b "$slice:weight" --shape 4x4x4 --format nvfp4
refuse 'belong to --data' --a "$slice:weight" --b "$slice:weight" --c-format f32 --format nvfp4
refuse 'belong to --a' --data gaussian --shape 4x4x64 --format nvfp4 --recipe nvfp4_divide
refuse 'makes mxfp4' --a "$slice:weight" --b "$slice:weight" --format nvfp4 --recipe ocp_floor_mxfp4
refuse 'has 2 tensors' --a "$slice" --b "$slice:weight" --format nvfp4
refuse 'missing' --a missing.safetensors:x --b "$slice:weight" --format nvfp4
refuse 'K differs' --a v.safetensors:d.exact --b "$slice:weight" --format nvfp4
refuse 'C of' --a "$slice:activations" --b "$slice:weight" --c "$slice:weight" --format nvfp4
refuse 'bias of' --a "$slice:activations" --b "$slice:weight" --bias "$slice:weight" --format nvfp4
run 0 quantize "$slice:weight" --recipe nvfp4_divide --layout 128x4 -o tiled.safetensors
refuse 'not linear' --a "$slice:activations" --b tiled.safetensors --format nvfp4
refuse 'holds nvfp4, not mxfp4' --a "$slice:activations" --b w.safetensors --format mxfp4
refuse 'quantised already' --a w.safetensors --b w.safetensors --format nvfp4 --recipe nvfp4_divide
refuse "what is 'stray'" --data gaussian --shape 4x4x64 --format nvfp4 stray
run 2 gen --data gaussian --shape 4x4x64 --format nvfp4; err 'where to'
# A name that is no UTF-8 is a name like any other.
name=$(printf 'n\377\303\251\342.safetensors')
run 0 gen --data gaussian --shape 4x4x64 --format nvfp4 --model exact -o "$name" --json; json '.outputs | length' 1
run 0 verify "$name" --output "$name:d.exact" --json; json .verdict match
run 0 quantize "$name:d.exact" --recipe ocp_floor_mxfp4 -o "$name.q" --json; json .recipe ocp_floor_mxfp4
run 2 gen --data gaussian --shape 4x4x64 --format nvfp4 -o nowhere/v.safetensors; err nowhere; absent nowhere
mkdir folder; run 2 gen --data gaussian --shape 4x4x64 --format nvfp4 -o folder; err folder
run 2 gen --data gaussian --shape 4x4x64 --format nvfp4 -o ''; err 'the name of the file to write is empty'; absent .*.tmp
run 0 gen --data gaussian --shape 4x4x64 --format nvfp4 --model exact --alpha inf -o inf.safetensors; out 'alpha inf'

finish

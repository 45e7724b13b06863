# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# FlashInfer's b12x, compiled by the CuTe DSL where its packages have been fetched, with the DSL's own host code: all bits
# on the virtual SM120, and a planted fault in its PTX seen.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
. "$FPO_SOURCE_DIR/tests/cli/cutedsl.sh" || exit 1
example=$FPO_SOURCE_DIR/examples/cutedsl/b12x_gemm.py
mkdir b12x
python3 "$example" compile "$flashinfer" dsl b12x >log 2>&1 || fail "the DSL: $(tail -n 3 log)"

b12x() { FP4ORACLE_VGPU_PTX=$1 run "$2" vgpu -c "seed=$3" -- python3 "$example" run b12x v.safetensors d.safetensors; }

for shape in 128x128x256 200x264x320; do
    run 0 gen --format nvfp4 --data uniform --shape $shape --alpha 0.3 --d bf16 --model sm120_mxf4nvf4 -o v.safetensors
    for seed in 0 3; do
        b12x b12x/b12x.ptx 0 $seed
        run 0 verify v.safetensors --output d.safetensors --model sm120_mxf4nvf4
        out '^match'
    done
done
sed 's/f32\.ue4m3/f32.ue8m0/' b12x/b12x.ptx >b12x/fault.ptx
cmp -s b12x/b12x.ptx b12x/fault.ptx && fail "no fault was planted"
b12x b12x/fault.ptx 0 0
run 1 verify v.safetensors --output d.safetensors --model sm120_mxf4nvf4
out 'scales of A and B are ue4m3 and are read as ue8m0'

# D in f32, which FlashInfer accepts: the errata's 24 registers that its PTX reads and nothing defines, and wrong sums.
mkdir f32
python3 "$example" compile "$flashinfer" dsl f32 f32 >log 2>&1 || fail "the DSL: $(tail -n 3 log)"
run 0 gen --format nvfp4 --data uniform --shape 128x128x256 --alpha 0.3 --model sm120_mxf4nvf4 -o v.safetensors
FP4ORACLE_VGPU_PTX=f32/b12x.ptx run 0 vgpu --check -- python3 "$example" run f32 v.safetensors d.safetensors f32
[ "$(grep -c 'reads register %rd[0-9]*, which nothing defines' err)" = 24 ] || fail "not 24 registers"
run 1 verify v.safetensors --output d.safetensors --model sm120_mxf4nvf4
out '^unexplained'
finish

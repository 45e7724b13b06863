# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle run --kernel FILE.json: a PTX file described by JSON, Triton's, on the virtual SM120; and descriptions that
# make no sense, each refused with the field's name.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
for format in nvfp4 mxfp8; do
    cp "$FPO_SOURCE_DIR/tests/data/triton/$format.json" . && zstd -dqf "$FPO_SOURCE_DIR/tests/data/triton/$format.ptx.zst" -o $format.ptx
done

run 0 gen --data uniform --shape 40x136x256 --alpha 0.3 --format nvfp4 --model sm120_mxf4nvf4 -o nvfp4.safetensors
run 0 run --kernel nvfp4.json --device virtual:sm120 nvfp4.safetensors
out '^plug-in  module 1 (.*/nvfp4.json)'; out '^kernel triton/nvfp4'; out 'from Triton 3.9.0'; out 'computes with a VIRTUAL SM120'
out '^match  *nvfp4.safetensors  40x136x256  all bits as sm120_mxf4nvf4'
run 0 gen --data uniform --shape 128x40x128 --format mxfp8_e4m3 --model sm120_mxf8f6f4 -o mxfp8.safetensors
run 0 run --kernel ./mxfp8.json:triton/mxfp8 --device virtual:sm120,seed=3 --once mxfp8.safetensors; out '^match '
run 0 run --kernel nvfp4.json --list; out '^triton/nvfp4 '

awk '/mma.sync/ && ++seen == 3 { sub(/\{[^{}]*\}, *\[?%r[0-9]+/, "&") } { print }' nvfp4.ptx >/dev/null
# Planted faults are located: the scales of other rows at the second mma, a fragment of nothing at the fifth; and a wrong
# alpha is not the fault of any mma. With check=1 what was never read is counted.
fault() { # MMA FROM TO
    line=$(grep -n mma.sync nvfp4.ptx | sed -n "$1p" | cut -d: -f1)
    sed "${line}s/$2/$3/" nvfp4.ptx >fault.ptx
    jq '.module = "fault.ptx"' nvfp4.json >fault.json
    run 1 run --kernel fault.json --device virtual:sm120 --once --no-diagnosis nvfp4.safetensors
    out "^  mismatch  *PTX line $line, CTA (0,[01],0), warp [0-9], .mma.sync"
}
fault 2 '%r611,' '%r629,'; out 'scale 0 of A is .*, where row [0-9]*, K block 0 belongs'
fault 5 '{ %r603, %r604, %r605, %r606 }' '{ 0, 0, 0, 0 }'; out 'row 0 of the fragment of A is no row of it'
jq '.kernels[0].arguments[5] = {f32: "beta"}' nvfp4.json >alpha.json
run 1 run --kernel alpha.json --device virtual:sm120 --once --no-diagnosis nvfp4.safetensors
out '^  mismatch  *every mma gets rows, columns, scales and accumulators that belong together'

# --check: nothing in the kernel as it is; without its second barrier a race, whatever the bits are; not for other devices.
run 0 run --kernel nvfp4.json --device virtual:sm120 --check --once nvfp4.safetensors; out '^match '
line=$(grep -n 'bar.sync' nvfp4.ptx | sed -n 2p | cut -d: -f1)
sed "${line}d" nvfp4.ptx >fault.ptx
jq '.module = "fault.ptx"' nvfp4.json >fault.json
run 1 run --kernel fault.json --device virtual:sm120 --check --once --no-diagnosis nvfp4.safetensors
out 'check_failed .*PTX line [0-9]*, CTA .*shared memory'
run 2 run --kernel nvfp4.json --check nvfp4.safetensors; err 'check looks into a virtual GPU'

# SM100's: no finding; under late_loads the registers of a tcgen05.ld are there only after its wait, above which LLVM moved
# their use.
zstd -dqf "$FPO_SOURCE_DIR/tests/data/triton/sm100_nvfp4.ptx.zst" -o sm100.ptx
jq '.module = "sm100.ptx" | .kernels[0] += {native: [100], shared: "65536", order: {models: "sm100_mxf4nvf4"}}' nvfp4.json >sm100.json
run 0 gen --data uniform --shape 40x136x256 --alpha 0.3 --format nvfp4 --model sm100_mxf4nvf4 -o sm100.safetensors
run 0 run --kernel sm100.json --device virtual:sm100 --check --once sm100.safetensors; out '^match '
run 1 run --kernel sm100.json --device virtual:sm100,late_loads=1 --check --once --no-diagnosis sm100.safetensors
out '^mismatch '; out 'check_failed .*PTX line 2870, CTA .*mov.b64. uses a register before a tcgen05.wait::ld .*register 0 of the one on line 2867'

# PTX that is none, a module that is not there, a kernel that it does not have, launches that cannot be.
sed 's/add.s32/add.s33/' nvfp4.ptx >broken.ptx
jq '.module = "broken.ptx"' nvfp4.json >broken.json
run 3 run --kernel broken.json --device virtual:sm120 nvfp4.safetensors; out '^failed .*s33'
jq '.module = "absent.ptx"' nvfp4.json >absent.json
run 3 run --kernel absent.json --device virtual:sm120 nvfp4.safetensors; out 'cannot open .*/absent.ptx'
jq '.kernels[0].entry = "gemm"' nvfp4.json >entry.json
run 3 run --kernel entry.json --device virtual:sm120 nvfp4.safetensors; out 'nvfp4.ptx has no kernel "gemm"'
jq '.kernels[0].grid = ["ceil(m, 128) / (m - 40)"]' nvfp4.json >zero.json
run 2 run --kernel zero.json:triton/nvfp4 --device virtual:sm120 nvfp4.safetensors; out '^unsupported .*division by zero at column'
jq '.kernels[0].grid = ["m * m * 100000 * n"]' nvfp4.json >large.json
run 2 run --kernel large.json:triton/nvfp4 --device virtual:sm120 nvfp4.safetensors
out '^unsupported .*"m \* m \* 100000 \* n": is 21760000000 for 40x136x256, not within 1 to'

# refused FILTER WORDS: the description, changed by jq, is unusable, and the error says WORDS.
refused() {
    jq "$1" nvfp4.json >bad.json
    run 2 run --kernel bad.json --device virtual:sm120 nvfp4.safetensors
    err "$2"
}
refused '.kernels = []' 'it has 0 kernels, not 1 to'
refused '.kernels[0].grid = ["ceil(m, 128"]' 'kernels\[0\].grid\[0\] "ceil(m, 128": a closing parenthesis is missing at column 12'
refused '.kernels[0].grid = ["ceil(q, 128)"]' 'there is no such variable at column 6'
refused '.kernels[0].grid = ["9223372036854775807 + m"]' 'more than 63 bits'
refused '.kernels[0].grid = [1]' 'kernels\[0\].grid\[0\] is no text'
refused '.kernels[0].grid = ["1","1","1","1"]' 'kernels\[0\].grid has 4 entries, not 1 to 3'
refused '.kernels[0].block = [4096]' 'kernels\[0\].block\[0\] is 4096, not within 1 to 1024'
refused '.kernels[0].shared = "x y"' 'kernels\[0\].shared "x y"'
refused '.kernels[0].arguments[1] = "a_scales"' 'kernels\[0\].arguments\[1\] is neither a buffer'
refused '.kernels[0].arguments[6] = {"i16": "m"}' 'kernels\[0\].arguments\[6\] is neither'
refused '.kernels[0].arguments[6] = {"f32": "m"}' 'kernels\[0\].arguments\[6\] is neither'
refused '.kernels[0].a.element = 4' 'kernels\[0\].a.element is a number, not text'
refused '.kernels[0].a.scale_k = -16' 'kernels\[0\].a.scale_k is -16, not within 0 to'
refused '.kernels[0].a.scale_padding = "none"' 'kernels\[0\].a.scale_padding is "none", not one of any, numbers, zero'
refused 'del(.kernels[0].b)' 'kernels\[0\].b is missing'
refused 'del(.kernels[0].entry)' 'kernels\[0\].entry is missing'
refused '.kernels[0].alpha = "host\u001b[31m"' 'alpha is "host?\[31m"'
refused 'del(.module)' 'the description.module is missing'
refused '.kernels[0].threads = 128' 'kernels\[0\] has a field "threads" that nobody reads'
refused '.kernels[0].native = [12]' 'kernels\[0\].native\[0\] is 12, no compute capability'
refused '.kernels[0].order.tile_k = "128"' 'kernels\[0\].order.tile_k is text, not a whole number'
refused '.kernels[0].alpha = "value"' 'kernels\[0\].alpha is "value", not one of none, host, device'
echo '{"module": "x.ptx", "kernels": [' >bad.json
run 2 run --kernel bad.json --device virtual:sm120 nvfp4.safetensors; err 'bad.json: line 2, column'
run 2 run --kernel missing.json --device virtual:sm120 nvfp4.safetensors; err 'there is no plug-in missing.json'
run 2 run --kernel module --device virtual:sm120 nvfp4.safetensors; err 'it needs a description'

finish

# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle run: right kernels, planted faults and their names, text, JSON, exit statuses, reproduce lines.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1

run 0 gen --data uniform --shape 96x72x192 --format nvfp4 --alpha 0.7 --model fma_f32 --model exact -o nv.safetensors
run 0 gen --data gaussian --shape 40x24x96 --format mxfp8_e4m3 --model fma_f32 -o mx.safetensors
run 0 gen --data gaussian --shape 24x24x128 --format fp8_row --model fma_f32 -o row.safetensors

# What ran where, and what was compared.
run 0 run --kernel cpu_reference:cpu/nvfp4 nv.safetensors
out '^plug-in  cpu_reference '; out '^device   cpu: '; out '^kernel cpu/nvfp4$'; out 'computes with plain scalar arithmetic'
out '^match  *nv.safetensors  96x72x192  all bits as fma_f32 (defined), golden; 12 launches'
out '^1 matched, 0 diverged, 0 failed$'
run 0 run --kernel cpu_reference:cpu/nvfp4/bf16 nv.safetensors; out 'all bits as fma_f32 (defined), computed'
run 0 run --kernel cpu_reference:cpu/nvfp4 --once nv.safetensors; out '; 1 launch,'
run 0 run --kernel cpu_reference:cpu/nvfp4 --device cpu --json nv.safetensors
json .plugin.name cpu_reference; json .device.device cpu; json '.kernels[0].name' cpu/nvfp4; json '.kernels[0].a.scale.layout' 128x4
json '.results | length' 1; json '.results[0].outcome' match; json '.results[0].model' fma_f32; json '.results[0].provenance' defined
json '.results[0].golden' true; json '.results[0].shape | join("x")' 96x72x192; json '.results[0].launches' 12; json .summary.matched 1

# All kernels that take the vectors; the others are counted, not listed. Several vectors, and a folder of them.
mkdir suite; cp nv.safetensors mx.safetensors row.safetensors suite
run 0 run --kernel cpu_reference --suite suite --once
out '^match  *suite/mx.safetensors'; out '^match  *suite/nv.safetensors'; out '^match  *suite/row.safetensors'
out '^9 matched, 0 diverged, 0 failed; [0-9]* kernels take none of these vectors$'; not_out unsupported; not_out '+'
run 0 run --kernel 'cpu_reference:cpu/*/bf16' nv.safetensors row.safetensors --once; out '^2 matched'
run 2 run --kernel cpu_reference:cpu/mxfp4 nv.safetensors; out '^unsupported  *nv.safetensors  the kernel takes scales of format ue8m0 for A'
out '^0 matched, 0 diverged, 0 failed, 1 unsupported$'

# Planted faults: named, and the failing line ends with the command that shows it again.
fault() { # KERNEL EDIT PARAMETERS VECTOR
    run 1 run --kernel "cpu_reference:cpu/$1" --once --json "$4"
    json '.results[0].outcome' mismatch; json '.results[0].verdict' fault
    json ".results[0].causes | map(select(.edit == \"$2\" and .parameters == \"$3\")) | length" 1
    json '.kernels[0].fault | length > 10' true
}
fault nvfp4+nibble_swap_a nibble_order operand=A nv.safetensors
fault nvfp4+nibble_swap_b nibble_order operand=B nv.safetensors
fault nvfp4+scales_as_ue8m0 scale_format 'operand=A and B,from=ue4m3,to=ue8m0' nv.safetensors
fault nvfp4+linear_read_as_128x4 scale_layout 'operand=A and B,from=linear,to=128x4' nv.safetensors
fault nvfp4+tensor_scale_inverted_b tensor_scale_inverted operand=B nv.safetensors
fault nvfp4+alpha_dropped alpha_dropped '' nv.safetensors
fault mxfp8_e4m3+scales_ignored_a scales_ignored operand=A mx.safetensors
run 1 run --kernel cpu_reference:cpu/nvfp4+nibble_swap_a nv.safetensors
out 'broken on purpose: it takes the even k of A from the high nibble'
out '^mismatch  *nv.safetensors  96x72x192  .* elements differ from fma_f32; reproduce: fp4oracle run --kernel cpu_reference:cpu/nvfp4+nibble_swap_a nv.safetensors$'
out 'cause  *the two 4-bit codes in each byte of A'; out 'row  column'; out '^0 matched, 1 diverged, 0 failed$'
run 1 run --kernel cpu_reference:cpu/nvfp4+nibble_swap_a --no-diagnosis nv.safetensors; not_out cause
run 1 run --kernel cpu_reference:cpu/nvfp4 --model exact --time-limit 30 nv.safetensors
out 'elements differ from exact; reproduce: fp4oracle run --kernel cpu_reference:cpu/nvfp4 --model exact --time-limit 30 nv.safetensors$'
line=$(sed -n 's/.*reproduce: fp4oracle \(run.*\)/\1/p' out | head -1)
# shellcheck disable=SC2086 # the line is a command line
run 1 $line; out 'elements differ from exact'

# The list of kernels, planted faults included.
run 0 run --kernel cpu_reference --list; out '^cpu/nvfp4  '; out 'e2m1 ue4m3/16 128x4'; out 'cpu/nvfp4+nibble_swap_a .*broken: takes the even k'
run 0 run --kernel cpu_reference --list --json; json '.kernels | map(select(.name == "cpu/fp8_1x128,fp8_128x128"))[0].b.scale.rows' 128

# What cannot be used.
run 2 run; err 'which kernel'
run 2 run --kernel cpu_reference; err 'which vectors'
run 2 run --kernel nowhere nv.safetensors; err "there is no plug-in 'nowhere' in "
run 2 run --kernel ./nowhere.so nv.safetensors; err 'there is no plug-in ./nowhere.so'
run 2 run --kernel "" nv.safetensors; err "there is no plug-in '' in "
run 2 run --kernel /tmp nv.safetensors; err 'there is no plug-in /tmp'
run 2 run --kernel /dev/zero nv.safetensors; err 'there is no plug-in /dev/zero'
echo '# notes of mine' >text.so; run 2 run --kernel ./text.so nv.safetensors; err 'text.so is no shared object'
printf '\177ELF' >short.so; run 2 run --kernel ./short.so nv.safetensors; err 'short.so is no shared object'
run 2 run --kernel cpu_reference:cpu/nvfp5 nv.safetensors; err 'cpu_reference has no kernel cpu/nvfp5'
run 2 run --kernel cpu_reference --suite nosuite; err "there is no suite 'nosuite'"
run 2 run --kernel cpu_reference --device gpu:0 nv.safetensors; err 'work in host memory: --device cpu'
run 2 run --kernel cpu_reference --model sm12 nv.safetensors; err sm12
run 2 run --kernel cpu_reference --time-limit 0 nv.safetensors; err 'time-limit'
run 2 run --kernel cpu_reference:cpu/nvfp4 missing.safetensors; out '^unusable  *missing.safetensors'
head -c 100 nv.safetensors >cut.safetensors
run 2 run --kernel cpu_reference:cpu/nvfp4 cut.safetensors nv.safetensors; out '^unusable  *cut.safetensors'; out '^match  *nv.safetensors'
run 3 run --kernel "$FPO_PLUGINS/libfp4oracle.so" nv.safetensors; err 'not a plug-in'

# Records: the folder is made; where it cannot be, that is said before a kernel runs.
run 0 run --once --kernel cpu_reference:cpu/nvfp4 --record kept nv.safetensors
[ -s kept/nv.cpu_nvfp4.0.safetensors ] || fail "no record in the folder that run made: $(ls kept)"
run 2 run --once --kernel cpu_reference:cpu/nvfp4 --record no/such/kept nv.safetensors
err 'record no/such/kept: cannot make the folder'; not_out match
run 2 run --once --kernel cpu_reference:cpu/nvfp4 --record nv.safetensors nv.safetensors; err 'is there and is no folder'

# bench --kernel: launches alone are timed, and a wrong output has no time.
run 0 bench --kernel cpu_reference:cpu/nvfp4 --shape 48x40x96 --repeat 2
out '^cpu/nvfp4 on .*: nvfp4, 48 x 40 x 96, .* 2 launches$'; out 'all bits right$'
run 0 bench --kernel cpu_reference:cpu/mxfp8_e4m3 --format mxfp8_e4m3 --device cpu --shape 48x40x96 --threads 1 --repeat 1 --json
json .kernel cpu/mxfp8_e4m3; json .format mxfp8_e4m3; json .threads 1; json .repeat 1; json '.seconds > 0 and .gmac_per_s > 0' true
run 1 bench --kernel cpu_reference:cpu/nvfp4+nibble_swap_a --shape 48x40x96; err 'elements differ'; not_out GMAC
run 2 bench --kernel cpu_reference --shape 48x40x96; err 'one kernel is timed, PLUGIN:NAME'
run 2 bench --kernel cpu_reference:cpu/nothing; err 'has no kernel cpu/nothing'
run 2 bench --device cpu; err 'device is for --kernel'

run 0 run --help; out 'Example:'
run 2 worker; err 'not by hand'
run 2 worker 0 1; err 'not by hand'

finish

# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# What goes wrong with kernels for SM100, unmodified, on the virtual one (that they are right: cli_run_sm100_matrix): what
# DeepGEMM returns for f32 scales, each way to the sentence that names it; an NVFP4 layer whose scales reach CUTLASS and
# FlashInfer in the wrong layout.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
cutlass=$FPO_PLUGINS/cutlass_sm100.so deepgemm=$FPO_PLUGINS/deepgemm_sm100.so
[ -e "$cutlass" ] && [ -e "$deepgemm" ] || { echo "the plug-ins for SM100 are not built (docs/plugins.md)"; exit 77; }
seeds=7
[ -z "${FPO_LONG-}" ] || seeds="0 1 2 3 4 5"

# matched N PLUGIN:PATTERN VECTOR: all N kernels, every bit, for each seed of the interleaving.
matched() {
    local count=$1 seed
    for seed in $seeds; do
        run 0 run --once --kernel "$2" --device "virtual:sm100,seed=$seed" "$3"
        out "^$count matched, 0 diverged, 0 failed"
    done
}
# FP8 activations and FP4 weights, and the other way round; grouped GEMMs among them.
mixed() { # COUNT FORMATS
    run 0 gen --data uniform --shape 400x264x256 --format "$2" --model sm100_mxf8f6f4 -o mixed.safetensors
    matched "$1" "$deepgemm" mixed.safetensors
}
mixed 4 fp8_ue8m0_1x128,mxfp4; mixed 1 mxfp8_e4m3,mxfp4; mixed 1 mxfp4,mxfp8_e4m3

run 0 gen --data uniform --shape 136x136x512 --format nvfp4 --alpha 0.3 --model sm100_mxf4nvf4 -o nvfp4.safetensors
run 0 gen --data uniform --shape 400x264x256 --format mxfp4 --model sm100_mxf4 -o mxfp4.safetensors
run 0 gen --data uniform --shape 136x264x512 --format mxfp8_e4m3 --model sm100_mxf8f6f4 -o mxfp8.safetensors

# No kernel raises anything; DeepGEMM's wait for what they load from tensor memory, CUTLASS's use it before.
for given in "$cutlass:cutlass_sm100/nvfp4/f32/2x2 nvfp4" "$deepgemm:deepgemm_sm100/mxfp4/f32/2cta mxfp4"; do
    read -r kernel vector <<<"$given"
    run 0 run --once --check --kernel "$kernel" --device virtual:sm100,seed=3 $vector.safetensors; out '^match '
done
run 0 run --once --check --kernel "$deepgemm:*/m_grouped*" --device virtual:sm100 mxfp4.safetensors; out '^2 matched, 0 div'
run 0 run --once --check --kernel "$deepgemm:deepgemm_sm100/mxfp8/f32" --device virtual:sm100,late_loads=1 mxfp8.safetensors; out '^match '
run 1 run --once --check --no-diagnosis --kernel "$cutlass:cutlass_sm100/mxfp8/f32" --device virtual:sm100,late_loads=1 mxfp8.safetensors
out 'check_failed .*uses a register before a tcgen05.wait::ld'

# Blockwise FP8: scales of rows beyond M are not fetched, and their places are read all the same.
run 0 gen --data uniform --shape 128x128x256 --format fp8_1x128,fp8_128x128 --model sm100_fp8_blockwise -o full.safetensors
run 0 gen --data uniform --shape 132x128x256 --format fp8_1x128,fp8_128x128 --model sm100_fp8_blockwise -o ragged.safetensors
blockwise=$cutlass:cutlass_sm100/fp8/1x128,128x128/f32
run 0 run --once --check --kernel "$blockwise" --device virtual:sm100,seed=3 full.safetensors; out '^match '
run 1 run --once --check --no-diagnosis --kernel "$blockwise" --device virtual:sm100,seed=3 ragged.safetensors
out 'check_failed .*ld.shared.f32. reads shared memory that nothing has written'
run 0 run --once --kernel "$blockwise" --device virtual:sm100,seed=3 ragged.safetensors; out '^match '

# DeepGEMM reads packed ue8m0 words; it is given f32 scales: of rows, and a checkpoint's, of 128x128 blocks.
run 0 gen --data gaussian --shape 64x128x512 --format fp8_1x128 --model exact -o rows.safetensors
python3 "$FPO_SOURCE_DIR/tests/cli/field_checkpoint.py" deepseek || fail "no checkpoint"
run 0 gen --checkpoint deepseek --layer model.layers.0.mlp.down_proj --rows 64 --model exact -o checkpoint.safetensors
given() { # STATUS KERNEL VECTOR
    run "$1" run --once --kernel "$deepgemm:deepgemm_sm100/$2" --device virtual:sm100 "$3.safetensors"
}
named() { # WAY SENTENCE
    given 1 "$1" "$3"
    out "cause  *$2, and the sum is accumulated as in the model sm100_mxf8f6f4"
}
for pair in 'fp8_1x128 rows' 'fp8_1x128,128x128 checkpoint'; do
    read -r format vector <<<"$pair"
    named "$format/f32+raw_words" "the f32 scales of A and B are read as packed ue8m0 bytes: scale k is byte k mod 4 of the f32 scale k/4" "$vector"
    named "$format/f32+mantissa_dropped" "only the exponent of the f32 scales of A and B is kept: 2^floor(log2 s)" "$vector"
    named "$format/f32+rounded_up" "the f32 scales of A and B are rounded up to powers of two without requantising the data: 2^ceil(log2 s)" "$vector"
    given 3 "$format/f32/packed_here" "$vector"
    out 'trap.: trap; kernel .*transpose_and_pack_fp32_into_ue8m0'
done
named fp8_1x128/f32+packed_unmasked "the f32 scales of A and B are packed to ue8m0 without masking: .*, mantissas included" rows
given 1 fp8_1x128,128x128/f32+packed_unmasked checkpoint # NaN everywhere, which has other explanations, too
out 'NaN  *16384 elements, where none should be: all of it'; out 'f32_scales_packed_unmasked (operand=A and B)'

# The right way: the same weights quantised anew, with scales that are powers of two. On Hopper the checkpoint's own scales
# are right.
run 0 gen --data gaussian --shape 400x1024x64 --format bf16 --d bf16 --model exact -o activations.safetensors
run 0 gen --a activations.safetensors:d.exact --b deepseek:model.layers.0.mlp.down_proj --format fp8_ue8m0_1x128 --model sm100_mxf8f6f4 -o powers.safetensors
matched 9 "$deepgemm" powers.safetensors
run 0 gen --data gaussian --shape 64x256x512 --format fp8_ue8m0_1x128 --model sm100_mxf8f6f4 -o one.safetensors
given 2 fp8_1x128/f32/2cta one # nothing was compared
out "^unsupported .*M = 64 makes 1 tiles of 128 rows"
[ ! -e "$FPO_PLUGINS/deepgemm.so" ] || {
    run 0 run --once --kernel "$FPO_PLUGINS/deepgemm.so" --device virtual:sm90 checkpoint.safetensors
    out '^3 matched, 0 diverged, 0 failed'
}

# An NVFP4 checkpoint whose block scales reach CUTLASS's and FlashInfer's kernels as they are stored: with eight scales a row
# that is named; with sixteen, where the 128x4 layout is its own inverse, the vector that tells the two apart is run.
tar xf "$FPO_SOURCE_DIR/tests/data/checkpoints/checkpoints.tar.xz" checkpoints/modelopt_nvfp4 || fail "no checkpoint"
flashinfer=$FPO_PLUGINS/flashinfer_sm100.so
layer() { run 0 gen --checkpoint checkpoints/modelopt_nvfp4 --layer "model.layers.0.$1" --rows 6 --model sm100_mxf4nvf4 -o layer.safetensors; }
for kernel in "$cutlass:cutlass_sm100/nvfp4/f32" "$flashinfer:flashinfer_sm100/fp4/f32"; do
    [ -e "${kernel%%:*}" ] || continue
    layer self_attn.o_proj
    run 0 run --once --kernel "$kernel" --device virtual:sm100 layer.safetensors
    out '^match .* all bits as sm100_mxf4nvf4'
    run 1 run --once --kernel "$kernel+linear_b_scales" --device virtual:sm100 layer.safetensors
    out '^  cause  *the block scales of B are in the linear layout and are read as 128x4'
    layer mlp.down_proj
    rm -rf kept apart.safetensors
    run 1 run --once --no-diagnosis --record kept --kernel "$kernel+linear_b_scales" --device virtual:sm100 layer.safetensors
    run 1 diagnose layer.safetensors --output "$(echo kept/*.safetensors):d.sm100_mxf4nvf4" --distinguish apart.safetensors
    out 'group 1  *the block scales of B are in the linear layout and are read as 128x4'
    run 1 run --once --kernel "$kernel+linear_b_scales" --device virtual:sm100 apart.safetensors
    out '^  cause  *the block scales of B are in the k_major_4 layout and are read as 128x4'
    out '^  or  *the block scales of B are in the padded layout and are read as 128x4'
    not_out 'are in the 128x4 layout'
done
run 0 gen --data gaussian --shape 128x256x512 --format nvfp4 --model sm100_mxf4nvf4 -o layer.safetensors
run 1 run --once --kernel "$cutlass:cutlass_sm100/nvfp4/f32+linear_scales" --device virtual:sm100 layer.safetensors
out 'cause  *the block scales of A and B are in the linear layout and are read as 128x4'

# FlashInfer's grouped kernel reads beyond the scales of A where the last group does not fill its tile (docs/errata.md).
exact() { ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 run "$1" vgpu -c capability=100 -- ./exact "$flashinfer" "flashinfer_sm100/$2" "$3" 128 256; }
[ ! -e "$flashinfer" ] || ! cc -D_GNU_SOURCE -I "$FPO_SOURCE_DIR/include" "$FPO_SOURCE_DIR/tests/vgpu/exact_buffers.c" -o exact -ldl || {
    exact 0 groupwise/f32 140; out '^no fault'
    exact 0 grouped/f32 256; out '^no fault'
    exact 1 grouped/f32 140; out 'cp.async.ca.shared.global.*global memory at .* (16 bytes) is not allocated'
    start=$(sed -n 's/^a_scale 0x\([0-9a-f]*\) 1120 bytes$/\1/p' out) beyond=$(sed -n 's/.*global memory at 0x\([0-9a-f]*\) .*/\1/p' out)
    [ $((0x$beyond - 0x$start)) = 1120 ] || fail "read at $beyond, 1120 bytes from $start"
}
finish

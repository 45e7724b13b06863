# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle gen --checkpoint: a vector of a layer of each recorded checkpoint, which a kernel then gets right; layers as
# tensors of quantize; arguments that nothing can be done with.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
checkpoints=${FPO_BINARY_DIR:?is set by ctest}/tests/checkpoints
slice=$FPO_SOURCE_DIR/vectors/data/minilm/slice.safetensors
q=model.layers.0.self_attn.q_proj
down=model.layers.0.mlp.down_proj

# scheme FOLDER A B RECIPE KERNEL: what the vector has, and that a kernel for it is right.
scheme() {
    run 0 gen --checkpoint "$checkpoints/$1" --layer $q --rows 5 --seed 7 -o v.safetensors --json
    json '.shape | join("x")' 5x128x256; json .a "$2"; json .b "$3"; json .seed 7
    json ".data | contains(\" by $4\")" true; json ".data | contains(\"$q of \")" true
    json '.outputs[0].model' exact
    run 0 run --kernel "cpu_reference:$5" --once v.safetensors --json; json '.results[0].outcome' match
    [[ $2 != fp8* ]] || return 0 # the independent product below has no f32 scales
    python3 "$FPO_SOURCE_DIR/tests/cli/exact_gemm.py" v.safetensors d.safetensors || fail 'exact_gemm.py'
    run 0 verify v.safetensors --output d.safetensors; out '^match '
}
scheme modelopt_nvfp4 nvfp4 nvfp4 'vllm_nvfp4 with input scale' cpu/nvfp4
scheme ct_nvfp4 nvfp4 nvfp4 'vllm_nvfp4 with input scale' cpu/nvfp4
scheme torchao_nvfp4 nvfp4 nvfp4 'vllm_nvfp4,' cpu/nvfp4
scheme ct_mxfp4 mxfp4 mxfp4 flashinfer_mxfp4 cpu/mxfp4
scheme ct_mxfp8 mxfp8_e4m3 mxfp8_e4m3 flashinfer_mxfp8 cpu/mxfp8_e4m3
scheme modelopt_mxfp8 mxfp8_e4m3 mxfp8_e4m3 flashinfer_mxfp8 cpu/mxfp8_e4m3
scheme modelopt_fp8 fp8_tensor fp8_tensor 'vllm_fp8_tensor_static with input scale' cpu/fp8_tensor
scheme ct_fp8_static fp8_tensor fp8_tensor 'vllm_fp8_tensor_static with input scale' cpu/fp8_tensor
scheme ct_fp8_dynamic fp8_row fp8_row vllm_fp8_token cpu/fp8_row
scheme ct_fp8_block fp8_1x128 fp8_128x128 vllm_fp8_group128 cpu/fp8_1x128,fp8_128x128
scheme deepseek_fp8_block fp8_1x128 fp8_128x128 vllm_fp8_group128 cpu/fp8_1x128,fp8_128x128

# The operand is what stands in the folder, and the same arguments give the same bytes.
tensor() { # FILE TENSOR: its bytes in hexadecimal
    python3 - "$@" <<'P'
import json, sys
f = open(sys.argv[1], "rb"); n = int.from_bytes(f.read(8), "little"); h = json.loads(f.read(n)); d = f.read()
a, b = h[sys.argv[2]]["data_offsets"]; print(d[a:b].hex())
P
}
folder=$checkpoints/modelopt_nvfp4
run 0 gen --checkpoint "$folder" --layer $q --seed 3 -o v.safetensors
run 0 gen --checkpoint "$folder" --layer $q --seed 3 -o again.safetensors
cmp -s v.safetensors again.safetensors || fail 'the same arguments gave other bytes'
run 0 gen --checkpoint "$folder" --layer $q --seed 4 -o other.safetensors
[ "$(tensor v.safetensors a)" != "$(tensor other.safetensors a)" ] || fail 'another seed gave the same activations'
for pair in b:weight b_scale:weight_scale b_tensor_scale:weight_scale_2 a_tensor_scale:input_scale; do
    [ "$(tensor v.safetensors "${pair%%:*}")" = "$(tensor "$folder/model.safetensors" "$q.${pair##*:}")" ] ||
        fail "$pair: not the bytes of the checkpoint"
done

# Fused layers: rows after rows, one tensor scale, and a kernel gets them right.
attention=model.layers.0.self_attn
fused() { # FOLDER KERNEL WEIGHT SCALE PREFIX PARTS...: the bytes of the parts one after the other
    local folder=$checkpoints/$1 kernel=$2 weight=$3 scale=$4 prefix=$5; shift 5
    run 0 gen --checkpoint "$folder" --layer "$prefix" --fuse "$(IFS=,; echo "$*")" --rows 3 -o fused.safetensors --json
    json '.data | contains("fused")' true
    local part codes='' scales=''
    for part; do
        codes+=$(tensor "$folder/model.safetensors" "$prefix.$part.$weight")
        [ -z "$scale" ] || scales+=$(tensor "$folder/model.safetensors" "$prefix.$part.$scale")
    done
    [ "$(tensor fused.safetensors b)" = "$codes" ] || fail "$folder: the codes are not those of $*"
    [ -z "$scale" ] || [ "$(tensor fused.safetensors b_scale)" = "$scales" ] || fail "$folder: the scales are not those of $*"
    run 0 run --kernel "cpu_reference:$kernel" --once fused.safetensors --json; json '.results[0].outcome' match
}
fused modelopt_nvfp4 cpu/nvfp4 weight weight_scale $attention q_proj k_proj v_proj
[ "$(tensor fused.safetensors b_tensor_scale)" = "$(tensor "$folder/model.safetensors" $q.weight_scale_2)" ] || fail 'the scale is not the exporter'"'"'s'
fused modelopt_nvfp4 cpu/nvfp4 weight weight_scale model.layers.0.mlp gate_proj up_proj
fused ct_nvfp4 cpu/nvfp4 weight_packed weight_scale $attention q_proj k_proj v_proj
python3 - fused.safetensors "$checkpoints/ct_nvfp4/model.safetensors" $attention <<'P' || fail 'ct_nvfp4: the divisor is not the largest'
import json, struct, sys
def number(path, name):
    f = open(path, "rb"); n = int.from_bytes(f.read(8), "little"); h = json.loads(f.read(n)); d = f.read()
    return struct.unpack("<f", d[h[name]["data_offsets"][0]:][:4])[0]
f32 = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
largest = max(number(sys.argv[2], f"{sys.argv[3]}.{part}_proj.weight_global_scale") for part in "qkv")
sys.exit(number(sys.argv[1], "b_tensor_scale") != f32(1 / largest))
P
fused ct_mxfp4 cpu/mxfp4 weight_packed weight_scale $attention q_proj k_proj v_proj
fused ct_mxfp8 cpu/mxfp8_e4m3 weight weight_scale $attention q_proj k_proj

# Given activations, another format or recipe of theirs, C.
run 0 quantize "$checkpoints/ct_mxfp8:$down" --recipe modelopt_nvfp4 -o w.safetensors --json; json '.shape | join("x")' 256x256
run 0 gen --checkpoint "$checkpoints/ct_mxfp4" --layer $down --a "$checkpoints/ct_nvfp4:model.embed_tokens.weight" \
    --format mxfp8_e4m3 --d bf16 -o given.safetensors --json
json '.shape | join("x")' 64x256x256; json .a mxfp8_e4m3; json .b mxfp4; json .d bf16
run 0 gen --checkpoint "$folder" --layer $q --recipe te_nvfp4 -o recipe.safetensors --json; json '.data | contains("by te_nvfp4,")' true

# A layer is dequantised: quantising it again by its own recipe and scale gives its own codes, but for the sign of zero.
run 0 quantize "$checkpoints/deepseek_fp8_block:$q" --recipe deepgemm_fp8_128x128 -o same.safetensors
[ "$(tensor same.safetensors codes)" = "$(tensor "$checkpoints/deepseek_fp8_block/model.safetensors" $q.weight)" ] ||
    fail 'dequantised and quantised again: other codes'

refuse() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    run 2 gen "$@" -o bad.safetensors; err "$pattern"; absent bad.safetensors
}
refuse "which layer.* has 7: $down" --checkpoint "$folder"
refuse 'fewer than two' --checkpoint "$folder" --layer $attention --fuse q_proj
refuse 'no list' --checkpoint "$folder" --layer $attention --fuse q_proj,,k_proj
refuse 'no quantised layer .*x_proj' --checkpoint "$folder" --layer $attention --fuse q_proj,x_proj
refuse 'names parts of --layer' --checkpoint "$folder" --fuse q_proj,k_proj
refuse 'no quantised layer lm_head' --checkpoint "$folder" --layer lm_head
refuse 'no quantised layer' --checkpoint "$folder" --layer ../../etc/passwd
refuse 'No such file' --checkpoint nowhere --layer $q
mkdir empty; refuse 'without safetensors' --checkpoint empty --layer $q
refuse 'B is nvfp4' --checkpoint "$folder" --layer $q --format nvfp4,mxfp4
refuse 'makes mxfp4' --checkpoint "$folder" --layer $q --recipe ocp_floor_mxfp4
refuse 'K differs' --checkpoint "$folder" --layer $q --a "$slice:weight"
refuse 'tensor of --a says it' --checkpoint "$folder" --layer $q --a "$slice:weight" --rows 3
refuse 'with --checkpoint' --checkpoint "$folder" --layer $q --b "$slice:weight"
refuse 'with --checkpoint' --checkpoint "$folder" --layer $q --shape 4x4x4
refuse 'belong to --checkpoint' --layer $q --data gaussian --shape 4x4x4 --format nvfp4
refuse 'rows' --checkpoint "$folder" --layer $q --rows 0
run 2 gen --checkpoint "$folder" --layer $q; err 'where to'
run 2 quantize "$folder:nothere" --recipe nvfp4_divide -o bad.safetensors; err 'nothere'; absent bad.safetensors
finish

# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle quantize: a real tensor, the summary, layouts, and input that nothing can be done with.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
slice=$FPO_SOURCE_DIR/vectors/data/minilm/slice.safetensors

# header FILE: the JSON header of a safetensors file.
header() { python3 -c 'import sys; f = open(sys.argv[1], "rb"); n = int.from_bytes(f.read(8), "little"); sys.stdout.write(f.read(n).decode())' "$1"; }

run 0 quantize "$slice:weight" --recipe nvfp4_divide -o q.safetensors
out 'shape  *128 x 384'; out 'zeros  *[0-9]* of 49152'; out '^written q.safetensors'
header q.safetensors >out; json '.codes.dtype' U8; json '.codes.shape | join("x")' 128x192; json '.scale.dtype' F8_E4M3
json '.scale.shape | join("x")' 128x24; json '.tensor_scale.shape | join("x")' 1
json '.__metadata__["fp4oracle.recipe"]' nvfp4_divide; json '.__metadata__["fp4oracle.format"]' nvfp4
[ -n "$(jq -r '.__metadata__["fp4oracle.version"]' <out)" ] || fail 'no version in the metadata'

# The same bytes again, and the same from JSON mode.
run 0 quantize "$slice:weight" --recipe nvfp4_divide -o again.safetensors --json
json .recipe nvfp4_divide; json '.shape | join("x")' 128x384; json '.clipped < .largest' true
cmp -s q.safetensors again.safetensors || fail 'two runs differ'

# A seed decides stochastic rounding, 0 if none is given, and nothing else.
for seed in "" 0 1 18446744073709551615; do
    run 0 quantize "$slice:weight" --recipe te_nvfp4_stochastic ${seed:+--seed $seed} -o "seed$seed.safetensors"
done
cmp -s seed.safetensors seed0.safetensors || fail 'no seed is not seed 0'
for pair in "0 1" "1 18446744073709551615"; do
    if cmp -s "seed${pair% *}.safetensors" "seed${pair#* }.safetensors"; then fail "seeds $pair: the same codes"; fi
done
run 2 quantize "$slice:weight" --recipe te_nvfp4_stochastic --seed -1 -o bad.safetensors; err "seed '-1'"; absent bad.safetensors

# 128x4: the same scales, elsewhere.
run 0 quantize "$slice:weight" --recipe nvfp4_divide --layout 128x4 -o tiled.safetensors
header tiled.safetensors >out; json '.scale.shape | join("x")' 3072; json '.__metadata__["fp4oracle.scale_layout"]' 128x4
scales() { python3 - "$1" <<'P'
import json, sys
f = open(sys.argv[1], "rb"); n = int.from_bytes(f.read(8), "little"); h = json.loads(f.read(n)); d = f.read()
a, b = h["scale"]["data_offsets"]; sys.stdout.write(" ".join(map(str, sorted(d[a:b]))) + "\n" + d[a:b].hex())
P
}
[ "$(scales q.safetensors | head -1)" = "$(scales tiled.safetensors | head -1)" ] || fail 'the layout changed the set of scales'
[ "$(scales q.safetensors | tail -1)" != "$(scales tiled.safetensors | tail -1)" ] || fail 'the layout changed nothing'

# Every recipe takes a real tensor.
for recipe in $("$FP4ORACLE" list recipes --json | jq -r '.recipes[].name'); do
    run 0 quantize "$slice:activations" --recipe "$recipe" -o r.safetensors --json; json .recipe "$recipe"; json .nan 0
    # The codes of a transformed tensor are not near its own values.
    [[ $recipe == *hadamard* ]] || json '.signal_to_noise_db > 8' true
    rm -f r.safetensors
done

# All recipes at once: what the table says of a recipe is what its own files say.
run 0 quantize "$slice:activations" --recipe all --json
cp out all.json
json '.formats[0].format' nvfp4; json '.formats[0].reference' nvfp4_divide; json '.shape | join("x")' 48x384
json '[.formats[].recipes[].recipe] | sort | join(" ")' "$("$FP4ORACLE" list recipes --json | jq -r '[.recipes[].name] | sort | join(" ")')"
json '[.formats[].recipes[] | select(.error)] | length' 0
json '[.formats[] | .reference as $r | .recipes[] | select(.recipe == $r) | .codes_different + .scales_different] | add' 0
for recipe in modelopt_nvfp4 te_nvfp4 compressed_tensors_nvfp4 vllm_mxfp4 torchao_fp8_tensor sglang_fp8_group128; do
    entry=$(jq -r ".formats[] | .reference as \$r | .recipes[] | select(.recipe == \"$recipe\") |
        \"\(\$r) \(.scales_different) \(.codes_different) \(.first_block // [] | join(\",\"))\"" all.json)
    run 0 quantize "$slice:activations" --recipe "${entry%% *}" -o one.safetensors
    run 0 quantize "$slice:activations" --recipe $recipe -o two.safetensors
    counted=$(python3 - <<'P'
import json
def load(path):
    f = open(path, "rb"); n = int.from_bytes(f.read(8), "little"); h = json.loads(f.read(n)); d = f.read()
    def take(name):
        t = h[name]; return t["dtype"], t["shape"], d[slice(*t["data_offsets"])]
    _, (rows, _), codes = take("codes"); dtype, (srows, scolumns), scales = take("scale")
    if h["__metadata__"]["fp4oracle.format"] in ("nvfp4", "mxfp4"):
        codes = bytes(x for b in codes for x in (b & 15, b >> 4))
    width = 4 if dtype == "F32" else 1
    return rows, codes, srows, scolumns, [scales[i:i + width] for i in range(0, len(scales), width)]
rows, a, srows, scolumns, s = load("one.safetensors"); _, b, _, _, t = load("two.safetensors")
k = len(a) // rows
blocks = {divmod(i, scolumns) for i in range(len(s)) if s[i] != t[i]}
blocks |= {(i // k * srows // rows, i % k * scolumns // k) for i in range(len(a)) if a[i] != b[i]}
print(sum(x != y for x, y in zip(s, t)), sum(x != y for x, y in zip(a, b)), ",".join(map(str, min(blocks, default=()))))
P
)
    [ "${entry#* }" = "$counted" ] || fail "$recipe: the table has '${entry#* }', its files '$counted'"
done
run 0 quantize "$slice:activations" --recipe all; out 'nvfp4: 18432 codes and 1152 scales, compared with nvfp4_divide'
run 2 quantize "$slice:activations" --recipe all -o bad.safetensors; err 'writes no file'; absent bad.safetensors
run 2 quantize "$slice:activations" --recipe all --layout 128x4; err 'writes no file'
run 2 quantize "$slice:nothere" --recipe all; err nothere

# What cannot be done leaves no file and says why.
refuse() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    run 2 quantize "$@" -o bad.safetensors; err "$pattern"; absent bad.safetensors
}
refuse 'no recipe' "$slice:weight" --recipe nope
refuse "did you mean 'nvfp4_divide'" "$slice:weight" --recipe nvfp4_divid
refuse 'no scale layout' "$slice:weight" --recipe nvfp4_divide --layout 64x4
refuse 'has no tensor scale' "$slice:weight" --recipe ocp_floor_mxfp4 --library-scale 2
refuse 'is no number' "$slice:weight" --recipe nvfp4_divide --library-scale x
refuse 'has 2 tensors' "$slice" --recipe nvfp4_divide
refuse 'nothere' "$slice:nothere" --recipe nvfp4_divide
refuse 'missing.safetensors' missing.safetensors --recipe nvfp4_divide
refuse . . --recipe nvfp4_divide
refuse 'which tensor' --recipe nvfp4_divide
refuse 'which recipe' "$slice:weight"
refuse 'one tensor' "$slice:weight" "$slice:weight" --recipe nvfp4_divide
refuse 'names no file\|No such file' '' --recipe nvfp4_divide
refuse 'names no file\|No such file' ':weight' --recipe nvfp4_divide
head -c 1000 "$slice" >short.safetensors; refuse short.safetensors short.safetensors:weight --recipe nvfp4_divide
: >empty.safetensors; refuse empty.safetensors empty.safetensors:weight --recipe nvfp4_divide
head -c 4096 /dev/urandom >noise.safetensors; refuse noise.safetensors noise.safetensors:weight --recipe nvfp4_divide
refuse 'U8' q.safetensors:codes --recipe nvfp4_divide
run 2 quantize "$slice:weight" --recipe nvfp4_divide; err 'where to'
run 2 quantize "$slice:weight" --recipe nvfp4_divide -o nowhere/q.safetensors; err nowhere
mkdir folder; run 2 quantize "$slice:weight" --recipe nvfp4_divide -o folder; err folder
run 2 quantize "$slice:weight" --recipe nvfp4_divide -o /dev/null; err /dev/null
if [ "$(id -u)" != 0 ]; then
    cp "$slice" secret.safetensors; chmod 000 secret.safetensors
    refuse secret secret.safetensors:weight --recipe nvfp4_divide
fi
# A file that is there survives a failure.
cp q.safetensors kept.safetensors
run 2 quantize "$slice:weight" --recipe nope -o kept.safetensors
cmp -s q.safetensors kept.safetensors || fail 'a failure changed the file that was there'
finish

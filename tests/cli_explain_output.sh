# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle explain output: the steps end in the bits that the vector has, for every kind of model.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1

# codes VECTOR: "MODEL ROW COLUMN CODE" at one place for each model of the file, as the file has them.
codes() {
    python3 - "$1" <<'P'
import json, sys
f = open(sys.argv[1], "rb"); n = int.from_bytes(f.read(8), "little"); header = json.loads(f.read(n)); d = f.read()
for i, (name, t) in enumerate((n, t) for n, t in header.items() if n.startswith("d.")):
    rows, columns = t["shape"]
    size = {"F32": 4, "BF16": 2, "F16": 2}.get(t["dtype"], 1)
    row, column = i % rows, (3 * i + 1) % columns
    at = t["data_offsets"][0] + size * (row * columns + column)
    print(name[2:], row, column, "0x%0*X" % (2 * size, int.from_bytes(d[at:at + size], "little")))
P
}

# Every model of the vector, each at one place.
check() {
    codes "$1" >codes
    [ -s codes ] || fail "no outputs in $1"
    while read -r model row column code; do
        run 0 explain output "$1" "$row" "$column" --model "$model" --blocks 1 --json; json .rounding.code "$code"
        last="$row $column --model $model"
    done <codes
    # shellcheck disable=SC2086
    run 0 explain output "$1" $last; out '^rounding to'
}

for format in nvfp4 mxfp4 mxfp8_e5m2 mxfp6_e2m3 fp8_row fp8_1x128,fp8_128x128 f16 f32; do
    run 0 gen --data gaussian --shape 5x6x300 --format $format --alpha 0.7 --model all -o v.safetensors
    check v.safetensors
done
for format in nvfp4 fp8_tensor; do
    run 0 gen --data ladder --shape 5x6x256 --format $format -o v.safetensors
    check v.safetensors
done
for d in bf16 f16 e4m3 e5m2; do
    run 0 gen --data ties --shape 7x6x128 --format nvfp4 --d $d --c-format f16 --bias-format f32 -o v.safetensors
    check v.safetensors
done
# An nvfp4 output: explain compares each code, and y, with the library itself.
run 0 gen --data gaussian --shape 3x40x64 --format nvfp4 --d nvfp4 -o n.safetensors
for column in 0 15 16 39; do
    run 0 explain output n.safetensors 1 $column; out 'scale of the 16 outputs'; out 'ue4m3'
done

# What a reader sees: codes, sums, scales, the last rounding.
run 0 gen --data gaussian --shape 4x4x64 --format nvfp4 -o v.safetensors
run 0 explain output v.safetensors 1 2 --blocks 2
out 'block 0, k = 0 to 15'; out 'block 1, k = 16 to 31'; not_out 'block 2'; out 'and 2 more blocks'; out 'scale of a  *ue4m3 0x'
out 'sum of products'; out "a's tensor scale"; out 'discarded'; out 'between  *0x'
run 0 explain output v.safetensors 1 2 --blocks 0; not_out 'block 0'
run 0 explain output v.safetensors 1 2 --model sm120_mxf4nvf4; out 'instruction, part 0, k = 0 to 63'; out 'cut off'; out 'aligned to'
run 0 explain output v.safetensors 1 2 --model fma_f32; out 'k = 0: '

run 2 explain output v.safetensors 4 0; err 'ROW 4 is not between 0 and 3'
run 2 explain output v.safetensors 0 -- -1; err 'COL'
run 2 explain output v.safetensors 0 99999999999999999999; err 'COL'
run 2 explain output v.safetensors x 0; err "ROW 'x' is no whole number"
run 2 explain output v.safetensors 0 0 --model exakt; err "did you mean 'exact'"
run 2 explain output v.safetensors 0 0 --model sm90_wgmma_fp8; err 'does not take'
run 2 explain output v.safetensors 0 0 --blocks -1; err '--blocks'
run 2 explain output missing.safetensors 0 0; err missing
run 2 explain output . 0 0
head -c 300 v.safetensors >short.safetensors; run 2 explain output short.safetensors 0 0; err short
finish

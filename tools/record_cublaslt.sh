#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
#
# Runs every cuBLASLt FP8 mode of a Hopper GPU over fresh vectors and compares every algorithm with its model:
#   tools/record_cublaslt.sh BUILD OUT SEED
# BUILD holds bin/fp4oracle and lib/cublaslt.so. OUT gets summary.txt, one JSON a group and recorded.tar (small shapes).
set -uo pipefail
build=$1 out=$2 seed=$3
fp4oracle=$build/bin/fp4oracle
export FPO_PLUGINS=$build/lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out" "$work/record"

# FORMATS KERNEL-PATTERN, all that the modes of cuBLASLt on cc 9.0 take.
groups="fp8_tensor cublaslt/tensor/e4m3/*
fp8_tensor,fp8_e5m2_tensor cublaslt/tensor/e4m3_e5m2/*
fp8_e5m2_tensor,fp8_tensor cublaslt/tensor/e5m2_e4m3/*
fp8_row cublaslt/row/e4m3/*
fp8_row,fp8_e5m2_row cublaslt/row/e4m3_e5m2/*
fp8_1x128 cublaslt/1x128_1x128/e4m3/*
fp8_1x128,fp8_128x128 cublaslt/1x128_128x128/e4m3/*
fp8_128x128,fp8_1x128 cublaslt/128x128_1x128/e4m3/*
fp8_e5m2_1x128,fp8_128x128 cublaslt/1x128_128x128/e5m2_e4m3/*"
small="16x24x1040 32x16x96"
large="64x64x2048 200x264x336 48x32x8208 128x512x640 256x128x4096"

# Vectors of a shape: plain; alpha, beta and C; alpha, beta, C and a bias; all codes, NaN among them; an FP8 output.
vectors() {
    local formats=$1 shape=$2 seed=$3
    "$fp4oracle" gen --format "$formats" --data uniform --shape "$shape" --seed "$seed" --model exact \
        -o "$work/$shape.uniform.safetensors"
    "$fp4oracle" gen --format "$formats" --data ladder --shape "$shape" --seed "$seed" --model exact \
        --alpha 0.3 --c-format f32 -o "$work/$shape.ladder.safetensors"
    "$fp4oracle" gen --format "$formats" --data gaussian --shape "$shape" --seed "$seed" --model exact \
        --alpha -1.7 --c-format bf16 --bias-format bf16 --d bf16 -o "$work/$shape.gaussian.safetensors"
    "$fp4oracle" gen --format "$formats" --data codes --shape "$shape" --seed "$seed" --model exact \
        -o "$work/$shape.codes.safetensors"
    case $formats in
    *tensor*)
        "$fp4oracle" gen --format "$formats" --data gaussian --shape "$shape" --seed "$seed" --model exact \
            --alpha 0.01 --d e4m3 -o "$work/$shape.narrow.safetensors"
        ;;
    esac
}

number=0
while read -r formats pattern; do
    number=$((number + 1))
    # Small shapes with every check of the runner, and kept; large ones with one launch for each algorithm.
    for shape in $small; do
        vectors "$formats" "$shape" "$seed$number" >/dev/null 2>>"$out/gen.err"
    done
    "$fp4oracle" run --kernel "cublaslt:$pattern" --no-diagnosis --record "$work/record" --json "$work"/*.safetensors \
        >"$out/group$number.small.json" 2>>"$out/run.err"
    rm -f "$work"/*.safetensors
    for shape in $large; do
        vectors "$formats" "$shape" "$seed$number" >/dev/null 2>>"$out/gen.err"
    done
    "$fp4oracle" run --kernel "cublaslt:$pattern" --once --no-diagnosis --json "$work"/*.safetensors \
        >"$out/group$number.large.json" 2>>"$out/run.err"
    rm -f "$work"/*.safetensors
    for size in small large; do
    python3 - "$out/group$number.$size.json" "$formats $size" <<'END' | tee -a "$out/summary.txt"
import collections, json, sys
try:
    report = json.load(open(sys.argv[1]))
except ValueError as error:
    print(f"{sys.argv[2]}: no report: {error}")
    sys.exit()
outcomes = collections.Counter(r["outcome"] for r in report["results"])
print(f"{sys.argv[2]}: {dict(outcomes)}")
seen = set()
for r in report["results"]:
    key = (r["outcome"], r.get("kernel"))
    if r["outcome"] not in ("match", "unsupported") and key not in seen and len(seen) < 6:
        seen.add(key)
        print("   ", r["outcome"], r.get("kernel"), r.get("variant"), r.get("vector"), r.get("text"), str(r.get("causes"))[:200])
END
    done
done <<<"$groups"
tar -C "$work" -cf "$out/recorded.tar" record
ls -la "$out"

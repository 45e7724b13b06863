#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
# fp4oracle steps: names the model that made recorded rows, and shows the rows that another gets wrong.
set -euo pipefail
command -v zstd > /dev/null || { echo "zstd is not installed"; exit 77; }
data=$FPO_SOURCE_DIR/vectors/data/steps
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
for name in mmasim/sm120_mxf4nvf4_4x_e2m1_e2m1_ue4m3 matlab/fp8_dot32_h200_e4m3 h200/sm90_wgmma_f32_e5m2_e5m2; do
  zstd -q -d "$data/$name.safetensors.zst" -o "$work/$(basename "$name").safetensors"
done

fail() { echo "cli_steps: $*"; exit 1; }
expect() { # STATUS ARGUMENT...: runs, keeps the output
  local status=0
  "$FP4ORACLE" steps "${@:2}" > "$work/out" 2> "$work/err" || status=$?
  [ "$status" = "$1" ] || { cat "$work/out" "$work/err"; fail "status $status, expected $1, of: ${*:2}"; }
}

expect 0 "$work"/*.safetensors
grep -q "every row is reproduced by sm100_mxf4nvf4, sm120_mxf4nvf4" "$work/out" || fail "mxf4nvf4 not named"
grep -q "every row is reproduced by sm90_wgmma_fp8$" "$work/out" || fail "wgmma not named"
grep -q "every row is reproduced by sm90_mma_fp8_f16acc, sm100_mma_fp8_f16acc" "$work/out" || fail "f16 not named"

expect 1 "$work/sm120_mxf4nvf4_4x_e2m1_e2m1_ue4m3.safetensors" --model sm120_mxf4nvf4_f25
grep -Eq "sm120_mxf4nvf4_f25 +2044 +556 +contested" "$work/out" || fail "counts of f25"
[ "$(grep -c '0x.*0x' "$work/out")" = 10 ] || fail "not ten rows"

expect 1 "$work/fp8_dot32_h200_e4m3.safetensors" --model sm89_mma_fp8 --json
python3 - "$work/out" << 'END' || fail "JSON"
import json, sys
result, = json.load(open(sys.argv[1]))["results"]  # the f16 result is not this model's
assert result["tensor"] == "d_fp32" and result["c_ignored"] is True and result["made_by"] == [], result
model, = result["models"]
assert (model["reproduced"], model["different"], len(model["first"])) == (4186, 814, 10), model
END

expect 2 "$work/fp8_dot32_h200_e4m3.safetensors" --model sm120_mxf4
grep -q "sm120_mxf4 is no instruction for these rows" "$work/err" || fail "message"
expect 2 "$work/fp8_dot32_h200_e4m3.safetensors" --model sm120_mfx4
grep -q "did you mean 'sm120_mxf4'" "$work/err" || fail "suggestion"
head -c 1000 "$work/fp8_dot32_h200_e4m3.safetensors" > "$work/cut.safetensors"
expect 2 "$work/cut.safetensors"
# A file that is unusable does not hide the others.
expect 2 "$work/cut.safetensors" "$work/sm120_mxf4nvf4_4x_e2m1_e2m1_ue4m3.safetensors"
grep -q "every row is reproduced by sm100_mxf4nvf4, sm120_mxf4nvf4" "$work/out" || fail "the file after an unusable one"
expect 2 "$work/cut.safetensors" "$work/sm120_mxf4nvf4_4x_e2m1_e2m1_ue4m3.safetensors" --json
python3 - "$work/out" << 'END' || fail "JSON of an unusable file"
import json, sys
report = json.load(open(sys.argv[1]))
assert len(report["results"]) == 1 and report["unusable"][0]["file"].endswith("cut.safetensors"), report
END
expect 2

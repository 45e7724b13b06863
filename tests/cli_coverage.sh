# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle coverage: what it says of a blind vector, and docs/kill-matrix.md, which it makes: what it is computed from and
# the table of one format always, all of it with FPO_LONG=1.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
page=$FPO_SOURCE_DIR/docs/kill-matrix.md

run 0 gen --data gaussian --shape 8x8x32 --format nvfp4 -o g.safetensors
run 1 coverage g.safetensors; out 'survives: nibble_order operand=A and B'; out 'families killed'; out 'under sm120_mxf4nvf4\|under sm120_ggml_fp4'
run 1 coverage g.safetensors --model exact --json
json '.coverage[0] | .edits == (.killed + .killed_otherwise + .equivalent + .surviving)' true
json '.coverage[0].model' exact; json '[.coverage[0].of[] | select(.outcome == "equivalent") | .reason | length > 10] | all' true
json '[.coverage[0].of[] | select(.outcome == "killed") | .killed_by == ["g.safetensors"]] | all' true
json '.coverage[0].of | map(select(.edit == "nibble_order" and .parameters == "operand=A"))[0].outcome' killed
cp out one; run 1 coverage g.safetensors --model exact --json --threads 2 --matrix; cmp -s out one || fail 'the matrix of one vector is another with two threads'

# The page is of the edits and vectors that there are now, in every format, whether D is f32 or bf16, and nothing survives.
if [ -e "$page" ]; then
    sources() { grep '^### \|^computed from '; }
    run 0 coverage --suite full --source; cp out now
    run 0 coverage --suite full --source --d bf16; cat out >>now
    [ "$(grep -c '^###' now)" -eq 24 ] || fail "the suites have $(grep -c '^###' now) tables, not 24"
    diff <(sources <"$page") <(sources <now) >diff ||
        fail "docs/kill-matrix.md is of other edits or vectors: tests/cli/kill_matrix.sh makes it ($(head -3 diff | tr '\n' ' '))"
    ! grep -q ', [1-9][0-9]* survive' "$page" || fail 'something survives the full suite'
    [ "$(grep -c ', 0 survive' "$page")" -eq 24 ] || fail 'the page lacks a format'
    # A table that is computed now is the one that is there.
    run 0 coverage --suite full --format fp8_row --markdown
    awk 'index($0, "### fp8_row x fp8_row -> f32 ") == 1 {s = 1; print; next} /^##/ {s = 0} s' "$page" >there
    diff <(sed 1d out) <(sed '$d' there) >diff || fail "the table of fp8_row is another ($(head -3 diff | tr '\n' ' '))"
    if [ -n "${FPO_LONG:-}" ]; then
        FP4ORACLE=$FP4ORACLE bash "$FPO_SOURCE_DIR/tests/cli/kill_matrix.sh" >made || fail 'kill_matrix.sh'
        cmp -s made "$page" || fail 'docs/kill-matrix.md is not what tests/cli/kill_matrix.sh makes'
    fi
fi

run 2 coverage; err 'what: --suite'
run 2 coverage --suite full g.safetensors; err 'what: --suite'
run 2 coverage --format nvfp4 g.safetensors; err 'files say their own'
run 2 coverage --suite smok; err "did you mean 'smoke'"
run 2 coverage --suite smoke --format nvfp4 --model sm90_wgmma_fp8; err 'does not take these operands'
run 2 coverage missing.safetensors; err missing
run 2 coverage g.safetensors --threads 0; err threads
finish

# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# explain layout and explain packing: the formulas shown, evaluated by Python, are where the library puts things; and
# docs/layouts.md has every entry.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
document=$FPO_SOURCE_DIR/docs/layouts.md

check_layout() {
    python3 - "$work/out" <<'PYTHON' || fail "the formula of $1 at $2 is not where its scales are"
import json, math, sys
shown = json.load(open(sys.argv[1]))
rows, columns = shown["scales"]
def value(formula, **names):
    names["ceil"] = lambda quotient: math.ceil(quotient)
    # In ceil() the division is a true one; elsewhere it is C's.
    text = formula.replace("/", "//")
    for n in "RS":
        text = text.replace(f"ceil({n}//", f"ceil({n}/")
    return eval(text, {"__builtins__": {}}, names)
seen = set()
for m in range(rows):
    for s in range(columns):
        offset = shown["offsets"][m][s]
        assert offset == value(shown["offset"], m=m, s=s, R=rows, S=columns), (m, s)
        seen.add(offset)
assert len(seen) == rows * columns and max(seen) < shown["elements"]
assert shown["elements"] == value(shown["size"], R=rows, S=columns)
PYTHON
}

"$FP4ORACLE" list layouts --json | jq -r '.layouts[].name' >layouts
[ "$(wc -l <layouts)" -ge 14 ] || fail "fewer layouts than there are"
while read -r layout; do
    grep -q "^### \`$layout\`\$" "$document" || fail "docs/layouts.md has no section on $layout"
    for size in 1x1 7x5 130x34 300x131; do
        run 0 explain layout "$layout" $size --json
        check_layout "$layout" $size
    done
    run 0 explain layout "$layout"
    out 'offset  '
    out 'memory'
done <layouts

check_packing() {
    python3 - "$work/out" <<'PYTHON' || fail "the formula of $1 is not where its codes are"
import json, sys
shown = json.load(open(sys.argv[1]))
assert len(shown["lowest_bits"]) == shown["codes"]
for k, bit in enumerate(shown["lowest_bits"]):
    assert bit == eval(shown["lowest_bit"].replace("/", "//"), {"__builtins__": {}}, {"k": k}), k
PYTHON
}
"$FP4ORACLE" list packings --json | jq -r '.packings[].name' >packings
while read -r packing; do
    grep -q "^### \`$packing\`\$" "$document" || fail "docs/layouts.md has no section on $packing"
    run 0 explain packing "$packing" --json
    check_packing "$packing"
done <packings

# The picture, cell by cell where the formula turns over.
run 0 explain layout 128x4 130x6
out '^  32  *4  *5  *6  *7  *516  *517$'
out '^  129  *1040 '
out '^      0: 0,0   0,1   0,2   0,3   32,0 '
run 0 explain packing fp6_dense
out 'byte  1  7-4 k=2 (its 3-0), 3-0 k=1 (its 5-2)$'

run 2 explain layout 128x5
err "there is no scale layout '128x5'"
run 2 explain layout 8x4 10
err "size '10' is not ROWSxSCALES"
run 2 explain layout 8x4 0x6
err 'rows 0 is not between 1 and 1048576'
run 2 explain layout 8x4 99999x99999
err 'are more than the 1048576'
run 2 explain packing canonicall
err "did you mean 'canonical'"
run 2 explain packing
err 'takes NAME'
finish

# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# explain layout and explain packing: the formulas shown, evaluated by Python, are where the library puts things; and
# docs/layouts.md has every entry.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
document=$FPO_SOURCE_DIR/docs/layouts.md

"$FP4ORACLE" list layouts --json | jq -r '.layouts[].name' >layouts
[ "$(wc -l <layouts)" -ge 14 ] || fail "fewer layouts than there are"
while read -r layout; do
    grep -q "^### \`$layout\`\$" "$document" || fail "docs/layouts.md has no section on $layout"
    for size in 7x5 131x34 3x130; do
        run 0 explain layout "$layout" $size --json
        cp out "layout-$layout-$size.json"
    done
done <layouts
"$FP4ORACLE" list packings --json | jq -r '.packings[].name' >packings
while read -r packing; do
    grep -q "^### \`$packing\`\$" "$document" || fail "docs/layouts.md has no section on $packing"
    run 0 explain packing "$packing" --json
    cp out "packing-$packing.json"
done <packings

python3 - 2>err <<'PYTHON' || fail "a formula is not where the library puts things"
import glob, json, math, re
def function(formula):
    # In ceil() the division is a true one; elsewhere it is C's.
    text = re.sub(r"ceil\(([RS])//", r"ceil(\1/", formula.replace("/", "//"))
    return eval(f"lambda m=0, s=0, k=0, R=0, S=0: {text}", {"__builtins__": {}, "ceil": math.ceil})
layouts, packings = glob.glob("layout-*.json"), glob.glob("packing-*.json")
assert len(layouts) >= 42 and len(packings) >= 11
for name in layouts:
    shown = json.load(open(name))
    (R, S), offset, seen = shown["scales"], function(shown["offset"]), set()
    for m in range(R):
        for s in range(S):
            assert shown["offsets"][m][s] == offset(m=m, s=s, R=R, S=S), (name, m, s)
            seen.add(shown["offsets"][m][s])
    assert len(seen) == R * S and max(seen) < shown["elements"] == function(shown["size"])(R=R, S=S), name
for name in packings:
    shown = json.load(open(name))
    lowest = function(shown["lowest_bit"])
    assert shown["lowest_bits"] == [lowest(k=k) for k in range(shown["codes"])], name
PYTHON

# The picture, cell by cell where the formula turns over.
run 0 explain layout 128x4 130x6
out '^  32  *4  *5  *6  *7  *516  *517$'
out '^  129  *1040 '
out '^      0: 0,0   0,1   0,2   0,3   32,0 '
run 0 explain packing fp6_dense
out 'byte  1  7-4 k=2 (its 3-0), 3-0 k=1 (its 5-2)$'

# Groups: each where the sum of the padded sizes before it ends, or where its number and the rows before it say.
run 0 explain layout 128x4 259x5 --groups 1,0,128,130 --json
python3 - out <<'PYTHON' || fail "groups begin elsewhere"
import json, sys
shown, rows, spaced = json.load(open(sys.argv[1])), 0, 0
size = lambda r: -(-r // 128) * 2 * 512  # of r rows with 5 scales
for i, group in enumerate(shown["groups"]):
    begin = (rows + i * 127) // 128 * 128  # a row of the whole
    assert group["packed"] == sum(size(g["rows"]) for g in shown["groups"][:i]), group
    assert group["spaced"] == begin // 128 * 2 * 512, group
    rows += group["rows"]
assert [g["rows"] for g in shown["groups"]] == [1, 0, 128, 130] and shown["scales"] == [259, 5]
assert shown["elements"] == {"packed": 4096, "spaced": 5120}
PYTHON
run 0 explain layout 128x4 --groups 100
out '^      0   100          0       0       0$'
run 2 explain layout 128x4 258x5 --groups 1,0,128,130
err 'the groups have 259 rows together, not 258'
run 2 explain layout 128x4 --groups 1,,2
err 'rows of a group'
run 2 explain layout 128x4 --groups 1,-2
err 'rows of a group'
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

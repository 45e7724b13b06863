# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle list: every topic, as a table and as JSON, from the registries.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1

run 0 list; out '^  models  *[0-9]'
topics=$(awk 'NR > 1 && NF > 2 && $2 ~ /^[0-9]+$/ {print $1}' "$work/out")
[ "$(echo "$topics" | wc -w)" -ge 9 ] || fail "fewer than nine topics: $topics"
for topic in $topics; do
    run 0 list "$topic" --json; json 'keys[0]' "$topic"
    # Of several plug-ins without a device each has a line, and none a name; the CPU is a device of several plug-ins.
    json ".$topic | map(select(.name != \"-\")) | (map([.name, .of]) | unique | length) == length and all(.name != null)" true
    read -r entries first <<<"$(jq -r ".$topic | \"\(length) \(.[0].name)\"" <"$work/out")"
    run 0 list "$topic"
    [ "$entries" = 0 ] || out "^  $first"
    [ "$entries" = 0 ] || { run 0 list "$topic" "$first"; out "$first"; run 0 list "$topic" "$first" --json; json .name "$first"; }
done
run 0 list --json; json 'keys | length' "$(echo "$topics" | wc -w)"

run 0 list scales --json; json '.scales[0].smallest' '2^-127'
run 0 list faults; not_out '%'
run 0 list formats; out '^  e2m1 .* 4 *1\.2\.1'
run 0 list blocks nvfp4; out 'ue4m3'
run 0 list models exact --json; json .accumulation.step.kind exact; json .provenance defined
run 2 list modells; err "did you mean 'models'"
run 2 list models exakt; err "no entry 'exakt'"
run 2 list models exact again; err 'one topic and one name'
run 2 list ''; err "no topic ''"
finish

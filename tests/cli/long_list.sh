#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
#
# long_list.sh BUILD [PROCESSES [NAME...]]: the long lists of the production kernels for SM120 and SM100 (FPO_LONG=1: kernel x
# data x model x seed), their runs dealt out to so many processes, by default one a processor; then a line for each kernel.
# NAME: cutlass_sm120, flashinfer_sm120, sm100_matrix; all without. BUILD needs bin/fp4oracle, lib/vgpu and the plug-ins in
# lib. FPO_LONG="" in the environment: the quick lists.
set -u
here=$(dirname "$(realpath "$0")")
[ $# -ge 1 ] && [ -x "$1/bin/fp4oracle" ] || { sed -n '5,9s/^# //p' "$0" >&2; exit 2; }
build=$(realpath "$1") processes=${2:-$(nproc)}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- cutlass_sm120 flashinfer_sm120 sm100_matrix
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export FP4ORACLE=$build/bin/fp4oracle FPO_PLUGINS=$build/lib FPO_SOURCE_DIR=${here%/tests/cli} FPO_LONG=${FPO_LONG-1}
status=0
for list in "$@"; do
    for ((i = 0; i < processes; i++)); do
        {
            FPO_SHARE=$i/$processes bash "$here/../cli_run_$list.sh" >"$folder/$i" 2>&1
            echo $? >"$folder/$i.status"
        } &
    done
    wait
    # What failed, the kernels' sums, and the runs.
    grep -h -E '^(FAILED|skipped|left out|    (out|err): )' "$folder"/* | sort -u
    cat "$folder"/* | awk -v list="$list" '
        / runs, all bits right$/ { name = substr($1, 1, length($1) - 1); right[name] += $2; n[name] += $4; all += $4; good += $2 }
        END { for (k in n) printf "%-40s %d of %d runs, all bits right\n", k, right[k], n[k] | "sort"
              close("sort"); printf "%s: %d of %d\n", list, good, all }'
    for ((i = 0; i < processes; i++)); do
        [ "$(cat "$folder/$i.status")" = 0 ] || [ "$(cat "$folder/$i.status")" = 77 ] || status=1 # 77: skipped
    done
    rm -f "$folder"/*
done
exit $status

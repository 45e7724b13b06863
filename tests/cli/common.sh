# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# What the command-line tests share: a folder of their own, and checks that name what failed.
set -u
export OMP_NUM_THREADS=1 # several tests run at a time, and no result depends on it
: "${FP4ORACLE:?is set by ctest: the program}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# fail MESSAGE: says what failed and where the output is shown.
fail() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$1"
    [ -s "$work/out" ] && sed 's/^/    out: /' "$work/out" | head -5
    [ -s "$work/err" ] && sed 's/^/    err: /' "$work/err" | head -5
    return 0
}

# run STATUS ARGUMENT...: the program must end with that status; what it says is in $work/out and $work/err.
run() {
    local wanted=$1 status
    shift
    "$FP4ORACLE" "$@" >"$work/out" 2>"$work/err"
    status=$?
    [ "$status" = "$wanted" ] || fail "fp4oracle $*: exit status $status, not $wanted"
    if grep -q $'\033' "$work/out" "$work/err"; then fail "fp4oracle $*: escape sequences although nothing is a terminal"; fi
    return 0
}

# out PATTERN, err PATTERN: the last run said so (a basic regular expression). not_out: it did not.
out() { grep -q -- "$1" "$work/out" || fail "no '$1' in the output"; }
err() { grep -q -- "$1" "$work/err" || fail "no '$1' in the error output"; }
not_out() { ! grep -q -- "$1" "$work/out" || fail "'$1' in the output"; }

# json FILTER VALUE: the output is JSON, and jq's FILTER of it prints VALUE.
json() {
    local got
    got=$(jq -r "$1" <"$work/out") || fail "the output is not JSON"
    [ "$got" = "$2" ] || fail "jq '$1' is '$got', not '$2'"
}

# absent FILE...: a command that failed left nothing behind, under this name or beside it.
absent() {
    for file in "$@"; do
        [ ! -e "$file" ] || fail "$file was left behind"
    done
    local beside
    beside=$(find . -name '*.tmp*' -o -name '.*.safetensors*' | head -3)
    [ -z "$beside" ] || fail "left behind: $beside"
}

# skip REASON: there is nothing to test.
skip() { echo "skipped: $1"; exit 77; }

finish() {
    [ "$failures" = 0 ] || { printf '%s checks failed\n' "$failures"; exit 1; }
    exit 0
}

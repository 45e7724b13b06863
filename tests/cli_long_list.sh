# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# tests/cli/long_list.sh: what is not there is left out and said to be; nothing at all is skipped, and no failure.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
mkdir -p build/bin build/lib tools
ln -s "$FP4ORACLE" build/bin/fp4oracle
FPO_LONG="" bash "$FPO_SOURCE_DIR/tests/cli/long_list.sh" build 1 sm100_matrix cutlass_sm120 >out 2>err ||
    fail "nothing to run is a failure"
out "^left out: Triton's kernels"; out '^skipped: no kernel for SM100 is there'; out '^skipped: cutlass_sm120 is not compiled'

# Without zstd Triton's PTX cannot be unpacked, and the others run.
for name in bash awk cat cp dirname env grep head jq mktemp nproc printf realpath rm sed seq sleep sort tail tr uname wc; do
    ln -s "$(command -v $name)" tools/$name 2>/dev/null
done
[ -e "$FPO_PLUGINS/module.so" ] && cp "$FPO_PLUGINS/module.so" build/lib
PATH=$PWD/tools FPO_LONG="" bash "$FPO_SOURCE_DIR/tests/cli/long_list.sh" build 1 sm100_matrix >out 2>err || fail "no zstd is a failure"
out "^left out: Triton's kernels"; out '^skipped: no kernel for SM100'
finish

# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# FlashInfer's quantisers in CuTe DSL, compiled where its packages have been fetched and executed on the virtual SM120: every
# byte as our recipes have it, on fresh numbers. The recipe of its CUDA back end must not do for them.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
. "$FPO_SOURCE_DIR/tests/cli/cutedsl.sh" || exit 1

export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$FPO_SOURCE_DIR/tools/recipes_live
quantisers=$FPO_SOURCE_DIR/tools/recipes_live/cutedsl_quantisers.py
check() { # STATUS SCRIPT ARGUMENT...
    local wanted=$1 script=$2
    shift 2
    mkdir -p kernels
    run "$wanted" vgpu -- python3 "$script" "$FP4ORACLE" "$flashinfer" dsl kernels "$@"
}
check 0 "$quantisers"
[ "$(grep -c ': 0 of [0-9]* bytes differ' out)" = 14 ] || fail "not 14 kernels"
sed 's/"flashinfer_cute_mxfp8"/"flashinfer_mxfp8"/' "$quantisers" >other.py
check 1 other.py --kernel mxfp8_4t
out 'scale byte [0-9]*: FE, ours FF'
finish

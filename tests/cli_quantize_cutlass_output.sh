# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# The output quantiser of CUTLASS's NVFP4 GEMM, executed on the virtual SM120 on fresh numbers: every byte as the recipe
# cutlass_output_nvfp4 has it, which another library's must not do.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
[ -e "$FPO_PLUGINS/cutlass_sm120.so" ] ||
    skip "cutlass_sm120 is not compiled (tools/get_nvcc or a CUDA 13 toolkit; tools/fetch_packages nvidia-cutlass; cmake -DFPO_BUILD_KERNELS=ON)"
export PYTHONDONTWRITEBYTECODE=1
quantiser=$FPO_SOURCE_DIR/tools/recipes_live/cutlass_output.py
python3 "$quantiser" "$FP4ORACLE" . >out 2>err || fail "the recipe's bytes are others"
[ "$(grep -c ': 0 of 18432 bytes differ' out)" = 6 ] || fail "not 6 cases"
python3 "$quantiser" "$FP4ORACLE" . --recipe flashinfer_nvfp4 >out 2>err && fail "flashinfer_nvfp4 does, too"
out ' bytes differ code byte '
finish

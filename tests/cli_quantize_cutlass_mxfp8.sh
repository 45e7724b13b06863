# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# The output quantisers of CUTLASS's GEMMs with MXFP8 outputs, e4m3 and e5m2, executed on the virtual SM120 on fresh numbers:
# every byte as the recipes have it, which the other one must not do.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
# Python is not sanitised; the stand-in for libcuda may be.
export PYTHONDONTWRITEBYTECODE=1 ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
quantiser=$FPO_SOURCE_DIR/tools/recipes_live/cutlass_output_mxfp8.py
present=0
for case in 1:e4m3:cutlass_output_mxfp8_e5m2 2:e5m2:cutlass_output_mxfp8; do
    IFS=: read -r number format other <<<"$case"
    kernel=$(bash "$FPO_SOURCE_DIR/tests/vgpu/build_cutlass.sh" "$number" cutlass_output_mxfp8) || continue
    present=1
    run 0 vgpu -- python3 "$quantiser" "$FP4ORACLE" "$kernel" . --format "$format"
    [ "$(grep -c ': 0 of .* bytes differ' out)" = 12 ] || fail "$format: not 12 cases"
    run 1 vgpu -- python3 "$quantiser" "$FP4ORACLE" "$kernel" . --format "$format" --recipe "$other"
    out "$other, beta 1, norm constant 0.37: [1-9]"
done
[ "$present" = 1 ] || skip "the kernels are not compiled (FPO_BUILD_KERNELS=1 does it, 90 s each)"
finish

# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# Small kernels through the stand-in driver: what they write follows from formulas, for each seed and number of SMs.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1

folder=$FPO_SOURCE_DIR/tests/vgpu/cases
for configuration in capability=90 capability=90,seed=1,sms=1 capability=90,seed=7,sms=16 capability=90,seed=3,check=1; do
    run 0 vgpu -c "$configuration" -- "$FPO_GPU_CASES" "$folder"
    out '^cluster: 30 comparisons, 0 differ'
    out '^tensormap: [0-9]* comparisons, 0 differ'
done
finish

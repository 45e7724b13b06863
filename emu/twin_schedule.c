/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The twin's modelled accumulators. */
#include "twin.h"

/* RN(element * block scale) in f32. */
static void dequantised(const fpo_twin_operand *o, int64_t row, int64_t k, fpo_twin_value *x)
{
    fpo_twin_value scale;
    fpo_twin_decode(o->spec->read.element, fpo_twin_element(o, row, k), x);
    fpo_twin_block_scale(o, row, k, &scale);
    fpo_twin_multiply(x, x, &scale);
    fpo_twin_round(FPO_F32, x);
}

fpo_status fpo_twin_accumulate(const fpo_twin_gemm *gemm, int64_t m, int64_t n, fpo_twin_value *acc, fpo_error *error)
{
    const fpo_accumulation *how = &gemm->spec->accumulation;
    if (how->step.kind != FPO_STEP_FMA || how->schedule.promote_k != 0 || how->schedule.split != FPO_SPLIT_NONE)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the reference twin has no fused steps");
    fpo_twin_zero(acc);
    for (int64_t k = 0; k < gemm->problem->k; k++) {
        fpo_twin_value a, b;
        dequantised(&gemm->a, m, k, &a);
        dequantised(&gemm->b, n, k, &b);
        fpo_twin_multiply(&a, &a, &b);
        fpo_twin_add(acc, acc, &a);
        fpo_twin_round(FPO_F32, acc);
    }
    return FPO_OK;
}

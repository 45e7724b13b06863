/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The fma model alone, until the fused steps and schedules join: both operands dequantised to f32, one f32 fused
 * multiply-add per k. (When they do, this file goes and their fpo_accumulate_tile takes its place.) */
#include "engine.h"

#include <math.h>
#include <string.h>

static float dequantised(const fpo_prepared *p, int64_t row, int64_t k)
{
    double x = fpo_decode_double(p->element, fpo_load_code(p->element, p->codes, (size_t)(row * p->k + k)));
    if (p->scale.format == FPO_FORMAT_NONE || p->scale.block_k == 0)
        return (float)x;
    size_t index = (size_t)fpo_scale_index(p, row, k);
    return (float)(x * fpo_decode_double(p->scale.format, fpo_load_code(p->scale.format, p->scales, index)));
}

fpo_status fpo_accumulate_tile(const fpo_gemm_context *context, fpo_tile tile, float *acc, fpo_error *error)
{
    static const uint32_t nan_bits = 0x7FFFFFFF;
    const fpo_accumulation *how = &context->spec->accumulation;
    if (how->step.kind != FPO_STEP_FMA || how->schedule.promote_k != 0 || how->schedule.split != FPO_SPLIT_NONE)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "fused steps and schedules are not built into this library");
    for (int64_t m = tile.m0; m < tile.m1; m++) {
        for (int64_t n = tile.n0; n < tile.n1; n++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < context->a.k; k++)
                sum = fmaf(dequantised(&context->a, m, k), dequantised(&context->b, n, k), sum);
            if (sum != sum)
                memcpy(&sum, &nan_bits, sizeof sum);
            *acc++ = sum;
        }
    }
    return FPO_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the epilogue's program reads: scalars, scales, C and bias, all exact in f32. */
#include "engine.h"

static float scale_value(const fpo_prepared *p, int64_t row)
{
    fpo_format format = p->scale.format;
    return (float)fpo_decode_double(format, fpo_load_code(format, p->scales, (size_t)fpo_scale_index(p, row, 0)));
}

float fpo_epilogue_operand_value(const fpo_gemm_context *context, fpo_epilogue_operand operand, int64_t m, int64_t n)
{
    switch (operand) {
    case FPO_EPI_ALPHA: return context->problem->alpha;
    case FPO_EPI_A_TENSOR_SCALE: return context->a.tensor_scale;
    case FPO_EPI_B_TENSOR_SCALE: return context->b.tensor_scale;
    case FPO_EPI_A_SCALE: return scale_value(&context->a, m);
    case FPO_EPI_B_SCALE: return scale_value(&context->b, n);
    case FPO_EPI_D_SCALE: return context->problem->d_scale;
    case FPO_EPI_NOTHING: break;
    }
    return 1.0f;
}

bool fpo_epilogue_reads_c(const fpo_gemm_context *context)
{
    return context->spec->epilogue.c != FPO_FORMAT_NONE && context->problem->beta != 0;
}

float fpo_epilogue_c(const fpo_gemm_context *context, int64_t m, int64_t n)
{
    fpo_format format = context->spec->epilogue.c;
    size_t index = (size_t)m * (size_t)context->problem->n + (size_t)n;
    return (float)fpo_decode_double(format, fpo_load_code(format, context->problem->c, index));
}

float fpo_epilogue_bias(const fpo_gemm_context *context, int64_t m, int64_t n)
{
    const fpo_epilogue *epilogue = &context->spec->epilogue;
    size_t index = (size_t)(epilogue->bias_per_row ? m : n);
    return (float)fpo_decode_double(epilogue->bias, fpo_load_code(epilogue->bias, context->problem->bias, index));
}

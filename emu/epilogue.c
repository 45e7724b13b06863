/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The epilogue's program on a modelled accumulator: f32 to nearest even, one operation after the other (spec.h). */
#include "engine.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Every NaN that an f32 instruction makes is this one (kernels.md 5.2 rule 5). */
static float canonical(float x)
{
    static const uint32_t nan_bits = 0x7FFFFFFF;
    if (x != x)
        memcpy(&x, &nan_bits, sizeof x);
    return x;
}

static float multiply(float x, float y)
{
    return canonical(x * y);
}

static float fma_f32(float x, float y, float z)
{
    return canonical(fmaf(x, y, z));
}

/* Through a narrower format and back. */
static float narrow(fpo_format format, float x)
{
    uint32_t code = fpo_encode(format, fpo_value_from_float(x), fpo_cast_describe(FPO_CAST_IEEE), 0);
    return canonical((float)fpo_decode_double(format, code));
}

static float fma_coef_beta_c(const fpo_gemm_context *context, float coef, float y, int64_t m, int64_t n)
{
    if (!fpo_epilogue_reads_c(context))
        return fma_f32(coef, y, 0.0f);
    return fma_f32(coef, y, multiply(context->problem->beta, fpo_epilogue_c(context, m, n)));
}

static float fma_beta_c(const fpo_gemm_context *context, float y, int64_t m, int64_t n, bool always)
{
    if (fpo_epilogue_reads_c(context))
        return fma_f32(context->problem->beta, fpo_epilogue_c(context, m, n), y);
    if (always && context->spec->epilogue.c != FPO_FORMAT_NONE)
        return fma_f32(context->problem->beta, 0.0f, y);
    return y;
}

static float run(const fpo_gemm_context *context, float y, int64_t m, int64_t n)
{
    const fpo_epilogue *epilogue = &context->spec->epilogue;
    bool has_bias = epilogue->bias != FPO_FORMAT_NONE;
    float coef = 1.0f;

    for (int i = 0; i < FPO_EPILOGUE_STEPS; i++) {
        fpo_epilogue_step step = epilogue->steps[i];
        float x = step.operand == FPO_EPI_NOTHING ? 1.0f : fpo_epilogue_operand_value(context, step.operand, m, n);
        switch (step.op) {
        case FPO_EPI_END: return y;
        case FPO_EPI_COEF_MUL: coef = multiply(coef, x); break;
        case FPO_EPI_COEF_ROUND_F16: coef = narrow(FPO_F16, coef); break;
        case FPO_EPI_COEF_ROUND_BF16: coef = narrow(FPO_BF16, coef); break;
        case FPO_EPI_MUL: y = multiply(y, x); break;
        case FPO_EPI_MUL_COEF: y = multiply(y, coef); break;
        case FPO_EPI_MUL_COEF_OR_ZERO: y = coef == 0 ? 0.0f : multiply(y, coef); break;
        case FPO_EPI_FMA_ZERO: y = fma_f32(y, x, 0.0f); break;
        case FPO_EPI_FMA_COEF_ZERO: y = fma_f32(coef, y, 0.0f); break;
        case FPO_EPI_FMA_COEF_BETA_C_UNLESS_ONE:
            if (coef == 1.0f && !fpo_epilogue_reads_c(context))
                break;
            y = fma_coef_beta_c(context, coef, y, m, n);
            break;
        case FPO_EPI_FMA_COEF_BETA_C: y = fma_coef_beta_c(context, coef, y, m, n); break;
        case FPO_EPI_FMA_BETA_C: y = fma_beta_c(context, y, m, n, false); break;
        case FPO_EPI_FMA_BETA_C_ALWAYS: y = fma_beta_c(context, y, m, n, true); break;
        case FPO_EPI_ADD_BIAS:
            if (has_bias)
                y = canonical(y + fpo_epilogue_bias(context, m, n));
            break;
        case FPO_EPI_FMA_BIAS: y = has_bias ? fma_f32(y, x, fpo_epilogue_bias(context, m, n)) : multiply(y, x); break;
        case FPO_EPI_RELU: y = y > 0 || y != y ? y : 0.0f; break;
        case FPO_EPI_ROUND_F16: y = narrow(FPO_F16, y); break;
        case FPO_EPI_ROUND_BF16: y = narrow(FPO_BF16, y); break;
        }
    }
    return y;
}

static uint32_t code_of(const fpo_epilogue *epilogue, float y)
{
    const fpo_cast *cast = &epilogue->d_cast;
    bool kept = epilogue->d == FPO_F32 && cast->infinity == FPO_NON_FINITE && cast->nan == FPO_NAN_CANONICAL &&
                !cast->drop_negative_zero;
    if (epilogue->d_scale != FPO_FORMAT_NONE || kept) /* a NaN is canonical already */
        return bits_of(y);
    return fpo_encode(epilogue->d, fpo_value_from_float(y), &epilogue->d_cast, 0);
}

uint32_t fpo_epilogue_apply(const fpo_gemm_context *context, float acc, int64_t m, int64_t n)
{
    return code_of(&context->spec->epilogue, run(context, acc, m, n));
}

void fpo_epilogue_tile(const fpo_gemm_context *context, fpo_tile tile, const float *acc, uint32_t *codes)
{
    fpo_scaling scaling = fpo_epilogue_scaling(context);
    size_t i = 0;
    for (int64_t m = tile.m0; m < tile.m1; m++)
        for (int64_t n = tile.n0; n < tile.n1; n++, i++) {
            float y = acc[i];
            if (scaling.applies)
                for (int f = 0; f < scaling.count; f++)
                    y = multiply(y, scaling.factors[f]);
            else
                y = run(context, y, m, n);
            codes[i] = code_of(&context->spec->epilogue, y);
        }
}

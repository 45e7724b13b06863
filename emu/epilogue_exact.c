/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The epilogue's program on exact numbers: no operation rounds but those that say so; D is rounded once, at the end. */
#include "exact.h"

static void set_value(fpo_exact *x, fpo_value value)
{
    x->kind = value.kind;
    x->negative = value.negative;
    if (value.kind == FPO_FINITE) {
        value.negative = false;
        fpo_wide_set_value(&x->magnitude, value);
    }
}

static void set_float(fpo_exact *x, float value)
{
    set_value(x, fpo_value_from_float(value));
}

static fpo_value value_of(const fpo_exact *x)
{
    fpo_value value = {0, 0, x->kind, x->negative, false};
    if (x->kind == FPO_FINITE) {
        value = fpo_wide_value(&x->magnitude);
        value.negative = x->negative;
    } else if (x->kind == FPO_NAN) {
        value.negative = false;
    }
    return value;
}

/* The kind and sign of a product; true if the magnitudes have to be multiplied. */
static bool multiply_kinds(fpo_exact *x, fpo_class kind, bool negative)
{
    if (x->kind == FPO_NAN || kind == FPO_NAN || (x->kind == FPO_INFINITE && kind == FPO_ZERO) ||
        (x->kind == FPO_ZERO && kind == FPO_INFINITE)) {
        x->kind = FPO_NAN;
        return false;
    }
    x->negative ^= negative;
    if (x->kind == FPO_FINITE && kind == FPO_FINITE)
        return true;
    if (x->kind == FPO_INFINITE || kind == FPO_INFINITE)
        x->kind = FPO_INFINITE;
    else
        x->kind = FPO_ZERO;
    return false;
}

static void multiply_float(fpo_exact *x, float factor)
{
    if (factor == 1.0f)
        return;
    fpo_value value = fpo_value_from_float(factor);
    if (multiply_kinds(x, value.kind, value.negative))
        fpo_wide_scale(&x->magnitude, false, (uint32_t)value.significand, value.exponent);
}

static void multiply(fpo_exact *x, const fpo_exact *factor)
{
    if (multiply_kinds(x, factor->kind, factor->negative))
        fpo_wide_multiply(&x->magnitude, &factor->magnitude);
}

static void add(fpo_exact *x, fpo_exact *addend)
{
    if (x->kind == FPO_NAN || addend->kind == FPO_NAN ||
        (x->kind == FPO_INFINITE && addend->kind == FPO_INFINITE && x->negative != addend->negative)) {
        x->kind = FPO_NAN;
    } else if (x->kind == FPO_INFINITE) {
        return;
    } else if (addend->kind == FPO_INFINITE) {
        x->kind = FPO_INFINITE;
        x->negative = addend->negative;
    } else if (x->kind == FPO_ZERO && addend->kind == FPO_ZERO) {
        x->negative = x->negative && addend->negative;
    } else if (addend->kind == FPO_FINITE) {
        if (x->kind == FPO_ZERO)
            fpo_wide_set(&x->magnitude, false, 0, 0);
        x->magnitude.negative = x->negative;
        addend->magnitude.negative = addend->negative;
        fpo_wide_add(&x->magnitude, &addend->magnitude);
        addend->magnitude.negative = false;
        fpo_exact_settle(x);
    }
}

static void add_float(fpo_exact *x, float addend)
{
    fpo_exact term;
    set_float(&term, addend);
    add(x, &term);
}

static void add_product(fpo_exact *x, float f, float g)
{
    fpo_exact term;
    set_float(&term, f);
    multiply_float(&term, g);
    add(x, &term);
}

static void narrow(fpo_exact *x, fpo_format format)
{
    uint32_t code = fpo_encode(format, value_of(x), fpo_cast_describe(FPO_CAST_IEEE), 0);
    set_value(x, fpo_decode(format, code));
}

static void fma_coef_beta_c(const fpo_gemm_context *context, const fpo_exact *coef, fpo_exact *y, int64_t m, int64_t n)
{
    multiply(y, coef);
    if (fpo_epilogue_reads_c(context))
        add_product(y, fpo_epilogue_c(context, m, n), context->problem->beta);
    else
        add_float(y, 0.0f);
}

static void fma_beta_c(const fpo_gemm_context *context, fpo_exact *y, int64_t m, int64_t n, bool always)
{
    if (fpo_epilogue_reads_c(context))
        add_product(y, fpo_epilogue_c(context, m, n), context->problem->beta);
    else if (always && context->spec->epilogue.c != FPO_FORMAT_NONE)
        add_product(y, 0.0f, context->problem->beta);
}

static bool is_one(const fpo_exact *x)
{
    fpo_value value = value_of(x), one = {1, 0, FPO_FINITE, false, false};
    return x->kind == FPO_FINITE && !x->negative && !value.sticky && fpo_value_compare_magnitude(value, one) == 0;
}

static void run(const fpo_gemm_context *context, fpo_exact *y, int64_t m, int64_t n)
{
    const fpo_epilogue *epilogue = &context->spec->epilogue;
    bool has_bias = epilogue->bias != FPO_FORMAT_NONE;
    fpo_exact coef;
    set_float(&coef, 1.0f);

    for (int i = 0; i < FPO_EPILOGUE_STEPS; i++) {
        fpo_epilogue_step step = epilogue->steps[i];
        float x = step.operand == FPO_EPI_NOTHING ? 1.0f : fpo_epilogue_operand_value(context, step.operand, m, n);
        switch (step.op) {
        case FPO_EPI_END: return;
        case FPO_EPI_COEF_MUL: multiply_float(&coef, x); break;
        case FPO_EPI_COEF_ROUND_F16: narrow(&coef, FPO_F16); break;
        case FPO_EPI_COEF_ROUND_BF16: narrow(&coef, FPO_BF16); break;
        case FPO_EPI_MUL: multiply_float(y, x); break;
        case FPO_EPI_MUL_COEF: multiply(y, &coef); break;
        case FPO_EPI_MUL_COEF_OR_ZERO:
            if (coef.kind == FPO_ZERO)
                set_float(y, 0.0f);
            else
                multiply(y, &coef);
            break;
        case FPO_EPI_FMA_ZERO:
            multiply_float(y, x);
            add_float(y, 0.0f);
            break;
        case FPO_EPI_FMA_COEF_ZERO:
            multiply(y, &coef);
            add_float(y, 0.0f);
            break;
        case FPO_EPI_FMA_COEF_BETA_C_UNLESS_ONE:
            if (is_one(&coef) && !fpo_epilogue_reads_c(context))
                break;
            fma_coef_beta_c(context, &coef, y, m, n);
            break;
        case FPO_EPI_FMA_COEF_BETA_C: fma_coef_beta_c(context, &coef, y, m, n); break;
        case FPO_EPI_FMA_BETA_C: fma_beta_c(context, y, m, n, false); break;
        case FPO_EPI_FMA_BETA_C_ALWAYS: fma_beta_c(context, y, m, n, true); break;
        case FPO_EPI_ADD_BIAS:
            if (has_bias)
                add_float(y, fpo_epilogue_bias(context, m, n));
            break;
        case FPO_EPI_FMA_BIAS:
            multiply_float(y, x);
            if (has_bias)
                add_float(y, fpo_epilogue_bias(context, m, n));
            break;
        case FPO_EPI_RELU:
            if (y->kind != FPO_NAN && y->negative)
                set_float(y, 0.0f);
            break;
        case FPO_EPI_ROUND_F16: narrow(y, FPO_F16); break;
        case FPO_EPI_ROUND_BF16: narrow(y, FPO_BF16); break;
        }
    }
}

uint32_t fpo_exact_epilogue(const fpo_gemm_context *context, fpo_exact *y, int64_t m, int64_t n)
{
    const fpo_epilogue *epilogue = &context->spec->epilogue;
    run(context, y, m, n);
    if (epilogue->d_scale != FPO_FORMAT_NONE)
        return fpo_encode(FPO_F32, value_of(y), fpo_cast_describe(FPO_CAST_IEEE), 0);
    return fpo_encode(epilogue->d, value_of(y), &epilogue->d_cast, 0);
}

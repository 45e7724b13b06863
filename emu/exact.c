/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The exact model: which accumulator a problem takes, and how a sum becomes an output. */
#include "exact.h"

void fpo_exact_settle(fpo_exact *x)
{
    x->kind = x->magnitude.length == 0 ? FPO_ZERO : FPO_FINITE;
    x->negative = x->magnitude.negative;
    x->magnitude.negative = false;
}

/* The sign of an infinite or NaN product, collected term by term. */
typedef struct fpo_collected {
    bool nan, plus_infinity, minus_infinity;
} fpo_collected;

static void collect(fpo_collected *seen, const fpo_value factors[4])
{
    bool nan = false, infinite = false, zero = false, negative = false;
    for (int i = 0; i < 4; i++) {
        nan |= factors[i].kind == FPO_NAN;
        infinite |= factors[i].kind == FPO_INFINITE;
        zero |= factors[i].kind == FPO_ZERO;
        negative ^= factors[i].negative;
    }
    seen->nan |= nan || (infinite && zero);
    if (infinite) {
        seen->minus_infinity |= negative;
        seen->plus_infinity |= !negative;
    }
}

static fpo_value scale_of(const fpo_prepared *p, int64_t row, int64_t k)
{
    if (p->scale.format == FPO_FORMAT_NONE || p->scale.block_k == 0)
        return (fpo_value){1, 0, FPO_FINITE, false, false};
    return fpo_decode(p->scale.format, fpo_load_code(p->scale.format, p->scales, (size_t)fpo_scale_index(p, row, k)));
}

static fpo_value element_of(const fpo_prepared *p, int64_t row, int64_t k)
{
    return fpo_decode(p->element, fpo_load_code(p->element, p->codes, (size_t)(row * p->k + k)));
}

fpo_class fpo_exact_special(const fpo_gemm_context *context, int64_t m, int64_t n, bool *negative)
{
    const fpo_prepared *a = &context->a, *b = &context->b;
    unsigned classes = a->row_classes[m] | b->row_classes[n];

    *negative = false;
    if ((classes & FPO_ROW_NAN) != 0)
        return FPO_NAN;
    if ((classes & FPO_ROW_INFINITE) == 0)
        return FPO_FINITE;

    fpo_collected seen = {false, false, false};
    for (int64_t k = 0; k < a->k && !seen.nan; k++) {
        fpo_value factors[4] = {element_of(a, m, k), scale_of(a, m, k), element_of(b, n, k), scale_of(b, n, k)};
        collect(&seen, factors);
    }
    if (seen.nan || (seen.plus_infinity && seen.minus_infinity))
        return FPO_NAN;
    *negative = seen.minus_infinity;
    return FPO_INFINITE;
}

/* One output from its sum, by the exact epilogue. */
static uint32_t finish(const fpo_gemm_context *context, int64_t sum, int64_t m, int64_t n)
{
    fpo_exact y;
    y.kind = fpo_exact_special(context, m, n, &y.negative);
    if (y.kind == FPO_FINITE) {
        uint64_t magnitude = sum < 0 ? -(uint64_t)sum : (uint64_t)sum;
        fpo_wide_set(&y.magnitude, sum < 0, magnitude, FPO_FIXED64_EXPONENT);
        fpo_exact_settle(&y);
    }
    return fpo_exact_epilogue(context, &y, m, n);
}

static fpo_status fixed64_tile(const fpo_gemm_context *context, fpo_tile tile, uint32_t *codes, fpo_error *error)
{
    int64_t acc[FPO_TILE_M * FPO_TILE_N];
    fpo_fixed64_sums *sums = context->nvfp4 != NULL ? fpo_fixed64_sums_vector : fpo_fixed64_sums_portable;
    fpo_status status = sums(context, tile, acc, error);
    if (status != FPO_OK)
        return status;

    fpo_quick_epilogue quick = fpo_quick_epilogue_of(context);
    size_t i = 0;
    for (int64_t m = tile.m0; m < tile.m1; m++) {
        for (int64_t n = tile.n0; n < tile.n1; n++, i++) {
            bool finite = (context->a.row_classes[m] | context->b.row_classes[n]) == 0;
            if (!finite || !fpo_quick_code(&quick, context->spec->epilogue.d, acc[i], &codes[i]))
                codes[i] = finish(context, acc[i], m, n);
        }
    }
    return FPO_OK;
}

fpo_status fpo_exact_tile(const fpo_gemm_context *context, fpo_tile tile, uint32_t *codes, fpo_error *error)
{
    return fpo_fixed64_fits(context) ? fixed64_tile(context, tile, codes, error)
                                     : fpo_exact_wide_tile(context, tile, codes, error);
}

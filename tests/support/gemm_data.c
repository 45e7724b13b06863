/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Data for GEMM cases. */
#include "gemm_data.h"

#include <string.h>

uint64_t gemm_random_below(gemm_random *r, uint64_t bound)
{
    return fpo_random_below(r->random, r->index++, bound);
}

uint32_t gemm_random_code(gemm_random *r, fpo_format format, int spread)
{
    const fpo_format_info *info = fpo_format_describe(format);
    for (;;) {
        uint32_t code = (uint32_t)gemm_random_below(r, UINT64_C(1) << 32) & info->code_mask;
        if (spread > 0 && info->exponent_bits == 8) {
            uint32_t field = (uint32_t)(127 - spread + (int)gemm_random_below(r, 2 * (uint64_t)spread + 1));
            code = (code & ~(0xFFu << info->mantissa_bits)) | field << info->mantissa_bits;
        }
        fpo_class kind = fpo_decode(format, code).kind;
        if (kind == FPO_ZERO || kind == FPO_FINITE)
            return code;
    }
}

float gemm_random_float(gemm_random *r, int spread)
{
    return (float)fpo_decode_double(FPO_F32, gemm_random_code(r, FPO_F32, spread));
}

static uint32_t extreme_code(gemm_random *r, fpo_format format)
{
    const fpo_format_info *info = fpo_format_describe(format);
    uint32_t sign = info->sign_bits != 0 && gemm_random_below(r, 2) != 0 ? 1u << (info->bits - 1) : 0;
    uint32_t subnormals = 1u << info->mantissa_bits;
    switch (gemm_random_below(r, 6)) {
    case 0: return sign;
    case 1: return sign | 1;
    case 2: return sign | (uint32_t)gemm_random_below(r, subnormals);
    case 3: return sign | (info->max_finite - (uint32_t)gemm_random_below(r, subnormals));
    case 4: return sign | info->max_finite;
    default: return gemm_random_code(r, format, 0);
    }
}

/* Exponents of two factors that make about 2^-146, or the lowest codes where a format has no such exponents. */
static uint32_t tiny_code(gemm_random *r, fpo_format format)
{
    const fpo_format_info *info = fpo_format_describe(format);
    uint32_t sign = info->sign_bits != 0 && gemm_random_below(r, 2) != 0 ? 1u << (info->bits - 1) : 0;
    if (info->exponent_bits != 8)
        return sign | (uint32_t)gemm_random_below(r, UINT64_C(2) << info->mantissa_bits);
    uint32_t field = 127 - 73 - 7 + (uint32_t)gemm_random_below(r, 15);
    return sign | field << info->mantissa_bits | (uint32_t)gemm_random_below(r, UINT64_C(1) << info->mantissa_bits);
}

static uint32_t code_of(gemm_random *r, fpo_format format, gemm_data kind, bool scale)
{
    const fpo_format_info *info = fpo_format_describe(format);
    switch (kind) {
    case DATA_EXTREME: return extreme_code(r, format);
    case DATA_TINY: return tiny_code(r, format);
    case DATA_ANY: return (uint32_t)gemm_random_below(r, UINT64_C(1) << 32) & info->code_mask;
    case DATA_SPARSE:
        if (!scale && gemm_random_below(r, 8) != 0)
            return info->sign_bits != 0 && gemm_random_below(r, 2) != 0 ? 1u << (info->bits - 1) : 0;
        break;
    case DATA_FINITE:
    case DATA_CANCEL:
    case DATA_KINDS: break;
    }
    return gemm_random_code(r, format, kind == DATA_CANCEL ? 30 : 0);
}

static void fill_side(gemm_case *x, gemm_side side, gemm_data kind, gemm_random *r)
{
    const fpo_operand_view *view = side == SIDE_A ? &x->spec.a.stored : &x->spec.b.stored;
    int64_t rows = gemm_case_rows(x, side);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t k = 0; k < x->problem.k; k++)
            gemm_case_set_element(x, side, row, k, code_of(r, view->element, kind, false));
    }
    for (int64_t row = 0; row < fpo_scale_rows(&view->scale, rows); row++) {
        for (int64_t c = 0; c < fpo_scale_columns(&view->scale, x->problem.k); c++)
            gemm_case_set_scale(x, side, row, c, code_of(r, view->scale.format, kind, true));
    }
}

/* A repeats itself, B repeats itself with the sign changed, from the middle of K on. Scales are all alike, so that the
 * halves cancel whatever the blocks are; one element is left over. */
static void cancel(gemm_case *x, gemm_random *r)
{
    int64_t half = x->problem.k / 2;
    for (int s = 0; s < 2; s++) {
        gemm_side side = (gemm_side)s;
        const fpo_operand_view *view = side == SIDE_A ? &x->spec.a.stored : &x->spec.b.stored;
        int64_t rows = gemm_case_rows(x, side);
        uint32_t sign = side == SIDE_B ? 1u << (fpo_format_describe(view->element)->bits - 1) : 0;
        for (int64_t row = 0; row < rows; row++) {
            for (int64_t k = 0; k < half; k++)
                gemm_case_set_element(x, side, row, half + k, gemm_case_element(x, side, row, k) ^ sign);
        }
        for (int64_t row = 0; row < fpo_scale_rows(&view->scale, rows); row++)
            gemm_case_fill_scales(x, side, row, gemm_case_scale(x, side, row, 0));
        if (gemm_random_below(r, 2) != 0)
            gemm_case_set_element(x, side, 0, x->problem.k - 1, 1);
    }
}

void gemm_data_fill(gemm_case *x, gemm_data kind, gemm_random *r)
{
    fill_side(x, SIDE_A, kind, r);
    fill_side(x, SIDE_B, kind, r);
    if (kind == DATA_CANCEL)
        cancel(x, r);
}

void gemm_data_fill_epilogue(gemm_case *x, gemm_random *r, int spread)
{
    fpo_gemm_problem *p = &x->problem;
    p->alpha = gemm_random_float(r, spread);
    p->beta = gemm_random_float(r, spread);
    p->d_scale = gemm_random_float(r, spread);
    p->a.tensor_scale = gemm_random_float(r, spread);
    p->b.tensor_scale = gemm_random_float(r, spread);
    if (x->c != NULL) {
        for (int64_t i = 0; i < p->m * p->n; i++)
            fpo_store_code(x->spec.epilogue.c, x->c, (size_t)i, gemm_random_code(r, x->spec.epilogue.c, spread));
    }
    if (x->bias != NULL) {
        for (int64_t i = 0; i < (x->spec.epilogue.bias_per_row ? p->m : p->n); i++)
            fpo_store_code(x->spec.epilogue.bias, x->bias, (size_t)i,
                           gemm_random_code(r, x->spec.epilogue.bias, spread));
    }
}

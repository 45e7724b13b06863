/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Chains of instructions: over panels (for GEMMs), and one instruction over codes (for recorded rows). */
#include "panel.h"

#include <math.h>

static void chain_fma(const fpo_panel *a, const fpo_panel *b, int64_t m, int64_t n0, int64_t columns, int64_t k0,
                      int64_t k1, uint32_t *accumulator)
{
    const float *x = a->values + m * a->k;
    for (int64_t j = 0; j < columns; j++) {
        const float *y = b->values + (n0 + j) * b->k;
        float sum = fpo_float_of_bits(accumulator[j]);
        for (int64_t k = k0; k < k1; k++)
            sum = fmaf(x[k], y[k], sum);
        accumulator[j] = fpo_bits_of_float(fpo_canonical(sum));
    }
}

static fpo_step_side side_at(const fpo_step *step, const fpo_panel *panel, int64_t row, int64_t index)
{
    int64_t k = index * step->k;
    return (fpo_step_side){
        .elements = panel->elements + row * panel->k + k,
        .scales = panel->scales != NULL ? panel->scales + row * panel->scale_columns : NULL,
        .first_k = k,
        .block_k = panel->block_k,
        .fraction = panel->fraction,
        .scale_fraction = panel->scale_fraction,
    };
}

static uint32_t generic_step(const fpo_step *step, const fpo_panel *a, const fpo_panel *b, int64_t m, int64_t n,
                             int64_t index, uint32_t c)
{
    fpo_step_side x = side_at(step, a, m, index), y = side_at(step, b, n, index);
    return fpo_step_chain(step, &x, &y, c);
}

static fpo_fast_row fast_row(const fpo_fast_path *path, const fpo_panel *panel, int64_t row)
{
    int64_t at = row * panel->k;
    bool groups = path->kind == FPO_FAST_GROUPS;
    return (fpo_fast_row){
        .value = groups ? NULL : panel->values + at,
        .exponent = groups ? NULL : panel->numbers + at,
        .fixed = groups ? panel->numbers + at : NULL,
        .nonzero = groups ? panel->nonzero + at / FPO_FAST_GROUP : NULL,
        .scales = panel->scales != NULL ? panel->scales + row * panel->scale_columns : NULL,
        .block_k = panel->block_k,
    };
}

static void chain_fast(const fpo_fast_path *path, const fpo_panel *a, const fpo_panel *b, int64_t m, int64_t n0,
                       int64_t columns, int64_t step0, int64_t step1, uint32_t *accumulator)
{
    const fpo_step *step = path->step;
    int64_t steps = a->k / step->k;
    fpo_fast_row x = fast_row(path, a, m);
    const uint8_t *x_special = a->special + m * steps;
    for (int64_t j = 0; j < columns; j++) {
        fpo_fast_row y = fast_row(path, b, n0 + j);
        const uint8_t *y_special = b->special + (n0 + j) * steps;
        uint32_t sum = accumulator[j];
        for (int64_t i = step0; i < step1; i++) {
            if ((x_special[i] | y_special[i]) != 0 || fpo_accumulator_overflowed(step, sum))
                sum = generic_step(step, a, b, m, n0 + j, i, sum);
            else
                sum = fpo_fast_step(path, &x, &y, i, sum);
        }
        accumulator[j] = sum;
    }
}

void fpo_chain_row(const fpo_fast_path *path, const fpo_panel *a, const fpo_panel *b, int64_t m, int64_t n0,
                   int64_t columns, int64_t step0, int64_t step1, uint32_t *accumulator)
{
    const fpo_step *step = path->step;
    if (step->kind == FPO_STEP_FMA) {
        chain_fma(a, b, m, n0, columns, step0 * step->k, step1 * step->k, accumulator);
        return;
    }
    if (path->kind != FPO_FAST_NONE) {
        chain_fast(path, a, b, m, n0, columns, step0, step1, accumulator);
        return;
    }
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = step0; i < step1; i++)
            accumulator[j] = generic_step(step, a, b, m, n0 + j, i, accumulator[j]);
}

/* Digits of codes and scales of one side, which the buffers hold. */
static fpo_step_side side_of_codes(const fpo_step *step, fpo_format element, const void *codes, fpo_format scale,
                                   const void *scales, int block_k, fpo_digits *digits, fpo_digits *scale_digits)
{
    fpo_step_decode_codes(step, element, codes, 0, step->k, digits);
    if (scales != NULL)
        fpo_step_decode_scales(step, scale, scales, (step->k + block_k - 1) / block_k, scale_digits);
    return (fpo_step_side){
        .elements = digits,
        .scales = scales != NULL ? scale_digits : NULL,
        .block_k = block_k,
        .fraction = fpo_step_fraction(fpo_step_operand_format(step, element)),
        .scale_fraction = scales != NULL ? fpo_step_fraction(scale) : 0,
    };
}

uint32_t fpo_step_run(const fpo_step *step, const fpo_step_operands *operands, uint32_t c)
{
    fpo_digits a[FPO_STEP_MAX_K], b[FPO_STEP_MAX_K], sa[FPO_STEP_MAX_K], sb[FPO_STEP_MAX_K];
    const fpo_step_operands *o = operands;
    fpo_step_side x = side_of_codes(step, o->a_element, o->a, o->a_scale, o->sa, o->block_k, a, sa);
    fpo_step_side y = side_of_codes(step, o->b_element, o->b, o->b_scale, o->sb, o->block_k, b, sb);
    return fpo_step_chain(step, &x, &y, c);
}

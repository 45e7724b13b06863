/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Sums of which nothing is left but what rounding made of them, so that the lowest bits of an accumulator are the
 * highest of an output, in bf16 too.
 *   cancellation  the second half of K is the first one in reverse order with A negated; the exact sum is zero. What
 *                 is left depends on the accumulator's width, on its order, on promotion and on splits
 *   step          large terms cancel inside a single step of a tensor core, beside small ones: how many bits below the
 *                 largest exponent a step keeps, and which products are added together */
#include "pattern.h"

/* Where the element at `column` has its like in the first half; -1 if it has none. `mirrored`: it is in the second. */
static int64_t twin_of(const fpo_pattern *p, int64_t column, bool *mirrored)
{
    int64_t half = p->k / p->chunk / 2 * p->chunk;
    *mirrored = column >= half;
    return column < half ? column : column < 2 * half ? 2 * half - 1 - column : -1;
}

static uint32_t mirrored_element(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    bool mirrored;
    int64_t twin = twin_of(p, column, &mirrored);
    if (twin < 0)
        return 0;
    uint32_t code = fpo_pattern_any(p, fpo_pattern_element_bits(p, row, twin));
    return mirrored && !p->is_b ? fpo_pattern_negated(p, code) : code;
}

static uint32_t mirrored_scale(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    bool mirrored;
    int64_t twin = twin_of(p, column * p->chunk, &mirrored);
    uint64_t bits = fpo_pattern_scale_bits(p, row, twin < 0 ? column : twin / p->chunk);
    switch (p->view->scale.format) {
    case FPO_UE4M3: return 1 + (uint32_t)(bits % 126);
    case FPO_UE8M0: return 127 - 12 + (uint32_t)(bits % 25);
    default: return fpo_pattern_scale_near(p, (int)(bits >> 40) % 13 - 6, bits);
    }
}

fpo_status fpo_generate_cancellation(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fpo_pattern_narrow(wanted, "cancellation", error);
    return status == FPO_OK ? fpo_pattern_fill(vector, wanted, mirrored_element, mirrored_scale, 0, error) : status;
}

/* What an element of K is in its step. */
typedef enum role { SMALL, LARGE, LARGE_NEGATED } role;

enum { FP4_STEP = 64, FP8_STEP = 32, GROUP = 16 };

/* e2m1 with a scale per 16: groups large, small, the large one negated, small. Per 32: large and negated under one
 * scale, then small ones. `*like`: where the same codes are. */
static role role_in_groups(const fpo_pattern *p, int64_t column, int64_t *like)
{
    int64_t group = column % FP4_STEP / GROUP, negated = p->chunk == GROUP ? 2 : 1;
    *like = column - negated * GROUP;
    return group == 0 ? LARGE : group == negated ? LARGE_NEGATED : SMALL;
}

/* Two places of each step, which differ by step, so that any halves, quarters or orders come apart. */
static role role_in_products(const fpo_pattern *p, int64_t column, int64_t *like)
{
    int64_t step = column / FP8_STEP, begin = step * FP8_STEP;
    int64_t large = step * 7 % FP8_STEP, negated = (large + 1 + step * 5 % (FP8_STEP - 1)) % FP8_STEP;
    (void)p;
    *like = begin + large;
    return column == begin + large ? LARGE : column == begin + negated ? LARGE_NEGATED : SMALL;
}

static bool has_groups(const fpo_pattern *p)
{
    return p->element->bits == 4 && p->view->scale.block_k > 0 && p->view->scale.block_k <= 32;
}

/* Products of small ones are up to 2^4 above the last of 25 bits that a large one leaves. */
static uint32_t small_code(const fpo_pattern *p, uint64_t bits)
{
    int cap = (2 * p->element->max_exponent - 25 + 4) / 2;
    if (has_groups(p) || cap < p->element->min_exponent)
        return fpo_pattern_nonzero(p, bits);
    uint32_t most = fpo_code_of_power(p->view->element, false, cap);
    uint32_t code = 1 + (uint32_t)((bits >> 1) % most);
    return bits & 1 ? fpo_pattern_negated(p, code) : code;
}

static uint32_t step_element(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    int64_t like = column;
    role r = has_groups(p) ? role_in_groups(p, column, &like) : role_in_products(p, column, &like);
    if (r == SMALL)
        return small_code(p, fpo_pattern_element_bits(p, row, column));
    uint64_t bits = fpo_pattern_element_bits(p, row, r == LARGE ? column : like);
    uint32_t binade = (1u << p->element->mantissa_bits) - 1;
    uint32_t code = has_groups(p) ? fpo_pattern_nonzero(p, bits) : p->element->max_finite - (uint32_t)(bits & binade);
    return r == LARGE_NEGATED && !p->is_b ? fpo_pattern_negated(p, code) : code;
}

static uint32_t step_scale(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    uint64_t bits = fpo_pattern_scale_bits(p, row, column);
    int64_t like;
    if (!has_groups(p))
        return p->view->scale.block_k == 0 ? fpo_pattern_unique_scale(p, row, column)
                                           : fpo_pattern_scale_near(p, (int)(bits >> 40) % 5 - 2, bits);
    role r = role_in_groups(p, column * p->chunk, &like);
    if (r == LARGE_NEGATED && p->chunk == GROUP) /* the same scale as the group that it takes away */
        bits = fpo_pattern_scale_bits(p, row, like / p->chunk);
    if (p->view->scale.format == FPO_UE4M3)
        return r == SMALL ? 1 + (uint32_t)(bits % 12) : 0x70 + (uint32_t)(bits % 15);
    return r == SMALL ? 127 - 9 - (uint32_t)(bits % 3) : 127 + 8 + (uint32_t)(bits % 3);
}

fpo_status fpo_generate_step(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fpo_pattern_narrow(wanted, "step", error);
    return status == FPO_OK ? fpo_pattern_fill(vector, wanted, step_element, step_scale, 0, error) : status;
}

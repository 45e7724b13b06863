/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Sums at the bottom of f32, where the floor of the exponent search and the grid of subnormal results decide. Only
 * ue8m0 scales reach it; with other formats these are small numbers and nothing more. alpha must bring them back. FP4
 * the scales multiply to 2^-160, and the sum of a step of 64 lies about 2^-149: whether bits below 2^-161 are cut makes
 * it one unit or none else  2^-145 to 2^-156, a row each */
#include "pattern.h"

enum { STEP = 64 };

static uint32_t element_at(const void *context, int64_t row, int64_t column)
{
    /* 6 but for three in 32, so that the sums of 64 products lie about 2048, some with odd quarters. */
    enum { SIX = 7, FOUR = 6, ONE_AND_A_HALF = 3, HALF = 1 };
    static const uint8_t others[] = {FOUR, ONE_AND_A_HALF, HALF};
    const fpo_pattern *p = context;
    uint64_t bits = fpo_pattern_element_bits(p, row, column);
    if (p->element->bits != 4)
        return fpo_pattern_nonzero(p, bits);
    return column >= STEP ? 0 : bits % 32 < 3 ? others[bits % 32] : SIX;
}

static uint32_t scale_at(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    uint64_t bits = fpo_pattern_scale_bits(p, row, column);
    switch (p->view->scale.format) {
    case FPO_UE8M0:
        if (p->view->scale.block_k > STEP) /* the same products, the smallest code of A among their factors */
            return p->is_b ? 127 - 29 : 11 - (uint32_t)(row % 12);
        return p->element->bits == 4 ? 127 - 80 : 127 - 73 - (uint32_t)(p->is_b ? 0 : row % 12);
    case FPO_UE4M3: return 1 + (uint32_t)(bits % 7);
    default: return fpo_pattern_scale_near(p, -60, bits);
    }
}

fpo_status fpo_generate_floor(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fpo_pattern_narrow(wanted, "floor", error);
    return status == FPO_OK ? fpo_pattern_fill(vector, wanted, element_at, scale_at, 0, error) : status;
}

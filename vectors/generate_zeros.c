/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Terms that are zero under the largest scales, beside terms under the smallest: whether a zero takes part in the
 * search for the largest exponent decides what is kept of the others. Without scales per block, zeros meet the largest
 * elements.
 *   a scale per 16   groups, by turns of a step: small, zero, small, small and small, cancelled, small, small
 *   otherwise        blocks: small, zero, small, cancelled
 * Cancelled: neighbours x and -x, so that the block's sum is exactly zero. */
#include "pattern.h"

typedef enum role { SMALL, ZERO, CANCELLED } role;

static role role_of(const fpo_pattern *p, int64_t column)
{
    static const role groups[] = {SMALL, ZERO, SMALL, SMALL, SMALL, CANCELLED, SMALL, SMALL};
    static const role blocks[] = {SMALL, ZERO, SMALL, CANCELLED};
    return p->chunk == 16 ? groups[column / 16 % 8] : blocks[column / 32 % 4];
}

/* Roles change within a block of 128x128 codes: one whole block of B is zero where its scale may be NaN by a mistake.
 */
static bool is_zero_block(const fpo_pattern *p, int64_t column)
{
    return p->is_b && p->view->scale.block_rows > 1 && p->view->scale.format == FPO_UE8M0 &&
           column / p->view->scale.block_k == 1;
}

static uint32_t element_at(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    role r = role_of(p, column);
    if (is_zero_block(p, column))
        return 0;
    uint64_t bits = fpo_pattern_element_bits(p, row, r == CANCELLED ? column & ~(int64_t)1 : column);
    bool scaled = p->view->scale.block_k > 0;
    uint32_t code = fpo_pattern_nonzero(p, bits);
    if (r == SMALL && !scaled) /* the smallest exponents */
        code = 1 + (uint32_t)(bits >> 1) % (2u << p->element->mantissa_bits);
    if (r == ZERO)
        code = p->is_b ? p->element->max_finite : bits & 1 ? fpo_pattern_negated(p, 0) : 0;
    return r == CANCELLED && !p->is_b && column % 2 == 1 ? fpo_pattern_negated(p, code) : code;
}

static uint32_t scale_at(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    uint64_t bits = fpo_pattern_scale_bits(p, row, column);
    if (p->view->scale.block_k == 0)
        return fpo_pattern_unique_scale(p, row, column);
    bool is_small = role_of(p, column * p->chunk) == SMALL;
    switch (p->view->scale.format) {
    case FPO_UE4M3: return is_small ? 1 + (uint32_t)(bits % 7) : 0x78 + (uint32_t)(bits % 7);
    case FPO_UE8M0: return is_small ? 127 - 9 - (uint32_t)(bits % 3) : 127 + 8 + (uint32_t)(bits % 3);
    default: return fpo_pattern_scale_near(p, is_small ? -9 : 9, bits);
    }
}

fpo_status fpo_generate_zeros(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fpo_pattern_narrow(wanted, "zeros", error);
    return status == FPO_OK ? fpo_pattern_fill(vector, wanted, element_at, scale_at, 0, error) : status;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Signed powers of two, in so narrow a range that every sum is a multiple of the smallest product and below 2^12 of it:
 * the accumulators that keep the fewest bits (13) add exactly, in any order. Any difference is then one of
 * interpretation. With K = 4096 and more all products are +-1 times one power.
 * Element exponents lie in [0, 1], scale exponents in [-1, 1], the total range is narrowed as K grows; tensor scales
 * are 2 and 1/4, so that they show and stay exact. */
#include "operand_fill.h"

#include <fp4oracle/random.h>

typedef struct powers {
    uint64_t seed, stream;
    fpo_format element, scale;
    int64_t columns, scale_columns;
    int element_span, scale_span; /* exponents from 0 to span */
} powers;

static uint32_t element_at(const void *context, int64_t row, int64_t column)
{
    const powers *p = context;
    uint64_t bits = fpo_random_bits((fpo_random){p->seed, p->stream}, (uint64_t)(row * p->columns + column));
    int exponent = (int)((bits >> 1) % (uint64_t)(p->element_span + 1));
    return fpo_code_of_power(p->element, bits & 1, exponent);
}

static uint32_t scale_at(const void *context, int64_t row, int64_t column)
{
    const powers *p = context;
    fpo_random random = {p->seed, p->stream + FPO_STREAM_A_SCALE - FPO_STREAM_A};
    uint64_t index = (uint64_t)(row * p->scale_columns + column);
    int exponent = (int)fpo_random_below(random, index, (uint64_t)p->scale_span + 1);
    return fpo_code_of_power(p->scale, false, exponent);
}

/* What K leaves of 12 bits, shared out: scales first, up to two steps an operand, then elements. */
static void share(powers *p, int64_t k)
{
    int bits = 12;
    for (int64_t terms = 1; terms < k && bits > 0; terms *= 2)
        bits--;
    int each = bits / 2; /* of one operand */
    p->scale_span = p->scale == FPO_FORMAT_NONE ? 0 : each > 2 ? 2 : each;
    p->element_span = each - p->scale_span > 2 ? 2 : each - p->scale_span;
}

static fpo_status fill(fpo_vector *vector, fpo_block_format format, int64_t rows, uint64_t stream, fpo_operand *operand,
                       fpo_error *error)
{
    const fpo_block_format_info *info = fpo_block_format_describe(format);
    powers p = {.seed = vector->seed,
                .stream = stream,
                .element = info->view.element,
                .scale = info->view.scale.format,
                .columns = vector->problem.k,
                .scale_columns = fpo_scale_columns(&info->view.scale, vector->problem.k)};
    share(&p, vector->problem.k);
    if (info->tensor_scale)
        operand->tensor_scale = stream == FPO_STREAM_A ? 2.0f : 0.25f;
    return fpo_fill_operand(vector, &info->view, rows, p.columns, element_at, scale_at, &p, operand, error);
}

fpo_status fpo_generate_powers(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fill(vector, wanted->a, wanted->m, FPO_STREAM_A, &vector->problem.a, error);
    return status == FPO_OK ? fill(vector, wanted->b, wanted->n, FPO_STREAM_B, &vector->problem.b, error) : status;
}

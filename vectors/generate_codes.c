/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every finite code, in order.
 *   elements  row r, column k has finite code number r + k + seed (A) or r + seed (B), modulo their number: along a row
 * of A every code comes, each row of B holds one code, and rows differ by one; so D[m][n] sums all codes of A times one
 * code of B, and with as many rows of B as there are codes every pair has met. Formats of more than 8 bits have too
 * many codes: theirs are spread evenly over the finite ones. scales    consecutive finite codes, ascending for A and
 * descending for B, so that products stay moderate along the diagonal of D. f32: powers of two, as ue8m0 would have
 * them, from 2^-32 to 2^31. NaN and infinities never occur. */
#include "operand_fill.h"

typedef struct sweep {
    uint64_t seed;
    bool is_b;
    fpo_format element, scale;
    int64_t scale_columns;
    fpo_finite_codes elements, scales;
} sweep;

static uint32_t element_at(const void *context, int64_t row, int64_t column)
{
    const sweep *s = context;
    const fpo_format_info *info = fpo_format_describe(s->element);
    uint64_t number = (uint64_t)row + (s->is_b ? 0 : (uint64_t)column) + s->seed;
    if (s->elements.count > 0)
        return s->elements.codes[number % (uint64_t)s->elements.count];
    /* An odd stride near the golden ratio of the number of magnitudes visits all of them. */
    uint64_t magnitudes = (uint64_t)info->max_finite + 1, stride = magnitudes * 5 / 8 | 1;
    uint64_t magnitude = number % magnitudes * stride % magnitudes;
    return (uint32_t)(number & 1) << (info->bits - 1) | (uint32_t)magnitude;
}

static uint32_t scale_at(const void *context, int64_t row, int64_t column)
{
    const sweep *s = context;
    uint64_t count = s->scale == FPO_F32 ? 64 : (uint64_t)s->scales.count;
    uint64_t number = ((uint64_t)(row * s->scale_columns + column) + s->seed) % count;
    if (s->is_b)
        number = count - 1 - number;
    return s->scale == FPO_F32 ? fpo_code_of_power(FPO_F32, false, (int)number - 32) : s->scales.codes[number];
}

static fpo_status fill(fpo_vector *vector, fpo_block_format format, int64_t rows, bool is_b, fpo_operand *operand,
                       fpo_error *error)
{
    const fpo_operand_view *view = &fpo_block_format_describe(format)->view;
    sweep s = {.seed = vector->seed % 1000003, /* sums with it stay far from overflow */
               .is_b = is_b,
               .element = view->element,
               .scale = view->scale.format,
               .scale_columns = fpo_scale_columns(&view->scale, vector->problem.k)};
    fpo_list_finite_codes(s.element, &s.elements);
    if (s.scale != FPO_FORMAT_NONE)
        fpo_list_finite_codes(s.scale, &s.scales);
    return fpo_fill_operand(vector, view, rows, vector->problem.k, element_at, scale_at, &s, operand, error);
}

fpo_status fpo_generate_codes(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fill(vector, wanted->a, wanted->m, false, &vector->problem.a, error);
    return status == FPO_OK ? fill(vector, wanted->b, wanted->n, true, &vector->problem.b, error) : status;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Generated vectors, and their numbers by the definition of the formats. */
#ifndef FP4ORACLE_TESTS_GENERATED_H
#define FP4ORACLE_TESTS_GENERATED_H

#include "generate.h"

#include "assertions.h"

static inline fpo_vector *fpo_generated(fpo_data_kind kind, fpo_block_format a, fpo_block_format b, fpo_format d,
                                        int64_t m, int64_t n, int64_t k, uint64_t seed)
{
    fpo_generate wanted = {.a = a, .b = b, .d = d, .m = m, .n = n, .k = k, .kind = kind, .seed = seed};
    fpo_vector *vector;
    fpo_error error;
    ck_assert_msg(fpo_generate_vector(&wanted, &vector, &error) == FPO_OK, "%s", error.message);
    ck_assert_str_eq(vector->data, fpo_data_kind_name(kind));
    return vector;
}

/* The value of element (row, column) with its scale, by the definition of the formats. */
static inline double fpo_element_value(const fpo_operand_view *view, const fpo_operand *operand, int64_t k, int64_t row,
                                       int64_t column)
{
    const fpo_scale_view *s = &view->scale;
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, view->element, k);
    const uint8_t *codes = (const uint8_t *)operand->codes + row * row_bytes;
    uint32_t code = view->element == FPO_E2M1 ? codes[column / 2] >> (column % 2 * 4) & 15
                                              : fpo_load_code(view->element, codes, (size_t)column);
    double value = fpo_decode_double(view->element, code) * operand->tensor_scale;
    if (s->format == FPO_FORMAT_NONE)
        return value;
    int64_t scale_row = s->block_rows ? row / s->block_rows : 0, scale_column = s->block_k ? column / s->block_k : 0;
    size_t index = (size_t)(scale_row * fpo_scale_columns(s, k) + scale_column);
    return value * fpo_decode_double(s->format, fpo_load_code(s->format, operand->scales, index));
}

/* Exact where the sum has at most 53 bits, as in the data made for it. */
static inline double fpo_sum_value(const fpo_vector *vector, int64_t row, int64_t column)
{
    const fpo_gemm_problem *p = &vector->problem;
    double sum = 0;
    for (int64_t i = 0; i < p->k; i++)
        sum += fpo_element_value(&vector->spec.a.stored, &p->a, p->k, row, i) *
               fpo_element_value(&vector->spec.b.stored, &p->b, p->k, column, i);
    return sum;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Both operands filled by one rule. */
#include "pattern.h"

#include <fp4oracle/random.h>

static fpo_status fill(fpo_vector *vector, fpo_block_format format, int64_t rows, bool is_b, fpo_code_at element,
                       fpo_code_at scale, uint64_t context, fpo_operand *operand, fpo_error *error)
{
    const fpo_operand_view *view = &fpo_block_format_describe(format)->view;
    fpo_pattern p = {.seed = vector->seed,
                     .is_b = is_b,
                     .view = view,
                     .element = fpo_format_describe(view->element),
                     .rows = rows,
                     .k = vector->problem.k,
                     .scale_columns = fpo_scale_columns(&view->scale, vector->problem.k),
                     .chunk = view->scale.block_k > 0 ? view->scale.block_k : 32,
                     .context = context};
    fpo_list_finite_codes(view->element, &p.elements);
    return fpo_fill_operand(vector, view, rows, p.k, element, scale, &p, operand, error);
}

fpo_status fpo_pattern_fill(fpo_vector *vector, const fpo_generate *wanted, fpo_code_at element, fpo_code_at scale,
                            uint64_t context, fpo_error *error)
{
    fpo_status status = fill(vector, wanted->a, wanted->m, false, element, scale, context, &vector->problem.a, error);
    return status == FPO_OK
               ? fill(vector, wanted->b, wanted->n, true, element, scale, context, &vector->problem.b, error)
               : status;
}

fpo_status fpo_pattern_narrow(const fpo_generate *wanted, const char *kind, fpo_error *error)
{
    for (int i = 0; i < 2; i++) {
        const fpo_block_format_info *info = fpo_block_format_describe(i == 0 ? wanted->a : wanted->b);
        if (fpo_format_describe(info->view.element)->bits > 8)
            return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s: elements of 4 to 8 bits alone, not %s", kind, info->name);
    }
    return FPO_OK;
}

static uint64_t bits_of(const fpo_pattern *p, uint64_t a, uint64_t b, int64_t row, int64_t columns, int64_t column)
{
    return fpo_random_bits((fpo_random){p->seed, p->is_b ? b : a}, (uint64_t)(row * columns + column));
}

uint64_t fpo_pattern_element_bits(const fpo_pattern *p, int64_t row, int64_t column)
{
    return bits_of(p, FPO_STREAM_A, FPO_STREAM_B, row, p->k, column);
}

uint64_t fpo_pattern_scale_bits(const fpo_pattern *p, int64_t row, int64_t column)
{
    return bits_of(p, FPO_STREAM_A_SCALE, FPO_STREAM_B_SCALE, row, p->scale_columns, column);
}

uint32_t fpo_pattern_any(const fpo_pattern *p, uint64_t bits)
{
    return p->elements.codes[bits % (uint64_t)p->elements.count];
}

uint32_t fpo_pattern_negated(const fpo_pattern *p, uint32_t code)
{
    return code ^ 1u << (p->element->bits - 1);
}

uint32_t fpo_pattern_positive(const fpo_pattern *p, uint64_t bits)
{
    return 1 + (uint32_t)(bits % p->element->max_finite);
}

uint32_t fpo_pattern_nonzero(const fpo_pattern *p, uint64_t bits)
{
    uint32_t code = fpo_pattern_positive(p, bits >> 1);
    return bits & 1 ? fpo_pattern_negated(p, code) : code;
}

uint32_t fpo_pattern_unique_scale(const fpo_pattern *p, int64_t row, int64_t column)
{
    uint64_t index = (uint64_t)(row * p->scale_columns + column) + p->seed % 1000003 + 1;
    uint64_t stride = p->is_b ? 19 : 12;
    switch (p->view->scale.format) {
    case FPO_UE4M3: return 14 + (uint32_t)(index * (stride + 26) % 113);
    case FPO_UE8M0: return 127 - 15 + (uint32_t)(index * stride % 31);
    case FPO_F32: /* 2^-4 to 2^3, odd multiples of mantissas that never repeat */
        return (uint32_t)(123 + index * stride % 7) << 23 |
               ((uint32_t)index * (p->is_b ? 0x2C1B3C6Du : 0x297A2D39u) & 0x7FFFFF);
    default: return 0;
    }
}

uint32_t fpo_pattern_scale_near(const fpo_pattern *p, int exponent, uint64_t bits)
{
    const fpo_format_info *info = fpo_format_describe(p->view->scale.format);
    if (info->bits == 0)
        return 0;
    uint32_t code = fpo_code_of_power(p->view->scale.format, false, exponent);
    uint32_t mantissa = (1u << info->mantissa_bits) - 1;
    uint32_t filled = code | ((uint32_t)bits & mantissa);
    return info->mantissa_bits == 0 || exponent < info->min_exponent || filled > info->max_finite ? code : filled;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Uniform data.
 *   elements  up to 8 bits: every finite code alike often. f16: every finite code. bf16, tf32, f32: sign and mantissa
 *             uniform, exponent uniform from -8 to 7, so that sums stay finite.
 *   scales    ue4m3: every finite code, 0 included. ue8m0: 2^-16 to 2^16, of which any product is far from overflow.
 *             f32: mantissa uniform, 2^-8 to 2^8.
 *   tensor scales of formats that have them: mantissa uniform, 2^-2 to 2^2.
 * NaN and infinities never occur. */
#include "operand_fill.h"

#include <fp4oracle/random.h>
#include <string.h>

typedef struct uniform {
    uint64_t seed, stream;
    fpo_format element, scale;
    int64_t columns, scale_columns;
    fpo_finite_codes elements, scales;
} uniform;

/* A finite number with `mantissa_bits`, exponent from -range to range - 1. */
static uint32_t float_code(const fpo_format_info *info, uint64_t bits, bool negative, int range)
{
    uint32_t exponent = (uint32_t)(info->bias - range + (int)((bits >> 32) % (uint64_t)(2 * range)));
    uint32_t mantissa = (uint32_t)bits & ((1u << info->mantissa_bits) - 1);
    return (uint32_t)negative << (info->bits - 1) | exponent << info->mantissa_bits | mantissa;
}

static uint32_t draw(const fpo_finite_codes *list, fpo_format format, bool is_signed, int range, fpo_random random,
                     uint64_t index)
{
    const fpo_format_info *info = fpo_format_describe(format);
    if (list->count > 0)
        return list->codes[fpo_random_below(random, index, (uint64_t)list->count)];
    uint64_t bits = fpo_random_bits(random, index);
    bool negative = is_signed && bits >> 63;
    if (format == FPO_F16) /* codes below infinity */
        return (uint32_t)negative << 15 | (uint32_t)(bits % 0x7C00);
    return float_code(info, bits & INT64_MAX, negative, range);
}

static uint32_t element_at(const void *context, int64_t row, int64_t column)
{
    const uniform *u = context;
    fpo_random random = {u->seed, u->stream};
    return draw(&u->elements, u->element, true, 8, random, (uint64_t)(row * u->columns + column));
}

static uint32_t scale_at(const void *context, int64_t row, int64_t column)
{
    const uniform *u = context;
    fpo_random random = {u->seed, u->stream + FPO_STREAM_A_SCALE - FPO_STREAM_A};
    uint64_t index = (uint64_t)(row * u->scale_columns + column);
    if (u->scale == FPO_UE8M0)
        return 127 - 16 + (uint32_t)fpo_random_below(random, index, 33);
    return draw(&u->scales, u->scale, false, 8, random, index);
}

static fpo_status fill(fpo_vector *vector, fpo_block_format format, int64_t rows, uint64_t stream, fpo_operand *operand,
                       fpo_error *error)
{
    const fpo_block_format_info *info = fpo_block_format_describe(format);
    uniform u = {.seed = vector->seed,
                 .stream = stream,
                 .element = info->view.element,
                 .scale = info->view.scale.format,
                 .columns = vector->problem.k,
                 .scale_columns = fpo_scale_columns(&info->view.scale, vector->problem.k)};
    fpo_list_finite_codes(u.element, &u.elements);
    if (u.scale != FPO_FORMAT_NONE)
        fpo_list_finite_codes(u.scale, &u.scales);
    if (info->tensor_scale) {
        fpo_random random = {u.seed, stream + FPO_STREAM_A_TENSOR_SCALE - FPO_STREAM_A};
        uint32_t code = float_code(fpo_format_describe(FPO_F32), fpo_random_bits(random, 0) & INT64_MAX, false, 2);
        memcpy(&operand->tensor_scale, &code, sizeof(code));
    }
    return fpo_fill_operand(vector, &info->view, rows, u.columns, element_at, scale_at, &u, operand, error);
}

fpo_status fpo_generate_uniform(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fill(vector, wanted->a, wanted->m, FPO_STREAM_A, &vector->problem.a, error);
    return status == FPO_OK ? fill(vector, wanted->b, wanted->n, FPO_STREAM_B, &vector->problem.b, error) : status;
}

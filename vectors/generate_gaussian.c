/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Normal numbers as operands, and tensors as operands: quantised by a recipe, or encoded to nearest where the format
 * has none. */
#include "operand_fill.h"

#include <fp4oracle/random.h>
#include <stdlib.h>

typedef struct encoder {
    const fpo_float_matrix *matrix;
    fpo_format element;
    const fpo_cast *cast;
} encoder;

static uint32_t encoded_at(const void *context, int64_t row, int64_t column)
{
    const encoder *e = context;
    return fpo_encode(e->element, fpo_value_from_float(e->matrix->values[row * e->matrix->k + column]), e->cast, 0);
}

/* Without scales. */
static fpo_status encode_operand(fpo_vector *vector, const fpo_operand_view *view, const fpo_float_matrix *matrix,
                                 fpo_operand *operand, fpo_error *error)
{
    bool narrow = fpo_format_describe(view->element)->bits <= 8;
    encoder e = {matrix, view->element, fpo_cast_describe(narrow ? FPO_CAST_PTX : FPO_CAST_IEEE)};
    return fpo_fill_operand(vector, view, matrix->rows, matrix->k, encoded_at, NULL, &e, operand, error);
}

fpo_status fpo_quantize_operand(fpo_vector *vector, fpo_block_format format, fpo_recipe recipe,
                                const fpo_float_matrix *matrix, fpo_operand *operand, fpo_error *error)
{
    const fpo_block_format_info *info = fpo_block_format_describe(format);
    if (recipe == FPO_RECIPE_COUNT)
        recipe = fpo_recipe_default(format);
    if (recipe == FPO_RECIPE_COUNT && info->view.scale.format == FPO_FORMAT_NONE)
        return encode_operand(vector, &info->view, matrix, operand, error);
    const fpo_recipe_info *steps = fpo_recipe_describe(recipe);
    if (!steps || steps->format != format)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "recipe %s does not quantise to %s", steps ? steps->name : "(none)",
                        info->name);
    fpo_quantized result = {.codes_bytes = fpo_operand_codes_bytes(&info->view, matrix->rows, matrix->k),
                            .scales_bytes = fpo_operand_scales_bytes(&info->view, matrix->rows, matrix->k),
                            .dtype = matrix->dtype};
    result.codes = fpo_vector_allocate(vector, result.codes_bytes);
    result.scales = fpo_vector_allocate(vector, result.scales_bytes);
    if (!result.codes || !result.scales)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for an operand of %lld x %lld", (long long)matrix->rows,
                        (long long)matrix->k);
    fpo_status status = fpo_quantize(recipe, matrix->values, matrix->rows, matrix->k, &result, NULL, error);
    if (status == FPO_OK)
        *operand =
            (fpo_operand){result.codes, result.codes_bytes, result.scales, result.scales_bytes, result.tensor_scale,
                          NULL,         FPO_FORMAT_NONE};
    return status;
}

static fpo_status normal_operand(fpo_vector *vector, fpo_block_format format, int64_t rows, uint64_t stream,
                                 fpo_operand *operand, fpo_error *error)
{
    int64_t k = vector->problem.k, count;
    float *numbers = NULL;
    if (!__builtin_mul_overflow(rows, k, &count) && count < INT64_MAX / 4)
        numbers = malloc((size_t)count * sizeof(float));
    if (!numbers)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld x %lld floats", (long long)rows, (long long)k);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = fpo_random_normal((fpo_random){vector->seed, stream}, (uint64_t)i);
    fpo_float_matrix matrix = {numbers, rows, k, FPO_F32};
    fpo_status status = fpo_quantize_operand(vector, format, FPO_RECIPE_COUNT, &matrix, operand, error);
    free(numbers);
    return status;
}

fpo_status fpo_generate_gaussian(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = normal_operand(vector, wanted->a, wanted->m, FPO_STREAM_A, &vector->problem.a, error);
    return status == FPO_OK ? normal_operand(vector, wanted->b, wanted->n, FPO_STREAM_B, &vector->problem.b, error)
                            : status;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Activations as a loader's kernel gets them. vLLM 0.33.0, quantization/modelopt.py and
 * compressed_tensors_w4a4_nvfp4.py: the quantiser takes RN(1/input_scale) or the stored divisor, and the product is
 * multiplied by RN(input_scale * weight_scale), whose first factor is A's tensor scale here. */
#include "hf_activations.h"
#include "operand_fill.h"

#include <fp4oracle/random.h>
#include <stdlib.h>
#include <string.h>

fpo_status fpo_hf_normal_activations(uint64_t seed, int64_t rows, int64_t k, float **values, fpo_error *error)
{
    int64_t count;
    *values = NULL;
    if (!__builtin_mul_overflow(rows, k, &count) && count < INT64_MAX / 8)
        *values = malloc((size_t)count * sizeof **values);
    if (*values == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld x %lld floats", (long long)rows, (long long)k);
    for (int64_t i = 0; i < count; i++) {
        float x = fpo_random_normal((fpo_random){seed, FPO_STREAM_A}, (uint64_t)i);
        uint32_t code = fpo_encode(FPO_BF16, fpo_value_from_float(x), fpo_cast_describe(FPO_CAST_IEEE), 0);
        (*values)[i] = (float)fpo_decode_double(FPO_BF16, code);
    }
    return FPO_OK;
}

static fpo_status quantise_statically(fpo_vector *vector, const fpo_hf_layer *layer, const fpo_float_matrix *matrix,
                                      const fpo_hf_activations *wanted, fpo_operand *operand, fpo_error *error)
{
    const fpo_block_format_info *info = fpo_block_format_describe(wanted->format);
    fpo_quantized result = {.codes_bytes = fpo_operand_codes_bytes(&info->view, matrix->rows, matrix->k),
                            .scales_bytes = fpo_operand_scales_bytes(&info->view, matrix->rows, matrix->k),
                            .dtype = matrix->dtype,
                            .given_library_scale = true,
                            .library_scale = layer->library_scale};
    result.codes = fpo_vector_allocate(vector, result.codes_bytes);
    result.scales = fpo_vector_allocate(vector, result.scales_bytes);
    if (result.codes == NULL || result.scales == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for an operand of %lld x %lld", (long long)matrix->rows,
                        (long long)matrix->k);
    fpo_status status = fpo_quantize(wanted->recipe, matrix->values, matrix->rows, matrix->k, &result, NULL, error);
    *operand = (fpo_operand){result.codes,
                             result.codes_bytes,
                             result.scales,
                             result.scales_bytes,
                             info->tensor_scale ? layer->input_scale : 1,
                             NULL,
                             FPO_FORMAT_NONE};
    return status;
}

fpo_status fpo_hf_quantise_activations(fpo_vector *vector, const fpo_scheme_info *scheme, const fpo_hf_layer *layer,
                                       const fpo_float_matrix *matrix, fpo_hf_activations *wanted, fpo_operand *operand,
                                       fpo_error *error)
{
    if (wanted->recipe == FPO_RECIPE_COUNT && wanted->format == scheme->activations) {
        wanted->is_static = layer->has_input_scale;
        wanted->recipe = layer->has_input_scale ? scheme->static_recipe : scheme->recipe;
    }
    if (wanted->recipe == FPO_RECIPE_COUNT)
        wanted->recipe = fpo_recipe_default(wanted->format);
    return wanted->is_static ? quantise_statically(vector, layer, matrix, wanted, operand, error)
                             : fpo_quantize_operand(vector, wanted->format, wanted->recipe, matrix, operand, error);
}

fpo_status fpo_hf_weight_operand(fpo_vector *vector, const fpo_hf_layer *layer, fpo_operand *operand, fpo_error *error)
{
    void *codes = fpo_vector_allocate(vector, layer->weight.codes_bytes);
    void *scales = fpo_vector_allocate(vector, layer->weight.scales_bytes);
    if (codes == NULL || scales == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for a weight of %lld x %lld", (long long)layer->rows,
                        (long long)layer->k);
    memcpy(codes, layer->weight.codes, layer->weight.codes_bytes);
    memcpy(scales, layer->weight.scales, layer->weight.scales_bytes);
    *operand = layer->weight;
    operand->codes = codes;
    operand->scales = scales;
    return FPO_OK;
}

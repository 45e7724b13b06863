/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Operands, C and bias of a vector from tensors of files. */
#include "arguments.h"
#include "checkpoint.h"
#include "gen.h"
#include "quantized.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --recipe NAME or A,B. */
static fpo_status parse_recipes(const char *text, fpo_recipe recipes[2], fpo_error *error)
{
    recipes[0] = recipes[1] = FPO_RECIPE_COUNT;
    if (text == NULL)
        return FPO_OK;
    char first[64];
    const char *comma = strchr(text, ',');
    size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);
    snprintf(first, sizeof first, "%.*s", (int)(length < sizeof first ? length : sizeof first - 1), text);
    fpo_status status = fpo_parse_recipe(first, &recipes[0], error);
    return status == FPO_OK ? fpo_parse_recipe(comma != NULL ? comma + 1 : first, &recipes[1], error) : status;
}

/* A recipe makes operands of one format: it must be the one that is asked for. */
static fpo_status check_recipe(fpo_recipe recipe, fpo_block_format format, const char *operand, fpo_error *error)
{
    if (recipe == FPO_RECIPE_COUNT || fpo_recipe_describe(recipe)->format == format)
        return FPO_OK;
    const fpo_recipe_info *info = fpo_recipe_describe(recipe);
    return fpo_fail(error, FPO_ERR_ARGUMENT, "recipe %s makes %s, but operand %s is to be %s", info->name,
                    fpo_recipe_format_text(info).text, operand, fpo_block_format_describe(format)->name);
}

static fpo_status load_operand(fpo_vector *vector, const char *argument, fpo_block_format format, fpo_recipe recipe,
                               fpo_operand *operand, int64_t *rows, int64_t *k, fpo_error *error)
{
    if (fpo_is_quantized_file(argument)) {
        if (recipe != FPO_RECIPE_COUNT)
            return fpo_fail(error, FPO_ERR_ARGUMENT, "--recipe: %.120s is quantised already", argument);
        return fpo_gen_quantized(vector, argument, format, operand, rows, k, error);
    }
    fpo_tensor_numbers numbers = {0};
    fpo_status status = fpo_tensor_numbers_read(argument, &numbers, error);
    if (status != FPO_OK)
        return status;
    fpo_float_matrix matrix = {numbers.values, numbers.rows, numbers.k, numbers.dtype};
    status = fpo_quantize_operand(vector, format, recipe, &matrix, operand, error);
    *rows = numbers.rows;
    *k = numbers.k;
    fpo_tensor_numbers_free(&numbers);
    return status;
}

/* A tensor of f32, bf16 or f16 as it is: `count` numbers. */
static fpo_status load_addend(fpo_vector *vector, const char *argument, const char *what, int64_t rows, int64_t columns,
                              fpo_format *format, const void **data, size_t *bytes, fpo_error *error)
{
    if (argument == NULL)
        return FPO_OK;
    fpo_tensor_source source = {0};
    fpo_status status = fpo_tensor_open(argument, &source, error);
    if (status != FPO_OK)
        return status;
    const fpo_tensor *tensor = source.tensor;
    *format = fpo_dtype_format(tensor->dtype);
    void *copy = NULL;
    if (*format != FPO_F32 && *format != FPO_BF16 && *format != FPO_F16)
        status = fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s of %.120s is %s, not f32, bf16 or f16", what, argument,
                          fpo_dtype_name(tensor->dtype));
    else if (tensor->elements != rows * columns)
        status = fpo_fail(error, FPO_ERR_SHAPE, "%s of %.120s has %lld numbers, not %lld x %lld", what, argument,
                          (long long)tensor->elements, (long long)rows, (long long)columns);
    else if ((copy = fpo_vector_allocate(vector, tensor->bytes)) == NULL)
        status = fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu bytes of %s", tensor->bytes, what);
    if (status == FPO_OK) {
        memcpy(copy, tensor->data, tensor->bytes);
        *data = copy;
        *bytes = tensor->bytes;
    }
    fpo_tensor_close(&source);
    return status;
}

static fpo_status load_operands(const fpo_gen_arguments *a, fpo_vector *vector, fpo_error *error)
{
    fpo_recipe recipes[2];
    fpo_gemm_problem *p = &vector->problem;
    int64_t k_b = 0;
    fpo_status status = parse_recipes(a->recipe, recipes, error);
    if (status == FPO_OK)
        status = check_recipe(recipes[0], a->generate.a, "a", error);
    if (status == FPO_OK)
        status = check_recipe(recipes[1], a->generate.b, "b", error);
    if (status == FPO_OK)
        status = load_operand(vector, a->a, a->generate.a, recipes[0], &p->a, &p->m, &p->k, error);
    if (status == FPO_OK)
        status = load_operand(vector, a->b, a->generate.b, recipes[1], &p->b, &p->n, &k_b, error);
    if (status == FPO_OK && p->k != k_b)
        return fpo_fail(error, FPO_ERR_SHAPE, "K differs: a is %lld x %lld, b is %lld x %lld", (long long)p->m,
                        (long long)p->k, (long long)p->n, (long long)k_b);
    return status;
}

fpo_status fpo_gen_load_addends(const fpo_gen_arguments *a, fpo_vector *vector, fpo_error *error)
{
    fpo_gemm_problem *p = &vector->problem;
    fpo_epilogue *epilogue = &vector->spec.epilogue;
    fpo_status status = load_addend(vector, a->c, "C", p->m, p->n, &epilogue->c, &p->c, &p->c_bytes, error);
    if (status == FPO_OK)
        status = load_addend(vector, a->bias, "bias", 1, p->n, &epilogue->bias, &p->bias, &p->bias_bytes, error);
    if (a->c != NULL && !a->has_beta)
        p->beta = 1;
    return status;
}

fpo_status fpo_gen_from_tensors(const fpo_gen_arguments *a, fpo_vector *vector, fpo_error *error)
{
    const fpo_model *exact = fpo_model_by_name("exact");
    fpo_status status = fpo_spec_init(&vector->spec, a->generate.a, a->generate.b, exact, a->generate.d, error);
    if (status == FPO_OK)
        status = load_operands(a, vector, error);
    if (status == FPO_OK)
        status = fpo_gen_load_addends(a, vector, error);
    if (status != FPO_OK)
        return status;
    char data[512];
    snprintf(data, sizeof data, "a from %s, b from %s", a->a, a->b);
    json_t *valid = fpo_json_text(data);
    vector->data = fpo_vector_text(vector, json_string_value(valid));
    json_decref(valid);
    return vector->data != NULL ? FPO_OK
                                : fpo_fail(error, FPO_ERR_MEMORY, "out of memory for the vector's description");
}

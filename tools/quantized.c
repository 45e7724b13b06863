/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Reading a tensor, quantising it, writing the result. */
#include "quantized.h"
#include "hf_checkpoint.h"
#include "recipe.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fpo_status fpo_tensor_numbers_read(const char *argument, fpo_tensor_numbers *numbers, fpo_error *error)
{
    fpo_tensor_source source = {0};
    bool checkpoint = false;
    fpo_status status = fpo_tensor_open(argument, &source, error);
    if (status == FPO_ERR_ARGUMENT) { /* no tensor of this name: a layer? */
        fpo_status layer =
            fpo_hf_source_rows(argument, &checkpoint, &numbers->rows, &numbers->k, &numbers->values, error);
        numbers->dtype = FPO_F32;
        if (checkpoint)
            return layer;
    }
    if (status != FPO_OK)
        return status;
    status = fpo_tensor_rows(source.tensor, &numbers->rows, &numbers->k, &numbers->values, error);
    if (status == FPO_OK)
        numbers->dtype = fpo_dtype_format(source.tensor->dtype);
    fpo_tensor_close(&source);
    return status;
}

void fpo_tensor_numbers_free(fpo_tensor_numbers *numbers)
{
    free(numbers->values);
    numbers->values = NULL;
}

static void block_text(char *text, size_t size, int32_t elements)
{
    if (elements > 0)
        snprintf(text, size, "%d", elements);
    else
        snprintf(text, size, "all");
}

fpo_format_text fpo_recipe_format_text(const fpo_recipe_info *recipe)
{
    fpo_format_text result;
    const fpo_block_format_info *named = fpo_block_format_describe(recipe->format);
    const fpo_scale_view *scale = &recipe->view.scale;
    char rows[12], columns[12];
    block_text(rows, sizeof rows, scale->block_rows);
    block_text(columns, sizeof columns, scale->block_k);
    if (named != NULL)
        snprintf(result.text, sizeof result.text, "%s", named->name);
    else
        snprintf(result.text, sizeof result.text, "%s/%s %sx%s", fpo_format_describe(recipe->view.element)->name,
                 fpo_format_describe(scale->format)->name, rows, columns);
    return result;
}

/* Which scales the recipe makes besides the block scales. */
static fpo_status find_scales(const fpo_recipe_info *recipe, fpo_format dtype, bool *tensor_scale, bool *row_scale,
                              fpo_error *error)
{
    fpo_program *program = malloc(sizeof *program);
    if (program == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for the recipe %s", recipe->name);
    fpo_status status = fpo_recipe_compile(recipe->text, &recipe->view, dtype, program, error);
    if (status == FPO_OK) {
        *tensor_scale = program->tensor_scale != FPO_NO_REGISTER;
        *row_scale = program->row_scale != FPO_NO_REGISTER;
    }
    free(program);
    return status;
}

static fpo_status allocate(fpo_quantized_tensor *result, bool row_scale, fpo_error *error)
{
    fpo_quantized *data = &result->data;
    data->codes_bytes = fpo_operand_codes_bytes(&result->view, result->rows, result->k);
    data->scales_bytes = fpo_operand_scales_bytes(&result->view, result->rows, result->k);
    data->codes = calloc(1, data->codes_bytes + 1);
    data->scales = calloc(1, data->scales_bytes + 1);
    data->row_scales = row_scale ? calloc((size_t)result->rows, sizeof *data->row_scales) : NULL;
    if (data->codes == NULL || data->scales == NULL || (row_scale && data->row_scales == NULL))
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu bytes of codes and %zu of scales",
                        data->codes_bytes, data->scales_bytes);
    return FPO_OK;
}

static fpo_status quantize(fpo_recipe recipe, const fpo_tensor_numbers *numbers, fpo_quantized *data, fpo_error *error)
{
    fpo_progress_line line = {.label = "quantising"};
    fpo_execution execution = {.progress = fpo_progress, .progress_context = &line};
    fpo_status status = fpo_quantize(recipe, numbers->values, numbers->rows, numbers->k, data, &execution, error);
    fpo_progress_end(&line);
    return status;
}

fpo_status fpo_quantize_tensor(fpo_recipe recipe, const fpo_tensor_numbers *numbers, const float *library_scale,
                               uint64_t seed, fpo_quantized_tensor *result, fpo_error *error)
{
    const fpo_recipe_info *info = fpo_recipe_describe(recipe);
    memset(result, 0, sizeof *result);
    result->recipe = recipe;
    result->view = info->view;
    result->rows = numbers->rows;
    result->k = numbers->k;
    result->data.tensor_scale = 1;
    result->data.dtype = numbers->dtype;
    result->data.seed = seed;
    bool row_scale = false;
    fpo_status status = find_scales(info, numbers->dtype, &result->has_tensor_scale, &row_scale, error);
    if (status == FPO_OK && library_scale != NULL && !result->has_tensor_scale)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "recipe %s has no tensor scale", info->name);
    if (library_scale != NULL) {
        result->data.given_library_scale = true;
        result->data.library_scale = *library_scale;
    }
    if (status == FPO_OK)
        status = allocate(result, row_scale, error);
    if (status == FPO_OK)
        status = quantize(recipe, numbers, &result->data, error);
    if (status != FPO_OK)
        fpo_quantized_tensor_free(result);
    return status;
}

void fpo_quantized_tensor_free(fpo_quantized_tensor *tensor)
{
    free(tensor->data.codes);
    free(tensor->data.scales);
    free(tensor->data.row_scales);
    tensor->data.row_scales = NULL;
    tensor->data.codes = NULL;
    tensor->data.scales = NULL;
}

static fpo_dtype codes_dtype(fpo_format element)
{
    return element == FPO_E4M3 ? FPO_DTYPE_F8_E4M3 : element == FPO_E5M2 ? FPO_DTYPE_F8_E5M2 : FPO_DTYPE_U8;
}

static fpo_dtype scale_dtype(fpo_format scale)
{
    return scale == FPO_UE4M3 ? FPO_DTYPE_F8_E4M3 : scale == FPO_F32 ? FPO_DTYPE_F32 : FPO_DTYPE_U8;
}

/* The scale tensor in `layout`: linear has its two dimensions, others are flat. *buffer is to be freed. */
static fpo_status lay_out_scales(const fpo_quantized_tensor *tensor, fpo_layout layout, fpo_tensor *scale,
                                 void **buffer, fpo_error *error)
{
    const fpo_scale_view *view = &tensor->view.scale;
    int64_t rows = fpo_scale_rows(view, tensor->rows), columns = fpo_scale_columns(view, tensor->k);
    size_t element_bytes = fpo_format_describe(view->format)->storage_bytes;
    scale->name = "scale";
    scale->dtype = scale_dtype(view->format);
    if (layout == FPO_LAYOUT_LINEAR) {
        scale->rank = 2;
        scale->shape[0] = rows;
        scale->shape[1] = columns;
        scale->data = tensor->data.scales;
        scale->bytes = tensor->data.scales_bytes;
        return FPO_OK;
    }
    int64_t size = fpo_layout_size(layout, rows, columns);
    *buffer = malloc((size_t)size * element_bytes);
    if (*buffer == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld scales", (long long)size);
    fpo_layout_apply(layout, rows, columns, element_bytes, tensor->data.scales, *buffer, 0);
    scale->rank = 1;
    scale->shape[0] = size;
    scale->data = *buffer;
    scale->bytes = (size_t)size * element_bytes;
    return FPO_OK;
}

static fpo_tensor float_tensor(const char *name, const float *values, int64_t count)
{
    return (fpo_tensor){.name = name,
                        .dtype = FPO_DTYPE_F32,
                        .rank = 1,
                        .shape = {count},
                        .data = values,
                        .bytes = (size_t)count * sizeof *values};
}

fpo_status fpo_quantized_write(const char *path, const fpo_quantized_tensor *tensor, fpo_layout layout,
                               const char *source, fpo_error *error)
{
    fpo_tensor tensors[4] = {{0}};
    size_t count = 0;
    fpo_tensor *codes = &tensors[count++];
    codes->name = "codes";
    codes->dtype = codes_dtype(tensor->view.element);
    codes->rank = 2;
    codes->shape[0] = tensor->rows;
    codes->shape[1] = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, tensor->view.element, tensor->k);
    codes->data = tensor->data.codes;
    codes->bytes = tensor->data.codes_bytes;
    void *buffer = NULL;
    fpo_status status = lay_out_scales(tensor, layout, &tensors[count++], &buffer, error);
    const fpo_recipe_info *recipe = fpo_recipe_describe(tensor->recipe);
    if (tensor->has_tensor_scale)
        tensors[count++] = float_tensor("tensor_scale", &tensor->data.tensor_scale, 1);
    if (tensor->data.row_scales != NULL)
        tensors[count++] = float_tensor("row_scale", tensor->data.row_scales, tensor->rows);
    char library_scale[32];
    snprintf(library_scale, sizeof library_scale, "%.9g", (double)tensor->data.library_scale);
    char k[32];
    snprintf(k, sizeof k, "%lld", (long long)tensor->k);
    json_t *valid_source = fpo_json_text(source);
    fpo_format_text format = fpo_recipe_format_text(recipe);
    const fpo_metadata metadata[] = {
        {"fp4oracle.version", fpo_version()},
        {"fp4oracle.recipe", recipe->name},
        {"fp4oracle.format", format.text},
        {"fp4oracle.scale_layout", fpo_layout_name(layout)},
        {"fp4oracle.k", k},
        {"fp4oracle.source", json_string_value(valid_source)},
        {"fp4oracle.library_scale", library_scale}, /* last: only where there is one */
    };
    size_t metadata_count = sizeof metadata / sizeof metadata[0] - (tensor->has_tensor_scale ? 0 : 1);
    if (status == FPO_OK)
        status = fpo_safetensors_write(path, tensors, count, metadata, metadata_count, error);
    json_decref(valid_source);
    free(buffer);
    return status;
}

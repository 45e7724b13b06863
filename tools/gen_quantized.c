/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Operands of a vector from files of `fp4oracle quantize`: codes and scales as they are. */
#include "arguments.h"
#include "forms.h"
#include "gen.h"

#include <string.h>

bool fpo_is_quantized_file(const char *path)
{
    fpo_safetensors *file = NULL;
    if (fpo_safetensors_open(path, &file, NULL) != FPO_OK)
        return false;
    bool is = fpo_safetensors_find(file, "codes") != NULL && fpo_safetensors_find(file, "scale") != NULL &&
              fpo_safetensors_metadata(file, "fp4oracle.format") != NULL;
    fpo_safetensors_close(file);
    return is;
}

/* A tensor of rows x columns codes of `format`, copied into the vector. */
static fpo_status copy(fpo_vector *vector, const char *path, const fpo_tensor *tensor, fpo_format format, int64_t rows,
                       int64_t columns, const void **data, size_t *bytes, fpo_error *error)
{
    fpo_error found;
    if (fpo_form_check(tensor, format, rows, columns, &found) != FPO_OK)
        return fpo_fail(error, found.status, "%.120s: %.300s", path, found.message);
    void *to = fpo_vector_allocate(vector, tensor->bytes);
    if (to == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu bytes of %.120s", tensor->bytes, path);
    memcpy(to, tensor->data, tensor->bytes);
    *data = to;
    *bytes = tensor->bytes;
    return FPO_OK;
}

/* The number of K: what the file says of itself, for an odd one cannot be told from 4-bit codes. */
static fpo_status find_k(const fpo_safetensors *file, const fpo_tensor *codes, int64_t *k, fpo_error *error)
{
    const char *text = fpo_safetensors_metadata(file, "fp4oracle.k");
    if (codes->rank != 2 || text == NULL)
        return fpo_fail(error, FPO_ERR_FILE, "%.120s: this is no file of `fp4oracle quantize`",
                        fpo_safetensors_path(file));
    return fpo_parse_integer("fp4oracle.k", text, 1, INT32_MAX, k, error);
}

static fpo_status load(fpo_vector *vector, const fpo_safetensors *file, fpo_block_format format, fpo_operand *operand,
                       int64_t *rows, int64_t *k, fpo_error *error)
{
    const char *path = fpo_safetensors_path(file);
    const fpo_block_format_info *info = fpo_block_format_describe(format);
    const char *held = fpo_safetensors_metadata(file, "fp4oracle.format");
    const char *layout = fpo_safetensors_metadata(file, "fp4oracle.scale_layout");
    if (strcmp(held, info->name) != 0)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%.120s holds %.40s, not %s", path, held, info->name);
    if (layout == NULL || strcmp(layout, fpo_layout_name(FPO_LAYOUT_LINEAR)) != 0)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%.120s: its scales are not linear: quantize without --layout",
                        path);
    if (fpo_safetensors_find(file, "row_scale") != NULL)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "%.120s: a scale per row besides block scales has no place in a GEMM here", path);
    const fpo_tensor *codes = fpo_safetensors_find(file, "codes"), *scale = fpo_safetensors_find(file, "scale");
    const fpo_scale_view *view = &info->view.scale;
    fpo_status status = find_k(file, codes, k, error);
    *rows = codes->shape[0];
    if (status == FPO_OK)
        status =
            copy(vector, path, codes, info->view.element, *rows, *k, &operand->codes, &operand->codes_bytes, error);
    if (status == FPO_OK)
        status = copy(vector, path, scale, view->format, fpo_scale_rows(view, *rows), fpo_scale_columns(view, *k),
                      &operand->scales, &operand->scales_bytes, error);
    const fpo_tensor *tensor_scale = fpo_safetensors_find(file, "tensor_scale");
    operand->tensor_scale = 1;
    if (status == FPO_OK && tensor_scale != NULL) {
        if (tensor_scale->dtype != FPO_DTYPE_F32 || tensor_scale->elements != 1)
            return fpo_fail(error, FPO_ERR_FILE, "%.120s: tensor_scale is not one f32", path);
        memcpy(&operand->tensor_scale, tensor_scale->data, sizeof operand->tensor_scale);
    }
    return status;
}

fpo_status fpo_gen_quantized(fpo_vector *vector, const char *path, fpo_block_format format, fpo_operand *operand,
                             int64_t *rows, int64_t *k, fpo_error *error)
{
    fpo_safetensors *file = NULL;
    fpo_status status = fpo_safetensors_open(path, &file, error);
    if (status == FPO_OK)
        status = load(vector, file, format, operand, rows, k, error);
    fpo_safetensors_close(file);
    return status;
}

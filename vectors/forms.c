/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How a matrix of codes is stored as a tensor. */
#include "forms.h"

#include "text.h"

#include <fp4oracle/layout.h>
#include <stdio.h>

static fpo_dtype dtype_of(fpo_format format)
{
    switch (format) {
    case FPO_E4M3:
    case FPO_UE4M3: return FPO_DTYPE_F8_E4M3;
    case FPO_E5M2: return FPO_DTYPE_F8_E5M2;
    case FPO_F16: return FPO_DTYPE_F16;
    case FPO_BF16: return FPO_DTYPE_BF16;
    case FPO_F32: return FPO_DTYPE_F32;
    case FPO_TF32: return FPO_DTYPE_U32; /* 19-bit codes, not floats */
    default: return FPO_DTYPE_U8;
    }
}

bool fpo_form_of(fpo_format format, int64_t rows, int64_t columns, fpo_tensor *tensor)
{
    int64_t bytes;
    tensor->dtype = dtype_of(format);
    tensor->rank = 2;
    tensor->shape[0] = rows;
    tensor->shape[1] = fpo_format_describe(format)->bits == 4 ? columns / 2 + columns % 2 : columns;
    if (!fpo_shape_size(tensor->dtype, 2, tensor->shape, &tensor->elements, &bytes))
        return false;
    tensor->bytes = (size_t)bytes;
    return true;
}

static bool same_shape(const fpo_tensor *tensor, int64_t rows, int64_t columns)
{
    switch (tensor->rank) {
    case 0: return rows == 1 && columns == 1;
    case 1: return (rows == 1 && tensor->shape[0] == columns) || (columns == 1 && tensor->shape[0] == rows);
    case 2: return tensor->shape[0] == rows && tensor->shape[1] == columns;
    default: return false;
    }
}

static void print_shape(const fpo_tensor *tensor, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < tensor->rank && at + 24 < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%lld", i ? ", " : "", (long long)tensor->shape[i]);
}

fpo_status fpo_form_check(const fpo_tensor *tensor, fpo_format format, int64_t rows, int64_t columns, fpo_error *error)
{
    fpo_tensor form;
    const fpo_format_info *info = fpo_format_describe(format);
    if (!fpo_form_of(format, rows, columns, &form))
        return fpo_fail(error, FPO_ERR_SHAPE, "tensor %s: %lld x %lld codes of %s are too many",
                        fpo_shown(tensor->name).text, (long long)rows, (long long)columns, info->name);
    bool usual = tensor->dtype == form.dtype || (info->storage_bytes == 1 && tensor->dtype == FPO_DTYPE_U8) ||
                 (format == FPO_UE8M0 && tensor->dtype == FPO_DTYPE_F8_E8M0);
    if (usual && same_shape(tensor, form.shape[0], form.shape[1]))
        return FPO_OK;
    if (format == FPO_E2M1 && tensor->dtype == FPO_DTYPE_F4 && columns % 2 == 0 && same_shape(tensor, rows, columns))
        return FPO_OK;
    char shape[128];
    print_shape(tensor, shape, sizeof(shape));
    return fpo_fail(error, FPO_ERR_SHAPE, "tensor %s is %s [%s], but %lld x %lld codes of %s are %s [%lld, %lld]",
                    fpo_shown(tensor->name).text, fpo_dtype_name(tensor->dtype), shape, (long long)rows,
                    (long long)columns, info->name, fpo_dtype_name(form.dtype), (long long)form.shape[0],
                    (long long)form.shape[1]);
}

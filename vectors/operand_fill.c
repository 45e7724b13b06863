/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Operands filled code by code. */
#include "operand_fill.h"

#include <math.h>
#include <stdlib.h>

/* rows * row_bytes, or 0 if that is no size. */
static size_t size_of(int64_t rows, int64_t row_bytes)
{
    int64_t size;
    return rows > 0 && row_bytes > 0 && !__builtin_mul_overflow(rows, row_bytes, &size) ? (size_t)size : 0;
}

static fpo_status allocate(fpo_vector *vector, int64_t rows, int64_t row_bytes, void **buffer, size_t *size,
                           fpo_error *error)
{
    *size = size_of(rows, row_bytes);
    if (*size == 0)
        return fpo_fail(error, FPO_ERR_SHAPE, "%lld rows of %lld bytes are no operand", (long long)rows,
                        (long long)row_bytes);
    *buffer = fpo_vector_allocate(vector, *size);
    return *buffer ? FPO_OK : fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu bytes of an operand", *size);
}

fpo_status fpo_fill_operand(fpo_vector *vector, const fpo_operand_view *view, int64_t rows, int64_t k, fpo_code_at code,
                            fpo_code_at scale, const void *context, fpo_operand *operand, fpo_error *error)
{
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, view->element, k);
    void *codes, *scales;
    fpo_status status = allocate(vector, rows, row_bytes, &codes, &operand->codes_bytes, error);
    if (status != FPO_OK)
        return status;
    operand->codes = codes;
    void *row = malloc((size_t)k * fpo_format_describe(view->element)->storage_bytes);
    if (!row)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for a row of %lld codes", (long long)k);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < k; i++)
            fpo_store_code(view->element, row, (size_t)i, code(context, r, i));
        fpo_pack_row(FPO_PACKING_CANONICAL, view->element, k, row, (char *)codes + r * row_bytes);
    }
    free(row);

    if (view->scale.format == FPO_FORMAT_NONE)
        return FPO_OK;
    int64_t scale_rows = fpo_scale_rows(&view->scale, rows), columns = fpo_scale_columns(&view->scale, k);
    status = allocate(vector, scale_rows, columns * fpo_format_describe(view->scale.format)->storage_bytes, &scales,
                      &operand->scales_bytes, error);
    if (status != FPO_OK)
        return status;
    operand->scales = scales;
    for (int64_t r = 0; r < scale_rows; r++)
        for (int64_t i = 0; i < columns; i++)
            fpo_store_code(view->scale.format, scales, (size_t)(r * columns + i), scale(context, r, i));
    return FPO_OK;
}

void fpo_list_finite_codes(fpo_format format, fpo_finite_codes *list)
{
    const fpo_format_info *info = fpo_format_describe(format);
    list->count = 0;
    for (uint32_t code = 0; info->bits <= 8 && code <= info->code_mask; code++) {
        fpo_class kind = fpo_decode(format, code).kind;
        if (kind == FPO_FINITE || kind == FPO_ZERO)
            list->codes[list->count++] = (uint8_t)code;
    }
}

uint32_t fpo_code_of_power(fpo_format format, bool negative, int exponent)
{
    return fpo_encode_double(format, negative ? -ldexp(1, exponent) : ldexp(1, exponent),
                             fpo_cast_describe(FPO_CAST_PTX));
}

void fpo_power_range(fpo_format format, int *smallest, int *largest)
{
    enum { LIMIT = 64 };
    const fpo_format_info *info = fpo_format_describe(format);
    *smallest = info->quantum > -LIMIT ? info->quantum : -LIMIT;
    *largest = info->max_exponent < LIMIT ? info->max_exponent : LIMIT;
}

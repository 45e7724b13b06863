/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Operands as the kernel reads them: canonical bytes, to the bytes that are stored, to what they are taken for. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

/* rows * columns * bytes, or -1 where that is no size. */
static int64_t extent(int64_t rows, int64_t columns, int64_t bytes)
{
    int64_t size;
    if (rows < 0 || columns < 0 || bytes < 0 || __builtin_mul_overflow(rows, columns, &size) ||
        __builtin_mul_overflow(size, bytes, &size) || (uint64_t)size > SIZE_MAX / 2)
        return -1;
    return size;
}

static bool same_scales(const fpo_scale_view *x, const fpo_scale_view *y)
{
    return x->format == y->format && x->block_rows == y->block_rows && x->block_k == y->block_k &&
           x->layout == y->layout;
}

static fpo_status no_memory(const char *name, const char *what, int64_t rows, int64_t columns, fpo_error *error)
{
    return fpo_fail(error, FPO_ERR_MEMORY, "%s: no memory for %s of %lld x %lld", name, what, (long long)rows,
                    (long long)columns);
}

static void mask_codes(fpo_format format, void *codes, int64_t count)
{
    const fpo_format_info *info = fpo_format_describe(format);
    if (info->bits == 8 * info->storage_bytes)
        return;
    if (info->storage_bytes == 1) {
        uint8_t *bytes = codes;
        for (int64_t i = 0; i < count; i++)
            bytes[i] &= (uint8_t)info->code_mask;
        return;
    }
    for (int64_t i = 0; i < count; i++)
        fpo_store_code(format, codes, (size_t)i, fpo_load_code(format, codes, (size_t)i) & info->code_mask);
}

/* ---- codes ---- */

/* The operand packed as it is stored, padded with `slack` zero bytes; `needed`: NULL, or which rows of it will be read.
 */
static unsigned char *store_codes(const fpo_operand_view *stored, const fpo_operand *operand, int64_t rows, int64_t k,
                                  int64_t slack, const bool *needed)
{
    int64_t canonical = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, stored->element, k);
    int64_t row_bytes = fpo_packing_row_bytes(stored->packing, stored->element, k);
    int64_t unpacked = extent(1, k, fpo_format_describe(stored->element)->storage_bytes);
    int64_t size = extent(rows, row_bytes, 1);
    if (size < 0 || unpacked < 0 || size > INT64_MAX - slack)
        return NULL;

    unsigned char *bytes = calloc((size_t)(size + slack), 1);
    unsigned char *row = malloc((size_t)unpacked);
    if (bytes == NULL || row == NULL) {
        free(bytes);
        free(row);
        return NULL;
    }
    for (int64_t r = 0; r < rows; r++) {
        const unsigned char *from = (const unsigned char *)operand->codes + r * canonical;
        if (needed != NULL && !needed[r])
            continue;
        fpo_unpack_row(FPO_PACKING_CANONICAL, stored->element, k, from, row);
        fpo_pack_row(stored->packing, stored->element, k, row, bytes + r * row_bytes);
    }
    free(row);
    return bytes;
}

/* Codes of the same format in the same packing: what is stored is what is read. */
static void unpack_same(const fpo_operand *operand, const bool *wanted, fpo_prepared *p, int64_t unpacked)
{
    int64_t canonical = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, p->element, p->k);
    for (int64_t r = 0; r < p->rows; r++) {
        if (wanted != NULL && !wanted[r])
            continue;
        unsigned char *to = (unsigned char *)p->codes + r * unpacked;
        fpo_unpack_row(FPO_PACKING_CANONICAL, p->element, p->k, (const unsigned char *)operand->codes + r * canonical,
                       to);
        mask_codes(p->element, to, p->k);
    }
}

/* The stored rows that the wanted ones reach into; NULL: all of them. */
static bool *needed_rows(const bool *wanted, int64_t rows, int64_t stored_row, int64_t read_row)
{
    bool *needed = wanted != NULL ? calloc((size_t)rows, sizeof *needed) : NULL;
    for (int64_t r = 0; needed != NULL && r < rows; r++) {
        if (!wanted[r] || read_row == 0 || stored_row == 0)
            continue;
        int64_t last = (r * read_row + read_row - 1) / stored_row;
        for (int64_t s = r * read_row / stored_row; s <= last && s < rows; s++)
            needed[s] = true;
    }
    return needed;
}

static bool unpack_other(const fpo_operand_spec *spec, const fpo_operand *operand, const bool *wanted, fpo_prepared *p,
                         int64_t unpacked)
{
    int64_t stored_size = extent(p->rows, fpo_packing_row_bytes(spec->stored.packing, spec->stored.element, p->k), 1);
    int64_t read_row = fpo_packing_row_bytes(spec->read.packing, spec->read.element, p->k);
    int64_t read_size = extent(p->rows, read_row, 1);
    if (stored_size < 0 || read_size < 0)
        return false;
    bool *needed = needed_rows(wanted, p->rows, stored_size / p->rows, read_row);
    unsigned char *bytes = store_codes(&spec->stored, operand, p->rows, p->k,
                                       read_size > stored_size ? read_size - stored_size : 0, needed);
    free(needed);
    if (bytes == NULL)
        return false;
    for (int64_t r = 0; r < p->rows; r++) {
        if (wanted != NULL && !wanted[r])
            continue;
        unsigned char *to = (unsigned char *)p->codes + r * unpacked;
        fpo_unpack_row(spec->read.packing, p->element, p->k, bytes + r * read_row, to);
        mask_codes(p->element, to, p->k);
    }
    free(bytes);
    return true;
}

static fpo_status prepare_codes(const fpo_operand_spec *spec, const fpo_operand *operand, const char *name,
                                const bool *wanted, fpo_prepared *p, fpo_error *error)
{
    int64_t unpacked = extent(1, p->k, fpo_format_describe(p->element)->storage_bytes);
    int64_t size = extent(p->rows, unpacked, 1);

    p->codes = size < 0 ? NULL : malloc((size_t)size + 1); /* rows that nobody wants stay as they are */
    if (p->codes == NULL)
        return no_memory(name, "codes", p->rows, p->k, error);
    if (spec->stored.element == spec->read.element && spec->stored.packing == spec->read.packing)
        unpack_same(operand, wanted, p, unpacked);
    else if (!unpack_other(spec, operand, wanted, p, unpacked))
        return no_memory(name, "stored codes", p->rows, p->k, error);
    return FPO_OK;
}

/* ---- scales ---- */

/* The scale buffer as it is stored, and its size in bytes. */
static unsigned char *store_scales(const fpo_scale_view *stored, const fpo_operand *operand, int64_t rows, int64_t k,
                                   int64_t *size)
{
    int64_t r = fpo_scale_rows(stored, rows), c = fpo_scale_columns(stored, k);
    int64_t element_bytes = fpo_format_describe(stored->format)->storage_bytes;
    *size = extent(fpo_layout_size(stored->layout, r, c), 1, element_bytes);
    unsigned char *bytes = *size < 0 ? NULL : malloc((size_t)*size);
    if (bytes != NULL)
        fpo_layout_apply(stored->layout, r, c, (size_t)element_bytes, operand->scales, bytes, 0);
    return bytes;
}

/* Whether a wanted row has its scales in row r of the matrix. */
static bool is_wanted_scale_row(const bool *wanted, const fpo_prepared *p, int64_t r)
{
    int64_t each = p->scale.block_rows > 0 ? p->scale.block_rows : p->rows;
    for (int64_t row = r * each; wanted != NULL && row < (r + 1) * each && row < p->rows; row++)
        if (wanted[row])
            return true;
    return wanted == NULL;
}

static fpo_status prepare_scales(const fpo_operand_spec *spec, const fpo_operand *operand, const char *name,
                                 const bool *wanted, fpo_prepared *p, fpo_error *error)
{
    const fpo_scale_view *read = &spec->read.scale;
    if (read->format == FPO_FORMAT_NONE)
        return FPO_OK;

    int64_t element_bytes = fpo_format_describe(read->format)->storage_bytes;
    int64_t count = extent(p->scale_rows, p->scale_columns, 1);
    int64_t size = extent(count, 1, element_bytes);
    if (fpo_layout_size(read->layout, p->scale_rows, p->scale_columns) < 0)
        size = -1;
    p->scales = size < 0 ? NULL : calloc((size_t)size, 1);
    if (p->scales == NULL)
        return no_memory(name, "scales", p->scale_rows, p->scale_columns, error);

    if (same_scales(&spec->stored.scale, read)) {
        size_t row = (size_t)(p->scale_columns * element_bytes);
        for (int64_t r = 0; r < p->scale_rows; r++)
            if (is_wanted_scale_row(wanted, p, r))
                memcpy((char *)p->scales + (size_t)r * row, (const char *)operand->scales + (size_t)r * row, row);
    } else {
        int64_t stored_size;
        unsigned char *bytes = store_scales(&spec->stored.scale, operand, p->rows, p->k, &stored_size);
        if (bytes == NULL)
            return no_memory(name, "stored scales", p->scale_rows, p->scale_columns, error);
        unsigned char *to = p->scales;
        for (int64_t r = 0; r < p->scale_rows; r++) {
            if (!is_wanted_scale_row(wanted, p, r)) {
                to += p->scale_columns * element_bytes;
                continue;
            }
            for (int64_t c = 0; c < p->scale_columns; c++, to += element_bytes) {
                int64_t at = fpo_layout_offset(read->layout, p->scale_rows, p->scale_columns, r, c);
                int64_t left = at < stored_size / element_bytes + 1 ? stored_size - at * element_bytes : 0;
                if (left > 0)
                    memcpy(to, bytes + at * element_bytes, (size_t)(left < element_bytes ? left : element_bytes));
            }
        }
        free(bytes);
    }
    for (int64_t r = 0; r < p->scale_rows; r++)
        if (is_wanted_scale_row(wanted, p, r))
            mask_codes(read->format, (char *)p->scales + r * p->scale_columns * element_bytes, p->scale_columns);
    return FPO_OK;
}

/* ---- NaN and infinity ---- */

static unsigned classes_of(fpo_format format, const void *codes, int64_t first, int64_t count)
{
    const fpo_format_info *info = fpo_format_describe(format);
    uint32_t exponent_mask = ((1u << info->exponent_bits) - 1) << info->mantissa_bits;
    unsigned classes = 0;
    if (info->specials == FPO_SPECIALS_NONE)
        return 0;
    for (int64_t i = first; i < first + count; i++) {
        uint32_t code = fpo_load_code(format, codes, (size_t)i);
        if ((code & exponent_mask) != exponent_mask)
            continue;
        fpo_class kind = fpo_decode(format, code).kind;
        classes |= kind == FPO_NAN ? FPO_ROW_NAN : kind == FPO_INFINITE ? FPO_ROW_INFINITE : 0u;
    }
    return classes;
}

static fpo_status classify_rows(const char *name, const bool *wanted, fpo_prepared *p, fpo_error *error)
{
    p->row_classes = calloc((size_t)p->rows, 1);
    if (p->row_classes == NULL)
        return no_memory(name, "rows", p->rows, 1, error);
    bool scales_count = p->scale.format != FPO_FORMAT_NONE && p->scale.block_k > 0;
    for (int64_t r = 0; r < p->rows; r++) {
        if (wanted != NULL && !wanted[r])
            continue;
        unsigned classes = classes_of(p->element, p->codes, r * p->k, p->k);
        if (scales_count)
            classes |= classes_of(p->scale.format, p->scales, fpo_scale_index(p, r, 0), p->scale_columns);
        p->row_classes[r] = (uint8_t)classes;
    }
    return FPO_OK;
}

static float use_tensor_scale(fpo_tensor_scale_use use, float scale)
{
    switch (use) {
    case FPO_TENSOR_SCALE_DIVIDE: return 1.0f / scale;
    case FPO_TENSOR_SCALE_IGNORE: return 1.0f;
    case FPO_TENSOR_SCALE_TWICE: return scale * scale;
    case FPO_TENSOR_SCALE_MULTIPLY: break;
    }
    return scale;
}

fpo_status fpo_prepare(const fpo_operand_spec *spec, const fpo_operand *operand, int64_t rows, int64_t k,
                       const char *name, const bool *wanted, fpo_prepared *prepared, fpo_error *error)
{
    fpo_prepared p = {.rows = rows,
                      .k = k,
                      .element = spec->read.element,
                      .scale = spec->read.scale,
                      .scale_rows = fpo_scale_rows(&spec->read.scale, rows),
                      .scale_columns = fpo_scale_columns(&spec->read.scale, k),
                      .tensor_scale = use_tensor_scale(spec->tensor_scale, operand->tensor_scale)};
    p.scale.layout = FPO_LAYOUT_LINEAR;
    fpo_status status = prepare_codes(spec, operand, name, wanted, &p, error);
    if (status == FPO_OK)
        status = prepare_scales(spec, operand, name, wanted, &p, error);
    if (status == FPO_OK)
        status = classify_rows(name, wanted, &p, error);
    if (status == FPO_OK)
        *prepared = p;
    else
        fpo_prepared_free(&p);
    return status;
}

void fpo_prepared_free(fpo_prepared *prepared)
{
    free(prepared->codes);
    free(prepared->scales);
    free(prepared->row_classes);
    prepared->row_classes = NULL;
    prepared->codes = NULL;
    prepared->scales = NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The twin's operands: bytes as they are stored, and codes by place as they are read. */
#include "twin.h"

#include <stdlib.h>
#include <string.h>

static int64_t ceiling(int64_t x, int64_t y)
{
    return x / y + (x % y > 0);
}

/* Bytes of one unpacked code; 0 for a format that the twin does not know. */
static int64_t code_bytes(fpo_format format)
{
    switch (format) {
    case FPO_E2M1:
    case FPO_E2M3:
    case FPO_E3M2:
    case FPO_E4M3:
    case FPO_E5M2:
    case FPO_UE8M0:
    case FPO_UE4M3: return 1;
    case FPO_F16:
    case FPO_BF16: return 2;
    case FPO_TF32:
    case FPO_F32: return 4;
    default: return 0;
    }
}

static bool knows_formats(const fpo_operand_view *view)
{
    return code_bytes(view->element) > 0 &&
           (view->scale.format == FPO_FORMAT_NONE || code_bytes(view->scale.format) > 0);
}

static bool knows_packing(const fpo_operand_view *view)
{
    return view->packing == FPO_PACKING_CANONICAL || view->packing == FPO_PACKING_NIBBLES_SWAPPED;
}

static bool knows_layout(const fpo_operand_view *view)
{
    return view->scale.format == FPO_FORMAT_NONE || view->scale.layout == FPO_LAYOUT_LINEAR ||
           view->scale.layout == FPO_LAYOUT_128X4;
}

static bool same_packing(const fpo_operand_view *x, const fpo_operand_view *y)
{
    return x->element == y->element && x->packing == y->packing;
}

static bool same_layout(const fpo_scale_view *x, const fpo_scale_view *y)
{
    return x->layout == y->layout && x->block_rows == y->block_rows && x->block_k == y->block_k &&
           x->format == y->format;
}

static int64_t scale_rows(const fpo_scale_view *view, int64_t rows)
{
    return view->block_rows == 0 ? 1 : ceiling(rows, view->block_rows);
}

static int64_t scale_columns(const fpo_scale_view *view, int64_t k)
{
    return view->block_k == 0 ? 1 : ceiling(k, view->block_k);
}

static int64_t row_bytes(fpo_format element, int64_t k)
{
    return element == FPO_E2M1 ? ceiling(k, 2) : k * code_bytes(element);
}

/* Number of a scale in memory: r*C + c, or tiles of 128 rows by 4 scales in which row r is at (r%32)*16 + r/32*4. */
static int64_t place(fpo_layout layout, int64_t columns, int64_t row, int64_t column)
{
    if (layout == FPO_LAYOUT_LINEAR)
        return row * columns + column;
    int64_t tile = row / 128 * ceiling(columns, 4) + column / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

static int64_t places(fpo_layout layout, int64_t rows, int64_t columns)
{
    if (layout == FPO_LAYOUT_LINEAR)
        return rows * columns;
    return ceiling(rows, 128) * ceiling(columns, 4) * 512;
}

static uint32_t little_endian(const uint8_t *bytes, int64_t size, int64_t at, int64_t count)
{
    uint32_t code = 0;
    for (int64_t i = 0; i < count; i++)
        code += (uint32_t)(at + i < size ? bytes[at + i] : 0) << (8 * i);
    return code;
}

static bool store_scales(fpo_twin_operand *o)
{
    const fpo_scale_view *stored = &o->spec->stored.scale;
    int64_t rows = scale_rows(stored, o->rows), columns = scale_columns(stored, o->k);
    int64_t bytes = code_bytes(stored->format);
    int64_t size = places(stored->layout, rows, columns) * bytes;
    o->own_scales = calloc((size_t)size, 1);
    if (o->own_scales == NULL)
        return false;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++)
            memcpy(o->own_scales + place(stored->layout, columns, r, c) * bytes, o->scales + (r * columns + c) * bytes,
                   (size_t)bytes);
    }
    o->scales = o->own_scales;
    o->scales_size = size;
    return true;
}

static bool swap_nibbles(fpo_twin_operand *o)
{
    o->own_codes = malloc((size_t)o->codes_size);
    if (o->own_codes == NULL)
        return false;
    for (int64_t i = 0; i < o->codes_size; i++)
        o->own_codes[i] = (uint8_t)(o->codes[i] % 16 * 16 + o->codes[i] / 16);
    o->codes = o->own_codes;
    return true;
}

static void use_tensor_scale(fpo_tensor_scale_use use, float scale, fpo_twin_value *value)
{
    switch (use) {
    case FPO_TENSOR_SCALE_MULTIPLY: break;
    case FPO_TENSOR_SCALE_IGNORE: scale = 1.0f; break;
    case FPO_TENSOR_SCALE_DIVIDE: scale = 1.0f / scale; break; /* a quotient is no finite sum of digits */
    case FPO_TENSOR_SCALE_TWICE:
        fpo_twin_float(value, scale);
        fpo_twin_multiply(value, value, value);
        fpo_twin_round(FPO_F32, value);
        return;
    }
    fpo_twin_float(value, scale);
}

fpo_status fpo_twin_open(const fpo_operand_spec *spec, const fpo_operand *operand, int64_t rows, int64_t k,
                         const char *name, fpo_twin_operand *opened, fpo_error *error)
{
    fpo_twin_operand o = {.spec = spec,
                          .rows = rows,
                          .k = k,
                          .codes = operand->codes,
                          .codes_size = (int64_t)operand->codes_bytes,
                          .scales = operand->scales,
                          .scales_size = (int64_t)operand->scales_bytes};
    o.plain_codes = same_packing(&spec->stored, &spec->read);
    o.plain_scales = same_layout(&spec->stored.scale, &spec->read.scale);
    if (!knows_formats(&spec->stored) || !knows_formats(&spec->read) ||
        (!o.plain_codes && (!knows_packing(&spec->stored) || !knows_packing(&spec->read))) ||
        (!o.plain_scales && (!knows_layout(&spec->stored) || !knows_layout(&spec->read))))
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "%s: the reference twin does not know this format, packing or layout", name);
    use_tensor_scale(spec->tensor_scale, operand->tensor_scale, &o.tensor_scale);
    /* An odd row's spare nibble is zero in either packing. */
    bool stored = o.plain_codes || spec->stored.element != FPO_E2M1 || spec->stored.packing == FPO_PACKING_CANONICAL ||
                  swap_nibbles(&o);
    if (stored && !o.plain_scales && spec->stored.scale.format != FPO_FORMAT_NONE &&
        spec->stored.scale.layout != FPO_LAYOUT_LINEAR)
        stored = store_scales(&o);
    *opened = o;
    if (!stored) {
        fpo_twin_close(opened);
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: no memory for the operand as it is stored", name);
    }
    return FPO_OK;
}

void fpo_twin_close(fpo_twin_operand *operand)
{
    free(operand->own_codes);
    free(operand->own_scales);
    operand->own_codes = operand->own_scales = NULL;
}

uint32_t fpo_twin_element(const fpo_twin_operand *o, int64_t row, int64_t k)
{
    fpo_format element = o->spec->read.element;
    int64_t at = row * row_bytes(element, o->k);
    if (element == FPO_E2M1) {
        uint32_t byte = little_endian(o->codes, o->codes_size, at + k / 2, 1);
        bool swapped = !o->plain_codes && o->spec->read.packing == FPO_PACKING_NIBBLES_SWAPPED;
        bool high = (k % 2 == 1) != swapped;
        return high ? byte / 16 : byte % 16;
    }
    int64_t bytes = code_bytes(element);
    return little_endian(o->codes, o->codes_size, at + k * bytes, bytes);
}

uint32_t fpo_twin_scale(const fpo_twin_operand *o, int64_t row, int64_t column)
{
    const fpo_scale_view *view = &o->spec->read.scale;
    int64_t columns = scale_columns(view, o->k), bytes = code_bytes(view->format);
    int64_t r = view->block_rows == 0 ? 0 : row / view->block_rows;
    fpo_layout layout = o->plain_scales ? FPO_LAYOUT_LINEAR : view->layout;
    return little_endian(o->scales, o->scales_size, place(layout, columns, r, column) * bytes, bytes);
}

bool fpo_twin_has_block_scale(const fpo_twin_operand *o)
{
    return o->spec->read.scale.format != FPO_FORMAT_NONE && o->spec->read.scale.block_k > 0;
}

void fpo_twin_block_scale(const fpo_twin_operand *o, int64_t row, int64_t k, fpo_twin_value *scale)
{
    if (fpo_twin_has_block_scale(o))
        fpo_twin_decode(o->spec->read.scale.format, fpo_twin_scale(o, row, k / o->spec->read.scale.block_k), scale);
    else
        fpo_twin_float(scale, 1.0f);
}

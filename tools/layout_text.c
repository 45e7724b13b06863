/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Formulas of layouts and packings as text. */
#include "layout_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(fpo_formula *f, const char *format, ...) FPO_PRINTF(2, 3);

static void put(fpo_formula *f, const char *format, ...)
{
    size_t length = strlen(f->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->text + length, sizeof f->text - length, format, arguments);
    va_end(arguments);
}

/* " + m%32*16 + m/32%4*4": the digits that are worth something. */
static void put_digits(fpo_formula *f, const fpo_digit *digits, const char *index)
{
    int below = 1;
    for (int i = 0; i < FPO_DIGITS && digits[i].extent != 0; i++) {
        int extent = digits[i].extent, stride = digits[i].stride;
        if (extent > 1 && stride != 0) {
            put(f, stride < 0 ? " - %s" : " + %s", index);
            if (below > 1)
                put(f, "/%d", below);
            put(f, "%%%d", extent);
            if (stride != 1 && stride != -1)
                put(f, "*%d", stride < 0 ? -stride : stride);
        }
        below *= extent;
    }
}

/* Tiles along one side of n: "R", "ceil(R/4)", "ceil(R/4)*4". */
static void put_tiles(fpo_formula *f, const char *n, int tile, int multiple)
{
    int unit = multiple > tile ? multiple : tile;
    put(f, unit > 1 ? "ceil(%s/%d)" : "%s", n, unit);
    if (unit / tile > 1)
        put(f, "*%d", unit / tile);
}

static void put_tile_of(fpo_formula *f, const char *index, int tile)
{
    put(f, tile > 1 ? "%s/%d" : "%s", index, tile);
}

fpo_formula fpo_layout_formula(const fpo_layout_info *info)
{
    fpo_formula f = {""};
    bool by_row = info->order == FPO_TILES_BY_ROW;
    int slow = by_row ? info->tile_rows : info->tile_columns, fast = by_row ? info->tile_columns : info->tile_rows;
    int multiple = by_row ? 1 : info->row_multiple;
    bool product = multiple > fast && fast > 0 && multiple / fast > 1;
    put(&f, info->tile_distance > 1 ? "(" : "");
    put_tile_of(&f, by_row ? "m" : "s", slow);
    put(&f, product ? " * (" : " * ");
    put_tiles(&f, by_row ? "S" : "R", fast, multiple);
    put(&f, product ? ") + " : " + ");
    put_tile_of(&f, by_row ? "s" : "m", fast);
    if (info->tile_distance > 1)
        put(&f, ") * %d", info->tile_distance);
    put_digits(&f, info->row, "m");
    put_digits(&f, info->column, "s");
    return f;
}

fpo_formula fpo_layout_size_formula(const fpo_layout_info *info)
{
    fpo_formula f = {""};
    put_tiles(&f, "R", info->tile_rows, info->row_multiple);
    put(&f, " * ");
    put_tiles(&f, "S", info->tile_columns, 1);
    if (info->tile_distance > 1)
        put(&f, " * %d", info->tile_distance);
    return f;
}

fpo_formula fpo_layout_padding_text(const fpo_layout_info *info)
{
    fpo_formula f = {""};
    int rows = info->row_multiple > info->tile_rows ? info->row_multiple : info->tile_rows;
    if (rows > 1)
        put(&f, "rows to a multiple of %d", rows);
    if (info->tile_columns > 1)
        put(&f, "%sscales of a row to a multiple of %d", rows > 1 ? ", " : "", info->tile_columns);
    if (f.text[0] == '\0')
        put(&f, "none");
    return f;
}

fpo_formula fpo_packing_formula(const fpo_packing_info *info)
{
    fpo_formula f = {""};
    put(&f, info->codes > 1 ? "k/%d*%d" : "k*%d", info->codes > 1 ? info->codes : info->bytes * 8, info->bytes * 8);
    if (info->first != 0)
        put(&f, " + %d", info->first);
    put_digits(&f, info->digits, "k");
    return f;
}

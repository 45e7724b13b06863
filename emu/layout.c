/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Scale layouts: the one formula over the registry's numbers, and the copies both ways. */
#include <fp4oracle/layout.h>

#include <string.h>

static const fpo_layout_info layouts[FPO_LAYOUT_COUNT] = {
#define ROW(...)                                                                                                       \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define COLUMN(...)                                                                                                    \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define FPO_LAYOUT(ID, name, tile_rows, tile_columns, distance, row_multiple, row, column, order, summary)             \
    [FPO_LAYOUT_##ID] = {name, summary, tile_rows, tile_columns, distance, row_multiple, row, column, order},
#include <fp4oracle/layouts.inc>
#undef FPO_LAYOUT
#undef ROW
#undef COLUMN
};

const fpo_layout_info *fpo_layout_describe(fpo_layout layout)
{
    return (unsigned)layout < FPO_LAYOUT_COUNT ? &layouts[layout] : NULL;
}

const char *fpo_layout_name(fpo_layout layout)
{
    return (unsigned)layout < FPO_LAYOUT_COUNT ? layouts[layout].name : "?";
}

const char *fpo_layout_summary(fpo_layout layout)
{
    return (unsigned)layout < FPO_LAYOUT_COUNT ? layouts[layout].summary : "?";
}

fpo_layout fpo_layout_by_name(const char *name)
{
    int layout = 0;
    while (layout < FPO_LAYOUT_COUNT && strcmp(layouts[layout].name, name) != 0)
        layout++;
    return (fpo_layout)layout;
}

/* Tiles along one side; -1 on overflow. */
static int64_t tiles(int64_t n, int64_t tile, int64_t multiple)
{
    int64_t unit = multiple > tile ? multiple : tile;
    if (n < 0 || n > INT64_MAX - (unit - 1))
        return -1;
    return (n + (unit - 1)) / unit * (unit / tile);
}

/* A stored matrix: offset(row, column) is a sum of a function of the row and a function of the column. */
typedef struct geometry {
    const fpo_layout_info *info;
    int64_t row_tile_stride, column_tile_stride;
} geometry;

static geometry measure(fpo_layout layout, int64_t rows, int64_t columns)
{
    const fpo_layout_info *info = &layouts[layout];
    int64_t tile = info->tile_distance;
    if (info->order == FPO_TILES_BY_ROW)
        return (geometry){info, tile * tiles(columns, info->tile_columns, 1), tile};
    return (geometry){info, tile, tile * tiles(rows, info->tile_rows, info->row_multiple)};
}

static int64_t weigh(const fpo_digit digits[FPO_DIGITS], int64_t index)
{
    int64_t sum = 0;
    for (int i = 0; i < FPO_DIGITS && digits[i].extent != 0; i++) {
        sum += index % digits[i].extent * digits[i].stride;
        index /= digits[i].extent;
    }
    return sum;
}

static int64_t row_offset(const geometry *g, int64_t row)
{
    return row / g->info->tile_rows * g->row_tile_stride + weigh(g->info->row, row);
}

static int64_t column_offset(const geometry *g, int64_t column)
{
    return column / g->info->tile_columns * g->column_tile_stride + weigh(g->info->column, column);
}

int64_t fpo_layout_size(fpo_layout layout, int64_t rows, int64_t columns)
{
    const fpo_layout_info *info = fpo_layout_describe(layout);
    if (info == NULL)
        return -1;
    int64_t r = tiles(rows, info->tile_rows, info->row_multiple);
    int64_t c = tiles(columns, info->tile_columns, 1);
    int64_t size;
    if (r < 0 || c < 0 || __builtin_mul_overflow(r, c, &size) ||
        __builtin_mul_overflow(size, (int64_t)info->tile_distance, &size))
        return -1;
    return size;
}

int64_t fpo_layout_offset(fpo_layout layout, int64_t rows, int64_t columns, int64_t row, int64_t column)
{
    geometry g = measure(layout, rows, columns);
    return row_offset(&g, row) + column_offset(&g, column);
}

/* Copies between the linear matrix and the stored one; `apply` says in which direction. */
static void copy_scales(fpo_layout layout, int64_t rows, int64_t columns, size_t bytes, char *linear, char *stored,
                        bool apply)
{
    geometry g = measure(layout, rows, columns);
    for (int64_t row = 0; row < rows; row++) {
        char *l = linear + (size_t)(row * columns) * bytes;
        char *s = stored + (size_t)row_offset(&g, row) * bytes;
        for (int64_t column = 0; column < columns; column++, l += bytes) {
            char *at = s + (size_t)column_offset(&g, column) * bytes;
            memcpy(apply ? at : l, apply ? l : at, bytes);
        }
    }
}

void fpo_layout_apply(fpo_layout layout, int64_t rows, int64_t columns, size_t element_bytes, const void *from,
                      void *to, int fill)
{
    memset(to, fill, (size_t)fpo_layout_size(layout, rows, columns) * element_bytes);
    fpo_layout_scatter(layout, rows, columns, element_bytes, from, to);
}

void fpo_layout_scatter(fpo_layout layout, int64_t rows, int64_t columns, size_t element_bytes, const void *from,
                        void *to)
{
    copy_scales(layout, rows, columns, element_bytes, (char *)from, to, true);
}

void fpo_layout_undo(fpo_layout layout, int64_t rows, int64_t columns, size_t element_bytes, const void *from, void *to)
{
    copy_scales(layout, rows, columns, element_bytes, to, (char *)from, false);
}

bool fpo_layout_group_offsets(fpo_layout layout, size_t groups, const int64_t *group_rows, int64_t columns,
                              int64_t *offsets)
{
    offsets[0] = 0;
    for (size_t i = 0; i < groups; i++) {
        int64_t size = fpo_layout_size(layout, group_rows[i], columns);
        if (size < 0 || __builtin_add_overflow(offsets[i], size, &offsets[i + 1]))
            return false;
    }
    return true;
}

/* Source: FlashInfer group_gemm_mxfp4_groupwise_sm100.cuh, compute_sm100_cutlass_group_gemm_args; TensorRT-LLM's
 * fused MoE, getOffsetActivationSF. */
bool fpo_layout_group_offsets_spaced(fpo_layout layout, size_t groups, const int64_t *group_rows, int64_t columns,
                                     int64_t *offsets)
{
    const fpo_layout_info *info = fpo_layout_describe(layout);
    if (info == NULL)
        return false;
    int64_t padding = (int64_t)info->tile_rows * info->row_multiple;
    int64_t size = fpo_layout_size(layout, padding, columns), before = 0;
    offsets[0] = 0;
    for (size_t i = 0; i < groups; i++) {
        int64_t room;
        if (size < 0 || group_rows[i] < 0 || __builtin_add_overflow(before, group_rows[i], &before) ||
            __builtin_mul_overflow((int64_t)i + 1, padding - 1, &room) || __builtin_add_overflow(room, before, &room) ||
            __builtin_mul_overflow(room / padding, size, &offsets[i + 1]))
            return false;
    }
    return true;
}

/* Source: FlashInfer utils.py shuffle_matrix_a. */
int64_t fpo_trtllm_row(int64_t block, int64_t row)
{
    int64_t parts = block / 8, i = row % block;
    return row - i + i % parts * 8 + i / parts;
}

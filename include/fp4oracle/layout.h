/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Where scales and codes sit in memory: scale layouts and element packings. Each is a registry entry, a few numbers of
 * one closed formula, which works both ways. */
#ifndef FP4ORACLE_LAYOUT_H
#define FP4ORACLE_LAYOUT_H

#include <fp4oracle/format.h>

FPO_BEGIN_DECLS

typedef enum fpo_layout {
#define FPO_LAYOUT(ID, name, tile_rows, tile_columns, distance, row_multiple, row, column, order, summary)             \
    FPO_LAYOUT_##ID,
#include <fp4oracle/layouts.inc>
#undef FPO_LAYOUT
    FPO_LAYOUT_COUNT
} fpo_layout;

typedef enum fpo_tile_order { FPO_TILES_BY_ROW, FPO_TILES_BY_COLUMN } fpo_tile_order;

/* One digit of an index in mixed radix, least significant first, and what one unit of it is worth. */
typedef struct fpo_digit {
    int16_t extent, stride;
} fpo_digit;

enum { FPO_DIGITS = 4 }; /* a list of digits ends at extent 0 or when full */

/* See layouts.inc for the formula. */
typedef struct fpo_layout_info {
    const char *name;
    const char *summary;
    int16_t tile_rows, tile_columns;
    int16_t tile_distance; /* of neighbours, tile_rows * tile_columns where nothing lies between */
    int16_t row_multiple;  /* rows are padded to a multiple of this as well as to whole tiles */
    fpo_digit row[FPO_DIGITS], column[FPO_DIGITS];
    fpo_tile_order order;
} fpo_layout_info;

FPO_API const fpo_layout_info *fpo_layout_describe(fpo_layout layout); /* NULL for what is no layout */
FPO_API const char *fpo_layout_name(fpo_layout layout);
FPO_API const char *fpo_layout_summary(fpo_layout layout);
FPO_API fpo_layout fpo_layout_by_name(const char *name); /* FPO_LAYOUT_COUNT if there is none */

/* Number of scale elements, padding included, of `rows` scale rows with `columns` scales each; -1 if one of them is
 * negative or the number exceeds INT64_MAX. */
FPO_API int64_t fpo_layout_size(fpo_layout layout, int64_t rows, int64_t columns);
/* Offset in scale elements of scale (row, column). Within [0, fpo_layout_size) for every valid pair. */
FPO_API int64_t fpo_layout_offset(fpo_layout layout, int64_t rows, int64_t columns, int64_t row, int64_t column);
/* Linear to `layout`: `to` has fpo_layout_size elements of `element_bytes`; padding gets the byte `fill`. */
FPO_API void fpo_layout_apply(fpo_layout layout, int64_t rows, int64_t columns, size_t element_bytes, const void *from,
                              void *to, int fill);
/* The same without the fill: what is no scale stays as it is. */
FPO_API void fpo_layout_scatter(fpo_layout layout, int64_t rows, int64_t columns, size_t element_bytes,
                                const void *from, void *to);
/* `layout` to linear. */
FPO_API void fpo_layout_undo(fpo_layout layout, int64_t rows, int64_t columns, size_t element_bytes, const void *from,
                             void *to);

/* Groups (experts) one behind the other, each padded by itself: offsets[i] is where group i of group_rows[i] scale rows
 * begins, offsets[groups] the size of all. False where a size is negative or the sum exceeds INT64_MAX. */
FPO_API bool fpo_layout_group_offsets(fpo_layout layout, size_t groups, const int64_t *group_rows, int64_t columns,
                                      int64_t *offsets);
/* Groups as FlashInfer's grouped GEMMs and TensorRT-LLM's experts keep the scales of activations: where a group begins
 * follows from its number and the rows before it, not from the sizes of the groups before it. A group i after r rows
 * begins at scale row (r + i * (p - 1)) / p * p, p being what the layout pads rows to: at or behind the end of the
 * group before it. The parameters are those of fpo_layout_group_offsets. */
FPO_API bool fpo_layout_group_offsets_spaced(fpo_layout layout, size_t groups, const int64_t *group_rows,
                                             int64_t columns, int64_t *offsets);

/* Where trtllm-gen wants row `row` of a weight matrix: rows are shuffled within blocks of 32 (epilogue tile a multiple
 * of 128) or 16. The bytes of a row stay as they are. */
FPO_API int64_t fpo_trtllm_row(int64_t block, int64_t row);

typedef enum fpo_packing {
#define FPO_PACKING(ID, name, width, codes, bytes, first, digits, summary) FPO_PACKING_##ID,
#include <fp4oracle/packings.inc>
#undef FPO_PACKING
    FPO_PACKING_COUNT
} fpo_packing;

/* See packings.inc for the formula. */
typedef struct fpo_packing_info {
    const char *name;
    const char *summary;
    uint8_t width;        /* of the codes that it concerns, in bits; 0: of all up to 8 bits */
    int16_t codes, bytes; /* of a group */
    int16_t first;
    fpo_digit digits[FPO_DIGITS];
} fpo_packing_info;

FPO_API const fpo_packing_info *fpo_packing_describe(fpo_packing packing); /* NULL for what is no packing */
FPO_API const char *fpo_packing_name(fpo_packing packing);
FPO_API const char *fpo_packing_summary(fpo_packing packing);
FPO_API fpo_packing fpo_packing_by_name(const char *name); /* FPO_PACKING_COUNT if there is none */

/* Bytes that one row of `k` codes takes: whole groups. What no code fills (an unused nibble at the end of a row,
 * padding bytes) is zero. */
FPO_API int64_t fpo_packing_row_bytes(fpo_packing packing, fpo_format format, int64_t k);
/* One row: codes as fpo_load_code reads them (one a byte for formats of up to 8 bits) to packed, and back. */
FPO_API void fpo_pack_row(fpo_packing packing, fpo_format format, int64_t k, const void *codes, void *packed);
FPO_API void fpo_unpack_row(fpo_packing packing, fpo_format format, int64_t k, const void *packed, void *codes);

FPO_END_DECLS

#endif

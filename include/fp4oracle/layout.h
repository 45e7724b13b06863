/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Where scales and codes sit in memory: scale layouts and element packings, each a registry entry with a closed formula
 * both ways. */
#ifndef FP4ORACLE_LAYOUT_H
#define FP4ORACLE_LAYOUT_H

#include <fp4oracle/format.h>

FPO_BEGIN_DECLS

typedef enum fpo_layout {
#define FPO_LAYOUT(ID, name, summary) FPO_LAYOUT_##ID,
#include <fp4oracle/layouts.inc>
#undef FPO_LAYOUT
    FPO_LAYOUT_COUNT
} fpo_layout;

FPO_API const char *fpo_layout_name(fpo_layout layout);
FPO_API const char *fpo_layout_summary(fpo_layout layout);
FPO_API fpo_layout fpo_layout_by_name(const char *name); /* FPO_LAYOUT_COUNT if there is none */

/* Number of scale elements, padding included, of `rows` scale rows with `columns` scales each. */
FPO_API int64_t fpo_layout_size(fpo_layout layout, int64_t rows, int64_t columns);
/* Offset in scale elements of scale (row, column). Within [0, fpo_layout_size) for every valid pair. */
FPO_API int64_t fpo_layout_offset(fpo_layout layout, int64_t rows, int64_t columns, int64_t row, int64_t column);
/* Linear to `layout`: `to` has fpo_layout_size elements of `element_bytes`; padding gets the byte `fill`. */
FPO_API void fpo_layout_apply(fpo_layout layout, int64_t rows, int64_t columns, size_t element_bytes, const void *from,
                              void *to, int fill);
/* `layout` to linear. */
FPO_API void fpo_layout_undo(fpo_layout layout, int64_t rows, int64_t columns, size_t element_bytes, const void *from,
                             void *to);

typedef enum fpo_packing {
#define FPO_PACKING(ID, name, summary) FPO_PACKING_##ID,
#include <fp4oracle/packings.inc>
#undef FPO_PACKING
    FPO_PACKING_COUNT
} fpo_packing;

FPO_API const char *fpo_packing_name(fpo_packing packing);
FPO_API const char *fpo_packing_summary(fpo_packing packing);
FPO_API fpo_packing fpo_packing_by_name(const char *name); /* FPO_PACKING_COUNT if there is none */

/* Bytes that one row of `k` codes takes. An unused nibble at the end of a row is zero. */
FPO_API int64_t fpo_packing_row_bytes(fpo_packing packing, fpo_format format, int64_t k);
/* One row: codes as fpo_load_code reads them (one a byte for formats of up to 8 bits) to packed, and back. */
FPO_API void fpo_pack_row(fpo_packing packing, fpo_format format, int64_t k, const void *codes, void *packed);
FPO_API void fpo_unpack_row(fpo_packing packing, fpo_format format, int64_t k, const void *packed, void *codes);

FPO_END_DECLS

#endif

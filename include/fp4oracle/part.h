/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The part of an output that is wrong, as somebody who writes kernels would say it: a tile, rows from one on, every
 * second column, the ragged edge, one element. */
#ifndef FP4ORACLE_PART_H
#define FP4ORACLE_PART_H

#include <fp4oracle/compare.h>

FPO_BEGIN_DECLS

/* Indices i of first..last with (i - first) mod period < width. */
typedef struct fpo_index_set {
    int64_t first, last, period, width;
} fpo_index_set;

FPO_API int64_t fpo_index_set_size(const fpo_index_set *set);

typedef enum fpo_part_kind {
    FPO_PART_NONE,      /* nothing is wrong */
    FPO_PART_ALL,       /* every row and every column has something wrong */
    FPO_PART_GRID,      /* rows x columns */
    FPO_PART_EDGE,      /* all but the corner of rows below rows.first and columns below columns.first */
    FPO_PART_SCATTERED, /* no such description holds: the elements that differ and no others */
    FPO_PART_COUNT
} fpo_part_kind;

typedef struct fpo_part {
    fpo_part_kind kind;
    int64_t m, n;                /* of the output */
    fpo_index_set rows, columns; /* the smallest that have all differences (EDGE: see there) */
    int64_t elements;            /* of the part */
    int64_t wrong;               /* that differ; an element of the part may be right by chance */
} fpo_part;

FPO_API const char *fpo_part_kind_name(fpo_part_kind kind);

/* Two M x N matrices of `format` as fpo_gemm writes them. */
FPO_API fpo_status fpo_part_find(fpo_format format, int64_t m, int64_t n, const void *expected, const void *observed,
                                 fpo_part *part, fpo_error *error);
/* The part that is NaN; `wrong` counts the NaN. */
FPO_API fpo_status fpo_part_find_nan(fpo_format format, int64_t m, int64_t n, const void *observed, fpo_part *part,
                                     fpo_error *error);
/* Whether an element, of which it is known if it differs, belongs to the part. */
FPO_API bool fpo_part_has(const fpo_part *part, int64_t row, int64_t column, bool differs);
/* "rows 128 to 255, columns 0 to 127: the 128x128 tile (1, 0)". */
FPO_API void fpo_part_text(const fpo_part *part, char *text, size_t size);

FPO_END_DECLS

#endif

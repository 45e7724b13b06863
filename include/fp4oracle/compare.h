/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Comparison by bytes: equal, or how many differ, where, and by how much. */
#ifndef FP4ORACLE_COMPARE_H
#define FP4ORACLE_COMPARE_H

#include <fp4oracle/format.h>

FPO_BEGIN_DECLS

enum { FPO_COMPARE_FIRST = 10 };

typedef struct fpo_difference {
    int64_t row, column;
    uint32_t expected, observed; /* codes */
    int64_t ulps;                /* steps of the format from expected to observed; INT64_MAX where either is NaN */
} fpo_difference;

typedef struct fpo_comparison {
    int64_t elements;
    int64_t different;
    int64_t rows_touched, columns_touched;                  /* rows and columns with a difference */
    int64_t first_row, last_row, first_column, last_column; /* the smallest rectangle with all differences */
    int64_t nan_expected, nan_observed, infinity_expected, infinity_observed;
    int64_t signed_zero_only; /* differences between +0 and -0 */
    int64_t largest_ulps;     /* over the differences between numbers */
    size_t first_count;
    fpo_difference first[FPO_COMPARE_FIRST]; /* in row-major order */
} fpo_comparison;

/* The code of one element of a matrix with n columns, as fpo_gemm writes it (e2m1: two a byte, rows begin at a byte).
 */
FPO_API uint32_t fpo_load_element(fpo_format format, const void *codes, int64_t n, int64_t row, int64_t column);
/* Steps of the format from one code to the other; INT64_MAX where either is NaN. */
FPO_API int64_t fpo_code_steps(fpo_format format, uint32_t from, uint32_t to);

/* Two M x N matrices of `format` as fpo_gemm writes them. */
FPO_API void fpo_compare(fpo_format format, int64_t m, int64_t n, const void *expected, const void *observed,
                         fpo_comparison *result);

FPO_END_DECLS

#endif

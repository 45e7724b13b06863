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
    int64_t rows_touched, columns_touched; /* rows and columns with a difference */
    int64_t first_row, last_row, first_column, last_column; /* the smallest rectangle with all differences */
    int64_t nan_expected, nan_observed, infinity_expected, infinity_observed;
    int64_t signed_zero_only; /* differences between +0 and -0 */
    int64_t largest_ulps;     /* over the differences between numbers */
    size_t first_count;
    fpo_difference first[FPO_COMPARE_FIRST]; /* in row-major order */
} fpo_comparison;

/* Two M x N matrices of `format` as fpo_gemm writes them. */
FPO_API void fpo_compare(fpo_format format, int64_t m, int64_t n, const void *expected, const void *observed,
                         fpo_comparison *result);

FPO_END_DECLS

#endif

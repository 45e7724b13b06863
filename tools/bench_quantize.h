/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* bench --recipe: quantising instead of multiplying. */
#ifndef FP4ORACLE_TOOLS_BENCH_QUANTIZE_H
#define FP4ORACLE_TOOLS_BENCH_QUANTIZE_H

#include <fp4oracle/fp4oracle.h>

typedef struct fpo_bench_quantize_options {
    const char *program;
    fpo_recipe recipe; /* FPO_RECIPE_COUNT: all */
    const char *input; /* FILE[:TENSOR]; NULL: normal numbers in bf16, rows x k */
    int64_t rows, k, repeat;
    int threads;
    bool json;
} fpo_bench_quantize_options;

int fpo_bench_quantize(const fpo_bench_quantize_options *options); /* the exit status */

#endif

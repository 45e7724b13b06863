/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A GEMM of ours and the BLAS way of doing it (dequantise both operands, multiply in f32), on the same operands. */
#ifndef FP4ORACLE_TOOLS_BENCH_H
#define FP4ORACLE_TOOLS_BENCH_H

#include <fp4oracle/fp4oracle.h>

/* Operands made from seeded normal data by the format's default recipe. */
typedef struct fpo_bench_problem {
    fpo_block_format format;
    fpo_gemm_problem problem;
    void *a_codes, *b_codes, *a_scales, *b_scales;
    float *a, *b, *d; /* dequantised, and the output of either */
} fpo_bench_problem;

fpo_status fpo_bench_open(fpo_block_format format, int64_t m, int64_t n, int64_t k, fpo_bench_problem *bench,
                          fpo_error *error);
void fpo_bench_close(fpo_bench_problem *bench);

/* Seconds of one run over the first `rows` rows of A. */
fpo_status fpo_bench_model(const fpo_bench_problem *bench, const fpo_model *model, int64_t rows, int threads,
                           double *seconds, fpo_error *error);

/* Whether this build has a BLAS, and its name. */
bool fpo_bench_has_blas(void);
const char *fpo_bench_blas_name(void);
/* Seconds of dequantising the first `rows` rows of A and all of B, and of sgemm on them. */
void fpo_bench_blas(const fpo_bench_problem *bench, int64_t rows, int threads, double *dequantise, double *sgemm);

#endif

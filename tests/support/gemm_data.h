/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Data for GEMM cases: random codes, and the kinds that break accumulators. */
#ifndef FP4ORACLE_TESTS_GEMM_DATA_H
#define FP4ORACLE_TESTS_GEMM_DATA_H

#include "gemm_case.h"

typedef enum gemm_data {
    DATA_FINITE,  /* uniform finite codes in elements and scales */
    DATA_CANCEL,  /* the second half of K undoes the first, a small term is left */
    DATA_EXTREME, /* elements and scales from the ends of their formats: zeros, subnormals, the largest numbers */
    DATA_SPARSE,  /* mostly +0 and -0 */
    DATA_TINY,    /* products around the smallest that accumulators tell apart */
    DATA_ANY,     /* uniform codes, NaN and infinity where the format has them */
    DATA_KINDS
} gemm_data;

/* A stream of small random numbers. */
typedef struct gemm_random {
    fpo_random random;
    uint64_t index;
} gemm_random;

uint64_t gemm_random_below(gemm_random *r, uint64_t bound);
/* A finite code; an f32 (also of C, bias, alpha) has an exponent within `spread` of 1's where spread is not 0. */
uint32_t gemm_random_code(gemm_random *r, fpo_format format, int spread);
float gemm_random_float(gemm_random *r, int spread);

/* Fills elements and scales of both operands. */
void gemm_data_fill(gemm_case *x, gemm_data kind, gemm_random *r);
/* Tensor scales, alpha, beta, d_scale, C and bias (where the case has them): numbers with exponents within `spread`. */
void gemm_data_fill_epilogue(gemm_case *x, gemm_random *r, int spread);

#endif

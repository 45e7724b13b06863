/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A GEMM case for tests: spec, problem and buffers that it owns. */
#ifndef FP4ORACLE_TESTS_GEMM_CASE_H
#define FP4ORACLE_TESTS_GEMM_CASE_H

#include <fp4oracle/gemm.h>
#include <fp4oracle/random.h>

typedef enum gemm_side { SIDE_A, SIDE_B } gemm_side;

typedef struct gemm_case {
    fpo_gemm_spec spec;
    fpo_gemm_problem problem;
    unsigned char *codes[2], *scales[2]; /* canonical; by side */
    unsigned char *c, *bias;
    unsigned char *d, *d_scale; /* what the last run wrote */
    size_t d_bytes, d_scale_bytes;
} gemm_case;

/* The accumulation of the exact model. */
extern const fpo_model gemm_exact_model;

/* Every element and every scale is 1; no C, no bias. Fails the test where the library says no. */
gemm_case *gemm_case_new(fpo_block_format a, fpo_block_format b, int64_t m, int64_t n, int64_t k, fpo_format d);
void gemm_case_free(gemm_case *x);

int64_t gemm_case_rows(const gemm_case *x, gemm_side side);
void gemm_case_set_element(gemm_case *x, gemm_side side, int64_t row, int64_t k, uint32_t code);
void gemm_case_set_scale(gemm_case *x, gemm_side side, int64_t row, int64_t column, uint32_t code);
uint32_t gemm_case_element(const gemm_case *x, gemm_side side, int64_t row, int64_t k);
uint32_t gemm_case_scale(const gemm_case *x, gemm_side side, int64_t row, int64_t column);
/* The same for a whole row of elements, or of scales. */
void gemm_case_fill_row(gemm_case *x, gemm_side side, int64_t row, uint32_t code);
void gemm_case_fill_scales(gemm_case *x, gemm_side side, int64_t row, uint32_t code);

/* Gives the case a C, or a bias, of this format (zeros). */
void gemm_case_add_c(gemm_case *x, fpo_format format);
void gemm_case_add_bias(gemm_case *x, fpo_format format, bool per_row);

/* fpo_gemm and fpo_gemm_twin; fail the test on an error. d and d_scale are made anew, filled with 0xA5 first. */
void gemm_case_run(gemm_case *x, const fpo_execution *execution);
void gemm_case_run_twin(gemm_case *x);
/* Runs both and fails the test unless they agree in every byte; what fpo_gemm wrote stays. */
void gemm_case_check_twin(gemm_case *x, const char *what);
uint32_t gemm_case_code(const gemm_case *x, int64_t m, int64_t n);
double gemm_case_value(const gemm_case *x, int64_t m, int64_t n);

#endif

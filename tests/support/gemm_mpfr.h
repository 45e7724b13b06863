/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The exact model in MPFR: every operation with a precision at which none of them rounds, which is checked. */
#ifndef FP4ORACLE_TESTS_GEMM_MPFR_H
#define FP4ORACLE_TESTS_GEMM_MPFR_H

#include "gemm_case.h"

#include <stdio.h> /* before mpfr.h */

#include <mpfr.h>

/* y before it becomes D, for a case whose stored and read views agree. y has enough precision already. */
void gemm_mpfr_open(mpfr_t y);
void gemm_mpfr_element(const gemm_case *x, int64_t m, int64_t n, mpfr_t y);
/* What y is in `format` under a cast, as a double; NaN, infinities and signs of zeros as they come. */
double gemm_mpfr_round(fpo_format format, const fpo_cast *cast, const mpfr_t y);
/* Fails the test unless every element of D is what MPFR says. */
void gemm_mpfr_check(const gemm_case *x, const char *what);

#endif

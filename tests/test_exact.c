/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The exact model against the reference twin and against MPFR: all pairs of block formats, all kinds of data, every
 * format of D, C and bias, odd shapes. */
#include "gemm_data.h"
#include "gemm_mpfr.h"
#include "suite.h"

#include <stdlib.h>

static const fpo_format d_formats[] = {FPO_F32, FPO_BF16, FPO_F16, FPO_E4M3, FPO_E5M2};
static const fpo_format addend_formats[] = {FPO_FORMAT_NONE, FPO_F32, FPO_BF16, FPO_F16};

static void name_case(char *text, size_t size, const gemm_case *x, int a, int b, int kind)
{
    snprintf(text, size, "%s x %s, %lldx%lldx%lld, data %d, D %s", fpo_block_format_describe((fpo_block_format)a)->name,
             fpo_block_format_describe((fpo_block_format)b)->name, (long long)x->problem.m, (long long)x->problem.n,
             (long long)x->problem.k, kind, fpo_format_describe(x->spec.epilogue.d)->name);
}

/* One case of a pair: shape, data and epilogue from the random stream. */
static void check_pair(int a, int b, gemm_data kind, gemm_random *r)
{
    char what[200];
    int64_t m = 1 + (int64_t)gemm_random_below(r, 3), n = 1 + (int64_t)gemm_random_below(r, 3);
    int64_t k = 1 + (int64_t)gemm_random_below(r, kind == DATA_CANCEL ? 150 : 70);
    fpo_format d = d_formats[gemm_random_below(r, 5)];
    gemm_case *x = gemm_case_new((fpo_block_format)a, (fpo_block_format)b, m, n, k, d);
    fpo_format c = addend_formats[gemm_random_below(r, 4)], bias = addend_formats[gemm_random_below(r, 4)];
    if (c != FPO_FORMAT_NONE)
        gemm_case_add_c(x, c);
    if (bias != FPO_FORMAT_NONE)
        gemm_case_add_bias(x, bias, gemm_random_below(r, 2) != 0);
    gemm_data_fill(x, kind, r);
    if (gemm_random_below(r, 4) != 0)
        gemm_data_fill_epilogue(x, r, gemm_random_below(r, 2) != 0 ? 8 : 0);
    name_case(what, sizeof what, x, a, b, (int)kind);
    gemm_case_check_twin(x, what);
    gemm_mpfr_check(x, what);
    gemm_case_free(x);
}

START_TEST(all_pairs)
{
    gemm_random r = {{20261130, 1}, 0};
    int repeats = getenv("FPO_LONG") != NULL ? 200 : 4;
    for (int repeat = 0; repeat < repeats; repeat++) {
        for (int a = 0; a < FPO_BLOCK_COUNT; a++) {
            for (int b = 0; b < FPO_BLOCK_COUNT; b++)
                check_pair(a, b, (gemm_data)gemm_random_below(&r, DATA_KINDS), &r);
        }
    }
}
END_TEST

START_TEST(every_kind_of_data)
{
    gemm_random r = {{20261130, 2}, 0};
    for (int format = 0; format < FPO_BLOCK_COUNT; format++) {
        for (int kind = 0; kind < DATA_KINDS; kind++) {
            for (int repeat = 0; repeat < 20; repeat++)
                check_pair(format, format, (gemm_data)kind, &r);
        }
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("exact");
    TCase *tests = tcase_create("exact");
    tcase_set_timeout(tests, 800);
    tcase_add_test(tests, all_pairs);
    tcase_add_test(tests, every_kind_of_data);
    suite_add_tcase(suite, tests);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* nvfp4 and mxfp8 outputs: the output quantiser's codes and scales against the twin and against the formula in double,
 * ragged widths, and groups with zeros, NaN and infinity. */
#include "gemm_data.h"
#include "suite.h"

#include <math.h>
#include <string.h>

/* D = the bias: a 1 x N product of a zero A. */
static gemm_case *of_numbers(const float *numbers, int64_t n)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, n, 16, FPO_E2M1);
    gemm_case_fill_row(x, SIDE_A, 0, 0);
    gemm_case_add_bias(x, FPO_F32, false);
    memcpy(x->bias, numbers, (size_t)n * sizeof numbers[0]);
    return x;
}

START_TEST(equal_the_twin)
{
    gemm_random r = {{20261130, 9}, 0};
    static const char *const models[] = {"exact", "fma_f32"};
    for (int i = 0; i < 120; i++) {
        int64_t n = 1 + (int64_t)gemm_random_below(&r, 50);
        gemm_case *x =
            gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1 + (int64_t)gemm_random_below(&r, 4), n, 20, FPO_E2M1);
        x->spec.accumulation = fpo_model_by_name(models[i % 2])->accumulation;
        gemm_data_fill(x, (gemm_data)(i % DATA_KINDS), &r);
        gemm_data_fill_epilogue(x, &r, i % 3 == 0 ? 40 : 4);
        gemm_case_check_twin(x, "nvfp4 output");
        ck_assert_uint_eq(x->d_bytes, (size_t)(x->problem.m * ((n + 1) / 2)));
        if (n % 2 == 1) /* the spare nibble */
            ck_assert_uint_eq(x->d[x->d_bytes - 1] >> 4, 0);
        gemm_case_free(x);
    }
}
END_TEST

/* mxfp8: blocks of 32, a scale that is a power of two, one byte a code. */
START_TEST(mxfp8_equals_the_twin)
{
    gemm_random r = {{20261130, 11}, 0};
    static const fpo_format formats[] = {FPO_E4M3, FPO_E5M2};
    static const char *const models[] = {"exact", "fma_f32"};
    for (int i = 0; i < 120; i++) {
        int64_t n = 1 + (int64_t)gemm_random_below(&r, 100);
        gemm_case *x = gemm_case_new(FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, 1 + (int64_t)gemm_random_below(&r, 4),
                                     n, 20, formats[i / 2 % 2]);
        x->spec.epilogue.d_scale = FPO_UE8M0;
        x->spec.accumulation = fpo_model_by_name(models[i % 2])->accumulation;
        gemm_data_fill(x, (gemm_data)(i % DATA_KINDS), &r);
        gemm_data_fill_epilogue(x, &r, i % 3 == 0 ? 40 : 4);
        gemm_case_check_twin(x, "mxfp8 output");
        ck_assert_uint_eq(x->d_bytes, (size_t)(x->problem.m * n));
        ck_assert_uint_eq(x->d_scale_bytes, (size_t)(x->problem.m * ((n + 31) / 32)));
        gemm_case_free(x);
    }
}
END_TEST

/* By the formula, in double: the smallest power of two that is not below amax / 448, and codes of y under it. */
START_TEST(mxfp8_formula)
{
    gemm_random r = {{20261130, 12}, 0};
    const fpo_cast *ptx = fpo_cast_describe(FPO_CAST_PTX);
    for (int i = 0; i < 1000; i++) {
        float y[32], amax = 0;
        for (int j = 0; j < 32; j++) {
            y[j] = gemm_random_float(&r, i % 2 == 0 ? 3 : 12);
            amax = fmaxf(amax, fabsf(y[j]));
        }
        if (i % 4 == 0) /* a quotient that is a power of two stays one */
            amax = y[7] = ldexpf(448.0f, i % 40 - 20) * (i % 8 == 0 ? 1.0f : 1.0f + 0x1p-23f);
        for (int j = 0; j < 32 && i % 4 == 0; j++)
            y[j] = fminf(fmaxf(y[j], -amax), amax);
        gemm_case *x = gemm_case_new(FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, 1, 32, 32, FPO_E4M3);
        x->spec.epilogue.d_scale = FPO_UE8M0;
        gemm_case_fill_row(x, SIDE_A, 0, 0);
        gemm_case_add_bias(x, FPO_F32, false);
        memcpy(x->bias, y, sizeof y);
        gemm_case_run(x, NULL);
        int exponent = (int)ceil(log2((double)(amax / 448.0f)));
        while (ldexp(1, exponent) < (double)(amax / 448.0f))
            exponent++;
        while (ldexp(1, exponent - 1) >= (double)(amax / 448.0f))
            exponent--;
        ck_assert_int_eq(x->d_scale[0], exponent + 127);
        for (int j = 0; j < 32; j++)
            ck_assert_uint_eq(x->d[j], fpo_encode_double(FPO_E4M3, ldexp((double)y[j], -exponent), ptx));
        gemm_case_free(x);
    }
}
END_TEST

static void check_formula(const float y[16])
{
    const fpo_cast *ptx = fpo_cast_describe(FPO_CAST_PTX);
    float amax = 0;
    for (int j = 0; j < 16; j++)
        amax = fmaxf(amax, fabsf(y[j]));
    gemm_case *x = of_numbers(y, 16);
    gemm_case_run(x, NULL);
    uint32_t scale = fpo_encode_double(FPO_UE4M3, (double)(amax / 6.0f), ptx);
    float value = (float)fpo_decode_double(FPO_UE4M3, scale), inverse = value == 0 ? 0.0f : 1.0f / value;
    ck_assert_uint_eq(x->d_scale[0], scale);
    for (int j = 0; j < 16; j++)
        ck_assert_uint_eq(gemm_case_code(x, 0, j), fpo_encode_double(FPO_E2M1, (double)(y[j] * inverse), ptx));
    gemm_case_free(x);
}

START_TEST(formula)
{
    gemm_random r = {{20261130, 10}, 0};
    for (int i = 0; i < 3000; i++) {
        float y[16];
        for (int j = 0; j < 16; j++)
            y[j] = gemm_random_float(&r, i % 2 == 0 ? 3 : 12);
        check_formula(y);
    }
}
END_TEST

/* Around every decision of the scale, where amax/6 and amax*RN(1/6) part; and around every decision of a code, where
 * y*RN(1/S) and y/S do. */
START_TEST(decisions)
{
    static const float code_decisions[] = {.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
    for (uint32_t code = 0; code < 0x7E; code++) {
        double low = fpo_decode_double(FPO_UE4M3, code), high = fpo_decode_double(FPO_UE4M3, code + 1);
        float boundary = (float)(3 * (low + high));
        for (int step = -6; step <= 6; step++) {
            uint32_t bits;
            float y[16] = {0};
            memcpy(&bits, &boundary, 4);
            bits += (uint32_t)step;
            memcpy(&y[5], &bits, 4);
            check_formula(y);
        }
        for (int step = -2; step <= 2; step++) {
            float y[16] = {(float)(6 * high)};
            for (int i = 0; i < 7; i++) {
                uint32_t bits;
                float decision = code_decisions[i] * (float)high;
                memcpy(&bits, &decision, 4);
                bits += (uint32_t)step;
                memcpy(&y[1 + i], &bits, 4);
            }
            check_formula(y);
        }
    }
}
END_TEST

START_TEST(special_groups)
{
    static const struct {
        float y0, y1;
        uint32_t scale, code0, code1;
    } rows[] = {
        {0.0f, -0.0f, 0x00, 0x0, 0x8},           /* a group of zeros keeps their signs */
        {6.0f, -6.0f, 0x38, 0x7, 0xF},           /* S = 1 */
        {2688.0f, 1344.0f, 0x7E, 0x7, 0x5},      /* S = 448 */
        {1e6f, -1e6f, 0x7E, 0x7, 0xF},           /* S saturates, and so do the codes */
        {0x1p-140f, -0x1p-140f, 0x00, 0x0, 0x8}, /* S rounds to 0: everything is 0 */
        {INFINITY, 1.0f, 0x7E, 0x7, 0x0},        /* S saturates */
        {NAN, 1.0f, 0x7F, 0x7, 0x7},             /* NaN wins: the scale and all codes */
        {1.0f, NAN, 0x7F, 0x7, 0x7},
        {INFINITY, NAN, 0x7F, 0x7, 0x7},
        {NAN, INFINITY, 0x7F, 0x7, 0x7},
        {6.0f * 0x1p-9f, 3.0f * 0x1p-9f, 0x01, 0x7, 0x5}, /* the smallest scale */
        {6.0f * 0x1p-10f, 0.0f, 0x00, 0x0, 0x0},          /* half of it, ties to even: 0 */
        {6.01f * 0x1p-10f, 0.0f, 0x01, 0x5, 0x0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float y[18] = {rows[i].y0, rows[i].y1};
        y[16] = 3.0f; /* another group: not touched by the first */
        gemm_case *x = of_numbers(y, 18);
        gemm_case_run(x, NULL);
        ck_assert_msg(x->d_scale[0] == rows[i].scale, "row %zu: scale %02x", i, x->d_scale[0]);
        /* -0 + bias: the accumulator is +0, so a bias of -0 becomes +0 */
        uint32_t code1 = rows[i].y1 == 0 ? 0 : rows[i].code1;
        ck_assert_msg(gemm_case_code(x, 0, 0) == rows[i].code0, "row %zu: code %x", i, gemm_case_code(x, 0, 0));
        ck_assert_msg(gemm_case_code(x, 0, 1) == code1, "row %zu: code %x", i, gemm_case_code(x, 0, 1));
        ck_assert_uint_eq(x->d_scale[1], 0x30);
        ck_assert_uint_eq(gemm_case_code(x, 0, 16), 7);
        gemm_case_free(x);
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("output quantiser");
    TCase *tests = tcase_create("output quantiser");
    tcase_add_test(tests, equal_the_twin);
    tcase_add_test(tests, formula);
    tcase_add_test(tests, mxfp8_equals_the_twin);
    tcase_add_test(tests, mxfp8_formula);
    tcase_add_test(tests, decisions);
    tcase_add_test(tests, special_groups);
    suite_add_tcase(suite, tests);
    return suite;
}

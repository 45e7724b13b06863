/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fpo_compare: what differs, where and by how much, on matrices made for it. */
#include "suite.h"

#include <fp4oracle/compare.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t bits(float x)
{
    uint32_t code;
    memcpy(&code, &x, sizeof code);
    return code;
}

START_TEST(equal)
{
    float x[6] = {1, -2, NAN, INFINITY, -INFINITY, 0};
    fpo_comparison c;
    fpo_compare(FPO_F32, 2, 3, x, x, &c);
    ck_assert_int_eq(c.elements, 6);
    ck_assert_int_eq(c.different, 0);
    ck_assert_int_eq(c.rows_touched + c.columns_touched, 0);
    ck_assert_uint_eq(c.first_count, 0);
    ck_assert_int_eq(c.nan_expected, 1);
    ck_assert_int_eq(c.nan_observed, 1);
    ck_assert_int_eq(c.infinity_expected, 2);
    ck_assert_int_eq(c.infinity_observed, 2);
}
END_TEST

START_TEST(differences)
{
    enum { M = 20, N = 3000 };
    float *e = calloc(M * N, sizeof *e), *o = calloc(M * N, sizeof *o);
    for (int i = 0; i < M * N; i++)
        e[i] = o[i] = (float)i;
    o[3 * N + 5] = nextafterf(e[3 * N + 5], 0);
    o[3 * N + 2999] = e[3 * N + 2999] + 1;
    o[7 * N + 5] = -0.0f;
    e[7 * N + 5] = 0.0f;
    o[9 * N + 1500] = NAN;
    o[11 * N + 4] = INFINITY;
    fpo_comparison c;
    fpo_compare(FPO_F32, M, N, e, o, &c);
    ck_assert_int_eq(c.elements, M * N);
    ck_assert_int_eq(c.different, 5);
    ck_assert_int_eq(c.rows_touched, 4);
    ck_assert_int_eq(c.columns_touched, 4);
    ck_assert_int_eq(c.first_row, 3);
    ck_assert_int_eq(c.last_row, 11);
    ck_assert_int_eq(c.first_column, 4);
    ck_assert_int_eq(c.last_column, 2999);
    ck_assert_int_eq(c.nan_expected, 0);
    ck_assert_int_eq(c.nan_observed, 1);
    ck_assert_int_eq(c.infinity_observed, 1);
    ck_assert_int_eq(c.signed_zero_only, 1);
    ck_assert_uint_eq(c.first_count, 5);
    ck_assert_int_eq(c.first[0].row, 3);
    ck_assert_int_eq(c.first[0].column, 5);
    ck_assert_int_eq(c.first[0].ulps, -1);
    ck_assert_uint_eq(c.first[0].expected, bits(3 * N + 5));
    ck_assert_int_eq(c.first[1].ulps, (int64_t)bits(3 * N + 3000) - (int64_t)bits(3 * N + 2999));
    ck_assert_int_eq(c.first[2].ulps, 0);
    ck_assert_int_eq(c.first[3].ulps, INT64_MAX);
    ck_assert_int_eq(c.largest_ulps, (int64_t)0x7F800000 - (int64_t)bits(11 * N + 4));
    free(e);
    free(o);
}
END_TEST

START_TEST(ten_are_kept)
{
    uint8_t e[50] = {0}, o[50];
    fpo_comparison c;
    memset(o, 1, sizeof o);
    fpo_compare(FPO_E4M3, 5, 10, e, o, &c);
    ck_assert_int_eq(c.different, 50);
    ck_assert_uint_eq(c.first_count, FPO_COMPARE_FIRST);
    ck_assert_int_eq(c.first[9].row, 0);
    ck_assert_int_eq(c.first[9].column, 9);
    ck_assert_int_eq(c.rows_touched, 5);
    ck_assert_int_eq(c.columns_touched, 10);
}
END_TEST

/* Distances across zero and in formats with a sign elsewhere. */
START_TEST(distances)
{
    static const struct {
        fpo_format format;
        uint32_t expected, observed;
        int64_t ulps;
    } rows[] = {{FPO_E4M3, 0x01, 0x81, -2},        {FPO_E4M3, 0x81, 0x02, 3},
                {FPO_E4M3, 0x7E, 0x78, -6},        {FPO_E4M3, 0x7F, 0x78, INT64_MAX},
                {FPO_E4M3, 0x78, 0xFF, INT64_MAX}, {FPO_E5M2, 0x7B, 0x7C, 1},
                {FPO_BF16, 0x8001, 0x0001, 2},     {FPO_F16, 0x3C00, 0x4000, 0x400},
                {FPO_F32, 0x80000000, 1, 1},       {FPO_F32, 0xFF7FFFFF, 0x7F7FFFFF, 0xFEFFFFFE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fpo_comparison c;
        uint8_t e[4], o[4];
        fpo_store_code(rows[i].format, e, 0, rows[i].expected);
        fpo_store_code(rows[i].format, o, 0, rows[i].observed);
        fpo_compare(rows[i].format, 1, 1, e, o, &c);
        ck_assert_int_eq(c.different, 1);
        ck_assert_msg(c.first[0].ulps == rows[i].ulps, "row %zu: %lld", i, (long long)c.first[0].ulps);
        int64_t distance = rows[i].ulps == INT64_MAX ? 0 : llabs(rows[i].ulps);
        ck_assert_int_eq(c.largest_ulps, distance);
    }
}
END_TEST

/* Two codes a byte; the spare nibble of an odd row is not looked at. */
START_TEST(nibbles)
{
    uint8_t e[4] = {0x21, 0x03, 0x43, 0x05}, o[4] = {0x21, 0xF3, 0xC3, 0x05};
    fpo_comparison c;
    fpo_compare(FPO_E2M1, 2, 3, e, o, &c);
    ck_assert_int_eq(c.elements, 6);
    ck_assert_int_eq(c.different, 1);
    ck_assert_int_eq(c.first[0].row, 1);
    ck_assert_int_eq(c.first[0].column, 1);
    ck_assert_uint_eq(c.first[0].expected, 4);
    ck_assert_uint_eq(c.first[0].observed, 12);
    ck_assert_int_eq(c.first[0].ulps, -8);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("compare");
    TCase *tests = tcase_create("compare");
    tcase_add_test(tests, equal);
    tcase_add_test(tests, differences);
    tcase_add_test(tests, ten_are_kept);
    tcase_add_test(tests, distances);
    tcase_add_test(tests, nibbles);
    suite_add_tcase(suite, tests);
    return suite;
}

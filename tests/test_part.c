/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The wrong part of an output: drawn into a matrix, found and described. */
#include "suite.h"

#include <fp4oracle/part.h>
#include <stdlib.h>
#include <string.h>

enum { M = 300, N = 200 };

static bool one(int64_t r, int64_t c)
{
    return r == 17 && c == 5;
}
static bool row(int64_t r, int64_t c)
{
    (void)c;
    return r == 299;
}
static bool tile(int64_t r, int64_t c)
{
    return r >= 128 && r < 256 && c < 128;
}
static bool last_tile(int64_t r, int64_t c)
{
    return r >= 256 && c >= 128;
}
static bool group(int64_t r, int64_t c)
{
    (void)c;
    return r >= 100 && r < 150;
}
static bool from(int64_t r, int64_t c)
{
    (void)c;
    return r >= 211;
}
static bool odd(int64_t r, int64_t c)
{
    (void)r;
    return c % 2 == 1;
}
static bool halves(int64_t r, int64_t c)
{
    (void)c;
    return r % 32 >= 16;
}
static bool both(int64_t r, int64_t c)
{
    return r % 4 == 2 && c >= 100;
}
static bool edge(int64_t r, int64_t c)
{
    return r >= 256 || c >= 192;
}
static bool everything(int64_t r, int64_t c)
{
    return r + c >= 0;
}
static bool nothing(int64_t r, int64_t c)
{
    return r + c < 0;
}
static bool few(int64_t r, int64_t c)
{
    return (r == 3 && c == 150) || (r == 77 && c == 11) || (r == 290 && c == 42) || (r == 291 && c == 199);
}

static const struct {
    bool (*is_wrong)(int64_t row, int64_t column);
    fpo_part_kind kind;
    const char *text;
} cases[] = {
    {one, FPO_PART_GRID, "row 17, column 5"},
    {row, FPO_PART_GRID, "row 299, all columns"},
    {tile, FPO_PART_GRID, "rows 128 to 255, columns 0 to 127: the 128x128 tile (1, 0)"},
    {last_tile, FPO_PART_GRID, "rows from 256 on, columns from 128 on: the 256x128 tile (1, 1)"},
    {group, FPO_PART_GRID, "rows 100 to 149, all columns"},
    {from, FPO_PART_GRID, "rows from 211 on, all columns"},
    {odd, FPO_PART_GRID, "all rows, every 2nd column from 1"},
    {halves, FPO_PART_GRID, "of every 32 rows the first 16, from row 16, all columns"},
    {both, FPO_PART_GRID, "every 4th row from 2, columns from 100 on"},
    {edge, FPO_PART_EDGE, "the edge: rows from 256 on and columns from 192 on"},
    {everything, FPO_PART_ALL, "all of it"},
    {nothing, FPO_PART_NONE, "nothing"},
    {few, FPO_PART_SCATTERED, "4 elements scattered over rows 3 to 291, columns from 11 on"},
};

/* `every`: of the wrong elements so many are right by chance, one in `every`. */
static void check(size_t i, uint32_t every)
{
    float *expected = calloc(M * N, sizeof *expected), *observed = calloc(M * N, sizeof *observed);
    int64_t wrong = 0, seen = 0;
    for (int64_t r = 0; r < M; r++) {
        for (int64_t c = 0; c < N; c++) {
            bool differs = cases[i].is_wrong(r, c) && (every == 0 || (uint32_t)++seen * 2654435761U % every != 0);
            observed[r * N + c] = differs ? 1.0f : 0.0f;
            wrong += differs;
        }
    }
    fpo_part part;
    char text[256];
    ck_assert(fpo_part_find(FPO_F32, M, N, expected, observed, &part, NULL) == FPO_OK);
    fpo_part_text(&part, text, sizeof text);
    ck_assert_str_eq(text, cases[i].text);
    ck_assert_int_eq(part.kind, cases[i].kind);
    ck_assert_int_eq(part.wrong, wrong);
    int64_t members = 0;
    for (int64_t r = 0; r < M; r++) {
        for (int64_t c = 0; c < N; c++) {
            bool has = fpo_part_has(&part, r, c, observed[r * N + c] != 0);
            ck_assert(has == cases[i].is_wrong(r, c));
            members += has;
        }
    }
    ck_assert_int_eq(members, part.elements);
    free(expected);
    free(observed);
}

START_TEST(parts_are_described)
{
    check((size_t)_i, 0);
}
END_TEST

START_TEST(elements_right_by_chance_do_not_hide_the_shape)
{
    if (cases[_i].kind != FPO_PART_SCATTERED && cases[_i].is_wrong != one)
        check((size_t)_i, 5);
}
END_TEST

START_TEST(nan_has_parts_too)
{
    static uint16_t observed[64 * 32]; /* bf16 */
    for (int r = 0; r < 64; r += 8)
        for (int c = 0; c < 32; c++)
            observed[r * 32 + c] = 0x7FFF;
    fpo_part part;
    char text[256];
    ck_assert(fpo_part_find_nan(FPO_BF16, 64, 32, observed, &part, NULL) == FPO_OK);
    fpo_part_text(&part, text, sizeof text);
    ck_assert_str_eq(text, "every 8th row from 0, all columns");
    ck_assert_int_eq(part.wrong, 8 * 32);
}
END_TEST

START_TEST(packed_codes)
{
    uint8_t expected[6] = {0}, observed[6] = {0, 0x10, 0, 0, 0, 0}; /* e2m1, 2 x 5 */
    fpo_part part;
    char text[256];
    ck_assert(fpo_part_find(FPO_E2M1, 2, 5, expected, observed, &part, NULL) == FPO_OK);
    fpo_part_text(&part, text, sizeof text);
    ck_assert_str_eq(text, "row 0, column 3");
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("part");
    TCase *tests = tcase_create("part");
    tcase_add_loop_test(tests, parts_are_described, 0, sizeof cases / sizeof cases[0]);
    tcase_add_loop_test(tests, elements_right_by_chance_do_not_hide_the_shape, 0, sizeof cases / sizeof cases[0]);
    tcase_add_test(tests, nan_has_parts_too);
    tcase_add_test(tests, packed_codes);
    suite_add_tcase(suite, tests);
    return suite;
}

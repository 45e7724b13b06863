/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Scale layouts against what the libraries do: pad, reshape, permute, flatten. */
#include "suite.h"

#include <fp4oracle/layout.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 6 };

/* A library's way from a matrix to bytes. Extents and multiples of the shape; 0 as an extent means "what is left". */
typedef struct recipe {
    fpo_layout layout;
    int64_t row_multiple, column_multiple; /* pad to */
    int row_dims, dims;                    /* the first row_dims split the rows, the others the columns */
    int64_t shape[DIMS];
    int order[DIMS]; /* permute(order) */
    const char *source;
} recipe;

static const recipe recipes[] = {
    {FPO_LAYOUT_LINEAR, 1, 1, 1, 2, {0, 0}, {0, 1}, "contiguous"},
    {FPO_LAYOUT_128X4, 128, 4, 3, 5, {0, 4, 32, 0, 4}, {0, 3, 2, 1, 4}, "vLLM nvfp4_utils.py swizzle_blockscale"},
    {FPO_LAYOUT_8X4, 8, 4, 2, 4, {0, 8, 0, 4}, {0, 2, 1, 3}, "FlashInfer quantization_utils.cuh:967-1025"},
    {FPO_LAYOUT_MN_MAJOR, 1, 1, 1, 2, {0, 0}, {1, 0}, "CUTLASS blockwise_scale_layout.hpp: a transpose"},
    {FPO_LAYOUT_MN_MAJOR_4, 4, 1, 1, 2, {0, 0}, {1, 0}, "DeepGEMM layout.hpp:85-118: a transpose, 16-byte aligned"},
    {FPO_LAYOUT_K_MAJOR_4, 1, 4, 1, 2, {0, 0}, {0, 1}, "TransformerEngine float8_blockwise_tensor.py get_scale_shape"},
    {FPO_LAYOUT_PACKED_WORDS, 4, 4, 1, 3, {0, 0, 4}, {1, 0, 2}, "DeepGEMM smxx_layout.cuh: 4 bytes a word, transposed"},
};

static int64_t pad(int64_t n, int64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* Fills in the extents that are 0, for rows and for columns. */
static void resolve(const recipe *r, int64_t rows, int64_t columns, int64_t shape[DIMS])
{
    for (int side = 0; side < 2; side++) {
        int from = side == 0 ? 0 : r->row_dims, to = side == 0 ? r->row_dims : r->dims;
        int64_t left = side == 0 ? rows : columns;
        int open = -1;
        for (int d = from; d < to; d++) {
            shape[d] = r->shape[d];
            if (shape[d] == 0)
                open = d;
            else
                left /= shape[d];
        }
        ck_assert_int_ge(open, 0);
        shape[open] = left;
    }
}

/* bytes: the padded matrix, rows contiguous -> permuted. */
static void permute(const recipe *r, const int64_t shape[DIMS], const uint8_t *from, uint8_t *to, int64_t n)
{
    for (int64_t at = 0; at < n; at++) {
        int64_t index[DIMS] = {0}, rest = at, source = 0;
        for (int d = r->dims - 1; d >= 0; d--) { /* position in the permuted shape */
            int64_t extent = shape[r->order[d]];
            index[r->order[d]] = rest % extent;
            rest /= extent;
        }
        for (int d = 0; d < r->dims; d++)
            source = source * shape[d] + index[d];
        to[at] = from[source];
    }
}

static void check(const recipe *r, int64_t rows, int64_t columns)
{
    int64_t padded_rows = pad(rows, r->row_multiple), padded_columns = pad(columns, r->column_multiple);
    int64_t n = padded_rows * padded_columns;
    uint8_t *linear = malloc((size_t)(rows * columns)), *padded = malloc((size_t)n), *expected = malloc((size_t)n);
    uint8_t *got = malloc((size_t)n), *back = malloc((size_t)(rows * columns));
    for (int64_t i = 0; i < rows * columns; i++)
        linear[i] = (uint8_t)((uint64_t)i * 0x9E3779B97F4A7C15u >> 40);
    memset(padded, 0xA5, (size_t)n);
    for (int64_t row = 0; row < rows; row++)
        memcpy(padded + row * padded_columns, linear + row * columns, (size_t)columns);
    int64_t shape[DIMS];
    resolve(r, padded_rows, padded_columns, shape);
    permute(r, shape, padded, expected, n);

    ck_assert_int_eq(fpo_layout_size(r->layout, rows, columns), n);
    fpo_layout_apply(r->layout, rows, columns, 1, linear, got, 0xA5);
    ck_assert_msg(memcmp(expected, got, (size_t)n) == 0, "%s is not %s at %lld x %lld", fpo_layout_name(r->layout),
                  r->source, (long long)rows, (long long)columns);
    memset(back, 0, (size_t)(rows * columns));
    fpo_layout_undo(r->layout, rows, columns, 1, got, back);
    ck_assert_mem_eq(linear, back, (size_t)(rows * columns));
    free(linear), free(padded), free(expected), free(got), free(back);
}

static const int64_t row_counts[] = {1, 5, 31, 33, 128, 129, 300};
static const int64_t column_counts[] = {1, 3, 4, 7, 32};

START_TEST(reshape_permute)
{
    for (size_t i = 0; i < sizeof row_counts / sizeof *row_counts; i++)
        for (size_t j = 0; j < sizeof column_counts / sizeof *column_counts; j++)
            check(&recipes[_i], row_counts[i], column_counts[j]);
}
END_TEST

/* faults.md, 128x4 against linear: NVFP4, M=128, K=64, a linear buffer read as 128x4 gives row m the scales of row
 * 4(m mod 32) + m/32: only rows 0 and 127 stay. */
START_TEST(linear_read_as_128x4)
{
    uint8_t linear[128 * 4], read[128 * 4];
    for (int i = 0; i < 128 * 4; i++)
        linear[i] = (uint8_t)(i / 4);
    fpo_layout_undo(FPO_LAYOUT_128X4, 128, 4, 1, linear, read);
    int stayed = 0;
    for (int row = 0; row < 128; row++) {
        for (int column = 0; column < 4; column++)
            ck_assert_uint_eq(read[row * 4 + column], (unsigned)(4 * (row % 32) + row / 32));
        stayed += read[row * 4] == row;
    }
    ck_assert_int_eq(stayed, 2);
}
END_TEST

/* Elements wider than a byte move whole. */
START_TEST(wide_elements)
{
    float linear[5 * 3], stored[128 * 4], back[5 * 3];
    for (int i = 0; i < 15; i++)
        linear[i] = (float)i + 0.5f;
    fpo_layout_apply(FPO_LAYOUT_128X4, 5, 3, sizeof(float), linear, stored, 0);
    for (int row = 0; row < 5; row++)
        for (int column = 0; column < 3; column++)
            ck_assert(stored[fpo_layout_offset(FPO_LAYOUT_128X4, 5, 3, row, column)] == linear[row * 3 + column]);
    fpo_layout_undo(FPO_LAYOUT_128X4, 5, 3, sizeof(float), stored, back);
    ck_assert_mem_eq(linear, back, sizeof linear);
}
END_TEST

START_TEST(sizes_and_names)
{
    for (int layout = 0; layout < FPO_LAYOUT_COUNT; layout++) {
        /* One column and no padding: the largest number of rows there is. K_MAJOR_4 pads that column, and overflows. */
        bool unpadded = layout == FPO_LAYOUT_LINEAR || layout == FPO_LAYOUT_MN_MAJOR;
        ck_assert_int_eq(fpo_layout_by_name(fpo_layout_name((fpo_layout)layout)), layout);
        ck_assert_int_eq(fpo_layout_size((fpo_layout)layout, 0, 7), 0);
        ck_assert_int_eq(fpo_layout_size((fpo_layout)layout, -1, 1), -1);
        ck_assert_int_eq(fpo_layout_size((fpo_layout)layout, INT64_MAX, 1), unpadded ? INT64_MAX : -1);
        ck_assert_int_eq(fpo_layout_size((fpo_layout)layout, INT64_MAX / 2, INT64_MAX / 2), -1);
    }
    ck_assert_int_eq(fpo_layout_by_name("128x5"), FPO_LAYOUT_COUNT);
    ck_assert_ptr_null(fpo_layout_describe(FPO_LAYOUT_COUNT));
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("layout");
    TCase *tests = tcase_create("scales");
    tcase_add_loop_test(tests, reshape_permute, 0, (int)(sizeof recipes / sizeof *recipes));
    tcase_add_test(tests, linear_read_as_128x4);
    tcase_add_test(tests, wide_elements);
    tcase_add_test(tests, sizes_and_names);
    suite_add_tcase(suite, tests);
    return suite;
}

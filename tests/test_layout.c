/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Scale layouts against what the libraries do: pad, reshape, permute, flatten. */
#include "suite.h"

#include <fp4oracle/layout.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 8 };

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
    {FPO_LAYOUT_128X4_MN,
     4,
     128,
     2,
     5,
     {0, 4, 0, 4, 32},
     {2, 0, 4, 3, 1},
     "CUTLASS sm100_blockscaled_layout.hpp:54-58"},
    {FPO_LAYOUT_128X4_TRTLLM_32,
     128,
     4,
     4,
     6,
     {0, 4, 8, 4, 0, 4},
     {0, 4, 3, 2, 1, 5},
     "FlashInfer shuffle_matrix_sf_a"},
    {FPO_LAYOUT_128X4_TRTLLM_16,
     128,
     4,
     5,
     7,
     {0, 4, 2, 8, 2, 0, 4},
     {0, 5, 2, 4, 3, 1, 6},
     "FlashInfer shuffle_matrix_sf_a"},
    {FPO_LAYOUT_PADDED, 128, 4, 1, 2, {0, 0}, {0, 1}, "TransformerEngine mxfp8_tensor.py get_scale_shape"},
    {FPO_LAYOUT_K_MAJOR_16, 1, 16, 1, 2, {0, 0}, {0, 1}, "quack: padded row-major"},
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

/* ggml's blocks, as C declares them (ggml-common.h): scales by the layout, codes by the packing, in one buffer. */
struct block_mxfp4 {
    uint8_t e, qs[16];
};
struct block_nvfp4 {
    uint8_t d[4], qs[32];
};

START_TEST(ggml_blocks)
{
    enum { ROWS = 3, K = 128 };
    uint8_t codes[ROWS * K], scales[ROWS * K / 16], back[ROWS * K], scales_back[ROWS * K / 16];
    for (int i = 0; i < ROWS * K; i++)
        codes[i] = (uint8_t)(i * 7 / 3 & 15);
    for (int i = 0; i < ROWS * K / 16; i++)
        scales[i] = (uint8_t)(i * 37 + 1);
    for (int nvfp4 = 0; nvfp4 < 2; nvfp4++) {
        fpo_layout layout = nvfp4 ? FPO_LAYOUT_GGML_NVFP4 : FPO_LAYOUT_GGML_MXFP4;
        fpo_packing packing = nvfp4 ? FPO_PACKING_GGML_NVFP4_BLOCKS : FPO_PACKING_GGML_MXFP4_BLOCKS;
        int columns = nvfp4 ? K / 16 : K / 32;
        uint8_t memory[ROWS * K];
        int64_t row_bytes = fpo_packing_row_bytes(packing, FPO_E2M1, K);
        ck_assert_int_eq(row_bytes, nvfp4 ? K / 64 * 36 : K / 32 * 17);
        ck_assert_int_eq(fpo_layout_size(layout, ROWS, columns), ROWS * row_bytes);
        for (int row = 0; row < ROWS; row++)
            fpo_pack_row(packing, FPO_E2M1, K, codes + row * K, memory + row * row_bytes);
        fpo_layout_scatter(layout, ROWS, columns, 1, scales, memory);
        for (int i = 0; i < ROWS * K; i++) {
            const struct block_mxfp4 *m = (const struct block_mxfp4 *)memory + i / 32;
            const struct block_nvfp4 *n = (const struct block_nvfp4 *)memory + i / 64;
            int group = i % 64 / 16, j = nvfp4 ? i % 16 : i % 32, half = nvfp4 ? 8 : 16;
            uint8_t byte = nvfp4 ? n->qs[group * 8 + j % 8] : m->qs[j % 16];
            ck_assert_uint_eq(codes[i], j < half ? byte & 15u : byte >> 4);
            ck_assert_uint_eq(scales[nvfp4 ? i / 16 : i / 32], nvfp4 ? n->d[group] : m->e);
        }
        for (int row = 0; row < ROWS; row++)
            fpo_unpack_row(packing, FPO_E2M1, K, memory + row * row_bytes, back + row * K);
        fpo_layout_undo(layout, ROWS, columns, 1, memory, scales_back);
        ck_assert_mem_eq(codes, back, sizeof codes);
        ck_assert_mem_eq(scales, scales_back, (size_t)(ROWS * columns));
    }
}
END_TEST

/* FlashInfer's tables of rows (utils.py): where row i of a block comes to lie. */
START_TEST(trtllm_rows)
{
    static const int by_32[32] = {0, 8,  16, 24, 1, 9,  17, 25, 2, 10, 18, 26, 3, 11, 19, 27,
                                  4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31};
    static const int by_16[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
    uint8_t linear[256 * 5], shuffled[256 * 5], expected[256 * 8], got[256 * 8];
    for (int i = 0; i < 256 * 5; i++)
        linear[i] = (uint8_t)(i * 11 / 3);
    for (int b = 0; b < 2; b++) {
        int block = b ? 16 : 32;
        for (int row = 0; row < 256; row++) {
            int to = row / block * block + (b ? by_16[row % 16] : by_32[row % 32]);
            ck_assert_int_eq(fpo_trtllm_row(block, row), to);
            memcpy(shuffled + to * 5, linear + row * 5, 5);
        }
        fpo_layout_apply(FPO_LAYOUT_128X4, 256, 5, 1, shuffled, expected, 0);
        fpo_layout_apply(b ? FPO_LAYOUT_128X4_TRTLLM_16 : FPO_LAYOUT_128X4_TRTLLM_32, 256, 5, 1, linear, got, 0);
        ck_assert_mem_eq(expected, got, sizeof got);
    }
}
END_TEST

/* Experts: each group padded by itself (faults.md 4: offsets from unpadded sizes). */
START_TEST(groups)
{
    static const int64_t rows[4] = {1, 0, 128, 130};
    int64_t offsets[5];
    ck_assert(fpo_layout_group_offsets(FPO_LAYOUT_128X4, 4, rows, 5, offsets));
    static const int64_t padded[5] = {0, 1024, 1024, 2048, 4096};
    ck_assert_mem_eq(offsets, padded, sizeof padded);
    ck_assert(fpo_layout_group_offsets(FPO_LAYOUT_LINEAR, 4, rows, 5, offsets));
    static const int64_t linear[5] = {0, 5, 5, 645, 1295};
    ck_assert_mem_eq(offsets, linear, sizeof linear);
    static const int64_t huge[2] = {INT64_MAX / 8, INT64_MAX / 8};
    ck_assert(!fpo_layout_group_offsets(FPO_LAYOUT_LINEAR, 2, huge, 5, offsets));
    ck_assert(!fpo_layout_group_offsets_spaced(FPO_LAYOUT_LINEAR, 2, huge, 5, offsets));
    static const int64_t negative[1] = {-1};
    ck_assert(!fpo_layout_group_offsets_spaced(FPO_LAYOUT_LINEAR, 1, negative, 5, offsets));
}
END_TEST

/* All layouts, both ways of placing groups: sizes by the library's padding, starts by FlashInfer's formula for
 * m_indptr. */
START_TEST(groups_of_every_layout)
{
    static const int64_t rows[6] = {1, 0, 128, 130, 3, 500};
    const recipe *r = &recipes[_i];
    for (int64_t columns = 1; columns < 40; columns += 6) {
        int64_t offsets[7], spaced[7], begin = 0, indptr = 0, width = pad(columns, r->column_multiple);
        ck_assert(fpo_layout_group_offsets(r->layout, 6, rows, columns, offsets));
        ck_assert(fpo_layout_group_offsets_spaced(r->layout, 6, rows, columns, spaced));
        for (int i = 0; i <= 6; i++) {
            int64_t multiple = r->row_multiple;
            ck_assert_int_eq(offsets[i], begin);
            ck_assert_int_eq(spaced[i], (indptr + i * (multiple - 1)) / multiple * multiple * width);
            if (i == 6)
                break;
            ck_assert_int_ge(spaced[i + 1] - spaced[i], pad(rows[i], multiple) * width);
            begin += pad(rows[i], multiple) * width;
            indptr += rows[i];
        }
    }
}
END_TEST

/* The same in numbers: 128x4 with 5 scales a row, 1024 elements for 128 rows. */
START_TEST(spaced_groups)
{
    static const int64_t rows[4] = {1, 0, 128, 130}, expected[5] = {0, 1024, 1024, 3072, 5120};
    int64_t offsets[5];
    ck_assert(fpo_layout_group_offsets_spaced(FPO_LAYOUT_128X4, 4, rows, 5, offsets));
    ck_assert_mem_eq(offsets, expected, sizeof expected);
}
END_TEST

/* A layout that is added to the registry needs a description here: ggml's have their structs, the others a recipe. */
START_TEST(all_described)
{
    for (int layout = 0; layout < FPO_LAYOUT_COUNT; layout++) {
        bool found = layout == FPO_LAYOUT_GGML_MXFP4 || layout == FPO_LAYOUT_GGML_NVFP4;
        for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
            found |= (int)recipes[i].layout == layout;
        ck_assert_msg(found, "%s has no independent description", fpo_layout_name((fpo_layout)layout));
    }
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
    tcase_add_test(tests, ggml_blocks);
    tcase_add_test(tests, trtllm_rows);
    tcase_add_test(tests, groups);
    tcase_add_loop_test(tests, groups_of_every_layout, 0, (int)(sizeof recipes / sizeof *recipes));
    tcase_add_test(tests, spaced_groups);
    tcase_add_test(tests, all_described);
    tcase_add_test(tests, sizes_and_names);
    suite_add_tcase(suite, tests);
    return suite;
}

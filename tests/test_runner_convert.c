/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Conversion to what a kernel declares, against addresses worked out here code by code. */
#include "convert.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

/* The canonical e2m1 or one-byte code of (row, k): all different for its neighbours. */
static uint32_t code_at(fpo_format format, int64_t row, int64_t k)
{
    return (uint32_t)(row * 7 + k * 3 + row * k) & fpo_format_describe(format)->code_mask;
}

static uint8_t *canonical(fpo_format format, int64_t rows, int64_t k)
{
    int64_t line = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, format, k);
    uint8_t *codes = calloc((size_t)(rows * line), 1);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = 0; i < k; i++) {
            uint32_t code = code_at(format, row, i);
            if (format == FPO_E2M1) {
                codes[row * line + i / 2] |= (uint8_t)(code << (i % 2 * 4));
            } else {
                fpo_store_code(format, codes, (size_t)(row * k + i), code);
            }
        }
    }
    return codes;
}

static const struct {
    fpo_format format;
    fpo_packing packing;
    bool mn_major;
    int64_t rows, k, multiple, gap;
} cases[] = {
    {FPO_E2M1, FPO_PACKING_CANONICAL, false, 5, 17, 1, 0},
    {FPO_E2M1, FPO_PACKING_CANONICAL, true, 5, 17, 1, 0},
    {FPO_E2M1, FPO_PACKING_NIBBLES_SWAPPED, false, 3, 33, 16, 0},
    {FPO_E2M1, FPO_PACKING_NIBBLES_SWAPPED, true, 7, 4, 16, 64},
    {FPO_E4M3, FPO_PACKING_CANONICAL, false, 4, 9, 1, 64},
    {FPO_E4M3, FPO_PACKING_CANONICAL, true, 4, 9, 32, 1},
    {FPO_E3M2, FPO_PACKING_CANONICAL, true, 1, 1, 1, 0},
    {FPO_BF16, FPO_PACKING_CANONICAL, true, 6, 5, 4, 0},
    {FPO_F32, FPO_PACKING_CANONICAL, false, 2, 3, 128, 0},
    {FPO_E2M3, FPO_PACKING_FP6_DENSE, false, 3, 22, 16, 0},
    {FPO_E3M2, FPO_PACKING_FP6_DENSE, true, 9, 3, 1, 64},
    {FPO_E2M3, FPO_PACKING_FP6_16_PADDED, false, 2, 35, 1, 0},
    {FPO_E2M1, FPO_PACKING_FP4_16_PADDED, true, 21, 2, 32, 0},
    {FPO_E2M1, FPO_PACKING_FP4_BYTES, false, 3, 5, 1, 0},
    {FPO_E2M1, FPO_PACKING_FP4_BYTES_SHIFTED, true, 3, 5, 1, 0},
};

/* Where code `i` of a line has its lowest bit. */
static int64_t bit_of(fpo_packing packing, fpo_format format, int64_t i)
{
    switch (packing) {
    case FPO_PACKING_FP6_DENSE: return 6 * i;
    case FPO_PACKING_FP6_16_PADDED: return i / 16 * 128 + i % 16 * 6;
    case FPO_PACKING_FP4_16_PADDED: return i / 16 * 128 + i % 16 * 4;
    case FPO_PACKING_FP4_BYTES: return 8 * i;
    case FPO_PACKING_FP4_BYTES_SHIFTED: return 8 * i + 2;
    case FPO_PACKING_NIBBLES_SWAPPED: return i / 2 * 8 + (i % 2 == 0 ? 4 : 0);
    default: return i * (format == FPO_E2M1 ? 4 : 8 * fpo_format_describe(format)->storage_bytes);
    }
}

START_TEST(codes)
{
    fpo_format format = cases[_i].format;
    int64_t rows = cases[_i].rows, k = cases[_i].k;
    const fpo_operand_want want = {.view = {.element = format, .packing = cases[_i].packing},
                                   .mn_major = cases[_i].mn_major,
                                   .line_multiple = cases[_i].multiple};
    fpo_lines lines;
    fpo_error error;
    ck_assert_int_eq(fpo_operand_lines(&want, rows, k, cases[_i].gap, &lines, &error), FPO_OK);
    int64_t line_count = want.mn_major ? k : rows, length = want.mn_major ? rows : k;
    ck_assert_int_eq(lines.lines, line_count);
    ck_assert_int_eq(lines.line % want.line_multiple, 0);
    ck_assert_int_ge(lines.line, lines.used + cases[_i].gap);
    ck_assert_int_lt(lines.line, lines.used + cases[_i].gap + want.line_multiple);
    ck_assert_int_eq(lines.bytes, (line_count - 1) * lines.line + lines.used);
    uint8_t *from = canonical(format, rows, k), *to = malloc((size_t)lines.bytes);
    ck_assert_int_eq(fpo_convert_codes(&want, from, rows, k, &lines, 0xEE, to, &error), FPO_OK);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = 0; i < k; i++) {
            int64_t outer = want.mn_major ? i : row, inner = want.mn_major ? row : i;
            const uint8_t *line = to + outer * lines.line;
            uint32_t code = 0;
            for (int bit = 0; bit < fpo_format_describe(format)->bits; bit++) {
                int64_t at = bit_of(want.view.packing, format, inner) + bit;
                code |= (uint32_t)(line[at / 8] >> at % 8 & 1) << bit;
            }
            ck_assert_msg(code == code_at(format, row, i), "row %ld k %ld", (long)row, (long)i);
        }
    }
    for (int64_t i = 0; i + 1 < line_count; i++) {
        for (int64_t byte = lines.used; byte < lines.line; byte++) {
            ck_assert_uint_eq(to[i * lines.line + byte], 0xEE);
        }
    }
    ck_assert_int_ge(length, 1);
    free(from);
    free(to);
}
END_TEST

START_TEST(outputs_come_back)
{
    const struct {
        fpo_format format;
        bool column_major;
        int64_t m, n, multiple;
    } outputs[] = {
        {FPO_F32, true, 5, 7, 64}, {FPO_BF16, false, 3, 9, 16}, {FPO_E2M1, true, 5, 3, 1}, {FPO_E2M1, false, 4, 5, 8}};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        const fpo_matrix_want want = {outputs[i].format, outputs[i].column_major, outputs[i].multiple};
        int64_t m = outputs[i].m, n = outputs[i].n;
        fpo_lines lines;
        ck_assert_int_eq(fpo_matrix_lines(&want, m, n, 0, &lines, NULL), FPO_OK);
        size_t bytes = (size_t)(m * fpo_packing_row_bytes(FPO_PACKING_CANONICAL, want.format, n));
        uint8_t *from = canonical(want.format, m, n), *image = malloc((size_t)lines.bytes), *back = calloc(bytes, 1);
        ck_assert_int_eq(fpo_convert_matrix(&want, from, m, n, &lines, 0x11, image, NULL), FPO_OK);
        ck_assert_int_eq(fpo_convert_back(&want, image, m, n, &lines, back, NULL), FPO_OK);
        ck_assert_mem_eq(from, back, bytes);
        /* element (2, 1), by hand */
        uint32_t code = code_at(want.format, 2, 1);
        int64_t outer = want.column_major ? 1 : 2, inner = want.column_major ? 2 : 1;
        int storage = fpo_format_describe(want.format)->storage_bytes;
        const uint8_t *line = image + outer * lines.line;
        ck_assert_uint_eq(want.format == FPO_E2M1 ? line[inner / 2] >> inner % 2 * 4 & 15u : line[inner * storage],
                          code & 0xFF);
        free(from);
        free(image);
        free(back);
    }
}
END_TEST

START_TEST(scales)
{
    fpo_operand_want want = {.view = {.element = FPO_E2M1, .scale = {FPO_UE4M3, 1, 16, FPO_LAYOUT_128X4}}};
    uint8_t linear[5 * 3], image[512];
    ck_assert_int_eq(fpo_converted_scales_bytes(&want, 5, 40), 512);
    for (int i = 0; i < 15; i++) {
        linear[i] = (uint8_t)(i + 1);
    }
    fpo_convert_scales(&want, linear, 5, 40, 0x7F, image);
    int padding = 0;
    for (int i = 0; i < 512; i++) {
        int row = i / 16 + i % 16 / 4 * 32, column = i % 4;
        bool real = row < 5 && column < 3;
        ck_assert_uint_eq(image[i], real ? linear[row * 3 + column] : 0x7F);
        padding += real ? 0 : 1;
    }
    ck_assert_int_eq(padding, 512 - 15);
    want.view.scale = (fpo_scale_view){FPO_F32, 128, 128, FPO_LAYOUT_LINEAR};
    ck_assert_int_eq(fpo_converted_scales_bytes(&want, 129, 300), 2 * 3 * 4);
    want.view.scale = (fpo_scale_view){FPO_FORMAT_NONE, 0, 0, FPO_LAYOUT_LINEAR};
    ck_assert_int_eq(fpo_converted_scales_bytes(&want, 129, 300), 0);
}
END_TEST

START_TEST(sizes_that_overflow)
{
    const fpo_operand_want want = {.view = {.element = FPO_F32}, .line_multiple = 16};
    const struct {
        int64_t rows, k;
    } sizes[] = {{INT64_MAX, INT64_MAX}, {INT64_MAX / 2, 3}, {1, INT64_MAX / 4 + 1}, {3, INT64_MAX / 8}, {0, 4}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fpo_lines lines;
        fpo_error error = {0};
        ck_assert_int_eq(fpo_operand_lines(&want, sizes[i].rows, sizes[i].k, 64, &lines, &error), FPO_ERR_SHAPE);
    }
    const fpo_operand_want scaled = {.view = {.element = FPO_E2M1, .scale = {FPO_F32, 1, 1, FPO_LAYOUT_LINEAR}}};
    ck_assert_int_eq(fpo_converted_scales_bytes(&scaled, INT64_MAX / 4, 5), -1);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("runner_convert");
    TCase *tests = tcase_create("convert");
    tcase_add_loop_test(tests, codes, 0, (int)(sizeof cases / sizeof cases[0]));
    tcase_add_test(tests, outputs_come_back);
    tcase_add_test(tests, scales);
    tcase_add_test(tests, sizes_that_overflow);
    suite_add_tcase(suite, tests);
    return suite;
}

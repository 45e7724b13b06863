/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Defects of the field as worked examples: numbers derived by hand from the format definitions, the edit that makes
 * them, and the diagnosis that finds it in the output alone. */
#include "causes.h"
#include "suite.h"

#include "gemm_case.h"

#include <fp4oracle/fp4oracle.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 14 };

/* A number, or NaN, whatever its bits. */
static void check_number(double found, double wanted, int64_t index, const char *what)
{
    bool equal = isnan(wanted) ? isnan(found) : found == wanted;
    ck_assert_msg(equal, "%s: element %lld is %g, not %g", what, (long long)index, found, wanted);
}

/* The case gives `right`, with the edit it gives `wrong`, and the diagnosis of that names the edit: alone, in a set
 * that these operands cannot tell apart, or in one that is larger than there is room for. */
static void check(gemm_case *x, fpo_edit edit, const double *right, const double *wrong)
{
    const fpo_gemm_problem *p = &x->problem;
    const char *name = fpo_edit_describe(edit.kind)->name;
    fpo_format format = x->spec.epilogue.d;
    static unsigned char d[MOST];
    size_t bytes = fpo_output_bytes(&x->spec, p->m, p->n);
    fpo_gemm_output output = {.d = d, .d_bytes = sizeof d};
    fpo_edited edited;
    fpo_diagnosis diagnosis;
    ck_assert_uint_le(bytes, sizeof d);
    gemm_case_check_twin(x, name);
    for (int64_t i = 0; i < p->m * p->n; i++)
        check_number(gemm_case_value(x, i / p->n, i % p->n), right[i], i, "right");
    ck_assert(fpo_edited_open(&x->spec, p, &edit, 1, &edited, NULL) == FPO_OK);
    ck_assert(fpo_edited_gemm(&edited, &output, NULL, NULL) == FPO_OK);
    fpo_edited_close(&edited);
    for (int64_t i = 0; i < p->m * p->n; i++)
        check_number(fpo_decode_double(format, fpo_load_code(format, d, (size_t)i)), wrong[i], i, name);
    ck_assert(fpo_diagnose(&x->spec, p, d, bytes, NULL, &diagnosis, NULL) == FPO_OK);
    if (memcmp(d, x->d, bytes) == 0)
        ck_assert_int_eq(diagnosis.verdict, FPO_VERDICT_MATCH);
    else
        ck_assert_msg(is_a_cause(&diagnosis, &edit) || diagnosis.unconfirmed > 0, "%s is not named", name);
    gemm_case_free(x);
}

static fpo_edit of(fpo_edit_kind kind, int operands, int from, int to)
{
    return (fpo_edit){.kind = kind, .operands = operands, .from = from, .to = to};
}

START_TEST(ue4m3_subnormals)
{
    double right[8], normal[8], flushed[8] = {0};
    for (int kind = 0; kind < 2; kind++) {
        gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 8, 64, FPO_F32);
        for (int n = 0; n < 8; n++) {
            gemm_case_fill_scales(x, SIDE_B, n, (uint32_t)n);
            right[n] = n / 8.0;
            normal[n] = 0.5 + n / 16.0;
        }
        if (kind == 0)
            check(x, of(FPO_EDIT_UE4M3_NORMAL, FPO_OPERAND_B, 0, 0), right, normal);
        else
            check(x, of(FPO_EDIT_UE4M3_FLUSHED, FPO_OPERAND_B, 0, 0), right, flushed);
    }
}
END_TEST

START_TEST(ue8m0_edges)
{
    static const uint32_t codes[4] = {0x00, 0x7F, 0x86, 0xFF};
    const double right[4] = {0x1p-122, 32, 4096, NAN}, shifted[4] = {0, 32, 4096, INFINITY};
    gemm_case *x = gemm_case_new(FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, 4, 1, 32, FPO_F32);
    for (int m = 0; m < 4; m++)
        gemm_case_fill_scales(x, SIDE_A, m, codes[m]);
    check(x, of(FPO_EDIT_UE8M0_SHIFTED, FPO_OPERAND_A, 0, 0), right, shifted);
}
END_TEST

START_TEST(ue8m0_through_f16)
{
    double right[12], wrong[12];
    gemm_case *x = gemm_case_new(FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, 12, 1, 32, FPO_F32);
    for (int m = 0; m < 12; m++) {
        uint32_t code = m < 10 ? 103 + (uint32_t)m : m == 10 ? 113 : 120;
        gemm_case_fill_scales(x, SIDE_A, m, code);
        right[m] = ldexp(32, (int)code - 127);
        wrong[m] = m < 10 ? 0 : right[m];
    }
    check(x, of(FPO_EDIT_UE8M0_THROUGH_F16, FPO_OPERAND_A, 0, 0), right, wrong);
}
END_TEST

static gemm_case *f32_scaled(int64_t k, uint32_t scale)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128, 1, 1, k, FPO_F32);
    gemm_case_fill_scales(x, SIDE_A, 0, scale);
    return x;
}

START_TEST(f32_scales_for_ue8m0)
{
    const double one = 512, half = 256, below = 512 * (double)0x1.fffffep-1f, nan = NAN;
    check(f32_scaled(512, 0x3F800000), of(FPO_EDIT_F32_RAW_BYTES, FPO_OPERAND_A, 0, 0), &one, &half);
    check(f32_scaled(512, 0x3F7FFFFF), of(FPO_EDIT_F32_RAW_BYTES, FPO_OPERAND_A, 0, 0), &below, &nan);
    const double three_quarters = 96, floor = 64, ceiling = 128, exact = 64;
    check(f32_scaled(128, 0x3F400000), of(FPO_EDIT_F32_MANTISSA_DROPPED, FPO_OPERAND_A, 0, 0), &three_quarters, &floor);
    check(f32_scaled(128, 0x3F400000), of(FPO_EDIT_F32_ROUNDED_UP, FPO_OPERAND_A, 0, 0), &three_quarters, &ceiling);
    check(f32_scaled(128, 0x3F000000), of(FPO_EDIT_F32_MANTISSA_DROPPED, FPO_OPERAND_A, 0, 0), &exact, &exact);
    check(f32_scaled(128, 0x3F000000), of(FPO_EDIT_F32_ROUNDED_UP, FPO_OPERAND_A, 0, 0), &exact, &exact);
    /* 0x3F800000 four times, packed without masking: 7F | 7F<<8 | 7F<<16 | 7F<<24 has no mantissa to spill; 1.5 does:
     * v>>15 of 0x3FC00000 is 0x7F80, whose low byte lands in the scale before: 7F|80 = FF, NaN. */
    const double three_halves = 768;
    check(f32_scaled(512, 0x3F800000), of(FPO_EDIT_F32_PACKED_UNMASKED, FPO_OPERAND_A, 0, 0), &one, &one);
    check(f32_scaled(512, 0x3FC00000), of(FPO_EDIT_F32_PACKED_UNMASKED, FPO_OPERAND_A, 0, 0), &three_halves, &nan);
}
END_TEST

START_TEST(tensor_scales)
{
    const double eight = 8, inverted = 512;
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 1, 64, FPO_F32);
    x->problem.a.tensor_scale = 0.125f;
    check(x, of(FPO_EDIT_TENSOR_SCALE_INVERTED, FPO_OPERAND_A, 0, 0), &eight, &inverted);
    /* Two halves of a fused layer: the second half's scale is 2^-1, not 2^-3. */
    const double one_scale[4] = {8, 8, 8, 8}, two_scales[4] = {8, 8, 32, 32};
    x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 4, 64, FPO_F32);
    x->problem.b.tensor_scale = 0.125f;
    fpo_edit edit = {.kind = FPO_EDIT_COLUMN_FACTOR, .from = 2, .value = 4};
    check(x, edit, one_scale, two_scales);
}
END_TEST

START_TEST(nibble_order)
{
    const double right[8] = {0.5, 1, 1.5, 2, 3, 4, 6, -6}, swapped[8] = {1, 0.5, 2, 1.5, 4, 3, -6, 6};
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 8, 16, FPO_F32);
    gemm_case_fill_row(x, SIDE_A, 0, 0);
    for (int k = 0; k < 8; k++) {
        gemm_case_set_element(x, SIDE_A, 0, k, k < 7 ? (uint32_t)k + 1 : 0xF);
        gemm_case_fill_row(x, SIDE_B, k, 0);
        gemm_case_set_element(x, SIDE_B, k, k, 2);
    }
    check(x, of(FPO_EDIT_NIBBLE_ORDER, FPO_OPERAND_A, 0, 0), right, swapped);
}
END_TEST

START_TEST(linear_read_as_128x4)
{
    double right[128], wrong[128];
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 128, 1, 64, FPO_F32);
    for (int m = 0; m < 128; m++) {
        int source = 4 * (m % 32) + m / 32;
        gemm_case_fill_scales(x, SIDE_A, m, (uint32_t)m);
        right[m] = 64 * fpo_decode_double(FPO_UE4M3, (uint32_t)m);
        wrong[m] = 64 * fpo_decode_double(FPO_UE4M3, (uint32_t)source);
    }
    check(x, of(FPO_EDIT_SCALE_LAYOUT, FPO_OPERAND_A, FPO_LAYOUT_LINEAR, FPO_LAYOUT_128X4), right, wrong);
}
END_TEST

/* One product of 2^16 and 31 of 2^j: 13 fraction bits below 2^16 end at 2^3. */
START_TEST(accumulator_ladder)
{
    int model = 0;
    while (strcmp(fpo_model_at((size_t)model)->name, "sm89_mma_fp8") != 0)
        model++;
    for (int j = 2; j <= 3; j++) {
        const double right = 65536 + 31 * ldexp(1, j), wrong = j == 2 ? 65536 : 65784;
        gemm_case *x = gemm_case_new(FPO_BLOCK_PLAIN_E4M3, FPO_BLOCK_PLAIN_E4M3, 1, 1, 32, FPO_F32);
        gemm_case_set_element(x, SIDE_A, 0, 0, 0x78); /* 256 */
        gemm_case_set_element(x, SIDE_B, 0, 0, 0x78);
        for (int k = 1; k < 32; k++)
            gemm_case_set_element(x, SIDE_A, 0, k, (uint32_t)(7 + j) << 3);
        check(x, of(FPO_EDIT_ACCUMULATION, 0, -1, model), &right, &wrong);
    }
}
END_TEST

START_TEST(scale_after_narrowing)
{
    const double right = 700, narrowed = INFINITY;
    static const uint32_t codes[4] = {0x78, 0x68, 0x58, 0x56}; /* 256, 64, 16, 14: squares and 14*8 make 70000 */
    gemm_case *x = gemm_case_new(FPO_BLOCK_PLAIN_E4M3, FPO_BLOCK_PLAIN_E4M3, 1, 1, 32, FPO_F16);
    gemm_case_fill_row(x, SIDE_A, 0, 0);
    for (int k = 0; k < 4; k++) {
        gemm_case_set_element(x, SIDE_A, 0, k, codes[k]);
        gemm_case_set_element(x, SIDE_B, 0, k, k < 3 ? codes[k] : 0x50);
    }
    x->problem.alpha = 0.01f;
    check(x, of(FPO_EDIT_NARROWED_FIRST, 0, 0, FPO_F16), &right, &narrowed);
}
END_TEST

/* Every nibble of a block is 0 and its scale became 7F. */
START_TEST(zero_block)
{
    const double right = 48, nan = NAN;
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 1, 64, FPO_F32);
    for (int k = 16; k < 32; k++)
        gemm_case_set_element(x, SIDE_A, 0, k, 0);
    check(x, of(FPO_EDIT_ZERO_BLOCK_SCALE, FPO_OPERAND_A, 0, 0x7F), &right, &nan);
}
END_TEST

/* The second of two groups of 40 rows, which the layout pads to 128, begins at row 40 of the buffer. */
START_TEST(group_offset)
{
    enum { ROWS = 80 };
    double right[ROWS], wrong[ROWS];
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, ROWS, 1, 64, FPO_F32);
    for (int m = 0; m < ROWS; m++)
        gemm_case_fill_scales(x, SIDE_A, m, (uint32_t)m + 8);
    for (int m = 0; m < ROWS; m++) {
        right[m] = 64 * fpo_decode_double(FPO_UE4M3, (uint32_t)m + 8);
        wrong[m] = m < 40 ? right[m] : 64 * fpo_decode_double(FPO_UE4M3, (uint32_t)m + 8 - 17);
    }
    check(x, of(FPO_EDIT_SCALE_GROUP_OFFSET, FPO_OPERAND_A, 40, -17), right, wrong);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("faults");
    TCase *cases = tcase_create("worked examples");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, ue4m3_subnormals);
    tcase_add_test(cases, ue8m0_edges);
    tcase_add_test(cases, ue8m0_through_f16);
    tcase_add_test(cases, f32_scales_for_ue8m0);
    tcase_add_test(cases, tensor_scales);
    tcase_add_test(cases, nibble_order);
    tcase_add_test(cases, linear_read_as_128x4);
    tcase_add_test(cases, accumulator_ladder);
    tcase_add_test(cases, scale_after_narrowing);
    tcase_add_test(cases, zero_block);
    tcase_add_test(cases, group_offset);
    suite_add_tcase(suite, cases);
    return suite;
}

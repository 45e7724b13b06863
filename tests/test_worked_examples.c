/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The worked examples of the defects in the field (faults.md) that concern formats and exact results: the numbers
 * printed there. "Ones": every element and every scale is 1. */
#include "gemm_case.h"
#include "suite.h"

#include <math.h>

static void expect(gemm_case *x, int64_t m, int64_t n, double value)
{
    double got = gemm_case_value(x, m, n);
    if (value != value)
        ck_assert_msg(got != got, "D[%lld,%lld] is %.17g, not NaN", (long long)m, (long long)n, got);
    else
        ck_assert_msg(got == value, "D[%lld,%lld] is %.17g, not %.17g", (long long)m, (long long)n, got, value);
}

START_TEST(ue4m3_subnormals)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 8, 64, FPO_F32);
    for (int n = 0; n < 8; n++)
        gemm_case_fill_scales(x, SIDE_B, n, (uint32_t)n);
    ck_assert_uint_eq(gemm_case_scale(x, SIDE_A, 0, 0), 0x38);
    gemm_case_run(x, NULL);
    for (int n = 0; n < 8; n++)
        expect(x, 0, n, n / 8.0);
    gemm_case_free(x);
}
END_TEST

START_TEST(ue8m0_edges)
{
    static const uint32_t scales[] = {0x00, 0x7F, 0x86, 0xFF};
    static const double values[] = {0x1p-122, 32, 4096, NAN};
    for (int format = FPO_BLOCK_MXFP8_E4M3; format <= FPO_BLOCK_MXFP8_E5M2; format++) {
        gemm_case *x = gemm_case_new((fpo_block_format)format, (fpo_block_format)format, 4, 1, 32, FPO_F32);
        for (int m = 0; m < 4; m++)
            gemm_case_fill_scales(x, SIDE_A, m, scales[m]);
        ck_assert_uint_eq(gemm_case_scale(x, SIDE_B, 0, 0), 0x7F);
        gemm_case_run(x, NULL);
        for (int m = 0; m < 4; m++)
            expect(x, m, 0, values[m]);
        ck_assert_uint_eq(gemm_case_code(x, 3, 0), 0x7FFFFFFF);
        gemm_case_free(x);
    }
}
END_TEST

START_TEST(ue8m0_small_codes)
{
    static const int codes[] = {103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 120};
    gemm_case *x = gemm_case_new(FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, 12, 1, 32, FPO_F32);
    for (int m = 0; m < 12; m++)
        gemm_case_fill_scales(x, SIDE_A, m, (uint32_t)codes[m]);
    gemm_case_run(x, NULL);
    for (int m = 0; m < 12; m++)
        expect(x, m, 0, ldexp(32, codes[m] - 127));
    gemm_case_free(x);
}
END_TEST

/* FP8 with f32 scales per 128, which the kernel reads as UE8M0 bytes. */
START_TEST(f32_scales_read_as_ue8m0)
{
    static const struct {
        uint32_t scale;
        double value;
    } rows[] = {{0x3F800000, 256}, {0x3F7FFFFF, NAN}};
    for (int i = 0; i < 2; i++) {
        gemm_case *x = gemm_case_new(FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_1X128, 1, 1, 512, FPO_F32);
        gemm_case_run(x, NULL);
        expect(x, 0, 0, 512);
        gemm_case_fill_scales(x, SIDE_A, 0, rows[i].scale);
        x->spec.a.read.scale.format = FPO_UE8M0;
        gemm_case_run(x, NULL);
        expect(x, 0, 0, rows[i].value);
        gemm_case_free(x);
    }
}
END_TEST

/* What DeepGEMM does with them (kernels.md 5.3): scale k of a row is byte k%4 of its f32 scale k/4. */
START_TEST(f32_scales_read_as_packed_words)
{
    enum { ROWS = 6, BLOCKS = 9 };
    gemm_case *x = gemm_case_new(FPO_BLOCK_FP8_1X128, FPO_BLOCK_PLAIN_E4M3, ROWS, 1, BLOCKS * 128, FPO_F32);
    for (int row = 0; row < ROWS; row++) {
        for (int block = 0; block < BLOCKS; block++)
            gemm_case_set_scale(x, SIDE_A, row, block, 0x3F800000u + 0x00030507u * (uint32_t)(row + 10 * block));
    }
    x->spec.a.stored.scale.layout = FPO_LAYOUT_MN_MAJOR_4;
    x->spec.a.read.scale = (fpo_scale_view){FPO_UE8M0, 1, 128, FPO_LAYOUT_PACKED_WORDS};
    gemm_case_run(x, NULL);
    for (int row = 0; row < ROWS; row++) {
        double sum = 0; /* few enough bits: exact in f32 once the tiny ones are rounded off */
        for (int block = 0; block < BLOCKS; block++) {
            uint32_t byte = gemm_case_scale(x, SIDE_A, row, block / 4) >> (block % 4 * 8) & 0xFF;
            sum += 128 * fpo_decode_double(FPO_UE8M0, byte);
        }
        expect(x, row, 0, (double)(float)sum);
    }
    gemm_case_free(x);
}
END_TEST

START_TEST(scale_rounded_without_requantising)
{
    static const struct {
        double scale, expected;
        uint32_t truncated, rounded_up;
        double truncated_value, rounded_up_value;
    } rows[] = {{0.75, 96, 126, 127, 64, 128}, {0.5, 64, 126, 126, 64, 64}};
    for (int i = 0; i < 2; i++) {
        gemm_case *x = gemm_case_new(FPO_BLOCK_FP8_1X128, FPO_BLOCK_PLAIN_E4M3, 1, 1, 128, FPO_F32);
        gemm_case_fill_scales(x, SIDE_A, 0,
                              fpo_encode_double(FPO_F32, rows[i].scale, fpo_cast_describe(FPO_CAST_IEEE)));
        gemm_case_run(x, NULL);
        expect(x, 0, 0, rows[i].expected);
        gemm_case_free(x);

        ck_assert_uint_eq(fpo_encode_double(FPO_UE8M0, rows[i].scale, fpo_cast_describe(FPO_CAST_PTX_RZ)),
                          rows[i].truncated);
        ck_assert_uint_eq(fpo_encode_double(FPO_UE8M0, rows[i].scale, fpo_cast_describe(FPO_CAST_PTX_RP)),
                          rows[i].rounded_up);
        x = gemm_case_new(FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_PLAIN_E4M3, 1, 1, 128, FPO_F32);
        gemm_case_fill_scales(x, SIDE_A, 0, rows[i].truncated);
        gemm_case_run(x, NULL);
        expect(x, 0, 0, rows[i].truncated_value);
        gemm_case_fill_scales(x, SIDE_A, 0, rows[i].rounded_up);
        gemm_case_run(x, NULL);
        expect(x, 0, 0, rows[i].rounded_up_value);
        gemm_case_free(x);
    }
}
END_TEST

/* A zero block whose scale became 0x7F: NaN although every nibble in it is 0. */
START_TEST(nan_scale_of_a_zero_block)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 2, 2, 64, FPO_F32);
    for (int k = 16; k < 32; k++)
        gemm_case_set_element(x, SIDE_A, 1, k, 0);
    gemm_case_set_scale(x, SIDE_A, 1, 1, 0x7F);
    gemm_case_run(x, NULL);
    for (int n = 0; n < 2; n++) {
        expect(x, 0, n, 64);
        expect(x, 1, n, NAN);
    }
    gemm_case_free(x);
}
END_TEST

START_TEST(zero_rows)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 2, 3, 64, FPO_F32);
    gemm_case_fill_row(x, SIDE_A, 1, 0);
    gemm_case_run(x, NULL);
    for (int n = 0; n < 3; n++) {
        expect(x, 0, n, 64);
        ck_assert_uint_eq(gemm_case_code(x, 1, n), 0);
    }
    gemm_case_free(x);
}
END_TEST

START_TEST(tensor_scale_inverted)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 1, 64, FPO_F32);
    x->problem.a.tensor_scale = 0x1p-3f;
    gemm_case_run(x, NULL);
    expect(x, 0, 0, 8);
    x->spec.a.tensor_scale = FPO_TENSOR_SCALE_DIVIDE;
    gemm_case_run(x, NULL);
    expect(x, 0, 0, 512);
    x->spec.a.tensor_scale = FPO_TENSOR_SCALE_IGNORE;
    gemm_case_run(x, NULL);
    expect(x, 0, 0, 64);
    x->spec.a.tensor_scale = FPO_TENSOR_SCALE_TWICE;
    gemm_case_run(x, NULL);
    expect(x, 0, 0, 1);
    gemm_case_free(x);
}
END_TEST

START_TEST(nibble_order)
{
    static const uint32_t codes[] = {1, 2, 3, 4, 5, 6, 7, 0xF};
    static const double values[] = {.5, 1, 1.5, 2, 3, 4, 6, -6}, swapped[] = {1, .5, 2, 1.5, 4, 3, -6, 6};
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 8, 8, FPO_F32);
    for (int n = 0; n < 8; n++) {
        gemm_case_set_element(x, SIDE_A, 0, n, codes[n]);
        for (int k = 0; k < 8; k++)
            gemm_case_set_element(x, SIDE_B, n, k, k == n ? 2 : 0);
    }
    gemm_case_run(x, NULL);
    for (int n = 0; n < 8; n++)
        expect(x, 0, n, values[n]);
    x->spec.a.read.packing = FPO_PACKING_NIBBLES_SWAPPED;
    gemm_case_run(x, NULL);
    for (int n = 0; n < 8; n++)
        expect(x, 0, n, swapped[n]);
    x->spec.b.read.packing = FPO_PACKING_NIBBLES_SWAPPED; /* both swapped: invisible */
    gemm_case_run(x, NULL);
    for (int n = 0; n < 8; n++)
        expect(x, 0, n, values[n]);
    gemm_case_free(x);
}
END_TEST

/* Row m has the scale byte m; a linear buffer that is read as 128x4 gives row m the scales of another. */
START_TEST(linear_scales_read_as_128x4)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 128, 1, 64, FPO_F32);
    for (int m = 0; m < 128; m++)
        gemm_case_fill_scales(x, SIDE_A, m, (uint32_t)m);
    x->spec.a.read.scale.layout = FPO_LAYOUT_128X4;
    gemm_case_run(x, NULL);
    int same = 0;
    for (int m = 0; m < 128; m++) {
        uint32_t other = (uint32_t)(4 * (m % 32) + m / 32);
        expect(x, m, 0, other == 127 ? NAN : 64 * fpo_decode_double(FPO_UE4M3, other));
        same += other == (uint32_t)m;
    }
    ck_assert_int_eq(same, 2);
    x->spec.a.stored.scale.layout = FPO_LAYOUT_128X4; /* stored as it is read: right */
    gemm_case_run(x, NULL);
    for (int m = 0; m < 127; m++)
        expect(x, m, 0, 64 * fpo_decode_double(FPO_UE4M3, (uint32_t)m));
    gemm_case_free(x);
}
END_TEST

START_TEST(accumulator_ladder_exact)
{
    for (int j = 0; j < 12; j++) {
        for (int sign = 0; sign < 2; sign++) {
            gemm_case *x = gemm_case_new(FPO_BLOCK_PLAIN_E4M3, FPO_BLOCK_PLAIN_E4M3, 1, 1, 32, FPO_F32);
            const fpo_cast *cast = fpo_cast_describe(FPO_CAST_PTX);
            gemm_case_set_element(x, SIDE_A, 0, 0, fpo_encode_double(FPO_E4M3, 256, cast));
            gemm_case_set_element(x, SIDE_B, 0, 0, fpo_encode_double(FPO_E4M3, 256, cast));
            for (int k = 1; k < 32; k++) {
                gemm_case_set_element(x, SIDE_A, 0, k, fpo_encode_double(FPO_E4M3, ldexp(1, j / 2), cast));
                gemm_case_set_element(x, SIDE_B, 0, k,
                                      fpo_encode_double(FPO_E4M3, ldexp(sign ? -1 : 1, j - j / 2), cast));
            }
            gemm_case_run(x, NULL);
            expect(x, 0, 0, 65536 + (sign ? -31 : 31) * ldexp(1, j));
            gemm_case_free(x);
        }
    }
}
END_TEST

/* Accumulator 70000, scale .01, f16 output. */
START_TEST(epilogue_narrowed_first)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_PLAIN_F16, FPO_BLOCK_PLAIN_F16, 1, 1, 2, FPO_F16);
    const fpo_cast *cast = fpo_cast_describe(FPO_CAST_IEEE);
    for (int k = 0; k < 2; k++)
        gemm_case_set_element(x, SIDE_A, 0, k, fpo_encode_double(FPO_F16, 35008, cast));
    gemm_case_set_element(x, SIDE_B, 0, 1, fpo_encode_double(FPO_F16, 1, cast));
    x->problem.alpha = 0.01f;
    gemm_case_run(x, NULL);
    expect(x, 0, 0, 700);
    fpo_epilogue_step *steps = x->spec.epilogue.steps;
    for (int i = FPO_EPILOGUE_STEPS - 1; i > 0; i--)
        steps[i] = steps[i - 1];
    steps[0] = (fpo_epilogue_step){FPO_EPI_ROUND_F16, FPO_EPI_NOTHING};
    gemm_case_run(x, NULL);
    expect(x, 0, 0, INFINITY);
    gemm_case_free(x);
}
END_TEST

/* M=5: what the 123 padding rows of the tiled scales hold cannot matter. */
START_TEST(padding_rows)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 5, 256, 512, FPO_F32);
    x->spec.a.stored.scale.layout = x->spec.a.read.scale.layout = FPO_LAYOUT_128X4;
    gemm_case_run(x, NULL);
    for (int m = 0; m < 5; m++) {
        for (int n = 0; n < 256; n++)
            expect(x, m, n, 512);
    }
    gemm_case_free(x);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("worked examples");
    TCase *tests = tcase_create("worked examples");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, ue4m3_subnormals);
    tcase_add_test(tests, ue8m0_edges);
    tcase_add_test(tests, ue8m0_small_codes);
    tcase_add_test(tests, f32_scales_read_as_ue8m0);
    tcase_add_test(tests, f32_scales_read_as_packed_words);
    tcase_add_test(tests, scale_rounded_without_requantising);
    tcase_add_test(tests, nan_scale_of_a_zero_block);
    tcase_add_test(tests, zero_rows);
    tcase_add_test(tests, tensor_scale_inverted);
    tcase_add_test(tests, nibble_order);
    tcase_add_test(tests, linear_scales_read_as_128x4);
    tcase_add_test(tests, accumulator_ladder_exact);
    tcase_add_test(tests, epilogue_narrowed_first);
    tcase_add_test(tests, padding_rows);
    suite_add_tcase(suite, tests);
    return suite;
}

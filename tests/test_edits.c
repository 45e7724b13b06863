/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The registry of edits: texts, numbers that the reference twin confirms, and the kinds that take special operands to
 * show (tests/test_diagnose.c plants the others). */
#include "suite.h"

#include "gemm_data.h"

#include <fp4oracle/fp4oracle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDITS = 4096, BYTES = 1 << 16 };

START_TEST(texts)
{
    for (int kind = 0; kind < FPO_EDIT_COUNT; kind++) {
        const fpo_edit_info *info = fpo_edit_describe((fpo_edit_kind)kind);
        fpo_edit edit = {
            .kind = (fpo_edit_kind)kind, .operands = info->per_operand ? FPO_OPERAND_A : 0, .from = 1, .to = 1};
        char text[512];
        ck_assert_int_eq(fpo_edit_by_name(info->name), kind);
        ck_assert_int_ge(info->fault_class, 1);
        ck_assert_int_le(info->fault_class, 23);
        ck_assert_msg(strlen(info->look) > 8, "%s does not say what to look for", info->name);
        fpo_edit_sentence(&edit, text, sizeof text);
        ck_assert_msg(strchr(text, '%') == NULL && strchr(text, '?') == NULL, "%s: %s", info->name, text);
        fpo_edit_parameters(&edit, text, sizeof text);
        ck_assert_msg(strchr(text, '%') == NULL && strchr(text, '?') == NULL, "%s: %s", info->name, text);
        ck_assert(!info->per_operand || strstr(text, "operand=A") == text);
        fpo_edit_sentence(&edit, text, 8); /* no more than there is room for */
        ck_assert_uint_le(strlen(text), 7);
    }
    ck_assert_ptr_null(fpo_edit_describe(FPO_EDIT_COUNT));
    ck_assert_int_eq(fpo_edit_by_name("no such edit"), FPO_EDIT_COUNT);
}
END_TEST

static const struct {
    fpo_block_format a, b;
    const char *model;
    int64_t k;
} bases[] = {{FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "sm120_mxf4nvf4", 128},
             {FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, "sm120_mxf4nvf4", 128},
             {FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, "sm120_mxf8f6f4", 96},
             {FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128, "sm90_fp8_blockwise", 384},
             {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "exact", 80}};

static gemm_case *make(int base, gemm_data data, fpo_format d)
{
    gemm_case *x = gemm_case_new(bases[base].a, bases[base].b, 5, 6, bases[base].k, d);
    gemm_random random = {{77, (uint64_t)base}, 0};
    x->spec.accumulation = fpo_model_by_name(bases[base].model)->accumulation;
    gemm_case_add_c(x, FPO_F32);
    gemm_case_add_bias(x, FPO_F32, false);
    gemm_data_fill(x, data, &random);
    gemm_data_fill_epilogue(x, &random, 4);
    return x;
}

/* Whatever an edit does to spec and operands, the reference twin computes the same. */
START_TEST(the_twin_agrees)
{
    enum { EVERY = 9 };
    static fpo_edit edits[EDITS];
    static unsigned char fast[BYTES], slow[BYTES];
    gemm_case *x = make(_i, DATA_FINITE, FPO_F32);
    size_t count = fpo_edit_enumerate(&x->spec, &x->problem, edits, EDITS), compared = 0;
    ck_assert_uint_le(count, EDITS);
    for (size_t i = (size_t)_i % EVERY; i < count; i += getenv("FPO_LONG") != NULL ? 1 : EVERY) {
        fpo_edited e;
        if (fpo_edited_open(&x->spec, &x->problem, &edits[i], 1, &e, NULL) != FPO_OK)
            continue;
        size_t bytes = fpo_output_bytes(&e.spec, e.problem.m, e.problem.n);
        fpo_gemm_output f = {.d = fast, .d_bytes = sizeof fast}, s = {.d = slow, .d_bytes = sizeof slow};
        if (fpo_gemm(&e.spec, &e.problem, &f, NULL, NULL) == FPO_OK &&
            fpo_gemm_twin(&e.spec, &e.problem, &s, NULL) == FPO_OK) {
            ck_assert_msg(memcmp(fast, slow, bytes) == 0, "%s differs", fpo_edit_describe(edits[i].kind)->name);
            compared++;
        }
        fpo_edited_close(&e);
    }
    printf("%s: %zu of %zu edits compared\n", bases[_i].model, compared, count);
    ck_assert_uint_ge(compared, 20);
    gemm_case_free(x);
}
END_TEST

/* Single elements are those of the whole output, also where outputs move. */
START_TEST(elements_are_those_of_the_output)
{
    static fpo_edit edits[EDITS];
    static unsigned char whole[BYTES];
    gemm_case *x = make(0, DATA_FINITE, FPO_BF16);
    size_t count = fpo_edit_enumerate(&x->spec, &x->problem, edits, EDITS);
    for (size_t i = 0; i < count; i += 3) {
        static const fpo_element elements[4] = {{0, 0}, {4, 5}, {2, 3}, {3, 0}};
        uint32_t codes[4];
        fpo_edited e;
        fpo_gemm_output output = {.d = whole, .d_bytes = sizeof whole};
        if (fpo_edited_open(&x->spec, &x->problem, &edits[i], 1, &e, NULL) != FPO_OK)
            continue;
        if (fpo_edited_gemm(&e, &output, NULL, NULL) == FPO_OK) {
            ck_assert(fpo_edited_elements(&e, elements, 4, codes, NULL, NULL) == FPO_OK);
            for (int j = 0; j < 4; j++)
                ck_assert_uint_eq(codes[j], fpo_load_code(e.spec.epilogue.d, whole,
                                                          (size_t)(elements[j].row * 6 + elements[j].column)));
        }
        fpo_edited_close(&e);
    }
    gemm_case_free(x);
}
END_TEST

/* Kinds that ordinary operands do not show. */
static void note_shown(const gemm_case *x, bool *shown)
{
    static fpo_edit edits[EDITS];
    static unsigned char right[BYTES], wrong[BYTES];
    fpo_gemm_output output = {.d = right, .d_bytes = sizeof right};
    ck_assert(fpo_gemm(&x->spec, &x->problem, &output, NULL, NULL) == FPO_OK);
    size_t bytes = fpo_output_bytes(&x->spec, x->problem.m, x->problem.n);
    size_t count = fpo_edit_enumerate(&x->spec, &x->problem, edits, EDITS);
    output.d = wrong;
    for (size_t i = 0; i < count; i++) {
        fpo_edited e;
        if (shown[edits[i].kind] || fpo_edited_open(&x->spec, &x->problem, &edits[i], 1, &e, NULL) != FPO_OK)
            continue;
        shown[edits[i].kind] = fpo_edited_gemm(&e, &output, NULL, NULL) == FPO_OK && memcmp(right, wrong, bytes) != 0;
        fpo_edited_close(&e);
    }
}

static void set_scales(gemm_case *x, const uint32_t *codes, int count)
{
    for (int64_t r = 0; r < x->problem.m; r++)
        for (int64_t c = 0; c < fpo_scale_columns(&x->spec.a.stored.scale, x->problem.k); c++)
            gemm_case_set_scale(x, SIDE_A, r, c, codes[(r + c) % count]);
}

static gemm_case *special(int which)
{
    static const uint32_t ue4m3[] = {0x01, 0x07, 0x03, 0x85, 0x38}, ue4m3_nan[] = {0x38, 0x38, 0x7F, 0x38, 0x38};
    static const uint32_t ue8m0[] = {0x00, 0x7F, 105, 0x7F, 0xFF};
    gemm_case *x = NULL;
    switch (which) {
    case 0:
    case 1:
        x = make(0, DATA_FINITE, FPO_BF16);
        set_scales(x, which == 0 ? ue4m3 : ue4m3_nan, 5);
        for (int k = 0; k < 16; k++)
            gemm_case_set_element(x, SIDE_A, 1, k, 0);
        break;
    case 2:
    case 3:
        x = which == 2
                ? make(1, DATA_FINITE, FPO_F32)
                : gemm_case_new(FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, 5, 6, 128, FPO_F32); /* inf - inf is NaN, too */
        set_scales(x, ue8m0, which == 2 ? 4 : 5);
        break;
    case 4: /* NaN elements, a short last tile */
        x = make(2, DATA_FINITE, FPO_F32);
        gemm_case_set_element(x, SIDE_A, 2, 5, 0x7F);
        gemm_case_set_element(x, SIDE_B, 1, 9, 0xFF);
        break;
    case 5: /* a scaled, saturated e4m3 output behind an activation */
        x = gemm_case_new(FPO_BLOCK_PLAIN_E4M3, FPO_BLOCK_PLAIN_E4M3, 5, 6, 64, FPO_E4M3);
        gemm_case_fill_row(x, SIDE_A, 0, 0xF8);
        gemm_case_fill_row(x, SIDE_A, 1, 0x78);
        x->problem.d_scale = 0.25f;
        ck_assert(fpo_epilogue_append(&x->spec.epilogue, FPO_EPI_RELU, FPO_EPI_NOTHING));
        break;
    case 6: /* outputs below the smallest normal number, and -0 */
        x = gemm_case_new(FPO_BLOCK_PLAIN_E4M3, FPO_BLOCK_PLAIN_E4M3, 5, 6, 64, FPO_F16);
        x->problem.alpha = -0x1p-30f;
        gemm_case_fill_row(x, SIDE_A, 0, 0);
        gemm_case_set_element(x, SIDE_A, 1, 0, 0x7F);
        x->problem.alpha = -0x1p-28f;
        break;
    default: /* K that Stream-K splits */
        x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 5, 6, 4096, FPO_F32);
        gemm_random random = {{79, 1}, 0};
        gemm_data_fill(x, DATA_FINITE, &random);
        x->spec.accumulation = fpo_model_by_name("sm120_mxf4nvf4")->accumulation;
        break;
    }
    return x;
}

START_TEST(special_kinds_show)
{
    static const fpo_edit_kind wanted[] = {
        FPO_EDIT_D_SCALE_DROPPED,      FPO_EDIT_D_SCALE_INVERTED, FPO_EDIT_D_SCALE_TWICE,
        FPO_EDIT_UE8M0_ZERO,           FPO_EDIT_UE8M0_NO_NAN,     FPO_EDIT_UE8M0_SHIFTED,
        FPO_EDIT_UE8M0_THROUGH_F16,    FPO_EDIT_UE4M3_NORMAL,     FPO_EDIT_UE4M3_FLUSHED,
        FPO_EDIT_UE4M3_SIGNED,         FPO_EDIT_UE4M3_NO_NAN,     FPO_EDIT_ZERO_BLOCK_SCALE,
        FPO_EDIT_ELEMENT_NAN_REPLACED, FPO_EDIT_K_TAIL_STALE,     FPO_EDIT_STREAM_K,
        FPO_EDIT_RELU_DROPPED,         FPO_EDIT_OUTPUT_OVERFLOW,  FPO_EDIT_OUTPUT_NAN,
        FPO_EDIT_NEGATIVE_ZERO_LOST,   FPO_EDIT_OUTPUT_FLUSHED};
    static bool shown[FPO_EDIT_COUNT];
    for (int which = 0; which < 8; which++) {
        gemm_case *x = special(which);
        note_shown(x, shown);
        gemm_case_free(x);
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        ck_assert_msg(shown[wanted[i]], "%s does not show", fpo_edit_describe(wanted[i])->name);
}
END_TEST

/* Scales that an edit leaves as they are keep their format: the subnormals of bf16 are aligned otherwise than the same
 * numbers as ue8m0 (2^-127), and those of ue4m3 otherwise than as bf16. */
START_TEST(scales_that_stay_change_nothing)
{
    static const struct {
        int base;
        fpo_edit_kind kind;
        uint32_t code;
    } cases[] = {{2, FPO_EDIT_UE8M0_NO_NAN, 0x00}, {0, FPO_EDIT_UE4M3_NO_NAN, 0x01}};
    static unsigned char right[BYTES], wrong[BYTES];
    gemm_case *x = make(cases[_i].base, DATA_FINITE, FPO_F32);
    fpo_edit edit = {.kind = cases[_i].kind, .operands = FPO_OPERAND_B};
    for (int64_t r = 0; r < x->problem.n; r++)
        for (int64_t c = 0; c < fpo_scale_columns(&x->spec.b.stored.scale, x->problem.k); c++)
            gemm_case_set_scale(x, SIDE_B, r, c, cases[_i].code);
    fpo_gemm_output output = {.d = right, .d_bytes = sizeof right};
    ck_assert(fpo_gemm(&x->spec, &x->problem, &output, NULL, NULL) == FPO_OK);
    fpo_edited e;
    ck_assert(fpo_edited_open(&x->spec, &x->problem, &edit, 1, &e, NULL) == FPO_OK);
    ck_assert_int_eq(e.spec.b.stored.scale.format, x->spec.b.stored.scale.format);
    output.d = wrong;
    ck_assert(fpo_edited_gemm(&e, &output, NULL, NULL) == FPO_OK);
    ck_assert_mem_eq(right, wrong, fpo_output_bytes(&x->spec, x->problem.m, x->problem.n));
    fpo_edited_close(&e);
    gemm_case_free(x);
}
END_TEST

/* An operand with both of ue8m0's edge codes: what is no NaN any more leaves the others as they are, 2^-127 too. The
 * blocks with 00 are large enough (2^127 in the other operand) to matter in the alignment. */
START_TEST(infinities_do_not_change_the_smallest_scale)
{
    static unsigned char right[BYTES], wrong[BYTES];
    gemm_case *x = make(2, DATA_FINITE, FPO_F32);
    fpo_edit edit = {.kind = FPO_EDIT_UE8M0_NO_NAN, .operands = FPO_OPERAND_B};
    int64_t columns = fpo_scale_columns(&x->spec.b.stored.scale, x->problem.k), m = x->problem.m, n = x->problem.n;
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t r = 0; r < m; r++)
            gemm_case_set_scale(x, SIDE_A, r, c, 0xFC + (uint32_t)(c % 3));
        for (int64_t r = 0; r < n; r++)
            gemm_case_set_scale(x, SIDE_B, r, c, c % 2 == 0 ? 0 : 1);
    }
    gemm_case_set_scale(x, SIDE_B, 3, 1, 0xFF);
    fpo_gemm_output output = {.d = right, .d_bytes = sizeof right};
    ck_assert(fpo_gemm(&x->spec, &x->problem, &output, NULL, NULL) == FPO_OK);
    fpo_edited e;
    ck_assert(fpo_edited_open(&x->spec, &x->problem, &edit, 1, &e, NULL) == FPO_OK);
    ck_assert_int_ne(e.spec.b.stored.scale.format, FPO_UE8M0);
    output.d = wrong;
    ck_assert(fpo_edited_gemm(&e, &output, NULL, NULL) == FPO_OK);
    for (int64_t i = 0; i < m * n; i++) /* column 3 is NaN or infinite */
        ck_assert_msg(i % n == 3 || memcmp(right + 4 * i, wrong + 4 * i, 4) == 0, "element (%d, %d)", (int)(i / n),
                      (int)(i % n));
    fpo_edited_close(&e);
    gemm_case_free(x);
}
END_TEST

/* Where the problem has the numbers that were quantised, the recipe that the kernel's operand came from is found. */
START_TEST(recipes_are_found)
{
    enum { M = 16, N = 12, K = 128 };
    static float source[M * K];
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, M, N, K, FPO_F32);
    gemm_random random = {{78, 1}, 0};
    gemm_data_fill(x, DATA_FINITE, &random);
    for (uint64_t i = 0; i < M * K; i++)
        source[i] = fpo_random_normal((fpo_random){9, 9}, i);
    fpo_quantized q = {.codes = x->codes[0],
                       .codes_bytes = x->problem.a.codes_bytes,
                       .scales = x->scales[0],
                       .scales_bytes = x->problem.a.scales_bytes};
    ck_assert(fpo_quantize(fpo_recipe_default(FPO_BLOCK_NVFP4), source, M, K, &q, NULL, NULL) == FPO_OK);
    x->problem.a.tensor_scale = q.tensor_scale;
    x->problem.a.source = source;
    static fpo_edit edits[EDITS];
    static unsigned char right[BYTES], wrong[BYTES];
    fpo_gemm_output output = {.d = right, .d_bytes = sizeof right};
    ck_assert(fpo_gemm(&x->spec, &x->problem, &output, NULL, NULL) == FPO_OK);
    size_t count = fpo_edit_enumerate(&x->spec, &x->problem, edits, EDITS), bytes = M * N * sizeof(float);
    int planted = 0, found = 0;
    for (size_t i = 0; i < count && planted < 5; i++) {
        fpo_edited e;
        fpo_diagnosis d;
        output.d = wrong;
        if (edits[i].kind != FPO_EDIT_RECIPE ||
            fpo_edited_open(&x->spec, &x->problem, &edits[i], 1, &e, NULL) != FPO_OK)
            continue;
        bool done = fpo_edited_gemm(&e, &output, NULL, NULL) == FPO_OK;
        fpo_edited_close(&e);
        if (!done || memcmp(right, wrong, bytes) == 0)
            continue;
        planted++;
        ck_assert(fpo_diagnose(&x->spec, &x->problem, wrong, bytes, NULL, &d, NULL) == FPO_OK);
        bool named = d.unconfirmed > 0;
        for (size_t j = 0; j < d.cause_count; j++)
            named = named || fpo_edit_equal(&d.causes[j].edits[0], &edits[i]);
        found += named;
    }
    ck_assert_int_ge(planted, 3);
    ck_assert_int_eq(found, planted);
    gemm_case_free(x);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("edits");
    TCase *cases = tcase_create("registry");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, texts);
    tcase_add_loop_test(cases, the_twin_agrees, 0, (int)(sizeof bases / sizeof *bases));
    tcase_add_test(cases, elements_are_those_of_the_output);
    tcase_add_test(cases, special_kinds_show);
    tcase_add_loop_test(cases, scales_that_stay_change_nothing, 0, 2);
    tcase_add_test(cases, infinities_do_not_change_the_smallest_scale);
    tcase_add_test(cases, recipes_are_found);
    suite_add_tcase(suite, cases);
    return suite;
}

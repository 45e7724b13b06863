/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Diagnosis: edits planted in outputs of every format are named (alone or among edits that the operands cannot tell
 * apart); other orders and accumulations are no faults; noise is blamed on nothing. FPO_LONG=1 plants every edit in
 * every format, and tries 10,000 outputs of noise. */
#include "causes.h"
#include "suite.h"

#include <fp4oracle/fp4oracle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 36, N = 40, K = 256, EDITS = 4096, EVERY = 56 };

static bool is_long(void)
{
    return getenv("FPO_LONG") != NULL;
}

static uint32_t draw(uint64_t stream, uint64_t index)
{
    return (uint32_t)fpo_random_bits((fpo_random){8, stream}, index);
}

typedef struct subject {
    fpo_gemm_spec spec;
    fpo_gemm_problem problem;
    uint8_t a[M * K], b[N * K], sa[M * K], sb[N * K];
    float c[M * N], bias[N];
} subject;

/* Codes without NaN; scales of numbers near 1, all different along K. */
static void fill(const fpo_operand_view *view, uint64_t stream, int64_t rows, uint8_t *codes, uint8_t *scales,
                 fpo_operand *operand, float tensor_scale)
{
    size_t bytes = fpo_operand_codes_bytes(view, rows, K);
    size_t scale_bytes = fpo_operand_scales_bytes(view, rows, K);
    for (size_t i = 0; i < bytes; i++)
        codes[i] = (uint8_t)(view->element == FPO_E2M1 ? draw(stream, i) >> 8 : (draw(stream, i) >> 8) & 0xB7);
    if (view->scale.format == FPO_F32) {
        for (size_t i = 0; i < scale_bytes / 4; i++) {
            float scale = 1.0f + (float)(draw(stream + 1, i) % 1000) / 512;
            memcpy(scales + 4 * i, &scale, 4);
        }
    } else {
        for (size_t i = 0; i < scale_bytes; i++)
            scales[i] = (uint8_t)(view->scale.format == FPO_UE8M0 ? 123 + (draw(stream + 1, i) >> 8) % 9
                                                                  : 0x28 + (draw(stream + 1, i) >> 8) % 0x30);
    }
    *operand = (fpo_operand){codes, bytes, scales, scale_bytes, tensor_scale, NULL, FPO_FORMAT_NONE};
}

static subject *make_subject(fpo_block_format a, fpo_block_format b, const char *model, fpo_format d)
{
    subject *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    ck_assert(fpo_spec_init(&s->spec, a, b, fpo_model_by_name(model), d, NULL) == FPO_OK);
    s->spec.epilogue.c = FPO_F32;
    s->spec.epilogue.bias = FPO_F32;
    for (int i = 0; i < M * N; i++)
        s->c[i] = (float)(draw(9, (uint64_t)i) % 1000) / 8;
    for (int i = 0; i < N; i++)
        s->bias[i] = (float)(draw(10, (uint64_t)i) % 1000) / 8;
    s->problem = (fpo_gemm_problem){.m = M, .n = N, .k = K, .alpha = 0.7f, .beta = 0.5f, .d_scale = 1};
    s->problem.c = s->c;
    s->problem.c_bytes = sizeof s->c;
    s->problem.bias = s->bias;
    s->problem.bias_bytes = sizeof s->bias;
    bool tensor_scale = fpo_block_format_describe(a)->tensor_scale;
    fill(&s->spec.a.stored, 1, M, s->a, s->sa, &s->problem.a, tensor_scale ? 0.3f : 1);
    fill(&s->spec.b.stored, 3, N, s->b, s->sb, &s->problem.b, tensor_scale ? 1.7f : 1);
    return s;
}

/* The output that these edits make; false if they make no sense for these operands. */
static bool plant(const subject *s, const fpo_edit *edits, size_t count, void *d)
{
    fpo_edited edited;
    fpo_gemm_output output = {.d = d, .d_bytes = M * N * sizeof(float)};
    if (fpo_edited_open(&s->spec, &s->problem, edits, count, &edited, NULL) != FPO_OK)
        return false;
    bool done = fpo_edited_gemm(&edited, &output, NULL, NULL) == FPO_OK;
    fpo_edited_close(&edited);
    return done;
}

static size_t output_bytes(const subject *s)
{
    return fpo_output_bytes(&s->spec, M, N);
}

static const struct {
    fpo_block_format a, b;
    const char *model;
    fpo_format d;
} subjects[] = {{FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "sm120_mxf4nvf4", FPO_F32},
                {FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "sm120_mxf4nvf4", FPO_BF16},
                {FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, "sm120_mxf4nvf4", FPO_F32},
                {FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, "sm120_mxf4nvf4", FPO_BF16},
                {FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, "sm120_mxf8f6f4", FPO_F32},
                {FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, "sm120_mxf8f6f4", FPO_BF16},
                {FPO_BLOCK_FP8_TENSOR, FPO_BLOCK_FP8_TENSOR, "sm90_fp8_promote128", FPO_F32},
                {FPO_BLOCK_FP8_ROW, FPO_BLOCK_FP8_ROW, "sm90_fp8_promote128", FPO_BF16},
                {FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128, "sm90_fp8_blockwise", FPO_F32},
                {FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128, "sm90_fp8_blockwise", FPO_BF16}};

/* One edit: false where these operands do not show it. */
static bool check_planted(const subject *s, const void *right, const fpo_edit *edit, int *alone)
{
    static unsigned char wrong[M * N * sizeof(float)];
    fpo_diagnosis diagnosis;
    if (!plant(s, edit, 1, wrong) || memcmp(right, wrong, output_bytes(s)) == 0)
        return false;
    ck_assert(fpo_diagnose(&s->spec, &s->problem, wrong, output_bytes(s), NULL, &diagnosis, NULL) == FPO_OK);
    char sentence[256];
    fpo_edit_sentence(edit, sentence, sizeof sentence);
    ck_assert_msg(is_explained(&diagnosis, edit), "not named: %s", sentence);
    bool legitimate = fpo_edit_describe(edit->kind)->legitimate;
    ck_assert_msg(!legitimate || diagnosis.verdict == FPO_VERDICT_LEGITIMATE, "called a fault: %s", sentence);
    *alone += diagnosis.cause_count == 1;
    return true;
}

START_TEST(planted_edits_are_named)
{
    subject *s = make_subject(subjects[_i].a, subjects[_i].b, subjects[_i].model, subjects[_i].d);
    static fpo_edit edits[EDITS];
    static unsigned char right[M * N * sizeof(float)];
    size_t count = fpo_edit_enumerate(&s->spec, &s->problem, edits, EDITS);
    int named = 0, alone = 0, unseen = 0;
    ck_assert_uint_le(count, EDITS);
    ck_assert(plant(s, NULL, 0, right));
    for (size_t i = 0; i < count; i++) {
        if (!is_long() && i % EVERY != (size_t)_i * 5 % EVERY)
            continue;
        if (check_planted(s, right, &edits[i], &alone))
            named++;
        else
            unseen++;
    }
    printf("%s, %s, %s: %d planted edits named, %d of them as the only cause; %d do not show\n",
           fpo_block_format_describe(subjects[_i].a)->name, subjects[_i].model,
           fpo_format_describe(subjects[_i].d)->name, named, alone, unseen);
    ck_assert_int_ge(named, 4);
    ck_assert_int_ge(alone, named / 3);
    free(s);
}
END_TEST

/* Every kind of edit changes an output of some subject, and all the edits that a subject admits can be applied or are
 * refused. */
START_TEST(every_kind_shows)
{
    static bool shows[FPO_EDIT_COUNT], is_there[FPO_EDIT_COUNT];
    static fpo_edit edits[EDITS];
    static unsigned char right[M * N * sizeof(float)], wrong[M * N * sizeof(float)];
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        subject *s = make_subject(subjects[i].a, subjects[i].b, subjects[i].model, subjects[i].d);
        size_t count = fpo_edit_enumerate(&s->spec, &s->problem, edits, EDITS);
        ck_assert(plant(s, NULL, 0, right));
        for (size_t j = 0; j < count; j++) {
            is_there[edits[j].kind] = true;
            if (!shows[edits[j].kind])
                shows[edits[j].kind] = plant(s, &edits[j], 1, wrong) && memcmp(right, wrong, output_bytes(s)) != 0;
        }
        free(s);
    }
    int kinds = 0, seen = 0;
    for (int kind = 0; kind < FPO_EDIT_COUNT; kind++) {
        kinds += is_there[kind];
        seen += shows[kind];
        if (!shows[kind])
            printf("  %s: %s\n", fpo_edit_describe((fpo_edit_kind)kind)->name,
                   is_there[kind] ? "does not show on these operands" : "not admitted by these problems");
    }
    printf("%d kinds of edits, %d admitted here, %d show\n", (int)FPO_EDIT_COUNT, kinds, seen);
    ck_assert_int_ge(FPO_EDIT_COUNT, 100);
    ck_assert_int_ge(seen, 90);
}
END_TEST

/* Different operands, noise of three kinds: every bit, some elements, the last bits alone. */
START_TEST(noise_is_blamed_on_nothing)
{
    enum { ROWS = 5, COLUMNS = 4, DEPTH = 64 };
    subject *s = make_subject(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "sm120_mxf4nvf4", FPO_F32);
    s->problem.m = ROWS;
    s->problem.n = COLUMNS;
    s->problem.k = DEPTH;
    s->problem.a.codes_bytes = ROWS * DEPTH / 2;
    s->problem.a.scales_bytes = ROWS * DEPTH / 16;
    s->problem.b.codes_bytes = COLUMNS * DEPTH / 2;
    s->problem.b.scales_bytes = COLUMNS * DEPTH / 16;
    s->problem.c_bytes = ROWS * COLUMNS * sizeof(float);
    s->problem.bias_bytes = COLUMNS * sizeof(float);
    static float noise[ROWS * COLUMNS], right[ROWS * COLUMNS];
    uint64_t rounds = is_long() ? 10000 : 3;
    for (uint64_t round = 0; round < rounds; round++) {
        fpo_diagnosis diagnosis;
        fpo_gemm_output output = {.d = noise, .d_bytes = sizeof noise};
        ck_assert(fpo_gemm(&s->spec, &s->problem, &output, NULL, NULL) == FPO_OK);
        memcpy(right, noise, sizeof right);
        for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
            uint32_t bits = draw(100 + round, i), code;
            memcpy(&code, &noise[i], sizeof code);
            code = round % 3 == 0 ? bits : round % 3 == 1 ? code ^ (bits % 4 == 0 ? bits >> 9 : 0) : code ^ (bits & 7);
            memcpy(&noise[i], &code, sizeof code);
        }
        if (memcmp(right, noise, sizeof right) == 0) /* 1 in 300 of the second kind spares all elements */
            continue;
        ck_assert(fpo_diagnose(&s->spec, &s->problem, noise, sizeof noise, NULL, &diagnosis, NULL) == FPO_OK);
        ck_assert_int_eq(diagnosis.verdict, FPO_VERDICT_UNEXPLAINED);
        /* One wrong number is always "that number": what is listed then is no finding. */
        ck_assert(diagnosis.cause_count == 0 || diagnosis.evidence.bits < diagnosis.needed);
    }
    free(s);
}
END_TEST

/* Parameters that no list has: they are found in the output. */
START_TEST(parameters_are_found)
{
    const fpo_edit planted[] = {edit_named("scalar_factor", 0, 0, 0, 0.4375f),
                                edit_named("scalar_factor", 0, 0, 0, 1.2345f),
                                edit_named("column_factor", 0, 13, 0, 3.0f),
                                edit_named("row_factor", 0, 7, 0, 0.125f),
                                edit_named("row_offset", 1, 0, 13, 0),
                                edit_named("scale_row_offset", 2, 0, -5, 0),
                                edit_named("scale_row_stride", 1, 16, 21, 0),
                                edit_named("scale_offset", 2, 0, 37, 0),
                                edit_named("scale_group_offset", 2, 11, 3, 0),
                                edit_named("scale_tail_k", 1, 0, 0x51, 0),
                                edit_named("scale_tail_rows", 1, 29, 0x44, 0),
                                edit_named("k_range_dropped", 0, 48, 144, 0),
                                edit_named("k_offset", 2, 0, 7, 0),
                                edit_named("rows_wrapped", 2, 0, 33, 0),
                                edit_named("bias_offset", 0, 0, 6, 0),
                                edit_named("output_row_offset", 0, 0, 5, 0),
                                edit_named("scale_exponent_off", 1, 0, 5, 0)};
    static unsigned char right[M * N * sizeof(float)];
    fpo_format d = _i % 2 == 0 ? FPO_F32 : FPO_BF16;
    subject *s = make_subject(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "sm120_mxf4nvf4", d);
    ck_assert(plant(s, NULL, 0, right));
    for (size_t i = is_long() ? 0 : (size_t)_i; i < sizeof planted / sizeof *planted; i += is_long() ? 1 : 2) {
        static unsigned char wrong[M * N * sizeof(float)];
        fpo_diagnosis diagnosis;
        ck_assert(plant(s, &planted[i], 1, wrong));
        ck_assert_int_ne(memcmp(wrong, right, output_bytes(s)), 0);
        ck_assert(fpo_diagnose(&s->spec, &s->problem, wrong, output_bytes(s), NULL, &diagnosis, NULL) == FPO_OK);
        const char *name = fpo_edit_describe(planted[i].kind)->name;
        ck_assert_msg(diagnosis.verdict == FPO_VERDICT_FAULT, "%s: %s", name, fpo_verdict_name(diagnosis.verdict));
        /* A factor of bf16 outputs is an interval: another one of it may be the simplest. */
        bool found = planted[i].value != 0.0f && d == FPO_BF16;
        for (size_t j = 0; j < diagnosis.cause_count; j++)
            found = found || fpo_edit_equal(&diagnosis.causes[j].edits[0], &planted[i]);
        ck_assert_msg(found, "%s is not found", name);
    }
    free(s);
}
END_TEST

/* A mistake of an operand together with one of the scalars or of the output, with parameters that stand first in the
 * registry and with such as do not. */
static const struct {
    fpo_format d;
    fpo_edit edits[2];
} pairs[] = {
    {FPO_F32, {{FPO_EDIT_NIBBLE_ORDER, 2, 0, 0, 0}, {FPO_EDIT_TENSOR_SCALE_INVERTED, 1, 0, 0, 0}}},
    {FPO_BF16, {{FPO_EDIT_NIBBLE_ORDER, 2, 0, 0, 0}, {FPO_EDIT_OUTPUT_ROUNDING, 0, 0, FPO_TOWARD_ZERO, 0}}},
    {FPO_BF16, {{FPO_EDIT_NIBBLE_ORDER, 2, 0, 0, 0}, {FPO_EDIT_OUTPUT_ROUNDING, 0, 0, FPO_UP, 0}}},
    {FPO_F32,
     {{FPO_EDIT_SCALE_LAYOUT, 1, FPO_LAYOUT_K_MAJOR_16, FPO_LAYOUT_128X4, 0},
      {FPO_EDIT_TENSOR_SCALE_INVERTED, 1, 0, 0, 0}}},
    {FPO_F32, {{FPO_EDIT_SCALE_ROW_OFFSET, 1, 0, 16, 0}, {FPO_EDIT_TENSOR_SCALE_DROPPED, 2, 0, 0, 0}}},
    {FPO_BF16, {{FPO_EDIT_ROW_OFFSET, 2, 0, 8, 0}, {FPO_EDIT_OUTPUT_ROUNDING, 0, 0, FPO_TOWARD_ZERO, 0}}},
    {FPO_F32, {{FPO_EDIT_SCALE_ROWS_SWAPPED, 2, 0, 16, 0}, {FPO_EDIT_TENSOR_SCALE_TWICE, 1, 0, 0, 0}}},
    {FPO_BF16, {{FPO_EDIT_SCALE_K_SHIFTED, 1, 0, 2, 0}, {FPO_EDIT_OUTPUT_ROUNDING, 0, 0, FPO_DOWN, 0}}},
};

START_TEST(a_pair_is_found)
{
    subject *s = make_subject(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "sm120_mxf4nvf4", pairs[_i].d);
    static float wrong[M * N];
    fpo_diagnosis diagnosis;
    s->spec.epilogue.c = s->spec.epilogue.bias = FPO_FORMAT_NONE;
    s->problem.c = s->problem.bias = NULL;
    s->problem.c_bytes = s->problem.bias_bytes = 0;
    ck_assert(plant(s, pairs[_i].edits, 2, wrong));
    ck_assert(fpo_diagnose(&s->spec, &s->problem, wrong, output_bytes(s), NULL, &diagnosis, NULL) == FPO_OK);
    ck_assert_msg(diagnosis.verdict == FPO_VERDICT_FAULT, "%s and %s: %s after %zu hypotheses",
                  fpo_edit_describe(pairs[_i].edits[0].kind)->name, fpo_edit_describe(pairs[_i].edits[1].kind)->name,
                  fpo_verdict_name(diagnosis.verdict), diagnosis.hypotheses);
    ck_assert_uint_ge(diagnosis.cause_count, 1);
    ck_assert_uint_eq(diagnosis.causes[0].edit_count, 2);
    free(s);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("diagnosis");
    TCase *cases = tcase_create("edits");
    tcase_set_timeout(cases, is_long() ? 36000 : 300);
    tcase_add_test(cases, every_kind_shows);
    tcase_add_loop_test(cases, planted_edits_are_named, 0, (int)(sizeof subjects / sizeof *subjects));
    tcase_add_loop_test(cases, parameters_are_found, 0, 2);
    tcase_add_test(cases, noise_is_blamed_on_nothing);
    tcase_add_loop_test(cases, a_pair_is_found, 0, (int)(sizeof pairs / sizeof pairs[0]));
    suite_add_tcase(suite, cases);
    return suite;
}

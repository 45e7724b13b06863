/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Diagnosis: every kind of edit, planted in an output, is named (alone or among edits that the operands cannot tell
 * apart); other documented models are no faults; noise is blamed on nothing. */
#include "suite.h"

#include <fp4oracle/fp4oracle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 36, N = 40, K = 256, EDITS = 4096 };

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
    *operand = (fpo_operand){codes, bytes, scales, scale_bytes, tensor_scale, NULL};
}

static subject *make_subject(fpo_block_format a, fpo_block_format b, const char *model)
{
    subject *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    ck_assert(fpo_spec_init(&s->spec, a, b, fpo_model_by_name(model), FPO_F32, NULL) == FPO_OK);
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

static bool compute(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, float *d)
{
    fpo_gemm_output output = {.d = d, .d_bytes = M * N * sizeof *d};
    return fpo_gemm(spec, problem, &output, NULL, NULL) == FPO_OK;
}

/* The output that these edits make; false if they make no sense for these operands. */
static bool plant(const subject *s, const fpo_edit *edits, size_t count, float *d)
{
    fpo_edited edited;
    fpo_gemm_output output = {.d = d, .d_bytes = M * N * sizeof *d};
    if (fpo_edited_open(&s->spec, &s->problem, edits, count, &edited, NULL) != FPO_OK)
        return false;
    bool done = fpo_edited_gemm(&edited, &output, NULL, NULL) == FPO_OK;
    fpo_edited_close(&edited);
    return done;
}

static bool names(const fpo_diagnosis *d, const fpo_edit *planted)
{
    for (size_t i = 0; i < d->cause_count; i++)
        if (d->causes[i].edit_count == 1 && fpo_edit_equal(&d->causes[i].edits[0], planted))
            return true;
    return false;
}

/* The first edit of each kind and operand; every layout read as every other would only take longer. */
static bool is_chosen(const fpo_edit *edits, size_t at)
{
    int alike = 0;
    for (size_t i = 0; i < at; i++)
        alike += edits[i].kind == edits[at].kind && edits[i].operands == edits[at].operands;
    return alike < 1;
}

static const struct {
    fpo_block_format a, b;
    const char *model;
} subjects[] = {{FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "sm120_mxf4nvf4"},
                {FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_MXFP8_E4M3, "sm120_mxf8f6f4"},
                {FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128, "sm90_fp8_blockwise"}};

START_TEST(planted_edits_are_named)
{
    subject *s = make_subject(subjects[_i].a, subjects[_i].b, subjects[_i].model);
    static fpo_edit edits[EDITS];
    static float right[M * N], wrong[M * N];
    size_t count = fpo_edit_enumerate(&s->spec, &s->problem, edits, EDITS);
    int named = 0, alone = 0, unseen = 0;
    ck_assert_uint_le(count, EDITS);
    ck_assert(compute(&s->spec, &s->problem, right));
    for (size_t i = 0; i < count; i++) {
        fpo_diagnosis diagnosis;
        if (!is_chosen(edits, i))
            continue;
        if (!plant(s, &edits[i], 1, wrong))
            continue; /* makes no sense for these operands */
        if (memcmp(right, wrong, sizeof right) == 0) {
            unseen++; /* these operands do not show it */
            continue;
        }
        ck_assert(fpo_diagnose(&s->spec, &s->problem, wrong, sizeof wrong, NULL, &diagnosis, NULL) == FPO_OK);
        if (!names(&diagnosis, &edits[i])) {
            char sentence[256];
            fpo_edit_sentence(&edits[i], sentence, sizeof sentence);
            /* Where more edits explain it than there is room for, the planted one may be beyond the last. */
            ck_assert_msg(diagnosis.cause_count == FPO_CAUSES, "not named: %s", sentence);
        }
        bool legitimate = fpo_edit_describe(edits[i].kind)->legitimate;
        ck_assert_msg(!legitimate || diagnosis.verdict == FPO_VERDICT_LEGITIMATE, "a model is called a fault");
        named++;
        alone += diagnosis.cause_count == 1;
    }
    printf("%s: %d planted edits named, %d of them as the only cause; %d do not show\n", subjects[_i].model, named,
           alone, unseen);
    ck_assert_int_ge(named, 25);
    ck_assert_int_ge(alone, named / 2);
    free(s);
}
END_TEST

START_TEST(noise_is_blamed_on_nothing)
{
    subject *s = make_subject(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "sm120_mxf4nvf4");
    static float noise[M * N];
    for (uint64_t round = 0; round < 3; round++) {
        fpo_diagnosis diagnosis;
        ck_assert(compute(&s->spec, &s->problem, noise));
        for (int i = 0; i < M * N; i++)
            if (round > 0 || draw(20, (uint64_t)i) % 7 == 0)
                noise[i] *= 1 + (float)(draw(21 + round, (uint64_t)i) % 100) / 1000;
        ck_assert(fpo_diagnose(&s->spec, &s->problem, noise, sizeof noise, NULL, &diagnosis, NULL) == FPO_OK);
        ck_assert_int_eq(diagnosis.verdict, FPO_VERDICT_UNEXPLAINED);
        ck_assert_uint_eq(diagnosis.cause_count, 0);
        /* Where most outputs are right, no edit is called close that gets fewer of them right. */
        ck_assert(diagnosis.closest.edit_count == 0 || diagnosis.closest_equal > (round == 0 ? 24u : 0u));
    }
    free(s);
}
END_TEST

START_TEST(a_pair_is_found)
{
    subject *s = make_subject(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, "sm120_mxf4nvf4");
    static float wrong[M * N];
    const fpo_edit planted[2] = {{.kind = FPO_EDIT_NIBBLE_ORDER, .operands = FPO_OPERAND_B},
                                 {.kind = FPO_EDIT_TENSOR_SCALE_INVERTED, .operands = FPO_OPERAND_A}};
    fpo_diagnosis diagnosis;
    ck_assert(plant(s, planted, 2, wrong));
    ck_assert(fpo_diagnose(&s->spec, &s->problem, wrong, sizeof wrong, NULL, &diagnosis, NULL) == FPO_OK);
    ck_assert_int_eq(diagnosis.verdict, FPO_VERDICT_FAULT);
    ck_assert_uint_ge(diagnosis.cause_count, 1);
    ck_assert_uint_eq(diagnosis.causes[0].edit_count, 2);
    free(s);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("diagnosis");
    TCase *cases = tcase_create("edits");
    tcase_set_timeout(cases, 600);
    tcase_add_loop_test(cases, planted_edits_are_named, 0, (int)(sizeof subjects / sizeof *subjects));
    tcase_add_test(cases, noise_is_blamed_on_nothing);
    tcase_add_test(cases, a_pair_is_found);
    suite_add_tcase(suite, cases);
    return suite;
}

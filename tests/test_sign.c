/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Outputs that are plainly something, faults in a part of an output, and how much a wrong output proves. */
#include "suite.h"

#include <fp4oracle/fp4oracle.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 40, N = 48, K = 64 };

typedef struct subject {
    fpo_gemm_spec spec;
    fpo_gemm_problem problem;
    uint8_t a[M * K / 2], b[N * K / 2], sa[M * K / 16], sb[N * K / 16];
    float c[M * N], right[M * N], wrong[M * N];
} subject;

static uint32_t draw(uint64_t stream, uint64_t index)
{
    return (uint32_t)fpo_random_bits((fpo_random){81, stream}, index) >> 8;
}

static void compute(const subject *s, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, float *d)
{
    (void)s;
    fpo_gemm_output output = {.d = d, .d_bytes = M * N * sizeof *d};
    ck_assert(fpo_gemm(spec, problem, &output, NULL, NULL) == FPO_OK);
}

static subject *make_subject(void)
{
    subject *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    ck_assert(fpo_spec_init(&s->spec, FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, fpo_model_by_name("exact"), FPO_F32, NULL) ==
              FPO_OK);
    s->spec.epilogue.c = FPO_F32;
    for (size_t i = 0; i < sizeof s->a; i++)
        s->a[i] = (uint8_t)draw(1, i);
    for (size_t i = 0; i < sizeof s->b; i++)
        s->b[i] = (uint8_t)draw(2, i);
    for (size_t i = 0; i < sizeof s->sa; i++)
        s->sa[i] = (uint8_t)(0x30 + draw(3, i) % 20);
    for (size_t i = 0; i < sizeof s->sb; i++)
        s->sb[i] = (uint8_t)(0x30 + draw(4, i) % 20);
    for (size_t i = 0; i < M * N; i++)
        s->c[i] = (float)(draw(5, i) % 1000) / 8 - 50;
    s->problem = (fpo_gemm_problem){.m = M,
                                    .n = N,
                                    .k = K,
                                    .alpha = 0.75f,
                                    .beta = 0.5f,
                                    .d_scale = 1,
                                    .a = {s->a, sizeof s->a, s->sa, sizeof s->sa, 0.3f},
                                    .b = {s->b, sizeof s->b, s->sb, sizeof s->sb, 1.7f},
                                    .c = s->c,
                                    .c_bytes = sizeof s->c};
    compute(s, &s->spec, &s->problem, s->right);
    memcpy(s->wrong, s->right, sizeof s->right);
    return s;
}

static fpo_diagnosis diagnose(const subject *s)
{
    fpo_diagnosis d;
    ck_assert(fpo_diagnose(&s->spec, &s->problem, s->wrong, sizeof s->wrong, NULL, &d, NULL) == FPO_OK);
    return d;
}

static float number(int i)
{
    (void)i;
    return 7.25f;
}
static float zero(int i)
{
    (void)i;
    return 0;
}
static float nan_of_gpu(int i)
{
    (void)i;
    return NAN;
}
static float filling(int i)
{
    (void)i;
    uint32_t bits = 0xCDCDCDCD;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static const struct {
    float (*value)(int i);
    fpo_sign_kind sign;
} plain[] = {
    {number, FPO_SIGN_CONSTANT}, {zero, FPO_SIGN_ALL_ZERO}, {nan_of_gpu, FPO_SIGN_ALL_NAN}, {filling, FPO_SIGN_POISON}};

START_TEST(plain_outputs_are_named)
{
    subject *s = make_subject();
    for (int i = 0; i < M * N; i++)
        s->wrong[i] = plain[_i].value(i);
    fpo_diagnosis d = diagnose(s);
    ck_assert_int_eq(d.sign, plain[_i].sign);
    ck_assert_int_eq(d.verdict, FPO_VERDICT_FAULT);
    ck_assert_int_eq(d.part.kind, FPO_PART_ALL);
    /* The same in the last rows alone. */
    memcpy(s->wrong, s->right, sizeof s->right);
    for (int i = 32 * N; i < M * N; i++)
        s->wrong[i] = plain[_i].value(i);
    d = diagnose(s);
    ck_assert_int_eq(d.sign, plain[_i].sign);
    ck_assert_int_eq(d.part.kind, FPO_PART_GRID);
    ck_assert_int_eq(d.part.rows.first, 32);
    free(s);
}
END_TEST

START_TEST(c_and_the_transposed_output)
{
    subject *s = make_subject();
    memcpy(s->wrong, s->c, sizeof s->c);
    ck_assert_int_eq(diagnose(s).sign, FPO_SIGN_COPY_OF_C);
    for (int r = 0; r < M; r++)
        for (int c = 0; c < N; c++)
            s->wrong[c * M + r] = s->right[r * N + c];
    ck_assert_int_eq(diagnose(s).sign, FPO_SIGN_TRANSPOSED);
    memcpy(s->wrong, s->right, sizeof s->right);
    s->wrong[5 * N + 5] = NAN;
    fpo_diagnosis d = diagnose(s);
    ck_assert_int_eq(d.verdict, FPO_VERDICT_UNEXPLAINED);
    free(s);
}
END_TEST

static bool in_tile(int r, int c)
{
    return r >= 16 && r < 32 && c < 16;
}
static bool in_rows(int r, int c)
{
    (void)c;
    return r >= 33;
}
static bool in_odd_columns(int r, int c)
{
    (void)r;
    return c % 2 == 1;
}
static bool in_edge(int r, int c)
{
    return r >= 32 || c >= 32;
}
static bool in_row(int r, int c)
{
    (void)c;
    return r == 7;
}

static bool (*const places[])(int, int) = {in_tile, in_rows, in_odd_columns, in_edge, in_row};
static const fpo_edit planted[] = {
    {.kind = FPO_EDIT_NIBBLE_ORDER, .operands = FPO_OPERAND_A},
    {.kind = FPO_EDIT_TENSOR_SCALE_DROPPED, .operands = FPO_OPERAND_B},
    {.kind = FPO_EDIT_SCALE_LAYOUT, .operands = FPO_OPERAND_B, .from = FPO_LAYOUT_LINEAR, .to = FPO_LAYOUT_128X4},
};
enum { PLACES = sizeof places / sizeof places[0], PLANTED = sizeof planted / sizeof planted[0] };

/* An edit that holds in one place is named, and so is the place. */
START_TEST(faults_in_a_part_are_named)
{
    subject *s = make_subject();
    bool (*is_in)(int, int) = places[_i % PLACES];
    const fpo_edit *edit = &planted[_i / PLACES];
    static float everywhere[M * N];
    fpo_edited edited;
    ck_assert(fpo_edited_open(&s->spec, &s->problem, edit, 1, &edited, NULL) == FPO_OK);
    compute(s, &edited.spec, &edited.problem, everywhere);
    fpo_edited_close(&edited);
    for (int i = 0; i < M * N; i++)
        s->wrong[i] = is_in(i / N, i % N) ? everywhere[i] : s->right[i];
    fpo_diagnosis d = diagnose(s);
    ck_assert_int_eq(d.verdict, FPO_VERDICT_FAULT);
    bool named = false;
    for (size_t i = 0; i < d.cause_count; i++)
        named = named || (d.causes[i].edit_count == 1 && d.causes[i].edits[0].kind == edit->kind &&
                          d.causes[i].edits[0].operands == edit->operands && d.causes[i].in_part);
    char sentence[256] = "nothing";
    if (d.cause_count > 0)
        fpo_edit_sentence(&d.causes[0].edits[0], sentence, sizeof sentence);
    ck_assert_msg(named, "%zu causes, the first: %s, in part %d", d.cause_count, sentence, (int)d.causes[0].in_part);
    for (int i = 0; i < M * N; i++)
        ck_assert(!fpo_part_has(&d.part, i / N, i % N, s->wrong[i] != s->right[i]) || is_in(i / N, i % N));
    int64_t planted_elements = 0;
    for (int i = 0; i < M * N; i++)
        planted_elements += is_in(i / N, i % N);
    ck_assert_int_ge(d.part.elements, planted_elements * 9 / 10); /* scales of row 0 keep their place in any layout */
    free(s);
}
END_TEST

/* One element off by one step is what some other accumulation gives there: no reason to accuse. */
START_TEST(one_element_proves_little)
{
    subject *s = make_subject();
    for (int at = 0; at < 60; at++) {
        memcpy(s->wrong, s->right, sizeof s->right);
        s->wrong[at * 31] = nextafterf(s->wrong[at * 31], at % 2 == 0 ? INFINITY : -INFINITY);
        fpo_diagnosis d = diagnose(s);
        ck_assert_int_eq(d.verdict, FPO_VERDICT_UNEXPLAINED);
        ck_assert_int_eq(d.evidence.elements, 1);
        ck_assert(fabs(d.evidence.bits - 1) < 1e-9);
    }
    free(s);
}
END_TEST

START_TEST(evidence)
{
    float expected[8] = {1, 1, 1, 1, 2, 2, 2, 2}, observed[8] = {2, 2, 2, 1, 4, 2, 2, 2};
    fpo_wrong_output w = {.format = FPO_F32, .expected = expected, .observed = observed};
    ck_assert(fpo_part_find(FPO_F32, 2, 4, expected, observed, &w.part, NULL) == FPO_OK);
    fpo_evidence e = fpo_evidence_weigh(&w);
    ck_assert_int_eq(e.elements, 4);
    ck_assert_int_eq(e.pairs, 2);
    ck_assert(fabs(e.bits - (2 * log2(1 + 8388608.0) + 2)) < 1e-9);
    for (int i = 0; i < 8; i++)
        observed[i] = NAN;
    ck_assert(fpo_part_find(FPO_F32, 2, 4, expected, observed, &w.part, NULL) == FPO_OK);
    ck_assert(fpo_evidence_weigh(&w).bits == 0);
    ck_assert(fabs(fpo_evidence_needed(1023) - 20) < 1e-9);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("signs");
    TCase *tests = tcase_create("signs");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, plain_outputs_are_named, 0, sizeof plain / sizeof plain[0]);
    tcase_add_test(tests, c_and_the_transposed_output);
    tcase_add_loop_test(tests, faults_in_a_part_are_named, 0, PLACES * PLANTED);
    tcase_add_test(tests, one_element_proves_little);
    tcase_add_test(tests, evidence);
    suite_add_tcase(suite, tests);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Diagnosis of outputs with block scales (NVFP4, MXFP8): codes and scales are both what is observed. Edits planted in
 * the product and in how the output is quantised and written are named; noise is blamed on nothing. FPO_LONG=1 plants
 * every edit. */
#include "causes.h"
#include "suite.h"

#include <fp4oracle/fp4oracle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 37, N = 72, K = 128, BLOCK = 32, EDITS = 8192, EVERY = 97, COLUMNS = (N + 15) / 16 };

static bool is_long(void)
{
    return getenv("FPO_LONG") != NULL;
}

static uint32_t draw(uint64_t stream, uint64_t index)
{
    return (uint32_t)fpo_random_bits((fpo_random){17, stream}, index);
}

typedef struct subject {
    fpo_gemm_spec spec;
    fpo_gemm_problem problem;
    uint8_t a[M * K], b[N * K], sa[M * K], sb[N * K];
    float bias[N];
} subject;

typedef struct written {
    uint8_t d[M * N], scale[M * COLUMNS];
} written;

static const struct {
    fpo_block_format operands;
    const char *model;
    fpo_format d, d_scale;
} subjects[] = {{FPO_BLOCK_NVFP4, "sm120_mxf4nvf4", FPO_E2M1, FPO_UE4M3},
                {FPO_BLOCK_NVFP4, "exact", FPO_E2M1, FPO_UE4M3},
                {FPO_BLOCK_MXFP8_E4M3, "sm120_mxf8f6f4", FPO_E4M3, FPO_UE8M0},
                {FPO_BLOCK_MXFP8_E4M3, "fma_f32", FPO_E5M2, FPO_UE8M0}};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

/* Numbers near 1 with different scales along K, and two rows whose blocks are far smaller. */
static void fill(const fpo_operand_view *view, uint64_t stream, int64_t rows, uint8_t *codes, uint8_t *scales,
                 fpo_operand *operand, float tensor_scale)
{
    size_t bytes = fpo_operand_codes_bytes(view, rows, K), scale_bytes = fpo_operand_scales_bytes(view, rows, K);
    for (size_t i = 0; i < bytes; i++)
        codes[i] = (uint8_t)(view->element == FPO_E2M1 ? draw(stream, i) >> 8 : (draw(stream, i) >> 8) & 0xB7);
    for (size_t i = 0; i < scale_bytes; i++)
        scales[i] = (uint8_t)(view->scale.format == FPO_UE8M0 ? 122 + (draw(stream + 1, i) >> 8) % 9
                                                              : 0x28 + (draw(stream + 1, i) >> 8) % 0x30);
    *operand = (fpo_operand){codes, bytes, scales, scale_bytes, tensor_scale, NULL, FPO_FORMAT_NONE};
}

static subject *make_subject(size_t i)
{
    subject *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    ck_assert(fpo_spec_init(&s->spec, subjects[i].operands, subjects[i].operands, fpo_model_by_name(subjects[i].model),
                            subjects[i].d, NULL) == FPO_OK);
    s->spec.epilogue.d_scale = subjects[i].d_scale;
    s->spec.epilogue.bias = FPO_F32;
    for (int n = 0; n < N; n++)
        s->bias[n] = (float)(draw(10, (uint64_t)n) % 1000) / 8;
    s->problem = (fpo_gemm_problem){.m = M, .n = N, .k = K, .alpha = 0.7f, .d_scale = 1.3f};
    s->problem.bias = s->bias;
    s->problem.bias_bytes = sizeof s->bias;
    bool tensor_scale = fpo_block_format_describe(subjects[i].operands)->tensor_scale;
    fill(&s->spec.a.stored, 1, M, s->a, s->sa, &s->problem.a, tensor_scale ? 0.3f : 1);
    fill(&s->spec.b.stored, 3, N, s->b, s->sb, &s->problem.b, tensor_scale ? 1.7f : 1);
    return s;
}

static size_t d_bytes(const subject *s)
{
    return fpo_output_bytes(&s->spec, s->problem.m, s->problem.n);
}

static size_t scale_bytes(const subject *s)
{
    return fpo_output_scale_bytes(&s->spec, s->problem.m, s->problem.n);
}

static fpo_gemm_output output_of(const subject *s, written *w)
{
    ck_assert_uint_le(d_bytes(s), sizeof w->d);
    ck_assert_uint_le(scale_bytes(s), sizeof w->scale);
    memset(w, 0, sizeof *w);
    return (fpo_gemm_output){w->d, d_bytes(s), w->scale, scale_bytes(s)};
}

static bool plant(const subject *s, const fpo_edit *edits, size_t count, written *w)
{
    fpo_edited edited;
    fpo_gemm_output output = output_of(s, w);
    if (fpo_edited_open(&s->spec, &s->problem, edits, count, &edited, NULL) != FPO_OK)
        return false;
    bool done = fpo_edited_gemm(&edited, &output, NULL, NULL) == FPO_OK;
    fpo_edited_close(&edited);
    return done;
}

static void diagnose(const subject *s, const written *w, fpo_diagnosis *d)
{
    fpo_error error;
    fpo_observed observed = {w->d, d_bytes(s), w->scale, scale_bytes(s)};
    ck_assert_msg(fpo_diagnose_output(&s->spec, &s->problem, &observed, NULL, d, &error) == FPO_OK, "%s",
                  error.message);
}

static bool check_planted(const subject *s, const written *right, const fpo_edit *edit)
{
    written wrong;
    fpo_diagnosis d;
    if (!plant(s, edit, 1, &wrong) || memcmp(right, &wrong, sizeof wrong) == 0)
        return false;
    diagnose(s, &wrong, &d);
    char sentence[256];
    fpo_edit_sentence(edit, sentence, sizeof sentence);
    ck_assert_msg(is_explained(&d, edit), "not named: %s", sentence);
    bool legitimate = fpo_edit_describe(edit->kind)->legitimate;
    ck_assert_msg(d.verdict == (legitimate ? FPO_VERDICT_LEGITIMATE : FPO_VERDICT_FAULT) || d.evidence.bits < 40,
                  "%s: %s", fpo_verdict_name(d.verdict), sentence);
    return true;
}

static bool is_of_output(fpo_edit_kind kind)
{
    return kind >= FPO_EDIT_OUTPUT_RECIPE || kind == FPO_EDIT_D_SCALE_DROPPED || kind == FPO_EDIT_D_SCALE_INVERTED;
}

START_TEST(planted_edits_are_named)
{
    static fpo_edit edits[EDITS];
    subject *s = make_subject((size_t)_i);
    written right;
    size_t count = fpo_edit_enumerate(&s->spec, &s->problem, edits, EDITS);
    int named = 0, of_output = 0, unseen = 0;
    ck_assert_uint_le(count, EDITS);
    ck_assert(plant(s, NULL, 0, &right));
    for (size_t i = 0; i < count; i++) {
        if (!is_long() && i % EVERY != (size_t)_i * 7 % EVERY && !(is_of_output(edits[i].kind) && i % 11 == (size_t)_i))
            continue;
        bool shows = check_planted(s, &right, &edits[i]);
        named += shows;
        unseen += !shows;
        of_output += shows && is_of_output(edits[i].kind);
    }
    printf("%s under %s to %s: %d planted edits named, %d of them of the output itself; %d do not show\n",
           fpo_block_format_describe(subjects[_i].operands)->name, subjects[_i].model,
           fpo_format_describe(subjects[_i].d)->name, named, of_output, unseen);
    ck_assert_int_ge(named, 8);
    ck_assert_int_ge(of_output, 3);
    free(s);
}
END_TEST

/* What the quantiser of an epilogue gets wrong, each of them, whatever the registry's order is. */
START_TEST(mistakes_of_the_output_are_named)
{
    const fpo_edit planted[] = {edit_named("d_scale_dropped", 0, 0, 0, 0),
                                edit_named("d_scale_inverted", 0, 0, 0, 0),
                                edit_named("output_scale_layout", 0, FPO_LAYOUT_128X4, FPO_LAYOUT_LINEAR, 0),
                                edit_named("output_scale_layout", 0, FPO_LAYOUT_LINEAR, FPO_LAYOUT_128X4, 0),
                                edit_named("output_scale_format", 0, (int)subjects[_i].d_scale,
                                           subjects[_i].d_scale == FPO_UE8M0 ? FPO_UE4M3 : FPO_UE8M0, 0),
                                edit_named("output_scales_inverted", 0, 0, 0, 0),
                                edit_named("output_nibble_order", 0, 0, 0, 0),
                                edit_named("output_recipe", 0, 0, FPO_RECIPE_OCP_FLOOR_MXFP8_E4M3, 0),
                                edit_named("output_recipe", 0, 0, FPO_RECIPE_FOX_ABS_MAX, 0)};
    subject *s = make_subject((size_t)_i);
    written right;
    int shown = 0;
    ck_assert(plant(s, NULL, 0, &right));
    for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++)
        shown += check_planted(s, &right, &planted[i]);
    ck_assert_int_ge(shown, subjects[_i].d == FPO_E2M1 ? 8 : 6); /* e4m3 and e5m2 have no nibbles */
    free(s);
}
END_TEST

/* A block by itself is what it is in the whole output, under every edit: the sample of the search is honest. */
START_TEST(blocks_are_those_of_the_whole)
{
    static fpo_edit edits[EDITS];
    subject *s = make_subject((size_t)_i);
    const fpo_epilogue *e = &s->spec.epilogue;
    int64_t block = fpo_output_block(e), columns = fpo_output_scale_columns(e, N);
    size_t count = fpo_edit_enumerate(&s->spec, &s->problem, edits, EDITS), compared = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_long() && edits[i].kind < FPO_EDIT_OUTPUT_FORMAT && i % 9 != 0)
            continue;
        fpo_element blocks[12];
        uint32_t words[12 * BLOCK];
        written whole;
        fpo_edited edited;
        if (!plant(s, &edits[i], 1, &whole))
            continue;
        for (int b = 0; b < 12; b++)
            blocks[b] = (fpo_element){(7 * b + (int)i) % M, (b + (int)i) % columns};
        ck_assert(fpo_edited_open(&s->spec, &s->problem, &edits[i], 1, &edited, NULL) == FPO_OK);
        ck_assert(fpo_edited_blocks(&edited, blocks, 12, words, NULL, NULL) == FPO_OK);
        fpo_edited_close(&edited);
        for (int b = 0; b < 12; b++)
            for (int64_t c = 0; c < block && blocks[b].column * block + c < N; c++) {
                uint32_t code = fpo_load_element(e->d, whole.d, N, blocks[b].row, blocks[b].column * block + c);
                uint32_t scale = whole.scale[blocks[b].row * columns + blocks[b].column];
                ck_assert_msg(words[b * block + c] == (scale << 8 | code), "%s: block (%d, %d), column %d",
                              fpo_edit_describe(edits[i].kind)->name, (int)blocks[b].row, (int)blocks[b].column,
                              (int)c);
            }
        compared++;
    }
    ck_assert_uint_ge(compared, 100);
    free(s);
}
END_TEST

/* cuBLAS's quantiser is the spec's, written once more in the recipes' language: with its tensor scale in the program.
 */
START_TEST(the_documented_recipe_is_the_quantiser)
{
    subject *s = make_subject((size_t)_i);
    written right, by_recipe;
    const fpo_edit edit = {.kind = FPO_EDIT_OUTPUT_RECIPE,
                           .to = s->spec.epilogue.d == FPO_E2M1 ? FPO_RECIPE_CUBLAS_NVFP4 : FPO_RECIPE_CUBLAS_MXFP8};
    ck_assert(plant(s, NULL, 0, &right));
    if (s->spec.epilogue.d == FPO_E5M2) {
        ck_assert(!plant(s, &edit, 1, &by_recipe)); /* that recipe is for e4m3 */
    } else {
        ck_assert(plant(s, &edit, 1, &by_recipe));
        ck_assert_mem_eq(&right, &by_recipe, sizeof right);
    }
    free(s);
}
END_TEST

/* One part of the output: rows without the bias, a row of nothing. */
START_TEST(a_part_is_described)
{
    subject *s = make_subject((size_t)_i);
    written right, other, mixed;
    const fpo_edit dropped = {.kind = FPO_EDIT_BIAS_DROPPED};
    fpo_diagnosis d;
    ck_assert(plant(s, NULL, 0, &right));
    ck_assert(plant(s, &dropped, 1, &other));
    size_t row = d_bytes(s) / M, scales = scale_bytes(s) / M;
    mixed = right;
    memcpy(mixed.d + 20 * row, other.d + 20 * row, (M - 20) * row);
    memcpy(mixed.scale + 20 * scales, other.scale + 20 * scales, (M - 20) * scales);
    diagnose(s, &mixed, &d);
    char text[256];
    fpo_part_text(&d.part, text, sizeof text);
    ck_assert_str_eq(text, "rows from 20 on, all columns");
    ck_assert_int_eq(d.verdict, FPO_VERDICT_FAULT);
    bool found = false;
    for (size_t i = 0; i < d.cause_count; i++)
        found = found || d.causes[i].edits[0].kind == FPO_EDIT_BIAS_DROPPED;
    ck_assert(found && d.causes[0].in_part);

    mixed = right;
    memset(mixed.d + 3 * row, 0xCD, row);
    memset(mixed.scale + 3 * scales, 0xCD, scales);
    diagnose(s, &mixed, &d);
    ck_assert_int_eq(d.sign, FPO_SIGN_POISON);
    ck_assert_int_eq(d.verdict, FPO_VERDICT_FAULT);
    mixed = right;
    memset(mixed.d, 0, sizeof mixed.d);
    memset(mixed.scale, 0, sizeof mixed.scale);
    diagnose(s, &mixed, &d);
    ck_assert_int_eq(d.sign, FPO_SIGN_ALL_ZERO);
    /* Scales alone are wrong. */
    mixed = right;
    mixed.scale[5 * scales + 1] ^= 1;
    diagnose(s, &mixed, &d);
    ck_assert_int_eq(d.verdict, FPO_VERDICT_UNEXPLAINED);
    ck_assert_int_eq(d.part.rows.first, 5);
    ck_assert_int_eq(d.part.columns.first, fpo_output_block(&s->spec.epilogue));
    free(s);
}
END_TEST

/* A factor that no list has. */
START_TEST(a_factor_is_found)
{
    subject *s = make_subject((size_t)_i);
    written wrong;
    fpo_diagnosis d;
    const fpo_edit factor = {.kind = FPO_EDIT_SCALAR_FACTOR, .value = 0.4375f};
    s->spec.epilogue.bias = FPO_FORMAT_NONE;
    s->problem.bias = NULL;
    s->problem.bias_bytes = 0;
    ck_assert(plant(s, &factor, 1, &wrong));
    diagnose(s, &wrong, &d);
    ck_assert_int_eq(d.verdict, FPO_VERDICT_FAULT);
    ck_assert(is_explained(&d, &factor));
    free(s);
}
END_TEST

START_TEST(noise_is_blamed_on_nothing)
{
    subject *s = make_subject((size_t)_i);
    s->problem.m = 4;
    s->problem.a.codes_bytes = s->problem.a.codes_bytes / M * 4;
    s->problem.a.scales_bytes = s->problem.a.scales_bytes / M * 4;
    uint64_t rounds = is_long() ? 400 : 1, first = (uint64_t)_i;
    for (uint64_t round = first; round < first + rounds; round++) {
        written noise;
        fpo_diagnosis d;
        ck_assert(plant(s, NULL, 0, &noise));
        for (size_t i = 0; i < d_bytes(s); i++)
            noise.d[i] ^= (uint8_t)(round % 3 == 0   ? draw(100 + round, i)
                                    : round % 3 == 1 ? draw(100 + round, i) % 8 == 0
                                                     : 0);
        for (size_t i = 0; i < scale_bytes(s); i++)
            noise.scale[i] = (uint8_t)(noise.scale[i] ^ (round % 3 == 1 ? 0 : draw(500 + round, i) & 3));
        diagnose(s, &noise, &d);
        ck_assert_int_eq(d.verdict, FPO_VERDICT_UNEXPLAINED);
    }
    free(s);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("diagnosis of outputs with block scales");
    TCase *cases = tcase_create("edits");
    tcase_set_timeout(cases, is_long() ? 36000 : 300);
    tcase_add_loop_test(cases, planted_edits_are_named, 0, SUBJECTS);
    tcase_add_loop_test(cases, mistakes_of_the_output_are_named, 0, SUBJECTS);
    tcase_add_loop_test(cases, blocks_are_those_of_the_whole, 0, SUBJECTS);
    tcase_add_loop_test(cases, the_documented_recipe_is_the_quantiser, 0, SUBJECTS);
    tcase_add_loop_test(cases, a_part_is_described, 0, SUBJECTS);
    tcase_add_loop_test(cases, a_factor_is_found, 0, SUBJECTS);
    tcase_add_loop_test(cases, noise_is_blamed_on_nothing, 0, SUBJECTS);
    suite_add_tcase(suite, cases);
    return suite;
}

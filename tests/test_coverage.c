/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The kill matrix against whole outputs compared one by one, and what the smoke suite promises. */
#include "coverage.h"
#include "suite.h"
#include "vector_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fpo_error error;

/* Whether the edit changes a byte of the whole output; -1 if it makes no sense. */
static int changes(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_edit *edit)
{
    size_t bytes = fpo_output_bytes(spec, problem->m, problem->n);
    fpo_gemm_output right = {.d = malloc(bytes), .d_bytes = bytes}, other = {.d = malloc(bytes), .d_bytes = bytes};
    fpo_execution one = {.threads = 1};
    fpo_edited edited;
    int result = -1;
    ck_assert_int_eq(fpo_gemm(spec, problem, &right, &one, &error), FPO_OK);
    if (fpo_edited_open(spec, problem, edit, 1, &edited, &error) == FPO_OK) {
        if (fpo_edited_gemm(&edited, &other, &one, &error) == FPO_OK)
            result = memcmp(right.d, other.d, bytes) != 0;
        fpo_edited_close(&edited);
    }
    free(right.d);
    free(other.d);
    return result;
}

static fpo_vector *small(fpo_data_kind kind, fpo_block_format format, fpo_format d)
{
    fpo_generate wanted = {
        .a = format, .b = format, .d = d, .c = FPO_F32, .m = 12, .n = 9, .k = 97, .kind = kind, .seed = 5};
    fpo_vector *vector;
    ck_assert_msg(fpo_generate_vector(&wanted, &vector, &error) == FPO_OK, "%s", error.message);
    vector->problem.alpha = 0.3f;
    return vector;
}

/* Every cell, and every edit that there is no cell for, by whole outputs. The outputs are as large as a sample or
 * little more, so that a cell of a sample must be right too where the sample is everything. */
START_TEST(cells_are_what_whole_outputs_say)
{
    static const fpo_block_format formats[] = {FPO_BLOCK_NVFP4, FPO_BLOCK_FP8_1X128};
    for (int f = 0; f < 2; f++) {
        fpo_vector *vectors[2] = {small(FPO_DATA_GAUSSIAN, formats[f], FPO_BF16),
                                  small(FPO_DATA_UNIQUE, formats[f], FPO_BF16)};
        fpo_coverage_options options = {.model = fpo_suite_model(formats[f], formats[f]), .execution = {.threads = 2}};
        fpo_coverage *coverage;
        ck_assert_int_eq(fpo_coverage_compute(vectors, 2, &options, &coverage, &error), FPO_OK);
        ck_assert_uint_gt(coverage->edit_count, 300);
        size_t counts[5] = {0};
        for (size_t e = 0; e < coverage->edit_count; e++)
            for (size_t v = 0; v < 2; v++) {
                fpo_kill cell = fpo_coverage_cell(coverage, e, v);
                counts[cell]++;
                if (e % 3 != 0 && cell != FPO_KILL_SURVIVES) /* a third of them is enough */
                    continue;
                fpo_gemm_spec spec = vectors[v]->spec;
                spec.accumulation = options.model->accumulation;
                int change =
                    cell == FPO_KILL_NONE ? -1 : changes(&spec, &vectors[v]->problem, &coverage->edits[e].edit);
                char text[256];
                fpo_edit_parameters(&coverage->edits[e].edit, text, sizeof text);
                ck_assert_msg(cell == FPO_KILL_NONE || (cell == FPO_KILL_KILLS && change == 1) ||
                                  (cell == FPO_KILL_SURVIVES && change == 0) || cell == FPO_KILL_SAMPLE,
                              "%s %s: cell %d, change %d", fpo_edit_describe(coverage->edits[e].edit.kind)->name, text,
                              (int)cell, change);
            }
        ck_assert_uint_gt(counts[FPO_KILL_KILLS], 200);
        ck_assert_uint_gt(counts[FPO_KILL_SURVIVES], 10);
        ck_assert_uint_eq(counts[FPO_KILL_UNTRIED], 0);
        fpo_coverage_free(coverage);
        for (int v = 0; v < 2; v++)
            fpo_vector_free(vectors[v]);
    }
}
END_TEST

/* The totals and the list do not depend on threads; with one killer as enough, the same edits are killed. */
START_TEST(threads_and_shortcuts_change_nothing)
{
    fpo_vector *vectors[2] = {small(FPO_DATA_GAUSSIAN, FPO_BLOCK_MXFP4, FPO_F32),
                              small(FPO_DATA_ONE_HOT, FPO_BLOCK_MXFP4, FPO_F32)};
    fpo_coverage *coverage[3];
    for (int i = 0; i < 3; i++) {
        fpo_coverage_options options = {
            .model = fpo_model_by_name("sm120_mxf4"), .first_only = i == 2, .execution = {.threads = i == 0 ? 1 : 2}};
        ck_assert_int_eq(fpo_coverage_compute(vectors, 2, &options, &coverage[i], &error), FPO_OK);
    }
    for (int i = 1; i < 3; i++) {
        ck_assert_uint_eq(coverage[i]->edit_count, coverage[0]->edit_count);
        ck_assert_uint_eq(coverage[i]->killed, coverage[0]->killed);
        ck_assert_uint_eq(coverage[i]->otherwise, coverage[0]->otherwise);
        ck_assert_uint_eq(coverage[i]->equivalent, coverage[0]->equivalent);
        for (size_t e = 0; e < coverage[0]->edit_count; e++) {
            ck_assert(fpo_edit_equal(&coverage[0]->edits[e].edit, &coverage[i]->edits[e].edit));
            ck_assert_int_eq(coverage[0]->edits[e].killers > 0, coverage[i]->edits[e].killers > 0);
        }
    }
    ck_assert_int_eq(memcmp(coverage[0]->cells, coverage[1]->cells, 2 * coverage[0]->edit_count), 0);
    for (int i = 0; i < 3; i++)
        fpo_coverage_free(coverage[i]);
    for (int v = 0; v < 2; v++)
        fpo_vector_free(vectors[v]);
}
END_TEST

enum { CLASSES = 24, SAMPLE = 32 };

/* Looks for an edit of each class that the vector shows in a few outputs. */
static void kill_classes(const fpo_vector *vector, const fpo_model *model, bool *admitted, bool *killed)
{
    fpo_gemm_spec spec = vector->spec;
    const fpo_gemm_problem *p = &vector->problem;
    spec.accumulation = model->accumulation;
    size_t count = fpo_edit_enumerate(&spec, p, NULL, 0);
    fpo_edit *edits = calloc(count, sizeof *edits);
    fpo_edit_enumerate(&spec, p, edits, count);
    fpo_element elements[SAMPLE];
    uint32_t right[SAMPLE], other[SAMPLE];
    for (int i = 0; i < SAMPLE; i++)
        elements[i] = (fpo_element){i * 11 % p->m, i * 7 % p->n};
    ck_assert_int_eq(fpo_gemm_elements(&spec, p, elements, SAMPLE, right, NULL, &error), FPO_OK);
    for (size_t e = 0; e < count; e++) {
        int class = fpo_edit_describe(edits[e].kind)->fault_class;
        ck_assert_int_lt(class, CLASSES);
        admitted[class] = admitted[class] || fpo_equivalent_edit(&spec, &edits[e]) == NULL;
        fpo_edited edited;
        if (killed[class] || fpo_edited_open(&spec, p, &edits[e], 1, &edited, NULL) != FPO_OK)
            continue;
        killed[class] = fpo_edited_elements(&edited, elements, SAMPLE, other, NULL, NULL) == FPO_OK &&
                        memcmp(right, other, sizeof right) != 0;
        fpo_edited_close(&edited);
    }
    free(edits);
}

static void check_smoke(const fpo_suite_format *format, fpo_format d)
{
    bool admitted[CLASSES] = {false}, killed[CLASSES] = {false};
    fpo_suite_target target = {.a = format->a, .b = format->b, .d = d};
    const fpo_suite_vector *entry;
    for (size_t i = 0; (entry = fpo_suite_vector_at(i)) != NULL; i++) {
        fpo_vector *vector;
        if (!fpo_suite_has(FPO_SUITE_SMOKE, entry) || !fpo_suite_applies(entry, &target) ||
            fpo_suite_generate(entry, &target, &vector, &error) != FPO_OK)
            continue;
        kill_classes(vector, fpo_model_by_name(format->model), admitted, killed);
        fpo_vector_free(vector);
    }
    int classes = 0;
    for (int c = 0; c < CLASSES; c++) {
        ck_assert_msg(!admitted[c] || killed[c], "%s x %s: smoke shows no mistake of class %d",
                      fpo_block_format_describe(format->a)->name, fpo_block_format_describe(format->b)->name, c);
        classes += killed[c];
    }
    ck_assert_int_ge(classes, 14);
}

START_TEST(smoke_shows_a_mistake_of_every_class)
{
    const fpo_suite_format *format;
    for (size_t f = 0; (format = fpo_suite_format_at(f)) != NULL; f++)
        check_smoke(format, FPO_FORMAT_NONE);
}
END_TEST

START_TEST(smoke_shows_a_mistake_of_every_class_in_bf16)
{
    const fpo_suite_format *format;
    for (size_t f = 0; (format = fpo_suite_format_at(f)) != NULL; f++)
        check_smoke(format, FPO_BF16);
}
END_TEST

/* A vector that cannot show what nobody claims it can: nibbles swapped in both operands, with an even K. */
START_TEST(a_blind_vector_is_called_blind)
{
    fpo_generate wanted = {
        .a = FPO_BLOCK_NVFP4, .b = FPO_BLOCK_NVFP4, .d = FPO_F32, .m = 16, .n = 16, .k = 64, .kind = FPO_DATA_GAUSSIAN};
    fpo_vector *vector;
    ck_assert_int_eq(fpo_generate_vector(&wanted, &vector, &error), FPO_OK);
    fpo_coverage_options options = {.model = fpo_model_by_name("sm120_mxf4nvf4")};
    fpo_coverage *coverage;
    ck_assert_int_eq(fpo_coverage_compute(&vector, 1, &options, &coverage, &error), FPO_OK);
    int seen = 0;
    for (size_t e = 0; e < coverage->edit_count; e++)
        if (coverage->edits[e].edit.kind == FPO_EDIT_NIBBLE_ORDER) {
            bool both = coverage->edits[e].edit.operands == (FPO_OPERAND_A | FPO_OPERAND_B);
            ck_assert_int_eq(fpo_coverage_cell(coverage, e, 0), both ? FPO_KILL_SURVIVES : FPO_KILL_KILLS);
            seen++;
        }
    ck_assert_int_eq(seen, 3);
    fpo_coverage_free(coverage);
    fpo_vector_free(vector);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("coverage");
    TCase *tests = tcase_create("coverage");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, cells_are_what_whole_outputs_say);
    tcase_add_test(tests, threads_and_shortcuts_change_nothing);
    tcase_add_test(tests, smoke_shows_a_mistake_of_every_class);
    tcase_add_test(tests, smoke_shows_a_mistake_of_every_class_in_bf16);
    tcase_add_test(tests, a_blind_vector_is_called_blind);
    suite_add_tcase(suite, tests);
    return suite;
}

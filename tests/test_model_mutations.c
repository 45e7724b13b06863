/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A changed number of any entry of the registry is noticed: it gives other bits on the constructed rows and GEMMs
 * (golden.h) whose results are on file, or it is refused. What no operand can show is listed with its reason
 * (mutations.c), and must then not show here either. */
#include "suite.h"

#include "golden.h"
#include "mutations.h"
#include "stream_k_decisions.h"

#include <stdio.h>
#include <stdlib.h>
#include <step.h>
#include <string.h>

enum { MOST_SETS = 16 };

/* The problems of a model, and what comes out of them. */
typedef struct problems {
    golden_rows *rows[MOST_SETS];
    golden_gemm *gemms[MOST_SETS];
    uint64_t rows_digest[MOST_SETS], gemm_digest[MOST_SETS];
    size_t row_sets, gemm_count;
} problems;

static problems open_problems(const fpo_model *model)
{
    problems p = {.row_sets = 0};
    golden_pair pair;
    while (golden_pair_at(model, p.row_sets, &pair)) {
        golden_rows *rows = malloc(sizeof *rows);
        ck_assert_ptr_nonnull(rows);
        golden_rows_make(&pair, rows);
        p.rows_digest[p.row_sets] = golden_rows_engine(rows, &model->accumulation.step);
        p.rows[p.row_sets++] = rows;
    }
    golden_gemm *gemm;
    while ((gemm = golden_gemm_make(model, p.gemm_count)) != NULL) {
        ck_assert(golden_gemm_engine(gemm, &model->accumulation, &p.gemm_digest[p.gemm_count]));
        p.gemms[p.gemm_count++] = gemm;
    }
    return p;
}

static void close_problems(problems *p)
{
    for (size_t i = 0; i < p->row_sets; i++)
        free(p->rows[i]);
    for (size_t i = 0; i < p->gemm_count; i++)
        golden_gemm_free(p->gemms[i]);
}

/* What test_model_golden.c would say of this entry: other rows, refused operands, other bits. */
static bool rows_notice(const problems *p, const fpo_model *changed)
{
    const fpo_step *step = &changed->accumulation.step;
    for (size_t i = 0; i < p->row_sets; i++) {
        golden_pair pair;
        if (!golden_pair_at(changed, i, &pair) || memcmp(&pair, &p->rows[i]->pair, sizeof pair) != 0)
            return true;
        if (!fpo_step_takes_element(step, pair.a) || !fpo_step_takes_element(step, pair.b))
            return true;
        if (golden_rows_engine(p->rows[i], step) != p->rows_digest[i])
            return true;
    }
    return false;
}

static bool gemms_notice(const problems *p, const fpo_model *changed)
{
    for (size_t i = 0; i < p->gemm_count; i++) {
        uint64_t digest;
        if (!golden_gemm_takes(p->gemms[i], changed) ||
            !golden_gemm_engine(p->gemms[i], &changed->accumulation, &digest) || digest != p->gemm_digest[i])
            return true;
    }
    return false;
}

/* CUTLASS' own decisions (test_stream_k.c). */
static bool cutlass_notices(const char *decisions, const fpo_model *changed)
{
    const fpo_schedule *schedule = &changed->accumulation.schedule;
    return schedule->split == FPO_SPLIT_STREAM_K && stream_k_compare(decisions, schedule, false).wrong > 0;
}

static bool noticed(const problems *p, const char *decisions, const fpo_model *changed)
{
    if (fpo_accumulation_check(&changed->accumulation, NULL) != FPO_OK)
        return true;
    return rows_notice(p, changed) || gemms_notice(p, changed) || cutlass_notices(decisions, changed);
}

START_TEST(test_every_number)
{
    int changes = 0, silent = 0, wrong = 0;
    char *decisions = stream_k_decisions();
    for (size_t i = 0; fpo_model_at(i) != NULL; i++) {
        const fpo_model *model = fpo_model_at(i);
        problems p = open_problems(model);
        for (size_t j = 0; j < mutation_count; j++) {
            fpo_model changed = *model;
            if (!mutate(&mutations[j], &changed.accumulation))
                continue;
            const char *reason = mutations[j].silent != NULL ? mutations[j].silent(model) : NULL;
            bool seen = noticed(&p, decisions, &changed);
            changes++;
            silent += reason != NULL;
            if (seen == (reason != NULL)) {
                printf("%s, %s: %s\n", model->name, mutations[j].name, seen ? "shows after all" : "not noticed");
                wrong++;
            }
        }
        close_problems(&p);
    }
    free(decisions);
    printf("%d changes, %d of which can show on no operand\n", changes, silent);
    ck_assert_msg(wrong == 0, "%d changes", wrong);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("model mutations");
    TCase *c = tcase_create("registry");
    tcase_add_test(c, test_every_number);
    suite_add_tcase(suite, c);
    return suite;
}

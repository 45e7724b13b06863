/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "steps_report.h"
#include "report.h"
#include "table.h"

#include <stdlib.h>
#include <text.h>

static const char *format_name(fpo_format format)
{
    return fpo_format_describe(format)->name;
}

/* "e2m1 x e2m1, ue4m3 per 16, f32 accumulator" */
static void describe(const fpo_step_rows *rows, char *text, size_t size)
{
    char scale[32] = "";
    if (rows->scale != FPO_FORMAT_NONE)
        snprintf(scale, sizeof scale, ", %s per %d", format_name(rows->scale), rows->block_k);
    snprintf(text, size, "K = %d, %s x %s%s, %s accumulator", rows->k, format_name(rows->a_element),
             format_name(rows->b_element), scale, format_name(rows->accumulator));
}

static fpo_status no_model(const fpo_step_rows *rows, const fpo_model *model, fpo_error *error)
{
    char text[128];
    describe(rows, text, sizeof text);
    if (model == NULL)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "no model is an instruction for these rows: %s", text);
    return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s is no instruction for these rows: %s", model->name, text);
}

static bool judges(const fpo_step_rows *rows, const fpo_model *wanted, const fpo_model *model)
{
    return wanted == NULL ? fpo_steps_applicable(rows, model) : model == wanted && fpo_steps_chainable(rows, model);
}

static int fewest_first(const void *x, const void *y)
{
    const fpo_steps_judgement *a = x, *b = y;
    if (a->result.different != b->result.different)
        return a->result.different < b->result.different ? -1 : 1;
    return a->model < b->model ? -1 : a->model > b->model;
}

fpo_status fpo_steps_judge(const fpo_step_rows *rows, const fpo_model *model, fpo_steps_verdict *verdict,
                           fpo_error *error)
{
    *verdict = (fpo_steps_verdict){.rows = rows};
    size_t all = 0;
    while (fpo_model_at(all) != NULL)
        all++;
    verdict->models = calloc(all, sizeof *verdict->models);
    if (verdict->models == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu models", all);
    for (size_t i = 0; i < all; i++) {
        const fpo_model *candidate = fpo_model_at(i);
        if (!judges(rows, model, candidate))
            continue;
        fpo_steps_judgement *judgement = &verdict->models[verdict->count++];
        judgement->model = candidate;
        fpo_steps_compare(rows, &candidate->accumulation.step, &judgement->result);
        verdict->reproducing += judgement->result.different == 0;
    }
    if (verdict->count == 0) {
        fpo_steps_verdict_free(verdict);
        return no_model(rows, model, error);
    }
    qsort(verdict->models, verdict->count, sizeof *verdict->models, fewest_first);
    return FPO_OK;
}

void fpo_steps_verdict_free(fpo_steps_verdict *verdict)
{
    free(verdict->models);
    *verdict = (fpo_steps_verdict){0};
}

static void print_rows(const fpo_steps_verdict *verdict)
{
    const fpo_steps_judgement *best = &verdict->models[0];
    fpo_format format = verdict->rows->accumulator;
    int digits = format == FPO_F16 ? 4 : 8;
    printf("\n  rows that %s does not reproduce%s:\n", best->model->name,
           best->result.different > FPO_STEPS_FIRST ? ", the first ten" : "");
    fpo_table *table = fpo_table_new(5);
    const char *heads[] = {"row", "recorded", "", "model", ""};
    for (size_t i = 0; i < 5; i++)
        fpo_table_add(table, "%s", heads[i]);
    fpo_table_align_right(table, 0);
    for (size_t i = 0; i < best->result.first_count; i++) {
        uint32_t recorded = best->result.first[i].recorded, expected = best->result.first[i].expected;
        fpo_table_add(table, "%lld", (long long)best->result.first[i].row);
        fpo_table_add(table, "0x%0*X", digits, recorded);
        fpo_table_add(table, "%.9g", fpo_decode_double(format, recorded));
        fpo_table_add(table, "0x%0*X", digits, expected);
        fpo_table_add(table, "%.9g", fpo_decode_double(format, expected));
    }
    fpo_table_print(table, 4);
}

static void print_makers(const fpo_steps_verdict *verdict)
{
    if (verdict->reproducing == 0) {
        printf("\n  %sno model reproduces every row%s\n", fpo_style(stdout, FPO_BAD), fpo_style(stdout, FPO_PLAIN));
        return;
    }
    printf("\n  %severy row is reproduced by%s", fpo_style(stdout, FPO_GOOD), fpo_style(stdout, FPO_PLAIN));
    for (size_t i = 0; i < verdict->reproducing; i++)
        printf("%s %s", i > 0 ? "," : "", verdict->models[i].model->name);
    puts("");
}

void fpo_steps_verdict_print(const char *path, const fpo_steps_verdict *verdict)
{
    const fpo_step_rows *rows = verdict->rows;
    fpo_heading("%s, %s", fpo_shown(path).text, rows->label);
    char text[128];
    describe(rows, text, sizeof text);
    printf("  %lld rows of %s%s", (long long)rows->rows, text, rows->c_ignored ? ", c taken as 0" : "");
    if (rows->origin[0] != '\0')
        printf("; the file says: %s", fpo_shown(rows->origin).text);
    puts("\n");
    fpo_table *table = fpo_table_new(4);
    const char *heads[] = {"model", "reproduces", "differ", "provenance"};
    for (size_t i = 0; i < 4; i++)
        fpo_table_add(table, "%s", heads[i]);
    fpo_table_align_right(table, 1);
    fpo_table_align_right(table, 2);
    for (size_t i = 0; i < verdict->count; i++) {
        const fpo_steps_judgement *judgement = &verdict->models[i];
        fpo_table_add(table, "%s", judgement->model->name);
        fpo_table_add(table, "%lld", (long long)(judgement->result.rows - judgement->result.different));
        fpo_table_add(table, "%lld", (long long)judgement->result.different);
        fpo_table_add(table, "%s", fpo_provenance_name(judgement->model->provenance));
    }
    fpo_table_print(table, 2);
    print_makers(verdict);
    if (verdict->reproducing == 0)
        print_rows(verdict);
    puts("");
}

static json_t *judgement_json(const fpo_steps_judgement *judgement)
{
    json_t *first = json_array();
    for (size_t i = 0; i < judgement->result.first_count; i++)
        json_array_append_new(first, json_pack("{s:I, s:I, s:I}", "row", (json_int_t)judgement->result.first[i].row,
                                               "recorded", (json_int_t)judgement->result.first[i].recorded, "expected",
                                               (json_int_t)judgement->result.first[i].expected));
    return json_pack("{s:s, s:s, s:I, s:I, s:o}", "model", judgement->model->name, "provenance",
                     fpo_provenance_name(judgement->model->provenance), "reproduced",
                     (json_int_t)(judgement->result.rows - judgement->result.different), "different",
                     (json_int_t)judgement->result.different, "first", first);
}

json_t *fpo_steps_verdict_json(const char *path, const fpo_steps_verdict *verdict)
{
    const fpo_step_rows *rows = verdict->rows;
    json_t *models = json_array(), *makers = json_array();
    for (size_t i = 0; i < verdict->count; i++)
        json_array_append_new(models, judgement_json(&verdict->models[i]));
    for (size_t i = 0; i < verdict->reproducing; i++)
        json_array_append_new(makers, json_string(verdict->models[i].model->name));
    return json_pack("{s:s, s:s, s:I, s:i, s:s, s:s, s:s, s:i, s:s, s:b, s:o, s:o}", "file", fpo_shown(path).text,
                     "tensor", rows->label, "rows", (json_int_t)rows->rows, "k", rows->k, "a",
                     format_name(rows->a_element), "b", format_name(rows->b_element), "scale", format_name(rows->scale),
                     "block", rows->block_k, "accumulator", format_name(rows->accumulator), "c_ignored",
                     rows->c_ignored, "made_by", makers, "models", models);
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The kill matrix in words. */
#include "coverage_run.h"
#include "gen_report.h"
#include "report.h"
#include "table.h"

#include <string.h>

enum { TEXT = 256 };

static bool killed_by_first(const fpo_coverage *c, size_t edit, size_t first)
{
    for (size_t v = 0; v < first && v < c->vector_count; v++)
        if (fpo_coverage_cell(c, edit, v) == FPO_KILL_KILLS)
            return true;
    return false;
}

static bool survives(const fpo_coverage_edit *edit)
{
    return edit->killers == 0 && edit->equivalent == NULL && !edit->otherwise;
}

bool fpo_coverage_family_of(const fpo_coverage *c, fpo_edit_kind kind, size_t first, fpo_coverage_family *family)
{
    *family = (fpo_coverage_family){.info = fpo_edit_describe(kind), .kind = kind};
    for (size_t e = 0; e < c->edit_count; e++) {
        const fpo_coverage_edit *edit = &c->edits[e];
        if (edit->edit.kind != kind)
            continue;
        family->edits++;
        family->killed += killed_by_first(c, e, first);
        family->surviving += survives(edit);
        if (edit->killers == 0 && edit->equivalent != NULL) {
            family->equivalent++;
            family->reason = family->reason == NULL ? edit->equivalent : family->reason;
        }
    }
    return family->edits > 0;
}

static size_t families_of(const fpo_coverage *c)
{
    size_t count = 0;
    fpo_coverage_family family;
    for (int kind = 0; kind < FPO_EDIT_COUNT; kind++)
        count += fpo_coverage_family_of(c, (fpo_edit_kind)kind, 0, &family);
    return count;
}

static void title(const fpo_coverage_run *run, char *text)
{
    const fpo_gemm_spec *spec = &run->vectors[0]->spec;
    snprintf(text, TEXT, "%s x %s -> %s under %s", fpo_operand_name(&spec->a.read), fpo_operand_name(&spec->b.read),
             fpo_format_describe(spec->epilogue.d)->name, run->model->name);
}

static void edit_text(const fpo_edit *edit, char *text)
{
    char parameters[TEXT / 2];
    fpo_edit_parameters(edit, parameters, sizeof parameters);
    snprintf(text, TEXT, "%s%s%s", fpo_edit_describe(edit->kind)->name, parameters[0] != '\0' ? " " : "", parameters);
}

/* "1512 of 1546 edits killed, 14 more with other numbers, 17 change nothing, 3 survive" */
static void print_totals(const fpo_coverage *c)
{
    size_t surviving = c->edit_count - c->killed - c->otherwise - c->equivalent;
    printf("%zu of %zu edits in %zu families killed", c->killed, c->edit_count, families_of(c));
    if (c->otherwise > 0)
        printf(", %zu by another vector with the numbers of its shape", c->otherwise);
    if (c->equivalent > 0)
        printf(", %zu change no output whatever the operands are", c->equivalent);
    printf(", %zu survive%s\n", surviving, surviving == 1 ? "s" : "");
}

static void print_survivors(const fpo_coverage *c)
{
    char text[TEXT], sentence[TEXT];
    for (size_t e = 0; e < c->edit_count; e++)
        if (survives(&c->edits[e])) {
            edit_text(&c->edits[e].edit, text);
            fpo_edit_sentence(&c->edits[e].edit, sentence, sizeof sentence);
            printf("  survives: %s\n            %s\n", text, sentence);
        }
}

static size_t kills_of(const fpo_coverage *c, size_t vector)
{
    size_t count = 0;
    for (size_t e = 0; e < c->edit_count; e++)
        count += fpo_coverage_cell(c, e, vector) == FPO_KILL_KILLS;
    return count;
}

void fpo_coverage_print(const fpo_coverage_run *run)
{
    char text[TEXT];
    title(run, text);
    fpo_heading("%s", text);
    fpo_table *table = fpo_table_new(2);
    fpo_table_align_right(table, 1);
    fpo_table_add(table, "vector");
    fpo_table_add(table, "kills");
    for (size_t v = 0; v < run->count; v++) {
        fpo_table_add(table, "%s", run->names[v]);
        fpo_table_add(table, "%zu", kills_of(run->coverage, v));
    }
    fpo_table_print(table, 2);
    print_totals(run->coverage);
    print_survivors(run->coverage);
}

static size_t cell_of(const fpo_coverage *c, fpo_edit_kind kind, size_t vector, size_t *admitted)
{
    size_t kills = 0;
    *admitted = 0;
    for (size_t e = 0; e < c->edit_count; e++)
        if (c->edits[e].edit.kind == kind) {
            fpo_kill kill = fpo_coverage_cell(c, e, vector);
            *admitted += kill != FPO_KILL_NONE;
            kills += kill == FPO_KILL_KILLS;
        }
    return kills;
}

void fpo_coverage_print_matrix(const fpo_coverage_run *run)
{
    fpo_coverage_family family;
    fpo_table *table = fpo_table_new(run->count + 1);
    fpo_table_add(table, "edit");
    for (size_t v = 0; v < run->count; v++)
        fpo_table_add(table, "%s", run->names[v]);
    for (int kind = 0; kind < FPO_EDIT_COUNT; kind++) {
        if (!fpo_coverage_family_of(run->coverage, (fpo_edit_kind)kind, run->count, &family))
            continue;
        fpo_table_add(table, "%s", family.info->name);
        for (size_t v = 0; v < run->count; v++) {
            size_t admitted, kills = cell_of(run->coverage, family.kind, v, &admitted);
            if (admitted > 0)
                fpo_table_add(table, "%zu/%zu", kills, admitted);
            else
                fpo_table_add(table, ".");
        }
    }
    fpo_table_print(table, 2);
}

void fpo_coverage_print_source(const fpo_coverage_run *run)
{
    char text[TEXT];
    title(run, text);
    printf("### %s\n\ncomputed from %zu vectors, digest %s of them and the catalogue\n", text, run->count,
           run->source.hex);
}

void fpo_coverage_print_markdown(const fpo_coverage_run *run, size_t smoke)
{
    fpo_coverage_family family, in_smoke;
    const fpo_coverage *c = run->coverage;
    printf("\n");
    fpo_coverage_print_source(run);
    printf("\n");
    print_totals(c);
    printf("\n| class | edit | edits | smoke | all | |\n|--:|---|--:|--:|--:|---|\n");
    for (int class = 0; class < 32; class ++)
        for (int kind = 0; kind < FPO_EDIT_COUNT; kind++) {
            if (!fpo_coverage_family_of(c, (fpo_edit_kind)kind, run->count, &family) ||
                family.info->fault_class != class)
                continue;
            fpo_coverage_family_of(c, (fpo_edit_kind)kind, smoke, &in_smoke);
            printf("| %d | `%s` | %zu | %zu | %zu | ", class, family.info->name, family.edits, in_smoke.killed,
                   family.killed);
            if (family.equivalent > 0)
                printf("%zu: %s", family.equivalent, family.reason);
            printf(" |\n");
        }
}

static json_t *edit_json(const fpo_coverage_run *run, size_t e)
{
    const fpo_coverage_edit *edit = &run->coverage->edits[e];
    const fpo_edit_info *info = fpo_edit_describe(edit->edit.kind);
    char parameters[TEXT];
    fpo_edit_parameters(&edit->edit, parameters, sizeof parameters);
    json_t *killers = json_array();
    for (size_t v = 0; v < run->count; v++)
        if (fpo_coverage_cell(run->coverage, e, v) == FPO_KILL_KILLS)
            json_array_append_new(killers, fpo_json_text(run->names[v]));
    return json_pack("{s:s, s:s, s:i, s:s, s:o, s:s?}", "edit", info->name, "parameters", parameters, "class",
                     info->fault_class, "outcome",
                     edit->killers > 0          ? "killed"
                     : edit->equivalent != NULL ? "equivalent"
                     : edit->otherwise          ? "killed_otherwise"
                                                : "survives",
                     "killed_by", killers, "reason", edit->equivalent);
}

json_t *fpo_coverage_json(const fpo_coverage_run *run)
{
    const fpo_coverage *c = run->coverage;
    const fpo_gemm_spec *spec = &run->vectors[0]->spec;
    json_t *edits = json_array(), *vectors = json_array();
    for (size_t v = 0; v < run->count; v++)
        json_array_append_new(vectors, json_pack("{s:o, s:I}", "name", fpo_json_text(run->names[v]), "kills",
                                                 (json_int_t)kills_of(c, v)));
    for (size_t e = 0; e < c->edit_count; e++)
        json_array_append_new(edits, edit_json(run, e));
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "a", fpo_operand_name(&spec->a.read),
                     "b", fpo_operand_name(&spec->b.read), "d", fpo_format_describe(spec->epilogue.d)->name, "model",
                     run->model->name, "edits", (json_int_t)c->edit_count, "killed", (json_int_t)c->killed,
                     "killed_otherwise", (json_int_t)c->otherwise, "equivalent", (json_int_t)c->equivalent, "surviving",
                     (json_int_t)(c->edit_count - c->killed - c->otherwise - c->equivalent), "vectors", vectors, "of",
                     edits);
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tables of families as a document. */
#include "recipe_differences.h"

#include "assertions.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char introduction[] =
    "# Where recipes differ, pair by pair\n"
    "\n"
    "For all recipes that make the same kind of operand: which give the same bytes, and for all others the simplest "
    "input found\nthat shows them apart. The page is written by a program (`tests/test_recipe_table.c`, which also "
    "fails "
    "when it is out of date)\nfrom some thousand probes a family: one block each, directed at every boundary between "
    "scale codes and every midpoint\nbetween elements (and one ulp to both sides), zeros of both signs, subnormal, "
    "huge "
    "and infinite numbers, NaN, and pairs of\nnumbers with few bits.\n"
    "\n"
    "*Recipes in one class* gave the same scales and codes on every probe. That is evidence, not proof. Probes have "
    "one "
    "row: a\nrecipe whose amax covers more rows (`_2d`) stands with the one that it equals on a single row.\n"
    "\n"
    "*Differences* are numbers of inputs, which follow: above the diagonal the simplest input that shows the two "
    "apart, "
    "below it the\nsimplest *ordinary* one (no zeros, nothing below 2^-10 or above 2^15), or a dash where no such "
    "probe "
    "does: on real data these\ntwo hardly differ. Fewer numbers count as simpler, then finite ones, then bf16, then "
    "few "
    "significant bits near 1.\n"
    "\n"
    "An *input* is the block's first numbers, as the dtype in front of them is fed to the library; the rest is zeros. "
    "Where\n`T, block` stands before it, another block of the same tensor holds the number T alone: it is the tensor's "
    "amax. An *outcome*\nis the scale's code, then the codes of the numbers shown, then that of the zeros behind them "
    "if "
    "it is not 0; the classes that\nhave it follow.\n"
    "\n"
    "To see one at work, step by step: `fp4oracle explain recipe NAME [--dtype D] -- NUMBERS`.\n"
    "\n"
    "Not compared are recipes that round with random bits, and those whose input is fp8.\n";

/* The shorter of decimal and hexadecimal. */
static void write_number(FILE *file, float x)
{
    char decimal[40], hexadecimal[40];
    snprintf(decimal, sizeof decimal, "%.9g", (double)x);
    snprintf(hexadecimal, sizeof hexadecimal, "%a", (double)x);
    bool plain = !isfinite(x) || (strchr(decimal, 'e') == NULL && strlen(decimal) <= strlen(hexadecimal) + 2);
    fputs(isnan(x) ? "nan" : plain ? decimal : hexadecimal, file);
}

static void write_input(FILE *file, const fpo_probe *probe)
{
    fprintf(file, "%s `", fpo_format_describe(probe->dtype)->name);
    if (probe->tensor != 0) {
        write_number(file, probe->tensor);
        fputs(", block ", file);
    }
    for (int i = 0; i < probe->count; i++) {
        fputs(i > 0 ? " " : "", file);
        write_number(file, probe->x[i]);
    }
    fputs(probe->filled ? " everywhere`" : "`", file);
}

static void write_code(FILE *file, fpo_format format, uint32_t code)
{
    fprintf(file, "%0*X", (fpo_format_describe(format)->bits + 3) / 4, code);
}

static void write_outcome(FILE *file, const fpo_operand_view *view, const fpo_probe *probe, const fpo_outcome *outcome)
{
    fputs("`", file);
    write_code(file, view->scale.format, outcome->scale);
    fputs(":", file);
    for (int i = 0; i < probe->count; i++) {
        fputs(" ", file);
        write_code(file, view->element, outcome->codes[i]);
    }
    if (!probe->filled && outcome->rest != 0) {
        fputs(" rest ", file);
        write_code(file, view->element, outcome->rest);
    }
    fputs("`", file);
}

/* "1-4, 7" */
static void write_list(FILE *file, const bool *in, size_t count)
{
    const char *comma = "";
    for (size_t i = 0; i < count; i++) {
        if (!in[i])
            continue;
        size_t end = i;
        while (end + 1 < count && in[end + 1])
            end++;
        fprintf(file, end > i ? "%s%zu%s%zu" : "%s%zu", comma, i + 1, end > i + 1 ? "-" : ", ", end + 1);
        comma = ", ";
        i = end;
    }
}

/* One table of the page: classes by bytes, or groups by the tensor's multiplier. */
typedef struct part {
    const fpo_family_table *table;
    const size_t *class_of;
    size_t classes;
    const int64_t *apart;
    bool multiplier;
    int64_t *number; /* of the input that shows it, by probe; 0: shows nothing */
    int64_t inputs;
} part;

static size_t first_of(const part *p, size_t class)
{
    size_t recipe = 0;
    while (p->class_of[recipe] != class)
        recipe++;
    return recipe;
}

/* The probe on its own gives what it gave among the others: the page shows it on its own. */
static void check_alone(const part *p, size_t recipe, size_t probe)
{
    const fpo_family_table *table = p->table;
    const fpo_recipe_info *info = fpo_recipe_describe(table->family.recipes[recipe]);
    fpo_outcome alone = fpo_probe_run(info, &table->probes.at[probe]);
    const fpo_outcome *among = &table->outcomes[recipe * table->probes.count + probe];
    ck_assert_msg(alone.bytes == among->bytes && alone.scale == among->scale, "%s: probe %zu depends on others",
                  info->name, probe);
}

/* Inputs are numbered in order of simplicity. */
static void number_inputs(part *p)
{
    p->number = calloc(p->table->probes.count, sizeof *p->number);
    for (size_t i = 0; i < p->classes * p->classes; i++)
        if (p->apart[i] >= 0)
            p->number[p->apart[i]] = 1;
    for (size_t i = 0; i < p->table->probes.count; i++)
        if (p->number[i] != 0)
            p->number[i] = ++p->inputs;
}

static void write_classes(FILE *file, const part *p)
{
    fprintf(file, "| %s | recipes |\n|---|---|\n", p->multiplier ? "group" : "class");
    for (size_t class = 0; class < p->classes; class ++) {
        fprintf(file, "| %zu |", class + 1);
        const char *comma = "";
        for (size_t r = 0; r < p->table->family.count; r++)
            if (p->class_of[r] == class) {
                fprintf(file, "%s `%s`", comma, fpo_recipe_describe(p->table->family.recipes[r])->name);
                comma = ",";
            }
        fputs(" |\n", file);
    }
}

static void write_matrix(FILE *file, const part *p)
{
    fputs("\n| |", file);
    for (size_t b = 0; b < p->classes; b++)
        fprintf(file, " %zu |", b + 1);
    fputs("\n|---|", file);
    for (size_t b = 0; b < p->classes; b++)
        fputs("---|", file);
    for (size_t a = 0; a < p->classes; a++) {
        fprintf(file, "\n| **%zu** |", a + 1);
        for (size_t b = 0; b < p->classes; b++) {
            int64_t probe = p->apart[a * p->classes + b];
            if (probe >= 0)
                fprintf(file, " %lld |", (long long)p->number[probe]);
            else
                fputs(a == b ? " |" : " - |", file);
        }
    }
    fputs("\n", file);
}

static void write_result(FILE *file, const part *p, size_t probe, const fpo_outcome *outcome)
{
    if (!p->multiplier) {
        write_outcome(file, &p->table->family.view, &p->table->probes.at[probe], outcome);
        return;
    }
    fputs("`", file);
    write_code(file, FPO_F32,
               fpo_encode(FPO_F32, fpo_value_from_float(outcome->multiplier), fpo_cast_describe(FPO_CAST_IEEE), 0));
    fputs("`", file);
}

static bool same_result(const part *p, const fpo_outcome *a, const fpo_outcome *b)
{
    if (p->multiplier)
        return memcmp(&a->multiplier, &b->multiplier, sizeof a->multiplier) == 0;
    return a->bytes == b->bytes && a->scale == b->scale;
}

static void write_outcomes(FILE *file, const part *p, size_t probe)
{
    const fpo_outcome *outcomes = p->table->outcomes + probe;
    size_t step = p->table->probes.count;
    bool *done = calloc(p->classes, sizeof *done), *in = calloc(p->classes, sizeof *in);
    const char *comma = "";
    for (size_t a = 0; a < p->classes; a++) {
        if (done[a])
            continue;
        const fpo_outcome *here = &outcomes[first_of(p, a) * step];
        for (size_t b = 0; b < p->classes; b++) {
            in[b] = same_result(p, here, &outcomes[first_of(p, b) * step]);
            done[b] = done[b] || in[b];
        }
        check_alone(p, first_of(p, a), probe);
        fputs(comma, file);
        write_result(file, p, probe, here);
        fputs(" ", file);
        write_list(file, in, p->classes);
        comma = "; ";
    }
    free(done);
    free(in);
}

static void write_inputs(FILE *file, const part *p)
{
    fprintf(file, "\n| | input | %s |\n|---|---|---|\n",
            p->multiplier ? "tensor scale and groups" : "outcomes and classes");
    for (size_t probe = 0; probe < p->table->probes.count; probe++) {
        if (p->number[probe] == 0)
            continue;
        fprintf(file, "| %lld | ", (long long)p->number[probe]);
        write_input(file, &p->table->probes.at[probe]);
        fputs(" | ", file);
        write_outcomes(file, p, probe);
        fputs(" |\n", file);
    }
}

static void write_part(FILE *file, part p)
{
    number_inputs(&p);
    write_classes(file, &p);
    if (p.classes > 1) {
        write_matrix(file, &p);
        write_inputs(file, &p);
    }
    free(p.number);
}

static void write_view(FILE *file, const fpo_operand_view *view, fpo_block_format name)
{
    const char *element = fpo_format_describe(view->element)->name,
               *scale = fpo_format_describe(view->scale.format)->name;
    if (name != FPO_BLOCK_COUNT)
        fprintf(file, "%s: ", fpo_block_format_describe(name)->name);
    if (view->scale.block_rows == 0)
        fprintf(file, "%s, one %s scale", element, scale);
    else if (view->scale.block_k == 0)
        fprintf(file, "%s, %s scales of rows", element, scale);
    else
        fprintf(file, "%s, %s scales of %dx%d", element, scale, (int)view->scale.block_rows, (int)view->scale.block_k);
}

static void write_family(FILE *file, const fpo_family *family)
{
    fpo_family_table table;
    fpo_family_table_make(family, &table);
    fputs("\n## ", file);
    write_view(file, &family->view, fpo_recipe_describe(family->recipes[0])->format);
    fputs("\n\n", file);
    write_part(file, (part){&table, table.class_of, table.classes, table.bytes_apart, false, NULL, 0});
    if (table.groups > 1) {
        fputs("\nThe tensor's multiplier, which these recipes compute as well, apart from the bytes:\n\n", file);
        write_part(file, (part){&table, table.group_of, table.groups, table.multiplier_apart, true, NULL, 0});
    }
    fpo_family_table_free(&table);
}

void fpo_differences_write(FILE *file)
{
    fputs(introduction, file);
    for (int r = 0; r < FPO_RECIPE_COUNT; r++) {
        fpo_family family;
        if (fpo_family_of((fpo_recipe)r, &family) && family.count > 1)
            write_family(file, &family);
    }
    fputs("\n## Alone of their kind\n\nNothing to compare these with:", file);
    const char *comma = "";
    for (int r = 0; r < FPO_RECIPE_COUNT; r++) {
        fpo_family family;
        if (!fpo_family_of((fpo_recipe)r, &family) || family.count > 1)
            continue;
        fprintf(file, "%s `%s`", comma, fpo_recipe_describe((fpo_recipe)r)->name);
        comma = ",";
    }
    fputs(".\n", file);
}

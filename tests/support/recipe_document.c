/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Registries as Markdown tables. */
#include "recipe_document.h"

#include <fp4oracle/quantize.h>
#include <string.h>

/* A cell: a bar would end it. */
static void write_cell(FILE *file, const char *text)
{
    for (; *text != '\0'; text++)
        fputs(*text == '|' ? "\\|" : (char[2]){*text, '\0'}, file);
}

static void write_vocabulary(FILE *file)
{
    static const struct {
        const char *name;
        int arity;
        const char *summary;
    } functions[] = {
#define FPO_FUNCTION(ID, name, arity, summary) {name, arity, summary},
#include "recipe_functions.inc"
#undef FPO_FUNCTION
    };
    fputs("| step | arguments | what it is |\n|---|---|---|\n", file);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        fprintf(file, "| `%s` | %d | ", functions[i].name, functions[i].arity);
        write_cell(file, functions[i].summary);
        fputs(" |\n", file);
    }
}

static void write_view(FILE *file, const fpo_recipe_info *recipe)
{
    const fpo_operand_view *view = &recipe->view;
    if (recipe->format != FPO_BLOCK_COUNT)
        fprintf(file, "%s", fpo_block_format_describe(recipe->format)->name);
    else
        fprintf(file, "%s with %s scales of %dx%d", fpo_format_describe(view->element)->name,
                fpo_format_describe(view->scale.format)->name, (int)view->scale.block_rows, (int)view->scale.block_k);
}

static bool same_view(const fpo_recipe_info *a, const fpo_recipe_info *b)
{
    return a->view.element == b->view.element && a->view.scale.format == b->view.scale.format &&
           a->view.scale.block_rows == b->view.scale.block_rows && a->view.scale.block_k == b->view.scale.block_k;
}

static void write_recipe(FILE *file, const fpo_recipe_info *recipe)
{
    fprintf(file, "| `%s` | ", recipe->name);
    write_cell(file, recipe->library);
    fprintf(file, " | %s", fpo_recipe_standing_name(recipe->standing));
    if (recipe->reason != NULL) {
        fputs(": ", file);
        write_cell(file, recipe->reason);
    }
    fputs(" | ", file);
    write_cell(file, recipe->summary);
    fputs(" |\n", file);
}

static void write_recipes(FILE *file)
{
    for (int first = 0; first < FPO_RECIPE_COUNT; first++) {
        const fpo_recipe_info *kind = fpo_recipe_describe((fpo_recipe)first);
        int before = 0;
        while (before < first && !same_view(fpo_recipe_describe((fpo_recipe)before), kind))
            before++;
        if (before < first)
            continue;
        fputs("\n### ", file);
        write_view(file, kind);
        fputs("\n\n| recipe | library | standing | what it does |\n|---|---|---|---|\n", file);
        for (int r = first; r < FPO_RECIPE_COUNT; r++)
            if (same_view(fpo_recipe_describe((fpo_recipe)r), kind))
                write_recipe(file, fpo_recipe_describe((fpo_recipe)r));
    }
    fputs("\n", file);
}

void fpo_recipe_document(FILE *from, FILE *to)
{
    char line[4096];
    bool skipping = false;
    while (fgets(line, sizeof line, from) != NULL) {
        if (strcmp(line, "<!-- end -->\n") == 0)
            skipping = false;
        if (!skipping)
            fputs(line, to);
        void (*write)(FILE *) = strcmp(line, "<!-- vocabulary -->\n") == 0 ? write_vocabulary
                                : strcmp(line, "<!-- recipes -->\n") == 0  ? write_recipes
                                                                           : NULL;
        if (write == NULL)
            continue;
        write(to);
        skipping = true;
    }
}

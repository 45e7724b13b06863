/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Families of recipes, and their classes by what they make of all probes. */
#include "recipe_differences.h"

#include <stdlib.h>
#include <string.h>

static bool is_compared(const fpo_recipe_info *recipe)
{
    return strstr(recipe->text, ".rs(") == NULL && strstr(recipe->text, "random") == NULL &&
           strstr(recipe->name, "_fp8_to_") == NULL;
}

static bool same_view(const fpo_operand_view *a, const fpo_operand_view *b)
{
    return a->element == b->element && a->scale.format == b->scale.format &&
           a->scale.block_rows == b->scale.block_rows && a->scale.block_k == b->scale.block_k;
}

bool fpo_family_of(fpo_recipe first, fpo_family *family)
{
    const fpo_recipe_info *info = fpo_recipe_describe(first);
    *family = (fpo_family){.view = info->view};
    if (!is_compared(info))
        return false;
    for (int r = 0; r < FPO_RECIPE_COUNT; r++) {
        const fpo_recipe_info *other = fpo_recipe_describe((fpo_recipe)r);
        if (!is_compared(other) || !same_view(&info->view, &other->view))
            continue;
        if (r < (int)first)
            return false;
        family->recipes[family->count++] = (fpo_recipe)r;
    }
    return true;
}

static bool same_bytes(const fpo_outcome *a, const fpo_outcome *b)
{
    return a->bytes == b->bytes && a->scale == b->scale;
}

static bool same_multiplier(const fpo_outcome *a, const fpo_outcome *b)
{
    return memcmp(&a->multiplier, &b->multiplier, sizeof a->multiplier) == 0;
}

typedef bool same_outcome(const fpo_outcome *a, const fpo_outcome *b);

/* The simplest probe, or the simplest ordinary one, that two recipes of the family differ in; -1 if none is. */
static int64_t apart(const fpo_family_table *table, size_t a, size_t b, same_outcome *same, bool ordinary)
{
    const fpo_outcome *x = table->outcomes + a * table->probes.count, *y = table->outcomes + b * table->probes.count;
    for (size_t i = 0; i < table->probes.count; i++)
        if (!same(&x[i], &y[i]) && (!ordinary || fpo_probe_is_ordinary(&table->probes.at[i])))
            return (int64_t)i;
    return -1;
}

static size_t partition(const fpo_family_table *table, same_outcome *same, size_t *class_of)
{
    size_t classes = 0;
    for (size_t a = 0; a < table->family.count; a++) {
        size_t b = 0;
        while (b < a && apart(table, a, b, same, false) >= 0)
            b++;
        class_of[a] = b < a ? class_of[b] : classes++;
    }
    return classes;
}

static size_t first_of(const size_t *class_of, size_t class)
{
    size_t recipe = 0;
    while (class_of[recipe] != class)
        recipe++;
    return recipe;
}

static int64_t *pairs(const fpo_family_table *table, same_outcome *same, const size_t *class_of, size_t classes)
{
    int64_t *at = calloc(classes * classes + 1, sizeof *at);
    for (size_t a = 0; a < classes; a++)
        for (size_t b = 0; b < classes; b++)
            at[a * classes + b] = apart(table, first_of(class_of, a), first_of(class_of, b), same, a > b);
    return at;
}

void fpo_family_table_make(const fpo_family *family, fpo_family_table *table)
{
    *table = (fpo_family_table){.family = *family};
    fpo_probes_make(&family->view, &table->probes);
    table->outcomes = malloc(family->count * table->probes.count * sizeof *table->outcomes);
    for (size_t r = 0; r < family->count; r++)
        fpo_probes_run(fpo_recipe_describe(family->recipes[r]), &table->probes,
                       table->outcomes + r * table->probes.count);
    table->classes = partition(table, same_bytes, table->class_of);
    table->bytes_apart = pairs(table, same_bytes, table->class_of, table->classes);
    table->groups = partition(table, same_multiplier, table->group_of);
    table->multiplier_apart = pairs(table, same_multiplier, table->group_of, table->groups);
}

void fpo_family_table_free(fpo_family_table *table)
{
    fpo_probes_free(&table->probes);
    free(table->outcomes);
    free(table->bytes_apart);
    free(table->multiplier_apart);
}

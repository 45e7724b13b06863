/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Where recipes disagree: a table a format, and the same as JSON. */
#include "quantize_all.h"
#include "report.h"
#include "table.h"

#include <inttypes.h>

static void add_row(fpo_table *table, const fpo_recipe_outcome *o, fpo_recipe reference)
{
    fpo_table_add(table, "%s", fpo_recipe_describe(o->recipe)->name);
    if (o->failed) {
        for (int i = 0; i < 4; i++)
            fpo_table_add(table, "-");
        fpo_table_add(table, "failed: %.100s", o->error.message);
        return;
    }
    fpo_table_add(table, "%" PRId64, o->scales_different);
    fpo_table_add(table, "%" PRId64, o->codes_different);
    if (o->first_row < 0)
        fpo_table_add(table, "none");
    else
        fpo_table_add(table, "%" PRId64 ", %" PRId64, o->first_row, o->first_block);
    if (o->has_tensor_scale)
        fpo_table_add(table, "%.9g", (double)o->tensor_scale);
    else
        fpo_table_add(table, "none");
    if (o->recipe == reference)
        fpo_table_add(table, "(the reference)");
    else
        fpo_table_add(table, "%s", o->same_as != FPO_RECIPE_COUNT ? fpo_recipe_describe(o->same_as)->name : "");
}

/* The recipes that `reference` is the first of. */
static void print_format(const fpo_recipe_outcomes *all, fpo_recipe reference)
{
    const fpo_recipe_info *info = fpo_recipe_describe(reference);
    fpo_section("%s: %" PRId64 " codes and %" PRId64 " scales, compared with %s", fpo_recipe_format_text(info).text,
                all->codes, all->scales[reference], info->name);
    fpo_table *table = fpo_table_new(6);
    static const char *const heading[] = {"recipe",         "scales differ", "codes differ",
                                          "first at block", "tensor scale",  "equal to"};
    for (size_t i = 0; i < sizeof heading / sizeof *heading; i++)
        fpo_table_add(table, "%s", heading[i]);
    fpo_table_align_right(table, 1);
    fpo_table_align_right(table, 2);
    for (int r = 0; r < FPO_RECIPE_COUNT; r++)
        if (all->reference[r] == reference)
            add_row(table, &all->outcomes[r], reference);
    fpo_table_print(table, 2);
}

void fpo_recipe_outcomes_print(const fpo_recipe_outcomes *all, const fpo_tensor_numbers *numbers, const char *input)
{
    fpo_heading("%s, %" PRId64 " x %" PRId64 " of %s", input, numbers->rows, numbers->k,
                fpo_format_describe(numbers->dtype)->name);
    for (int r = 0; r < FPO_RECIPE_COUNT; r++)
        if (all->reference[r] == (fpo_recipe)r)
            print_format(all, (fpo_recipe)r);
}

static json_t *recipe_json(const fpo_recipe_outcome *o)
{
    json_t *entry = json_pack("{s:s}", "recipe", fpo_recipe_describe(o->recipe)->name);
    if (o->failed) {
        json_object_set_new(entry, "error", fpo_json_text(o->error.message));
        return entry;
    }
    json_object_set_new(entry, "scales_different", json_integer(o->scales_different));
    json_object_set_new(entry, "codes_different", json_integer(o->codes_different));
    json_object_set_new(entry, "first_block",
                        o->first_row < 0 ? json_null()
                                         : json_pack("[I, I]", (json_int_t)o->first_row, (json_int_t)o->first_block));
    json_object_set_new(entry, "tensor_scale",
                        o->has_tensor_scale ? fpo_json_number((double)o->tensor_scale) : json_null());
    json_object_set_new(entry, "tensor_scale_differs", json_boolean(o->tensor_scale_differs));
    json_object_set_new(entry, "equal_to",
                        o->same_as != FPO_RECIPE_COUNT ? json_string(fpo_recipe_describe(o->same_as)->name)
                                                       : json_null());
    return entry;
}

json_t *fpo_recipe_outcomes_json(const fpo_recipe_outcomes *all, const fpo_tensor_numbers *numbers, const char *input)
{
    json_t *formats = json_array();
    for (int reference = 0; reference < FPO_RECIPE_COUNT; reference++) {
        if (all->reference[reference] != (fpo_recipe)reference)
            continue;
        const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)reference);
        json_t *recipes = json_array();
        for (int r = 0; r < FPO_RECIPE_COUNT; r++)
            if (all->reference[r] == (fpo_recipe)reference)
                json_array_append_new(recipes, recipe_json(&all->outcomes[r]));
        json_array_append_new(formats,
                              json_pack("{s:s, s:s, s:I, s:I, s:o}", "format", fpo_recipe_format_text(info).text,
                                        "reference", info->name, "codes", (json_int_t)all->codes, "scales",
                                        (json_int_t)all->scales[reference], "recipes", recipes));
    }
    return json_pack("{s:o, s:[I, I], s:s, s:o}", "input", fpo_json_text(input), "shape", (json_int_t)numbers->rows,
                     (json_int_t)numbers->k, "dtype", fpo_format_describe(numbers->dtype)->name, "formats", formats);
}

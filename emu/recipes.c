/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The registry of recipes by index and name. */
#include <fp4oracle/quantize.h>

#include <string.h>

/* The views of the named operand formats as constants, for NAMED(). */
enum {
#define FPO_BLOCK_FORMAT(ID, name, element, scale, rows, k, tensor_scale, summary)                                     \
    ELEMENT_##ID = FPO_##element, SCALE_##ID = FPO_##scale, ROWS_##ID = rows, K_##ID = k,
#include <fp4oracle/block_formats.inc>
#undef FPO_BLOCK_FORMAT
};

#define FPO_VIEW(element, scale, rows, k)                                                                              \
    {                                                                                                                  \
        (fpo_format)(element), FPO_PACKING_CANONICAL,                                                                  \
        {                                                                                                              \
            (fpo_format)(scale), rows, k, FPO_LAYOUT_LINEAR                                                            \
        }                                                                                                              \
    }
#define NAMED(ID) .view = FPO_VIEW(ELEMENT_##ID, SCALE_##ID, ROWS_##ID, K_##ID), .format = FPO_BLOCK_##ID
#define VIEW(element, scale, rows, k) .view = FPO_VIEW(FPO_##element, FPO_##scale, rows, k), .format = FPO_BLOCK_COUNT
#define UNVERIFIED(why) FPO_RECIPE_UNVERIFIED, .reason = why

static const fpo_recipe_info recipes[FPO_RECIPE_COUNT] = {
#define FPO_RECIPE(ID, recipe, operand, how, whose, where, line, steps)                                                \
    [FPO_RECIPE_##ID] = {                                                                                              \
        .name = recipe, .summary = line, .library = whose, .source = where, .text = steps, .standing = how, operand},
#include <fp4oracle/recipes.inc>
#undef FPO_RECIPE
};

const fpo_recipe_info *fpo_recipe_describe(fpo_recipe recipe)
{
    return (unsigned)recipe < FPO_RECIPE_COUNT ? &recipes[recipe] : NULL;
}

fpo_recipe fpo_recipe_by_name(const char *name)
{
    int recipe = 0;
    while (recipe < FPO_RECIPE_COUNT && strcmp(recipes[recipe].name, name) != 0)
        recipe++;
    return (fpo_recipe)recipe;
}

const char *fpo_recipe_standing_name(fpo_recipe_standing standing)
{
    switch (standing) {
    case FPO_RECIPE_DEFINED: return "defined";
    case FPO_RECIPE_VERIFIED: return "verified";
    case FPO_RECIPE_UNVERIFIED: return "unverified";
    }
    return "?";
}

/* The registry lists a format's plain recipe before those of libraries. */
fpo_recipe fpo_recipe_default(fpo_block_format format)
{
    int recipe = 0;
    while (recipe < FPO_RECIPE_COUNT && recipes[recipe].format != format)
        recipe++;
    return format < FPO_BLOCK_COUNT ? (fpo_recipe)recipe : FPO_RECIPE_COUNT;
}

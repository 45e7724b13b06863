/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Names on the command line to entries of the registries. */
#include "arguments.h"
#include "generate.h"

#include <string.h>

const char *fpo_format_name_at(size_t index)
{
    return index + 1 < FPO_FORMAT_COUNT ? fpo_format_describe((fpo_format)(index + 1))->name : NULL;
}

const char *fpo_block_format_name_at(size_t index)
{
    return index < FPO_BLOCK_COUNT ? fpo_block_format_describe((fpo_block_format)index)->name : NULL;
}

const char *fpo_model_name_at(size_t index)
{
    const fpo_model *model = fpo_model_at(index);
    return model != NULL ? model->name : NULL;
}

const char *fpo_recipe_name_at(size_t index)
{
    return index < FPO_RECIPE_COUNT ? fpo_recipe_describe((fpo_recipe)index)->name : NULL;
}

const char *fpo_layout_name_at(size_t index)
{
    return index < FPO_LAYOUT_COUNT ? fpo_layout_name((fpo_layout)index) : NULL;
}

const char *fpo_data_kind_name_at(size_t index)
{
    return index < FPO_DATA_COUNT ? fpo_data_kind_name((fpo_data_kind)index) : NULL;
}

fpo_status fpo_no_such_name(const char *what, const char *wanted, fpo_name_at name_at, const char *topic,
                            fpo_error *error)
{
    const char *nearest = fpo_suggest(wanted, name_at);
    if (nearest != NULL)
        return fpo_fail(error, FPO_ERR_ARGUMENT,
                        "there is no %s '%.80s'; did you mean '%s'? `fp4oracle list %s` has all", what, wanted, nearest,
                        topic);
    return fpo_fail(error, FPO_ERR_ARGUMENT, "there is no %s '%.80s'; `fp4oracle list %s` has all", what, wanted,
                    topic);
}

fpo_status fpo_parse_format(const char *text, fpo_format *format, fpo_error *error)
{
    fpo_format found = fpo_format_by_name(text);
    if (found == FPO_FORMAT_NONE || found == FPO_FORMAT_COUNT)
        return fpo_no_such_name("number format", text, fpo_format_name_at, "formats", error);
    *format = found;
    return FPO_OK;
}

fpo_status fpo_parse_model(const char *text, const fpo_model **model, fpo_error *error)
{
    *model = fpo_model_by_name(text);
    return *model != NULL ? FPO_OK : fpo_no_such_name("model", text, fpo_model_name_at, "models", error);
}

fpo_status fpo_parse_recipe(const char *text, fpo_recipe *recipe, fpo_error *error)
{
    *recipe = fpo_recipe_by_name(text);
    return *recipe != FPO_RECIPE_COUNT ? FPO_OK
                                       : fpo_no_such_name("recipe", text, fpo_recipe_name_at, "recipes", error);
}

fpo_status fpo_parse_layout(const char *text, fpo_layout *layout, fpo_error *error)
{
    *layout = fpo_layout_by_name(text);
    return *layout != FPO_LAYOUT_COUNT ? FPO_OK
                                       : fpo_no_such_name("scale layout", text, fpo_layout_name_at, "layouts", error);
}

fpo_status fpo_parse_block_formats(const char *text, fpo_block_format *a, fpo_block_format *b, fpo_error *error)
{
    char first[64];
    const char *comma = strchr(text, ',');
    size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);
    if (length >= sizeof first)
        return fpo_no_such_name("operand format", text, fpo_block_format_name_at, "blocks", error);
    memcpy(first, text, length);
    first[length] = '\0';
    const char *second = comma != NULL ? comma + 1 : first;
    *a = fpo_block_format_by_name(first);
    *b = fpo_block_format_by_name(second);
    if (*a == FPO_BLOCK_COUNT || *b == FPO_BLOCK_COUNT)
        return fpo_no_such_name("operand format", *a == FPO_BLOCK_COUNT ? first : second, fpo_block_format_name_at,
                                "blocks", error);
    return FPO_OK;
}

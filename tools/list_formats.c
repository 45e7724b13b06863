/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Number formats, operand formats and cast policies as entries of `fp4oracle list`. */
#include "list.h"
#include "number.h"

#include <fp4oracle/fp4oracle.h>
#include <stdio.h>

static const char *specials_text(const fpo_format_info *info)
{
    switch (info->specials) {
    case FPO_SPECIALS_NONE: return "none";
    case FPO_SPECIALS_NAN_ONLY: return "NaN";
    case FPO_SPECIALS_IEEE: return "inf, NaN";
    case FPO_SPECIALS_UE8M0: return "NaN, no zero";
    }
    return "?";
}

static json_t *format_entry(fpo_format format)
{
    const fpo_format_info *info = fpo_format_describe(format);
    char fields[32];
    snprintf(fields, sizeof fields, "%d.%d.%d", info->sign_bits, info->exponent_bits, info->mantissa_bits);
    fpo_value least = {.significand = 1, .exponent = info->min_exponent, .kind = FPO_FINITE};
    return json_pack("{s:s, s:i, s:s, s:i, s:s, s:s, s:s, s:s, s:s}", "name", info->name, "bits", info->bits, "fields",
                     fields, "bias", info->bias, "largest", fpo_code_text(format, info->max_finite).text,
                     "smallest_normal", fpo_value_text(least).text, "smallest",
                     fpo_code_text(format, info->specials == FPO_SPECIALS_UE8M0 ? 0 : 1).text, "specials",
                     specials_text(info), "summary", info->summary);
}

json_t *fpo_list_format(size_t index)
{
    return index + 1 < FPO_FORMAT_COUNT ? format_entry((fpo_format)(index + 1)) : NULL;
}

json_t *fpo_list_scale(size_t index)
{
    for (int format = 1; format < FPO_FORMAT_COUNT; format++) {
        bool used = false;
        for (int b = 0; b < FPO_BLOCK_COUNT && !used; b++)
            used = fpo_block_format_describe((fpo_block_format)b)->view.scale.format == (fpo_format)format;
        if (used && index-- == 0)
            return format_entry((fpo_format)format);
    }
    return NULL;
}

static void block_size(char *text, size_t size, const fpo_scale_view *scale)
{
    char rows[16] = "all", columns[16] = "all";
    if (scale->block_rows > 0)
        snprintf(rows, sizeof rows, "%d", scale->block_rows);
    if (scale->block_k > 0)
        snprintf(columns, sizeof columns, "%d", scale->block_k);
    if (scale->format == FPO_FORMAT_NONE)
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%sx%s", rows, columns);
}

json_t *fpo_list_block(size_t index)
{
    if (index >= FPO_BLOCK_COUNT)
        return NULL;
    const fpo_block_format_info *info = fpo_block_format_describe((fpo_block_format)index);
    char block[40];
    block_size(block, sizeof block, &info->view.scale);
    fpo_recipe recipe = fpo_recipe_default((fpo_block_format)index);
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:s}", "name", info->name, "element",
                     fpo_format_describe(info->view.element)->name, "scale",
                     fpo_format_describe(info->view.scale.format)->name, "block", block, "tensor_scale",
                     (int)info->tensor_scale, "default_recipe",
                     recipe != FPO_RECIPE_COUNT ? fpo_recipe_describe(recipe)->name : "-", "summary", info->summary);
}

json_t *fpo_list_cast(size_t index)
{
    if (index >= FPO_CAST_COUNT)
        return NULL;
    return json_pack("{s:s, s:s}", "name", fpo_cast_name((fpo_cast_preset)index), "summary",
                     fpo_cast_summary((fpo_cast_preset)index));
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of how an output with block scales is quantised and written. */
#include "edit_parts.h"

#include <fp4oracle/quantize.h>

static void enumerate_layouts(fpo_edit_list *list)
{
    /* What callers and epilogues hand to one another has one of these on one side. */
    static const bool usual[FPO_LAYOUT_COUNT] = {[FPO_LAYOUT_LINEAR] = true, [FPO_LAYOUT_128X4] = true};
    for (int written = 0; written < FPO_LAYOUT_COUNT; written++)
        for (int read = 0; read < FPO_LAYOUT_COUNT; read++)
            if (written != read && (usual[written] || usual[read]))
                fpo_edit_add(list, FPO_EDIT_OUTPUT_SCALE_LAYOUT, 0, written, read);
}

static void enumerate_problem(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    const fpo_epilogue *e = &spec->epilogue;
    if (e->d_scale == FPO_FORMAT_NONE)
        return;
    fpo_edit_add(list, FPO_EDIT_OUTPUT_SCALE_FORMAT, 0, (int)e->d_scale,
                 e->d_scale == FPO_UE8M0 ? FPO_UE4M3 : FPO_UE8M0);
    fpo_edit_add(list, FPO_EDIT_OUTPUT_SCALES_INVERTED, 0, 0, 0);
    enumerate_layouts(list);
    if (fpo_format_describe(e->d)->bits == 4 && problem->n > 1)
        fpo_edit_add(list, FPO_EDIT_OUTPUT_NIBBLE_ORDER, 0, 0, 0);
    for (int recipe = 0; recipe < FPO_RECIPE_COUNT; recipe++)
        if (fpo_output_takes_recipe(e, recipe))
            fpo_edit_add(list, FPO_EDIT_OUTPUT_RECIPE, 0, 0, recipe);
}

static void apply_to_problem(const fpo_edit *edit, fpo_edited *e)
{
    const fpo_epilogue *epilogue = &e->spec.epilogue;
    if (epilogue->d_scale == FPO_FORMAT_NONE) {
        fpo_edited_refuse(e);
        return;
    }
    switch (edit->kind) {
    case FPO_EDIT_OUTPUT_SCALE_FORMAT: e->writing.scale = (fpo_format)edit->to; break;
    case FPO_EDIT_OUTPUT_SCALES_INVERTED: e->writing.inverted = true; break;
    case FPO_EDIT_OUTPUT_SCALE_LAYOUT:
        e->writing.written = (fpo_layout)edit->from;
        e->writing.read = (fpo_layout)edit->to;
        break;
    case FPO_EDIT_OUTPUT_NIBBLE_ORDER:
        if (fpo_format_describe(epilogue->d)->bits != 4)
            fpo_edited_refuse(e);
        e->writing.nibbles_swapped = true;
        break;
    case FPO_EDIT_OUTPUT_RECIPE:
        if (!fpo_output_takes_recipe(epilogue, edit->to))
            fpo_edited_refuse(e);
        e->writing.recipe = edit->to + 1;
        break;
    default: fpo_edited_refuse(e); break;
    }
    /* The scale's format is the recipe's. */
    if (e->writing.recipe != 0 && e->writing.scale != FPO_FORMAT_NONE)
        fpo_edited_refuse(e);
}

const fpo_edit_group fpo_edits_output_scale = {NULL, enumerate_problem, NULL, apply_to_problem};

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of the quantisation, where the problem has the numbers that were quantised. */
#include "edit_parts.h"

#include <fp4oracle/quantize.h>

static bool same_form(const fpo_operand_view *x, const fpo_operand_view *y)
{
    return x->element == y->element && x->scale.format == y->scale.format &&
           x->scale.block_rows == y->scale.block_rows && x->scale.block_k == y->scale.block_k;
}

static void enumerate_operand(fpo_edit_list *list, const fpo_edit_side *side)
{
    if (side->operand->source == NULL || side->operands == (FPO_OPERAND_A | FPO_OPERAND_B))
        return;
    for (int recipe = 0; recipe < FPO_RECIPE_COUNT; recipe++)
        if (same_form(&fpo_recipe_describe((fpo_recipe)recipe)->view, side->view))
            fpo_edit_add(list, FPO_EDIT_RECIPE, side->operands, 0, recipe);
}

static void apply_to_operand(const fpo_edit *edit, fpo_edit_target *target)
{
    fpo_operand *operand = target->operand;
    const fpo_operand_view *view = &target->spec->stored;
    if (operand->source == NULL || !same_form(&fpo_recipe_describe((fpo_recipe)edit->to)->view, view)) {
        fpo_edited_refuse(target->edited);
        return;
    }
    fpo_quantized q = {.codes_bytes = fpo_operand_codes_bytes(view, target->rows, target->k),
                       .scales_bytes = fpo_operand_scales_bytes(view, target->rows, target->k)};
    q.codes = fpo_edited_allocate(target->edited, q.codes_bytes);
    q.scales = q.scales_bytes > 0 ? fpo_edited_allocate(target->edited, q.scales_bytes) : NULL;
    if (target->edited->status != FPO_OK)
        return;
    if (fpo_quantize((fpo_recipe)edit->to, operand->source, target->rows, target->k, &q, NULL, NULL) != FPO_OK) {
        fpo_edited_refuse(target->edited);
        return;
    }
    operand->codes = q.codes;
    operand->scales = q.scales;
    operand->tensor_scale = q.tensor_scale;
}

const fpo_edit_group fpo_edits_quantize = {enumerate_operand, NULL, apply_to_operand, NULL};

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of the quantisation, where the problem has the numbers that were quantised. */
#include "edit_parts.h"

#include <fp4oracle/quantize.h>
#include <math.h>

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
        if (same_form(&fpo_recipe_describe((fpo_recipe)recipe)->view, side->view)) {
            fpo_edit_add(list, FPO_EDIT_RECIPE, side->operands, 0, recipe);
            if (side->operand->tensor_scale != 1.0f)
                fpo_edit_add(list, FPO_EDIT_RECIPE_GIVEN_SCALE, side->operands, 0, recipe);
        }
}

/* Libraries keep the multiplier, its inverse, or a multiple of it (the amax): which, q says, which was made without a
 * given scale. False where there is no tensor scale to give. */
static bool give_scale(fpo_quantized *q, float multiplier)
{
    float made = q->tensor_scale, kept = q->library_scale;
    if (!(made > 0) || !(kept > 0) || (made == 1.0f && kept == 1.0f))
        return false;
    bool inverse = fabsf(made * kept - 1) < 0x1p-20f && made != kept;
    q->library_scale = inverse ? 1 / multiplier : multiplier * (kept / made);
    q->given_library_scale = true;
    return true;
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
                       .scales_bytes = fpo_operand_scales_bytes(view, target->rows, target->k),
                       .dtype = operand->source_dtype};
    q.codes = fpo_edited_allocate(target->edited, q.codes_bytes);
    q.scales = q.scales_bytes > 0 ? fpo_edited_allocate(target->edited, q.scales_bytes) : NULL;
    if (target->edited->status != FPO_OK)
        return;
    fpo_recipe recipe = (fpo_recipe)edit->to;
    bool given = edit->kind == FPO_EDIT_RECIPE_GIVEN_SCALE;
    bool made = fpo_quantize(recipe, operand->source, target->rows, target->k, &q, NULL, NULL) == FPO_OK;
    if (made && given)
        made = give_scale(&q, operand->tensor_scale) &&
               fpo_quantize(recipe, operand->source, target->rows, target->k, &q, NULL, NULL) == FPO_OK;
    if (!made) {
        fpo_edited_refuse(target->edited);
        return;
    }
    operand->codes = q.codes;
    operand->scales = q.scales;
    if (!given)
        operand->tensor_scale = q.tensor_scale;
}

const fpo_edit_group fpo_edits_quantize = {enumerate_operand, NULL, apply_to_operand, NULL};

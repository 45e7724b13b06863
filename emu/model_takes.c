/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Which operands a model's instruction and schedule take. */
#include "step.h"

static bool scaled_promotion(const fpo_schedule *schedule)
{
    return schedule->promote_k > 0 && schedule->promotion != FPO_PROMOTE_ADD;
}

/* f32 scales are outside the instruction: factors of the epilogue, or of the promotion where they change with K. */
static bool takes_f32_scale(const fpo_schedule *schedule, const fpo_scale_view *scale)
{
    if (scale->block_k == 0)
        return true;
    return scaled_promotion(schedule) && scale->block_k % schedule->promote_k == 0;
}

/* A kernel gives the instruction a coarser scale several times: for several blocks of K, and for several rows. */
static bool takes_scale_in_step(const fpo_model *model, const fpo_scale_view *scale)
{
    for (int i = 0; i < FPO_SCALE_FORMS && model->operands.scales[i].format != FPO_FORMAT_NONE; i++) {
        int block_k = model->operands.scales[i].block_k;
        if (model->operands.scales[i].format == scale->format && block_k > 0 && scale->block_k > 0 &&
            (scale->block_k == block_k ? scale->block_rows == 1 : scale->block_k % 128 == 0))
            return scale->block_k % block_k == 0;
    }
    return false;
}

/* One instruction has scales of A and of B for as many elements; the coarser of the two may be given several times. */
static bool scales_meet(const fpo_scale_view *a, const fpo_scale_view *b)
{
    int fine = a->block_k < b->block_k ? a->block_k : b->block_k, coarse = a->block_k + b->block_k - fine;
    return a->format == b->format && (coarse == fine || (coarse % 128 == 0 && coarse % fine == 0));
}

static bool takes_operand(const fpo_model *model, const fpo_operand_view *view)
{
    const fpo_step *step = &model->accumulation.step;
    if (step->kind == FPO_STEP_FUSED && !fpo_step_takes_element(step, view->element))
        return false;
    if (!model->operands.anything && (model->operands.elements >> view->element & 1) == 0)
        return false;
    bool scaled_instruction = model->operands.scales[0].format != FPO_FORMAT_NONE;
    switch (view->scale.format) {
    case FPO_FORMAT_NONE: return !scaled_instruction;
    case FPO_F32:
        if (model->operands.anything)
            return true;
        return !scaled_instruction && takes_f32_scale(&model->accumulation.schedule, &view->scale);
    default: return model->operands.anything || takes_scale_in_step(model, &view->scale);
    }
}

bool fpo_model_takes(const fpo_model *model, const fpo_operand_view *a, const fpo_operand_view *b)
{
    if (!takes_operand(model, a) || !takes_operand(model, b))
        return false;
    if (model->operands.anything)
        return true;
    if (!model->operands.mixed && a->element != b->element)
        return false;
    bool in_step = model->operands.scales[0].format != FPO_FORMAT_NONE;
    if (in_step) /* no scales are left for the promotion */
        return scales_meet(&a->scale, &b->scale) && !scaled_promotion(&model->accumulation.schedule);
    bool k_blocks = a->scale.block_k > 0 || b->scale.block_k > 0;
    return k_blocks == scaled_promotion(&model->accumulation.schedule);
}

static fpo_status check_operand(const fpo_accumulation *accumulation, const fpo_operand_view *view, const char *name,
                                fpo_error *error)
{
    const fpo_step *step = &accumulation->step;
    const fpo_schedule *schedule = &accumulation->schedule;
    if (!fpo_step_takes_element(step, view->element))
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s: the accumulation model's instruction does not take %s", name,
                        fpo_format_describe(view->element)->name);
    if (view->scale.format == FPO_FORMAT_NONE || view->scale.block_k == 0 || step->dequantised)
        return FPO_OK;
    if (view->scale.format == FPO_F32) {
        if (takes_f32_scale(schedule, &view->scale))
            return FPO_OK;
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "%s: f32 scales per %d of K, but the accumulation model does not apply scales to partial sums "
                        "that divide these blocks",
                        name, view->scale.block_k);
    }
    /* ue8m0 and ue4m3 are what instructions take. The others are what a fault makes of them: the arithmetic has room for
     * 8 significant bits. */
    const fpo_format_info *scale = fpo_format_describe(view->scale.format);
    if (scale->bits == 4 || scale->bits == 6 || scale->mantissa_bits > 7)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s: the accumulation model's instruction does not take %s scales",
                        name, fpo_format_describe(view->scale.format)->name);
    if (view->scale.block_k % step->group != 0)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s: a scale per %d elements changes within a group of %d", name,
                        view->scale.block_k, step->group);
    return FPO_OK;
}

fpo_status fpo_accumulation_check_operands(const fpo_accumulation *accumulation, const fpo_operand_view *a,
                                           const fpo_operand_view *b, fpo_error *error)
{
    if (accumulation->step.kind != FPO_STEP_FUSED)
        return FPO_OK;
    fpo_status status = check_operand(accumulation, a, "a", error);
    return status == FPO_OK ? check_operand(accumulation, b, "b", error) : status;
}

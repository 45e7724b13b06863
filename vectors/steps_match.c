/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Recorded rows against models. */
#include "steps.h"

#include "../emu/engine.h"

/* The rows of a file as one operand would be described in a spec. */
static fpo_operand_view view_of(const fpo_step_rows *rows, fpo_format element)
{
    return (fpo_operand_view){
        .element = element,
        .packing = FPO_PACKING_CANONICAL,
        .scale = {.format = rows->scale, .block_rows = 1, .block_k = rows->block_k, .layout = FPO_LAYOUT_LINEAR}};
}

bool fpo_steps_applicable(const fpo_step_rows *rows, const fpo_model *model)
{
    return model->accumulation.step.k == rows->k && fpo_steps_chainable(rows, model);
}

bool fpo_steps_chainable(const fpo_step_rows *rows, const fpo_model *model)
{
    const fpo_step *step = &model->accumulation.step;
    const fpo_schedule *schedule = &model->accumulation.schedule;
    fpo_operand_view a = view_of(rows, rows->a_element), b = view_of(rows, rows->b_element);
    return step->kind == FPO_STEP_FUSED && !step->dequantised && schedule->promote_k == 0 &&
           schedule->split == FPO_SPLIT_NONE && rows->k % step->k == 0 && step->accumulator == rows->accumulator &&
           fpo_model_takes(model, &a, &b);
}

void fpo_steps_compare(const fpo_step_rows *rows, const fpo_step *step, fpo_steps_result *result)
{
    *result = (fpo_steps_result){.rows = rows->rows};
    int a_width = fpo_format_describe(rows->a_element)->storage_bytes;
    int b_width = fpo_format_describe(rows->b_element)->storage_bytes;
    int scales = rows->scale != FPO_FORMAT_NONE ? rows->k / rows->block_k : 0;
    for (int64_t i = 0; i < rows->rows; i++) {
        uint32_t accumulator = rows->c[i];
        for (int k = 0; k < rows->k; k += step->k) {
            int first_scale = scales > 0 ? k / rows->block_k : 0;
            fpo_step_operands operands = {
                .a_element = rows->a_element,
                .b_element = rows->b_element,
                .a_scale = rows->scale,
                .b_scale = rows->scale,
                .block_k = rows->block_k,
                .a = rows->a + (i * rows->k + k) * a_width,
                .b = rows->b + (i * rows->k + k) * b_width,
                .sa = scales > 0 ? rows->sa + i * scales + first_scale : NULL,
                .sb = scales > 0 ? rows->sb + i * scales + first_scale : NULL,
            };
            accumulator = fpo_step_run(step, &operands, accumulator);
        }
        if (accumulator == rows->d[i])
            continue;
        if (result->first_count < FPO_STEPS_FIRST) {
            result->first[result->first_count].row = i;
            result->first[result->first_count].expected = accumulator;
            result->first[result->first_count].recorded = rows->d[i];
            result->first_count++;
        }
        result->different++;
    }
}

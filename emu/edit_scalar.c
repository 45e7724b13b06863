/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of the numbers that multiply everything: tensor scales, alpha, the scale of the output. */
#include "edit_parts.h"

#include <string.h>

static float through(fpo_format format, float x)
{
    uint32_t code = fpo_encode(format, fpo_value_from_float(x), fpo_cast_describe(FPO_CAST_IEEE), 0);
    return (float)fpo_decode_double(format, code);
}

/* The low bytes of an f32 as a shorter number, as a little-endian machine reads them. */
static float low_bytes_as(fpo_format format, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (float)fpo_decode_double(format, bits & fpo_format_describe(format)->code_mask);
}

static const fpo_format narrow_formats[] = {FPO_BF16, FPO_F16, FPO_E4M3};
enum { NARROW_FORMATS = sizeof narrow_formats / sizeof *narrow_formats };

static void enumerate_operand(fpo_edit_list *list, const fpo_edit_side *side)
{
    if (!side->tensor_scaled)
        return;
    fpo_edit_add(list, FPO_EDIT_TENSOR_SCALE_INVERTED, side->operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_TENSOR_SCALE_DROPPED, side->operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_TENSOR_SCALE_TWICE, side->operands, 0, 0);
    if (side->operands != (FPO_OPERAND_A | FPO_OPERAND_B))
        fpo_edit_add(list, FPO_EDIT_TENSOR_SCALE_OTHER, side->operands, 0, 0);
    for (int i = 0; i < NARROW_FORMATS; i++) {
        fpo_edit_add(list, FPO_EDIT_TENSOR_SCALE_NARROWED, side->operands, 0, (int)narrow_formats[i]);
        fpo_edit_add(list, FPO_EDIT_TENSOR_SCALE_MISREAD, side->operands, 0, (int)narrow_formats[i]);
    }
}

static bool uses(const fpo_epilogue *epilogue, fpo_epilogue_operand operand)
{
    for (int i = 0; i < FPO_EPILOGUE_STEPS && epilogue->steps[i].op != FPO_EPI_END; i++)
        if (epilogue->steps[i].operand == operand)
            return true;
    return false;
}

static void enumerate_problem(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    static const float factors[] = {0.5f, 2.0f, 0.0f, -1.0f};
    if (problem->alpha != 1.0f) {
        fpo_edit_add(list, FPO_EDIT_ALPHA_INVERTED, 0, 0, 0);
        fpo_edit_add(list, FPO_EDIT_ALPHA_DROPPED, 0, 0, 0);
        fpo_edit_add(list, FPO_EDIT_ALPHA_TWICE, 0, 0, 0);
        for (int i = 0; i < NARROW_FORMATS; i++)
            fpo_edit_add(list, FPO_EDIT_ALPHA_NARROWED, 0, 0, (int)narrow_formats[i]);
        if (problem->beta != 0.0f && spec->epilogue.c != FPO_FORMAT_NONE)
            fpo_edit_add(list, FPO_EDIT_ALPHA_ON_C, 0, 0, 0);
    }
    if (uses(&spec->epilogue, FPO_EPI_D_SCALE) && problem->d_scale != 1.0f) {
        fpo_edit_add(list, FPO_EDIT_D_SCALE_DROPPED, 0, 0, 0);
        fpo_edit_add(list, FPO_EDIT_D_SCALE_INVERTED, 0, 0, 0);
        fpo_edit_add(list, FPO_EDIT_D_SCALE_TWICE, 0, 0, 0);
    }
    if (!uses(&spec->epilogue, FPO_EPI_ALPHA))
        return;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        fpo_edit_add_value(list, FPO_EDIT_SCALAR_FACTOR, 0, factors[i]);
    for (size_t i = 0; i < 2; i++) {
        if (problem->n > 1)
            fpo_edit_add_value(list, FPO_EDIT_COLUMN_FACTOR, (int)(problem->n / 2), factors[i]);
        if (problem->m > 1)
            fpo_edit_add_value(list, FPO_EDIT_ROW_FACTOR, (int)(problem->m / 2), factors[i]);
    }
}

static void apply_to_operand(const fpo_edit *edit, fpo_edit_target *target)
{
    float *scale = &target->operand->tensor_scale;
    switch (edit->kind) {
    case FPO_EDIT_TENSOR_SCALE_INVERTED: target->spec->tensor_scale = FPO_TENSOR_SCALE_DIVIDE; break;
    case FPO_EDIT_TENSOR_SCALE_DROPPED: target->spec->tensor_scale = FPO_TENSOR_SCALE_IGNORE; break;
    case FPO_EDIT_TENSOR_SCALE_TWICE: target->spec->tensor_scale = FPO_TENSOR_SCALE_TWICE; break;
    case FPO_EDIT_TENSOR_SCALE_OTHER: *scale = target->other->tensor_scale; break;
    case FPO_EDIT_TENSOR_SCALE_NARROWED: *scale = through((fpo_format)edit->to, *scale); break;
    case FPO_EDIT_TENSOR_SCALE_MISREAD: *scale = low_bytes_as((fpo_format)edit->to, *scale); break;
    default: fpo_edited_refuse(target->edited); break;
    }
}

static void apply_to_part(const fpo_edit *edit, fpo_edited *e)
{
    if (e->part_factor != 0.0f || edit->value == 0.0f)
        fpo_edited_refuse(e);
    e->part_factor = edit->value;
    e->part_row = edit->kind == FPO_EDIT_ROW_FACTOR ? edit->from : 0;
    e->part_column = edit->kind == FPO_EDIT_COLUMN_FACTOR ? edit->from : 0;
}

static void apply_to_problem(const fpo_edit *edit, fpo_edited *e)
{
    fpo_gemm_problem *problem = &e->problem;
    switch (edit->kind) {
    case FPO_EDIT_ALPHA_INVERTED: problem->alpha = 1.0f / problem->alpha; break;
    case FPO_EDIT_ALPHA_DROPPED: problem->alpha = 1.0f; break;
    case FPO_EDIT_ALPHA_TWICE: problem->alpha *= problem->alpha; break;
    case FPO_EDIT_ALPHA_NARROWED: problem->alpha = through((fpo_format)edit->to, problem->alpha); break;
    case FPO_EDIT_ALPHA_ON_C: problem->beta *= problem->alpha; break;
    case FPO_EDIT_SCALAR_FACTOR: problem->alpha *= edit->value; break;
    case FPO_EDIT_COLUMN_FACTOR:
    case FPO_EDIT_ROW_FACTOR: apply_to_part(edit, e); break;
    case FPO_EDIT_D_SCALE_DROPPED: problem->d_scale = 1.0f; break;
    case FPO_EDIT_D_SCALE_INVERTED: problem->d_scale = 1.0f / problem->d_scale; break;
    case FPO_EDIT_D_SCALE_TWICE: problem->d_scale *= problem->d_scale; break;
    default: fpo_edited_refuse(e); break;
    }
}

const fpo_edit_group fpo_edits_scalar = {enumerate_operand, enumerate_problem, apply_to_operand, apply_to_problem};

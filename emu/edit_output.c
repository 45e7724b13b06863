/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of what becomes of the outputs. */
#include "edit_parts.h"

static void enumerate_problem(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    static const int moves[] = {1, 8, 64}, pairs[] = {1, 2, 4, 8};
    static const fpo_format written[] = {FPO_BF16, FPO_F16, FPO_E4M3, FPO_E5M2};
    fpo_format d = spec->epilogue.d;
    bool scaled = spec->epilogue.d_scale != FPO_FORMAT_NONE;
    for (size_t i = 0; i < 4 && !scaled; i++)
        if (written[i] != d && fpo_format_describe(written[i])->bits == fpo_format_describe(d)->bits)
            fpo_edit_add(list, FPO_EDIT_OUTPUT_FORMAT, 0, (int)d, (int)written[i]);
    if (!scaled)
        fpo_edit_add(list, FPO_EDIT_OUTPUT_FLUSHED, 0, 0, 0);
    if (problem->m > 1 && problem->n > 1)
        fpo_edit_add(list, FPO_EDIT_OUTPUT_TRANSPOSED, 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            if (moves[i] < problem->m)
                fpo_edit_add(list, FPO_EDIT_OUTPUT_ROW_OFFSET, 0, 0, sign * moves[i]);
            if (moves[i] < problem->n)
                fpo_edit_add(list, FPO_EDIT_OUTPUT_COLUMN_OFFSET, 0, 0, sign * moves[i]);
        }
    }
    for (int i = 0; i < 4; i++) {
        if (pairs[i] < problem->m)
            fpo_edit_add(list, FPO_EDIT_OUTPUT_ROWS_SWAPPED, 0, 0, pairs[i]);
        if (pairs[i] < problem->n)
            fpo_edit_add(list, FPO_EDIT_OUTPUT_COLUMNS_SWAPPED, 0, 0, pairs[i]);
    }
    if (scaled)
        return;
    fpo_value nan = {0, 0, FPO_NAN, false, false};
    fpo_edit_add(list, FPO_EDIT_OUTPUT_CONSTANT, 0, (int)d, 0);
    fpo_edit_add(list, FPO_EDIT_OUTPUT_CONSTANT, 0, (int)d, (int)fpo_encode(d, nan, &spec->epilogue.d_cast, 0));
}

static void set_map(fpo_edited *e, fpo_output_map map, int64_t amount)
{
    if (e->map != FPO_MAP_PLACE)
        fpo_edited_refuse(e); /* two of them would need an order */
    e->map = map;
    e->amount = amount;
}

static void apply_to_problem(const fpo_edit *edit, fpo_edited *e)
{
    switch (edit->kind) {
    case FPO_EDIT_OUTPUT_FORMAT: e->spec.epilogue.d = (fpo_format)edit->to; break;
    case FPO_EDIT_OUTPUT_FLUSHED: set_map(e, FPO_MAP_FLUSHED, 0); break;
    case FPO_EDIT_OUTPUT_TRANSPOSED: set_map(e, FPO_MAP_TRANSPOSED, 0); break;
    case FPO_EDIT_OUTPUT_ROW_OFFSET: set_map(e, FPO_MAP_ROWS_MOVED, edit->to); break;
    case FPO_EDIT_OUTPUT_COLUMN_OFFSET: set_map(e, FPO_MAP_COLUMNS_MOVED, edit->to); break;
    case FPO_EDIT_OUTPUT_ROWS_SWAPPED: set_map(e, FPO_MAP_ROWS_XOR, edit->to); break;
    case FPO_EDIT_OUTPUT_COLUMNS_SWAPPED: set_map(e, FPO_MAP_COLUMNS_XOR, edit->to); break;
    default:
        set_map(e, FPO_MAP_CONSTANT, 0);
        e->code = (uint32_t)edit->to;
        break;
    }
}

const fpo_edit_group fpo_edits_output = {NULL, enumerate_problem, NULL, apply_to_problem};

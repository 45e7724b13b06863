/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of where elements are looked for. Their scales stay where they are. */
#include "edit_parts.h"

static void enumerate_operand(fpo_edit_list *list, const fpo_edit_side *side)
{
    static const int offsets[] = {1, 8, 64, 128}, pairs[] = {1, 2, 4, 8}, blocks[] = {16, 32};
    static const int steps[] = {1, 2, 16, 32, 64, 128};
    if (!side->same_elements)
        return;
    for (int i = 0; i < 4 && offsets[i] < side->rows; i++) {
        fpo_edit_add(list, FPO_EDIT_ROW_OFFSET, side->operands, 0, offsets[i]);
        fpo_edit_add(list, FPO_EDIT_ROW_OFFSET, side->operands, 0, -offsets[i]);
    }
    for (int i = 0; i < 4 && pairs[i] < side->rows; i++)
        fpo_edit_add(list, FPO_EDIT_ROWS_SWAPPED, side->operands, 0, pairs[i]);
    for (int i = 0; i < 2 && blocks[i] <= side->rows; i++)
        fpo_edit_add(list, FPO_EDIT_ROWS_SHUFFLED, side->operands, 0, blocks[i]);
    if (side->rows > 1 && side->rows / 2 <= INT32_MAX)
        fpo_edit_add(list, FPO_EDIT_ROWS_WRAPPED, side->operands, 0, (int)(side->rows / 2));
    for (int i = 0; i < 6 && steps[i] < side->k; i++) {
        fpo_edit_add(list, FPO_EDIT_K_OFFSET, side->operands, 0, steps[i]);
        fpo_edit_add(list, FPO_EDIT_K_OFFSET, side->operands, 0, -steps[i]);
    }
    if (side->rows == 1 || side->k > INT32_MAX / 2)
        return;
    fpo_edit_add(list, FPO_EDIT_OPERAND_TRANSPOSED, side->operands, 0, 0);
    for (int i = 2; i < 6; i++) {
        int padded = (int)((side->k + steps[i] - 1) / steps[i] * steps[i]);
        if (padded != side->k && (i == 2 || padded != (side->k + steps[i - 1] - 1) / steps[i - 1] * steps[i - 1]))
            fpo_edit_add(list, FPO_EDIT_ROW_STRIDE, side->operands, (int)side->k, padded);
    }
    fpo_edit_add(list, FPO_EDIT_ROW_STRIDE, side->operands, (int)side->k, (int)side->k * 2);
    if (side->k % 2 == 0)
        fpo_edit_add(list, FPO_EDIT_ROW_STRIDE, side->operands, (int)side->k, (int)side->k / 2);
}

static int64_t row_source(const fpo_edit *edit, const fpo_code_matrix *m, int64_t r)
{
    switch (edit->kind) {
    case FPO_EDIT_ROW_OFFSET: return r + edit->to;
    case FPO_EDIT_ROWS_SWAPPED: return (r ^ edit->to) < m->rows ? r ^ edit->to : r;
    case FPO_EDIT_ROWS_WRAPPED: return r % edit->to;
    default: { /* shuffled: whole blocks only */
        int64_t block = edit->to;
        return r / block * block + block <= m->rows ? fpo_trtllm_row(block, r) : r;
    }
    }
}

static fpo_code_run code_source(const fpo_edit *edit, const fpo_code_matrix *m, int64_t r)
{
    switch (edit->kind) {
    case FPO_EDIT_OPERAND_TRANSPOSED: return (fpo_code_run){r, m->rows};
    case FPO_EDIT_ROW_STRIDE: return (fpo_code_run){r * edit->to, 1};
    default: return (fpo_code_run){r * m->k + edit->to, 1};
    }
}

static void apply_to_operand(const fpo_edit *edit, fpo_edit_target *target)
{
    switch (edit->kind) {
    case FPO_EDIT_OPERAND_TRANSPOSED:
    case FPO_EDIT_ROW_STRIDE:
    case FPO_EDIT_K_OFFSET: fpo_codes_move(edit, target, code_source); break;
    default: fpo_rows_move(edit, target, row_source); break;
    }
}

const fpo_edit_group fpo_edits_element_place = {enumerate_operand, NULL, apply_to_operand, NULL};

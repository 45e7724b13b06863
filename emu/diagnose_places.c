/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Offsets, strides, group sizes and ranges of K that the place of the error suggests, and all small ones. */
#include "diagnose_solve.h"

#include "edit_loop.h"
#include "edit_parts.h"

enum { NEAR = 64, GROUP_SHIFTS = 160, FILLS = 256, RANGES = 512 };

/* One operand, and where the error begins along its rows. */
typedef struct fpo_solve_side {
    int operands;
    const fpo_scale_view *scale;
    int64_t rows, k, first;
    bool to_the_end; /* all rows from `first` on are touched */
} fpo_solve_side;

static fpo_solve_side side_of(const fpo_solve_input *in, int operand)
{
    bool is_a = operand == FPO_OPERAND_A;
    const fpo_index_set *set = is_a ? &in->part->rows : &in->part->columns;
    int64_t rows = is_a ? in->problem->m : in->problem->n;
    return (fpo_solve_side){.operands = operand,
                            .scale = is_a ? &in->spec->a.read.scale : &in->spec->b.read.scale,
                            .rows = rows,
                            .k = in->problem->k,
                            .first = set->first,
                            .to_the_end = set->last == rows - 1};
}

static void add_near(fpo_edit_list *list, fpo_edit_kind kind, int operands, int from, int64_t limit)
{
    for (int by = 1; by <= NEAR && by < limit; by++) {
        fpo_edit_add(list, kind, operands, from, by);
        fpo_edit_add(list, kind, operands, from, -by);
    }
}

/* Rows per group: where the error begins. The shift is what padding to a tile would add, or anything small. */
static void solve_groups(fpo_edit_list *list, const fpo_solve_side *s)
{
    int64_t rows = fpo_scale_rows(s->scale, s->rows), first = s->first;
    if (first < 1 || first >= rows || !s->to_the_end || s->scale->block_rows != 1 || first > INT32_MAX)
        return;
    for (int by = 1; by <= GROUP_SHIFTS && by < rows; by++) {
        fpo_edit_add(list, FPO_EDIT_SCALE_GROUP_OFFSET, s->operands, (int)first, by);
        fpo_edit_add(list, FPO_EDIT_SCALE_GROUP_OFFSET, s->operands, (int)first, -by);
    }
}

static void solve_tails(fpo_edit_list *list, const fpo_solve_side *s)
{
    int64_t rows = fpo_scale_rows(s->scale, s->rows);
    for (int fill = 0; fill < FILLS && fpo_format_describe(s->scale->format)->storage_bytes == 1; fill++) {
        fpo_edit_add(list, FPO_EDIT_SCALE_TAIL_K, s->operands, 0, fill);
        if (s->scale->block_rows == 1 && s->first > 0 && s->first < rows && s->to_the_end)
            fpo_edit_add(list, FPO_EDIT_SCALE_TAIL_ROWS, s->operands, (int)s->first, fill);
    }
}

static void solve_scales(fpo_edit_list *list, const fpo_solve_side *s)
{
    if (s->scale->format == FPO_FORMAT_NONE)
        return;
    int64_t rows = fpo_scale_rows(s->scale, s->rows), columns = fpo_scale_columns(s->scale, s->k);
    add_near(list, FPO_EDIT_SCALE_ROW_OFFSET, s->operands, 0, rows);
    add_near(list, FPO_EDIT_SCALE_OFFSET, s->operands, 0, rows * columns);
    for (int by = 1; by <= 16; by++) {
        fpo_edit_add(list, FPO_EDIT_SCALE_EXPONENT_OFF, s->operands, 0, by);
        fpo_edit_add(list, FPO_EDIT_SCALE_EXPONENT_OFF, s->operands, 0, -by);
    }
    if (s->scale->block_k == 0)
        return;
    add_near(list, FPO_EDIT_SCALE_K_SHIFTED, s->operands, 0, columns);
    if (s->first > 0 && s->first < rows)
        fpo_edit_add(list, FPO_EDIT_SCALE_ROWS_WRAPPED, s->operands, 0, (int)s->first);
    for (int64_t stride = 1; stride <= columns + NEAR && columns < INT32_MAX / 2; stride++)
        if (stride != columns && (stride + NEAR >= columns || stride <= NEAR))
            fpo_edit_add(list, FPO_EDIT_SCALE_ROW_STRIDE, s->operands, (int)columns, (int)stride);
    solve_groups(list, s);
    solve_tails(list, s);
}

static void solve_elements(fpo_edit_list *list, const fpo_solve_side *s)
{
    add_near(list, FPO_EDIT_ROW_OFFSET, s->operands, 0, s->rows);
    add_near(list, FPO_EDIT_K_OFFSET, s->operands, 0, s->k);
    for (int64_t by = -NEAR; by <= NEAR && s->rows > 1 && s->k < INT32_MAX / 2; by++)
        if (by != 0 && s->k + by > 0)
            fpo_edit_add(list, FPO_EDIT_ROW_STRIDE, s->operands, (int)s->k, (int)(s->k + by));
    if (s->first > 0 && s->first < INT32_MAX)
        fpo_edit_add(list, FPO_EDIT_ROWS_WRAPPED, s->operands, 0, (int)s->first);
}

/* Every run of K tiles, as far as there are not too many. */
static void solve_ranges(fpo_edit_list *list, int64_t k)
{
    for (int each = 16; each <= 512; each *= 2) {
        int64_t tiles = (k + each - 1) / each, count = 0;
        for (int64_t length = 1; length < tiles && tiles <= INT32_MAX / each; length++)
            for (int64_t first = 0; first + length <= tiles && count < RANGES; first++, count++) {
                int64_t end = (first + length) * each;
                fpo_edit dropped = fpo_edit_range_dropped(k, first * each, end < k ? end : k);
                fpo_edit_add(list, dropped.kind, 0, dropped.from, dropped.to);
                if (length == 1)
                    fpo_edit_add(list, FPO_EDIT_K_REPEATED, 0, (int)(first * each), (int)(end < k ? end : k));
                if (length == 1 && first > 0)
                    fpo_edit_add(list, FPO_EDIT_K_STALE, 0, (int)(first * each), (int)(end < k ? end : k));
            }
    }
}

size_t fpo_solve_places(const fpo_solve_input *in, fpo_edit *edits, size_t capacity)
{
    fpo_edit_list list = {edits, capacity, 0};
    for (int operand = FPO_OPERAND_A; operand <= FPO_OPERAND_B; operand++) {
        fpo_solve_side side = side_of(in, operand);
        solve_scales(&list, &side);
        solve_elements(&list, &side);
    }
    add_near(&list, FPO_EDIT_OUTPUT_ROW_OFFSET, 0, 0, in->problem->m);
    add_near(&list, FPO_EDIT_OUTPUT_COLUMN_OFFSET, 0, 0, in->problem->n);
    if (in->problem->bias != NULL)
        add_near(&list, FPO_EDIT_BIAS_OFFSET, 0, 0, in->problem->n);
    solve_ranges(&list, in->problem->k);
    return list.count < capacity ? list.count : capacity;
}

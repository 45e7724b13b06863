/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of where block scales are looked for. */
#include "edit_parts.h"

#include <string.h>

static bool per_k_block(const fpo_operand_view *view)
{
    return view->scale.format != FPO_FORMAT_NONE && view->scale.block_k > 0;
}

/* ---- which ones there are ---- */

/* One side of a mix-up is what checkpoints and most kernels have, or what the spec says. */
static bool is_usual(int layout, const fpo_operand_view *view)
{
    return layout == FPO_LAYOUT_LINEAR || layout == FPO_LAYOUT_128X4 || layout == (int)view->scale.layout;
}

static void enumerate_layouts(fpo_edit_list *list, const fpo_edit_side *side)
{
    for (int stored = 0; stored < FPO_LAYOUT_COUNT; ++stored)
        for (int read = 0; read < FPO_LAYOUT_COUNT; ++read)
            if (stored != read && (is_usual(stored, side->view) || is_usual(read, side->view)))
                fpo_edit_add(list, FPO_EDIT_SCALE_LAYOUT, side->operands, stored, read);
    for (int layout = 1; layout < FPO_LAYOUT_COUNT; ++layout)
        fpo_edit_add(list, FPO_EDIT_SCALE_SWIZZLED_TWICE, side->operands, 0, layout);
}

/* Each of these where it is less than `limit`, with both signs for an offset. */
static void add_numbers(fpo_edit_list *list, fpo_edit_kind kind, int operands, const int *numbers, int count,
                        int64_t limit, bool both_signs)
{
    for (int i = 0; i < count && numbers[i] < limit; i++) {
        fpo_edit_add(list, kind, operands, 0, numbers[i]);
        if (both_signs)
            fpo_edit_add(list, kind, operands, 0, -numbers[i]);
    }
}

static void enumerate_rows(fpo_edit_list *list, const fpo_edit_side *side, int64_t rows)
{
    static const int offsets[] = {1, 8, 16, 32, 64, 128}, waves[] = {8, 16, 32, 64, 128, 256};
    static const int pairs[] = {1, 2, 8, 16, 32, 64};
    static const int runs[] = {2, 4, 8, 16, 32, 64, 128};
    add_numbers(list, FPO_EDIT_SCALE_ROW_OFFSET, side->operands, offsets, 6, rows, true);
    add_numbers(list, FPO_EDIT_SCALE_ROWS_SWAPPED, side->operands, pairs, 6, rows, false);
    add_numbers(list, FPO_EDIT_SCALE_WAVE, side->operands, waves, 6, rows, false);
    add_numbers(list, FPO_EDIT_SCALE_ROW_FROZEN, side->operands, runs, 7, rows, false);
    add_numbers(list, FPO_EDIT_SCALE_ROWS_WRAPPED, side->operands, waves, 6, rows, false);
    if (rows > 1)
        fpo_edit_add(list, FPO_EDIT_SCALE_ROW_FROZEN, side->operands, 0, (int)rows);
    if (rows > 1) { /* two groups, the second shifted by what padding to the usual tiles leaves out */
        int half = (int)(rows / 2);
        int unpadded = half % 128 != 0 ? 128 - half % 128 : 128;
        fpo_edit_add(list, FPO_EDIT_SCALE_GROUP_OFFSET, side->operands, half, unpadded < half ? unpadded : 1);
        fpo_edit_add(list, FPO_EDIT_SCALE_GROUP_OFFSET, side->operands, half, unpadded < half ? -unpadded : -1);
    }
    if (rows > 1) {
        static const int fills[] = {0x00, 0x38, 0x7E, 0x7F, 0xFF};
        int first = rows > 128 ? (int)((rows - 1) / 128 * 128) : (int)rows - 1;
        for (int i = 0; i < 5; i++)
            fpo_edit_add(list, FPO_EDIT_SCALE_TAIL_ROWS, side->operands, first, fills[i]);
    }
}

static void enumerate_columns(fpo_edit_list *list, const fpo_edit_side *side, int64_t columns)
{
    static const int runs[] = {2, 4, 8, 16, 32}, shifts[] = {1, 2, 4, 8, 16};
    static const int fills[] = {0x00, 0x38, 0x7E, 0x7F, 0xFF};
    add_numbers(list, FPO_EDIT_SCALE_K_FROZEN, side->operands, runs, 5, columns, false);
    if (columns > 1)
        fpo_edit_add(list, FPO_EDIT_SCALE_K_FROZEN, side->operands, 0, (int)columns);
    add_numbers(list, FPO_EDIT_SCALE_K_SHIFTED, side->operands, shifts, 5, columns, true);
    add_numbers(list, FPO_EDIT_SCALE_K_SWAPPED, side->operands, shifts, 5, columns, false);
    add_numbers(list, FPO_EDIT_SCALE_K_WRAPPED, side->operands, runs, 5, columns, false);
    for (int i = 0; i < 5; i++)
        fpo_edit_add(list, FPO_EDIT_SCALE_TAIL_K, side->operands, 0, fills[i]);
}

static void enumerate_strides(fpo_edit_list *list, const fpo_edit_side *side, int64_t columns)
{
    static const int multiples[] = {4, 8, 16, 32, 64, 128};
    int64_t last = columns;
    for (int i = 0; i < 6; i++) {
        int64_t padded = (columns + multiples[i] - 1) / multiples[i] * multiples[i];
        if (padded != last)
            fpo_edit_add(list, FPO_EDIT_SCALE_ROW_STRIDE, side->operands, (int)columns, (int)padded);
        last = padded;
    }
    const int64_t others[] = {columns + 1, columns - 1, columns * 2, columns / 2, side->k};
    for (int i = 0; i < 5; i++)
        if (others[i] > 0 && others[i] <= INT32_MAX)
            fpo_edit_add(list, FPO_EDIT_SCALE_ROW_STRIDE, side->operands, (int)columns, (int)others[i]);
}

static void enumerate_operand(fpo_edit_list *list, const fpo_edit_side *side)
{
    const fpo_scale_view *scale = &side->view->scale;
    if (scale->format == FPO_FORMAT_NONE || !side->same_scales)
        return;
    int64_t rows = fpo_scale_rows(scale, side->rows), columns = fpo_scale_columns(scale, side->k);
    if (scale->block_rows > 0)
        enumerate_rows(list, side, rows);
    static const int offsets[] = {1, 2, 4, 16};
    add_numbers(list, FPO_EDIT_SCALE_OFFSET, side->operands, offsets, 4, rows * columns, true);
    if (!per_k_block(side->view))
        return;
    enumerate_layouts(list, side);
    enumerate_columns(list, side, columns);
    enumerate_strides(list, side, columns);
    if (rows > 1 && columns > 1)
        fpo_edit_add(list, FPO_EDIT_SCALE_AXES_SWAPPED, side->operands, 0, 0);
    fpo_edit_add(list, FPO_EDIT_SCALE_BLOCK, side->operands, scale->block_k, scale->block_k * 2);
    if (scale->block_k % 2 == 0)
        fpo_edit_add(list, FPO_EDIT_SCALE_BLOCK, side->operands, scale->block_k, scale->block_k / 2);
    if (scale->block_rows == 1)
        fpo_edit_add(list, FPO_EDIT_SCALE_BLOCK_ROWS, side->operands, 1, 128);
    if (scale->block_rows == 128)
        fpo_edit_add(list, FPO_EDIT_SCALE_BLOCK_ROWS, side->operands, 128, 1);
}

static void enumerate_problem(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    (void)problem;
    if (spec->a.read.scale.format != FPO_FORMAT_NONE && spec->a.read.scale.format == spec->b.read.scale.format)
        fpo_edit_add(list, FPO_EDIT_SCALES_SWAPPED, 0, 0, 0);
}

/* ---- where a scale comes from ---- */

static int64_t clamp(int64_t x, int64_t count)
{
    return x < 0 ? 0 : x < count ? x : count - 1;
}

/* A source within the buffer: what lies beyond is other memory, of which nothing is known but that it is not this. */
static int64_t by_row(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    int64_t from = r;
    switch (edit->kind) {
    case FPO_EDIT_SCALE_ROW_OFFSET: from = r + edit->to; break;
    case FPO_EDIT_SCALE_GROUP_OFFSET: from = r + r / edit->from * edit->to; break;
    case FPO_EDIT_SCALE_ROWS_SWAPPED: from = (r ^ edit->to) < m->rows ? r ^ edit->to : r; break;
    case FPO_EDIT_SCALE_ROWS_WRAPPED: from = r % edit->to; break;
    case FPO_EDIT_SCALE_WAVE: from = r / edit->to % 2 != 0 ? r - edit->to : r; break;
    default: from = r / edit->to * edit->to; break; /* frozen */
    }
    return from < 0 || from >= m->rows ? -1 : from * m->columns + c;
}

static int64_t by_column(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    int64_t from = c;
    switch (edit->kind) {
    case FPO_EDIT_SCALE_K_FROZEN: from = c / edit->to * edit->to; break;
    case FPO_EDIT_SCALE_K_WRAPPED: from = c % edit->to; break;
    case FPO_EDIT_SCALE_K_SHIFTED: from = clamp(c + edit->to, m->columns); break;
    default: from = (c ^ edit->to) < m->columns ? c ^ edit->to : c; break; /* swapped */
    }
    return r * m->columns + from;
}

static int64_t by_number(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    int64_t columns = m->columns;
    if (edit->kind == FPO_EDIT_SCALE_ROW_STRIDE)
        return r * edit->to + c;
    if (edit->kind == FPO_EDIT_SCALE_OFFSET)
        return r * columns + c + edit->to;
    return c % m->rows * columns + r % columns; /* axes swapped */
}

static uint32_t tail_code(const fpo_edit *edit, const fpo_scale_matrix *m, int64_t r, int64_t c)
{
    bool tail = edit->kind == FPO_EDIT_SCALE_TAIL_K ? c == m->columns - 1 : r >= edit->from;
    uint32_t fill = (uint32_t)edit->to & 0xFF;
    if (m->format == FPO_F32)
        fill *= 0x01010101u; /* every byte */
    return tail ? fill : fpo_scale_code(m, r * m->columns + c);
}

/* ---- applying them ---- */

/* The bytes in the layout are taken for a linear matrix, padding included, and brought into the layout again: what a
 * reader of the layout sees is the linear order of the bytes of the first time. */
static void swizzle_twice(fpo_layout layout, fpo_operand_spec *spec)
{
    const fpo_layout_info *info = fpo_layout_describe(layout);
    spec->stored.scale.layout = layout;
    spec->read.scale.layout = info->tile_columns == 4 ? FPO_LAYOUT_K_MAJOR_4 : FPO_LAYOUT_LINEAR;
}

static void apply_to_operand(const fpo_edit *edit, fpo_edit_target *target)
{
    fpo_operand_spec *spec = target->spec;
    switch (edit->kind) {
    case FPO_EDIT_SCALE_LAYOUT:
        spec->stored.scale.layout = (fpo_layout)edit->from;
        spec->read.scale.layout = (fpo_layout)edit->to;
        break;
    case FPO_EDIT_SCALE_SWIZZLED_TWICE: swizzle_twice((fpo_layout)edit->to, spec); break;
    case FPO_EDIT_SCALE_BLOCK: spec->read.scale.block_k = edit->to; break;
    case FPO_EDIT_SCALE_BLOCK_ROWS: spec->read.scale.block_rows = edit->to; break;
    case FPO_EDIT_SCALE_ROW_STRIDE:
    case FPO_EDIT_SCALE_OFFSET:
    case FPO_EDIT_SCALE_AXES_SWAPPED: fpo_scales_move(edit, target, by_number); break;
    case FPO_EDIT_SCALE_K_FROZEN:
    case FPO_EDIT_SCALE_K_SHIFTED:
    case FPO_EDIT_SCALE_K_WRAPPED:
    case FPO_EDIT_SCALE_K_SWAPPED: fpo_scales_move(edit, target, by_column); break;
    case FPO_EDIT_SCALE_TAIL_K:
    case FPO_EDIT_SCALE_TAIL_ROWS: fpo_scales_recode(edit, target, tail_code); break;
    default: fpo_scales_move(edit, target, by_row); break;
    }
}

/* The other operand's bytes in one's own shape; beyond their end zero bytes. */
static const void *other_scales(fpo_edited *e, const fpo_operand *own, const fpo_operand *other)
{
    unsigned char *bytes = fpo_edited_allocate(e, own->scales_bytes);
    size_t count = own->scales_bytes < other->scales_bytes ? own->scales_bytes : other->scales_bytes;
    if (bytes != NULL)
        memcpy(bytes, other->scales, count);
    return bytes;
}

static void apply_to_problem(const fpo_edit *edit, fpo_edited *e)
{
    (void)edit;
    const void *a = other_scales(e, &e->problem.a, &e->problem.b);
    const void *b = other_scales(e, &e->problem.b, &e->problem.a);
    e->problem.a.scales = a;
    e->problem.b.scales = b;
}

const fpo_edit_group fpo_edits_scale_place = {enumerate_operand, enumerate_problem, apply_to_operand, apply_to_problem};

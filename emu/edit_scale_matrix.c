/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The scales of an operand as a matrix that edits rewrite. */
#include "edit_parts.h"
#include "engine.h"

#include <string.h>

bool fpo_scale_matrix_of(const fpo_edit_target *target, fpo_scale_matrix *matrix)
{
    const fpo_scale_view *view = &target->spec->stored.scale;
    if (view->format == FPO_FORMAT_NONE || target->operand->scales == NULL) {
        fpo_edited_refuse(target->edited);
        return false;
    }
    *matrix = (fpo_scale_matrix){.format = view->format,
                                 .rows = fpo_scale_rows(view, target->rows),
                                 .columns = fpo_scale_columns(view, target->k),
                                 .bytes = fpo_format_describe(view->format)->storage_bytes,
                                 .target = target,
                                 .from = target->operand->scales};
    matrix->count = matrix->rows * matrix->columns;
    return true;
}

uint32_t fpo_scale_code(const fpo_scale_matrix *matrix, int64_t index)
{
    return index >= 0 && index < matrix->count ? fpo_load_code(matrix->format, matrix->from, (size_t)index) : 0;
}

bool fpo_scale_row_wanted(const fpo_scale_matrix *matrix, int64_t row)
{
    const fpo_edit_target *target = matrix->target;
    int64_t each = target->spec->stored.scale.block_rows;
    /* Where another layout reads the bytes, any of them may be. */
    bool same = memcmp(&target->spec->stored.scale, &target->spec->read.scale, sizeof(fpo_scale_view)) == 0;
    if (target->wanted == NULL || each == 0 || !same)
        return true;
    for (int64_t r = row * each; r < (row + 1) * each && r < target->rows; r++)
        if (target->wanted[r])
            return true;
    return false;
}

void fpo_scales_move(const fpo_edit *edit, fpo_edit_target *target, fpo_scale_source source)
{
    fpo_scale_matrix m;
    if (!fpo_scale_matrix_of(target, &m))
        return;
    size_t bytes = (size_t)m.bytes;
    unsigned char *to = fpo_edited_allocate(target->edited, (size_t)m.count * bytes);
    for (int64_t r = 0; to != NULL && r < m.rows; r++) {
        if (!fpo_scale_row_wanted(&m, r))
            continue;
        for (int64_t c = 0; c < m.columns; c++) {
            int64_t index = source(edit, &m, r, c);
            if (index >= 0 && index < m.count)
                memcpy(to + (size_t)(r * m.columns + c) * bytes, m.from + (size_t)index * bytes, bytes);
        }
    }
    target->operand->scales = to;
}

static bool same_number(fpo_value x, fpo_value y)
{
    return x.kind == y.kind &&
           (x.kind != FPO_FINITE || (x.negative == y.negative && fpo_value_compare_magnitude(x, y) == 0));
}

/* What every code of a one-byte format becomes: in that format if the codes that occur all have their numbers in it. */
static fpo_format renumber_codes(const fpo_edit *edit, const fpo_scale_matrix *m, fpo_scale_number number,
                                 uint32_t *becomes)
{
    unsigned char code[256];
    bool occurs[256] = {false}, own = true;
    for (int i = 0; i < 256; i++)
        code[i] = (unsigned char)i;
    for (int64_t i = 0; i < m->count; i++)
        occurs[m->from[i]] = true;
    const fpo_cast *cast = fpo_cast_describe(FPO_CAST_IEEE);
    const fpo_scale_matrix all = {
        .format = m->format, .rows = 1, .columns = 256, .count = 256, .bytes = 1, .target = m->target, .from = code};
    for (int i = 0; own && i < 256; i++) {
        if (!occurs[i])
            continue;
        fpo_value value = number(edit, &all, 0, i);
        becomes[i] = fpo_encode(m->format, value, cast, 0);
        own = same_number(fpo_decode(m->format, becomes[i]), value);
    }
    for (int i = 0; !own && i < 256; i++)
        becomes[i] = fpo_encode(FPO_BF16, number(edit, &all, 0, i), cast, 0);
    return own ? m->format : FPO_BF16;
}

void fpo_scales_renumber(const fpo_edit *edit, fpo_edit_target *target, fpo_scale_number number)
{
    fpo_scale_matrix m;
    if (!fpo_scale_matrix_of(target, &m))
        return;
    uint32_t becomes[256] = {0};
    fpo_format format = m.format == FPO_F32 ? FPO_F32 : FPO_BF16;
    if (m.bytes == 1)
        format = renumber_codes(edit, &m, number, becomes);
    const fpo_cast *cast = fpo_cast_describe(FPO_CAST_IEEE);
    size_t bytes = (size_t)m.count * fpo_format_describe(format)->storage_bytes;
    void *to = fpo_edited_allocate(target->edited, bytes);
    for (int64_t r = 0; to != NULL && r < m.rows; r++)
        for (int64_t c = 0; c < m.columns && fpo_scale_row_wanted(&m, r); c++) {
            int64_t i = r * m.columns + c;
            uint32_t code = m.bytes == 1 ? becomes[m.from[i]] : fpo_encode(format, number(edit, &m, r, c), cast, 0);
            fpo_store_code(format, to, (size_t)i, code);
        }
    target->operand->scales = to;
    target->operand->scales_bytes = bytes;
    if (target->spec->read.scale.format == target->spec->stored.scale.format)
        target->spec->read.scale.format = format;
    target->spec->stored.scale.format = format;
}

void fpo_scales_recode(const fpo_edit *edit, fpo_edit_target *target, fpo_scale_recode code)
{
    fpo_scale_matrix m;
    if (!fpo_scale_matrix_of(target, &m))
        return;
    void *to = fpo_edited_allocate(target->edited, (size_t)(m.count * m.bytes));
    for (int64_t r = 0; to != NULL && r < m.rows; r++)
        for (int64_t c = 0; c < m.columns && fpo_scale_row_wanted(&m, r); c++)
            fpo_store_code(m.format, to, (size_t)(r * m.columns + c), code(edit, &m, r, c));
    target->operand->scales = to;
}

static void narrow(fpo_edit_target *target)
{
    fpo_scale_matrix m;
    bool same = memcmp(&target->spec->stored.scale, &target->spec->read.scale, sizeof(fpo_scale_view)) == 0;
    if (!same || target->spec->stored.scale.format != FPO_F32 || target->spec->stored.scale.block_k == 0 ||
        !fpo_scale_matrix_of(target, &m))
        return;
    size_t bytes = (size_t)m.count * sizeof(uint16_t);
    void *to = fpo_edited_allocate(target->edited, bytes);
    for (int64_t i = 0; to != NULL && i < m.count; i++) {
        uint32_t code = fpo_scale_code(&m, i);
        bool is_nan = (code & 0x7FFFFFFF) > 0x7F800000;
        if ((code & 0xFFFF) != 0 && !is_nan)
            return;
        fpo_store_code(FPO_BF16, to, (size_t)i, is_nan ? 0x7FC0 : code >> 16);
    }
    target->operand->scales = to;
    target->operand->scales_bytes = bytes;
    target->spec->stored.scale.format = target->spec->read.scale.format = FPO_BF16;
}

void fpo_scales_fit_instruction(fpo_edited *edited)
{
    const fpo_gemm_spec *spec = &edited->spec;
    if (spec->accumulation.step.kind != FPO_STEP_FUSED ||
        fpo_accumulation_check_operands(&spec->accumulation, &spec->a.read, &spec->b.read, NULL) == FPO_OK)
        return;
    for (int operand = FPO_OPERAND_A; operand <= FPO_OPERAND_B && edited->status == FPO_OK; operand++) {
        fpo_edit_target target = fpo_edit_target_of(edited, operand);
        narrow(&target);
    }
}

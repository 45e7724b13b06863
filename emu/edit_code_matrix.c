/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The elements of an operand as a matrix that edits rewrite. */
#include "edit_parts.h"

#include <string.h>

fpo_code_matrix fpo_code_matrix_of(const fpo_edit_target *target)
{
    fpo_format format = target->spec->stored.element;
    return (fpo_code_matrix){.format = format,
                             .rows = target->rows,
                             .k = target->k,
                             .row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, format, target->k),
                             .target = target,
                             .from = target->operand->codes};
}

uint32_t fpo_code_at(const fpo_code_matrix *m, int64_t row, int64_t k)
{
    const unsigned char *line = m->from + row * m->row_bytes;
    if (m->format == FPO_E2M1)
        return line[k / 2] >> (k % 2 * 4) & 15;
    return fpo_load_code(m->format, line, (size_t)k);
}

void fpo_code_set(const fpo_code_matrix *m, unsigned char *codes, int64_t row, int64_t k, uint32_t code)
{
    unsigned char *line = codes + row * m->row_bytes;
    int shift = (int)(k % 2 * 4);
    if (m->format == FPO_E2M1)
        line[k / 2] = (unsigned char)((line[k / 2] & ~(15 << shift)) | (int)(code & 15) << shift);
    else
        fpo_store_code(m->format, line, (size_t)k, code);
}

/* Rows that are read by another packing or format may be anywhere in memory. */
bool fpo_code_row_wanted(const fpo_edit_target *target, int64_t row)
{
    bool same = target->spec->stored.element == target->spec->read.element &&
                target->spec->stored.packing == target->spec->read.packing;
    return target->wanted == NULL || !same || target->wanted[row];
}

unsigned char *fpo_codes_copy(fpo_edit_target *target)
{
    fpo_code_matrix m = fpo_code_matrix_of(target);
    unsigned char *to = fpo_edited_allocate_rows(target->edited, target->operand->codes_bytes);
    for (int64_t r = 0; to != NULL && r < m.rows; r++)
        if (fpo_code_row_wanted(target, r))
            memcpy(to + r * m.row_bytes, m.from + r * m.row_bytes, (size_t)m.row_bytes);
    target->operand->codes = to;
    return to;
}

void fpo_rows_move(const fpo_edit *edit, fpo_edit_target *target, fpo_row_source source)
{
    fpo_code_matrix m = fpo_code_matrix_of(target);
    unsigned char *to = fpo_edited_allocate_rows(target->edited, target->operand->codes_bytes);
    for (int64_t r = 0; to != NULL && r < m.rows; r++) {
        if (!fpo_code_row_wanted(target, r))
            continue;
        int64_t from = source(edit, &m, r);
        if (from >= 0 && from < m.rows)
            memcpy(to + r * m.row_bytes, m.from + from * m.row_bytes, (size_t)m.row_bytes);
        else
            memset(to + r * m.row_bytes, 0, (size_t)m.row_bytes);
    }
    target->operand->codes = to;
}

void fpo_codes_move(const fpo_edit *edit, fpo_edit_target *target, fpo_code_source source)
{
    fpo_code_matrix m = fpo_code_matrix_of(target);
    unsigned char *to = fpo_edited_allocate_rows(target->edited, target->operand->codes_bytes);
    for (int64_t r = 0; to != NULL && r < m.rows; r++) {
        if (!fpo_code_row_wanted(target, r))
            continue;
        memset(to + r * m.row_bytes, 0, (size_t)m.row_bytes);
        for (int64_t k = 0; k < m.k; k++) {
            int64_t from = source(edit, &m, r, k);
            if (from >= 0 && from < m.rows * m.k)
                fpo_code_set(&m, to, r, k, fpo_code_at(&m, from / m.k, from % m.k));
        }
    }
    target->operand->codes = to;
}

void fpo_codes_recode(const fpo_edit *edit, fpo_edit_target *target, fpo_code_recode recode)
{
    fpo_code_matrix m = fpo_code_matrix_of(target);
    unsigned char *to = fpo_edited_allocate_rows(target->edited, target->operand->codes_bytes);
    for (int64_t r = 0; to != NULL && r < m.rows; r++) {
        if (!fpo_code_row_wanted(target, r))
            continue;
        memset(to + r * m.row_bytes, 0, (size_t)m.row_bytes);
        for (int64_t k = 0; k < m.k; k++)
            fpo_code_set(&m, to, r, k, recode(edit, m.format, fpo_code_at(&m, r, k)));
    }
    target->operand->codes = to;
}

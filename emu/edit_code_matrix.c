/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The elements of an operand as a matrix that edits rewrite. */
#include "edit_parts.h"

#include <string.h>

fpo_code_matrix fpo_code_matrix_of(const fpo_edit_target *target)
{
    fpo_format format = target->spec->stored.element;
    return (fpo_code_matrix){.format = format,
                             .storage_bytes = format == FPO_E2M1 ? 0 : (int)fpo_format_describe(format)->storage_bytes,
                             .rows = target->rows,
                             .k = target->k,
                             .row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, format, target->k),
                             .target = target,
                             .from = target->operand->codes};
}

static inline uint32_t code_of(const fpo_code_matrix *m, const unsigned char *line, int64_t k)
{
    switch (m->storage_bytes) {
    case 0: return line[k / 2] >> (k % 2 * 4) & 15;
    case 1: return line[k];
    default: return fpo_load_code(m->format, line, (size_t)k);
    }
}

static inline void set_code(const fpo_code_matrix *m, unsigned char *line, int64_t k, uint32_t code)
{
    int shift = (int)(k % 2 * 4);
    switch (m->storage_bytes) {
    case 0: line[k / 2] = (unsigned char)((line[k / 2] & ~(15 << shift)) | (int)(code & 15) << shift); break;
    case 1: line[k] = (unsigned char)code; break;
    default: fpo_store_code(m->format, line, (size_t)k, code);
    }
}

uint32_t fpo_code_at(const fpo_code_matrix *m, int64_t row, int64_t k)
{
    return code_of(m, m->from + row * m->row_bytes, k);
}

void fpo_code_set(const fpo_code_matrix *m, unsigned char *codes, int64_t row, int64_t k, uint32_t code)
{
    set_code(m, codes + row * m->row_bytes, k, code);
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

/* Without a division for each element: their place advances as the digits of a number of base k do. */
static void take_run(const fpo_code_matrix *m, fpo_code_run run, unsigned char *line)
{
    int64_t down = run.step / m->k, across = run.step % m->k;
    int64_t row = run.first / m->k, column = run.first % m->k;
    if (column < 0) {
        row--;
        column += m->k;
    }
    for (int64_t k = 0; k < m->k && row < m->rows; k++) {
        if (row >= 0)
            set_code(m, line, k, code_of(m, m->from + row * m->row_bytes, column));
        row += down;
        column += across;
        if (column >= m->k) {
            row++;
            column -= m->k;
        }
    }
}

void fpo_codes_move(const fpo_edit *edit, fpo_edit_target *target, fpo_code_source source)
{
    fpo_code_matrix m = fpo_code_matrix_of(target);
    unsigned char *to = fpo_edited_allocate_rows(target->edited, target->operand->codes_bytes);
    for (int64_t r = 0; to != NULL && r < m.rows; r++) {
        if (!fpo_code_row_wanted(target, r))
            continue;
        memset(to + r * m.row_bytes, 0, (size_t)m.row_bytes);
        take_run(&m, source(edit, &m, r), to + r * m.row_bytes);
    }
    target->operand->codes = to;
}

/* Of formats of up to a byte a table says what becomes of each code. */
static void recode_row(const fpo_code_matrix *m, const unsigned char *table, const unsigned char *from,
                       unsigned char *to)
{
    if (m->storage_bytes == 1) {
        for (int64_t k = 0; k < m->k; k++)
            to[k] = table[from[k]];
        return;
    }
    for (int64_t i = 0; i < m->k / 2; i++)
        to[i] = (unsigned char)(table[from[i] & 15] | table[from[i] >> 4] << 4);
    if (m->k % 2 != 0)
        to[m->k / 2] = table[from[m->k / 2] & 15];
}

void fpo_codes_recode(const fpo_edit *edit, fpo_edit_target *target, fpo_code_recode recode)
{
    fpo_code_matrix m = fpo_code_matrix_of(target);
    unsigned char table[256];
    unsigned char *to = fpo_edited_allocate_rows(target->edited, target->operand->codes_bytes);
    int codes = m.storage_bytes == 0 ? 16 : m.storage_bytes == 1 ? 256 : 0;
    for (int code = 0; code < codes; code++)
        table[code] = (unsigned char)(recode(edit, m.format, (uint32_t)code) & (unsigned)(codes - 1));
    for (int64_t r = 0; to != NULL && r < m.rows; r++) {
        unsigned char *line = to + r * m.row_bytes;
        if (!fpo_code_row_wanted(target, r))
            continue;
        if (codes > 0)
            recode_row(&m, table, m.from + r * m.row_bytes, line);
        for (int64_t k = 0; codes == 0 && k < m.k; k++)
            set_code(&m, line, k, recode(edit, m.format, fpo_code_at(&m, r, k)));
    }
    target->operand->codes = to;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What is not ordinary, one thing a row, so that each output says what one of them did; the rows go round:
 *   A  0 nothing  1 a NaN element  2 an infinity  3 an infinity where B has a zero  4 a NaN scale over nonzero
 *      elements  5 a NaN scale over zeros  6 all +0  7 all -0  8 a NaN element with the other sign  9 a zero scale
 *      10 a NaN element where B has a zero  11 infinities of both signs  12 only the first element  13 only the last
 *   B  0, 1 nothing  2 a NaN element  3 all +0  4 all -0  5 a NaN scale over zeros; and zeros in every row where A has
 *      something that a zero must not hide
 * What a format does not have (e2m1 has neither NaN nor infinity, e4m3 no infinity) is an ordinary element there. */
#include "pattern.h"

enum { A_ROWS = 14, B_ROWS = 6 };
/* Places in K; the odd one is where B has a zero. */
enum { PLACE = 5, OTHER = 18, HIDDEN = 7 };

static uint32_t nan_code(const fpo_pattern *p, uint32_t ordinary)
{
    const fpo_format_info *info = p->element;
    uint32_t magnitude = info->code_mask >> 1;
    return info->specials == FPO_SPECIALS_NONE ? ordinary : magnitude;
}

static uint32_t infinity_code(const fpo_pattern *p, uint32_t ordinary)
{
    return p->element->specials == FPO_SPECIALS_IEEE ? p->element->max_finite + 1 : ordinary;
}

static bool in_block(const fpo_pattern *p, int64_t column, int64_t place)
{
    return column / p->chunk == place / p->chunk;
}

static uint32_t a_element(const fpo_pattern *p, int64_t row, int64_t column, uint32_t code)
{
    uint32_t zero = 0, negative_zero = fpo_pattern_negated(p, 0);
    switch (row % A_ROWS) {
    case 1: return column == PLACE ? nan_code(p, code) : code;
    case 2: return column == PLACE ? infinity_code(p, code) : code;
    case 3: return column == HIDDEN ? infinity_code(p, code) : code;
    case 5: return in_block(p, column, PLACE) ? zero : code;
    case 6: return zero;
    case 7: return negative_zero;
    case 8: return column == PLACE ? fpo_pattern_negated(p, nan_code(p, code)) : code;
    case 10: return column == HIDDEN ? nan_code(p, code) : code;
    case 11:
        return column == PLACE   ? infinity_code(p, code)
               : column == OTHER ? fpo_pattern_negated(p, infinity_code(p, code))
                                 : code;
    case 12: return column == 0 ? code : zero;
    case 13: return column == p->k - 1 ? code : zero;
    default: return code;
    }
}

static uint32_t element_at(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    uint32_t code = fpo_pattern_nonzero(p, fpo_pattern_element_bits(p, row, column));
    if (!p->is_b)
        return a_element(p, row, column, code);
    switch (row % B_ROWS) {
    case 2: return column == OTHER ? nan_code(p, code) : code;
    case 3: return 0;
    case 4: return fpo_pattern_negated(p, 0);
    case 5: return in_block(p, column, OTHER) ? 0 : code;
    default: return column == HIDDEN ? 0 : code;
    }
}

static uint32_t scale_at(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    const fpo_scale_view *view = &p->view->scale;
    uint32_t code = fpo_pattern_unique_scale(p, row, column);
    if (view->block_rows != 1) /* a scale of many rows would hide all of them */
        return code;
    uint32_t nan = view->format == FPO_F32 ? 0x7FC00000 : fpo_format_describe(view->format)->code_mask;
    bool here = column == (p->is_b ? OTHER : PLACE) / p->chunk;
    bool is_nan = p->is_b ? row % B_ROWS == 5 : row % A_ROWS == 4 || row % A_ROWS == 5;
    bool is_zero = !p->is_b && row % A_ROWS == 9;
    return here && is_nan ? nan : here && is_zero ? 0 : code;
}

fpo_status fpo_generate_special(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fpo_pattern_narrow(wanted, "special", error);
    return status == FPO_OK ? fpo_pattern_fill(vector, wanted, element_at, scale_at, 0, error) : status;
}

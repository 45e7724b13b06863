/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Comparison by bytes: how many codes differ, where, and by how much. */
#include <fp4oracle/compare.h>

#include <string.h>

uint32_t fpo_load_element(fpo_format format, const void *codes, int64_t n, int64_t row, int64_t column)
{
    if (fpo_format_describe(format)->bits == 4) {
        const uint8_t *bytes = codes;
        return bytes[row * (n / 2 + n % 2) + column / 2] >> (column % 2 == 0 ? 0 : 4) & 15;
    }
    return fpo_load_code(format, codes, (size_t)(row * n + column));
}

/* Codes of a sign-magnitude format in the order of their numbers; both zeros are 0. */
static int64_t rank(const fpo_format_info *info, uint32_t code)
{
    uint32_t sign = info->sign_bits != 0 ? 1u << (info->bits - 1) : 0;
    int64_t magnitude = code & info->code_mask & ~sign;
    return (code & sign) != 0 ? -magnitude : magnitude;
}

int64_t fpo_code_steps(fpo_format format, uint32_t from, uint32_t to)
{
    const fpo_format_info *info = fpo_format_describe(format);
    bool nan = fpo_decode(format, from).kind == FPO_NAN || fpo_decode(format, to).kind == FPO_NAN;
    return nan ? INT64_MAX : rank(info, to) - rank(info, from);
}

static void note(fpo_comparison *result, int64_t row, int64_t column)
{
    if (result->different == 1) {
        result->first_row = result->last_row = row;
        result->first_column = result->last_column = column;
    }
    if (row > result->last_row)
        result->last_row = row;
    if (column < result->first_column)
        result->first_column = column;
    if (column > result->last_column)
        result->last_column = column;
}

static void difference(fpo_format format, int64_t row, int64_t column, uint32_t expected, uint32_t observed,
                       fpo_comparison *result)
{
    fpo_value e = fpo_decode(format, expected), o = fpo_decode(format, observed);
    fpo_difference d = {row, column, expected, observed, fpo_code_steps(format, expected, observed)};

    result->different++;
    note(result, row, column);
    if (e.kind == FPO_ZERO && o.kind == FPO_ZERO && e.negative != o.negative)
        result->signed_zero_only++;
    if (e.kind != FPO_NAN && o.kind != FPO_NAN) {
        int64_t distance = d.ulps < 0 ? -d.ulps : d.ulps;
        if (distance > result->largest_ulps)
            result->largest_ulps = distance;
    }
    if (result->first_count < FPO_COMPARE_FIRST)
        result->first[result->first_count++] = d;
}

static void count_special(fpo_format format, uint32_t code, int64_t *nan, int64_t *infinity)
{
    fpo_class kind = fpo_decode(format, code).kind;
    *nan += kind == FPO_NAN;
    *infinity += kind == FPO_INFINITE;
}

/* A second pass over the rectangle with differences, a strip of columns at a time, so that nothing is allocated. */
static int64_t touched_columns(fpo_format format, int64_t n, const void *expected, const void *observed,
                               const fpo_comparison *result)
{
    enum { STRIP = 1024 };
    int64_t touched = 0;
    for (int64_t first = result->first_column; first <= result->last_column; first += STRIP) {
        int64_t width = result->last_column - first + 1 < STRIP ? result->last_column - first + 1 : STRIP;
        bool differs[STRIP] = {false};
        for (int64_t row = result->first_row; row <= result->last_row; row++) {
            for (int64_t i = 0; i < width; i++)
                differs[i] |= fpo_load_element(format, expected, n, row, first + i) !=
                              fpo_load_element(format, observed, n, row, first + i);
        }
        for (int64_t i = 0; i < width; i++)
            touched += differs[i];
    }
    return touched;
}

void fpo_compare(fpo_format format, int64_t m, int64_t n, const void *expected, const void *observed,
                 fpo_comparison *result)
{
    memset(result, 0, sizeof *result);
    result->elements = m * n;
    for (int64_t row = 0; row < m; row++) {
        int64_t before = result->different;
        for (int64_t column = 0; column < n; column++) {
            uint32_t e = fpo_load_element(format, expected, n, row, column),
                     o = fpo_load_element(format, observed, n, row, column);
            count_special(format, e, &result->nan_expected, &result->infinity_expected);
            count_special(format, o, &result->nan_observed, &result->infinity_observed);
            if (e != o)
                difference(format, row, column, e, o, result);
        }
        result->rows_touched += result->different != before;
    }
    if (result->different > 0)
        result->columns_touched = touched_columns(format, n, expected, observed, result);
}

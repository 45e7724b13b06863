/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Signs: what a wrong output plainly is. */
#include <fp4oracle/sign.h>

#include "fillings.h"

static const fpo_sign_info signs[] = {
#define FPO_SIGN(ID, name, fault_class, explains, sentence) {name, fault_class, explains, sentence},
#include <fp4oracle/signs.inc>
#undef FPO_SIGN
};

const fpo_sign_info *fpo_sign_describe(fpo_sign_kind kind)
{
    return (unsigned)kind < FPO_SIGN_COUNT ? &signs[kind] : NULL;
}

static uint32_t code_at(const fpo_wrong_output *w, const void *codes, int64_t row, int64_t column)
{
    return fpo_load_element(w->format, codes, w->part.n, row, column);
}

/* What one pass over the part finds out. */
typedef struct traits {
    int64_t count, zero, nan, new_nan;
    int64_t sign_only; /* of the elements that differ */
    bool one_code, one_expected;
    uint32_t code, expected;
} traits;

enum { ENOUGH = 4 }; /* elements that are alike; fewer may be so by chance */

static traits find_traits(const fpo_wrong_output *w)
{
    traits t = {.one_code = true, .one_expected = true};
    for (int64_t row = 0; row < w->part.m; row++) {
        for (int64_t column = 0; column < w->part.n; column++) {
            uint32_t e = code_at(w, w->expected, row, column), o = code_at(w, w->observed, row, column);
            if (!fpo_part_has(&w->part, row, column, e != o))
                continue;
            fpo_class expected = fpo_decode(w->format, e).kind, observed = fpo_decode(w->format, o).kind;
            if (t.count++ == 0) {
                t.code = o;
                t.expected = e;
            }
            t.one_code = t.one_code && o == t.code;
            t.one_expected = t.one_expected && e == t.expected;
            t.zero += observed == FPO_ZERO;
            t.nan += observed == FPO_NAN;
            t.new_nan += observed == FPO_NAN && expected != FPO_NAN;
            t.sign_only += e != o && expected == FPO_ZERO && observed == FPO_ZERO;
        }
    }
    return t;
}

/* The code of one element; a number that a product may well be is none. */
static bool is_poison(fpo_format format, uint32_t code)
{
    int bytes = fpo_format_describe(format)->storage_bytes;
    if (bytes == 4 && (code == 0xDEADBEEF || code == 0xEFBEADDE || code == 0x7FFFFFFF))
        return code != 0x7FFFFFFF; /* that is the NaN that GPUs make */
    if (bytes < 2)
        return false;
    for (size_t i = 0; i < sizeof fpo_fillings; i++) {
        uint32_t filled = fpo_fillings[i] * (bytes == 4 ? 0x01010101U : 0x0101U);
        if (code == filled)
            return true;
    }
    return false;
}

static bool is_copy_of_c(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_wrong_output *w)
{
    if (problem->c == NULL || spec->epilogue.c == FPO_FORMAT_NONE)
        return false;
    for (int64_t i = 0; i < w->part.m * w->part.n; i++) {
        int64_t row = i / w->part.n, column = i % w->part.n;
        uint32_t e = code_at(w, w->expected, row, column), o = code_at(w, w->observed, row, column);
        fpo_value c = fpo_decode(spec->epilogue.c, fpo_load_code(spec->epilogue.c, problem->c, (size_t)i));
        if (fpo_part_has(&w->part, row, column, e != o) && o != fpo_encode(w->format, c, &spec->epilogue.d_cast, 0))
            return false;
    }
    return true;
}

/* N x M in memory. */
static bool is_transposed(const fpo_wrong_output *w)
{
    int64_t m = w->part.m, n = w->part.n;
    if (m == 1 || n == 1 || fpo_format_describe(w->format)->bits == 4)
        return false;
    for (int64_t i = 0; i < m * n; i++) {
        int64_t row = i % m, column = i / m;
        if (fpo_load_code(w->format, w->observed, (size_t)i) !=
            fpo_load_code(w->format, w->expected, (size_t)(row * n + column)))
            return false;
    }
    return true;
}

fpo_sign_kind fpo_sign_find(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_wrong_output *w)
{
    if (w->part.kind == FPO_PART_NONE)
        return FPO_SIGN_NONE;
    traits t = find_traits(w);
    bool enough = t.count >= ENOUGH;
    if (enough && t.one_code && is_poison(w->format, t.code))
        return FPO_SIGN_POISON;
    if (enough && t.zero == t.count && t.sign_only < w->part.wrong)
        return FPO_SIGN_ALL_ZERO;
    if (enough && t.nan == t.count)
        return FPO_SIGN_ALL_NAN;
    if (t.sign_only == w->part.wrong)
        return FPO_SIGN_SIGNED_ZERO;
    if (enough && is_copy_of_c(spec, problem, w))
        return FPO_SIGN_COPY_OF_C;
    if (is_transposed(w))
        return FPO_SIGN_TRANSPOSED;
    if (enough && t.one_code && !t.one_expected)
        return FPO_SIGN_CONSTANT;
    return t.new_nan > 0 ? FPO_SIGN_SOME_NAN : FPO_SIGN_NONE;
}

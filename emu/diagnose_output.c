/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a wrong output shows by itself. An element of an output with block scales is wrong if its code or the code of
 * its scale is. */
#include "diagnose_output.h"
#include "fillings.h"

#include <stdlib.h>
#include <string.h>

uint32_t fpo_output_word(const fpo_epilogue *epilogue, int64_t n, fpo_output_view output, int64_t row, int64_t column)
{
    uint32_t code = fpo_load_element(epilogue->d, output.d, n, row, column);
    if (epilogue->d_scale == FPO_FORMAT_NONE)
        return code;
    int64_t at = row * fpo_output_scale_columns(epilogue, n) + column / fpo_output_block(epilogue);
    return (uint32_t)output.d_scale[at] << 8 | code;
}

/* The number that a reader takes from a word, as f32: exact but for those beyond its range. */
static uint32_t number_of(const fpo_epilogue *epilogue, uint32_t word)
{
    fpo_value x = fpo_value_multiply(fpo_decode(epilogue->d_scale, word >> 8), fpo_decode(epilogue->d, word & 255));
    return fpo_encode(FPO_F32, x, fpo_cast_describe(FPO_CAST_IEEE), 0);
}

/* M x N words and numbers of both outputs, as matrices of f32 codes. */
typedef struct unfolded {
    uint32_t *words[2], *numbers[2]; /* expected, observed */
} unfolded;

static void fold(unfolded *u)
{
    for (int i = 0; i < 2; i++) {
        free(u->words[i]);
        free(u->numbers[i]);
    }
}

static fpo_status unfold(const fpo_epilogue *epilogue, int64_t m, int64_t n, fpo_output_view expected,
                         fpo_output_view observed, unfolded *u, fpo_error *error)
{
    const fpo_output_view views[] = {expected, observed};
    size_t bytes = (size_t)(m * n) * sizeof(uint32_t);
    *u = (unfolded){{malloc(bytes), malloc(bytes)}, {malloc(bytes), malloc(bytes)}};
    if (u->words[0] == NULL || u->words[1] == NULL || u->numbers[0] == NULL || u->numbers[1] == NULL) {
        fold(u);
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for the numbers of an output of %lld x %lld", (long long)m,
                        (long long)n);
    }
    for (int v = 0; v < 2; v++)
        for (int64_t i = 0; i < m * n; i++) {
            u->words[v][i] = fpo_output_word(epilogue, n, views[v], i / n, i % n);
            u->numbers[v][i] = number_of(epilogue, u->words[v][i]);
        }
    return FPO_OK;
}

/* Words differ where bits do; NaN and infinities are a reader's. */
static void compare_unfolded(const unfolded *u, int64_t m, int64_t n, fpo_comparison *result)
{
    fpo_comparison numbers;
    fpo_compare(FPO_F32, m, n, u->words[0], u->words[1], result);
    fpo_compare(FPO_F32, m, n, u->numbers[0], u->numbers[1], &numbers);
    result->nan_expected = numbers.nan_expected;
    result->nan_observed = numbers.nan_observed;
    result->infinity_expected = numbers.infinity_expected;
    result->infinity_observed = numbers.infinity_observed;
    result->signed_zero_only = numbers.signed_zero_only;
    result->largest_ulps = 0;
    for (size_t i = 0; i < result->first_count; i++)
        result->first[i].ulps = 0;
}

fpo_status fpo_output_compare(const fpo_epilogue *epilogue, int64_t m, int64_t n, fpo_output_view expected,
                              fpo_output_view observed, fpo_comparison *comparison, fpo_error *error)
{
    if (epilogue->d_scale == FPO_FORMAT_NONE) {
        fpo_compare(epilogue->d, m, n, expected.d, observed.d, comparison);
        return FPO_OK;
    }
    unfolded u;
    fpo_status status = unfold(epilogue, m, n, expected, observed, &u, error);
    if (status == FPO_OK) {
        compare_unfolded(&u, m, n, comparison);
        fold(&u);
    }
    return status;
}

static fpo_status look_plain(const fpo_gemm_spec *spec, const fpo_gemm_problem *p, fpo_output_view expected,
                             fpo_output_view observed, fpo_findings *f, fpo_error *error)
{
    fpo_wrong_output wrong = {.format = spec->epilogue.d, .expected = expected.d, .observed = observed.d};
    fpo_status status = fpo_part_find(wrong.format, p->m, p->n, expected.d, observed.d, &f->part, error);
    if (status == FPO_OK)
        status = fpo_part_find_nan(wrong.format, p->m, p->n, observed.d, &f->nan, error);
    if (status != FPO_OK)
        return status;
    wrong.part = f->part;
    f->sign = fpo_sign_find(spec, p, &wrong);
    f->evidence = fpo_evidence_weigh(&wrong);
    return FPO_OK;
}

/* Whether the wrong part holds one byte everywhere, in codes and scales: a filling, and no result. */
static bool is_poison(const fpo_epilogue *epilogue, const fpo_part *part, const unfolded *u)
{
    bool nibbles = fpo_format_describe(epilogue->d)->bits == 4;
    for (size_t f = 0; f < sizeof fpo_fillings; f++) {
        uint32_t byte = fpo_fillings[f];
        int64_t count = 0, equal = 0;
        for (int64_t i = 0; i < part->m * part->n && count == equal; i++) {
            int64_t column = i % part->n;
            if (!fpo_part_has(part, i / part->n, column, u->words[0][i] != u->words[1][i]))
                continue;
            uint32_t code = !nibbles ? byte : column % 2 == 0 ? byte & 15 : byte >> 4;
            count++;
            equal += u->words[1][i] == (byte << 8 | code);
        }
        if (count == equal && count >= fpo_output_block(epilogue))
            return true;
    }
    return false;
}

/* Codes and scales each prove what they prove. */
static fpo_evidence weigh_scaled(const fpo_epilogue *epilogue, const fpo_part *part, fpo_output_view expected,
                                 fpo_output_view observed)
{
    fpo_wrong_output codes = {epilogue->d, expected.d, observed.d, *part};
    fpo_wrong_output scales = {epilogue->d_scale, expected.d_scale, observed.d_scale, *part};
    scales.part.n = fpo_output_scale_columns(epilogue, part->n);
    fpo_evidence of_codes = fpo_evidence_weigh(&codes), of_scales = fpo_evidence_weigh(&scales);
    return (fpo_evidence){part->wrong, of_codes.pairs + of_scales.pairs, of_codes.bits + of_scales.bits};
}

static fpo_status look_scaled(const fpo_gemm_spec *spec, const fpo_gemm_problem *p, fpo_output_view expected,
                              fpo_output_view observed, fpo_findings *f, fpo_error *error)
{
    unfolded u;
    fpo_status status = unfold(&spec->epilogue, p->m, p->n, expected, observed, &u, error);
    if (status != FPO_OK)
        return status;
    status = fpo_part_find(FPO_F32, p->m, p->n, u.words[0], u.words[1], &f->part, error);
    if (status == FPO_OK)
        status = fpo_part_find_nan(FPO_F32, p->m, p->n, u.numbers[1], &f->nan, error);
    if (status == FPO_OK) {
        fpo_wrong_output numbers = {FPO_F32, u.numbers[0], u.numbers[1], f->part};
        f->sign = is_poison(&spec->epilogue, &f->part, &u) ? FPO_SIGN_POISON : fpo_sign_find(spec, p, &numbers);
        f->evidence = weigh_scaled(&spec->epilogue, &f->part, expected, observed);
    }
    fold(&u);
    return status;
}

fpo_status fpo_output_look(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, fpo_output_view expected,
                           fpo_output_view observed, fpo_findings *findings, fpo_error *error)
{
    return spec->epilogue.d_scale == FPO_FORMAT_NONE ? look_plain(spec, problem, expected, observed, findings, error)
                                                     : look_scaled(spec, problem, expected, observed, findings, error);
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The fused sums of one instruction. */
#include "trace_step.h"

#include <stdio.h>
#include <stdlib.h>

/* A term of a fused sum. */
typedef struct term {
    mpfr_t value;
    int exponent;
    bool enters; /* takes part in the search for the largest exponent */
    char name[32];
} term;

typedef struct terms {
    term *at;
    int count;
    bool nan, infinite[2]; /* [1]: negative */
} terms;

typedef struct instruction {
    const fpo_step *step;
    const fpo_panel *a, *b;
    int64_t first; /* its first element of K */
} instruction;

static bool is_special(fpo_digits x)
{
    return x.exponent >= FPO_EXPONENT_INFINITY;
}

static const fpo_digits one = {1, 0};

static fpo_digits scale_at(const fpo_panel *panel, int64_t k)
{
    return panel->scales != NULL ? panel->scales[k / panel->block_k] : one;
}

/* Element i of fused sum `sum`, counted from the start of K. */
static int64_t element_at(const instruction *in, int sum, int i)
{
    const fpo_step *s = in->step;
    return in->first + (s->interleaved ? 4 * (i / 2) + 2 * sum + i % 2 : sum * s->fused + i);
}

/* x *= significand * 2^(exponent - fraction) */
static void multiply_digits(mpfr_ptr x, fpo_digits d, int fraction)
{
    mpfr_mul_si(x, x, d.significand, MPFR_RNDN);
    mpfr_mul_2si(x, x, d.exponent - fraction, MPFR_RNDN);
}

/* A NaN or an infinity among the factors of a product: what the sum becomes. */
static void note_special(terms *t, const fpo_digits factors[4])
{
    bool zero = false, negative = false;
    for (int i = 0; i < 4; i++) {
        t->nan = t->nan || factors[i].exponent == FPO_EXPONENT_NAN;
        zero = zero || factors[i].significand == 0;
        negative = negative != (factors[i].significand < 0);
    }
    t->nan = t->nan || zero;
    if (!t->nan)
        t->infinite[negative] = true;
}

static term *new_term(terms *t)
{
    term *result = &t->at[t->count++];
    mpfr_init2(result->value, FPO_WIDE_BITS);
    return result;
}

static void add_product(const instruction *in, int64_t k, terms *t)
{
    const fpo_digits factors[4] = {in->a->elements[k], in->b->elements[k], scale_at(in->a, k), scale_at(in->b, k)};
    const int fractions[4] = {in->a->fraction, in->b->fraction, in->a->scale_fraction, in->b->scale_fraction};
    for (int i = 0; i < 4; i++) {
        if (is_special(factors[i])) {
            note_special(t, factors);
            return;
        }
    }
    term *product = new_term(t);
    mpfr_set_ui(product->value, 1, MPFR_RNDN);
    product->exponent = 0;
    for (int i = 0; i < 4; i++) {
        multiply_digits(product->value, factors[i], fractions[i]);
        product->exponent += factors[i].exponent;
    }
    product->enters = mpfr_zero_p(product->value) == 0 || in->step->zero_product_enters;
    snprintf(product->name, sizeof product->name, "k = %lld", (long long)k);
}

/* The exact sum of a group's products, times the scales of its first element. */
static void add_group(const instruction *in, int sum, int first, terms *t)
{
    int64_t k0 = element_at(in, sum, first);
    fpo_digits sa = scale_at(in->a, k0), sb = scale_at(in->b, k0);
    mpfr_t total, product;
    mpfr_inits2(FPO_WIDE_BITS, total, product, (mpfr_ptr)0);
    mpfr_set_zero(total, 1);
    bool all_zero = true;
    for (int i = 0; i < in->step->group; i++) {
        int64_t k = element_at(in, sum, first + i);
        const fpo_digits factors[4] = {in->a->elements[k], in->b->elements[k], sa, sb};
        if (is_special(factors[0]) || is_special(factors[1])) {
            note_special(t, factors);
            continue;
        }
        mpfr_set_ui(product, 1, MPFR_RNDN);
        multiply_digits(product, factors[0], in->a->fraction);
        multiply_digits(product, factors[1], in->b->fraction);
        all_zero = all_zero && mpfr_zero_p(product) != 0;
        mpfr_add(total, total, product, MPFR_RNDN);
    }
    if (is_special(sa) || is_special(sb)) {
        t->nan = true;
    } else {
        term *group = new_term(t);
        bool no_value = all_zero || sa.significand == 0 || sb.significand == 0;
        multiply_digits(total, sa, in->a->scale_fraction);
        multiply_digits(total, sb, in->b->scale_fraction);
        mpfr_set(group->value, total, MPFR_RNDN);
        group->exponent = sa.exponent + sb.exponent;
        group->enters =
            mpfr_zero_p(total) == 0 || (no_value ? in->step->zero_group_enters : in->step->cancelled_group_enters);
        snprintf(group->name, sizeof group->name, "k = %lld to %lld", (long long)k0,
                 (long long)element_at(in, sum, first + in->step->group - 1));
    }
    mpfr_clears(total, product, (mpfr_ptr)0);
}

static void add_c(const fpo_step *step, uint32_t c, terms *t)
{
    const fpo_format_info *info = fpo_format_describe(step->accumulator);
    fpo_value value = fpo_decode(step->accumulator, c);
    if (value.kind == FPO_NAN)
        t->nan = true;
    if (value.kind == FPO_INFINITE)
        t->infinite[value.negative] = true;
    if (value.kind == FPO_NAN || value.kind == FPO_INFINITE)
        return;
    term *result = new_term(t);
    fpo_value_to_mpfr(result->value, value);
    int field = (int)(c >> info->mantissa_bits & ((1u << info->exponent_bits) - 1));
    result->exponent = field != 0 ? field - info->bias : info->min_exponent;
    result->enters = value.kind == FPO_FINITE;
    snprintf(result->name, sizeof result->name, "C");
}

static void round_to_integer(mpfr_ptr x, fpo_rounding rounding)
{
    mpfr_t fraction;
    switch (rounding) {
    case FPO_NEAREST_EVEN: mpfr_rint(x, x, MPFR_RNDN); return;
    case FPO_NEAREST_AWAY: mpfr_round(x, x); return;
    case FPO_NEAREST_TOWARD_ZERO: /* up where the fraction is more than half */
        mpfr_init2(fraction, FPO_WIDE_BITS);
        mpfr_frac(fraction, x, MPFR_RNDN);
        mpfr_abs(fraction, fraction, MPFR_RNDN);
        mpfr_rint(x, x, mpfr_cmp_d(fraction, 0.5) > 0 ? MPFR_RNDA : MPFR_RNDZ);
        mpfr_clear(fraction);
        return;
    case FPO_AWAY_FROM_ZERO: mpfr_rint(x, x, MPFR_RNDA); return;
    case FPO_UP: mpfr_rint(x, x, MPFR_RNDU); return;
    case FPO_DOWN: mpfr_rint(x, x, MPFR_RNDD); return;
    case FPO_TOWARD_ZERO:
    case FPO_STOCHASTIC: mpfr_trunc(x, x); return;
    }
}

/* x to a multiple of 2^grid. */
static void cut(mpfr_ptr x, long grid, fpo_rounding rounding)
{
    mpfr_mul_2si(x, x, -grid, MPFR_RNDN);
    round_to_integer(x, rounding);
    mpfr_mul_2si(x, x, grid, MPFR_RNDN);
}

static uint32_t infinity(const fpo_step *step, bool negative)
{
    fpo_value value = {.kind = FPO_INFINITE, .negative = negative};
    return fpo_encode(step->accumulator, value, fpo_cast_describe(FPO_CAST_IEEE), 0);
}

/* The sum to result_bits behind its leading bit, no finer than result_quantum; bits of the accumulator. */
static uint32_t round_sum(const fpo_step *step, mpfr_ptr sum, json_t *detail)
{
    const fpo_format_info *info = fpo_format_describe(step->accumulator);
    if (mpfr_zero_p(sum) != 0)
        return 0;
    long grid = (long)mpfr_get_exp(sum) - 1 - step->result_bits;
    if (grid < step->result_quantum)
        grid = step->result_quantum;
    json_object_set_new(detail, "result_grid", json_integer(grid));
    cut(sum, grid, step->result_rounding);
    if (mpfr_zero_p(sum) != 0)
        return 0;
    bool negative = mpfr_signbit(sum) != 0;
    if (mpfr_get_exp(sum) - 1 > info->max_exponent) {
        uint32_t sign = negative ? 1u << (info->bits - 1) : 0;
        return step->overflow == FPO_NON_FINITE ? infinity(step, negative) : info->max_finite | sign;
    }
    return fpo_encode(step->accumulator, fpo_value_from_mpfr(sum), fpo_cast_describe(FPO_CAST_IEEE), 0);
}

static json_t *term_json(const term *t, mpfr_srcptr kept)
{
    mpfr_t lost;
    mpfr_init2(lost, FPO_WIDE_BITS);
    mpfr_sub(lost, t->value, kept, MPFR_RNDN);
    json_t *object = json_pack("{s:s, s:s, s:i, s:b, s:s, s:s}", "term", t->name, "value", fpo_mpfr_text(t->value).text,
                               "exponent", t->exponent, "enters", (int)t->enters, "kept", fpo_mpfr_text(kept).text,
                               "cut", fpo_mpfr_text(lost).text);
    mpfr_clear(lost);
    return object;
}

/* The sum of the terms: its bits, and the details into `sum`. */
static uint32_t add_terms(const fpo_step *step, terms *t, json_t *detail)
{
    if (t->nan || (t->infinite[0] && t->infinite[1])) {
        json_object_set_new(detail, "special", json_string("a NaN, infinity times zero, or infinities of both signs"));
        return step->nan;
    }
    if (t->infinite[0] || t->infinite[1]) {
        json_object_set_new(detail, "special", json_string("an infinity"));
        return infinity(step, t->infinite[1]);
    }
    int e = step->e_zero;
    for (int i = 0; i < t->count; i++) {
        if (t->at[i].enters && t->at[i].exponent > e)
            e = t->at[i].exponent;
    }
    long grid = (long)e - step->fraction_bits;
    mpfr_t sum, exact, kept;
    mpfr_inits2(FPO_WIDE_BITS, sum, exact, kept, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(exact, 1);
    json_t *list = json_array();
    for (int i = 0; i < t->count; i++) {
        mpfr_set(kept, t->at[i].value, MPFR_RNDN);
        cut(kept, grid, step->term_rounding);
        mpfr_add(sum, sum, kept, MPFR_RNDN);
        mpfr_add(exact, exact, t->at[i].value, MPFR_RNDN);
        if (mpfr_zero_p(t->at[i].value) == 0 || t->at[i].enters)
            json_array_append_new(list, term_json(&t->at[i], kept));
    }
    json_object_set_new(detail, "terms", list);
    json_object_set_new(detail, "largest_exponent", json_integer(e));
    json_object_set_new(detail, "grid", json_integer(grid));
    json_object_set_new(detail, "exact_sum", json_string(fpo_mpfr_text(exact).text));
    json_object_set_new(detail, "sum", json_string(fpo_mpfr_text(sum).text));
    uint32_t bits = round_sum(step, sum, detail);
    mpfr_clears(sum, exact, kept, (mpfr_ptr)0);
    return bits;
}

json_t *fpo_trace_bits_json(const fpo_step *step, uint32_t bits)
{
    return json_pack("{s:s, s:s}", "bits", fpo_hex_text(step->accumulator, bits).text, "value",
                     fpo_code_text(step->accumulator, bits).text);
}

static uint32_t fused_sum(const instruction *in, int sum, uint32_t accumulator, json_t *detail)
{
    terms t = {.at = calloc((size_t)in->step->fused + 1, sizeof(term))};
    if (t.at == NULL)
        return in->step->nan;
    if (in->step->group > 1) {
        for (int i = 0; i < in->step->fused; i += in->step->group)
            add_group(in, sum, i, &t);
    } else {
        for (int i = 0; i < in->step->fused; i++)
            add_product(in, element_at(in, sum, i), &t);
    }
    add_c(in->step, accumulator, &t);
    uint32_t bits = add_terms(in->step, &t, detail);
    for (int i = 0; i < t.count; i++)
        mpfr_clear(t.at[i].value);
    free(t.at);
    return bits;
}

uint32_t fpo_trace_instruction(const fpo_step *step, const fpo_panel *a, const fpo_panel *b, int64_t index, uint32_t c,
                               bool detailed, json_t *event)
{
    instruction in = {step, a, b, index * step->k};
    json_object_set_new(event, "c", fpo_trace_bits_json(step, c));
    json_t *sums = json_array();
    uint32_t accumulator = step->c_late ? 0 : c;
    for (int sum = 0; sum < step->k / step->fused; sum++) {
        json_t *detail = json_object();
        accumulator = fused_sum(&in, sum, accumulator, detail);
        json_object_set_new(detail, "result", fpo_trace_bits_json(step, accumulator));
        json_array_append_new(sums, detail);
    }
    if (step->c_late)
        accumulator = fpo_step_add(step, accumulator, c);
    if (detailed)
        json_object_set(event, "sums", sums);
    json_decref(sums);
    json_object_set_new(event, "result", fpo_trace_bits_json(step, accumulator));
    return accumulator;
}

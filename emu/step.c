/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The generic tensor-core step, driven by the numbers of fpo_step alone. Integers throughout: a term is value * 2^unit.
 * The fast paths (step_fast.c) must return the same bits. */
#include "step.h"

typedef struct terms {
    int64_t value[FPO_STEP_MAX_K + 1];
    int32_t unit[FPO_STEP_MAX_K + 1];
    int32_t exponent[FPO_STEP_MAX_K + 1]; /* what enters the search for the largest */
    bool enters[FPO_STEP_MAX_K + 1];
    int count;
    bool nan, positive_infinity, negative_infinity;
} terms;

/* Without the arrays, which are large. */
static void start_terms(terms *t)
{
    t->count = 0;
    t->nan = t->positive_infinity = t->negative_infinity = false;
}

static void add_term(terms *t, int64_t value, int unit, int exponent, bool zero_enters)
{
    t->value[t->count] = value;
    t->unit[t->count] = unit;
    t->exponent[t->count] = exponent;
    t->enters[t->count] = value != 0 || zero_enters;
    t->count++;
}

static void add_infinity(terms *t, bool negative)
{
    if (negative)
        t->negative_infinity = true;
    else
        t->positive_infinity = true;
}

static bool special(fpo_digits x)
{
    return x.exponent >= FPO_EXPONENT_INFINITY;
}

/* The product of factors of which at least one is NaN or infinite. Scales have no infinity. */
static void add_special(terms *t, fpo_digits a, fpo_digits b, fpo_digits sa, fpo_digits sb)
{
    if (a.exponent == FPO_EXPONENT_NAN || b.exponent == FPO_EXPONENT_NAN || sa.exponent == FPO_EXPONENT_NAN ||
        sb.exponent == FPO_EXPONENT_NAN || a.significand == 0 || b.significand == 0 || sa.significand == 0 ||
        sb.significand == 0)
        t->nan = true;
    else
        add_infinity(t, (a.significand < 0) != (b.significand < 0));
}

/* Element i of chained sum number `sum`. */
static int element_index(const fpo_step *step, int sum, int i)
{
    return step->interleaved ? 4 * (i / 2) + 2 * sum + i % 2 : sum * step->fused + i;
}

static fpo_digits scale_of(const fpo_step_side *side, int k)
{
    return side->scales != NULL ? side->scales[(side->first_k + k) / side->block_k] : (fpo_digits){1, 0};
}

/* Group 1: every product is a term. */
static void collect_products(const fpo_step *step, const fpo_step_side *a, const fpo_step_side *b, int sum, terms *t)
{
    int fraction = a->fraction + b->fraction + a->scale_fraction + b->scale_fraction;
    for (int i = 0; i < step->fused; i++) {
        int k = element_index(step, sum, i);
        fpo_digits x = a->elements[k], y = b->elements[k];
        fpo_digits sx = scale_of(a, k), sy = scale_of(b, k);
        if (special(x) || special(y) || special(sx) || special(sy)) {
            add_special(t, x, y, sx, sy);
            continue;
        }
        int exponent = x.exponent + y.exponent + sx.exponent + sy.exponent;
        add_term(t, (int64_t)x.significand * y.significand * ((int64_t)sx.significand * sy.significand),
                 exponent - fraction, exponent, step->zero_product_enters);
    }
}

/* Group n: n products are added exactly, then multiplied by the scales, whose exponent is the term's. */
static void collect_groups(const fpo_step *step, const fpo_step_side *a, const fpo_step_side *b, int sum, int lowest,
                           terms *t)
{
    int fraction = a->fraction + b->fraction + a->scale_fraction + b->scale_fraction;
    for (int g = 0; g < step->fused; g += step->group) {
        int first = element_index(step, sum, g);
        fpo_digits sx = scale_of(a, first), sy = scale_of(b, first);
        int64_t total = 0;
        bool all_zero = true;
        for (int i = 0; i < step->group; i++) {
            int k = element_index(step, sum, g + i);
            fpo_digits x = a->elements[k], y = b->elements[k];
            if (special(x) || special(y)) {
                add_special(t, x, y, sx, sy);
                continue;
            }
            int64_t product = (int64_t)x.significand * y.significand;
            all_zero = all_zero && product == 0;
            total += product * ((int64_t)1 << (product == 0 ? 0 : x.exponent + y.exponent - lowest));
        }
        if (special(sx) || special(sy)) {
            t->nan = true;
            continue;
        }
        int64_t scale = (int64_t)sx.significand * sy.significand;
        int exponent = sx.exponent + sy.exponent;
        add_term(t, total * scale, exponent + lowest - fraction, exponent,
                 all_zero || scale == 0 ? step->zero_group_enters : step->cancelled_group_enters);
    }
}

/* C is one more term, with its own exponent. A zero C never enters. */
static void collect_c(const fpo_step *step, uint32_t c, terms *t)
{
    const fpo_format_info *info = fpo_format_describe(step->accumulator);
    uint32_t mantissa = c & ((1u << info->mantissa_bits) - 1);
    int field = (int)(c >> info->mantissa_bits & ((1u << info->exponent_bits) - 1));
    bool negative = c >> (info->bits - 1) & 1;
    if (field == (1 << info->exponent_bits) - 1) {
        if (mantissa != 0)
            t->nan = true;
        else
            add_infinity(t, negative);
        return;
    }
    int64_t significand = (int64_t)mantissa | (field != 0 ? (int64_t)1 << info->mantissa_bits : 0);
    int exponent = field != 0 ? field - info->bias : info->min_exponent;
    add_term(t, negative ? -significand : significand, exponent - info->mantissa_bits, exponent, false);
}

/* value * 2^-shift, cut as `rounding` says. */
static int64_t shift_term(int64_t value, int shift, fpo_rounding rounding)
{
    if (shift <= 0)
        return value * ((int64_t)1 << -shift);
    bool negative = value < 0;
    uint64_t magnitude = negative ? -(uint64_t)value : (uint64_t)value;
    uint64_t kept = shift < 64 ? magnitude >> shift : 0;
    uint64_t rest = shift < 64 ? magnitude & (((uint64_t)1 << shift) - 1) : magnitude;
    uint64_t half = shift <= 64 ? (uint64_t)1 << (shift - 1) : 0; /* 0: more than any rest doubled */
    bool up = false;
    switch (rounding) {
    case FPO_NEAREST_EVEN: up = half != 0 && (rest > half || (rest == half && (kept & 1) != 0)); break;
    case FPO_NEAREST_AWAY: up = half != 0 && rest >= half; break;
    case FPO_NEAREST_TOWARD_ZERO: up = half != 0 && rest > half; break;
    case FPO_AWAY_FROM_ZERO: up = rest != 0; break;
    case FPO_UP: up = rest != 0 && !negative; break;
    case FPO_DOWN: up = rest != 0 && negative; break;
    case FPO_TOWARD_ZERO:
    case FPO_STOCHASTIC: break;
    }
    kept += up ? 1 : 0;
    return negative ? -(int64_t)kept : (int64_t)kept;
}

static int highest_bit(uint64_t x)
{
    int position = 0;
    for (int step = 32; step > 0; step /= 2)
        if (x >> step != 0) {
            x >>= step;
            position += step;
        }
    return position;
}

static uint32_t infinity_bits(const fpo_format_info *info, bool negative)
{
    uint32_t magnitude = ((1u << info->exponent_bits) - 1) << info->mantissa_bits;
    return negative ? magnitude | 1u << (info->bits - 1) : magnitude;
}

uint32_t fpo_step_round(const fpo_step *step, int64_t sum, int unit)
{
    if (sum == 0)
        return 0;
    const fpo_format_info *info = fpo_format_describe(step->accumulator);
    bool negative = sum < 0;
    uint64_t magnitude = negative ? -(uint64_t)sum : (uint64_t)sum;
    int quantum = highest_bit(magnitude) + unit - step->result_bits;
    if (quantum < step->result_quantum)
        quantum = step->result_quantum;
    int64_t rounded = shift_term(sum, quantum - unit, step->result_rounding);
    uint64_t kept = negative ? -(uint64_t)rounded : (uint64_t)rounded;
    if (kept == 0)
        return 0;
    int exponent = highest_bit(kept) + quantum;
    uint32_t sign = negative ? 1u << (info->bits - 1) : 0;
    if (exponent > info->max_exponent)
        return step->overflow == FPO_NON_FINITE ? infinity_bits(info, negative) : info->max_finite | sign;
    /* In units of the last place of the accumulator: exact, since the quantum is no finer. */
    int last_place = (exponent < info->min_exponent ? info->min_exponent : exponent) - info->mantissa_bits;
    uint32_t mantissa =
        (uint32_t)(quantum >= last_place ? kept << (quantum - last_place) : kept >> (last_place - quantum));
    uint32_t field = exponent < info->min_exponent ? 0 : (uint32_t)(exponent + info->bias);
    return sign | field << info->mantissa_bits | (mantissa & ((1u << info->mantissa_bits) - 1));
}

static uint32_t add_terms(const fpo_step *step, const terms *t)
{
    if (t->nan || (t->positive_infinity && t->negative_infinity))
        return step->nan;
    if (t->positive_infinity || t->negative_infinity)
        return infinity_bits(fpo_format_describe(step->accumulator), t->negative_infinity);
    int e = step->e_zero;
    for (int i = 0; i < t->count; i++)
        if (t->enters[i] && t->exponent[i] > e)
            e = t->exponent[i];
    int unit = e - step->fraction_bits;
    int64_t sum = 0;
    for (int i = 0; i < t->count; i++)
        if (t->value[i] != 0)
            sum += shift_term(t->value[i], unit - t->unit[i], step->term_rounding);
    return fpo_step_round(step, sum, unit);
}

uint32_t fpo_step_chain(const fpo_step *step, const fpo_step_side *a, const fpo_step_side *b, uint32_t c)
{
    int lowest = 2 * INT16_MIN;
    if (step->group > 1) { /* the exact sums of a group count in products of the smallest exponents */
        lowest = 0;
        for (int k = 0; k < step->k; k++) {
            fpo_digits x = a->elements[k], y = b->elements[k];
            /* Not of zeros: their exponent may be far below (zero_exponent). */
            if (x.significand != 0 && y.significand != 0 && !special(x) && !special(y) &&
                x.exponent + y.exponent < lowest)
                lowest = x.exponent + y.exponent;
        }
    }
    uint32_t accumulator = step->c_late ? 0 : c;
    for (int sum = 0; sum < step->k / step->fused; sum++) {
        terms t;
        start_terms(&t);
        if (step->group > 1)
            collect_groups(step, a, b, sum, lowest, &t);
        else
            collect_products(step, a, b, sum, &t);
        collect_c(step, accumulator, &t);
        accumulator = add_terms(step, &t);
    }
    return step->c_late ? fpo_step_add(step, accumulator, c) : accumulator;
}

uint32_t fpo_step_add(const fpo_step *step, uint32_t x, uint32_t y)
{
    if (step->accumulator == FPO_F32)
        return fpo_bits_of_float(fpo_canonical(fpo_float_of_bits(x) + fpo_float_of_bits(y)));
    /* f16: every sum is a multiple of 2^-24 below 2^17, so 48 bits below the larger exponent lose nothing. */
    fpo_step add = *step;
    add.e_zero = -24;
    add.fraction_bits = 41;
    add.term_rounding = FPO_TOWARD_ZERO;
    add.result_bits = 10;
    add.result_rounding = FPO_NEAREST_EVEN;
    add.result_quantum = -24;
    add.overflow = FPO_NON_FINITE;
    terms t;
    start_terms(&t);
    collect_c(&add, x, &t);
    collect_c(&add, y, &t);
    return add_terms(&add, &t);
}

float fpo_accumulator_value(const fpo_step *step, uint32_t bits)
{
    if (step->accumulator == FPO_F32)
        return fpo_float_of_bits(bits);
    return fpo_canonical((float)fpo_decode_double(step->accumulator, bits));
}

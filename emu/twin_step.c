/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The twin's tensor-core step: the rules in model.h (facts.md 6.1), one sentence after the other. */
#include "twin.h"

enum { MOST_TERMS = 130 };

/* A factor of a product: its value, and the exponent that it brings to the search. */
typedef struct twin_factor {
    fpo_twin_value value;
    int exponent;
} twin_factor;

typedef struct twin_term {
    fpo_twin_number number;
    int exponent;
    bool enters;
} twin_term;

typedef struct twin_sum {
    const fpo_step *step;
    int count;
    bool nan, plus_infinity, minus_infinity;
    twin_term terms[MOST_TERMS];
} twin_sum;

/* A subnormal has the smallest exponent of its format; a zero too, unless the step says otherwise. */
static void set_exponent(const fpo_step *step, int smallest, twin_factor *factor)
{
    factor->exponent = smallest;
    if (factor->value.kind != FPO_TWIN_NUMBER)
        return;
    if (fpo_twin_is_zero(&factor->value))
        factor->exponent = step->zero_exponent != 0 ? step->zero_exponent : smallest;
    else if (fpo_twin_leading_power(&factor->value.number) > smallest)
        factor->exponent = fpo_twin_leading_power(&factor->value.number);
}

/* Operand element k, as the multiplier takes it. Beyond K it is zero. */
static void element_factor(const fpo_step *step, const fpo_twin_operand *o, int64_t row, int64_t k, twin_factor *factor)
{
    fpo_format format = o->spec->read.element;
    uint32_t code = k < o->k ? fpo_twin_element(o, row, k) : 0;
    fpo_twin_decode(format, code, &factor->value);
    if (step->dequantised && k < o->k) {
        fpo_twin_value scale;
        fpo_twin_block_scale(o, row, k, &scale);
        fpo_twin_multiply(&factor->value, &factor->value, &scale);
        fpo_twin_round(step->operand_format, &factor->value);
    } else if (step->operand_format != FPO_FORMAT_NONE && factor->value.kind == FPO_TWIN_NUMBER) {
        const fpo_cast cut = {.rounding = FPO_TOWARD_ZERO, .overflow = FPO_NON_FINITE, .infinity = FPO_NON_FINITE};
        fpo_twin_decode(step->operand_format, fpo_twin_encode(step->operand_format, &factor->value, &cut),
                        &factor->value);
    }
    set_exponent(step,
                 fpo_twin_smallest_exponent(step->operand_format != FPO_FORMAT_NONE ? step->operand_format : format),
                 factor);
}

/* The scale that the instruction takes for element k: 1 where there is none, or where it is f32 (those are applied
 * outside). Beyond K it is code 0. */
static void scale_factor(const fpo_step *step, const fpo_twin_operand *o, int64_t row, int64_t k, twin_factor *factor)
{
    fpo_format format = o->spec->read.scale.format;
    fpo_twin_float(&factor->value, 1.0f);
    factor->exponent = 0;
    if (step->dequantised || !fpo_twin_has_block_scale(o) || format == FPO_F32)
        return;
    int64_t block = k / o->spec->read.scale.block_k;
    bool inside = block * o->spec->read.scale.block_k < o->k;
    fpo_twin_decode(format, inside ? fpo_twin_scale(o, row, block) : 0, &factor->value);
    /* Scales in bf16 are edited ue8m0 scales: their smallest number is 2^-127. */
    set_exponent(step, fpo_twin_smallest_exponent(format == FPO_BF16 ? FPO_UE8M0 : format), factor);
}

/* Notes NaN and infinity; true if the value is a number. */
static bool note_special(twin_sum *sum, const fpo_twin_value *value)
{
    if (value->kind == FPO_TWIN_NAN)
        sum->nan = true;
    else if (value->kind == FPO_TWIN_INFINITY && value->negative)
        sum->minus_infinity = true;
    else if (value->kind == FPO_TWIN_INFINITY)
        sum->plus_infinity = true;
    return value->kind == FPO_TWIN_NUMBER;
}

static void add_term(twin_sum *sum, const fpo_twin_number *number, int exponent, bool zero_enters)
{
    twin_term *term = &sum->terms[sum->count++];
    term->number = *number;
    term->exponent = exponent;
    term->enters = number->sign != 0 || zero_enters;
}

/* One group of products; its first element is number k of the operands. */
static void add_group(twin_sum *sum, const fpo_twin_gemm *gemm, int64_t m, int64_t n, const int64_t *elements)
{
    const fpo_step *step = sum->step;
    twin_factor a, b, a_scale, b_scale;
    fpo_twin_value group, product;
    bool only_zeros = true, numbers = true;
    int exponent = 0;

    fpo_twin_zero(&group);
    scale_factor(step, &gemm->a, m, elements[0], &a_scale);
    scale_factor(step, &gemm->b, n, elements[0], &b_scale);
    for (int i = 0; i < step->group; i++) {
        element_factor(step, &gemm->a, m, elements[i], &a);
        element_factor(step, &gemm->b, n, elements[i], &b);
        fpo_twin_multiply(&product, &a.value, &b.value);
        exponent = a.exponent + b.exponent;
        only_zeros = only_zeros && fpo_twin_is_zero(&product);
        fpo_twin_multiply(&product, &product, &a_scale.value);
        fpo_twin_multiply(&product, &product, &b_scale.value);
        if (note_special(sum, &product))
            fpo_twin_add(&group, &group, &product);
        else
            numbers = false;
    }
    if (!numbers)
        return;
    only_zeros = only_zeros || fpo_twin_is_zero(&a_scale.value) || fpo_twin_is_zero(&b_scale.value);
    if (step->group > 1)
        add_term(sum, &group.number, a_scale.exponent + b_scale.exponent,
                 only_zeros ? step->zero_group_enters : step->cancelled_group_enters);
    else
        add_term(sum, &group.number, exponent + a_scale.exponent + b_scale.exponent, step->zero_product_enters);
}

/* x to a multiple of 2^power. */
static void cut(fpo_twin_number *x, int power, fpo_rounding rounding)
{
    fpo_twin_number kept, rest, twice, one, unit;
    bool negative = x->sign < 0;
    fpo_twin_truncate(&kept, x, power);
    rest = kept;
    rest.sign = -rest.sign;
    fpo_twin_sum(&rest, x, &rest);
    if (rest.sign == 0)
        return;
    rest.sign = 1;
    fpo_twin_sum(&twice, &rest, &rest);
    fpo_twin_integer(&one, 1, power);
    int side = fpo_twin_compare(&twice, &one);
    bool odd = fpo_twin_bit(&kept, power), up = false;
    switch (rounding) {
    case FPO_NEAREST_EVEN: up = side > 0 || (side == 0 && odd); break;
    case FPO_NEAREST_AWAY: up = side >= 0; break;
    case FPO_NEAREST_TOWARD_ZERO: up = side > 0; break;
    case FPO_AWAY_FROM_ZERO: up = true; break;
    case FPO_UP: up = !negative; break;
    case FPO_DOWN: up = negative; break;
    case FPO_TOWARD_ZERO:
    case FPO_STOCHASTIC: break;
    }
    fpo_twin_integer(&unit, up ? (negative ? -1 : 1) : 0, power);
    fpo_twin_sum(x, &kept, &unit);
}

static void finish(twin_sum *sum, fpo_twin_value *acc)
{
    const fpo_step *step = sum->step;
    if (sum->nan || (sum->plus_infinity && sum->minus_infinity)) {
        fpo_twin_nan(acc);
        return;
    }
    fpo_twin_zero(acc);
    if (sum->plus_infinity || sum->minus_infinity) {
        acc->kind = FPO_TWIN_INFINITY;
        acc->negative = sum->minus_infinity;
        return;
    }

    int largest = step->e_zero;
    for (int i = 0; i < sum->count; i++) {
        if (sum->terms[i].enters && sum->terms[i].exponent > largest)
            largest = sum->terms[i].exponent;
    }
    fpo_twin_number *total = &acc->number;
    for (int i = 0; i < sum->count; i++) {
        cut(&sum->terms[i].number, largest - step->fraction_bits, step->term_rounding);
        fpo_twin_sum(total, total, &sum->terms[i].number);
    }
    if (total->sign == 0)
        return;
    int last = fpo_twin_leading_power(total) - step->result_bits;
    cut(total, last > step->result_quantum ? last : step->result_quantum, step->result_rounding);
    acc->negative = total->sign < 0; /* a sum that became zero is +0 */
    int beyond = step->accumulator == FPO_F16 ? 16 : 128;
    if (total->sign == 0 || fpo_twin_leading_power(total) < beyond)
        return;
    if (step->overflow == FPO_SATURATE) {
        fpo_twin_decode(step->accumulator, step->accumulator == FPO_F16 ? 0x7BFF : 0x7F7FFFFF, acc);
        return;
    }
    acc->kind = FPO_TWIN_INFINITY;
    fpo_twin_integer(&acc->number, 0, 0);
}

/* C, with its own exponent; a zero C never counts in the search. */
static void add_accumulator(twin_sum *sum, const fpo_twin_value *acc)
{
    twin_factor c;
    c.value = *acc;
    if (!note_special(sum, acc))
        return;
    set_exponent(sum->step, fpo_twin_smallest_exponent(sum->step->accumulator), &c);
    add_term(sum, &acc->number, c.exponent, false);
}

void fpo_twin_step(const fpo_twin_gemm *gemm, int64_t m, int64_t n, int64_t k0, fpo_twin_value *acc)
{
    const fpo_step *step = &gemm->spec->accumulation.step;
    static const int most_in_group = 128;
    twin_sum sum;
    fpo_twin_value c = *acc;

    if (step->c_late)
        fpo_twin_zero(acc);
    for (int chained = 0; chained < step->k / step->fused; chained++) {
        sum.step = step;
        sum.count = 0;
        sum.nan = sum.plus_infinity = sum.minus_infinity = false;
        add_accumulator(&sum, acc);
        for (int first = 0; first < step->fused; first += step->group) {
            int64_t elements[128];
            for (int i = 0; i < step->group && i < most_in_group; i++) {
                int place = first + i;
                elements[i] =
                    k0 + (step->interleaved ? place / 2 * 4 + chained * 2 + place % 2 : chained * step->fused + place);
            }
            add_group(&sum, gemm, m, n, elements);
        }
        finish(&sum, acc);
    }
    if (step->c_late) {
        fpo_twin_add(acc, acc, &c);
        fpo_twin_round(step->accumulator, acc);
    }
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Wide integers with a binary exponent. */
#include "wide.h"

#include <string.h>

/* Drops limbs that are zero at both ends. */
static void trim(fpo_wide *x)
{
    int32_t low = 0;
    while (x->length > 0 && x->limbs[x->length - 1] == 0)
        x->length--;
    while (low < x->length && x->limbs[low] == 0)
        low++;
    if (low > 0) {
        x->length -= low;
        x->exponent += 64 * low;
        memmove(x->limbs, x->limbs + low, (size_t)x->length * sizeof x->limbs[0]);
    }
    if (x->length == 0)
        x->negative = false;
}

void fpo_wide_set(fpo_wide *x, bool negative, fpo_u128 magnitude, int32_t exponent)
{
    x->exponent = exponent;
    x->length = 2;
    x->negative = negative;
    x->limbs[0] = (uint64_t)magnitude;
    x->limbs[1] = (uint64_t)(magnitude >> 64);
    trim(x);
}

void fpo_wide_set_value(fpo_wide *x, fpo_value value)
{
    fpo_wide_set(x, value.negative, value.kind == FPO_FINITE ? value.significand : 0, value.exponent);
}

void fpo_wide_copy(fpo_wide *to, const fpo_wide *from)
{
    to->exponent = from->exponent;
    to->length = from->length;
    to->negative = from->negative;
    memcpy(to->limbs, from->limbs, (size_t)from->length * sizeof from->limbs[0]);
}

void fpo_wide_scale(fpo_wide *x, bool negative, uint32_t significand, int32_t exponent)
{
    uint64_t carry = 0;
    for (int32_t i = 0; i < x->length; i++) {
        fpo_u128 product = (fpo_u128)x->limbs[i] * significand + carry;
        x->limbs[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry != 0)
        x->limbs[x->length++] = carry;
    x->exponent += exponent;
    x->negative ^= negative;
    trim(x);
}

void fpo_wide_multiply(fpo_wide *x, const fpo_wide *y)
{
    fpo_wide factor;
    fpo_wide_copy(&factor, x);
    x->length = factor.length + y->length;
    x->exponent += y->exponent;
    x->negative ^= y->negative;
    memset(x->limbs, 0, (size_t)x->length * sizeof x->limbs[0]);
    for (int32_t i = 0; i < y->length; i++) {
        uint64_t carry = 0;
        for (int32_t j = 0; j < factor.length; j++) {
            fpo_u128 product = (fpo_u128)factor.limbs[j] * y->limbs[i] + x->limbs[i + j] + carry;
            x->limbs[i + j] = (uint64_t)product;
            carry = (uint64_t)(product >> 64);
        }
        x->limbs[i + factor.length] = carry;
    }
    trim(x);
}

/* Limb `i` of the magnitude of x, counted from the bit with the exponent `base` (not above x's own). */
static uint64_t limb_at(const fpo_wide *x, int32_t base, int32_t i)
{
    int64_t bit = 64 * (int64_t)i - ((int64_t)x->exponent - base);
    int64_t low = bit >= 0 ? bit / 64 : -((63 - bit) / 64);
    int shift = (int)(bit - 64 * low);
    uint64_t limb = low >= 0 && low < x->length ? x->limbs[low] >> shift : 0;
    if (shift != 0 && low + 1 >= 0 && low + 1 < x->length)
        limb |= x->limbs[low + 1] << (64 - shift);
    return limb;
}

void fpo_wide_add(fpo_wide *x, const fpo_wide *y)
{
    if (y->length == 0)
        return;
    if (x->length == 0) {
        fpo_wide_copy(x, y);
        return;
    }

    fpo_wide augend;
    fpo_wide_copy(&augend, x);
    int32_t base = x->exponent < y->exponent ? x->exponent : y->exponent;
    int32_t x_top = x->exponent + 64 * x->length, y_top = y->exponent + 64 * y->length;
    int32_t length = ((x_top > y_top ? x_top : y_top) - base + 63) / 64;
    bool subtract = x->negative != y->negative;
    uint64_t carry = 0;

    for (int32_t i = 0; i < length; i++) {
        uint64_t a = limb_at(&augend, base, i), b = limb_at(y, base, i), sum;
        if (subtract) {
            sum = a - b - carry;
            carry = carry ? a <= b : a < b;
        } else {
            sum = a + b + carry;
            carry = carry ? sum <= a : sum < a;
        }
        x->limbs[i] = sum;
    }
    if (subtract && carry != 0) { /* |y| was the larger one: the two's complement of the difference */
        x->negative = !x->negative;
        for (int32_t i = 0; i < length; i++) {
            x->limbs[i] = ~x->limbs[i] + carry;
            carry = carry != 0 && x->limbs[i] == 0;
        }
    } else if (carry != 0) {
        x->limbs[length++] = carry;
    }
    x->length = length;
    x->exponent = base;
    trim(x);
}

fpo_value fpo_wide_value(const fpo_wide *x)
{
    fpo_value value = {0, 0, FPO_ZERO, false, false};
    if (x->length == 0)
        return value;

    int32_t top = x->length - 1;
    int shift = __builtin_clzll(x->limbs[top]);
    value.kind = FPO_FINITE;
    value.negative = x->negative;
    value.significand = x->limbs[top] << shift;
    value.exponent = x->exponent + 64 * top - shift;
    if (shift != 0 && top > 0) {
        value.significand |= x->limbs[top - 1] >> (64 - shift);
        value.sticky = x->limbs[top - 1] << shift != 0;
    } else if (top > 0) {
        value.sticky = x->limbs[top - 1] != 0;
    }
    value.sticky = value.sticky || top > 1; /* the lowest limb is not 0 */
    return value;
}

bool fpo_sum_open(fpo_sum *sum, int32_t lowest, int32_t highest)
{
    sum->exponent = lowest;
    sum->length = (highest - lowest + 63) / 64 + 2; /* a term of 128 bits may begin at the last bit in use */
    if (sum->length > FPO_SUM_LIMBS)
        return false;
    fpo_sum_reset(sum);
    return true;
}

void fpo_sum_reset(fpo_sum *sum)
{
    memset(sum->limbs[0], 0, (size_t)sum->length * sizeof sum->limbs[0][0]);
    memset(sum->limbs[1], 0, (size_t)sum->length * sizeof sum->limbs[1][0]);
}

void fpo_sum_add(fpo_sum *sum, bool negative, fpo_u128 magnitude, int32_t exponent)
{
    uint64_t *limbs = sum->limbs[negative];
    unsigned offset = (unsigned)(exponent - sum->exponent);
    unsigned i = offset / 64, shift = offset % 64;
    uint64_t high = shift != 0 ? (uint64_t)(magnitude >> (128 - shift)) : 0;

    magnitude <<= shift;
    fpo_u128 t = (fpo_u128)limbs[i] + (uint64_t)magnitude;
    limbs[i] = (uint64_t)t;
    t = (fpo_u128)limbs[i + 1] + (uint64_t)(magnitude >> 64) + (uint64_t)(t >> 64);
    limbs[i + 1] = (uint64_t)t;
    uint64_t carry = (uint64_t)(t >> 64);
    for (i += 2; high != 0 || carry != 0; i++) {
        t = (fpo_u128)limbs[i] + high + carry;
        limbs[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
        high = 0;
    }
}

void fpo_sum_total(const fpo_sum *sum, fpo_wide *total)
{
    int32_t top = sum->length;
    while (top > 0 && sum->limbs[0][top - 1] == sum->limbs[1][top - 1])
        top--;
    total->exponent = sum->exponent;
    total->length = top;
    total->negative = top > 0 && sum->limbs[0][top - 1] < sum->limbs[1][top - 1];

    const uint64_t *large = sum->limbs[total->negative], *small = sum->limbs[!total->negative];
    uint64_t borrow = 0;
    for (int32_t i = 0; i < top; i++) {
        total->limbs[i] = large[i] - small[i] - borrow;
        borrow = borrow ? large[i] <= small[i] : large[i] < small[i];
    }
    trim(total);
}

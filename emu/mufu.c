/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The multi-function unit of an H200. An argument's leading bits choose a segment, the 17 bits d after them are put
 * into c0 + c1 d + c2 d^2, and the sum is cut to 24 bits. Nothing is rounded: what the tables were fitted to shows in
 * every bit (tests/test_mufu.c). */
#include "mufu.h"

#include "step.h"

#include <math.h>

typedef struct segment {
    int32_t c0; /* in 2^-26 */
    int32_t c1; /* in 2^-40, for d in units of 1 */
    int32_t c2; /* in 2^-24, for d in units of 2^17 */
} segment;

#include "mufu_h200.inc"

static const uint32_t NOT_A_NUMBER = 0x7FFFFFFF, INFINITE = 0x7F800000, SIGN = 0x80000000, ONE = 0x3F800000;

/* d^2 in units of 2^18, by an array of products of two bits without its columns below 2^19: none of two of the lowest
 * ten bits is there, and of bit j above these none with a bit below 18 - j. */
static int64_t square(uint32_t d)
{
    uint64_t low = d & 0x3FF, sum = (uint64_t)d * d - low * low;
    for (int j = 10; j <= 16; j++)
        sum -= (uint64_t)(d >> j & 1) * (d & ((1u << (18 - j)) - 1)) << (j + 1);
    return (int64_t)(sum >> 18);
}

/* The quadratic in units of 2^-40. */
static int64_t quadratic(const segment *s, int bias, uint32_t d)
{
    return ((int64_t)s->c0 << 14) + bias + (int64_t)s->c1 * d + s->c2 * square(d);
}

/* value * 2^unit cut to 24 bits; a subnormal result is zero. */
static uint32_t cut(uint32_t sign, int64_t value, int unit)
{
    if (value == 0)
        return sign;
    int top = 63 - __builtin_clzll((uint64_t)value), field = top + unit + 127;
    uint64_t significand = top > 23 ? (uint64_t)value >> (top - 23) : (uint64_t)value << (23 - top);
    return field <= 0 ? sign : sign | (field >= 255 ? INFINITE : (uint32_t)field << 23 | (significand & 0x7FFFFF));
}

/* Arguments below are normal numbers: a sign, an exponent and 23 bits of mantissa. */

static uint32_t reciprocal(uint32_t sign, int exponent, uint32_t mantissa)
{
    return cut(sign, quadratic(&rcp_segments[mantissa >> 16], rcp_bias, (mantissa & 0xFFFF) << 1), -41 - exponent);
}

/* Powers of four are exact; half of the segments are for even exponents, half for odd ones. */
static uint32_t reciprocal_root(int exponent, uint32_t mantissa)
{
    int odd = exponent & 1, half = (exponent - odd) / 2;
    if (odd == 0 && mantissa == 0)
        return (uint32_t)(127 - half) << 23;
    return cut(0, quadratic(&rsqrt_segments[64 * odd + (int)(mantissa >> 17)], rsqrt_bias, mantissa & 0x1FFFF),
               -41 - half);
}

static uint32_t root(int exponent, uint32_t mantissa)
{
    int odd = exponent & 1, half = (exponent - odd) / 2;
    return cut(0, quadratic(&sqrt_segments[64 * odd + (int)(mantissa >> 17)], sqrt_bias, mantissa & 0x1FFFF),
               half - 40);
}

/* The argument is cut to a multiple of 2^-23. A negative one that is not whole becomes its one's complement. */
static uint32_t power(bool negative, int exponent, uint32_t mantissa)
{
    if (exponent >= 8)
        return negative ? 0 : INFINITE;
    int32_t fixed = (int32_t)(mantissa | 0x800000);
    fixed = exponent >= 0 ? fixed << exponent : exponent >= -24 ? fixed >> -exponent : 0;
    if (negative)
        fixed = (fixed & 0x7FFFFF) != 0 ? ~fixed : -fixed;
    uint32_t fraction = (uint32_t)fixed & 0x7FFFFF;
    int whole = (fixed - (int32_t)fraction) / 0x800000;
    return cut(0, quadratic(&ex2_segments[fraction >> 17], ex2_bias, fraction & 0x1FFFF), whole - 40);
}

/* The exponent and the logarithm of the mantissa are one number, of which 36 binary places are there; of a negative one
 * the one's complement. */
static uint32_t logarithm(int exponent, uint32_t mantissa)
{
    if (exponent == 0 && mantissa == 0)
        return 0;
    int64_t sum =
        quadratic(&lg2_segments[mantissa >> 17], lg2_bias, mantissa & 0x1FFFF) + exponent * (INT64_C(1) << 40);
    return cut(sum < 0 ? SIGN : 0, (sum < 0 ? ~sum : sum) & ~INT64_C(15), -40);
}

/* x / 2 pi, cut to 24 bits and then to 25 binary places, is two bits of quadrant and 23 of an angle. */
static uint32_t sine(uint32_t sign, int exponent, uint32_t mantissa, bool cosine)
{
    const uint64_t inverse = 0xA2F983; /* 1 / 2 pi in 2^-26 */
    uint64_t turns = (mantissa | 0x800000) * inverse;
    turns &= turns >> 47 != 0 ? ~UINT64_C(0xFFFFFF) : ~UINT64_C(0x7FFFFF);
    int shift = exponent - 23 - 26 + 25;
    uint32_t fixed = shift >= 25 || shift < -47 ? 0 : (uint32_t)(shift >= 0 ? turns << shift : turns >> -shift);
    uint32_t quadrant = (fixed >> 23) + cosine, angle = quadrant & 1 ? ~fixed : fixed;
    int64_t value = quadratic(&sin_segments[angle >> 17 & 63], sin_bias, angle & 0x1FFFF);
    sign = (cosine ? 0 : sign) ^ (quadrant & 2 ? SIGN : 0);
    return cut(sign, value, -40);
}

/* Small numbers are their own tanh. Above, each power of two has 2^n segments of its own, in units of its smallest
 * number or of 1/2. */
static uint32_t hyperbolic(uint32_t sign, int exponent, uint32_t mantissa)
{
    static const struct {
        uint8_t first, n;
    } rows[] = {{0, 0}, {1, 0}, {2, 0}, {3, 1}, {5, 1}, {7, 2}, {11, 2}, {15, 2}, {19, 3}, {27, 4}, {43, 3}};
    if (exponent < -8)
        return sign | (uint32_t)(exponent + 127) << 23 | mantissa;
    if (exponent >= 3)
        return sign | ONE;
    int first = rows[exponent + 8].first, n = rows[exponent + 8].n;
    int64_t value =
        quadratic(&tanh_segments[first + (int)(mantissa >> (23 - n))], tanh_bias, mantissa >> (6 - n) & 0x1FFFF);
    return cut(sign, value, (exponent < -1 ? exponent : -1) - 40);
}

static uint32_t of_infinity(fpo_mufu_function function, uint32_t sign)
{
    switch (function) {
    case FPO_MUFU_RCP: return sign;
    case FPO_MUFU_RSQRT: return sign ? NOT_A_NUMBER : 0;
    case FPO_MUFU_SQRT:
    case FPO_MUFU_LG2: return sign ? NOT_A_NUMBER : INFINITE;
    case FPO_MUFU_EX2: return sign ? 0 : INFINITE;
    case FPO_MUFU_TANH: return sign | ONE;
    default: return NOT_A_NUMBER;
    }
}

static uint32_t of_zero(fpo_mufu_function function, uint32_t sign)
{
    switch (function) {
    case FPO_MUFU_RCP:
    case FPO_MUFU_RSQRT: return sign | INFINITE;
    case FPO_MUFU_LG2: return SIGN | INFINITE;
    case FPO_MUFU_EX2:
    case FPO_MUFU_COS: return ONE;
    default: return sign;
    }
}

float fpo_mufu(fpo_mufu_function function, float x)
{
    uint32_t bits = fpo_bits_of_float(x), sign = bits & SIGN, mantissa = bits & 0x7FFFFF, result;
    int exponent = (int)(bits >> 23 & 0xFF) - 127;
    if (exponent == 128)
        return fpo_float_of_bits(mantissa != 0 ? NOT_A_NUMBER : of_infinity(function, sign));
    if (exponent == -127)
        return function == FPO_MUFU_TANH ? x : fpo_float_of_bits(of_zero(function, sign));
    switch (function) {
    case FPO_MUFU_RCP: result = reciprocal(sign, exponent, mantissa); break;
    case FPO_MUFU_RSQRT: result = sign ? NOT_A_NUMBER : reciprocal_root(exponent, mantissa); break;
    case FPO_MUFU_SQRT: result = sign ? NOT_A_NUMBER : root(exponent, mantissa); break;
    case FPO_MUFU_EX2: result = power(sign != 0, exponent, mantissa); break;
    case FPO_MUFU_LG2: result = sign ? NOT_A_NUMBER : logarithm(exponent, mantissa); break;
    case FPO_MUFU_TANH: result = hyperbolic(sign, exponent, mantissa); break;
    default: result = sine(sign, exponent, mantissa, function == FPO_MUFU_COS); break;
    }
    return fpo_float_of_bits(result);
}

/* The instructions around the unit: what lies beyond its range is scaled by powers of two. An H200's results for all
 * 2^32 arguments are these (tests/data/h200). */
float fpo_approx(fpo_mufu_function function, float x, bool ftz)
{
    float magnitude = fabsf(x), scale, half;
    bool tiny = magnitude < 0x1p-126f;
    if (ftz)
        return fpo_mufu(function, x);
    switch (function) {
    case FPO_MUFU_RCP:
        scale = tiny ? 0x1p24f : magnitude > 0x1p126f ? 0.25f : 1;
        return fpo_canonical(scale * fpo_mufu(function, x * scale));
    case FPO_MUFU_EX2:
        if (!(x < -126))
            break;
        half = fpo_mufu(function, x * 0.5f);
        return half * half;
    case FPO_MUFU_RSQRT:
        if (tiny)
            return fpo_canonical(fpo_mufu(function, x * 0x1p24f) * 0x1p12f);
        break;
    case FPO_MUFU_SQRT:
        if (tiny)
            return fpo_canonical(fpo_mufu(function, x * 0x1p24f) * 0x1p-12f);
        break;
    case FPO_MUFU_LG2:
        if (tiny)
            return fpo_canonical(fpo_mufu(function, x * 0x1p24f) - 24);
        break;
    default: break;
    }
    return fpo_mufu(function, x);
}

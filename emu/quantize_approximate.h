/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Approximations of the hardware, and functions of libraries whose results are rounded. Part of quantize_loops.h. */
#ifndef FP4ORACLE_EMU_QUANTIZE_APPROXIMATE_H
#define FP4ORACLE_EMU_QUANTIZE_APPROXIMATE_H

#include "quantize_functions.h"

#include <math.h>

/* fpo_mufu(FPO_MUFU_RCP) and fpo_div_approx again, for many values; 16 distances are in a word of the table. */
FPO_INLINE float approximate_one(const uint32_t *words, float a)
{
    uint32_t bits = fpo_bits_of(a), sign = bits & 0x80000000u, magnitude = bits & 0x7FFFFFFFu,
             mantissa = bits & 0x7FFFFFu;
    int32_t exponent = (int32_t)(magnitude >> 23);
    uint32_t result = fpo_bits_of(1.0f / fpo_float_of(127u << 23 | mantissa));
    result += (words[mantissa >> 4] >> ((mantissa & 15) * 2) & 3u) - 1;
    int32_t field = (int32_t)(result >> 23) + 127 - exponent;
    result = field <= 0 ? 0 : (uint32_t)field << 23 | (result & 0x7FFFFFu);
    result = exponent == 0 ? 0x7F800000u : magnitude == 0x7F800000u ? 0 : result;
    return fpo_float_of(magnitude > 0x7F800000u ? 0x7FFFFFFFu : sign | result);
}

static void approximate(const float *restrict a, float *restrict to, int count)
{
    const uint32_t *words = fpo_rcp_words;
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] = approximate_one(words, a[i]);
}

/* What a divisor and its dividend are multiplied by, so that the reciprocal is a normal number. */
FPO_INLINE float divisor_scale(float b)
{
    float magnitude = absolute(b);
    return magnitude > 0x1p126f ? 0.25f : magnitude < 0x1p-126f ? 0x1p24f : 1.0f;
}

static void divide_full(const float *restrict a, const float *restrict b, float *restrict to, int count)
{
    const uint32_t *words = fpo_rcp_words;
#pragma omp simd
    for (int i = 0; i < count; i++) {
        float scale = divisor_scale(b[i]);
        float quotient = approximate_one(words, b[i] * scale) * (a[i] * scale);
        to[i] = quotient == quotient ? quotient : fpo_float_of(0x7FFFFFFFu);
    }
}

/* Whole exponents at once, the others by the library. */
static void powers_of_two(const float *restrict a, float *restrict to, int count)
{
    int others = 0;
#pragma omp simd reduction(| : others)
    for (int i = 0; i < count; i++) {
        float inside = a[i] >= -126 ? a[i] <= 127 ? a[i] : 127 : -126;
        int32_t whole = (int32_t)inside;
        others |= (float)whole != a[i];
        to[i] = fpo_float_of((uint32_t)(whole + 127) << 23);
    }
    for (int i = 0; others && i < count; i++)
        if (!(a[i] >= -126 && a[i] <= 127 && a[i] == rintf(a[i])))
            to[i] = (float)exp2((double)a[i]);
}

/* log2 of a normal number by the series of its mantissa's inverse hyperbolic tangent, to 2^-48; where what that leaves
 * open concerns the rounding to f32, and of all other numbers, NaN stands for a question. */
FPO_INLINE float logarithm_or_nan(float a)
{
    uint32_t bits = fpo_bits_of(a), mantissa = bits & 0x7FFFFFu;
    int32_t up = mantissa > 0x3504F3u, exponent = (int32_t)(bits >> 23) - 127 + up;
    double one = (double)fpo_float_of(mantissa | (uint32_t)(127 - up) << 23);
    double s = (one - 1) / (one + 1), q = s * s, sum = 1.0 / 17;
    sum = sum * q + 1.0 / 15;
    sum = sum * q + 1.0 / 13;
    sum = sum * q + 1.0 / 11;
    sum = sum * q + 1.0 / 9;
    sum = sum * q + 1.0 / 7;
    sum = sum * q + 1.0 / 5;
    sum = sum * q + 1.0 / 3;
    sum = sum * q + 1;
    double y = (double)exponent + s * sum * 2.8853900817779268, open = fabs(y) * 0x1p-41;
    float low = (float)(y - open), high = (float)(y + open);
    bool normal = bits - 0x800000u < 0x7F000000u;
    return low == high && normal ? low : fpo_float_of(0x7FFFFFFFu);
}

static void logarithms(const float *restrict a, float *restrict to, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] = logarithm_or_nan(a[i]);
    for (int i = 0; i < count; i++)
        if (to[i] != to[i])
            to[i] = (float)log2((double)a[i]);
}

/* log2 of a normal number to the nearest integer, where its mantissa is not beside that of the square root of two:
 * there, and for other numbers, NaN stands for a question. */
FPO_INLINE float near_logarithm_or_nan(float a)
{
    uint32_t bits = fpo_bits_of(a), mantissa = bits & 0x7FFFFFu, root = 0x3504F3;
    int32_t exponent = (int32_t)(bits >> 23) - 127 + (mantissa > root ? 1 : 0);
    bool known = bits - 0x800000u < 0x7F000000u && mantissa + 64 - root > 128;
    uint32_t sign = bits < 0x3F800000u ? 0x80000000u : 0; /* of a logarithm that rounds to 0, too */
    uint32_t near = fpo_bits_of((float)exponent) | sign;
    return fpo_float_of(known ? near : 0x7FFFFFFFu);
}

static void near_logarithms(const fpo_recipe_step *step, const float *restrict a, float *restrict to, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] = near_logarithm_or_nan(a[i]);
    for (int i = 0; i < count; i++)
        if (to[i] != to[i])
            to[i] = (float)fpo_recipe_apply(step, (double)a[i], 0, 0);
}

/* divide_full of blocks: a divisor's reciprocal is taken once. */
static void divide_full_blocks(const float *restrict a, const float *restrict b, int64_t block, float *restrict to,
                               int64_t count)
{
    for (int64_t at = 0; at < count; at += block, b++) {
        int64_t end = count - at < block ? count : at + block;
        float scale = divisor_scale(*b);
        float inverse = approximate_one(fpo_rcp_words, *b * scale);
#pragma omp simd
        for (int64_t i = at; i < end; i++) {
            float quotient = inverse * (a[i] * scale);
            to[i] = quotient == quotient ? quotient : fpo_float_of(0x7FFFFFFFu);
        }
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Functions of a recipe on one value, which a compiler makes loops over vectors of: recipe_eval.c has them
 * independently. Part of quantize_loops.h. */
#ifndef FP4ORACLE_EMU_QUANTIZE_FUNCTIONS_H
#define FP4ORACLE_EMU_QUANTIZE_FUNCTIONS_H

#include "quantize_kernels.h"
#include "quantize_round.h"

#include <math.h>

#define FPO_INLINE static inline __attribute__((always_inline))

typedef float unary(float a);
typedef float binary(float a, float b);

FPO_INLINE void map(unary *f, const float *restrict a, float *restrict to, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] = f(a[i]);
}

FPO_INLINE void map2(binary *f, const float *restrict a, const float *restrict b, float *restrict to, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] = f(a[i], b[i]);
}

FPO_INLINE void map_value(binary *f, const float *restrict a, float b, float *restrict to, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        to[i] = f(a[i], b);
}

FPO_INLINE int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

FPO_INLINE int32_t magnitude_of(float x)
{
    return (int32_t)(fpo_bits_of(x) & 0x7FFFFFFFu);
}

static float copy(float a)
{
    return a;
}

static float add(float a, float b)
{
    return a + b;
}

static float subtract(float a, float b)
{
    return a - b;
}

static float multiply(float a, float b)
{
    return a * b;
}

static float divide(float a, float b)
{
    return a / b;
}

static float less(float a, float b)
{
    return a < b ? 1.0f : 0.0f;
}

static float less_equal(float a, float b)
{
    return a <= b ? 1.0f : 0.0f;
}

static float greater(float a, float b)
{
    return less(b, a);
}

static float greater_equal(float a, float b)
{
    return less_equal(b, a);
}

static float equal(float a, float b)
{
    return a == b ? 1.0f : 0.0f;
}

static float different(float a, float b)
{
    return a == b ? 0.0f : 1.0f;
}

static float negate(float a)
{
    return fpo_float_of(fpo_bits_of(a) ^ 0x80000000u);
}

static float absolute(float a)
{
    return fpo_float_of(fpo_bits_of(a) & 0x7FFFFFFFu);
}

static float reciprocal(float a)
{
    return 1.0f / a;
}

/* The second where they are equal, as recipe_eval.c has it: it shows in the sign of a zero. A NaN wins. */
static float minimum(float a, float b)
{
    float least = a < b ? a : b;
    return a == a ? least : a;
}

static float maximum(float a, float b)
{
    float most = a > b ? a : b;
    return a == a ? most : a;
}

/* A NaN loses. */
static float minimum_number(float a, float b)
{
    float least = a < b ? a : b;
    return b == b ? least : a;
}

static float maximum_number(float a, float b)
{
    float most = a > b ? a : b;
    return b == b ? most : a;
}

static float field(float a)
{
    return (float)(int32_t)(fpo_bits_of(a) >> 23 & 0xFF);
}

static float mantissa(float a)
{
    return (float)(int32_t)(fpo_bits_of(a) & 0x7FFFFF);
}

static float add_bits(float a, float b)
{
    bool fits = b < 0x1p31f && b > -0x1p31f;
    return fpo_float_of(fpo_bits_of(a) + (fits ? (uint32_t)(int32_t)b : 0));
}

static float with_sign(float a, float b)
{
    return fpo_float_of((fpo_bits_of(a) & 0x7FFFFFFFu) | (b != 0 ? 0x80000000u : 0));
}

static float flush(float a)
{
    uint32_t bits = fpo_bits_of(a);
    return fpo_float_of((bits & 0x7F800000u) == 0 ? bits & 0x80000000u : bits);
}

static float multiply_flushing(float a, float b)
{
    return flush(flush(a) * flush(b));
}

static float add_flushing(float a, float b)
{
    return flush(flush(a) + flush(b));
}

static float subtract_flushing(float a, float b)
{
    return flush(flush(a) - flush(b));
}

static float divide_flushing(float a, float b)
{
    return flush(flush(a) / flush(b));
}

/* Of flushed numbers the smaller is flushed, too. */
static float least_flushing(float a, float b)
{
    return minimum(flush(a), flush(b));
}

static float most_flushing(float a, float b)
{
    return maximum(flush(a), flush(b));
}

static float minimum_flushing(float a, float b)
{
    return minimum_number(flush(a), flush(b));
}

static float maximum_flushing(float a, float b)
{
    return maximum_number(flush(a), flush(b));
}

/* The scale 2^(code - 127). */
static float power(float code)
{
    int32_t c = code > 0 ? (int32_t)(code < 255 ? code : 255) : 0;
    uint32_t bits = c == 0 ? 0x400000u : (uint32_t)c << 23;
    return code < 255 ? fpo_float_of(bits) : fpo_float_of(0x7FFFFFFFu);
}

/* e2m1 that goes on beyond 6, and the nibble that a packer makes of it: see recipe_eval.c. */
static float grid(float a)
{
    /* Adding 2^23 steps rounds to whole steps, to nearest even. What is not below that is a multiple already. */
    float magnitude = absolute(a);
    float steps = magnitude < 2 ? 0x1p22f : magnitude < 4 ? 0x1p23f : 0x1p24f;
    float rounded = magnitude < steps ? (magnitude + steps) - steps : magnitude;
    float result = magnitude < INFINITY ? rounded : fpo_float_of(0x7FFFFFFFu);
    return a < 0 ? -result : result;
}

static uint32_t wrap_code(float a)
{
    uint32_t bits = fpo_bits_of(a), exponent = (bits >> 23 & 0xFF) - 126, sign = bits >> 31 << 3;
    uint32_t code = exponent == 0 ? 1 : exponent << 1 | (bits >> 22 & 1);
    code = a == 0 ? 0 : code & 15;
    return a == a ? code | sign : 11; /* -1.5 */
}

static float wrap(float a)
{
    uint32_t code = wrap_code(a), magnitude = code & 7;
    uint32_t value = magnitude > 1 ? (magnitude + 252) << 22 : magnitude == 1 ? 0x3F000000u : 0;
    return fpo_float_of(value | (code & 8) << 28);
}

/* The ue4m3 scale with this code. */
static float decode_ue4m3(float code)
{
    int32_t c = (int32_t)(code > 0 ? code < 127 ? code : 127 : 0);
    float small = (float)c * 0x1p-9f, normal = fpo_float_of(((uint32_t)c << 20) + (120u << 23));
    float value = c < 8 ? small : normal;
    return c < 127 ? value : fpo_float_of(0x7FFFFFFFu);
}

static float round_up(float a)
{
    return ceilf(a);
}

static float round_down(float a)
{
    return floorf(a);
}

static float round_to_even(float a)
{
    return rintf(a);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Rounding of small formats, and the exact operations before it.
 *
 * A sum of two doubles is rounded to odd (odd_add, odd_fma): the last bit of the double is sticky. With 53 bits against
 * at most 24 of the target, a second rounding from it equals one rounding of the exact value, in every mode. */
#ifndef FP4ORACLE_KERNELS_PTX_LANE_ROUND_H
#define FP4ORACLE_KERNELS_PTX_LANE_ROUND_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum lane_rounding { NEAREST, ZERO, DOWN, UP };

static inline uint32_t f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float bits_f32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t f64_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double bits_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* sum is x + y rounded to nearest: make it round-to-odd by the sign of its exact error (Knuth's TwoSum). */
static inline double odd_add(double x, double y)
{
    double sum = x + y;
    if (!isfinite(sum))
        return sum;
    double t = sum - x;
    double error = (x - (sum - t)) + (y - t);
    if (error == 0)
        return sum;
    uint64_t bits = f64_bits(sum);
    if (!(bits & 1))
        bits += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
    return bits_f64(bits);
}

static inline double odd_sub(double x, double y)
{
    return odd_add(x, -y);
}

/* Exact for factors of at most 26 bits. */
static inline double odd_mul(double x, double y)
{
    return x * y;
}

static inline double odd_fma(double x, double y, double z)
{
    return odd_add(x * y, z);
}

typedef struct lane_format {
    int exponent_bits, mantissa_bits, bias;
    bool infinity; /* exponent all ones is infinity or NaN */
    bool nan;      /* without infinity: all ones is NaN */
} lane_format;

static const lane_format F16 = {5, 10, 15, true, true};
static const lane_format BF16 = {8, 7, 127, true, true};
static const lane_format E5M2 = {5, 2, 15, true, true};
static const lane_format E4M3 = {4, 3, 7, false, true};
static const lane_format E3M2 = {3, 2, 3, false, false};
static const lane_format E2M3 = {2, 3, 1, false, false};
static const lane_format E2M1 = {2, 1, 1, false, false};

static inline int format_bits(const lane_format *f)
{
    return 1 + f->exponent_bits + f->mantissa_bits;
}

static inline uint32_t format_largest(const lane_format *f)
{
    uint32_t ones = (1u << (f->exponent_bits + f->mantissa_bits)) - 1;
    if (f->infinity)
        return ones - (1u << f->mantissa_bits);
    return f->nan ? ones - 1 : ones;
}

/* Bits beyond the format's width are ignored. */
static inline double decode(const lane_format *f, uint32_t code)
{
    int exponent = (int)(code >> f->mantissa_bits) & ((1 << f->exponent_bits) - 1);
    uint32_t mantissa = code & ((1u << f->mantissa_bits) - 1);
    uint32_t magnitude = code & ((1u << (format_bits(f) - 1)) - 1);
    double x;
    if (f->nan && magnitude > format_largest(f))
        x = f->infinity && mantissa == 0 ? (double)INFINITY : (double)NAN;
    else if (exponent != 0)
        x = ldexp((double)(mantissa | 1u << f->mantissa_bits), exponent - f->bias - f->mantissa_bits);
    else
        x = ldexp((double)mantissa, 1 - f->bias - f->mantissa_bits);
    return code >> (format_bits(f) - 1) & 1 ? -x : x;
}

/* The magnitude |x| in units of 2^quantum, rounded to an integer; `negative` is the sign of x. */
static inline double round_units(double magnitude, int quantum, enum lane_rounding rounding, bool negative)
{
    double units = ldexp(magnitude, -quantum);
    switch (rounding) {
    case NEAREST: return rint(units);
    case DOWN: return negative ? ceil(units) : floor(units);
    case UP: return negative ? floor(units) : ceil(units);
    default: return floor(units);
    }
}

/* The one place where a number becomes a code of a small format. NaN: positive with all ones; in a format without NaN
 * the largest positive number. `saturate`: overflow and infinity become the largest number (cvt.satfinite). */
static inline uint32_t encode(const lane_format *f, double x, enum lane_rounding rounding, bool saturate)
{
    uint32_t ones = (1u << (format_bits(f) - 1)) - 1, largest = format_largest(f);
    if (isnan(x))
        return f->nan ? ones : largest;
    bool negative = signbit(x);
    uint32_t sign = negative ? 1u << (format_bits(f) - 1) : 0;
    double magnitude = fabs(x);
    if (isinf(x))
        return sign | (saturate || !f->infinity ? largest : largest + 1);
    if (magnitude == 0)
        return sign;
    int exponent;
    frexp(magnitude, &exponent);
    exponent = exponent - 1 < 1 - f->bias ? 1 - f->bias : exponent - 1;
    double units = round_units(magnitude, exponent - f->mantissa_bits, rounding, negative);
    /* A significand of 2^(mantissa_bits + 1) carries into the exponent field by itself. */
    double code = units + ldexp((double)(exponent + f->bias - 1), f->mantissa_bits);
    if (code > largest)
        return sign | (saturate || !f->infinity || rounding == ZERO ? largest : largest + 1);
    return sign | (uint32_t)code;
}

static inline uint32_t encode_rn(const lane_format *f, double x)
{
    return encode(f, x, NEAREST, false);
}

/* .scaled::n2::ue8m0: times 2^(code - 127), exact; code 255 is NaN. */
static inline double scaled(double x, uint32_t code)
{
    return (code & 0xFF) == 0xFF ? (double)NAN : ldexp(x, (int)(code & 0xFF) - 127);
}

/* .relu: negative numbers become +0, NaN stays. 16-bit codes. */
static inline uint32_t relu_code(uint32_t code, bool relu)
{
    return relu && code & 0x8000 ? 0 : code;
}

static inline uint32_t relu_small(uint32_t code, const lane_format *f, bool relu)
{
    return relu && code >> (format_bits(f) - 1) & 1 ? 0 : code;
}

/* ue8m0 of f32 bits: the exponent field, the sign ignored; `up` rounds the magnitude up (facts.md 1.2, 1.3). */
static inline uint32_t ue8m0_code(uint32_t bits, bool up, bool saturate)
{
    uint32_t magnitude = bits & 0x7FFFFFFF, exponent = magnitude >> 23, mantissa = magnitude & 0x7FFFFF;
    if (magnitude > 0x7F800000)
        return 0xFF;
    if (magnitude == 0x7F800000)
        return saturate ? 0xFE : 0xFF;
    /* 2^-127 is the smallest number: a subnormal above it rounds up to 2^-126, anything below it is code 0. */
    if (up && (exponent != 0 ? mantissa != 0 : mantissa > 0x400000))
        exponent++;
    return exponent == 0xFF && saturate ? 0xFE : exponent;
}

static inline uint32_t ue8m0_bf16(uint32_t code)
{
    code &= 0xFF;
    return code == 0xFF ? 0x7FFF : code == 0 ? 0x0040 : code << 7;
}

#endif

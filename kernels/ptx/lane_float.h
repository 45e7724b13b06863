/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* f32 and f64 as measured on an H200 (kernels.md 5.2; tests/vgpu/record_rows.c). f32: every NaN result is 0x7FFFFFFF;
 * -0 < +0 in min and max; .ftz flushes inputs, and results that are tiny after rounding to 24 bits with an unbounded
 * exponent; signs are kept. */
#ifndef FP4ORACLE_KERNELS_PTX_LANE_FLOAT_H
#define FP4ORACLE_KERNELS_PTX_LANE_FLOAT_H

#include "lane_round.h"

static inline float canonical_f32(float x)
{
    return x != x ? bits_f32(0x7FFFFFFF) : x;
}

/* f64 keeps NaNs, made quiet, and has a preference among them (measured on an H200: add, sub and mul take b, then a;
 * fma takes b, c, a; div takes a, then b). A NaN that an operation makes is 0xFFF8000000000000. */
static inline double quiet_f64(double x)
{
    return bits_f64(f64_bits(x) | UINT64_C(1) << 51);
}

static inline double prefer_f64(double first, double second, double third, double result)
{
    if (first != first)
        return quiet_f64(first);
    if (second != second)
        return quiet_f64(second);
    if (third != third)
        return quiet_f64(third);
    return result != result ? bits_f64(0xFFF8000000000000) : result;
}

/* neg and abs leave a NaN's sign. */
static inline uint64_t sign_f64(uint64_t a, bool negate)
{
    double x = bits_f64(a);
    return x != x ? a | UINT64_C(1) << 51 : negate ? a ^ UINT64_C(1) << 63 : a & ~(UINT64_C(1) << 63);
}

static inline float flush_f32(float x, bool ftz)
{
    uint32_t bits = f32_bits(x);
    return ftz && (bits & 0x7F800000) == 0 ? bits_f32(bits & 0x80000000) : x;
}

/* .sat: [+0, 1], NaN becomes +0. */
static inline float clamp_f32(float x)
{
    return !(x > 0) ? 0.0f : x > 1 ? 1.0f : x;
}

/* A double that is exact or rounded to odd -> f32. */
static inline float round_f32(double x, enum lane_rounding rounding, bool ftz)
{
    if (isnan(x))
        return bits_f32(0x7FFFFFFF);
    bool negative = signbit(x);
    double magnitude = fabs(x), rounded = magnitude;
    if (isfinite(x) && magnitude != 0) {
        int exponent;
        frexp(magnitude, &exponent);
        int quantum = exponent - 24;
        if (ftz && ldexp(round_units(magnitude, quantum, rounding, negative), quantum) < 0x1p-126)
            return negative ? -0.0f : 0.0f;
        if (quantum < -149)
            quantum = -149;
        rounded = ldexp(round_units(magnitude, quantum, rounding, negative), quantum);
        if (rounded >= 0x1p128) {
            bool away = rounding == NEAREST || (rounding == UP && !negative) || (rounding == DOWN && negative);
            rounded = away ? (double)INFINITY : 0x1.fffffep127;
        }
    }
    return negative ? -(float)rounded : (float)rounded;
}

static inline float finish_f32(float x, bool sat)
{
    return sat ? clamp_f32(x) : canonical_f32(x);
}

/* An exact zero sum of opposite terms is +0, and -0 when rounding down. */
static inline float add_f32(float a, float b, enum lane_rounding rounding, bool ftz, bool sat)
{
    if (rounding == NEAREST && !ftz)
        return finish_f32(a + b, sat);
    a = flush_f32(a, ftz);
    b = flush_f32(b, ftz);
    double sum = odd_add(a, b);
    if (sum == 0 && rounding == DOWN && !(a == 0 && b == 0 && !signbit(a) && !signbit(b)))
        return finish_f32(-0.0f, sat);
    return finish_f32(round_f32(sum, rounding, ftz), sat);
}

static inline float mul_f32(float a, float b, enum lane_rounding rounding, bool ftz, bool sat)
{
    if (rounding == NEAREST && !ftz)
        return finish_f32(a * b, sat);
    double product = (double)flush_f32(a, ftz) * (double)flush_f32(b, ftz);
    return finish_f32(round_f32(product, rounding, ftz), sat);
}

static inline float fma_f32(float a, float b, float c, enum lane_rounding rounding, bool ftz, bool sat)
{
    if (rounding == NEAREST && !ftz) {
        double product = (double)a * (double)b;
        return finish_f32((float)odd_add(product, c), sat);
    }
    double product = (double)flush_f32(a, ftz) * (double)flush_f32(b, ftz);
    c = flush_f32(c, ftz);
    double sum = odd_add(product, c);
    if (sum == 0 && rounding == DOWN && !(product == 0 && c == 0 && !signbit(product) && !signbit(c)))
        return finish_f32(-0.0f, sat);
    return finish_f32(round_f32(sum, rounding, ftz), sat);
}

/* The quotient of two 24-bit numbers, and a square root, rounded to 53 bits first round to the same f32. */
static inline float div_f32(float a, float b, bool ftz)
{
    if (!ftz)
        return canonical_f32(a / b);
    return round_f32((double)flush_f32(a, ftz) / (double)flush_f32(b, ftz), NEAREST, ftz);
}

static inline float sqrt_f32(float a, bool ftz)
{
    return canonical_f32(sqrtf(flush_f32(a, ftz)));
}

static inline float min_f32(float a, float b, bool ftz, bool nan)
{
    a = flush_f32(a, ftz);
    b = flush_f32(b, ftz);
    if (a != a || b != b)
        return nan ? bits_f32(0x7FFFFFFF) : canonical_f32(a != a ? b : a);
    if (a == b)
        return bits_f32(f32_bits(a) | f32_bits(b));
    return a < b ? a : b;
}

static inline float max_f32(float a, float b, bool ftz, bool nan)
{
    a = flush_f32(a, ftz);
    b = flush_f32(b, ftz);
    if (a != a || b != b)
        return nan ? bits_f32(0x7FFFFFFF) : canonical_f32(a != a ? b : a);
    if (a == b)
        return bits_f32(f32_bits(a) & f32_bits(b));
    return a > b ? a : b;
}

/* An operand that counts without its sign. */
static inline float size_f32(float a, bool without_sign)
{
    return without_sign ? bits_f32(f32_bits(a) & 0x7FFFFFFF) : a;
}

/* min.xorsign.abs: the signs of both, of a NaN as well, unless the result is one. */
static inline float xorsign_f32(float magnitude, float a, float b)
{
    if (magnitude != magnitude)
        return magnitude;
    return bits_f32(f32_bits(magnitude) | ((f32_bits(a) ^ f32_bits(b)) & 0x80000000));
}

/* neg and abs. */
static inline float sign_f32(float a, bool negate, bool ftz)
{
    a = flush_f32(a, ftz);
    if (a != a)
        return bits_f32(0x7FFFFFFF);
    return bits_f32(negate ? f32_bits(a) ^ 0x80000000 : f32_bits(a) & 0x7FFFFFFF);
}

static inline float low_f32(uint64_t pair)
{
    return bits_f32((uint32_t)pair);
}

static inline float high_f32(uint64_t pair)
{
    return bits_f32((uint32_t)(pair >> 32));
}

static inline uint64_t pair_f32(float low, float high)
{
    return f32_bits(low) | (uint64_t)f32_bits(high) << 32;
}

/* bits is the value's 64-bit two's complement. */
static inline float integer_f32(bool negative, uint64_t bits, enum lane_rounding rounding)
{
    uint64_t magnitude = negative ? 0 - bits : bits;
    /* The low bits of a large number become sticky, so that the double is rounded to odd. */
    if (magnitude >> 53)
        magnitude = (magnitude & ~(uint64_t)0x7FF) | ((magnitude & 0x7FF) != 0 ? 0x800 : 0);
    double x = (double)magnitude;
    return round_f32(negative ? -x : x, rounding, false);
}

/* Saturates; NaN is 0, and 2^63 for 64 bits (both signs). */
static inline int64_t f32_integer(float x, enum lane_rounding rounding, bool is_signed, int bits)
{
    if (x != x)
        return bits == 64 ? INT64_MIN : 0;
    double magnitude = round_units(fabs((double)x), 0, rounding, x < 0);
    double y = x < 0 ? -magnitude : magnitude;
    double low = is_signed ? -ldexp(1, bits - 1) : 0, beyond = ldexp(1, is_signed ? bits - 1 : bits);
    if (y <= low)
        return is_signed ? (int64_t)(~(uint64_t)0 << (bits - 1)) : 0;
    if (y >= beyond)
        return is_signed ? (int64_t)(~(uint64_t)0 >> (65 - bits)) : (int64_t)(~(uint64_t)0 >> (64 - bits));
    return is_signed ? (int64_t)y : (int64_t)(uint64_t)y;
}

static inline float integral_f32(float x, enum lane_rounding rounding)
{
    if (x != x)
        return bits_f32(0x7FFFFFFF);
    if (isinf(x))
        return x;
    double magnitude = round_units(fabs((double)x), 0, rounding, signbit(x));
    return signbit(x) ? -(float)magnitude : (float)magnitude;
}

/* cvt.rna.tf32 keeps a NaN's upper bits; cvt.rn.tf32 makes it 0x7FFFE000. */
static inline uint32_t tf32_away(float a)
{
    uint32_t bits = f32_bits(a);
    return (bits & 0x7F800000) == 0x7F800000 ? bits & ~0x1FFFu : (bits + 0x1000) & ~0x1FFFu;
}

static inline uint32_t tf32_nearest(float a)
{
    uint32_t bits = f32_bits(a);
    if (a != a)
        return 0x7FFFE000;
    return isinf(a) ? bits : (bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu;
}

/* Comparisons; f16 and bf16 come as doubles, exactly. */
static inline bool is_eq(double a, double b)
{
    return a == b;
}
static inline bool is_ne(double a, double b)
{
    return a < b || a > b;
}
static inline bool is_lt(double a, double b)
{
    return a < b;
}
static inline bool is_le(double a, double b)
{
    return a <= b;
}
static inline bool is_gt(double a, double b)
{
    return a > b;
}
static inline bool is_ge(double a, double b)
{
    return a >= b;
}
static inline bool is_equ(double a, double b)
{
    return !(a < b || a > b);
}
static inline bool is_neu(double a, double b)
{
    return !(a == b);
}
static inline bool is_ltu(double a, double b)
{
    return !(a >= b);
}
static inline bool is_leu(double a, double b)
{
    return !(a > b);
}
static inline bool is_gtu(double a, double b)
{
    return !(a <= b);
}
static inline bool is_geu(double a, double b)
{
    return !(a < b);
}
static inline bool is_num(double a, double b)
{
    return a == a && b == b;
}
static inline bool is_nan(double a, double b)
{
    return a != a || b != b;
}

static inline bool test_finite(uint32_t bits)
{
    return (bits & 0x7F800000) != 0x7F800000;
}
static inline bool test_infinite(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) == 0x7F800000;
}
static inline bool test_number(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) <= 0x7F800000;
}
static inline bool test_notanumber(uint32_t bits)
{
    return !test_number(bits);
}
/* Zero counts as normal. */
static inline bool test_normal(uint32_t bits)
{
    return test_finite(bits) && ((bits & 0x7F800000) != 0 || (bits & 0x7FFFFF) == 0);
}
static inline bool test_subnormal(uint32_t bits)
{
    return (bits & 0x7F800000) == 0 && (bits & 0x7FFFFF) != 0;
}

/* f16 and bf16: sign operations and min, max, on codes. NaN results are the canonical 0x7FFF, as for f32. */
#define f16_format F16
#define f16x2_format F16
#define bf16_format BF16
#define bf16x2_format BF16

static inline uint32_t negate_half(uint32_t code, const lane_format *f)
{
    return isnan(decode(f, code)) ? 0x7FFF : (code ^ 0x8000) & 0xFFFF;
}

static inline uint32_t absolute_half(uint32_t code, const lane_format *f)
{
    return isnan(decode(f, code)) ? 0x7FFF : code & 0x7FFF;
}

static inline uint32_t extreme_half(uint32_t a, uint32_t b, const lane_format *f, bool larger, bool nan)
{
    double x = decode(f, a), y = decode(f, b);
    if (isnan(x) || isnan(y))
        return nan || (isnan(x) && isnan(y)) ? 0x7FFF : (isnan(x) ? b : a) & 0xFFFF;
    if (x == y)
        return (larger ? a & b : a | b) & 0xFFFF;
    return ((x > y) == larger ? a : b) & 0xFFFF;
}

/* min.xorsign.abs, as for f32: the signs of both, of a NaN as well, unless the result is one. */
static inline uint32_t xorsign_half(uint32_t a, uint32_t b, const lane_format *f, bool larger, bool nan)
{
    uint32_t magnitude = extreme_half(a & 0x7FFF, b & 0x7FFF, f, larger, nan);
    return isnan(decode(f, magnitude)) ? magnitude : magnitude | ((a ^ b) & 0x8000);
}

#endif

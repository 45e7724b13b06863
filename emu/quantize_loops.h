/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of a recipe, for one instruction set: included once by each of quantize_portable.c, quantize_avx2.c and
 * quantize_avx512.c, which say what the compiler may use. Everything here rounds as IEEE 754 says, lane by lane, so
 * that the results are the same; recipe_eval.c has the same functions one value at a time, independently. */
#include "quantize_kernels.h"
#include "quantize_random.h"
#include "quantize_round.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A tensor is read once, and a processor's own prefetching ends with each page: what a loop will want is asked for so
 * many bytes before. */
static inline void fetch_next(const float *x)
{
    fpo_fetch((uintptr_t)x + 2048);
}

#ifdef __AVX2__
#include "quantize_avx2.h"
#endif

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

static void select_one(const float *restrict a, const float *restrict b, const float *restrict c, float *restrict to,
                       int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] = a[i] == 0 ? c[i] : b[i];
}

static void fuse(const float *restrict a, const float *restrict b, const float *restrict c, float *restrict to,
                 int count)
{
#ifdef __FMA__
#pragma omp simd
#endif
    for (int i = 0; i < count; i++)
        to[i] = fmaf(a[i], b[i], c[i]);
}

FPO_INLINE void round_values_as(const fpo_round *r, const float *restrict x, float *restrict to, int count, bool even,
                                bool saturates)
{
    const fpo_round round = *r;
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] = fpo_round_value(&round, x[i], even, saturates);
}

static void round_values(const fpo_round *r, const float *restrict x, float *restrict to, int count)
{
    const fpo_round round = *r;
    if (round.ue8m0)
#pragma omp simd
        for (int i = 0; i < count; i++)
            to[i] = fpo_power_decode(fpo_round_power(&round, x[i]));
    else if (round.carries)
#pragma omp simd
        for (int i = 0; i < count; i++)
            to[i] = fpo_round_carry_value(&round, x[i]);
    else if (round.even && round.saturates)
        round_values_as(r, x, to, count, true, true);
    else if (round.even)
        round_values_as(r, x, to, count, true, false);
    else
        round_values_as(r, x, to, count, false, false);
}

/* Codes in words: a loop over lanes of one width is what compilers are good at. */
FPO_INLINE void round_wide_as(const fpo_round *r, const float *restrict x, uint32_t *restrict wide, int count,
                              bool even, bool saturates)
{
    const fpo_round round = *r;
#pragma omp simd
    for (int i = 0; i < count; i++)
        wide[i] = fpo_round_code(&round, x[i], even, saturates);
}

static void round_wide(const fpo_round *r, const float *restrict x, uint32_t *restrict wide, int count)
{
    const fpo_round round = *r;
    if (round.ue8m0)
#pragma omp simd
        for (int i = 0; i < count; i++)
            wide[i] = fpo_round_power(&round, x[i]);
    else if (round.even && round.saturates)
        round_wide_as(r, x, wide, count, true, true);
    else if (round.even)
        round_wide_as(r, x, wide, count, true, false);
    else if (round.saturates)
        round_wide_as(r, x, wide, count, false, true);
    else
        round_wide_as(r, x, wide, count, false, false);
}

/* Powers of two in order of their bits: what ue8m0 stands for, encoded alike by every policy. Whether all are such. */
static bool encode_powers(const float *restrict x, uint32_t *restrict wide, int count)
{
    uint32_t others = 0;
#pragma omp simd reduction(| : others)
    for (int i = 0; i < count; i++) {
        uint32_t bits = fpo_bits_of(x[i]);
        uint32_t other = (bits & 0x7FFFFFu) != 0 || bits - 0x800000u >= 0x7F000000u;
        others |= bits == 0x400000u ? 0 : other;
        wide[i] = bits >> 23;
    }
    return others == 0;
}

static void encode_wide(const fpo_coder *coder, const float *x, uint32_t *wide, int count)
{
    if (coder->has_loop) {
        round_wide(&coder->round, x, wide, count);
        return;
    }
    if (coder->format == FPO_UE8M0 && encode_powers(x, wide, count))
        return;
    for (int i = 0; i < count; i++)
        wide[i] = fpo_encode(coder->format, fpo_value_from_float(x[i]), coder->cast, 0);
}

/* The first e2m1 value v, in the order of codes, with the smallest |v*b - a|. One of the other sign than a/b is never
 * nearer than 0, which comes before it. */
static void nearest(const float *restrict a, const float *restrict b, float *restrict to, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++) {
        float x = absolute(a[i]), scale = absolute(b[i]), best = 0, smallest = absolute(0 * scale - x);
        for (int code = 1; code < 8; code++) {
            static const float values[8] = {0, .5f, 1, 1.5f, 2, 3, 4, 6};
            float distance = absolute(values[code] * scale - x);
            bool nearer = distance < smallest;
            best = nearer ? values[code] : best;
            smallest = nearer ? distance : smallest;
        }
        float one = fpo_float_of(0x3F800000u | ((fpo_bits_of(a[i]) ^ fpo_bits_of(b[i])) & 0x80000000u));
        to[i] = best * one + 0; /* no -0 */
    }
}

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

static void divide_full(const float *restrict a, const float *restrict b, float *restrict to, int count)
{
    const uint32_t *words = fpo_rcp_words;
#pragma omp simd
    for (int i = 0; i < count; i++) {
        float magnitude = absolute(b[i]);
        float scale = magnitude > 0x1p126f ? 0.25f : magnitude < 0x1p-126f ? 0x1p24f : 1.0f;
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

#include "quantize_transform.h"

static bool round_randomly(const fpo_recipe_step *s, const uint32_t *restrict bits, const float *restrict x,
                           float *restrict to, int count)
{
    fpo_round round;
    if (!fpo_round_init_random(&round, s->format, &s->cast))
        return false;
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] = fpo_round_random_value(&round, x[i], bits[i]);
    return true;
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

static void scalar(const fpo_recipe_step *step, const float *a, const float *b, const float *c, float *to, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = (float)fpo_recipe_apply(step, (double)a[i], (double)b[i], (double)c[i]);
}

static void round_step(const fpo_recipe_step *step, const float *a, float *to, int count)
{
    fpo_round round;
    if (fpo_round_init_values(&round, step->format, &step->cast)) {
        int done = 0;
#ifdef __AVX2__
        if (step->format == FPO_F16 && round.ieee)
            done = fpo_round_f16_avx2(a, to, count, round.nan_value);
#endif
        round_values(&round, a + done, to + done, count - done);
    } else if (step->cast.rounding == FPO_TOWARD_ZERO && fpo_round_init_random(&round, step->format, &step->cast) &&
               round.saturates) {
#pragma omp simd
        for (int i = 0; i < count; i++)
            to[i] = fpo_round_random_value(&round, a[i], 0); /* which nothing carries out of */
    } else {
        scalar(step, a, a, a, to, count);
    }
}

static void code_numbers(const fpo_recipe_step *step, const float *a, float *to, int count)
{
    _Alignas(FPO_LINE) uint32_t wide[FPO_CHUNK];
    const fpo_coder coder = fpo_coder_of(step->format, &step->cast);
    encode_wide(&coder, a, wide, count);
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] = (float)(int32_t)wide[i];
}

static void run(const fpo_recipe_step *step, const float *a, const float *b, const float *c, float *to, int count)
{
    switch ((fpo_function)step->function) {
    case FPO_FN_COPY: map(copy, a, to, count); break;
    case FPO_FN_ADD: map2(add, a, b, to, count); break;
    case FPO_FN_SUB: map2(subtract, a, b, to, count); break;
    case FPO_FN_MUL: map2(multiply, a, b, to, count); break;
    case FPO_FN_DIV: map2(divide, a, b, to, count); break;
    case FPO_FN_NEG: map(negate, a, to, count); break;
    case FPO_FN_LT: map2(less, a, b, to, count); break;
    case FPO_FN_LE: map2(less_equal, a, b, to, count); break;
    case FPO_FN_GT: map2(greater, a, b, to, count); break;
    case FPO_FN_GE: map2(greater_equal, a, b, to, count); break;
    case FPO_FN_EQ: map2(equal, a, b, to, count); break;
    case FPO_FN_NE: map2(different, a, b, to, count); break;
    case FPO_FN_SELECT: select_one(a, b, c, to, count); break;
    case FPO_FN_FMA: fuse(a, b, c, to, count); break;
    case FPO_FN_ABS: map(absolute, a, to, count); break;
    case FPO_FN_RCP: map(reciprocal, a, to, count); break;
    case FPO_FN_MIN: map2(minimum, a, b, to, count); break;
    case FPO_FN_MAX: map2(maximum, a, b, to, count); break;
    case FPO_FN_FMIN: map2(minimum_number, a, b, to, count); break;
    case FPO_FN_FMAX: map2(maximum_number, a, b, to, count); break;
    case FPO_FN_FIELD: map(field, a, to, count); break;
    case FPO_FN_MANTISSA: map(mantissa, a, to, count); break;
    case FPO_FN_ADDBITS: map2(add_bits, a, b, to, count); break;
    case FPO_FN_ENCODE: round_step(step, a, to, count); break;
    case FPO_FN_SIGNED: map2(with_sign, a, b, to, count); break;
    case FPO_FN_NEAREST: nearest(a, b, to, count); break;
    case FPO_FN_RCPA: approximate(a, to, count); break;
    case FPO_FN_DIV_FULL: divide_full(a, b, to, count); break;
    case FPO_FN_LOG2: logarithms(a, to, count); break;
    case FPO_FN_RINT_LG2: near_logarithms(step, a, to, count); break;
    case FPO_FN_DECODE: map(decode_ue4m3, a, to, count); break;
    case FPO_FN_CEIL: map(round_up, a, to, count); break;
    case FPO_FN_FLOOR: map(round_down, a, to, count); break;
    case FPO_FN_RINT: map(round_to_even, a, to, count); break;
    case FPO_FN_EXP2: powers_of_two(a, to, count); break;
    case FPO_FN_E8: map(power, a, to, count); break;
    case FPO_FN_CODE: code_numbers(step, a, to, count); break;
    case FPO_FN_GRID: map(grid, a, to, count); break;
    case FPO_FN_WRAP: map(wrap, a, to, count); break;
    case FPO_FN_HADAMARD: fpo_transform(a, to, count); break;
    default: scalar(step, a, b, c, to, count); break;
    }
}

/* The functions that -ftz=true does not concern: see recipe_eval.c. */
static bool keeps_subnormals(fpo_function function)
{
    switch (function) {
    case FPO_FN_COPY:
    case FPO_FN_NEG:
    case FPO_FN_ABS:
    case FPO_FN_SELECT:
    case FPO_FN_ENCODE:
    case FPO_FN_FIELD:
    case FPO_FN_MANTISSA:
    case FPO_FN_ADDBITS:
    case FPO_FN_SIGNED: return true;
    default: return false;
    }
}

static void step(const fpo_recipe_step *s, const float *a, const float *b, const float *c, float *to, int count)
{
    if (!s->ftz || keeps_subnormals((fpo_function)s->function)) {
        run(s, a, b, c, to, count);
        return;
    }
    switch ((fpo_function)s->function) {
    case FPO_FN_ADD: map2(add_flushing, a, b, to, count); return;
    case FPO_FN_SUB: map2(subtract_flushing, a, b, to, count); return;
    case FPO_FN_MUL: map2(multiply_flushing, a, b, to, count); return;
    case FPO_FN_DIV: map2(divide_flushing, a, b, to, count); return;
    case FPO_FN_MIN: map2(least_flushing, a, b, to, count); return;
    case FPO_FN_MAX: map2(most_flushing, a, b, to, count); return;
    case FPO_FN_FMIN: map2(minimum_flushing, a, b, to, count); return;
    case FPO_FN_FMAX: map2(maximum_flushing, a, b, to, count); return;
    case FPO_FN_DIV_FULL: scalar(s, a, b, c, to, count); return; /* another instruction */
    default: break;
    }
    _Alignas(FPO_LINE) float flushed[4][FPO_CHUNK];
    const float *arguments[3] = {a, b, c};
    for (int i = 0; i < 3; i++)
        if (s->argument[i] != FPO_NO_REGISTER) {
            map(flush, arguments[i], flushed[i], count);
            arguments[i] = flushed[i];
        }
    run(s, arguments[0], arguments[1], arguments[2], flushed[3], count);
    map(flush, flushed[3], to, count);
}

FPO_INLINE void map_value(binary *f, const float *restrict a, float b, float *restrict to, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        to[i] = f(a[i], b);
}

/* b is one value for each `block` of a. The usual sizes are loops of a length that the compiler knows. */
FPO_INLINE void map_blocks(binary *f, const float *restrict a, const float *restrict b, int64_t block,
                           float *restrict to, int64_t count)
{
    int64_t at = 0;
    if (block == 16)
        for (; at + 16 <= count; at += 16)
            map_value(f, a + at, *b++, to + at, 16);
    else if (block == 32)
        for (; at + 32 <= count; at += 32)
            map_value(f, a + at, *b++, to + at, 32);
    for (; at < count; at += block)
        map_value(f, a + at, *b++, to + at, count - at < block ? count - at : block);
}

/* Reciprocals of powers of two, which are exact; false: some are no such powers, or have no normal reciprocal. */
static bool invert_powers(const float *restrict b, float *restrict inverse, int64_t count)
{
    uint32_t others = 0;
#pragma omp simd reduction(| : others)
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = fpo_bits_of(b[i]);
        others |= (bits & 0x7FFFFFu) | (bits - 0x800000u < 0x7E800000u ? 0 : 1u);
        inverse[i] = fpo_float_of(0x7F000000u - bits);
    }
    return others == 0;
}

/* A quotient by a power of two is a product. */
static void divide_blocks(const float *a, const float *b, int64_t block, bool ftz, float *to, int64_t count)
{
    _Alignas(FPO_LINE) float inverse[FPO_CHUNK];
    bool powers = invert_powers(b, inverse, (count + block - 1) / block);
    if (powers && ftz)
        map_blocks(multiply_flushing, a, inverse, block, to, count);
    else if (powers)
        map_blocks(multiply, a, inverse, block, to, count);
    else if (ftz)
        map_blocks(divide_flushing, a, b, block, to, count);
    else
        map_blocks(divide, a, b, block, to, count);
}

/* divide_full of blocks: a divisor's reciprocal is taken once. */
static void divide_full_blocks(const float *restrict a, const float *restrict b, int64_t block, float *restrict to,
                               int64_t count)
{
    for (int64_t at = 0; at < count; at += block, b++) {
        int64_t end = count - at < block ? count : at + block;
        float magnitude = absolute(*b);
        float scale = magnitude > 0x1p126f ? 0.25f : magnitude < 0x1p-126f ? 0x1p24f : 1.0f;
        float inverse = approximate_one(fpo_rcp_words, *b * scale);
#pragma omp simd
        for (int64_t i = at; i < end; i++) {
            float quotient = inverse * (a[i] * scale);
            to[i] = quotient == quotient ? quotient : fpo_float_of(0x7FFFFFFFu);
        }
    }
}

static void step_of_constant(const fpo_recipe_step *s, const float *a, float b, float *to, int count)
{
    switch ((fpo_function)s->function) {
    case FPO_FN_ADD: map_value(add, a, b, to, count); break;
    case FPO_FN_SUB: map_value(subtract, a, b, to, count); break;
    case FPO_FN_LT: map_value(less, a, b, to, count); break;
    case FPO_FN_LE: map_value(less_equal, a, b, to, count); break;
    case FPO_FN_GT: map_value(greater, a, b, to, count); break;
    case FPO_FN_GE: map_value(greater_equal, a, b, to, count); break;
    case FPO_FN_EQ: map_value(equal, a, b, to, count); break;
    case FPO_FN_NE: map_value(different, a, b, to, count); break;
    case FPO_FN_MIN: map_value(minimum, a, b, to, count); break;
    case FPO_FN_MAX: map_value(maximum, a, b, to, count); break;
    case FPO_FN_FMIN:
        if (s->ftz)
            map_value(minimum_flushing, a, b, to, count);
        else
            map_value(minimum_number, a, b, to, count);
        break;
    default:
        if (s->ftz)
            map_value(maximum_flushing, a, b, to, count);
        else
            map_value(maximum_number, a, b, to, count);
        break;
    }
}

static void step_of_blocks(const fpo_recipe_step *s, const float *a, const float *b, int64_t block, float *to,
                           int count)
{
    if (!fpo_has_blocks(s))
        step_of_constant(s, a, *b, to, count);
    else if (s->function == FPO_FN_DIV_FULL)
        divide_full_blocks(a, b, block, to, count);
    else if (s->function == FPO_FN_MUL && s->ftz)
        map_blocks(multiply_flushing, a, b, block, to, count);
    else if (s->function == FPO_FN_MUL)
        map_blocks(multiply, a, b, block, to, count);
    else
        divide_blocks(a, b, block, s->ftz, to, count);
}

static void encode(const fpo_coder *coder, const float *x, uint8_t *restrict codes, int count)
{
    _Alignas(FPO_LINE) uint32_t wide[FPO_CHUNK];
    encode_wide(coder, x, wide, count);
#pragma omp simd
    for (int i = 0; i < count; i++)
        codes[i] = (uint8_t)wide[i];
}

/* Codes as bytes, those as pairs: widths that halve are what compilers are good at. */
static void pack_nibbles(const uint32_t *restrict wide, uint8_t *restrict packed, int count)
{
    _Alignas(FPO_LINE) uint16_t pairs[FPO_CHUNK / 2 + 1];
    uint8_t *bytes = (uint8_t *)pairs;
#pragma omp simd
    for (int i = 0; i < count; i++)
        bytes[i] = (uint8_t)wide[i];
    bytes[count] = 0;
#pragma omp simd
    for (int i = 0; i < (count + 1) / 2; i++)
        packed[i] = (uint8_t)(pairs[i] | pairs[i] >> 4);
}

static void encode_nibbles(const fpo_coder *coder, const float *x, uint8_t *packed, int count)
{
    _Alignas(FPO_LINE) uint32_t wide[FPO_CHUNK];
    encode_wide(coder, x, wide, count);
    pack_nibbles(wide, packed, count);
}

/* `nearest` as codes: the number of midpoints that a magnitude is beyond, for on a midpoint the smaller code comes
 * first. Compared so they are exact: a product of a midpoint has few bits, and where two distances to neighbours differ
 * by little, both are exact. False: a scale or a number for which that does not hold. */
static bool nearest_codes(const float *restrict a, const float *restrict b, uint32_t *restrict codes, int count)
{
    const int32_t most = magnitude_of(0x1p100f);
    int32_t others = 0;
#pragma omp simd reduction(| : others)
    for (int i = 0; i < count; i++) {
        static const float midpoints[7] = {.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5};
        float x = absolute(a[i]), scale = absolute(b[i]);
        uint32_t code = 0, sign = ((fpo_bits_of(a[i]) ^ fpo_bits_of(b[i])) >> 31) << 3;
#pragma GCC unroll 7
        for (int m = 0; m < 7; m++)
            code += x > midpoints[m] * scale ? 1 : 0;
        codes[i] = code + (code > 0 ? sign : 0);
        int32_t unit = magnitude_of(scale);
        int32_t other = (unit & 7) | (unit > most ? 1 : 0);
        others |= other | (x < scale * 0x1p20f ? 0 : 1);
    }
    return others == 0;
}

static void nibbles_of_step(const fpo_recipe_step *s, const float *a, const float *b, uint8_t *packed, int count)
{
    _Alignas(FPO_LINE) uint32_t wide[FPO_CHUNK];
    _Alignas(FPO_LINE) float values[FPO_CHUNK];
    if (s->function == FPO_FN_WRAP) {
#pragma omp simd
        for (int i = 0; i < count; i++)
            wide[i] = wrap_code(a[i]);
    } else if (!nearest_codes(a, b, wide, count)) {
        const fpo_coder coder = fpo_coder_of(FPO_E2M1, fpo_cast_describe(FPO_CAST_PTX));
        nearest(a, b, values, count);
        encode_wide(&coder, values, wide, count);
    }
    pack_nibbles(wide, packed, count);
}

FPO_INLINE float amax_of(const float *restrict x, int64_t count)
{
    int32_t largest = 0;
    int64_t at = 0;
#ifdef __AVX2__
    largest = magnitude_of(fpo_amax_of_many(x, count, &at));
#endif
#pragma omp simd reduction(max : largest)
    for (int64_t i = at; i < count; i++) {
        int32_t magnitude = magnitude_of(x[i]);
        largest = magnitude > largest ? magnitude : largest;
    }
    return fpo_float_of((uint32_t)largest);
}

/* Neighbours pairwise: n results from 2n. */
static void halve(const int32_t *restrict from, int32_t *restrict to, int n)
{
#pragma omp simd
    for (int i = 0; i < n; i++)
        to[i] = larger(from[2 * i], from[2 * i + 1]);
}

/* Blocks of 2, 4, ..., 64 in up to FPO_CHUNK elements: all blocks at once, a level at a time. */
static void small_blocks(const float *restrict x, int count, int block, float *restrict to)
{
    _Alignas(FPO_LINE) int32_t levels[2][FPO_CHUNK / 2];
#pragma omp simd
    for (int i = 0; i < count / 2; i++)
        levels[0][i] = larger(magnitude_of(x[2 * i]), magnitude_of(x[2 * i + 1]));
    int now = 0, n = count / 2;
    for (block /= 2; block > 1; block /= 2) {
        n /= 2;
        halve(levels[now], levels[1 - now], n);
        now = 1 - now;
    }
    memcpy(to, levels[now], (size_t)n * sizeof *to);
}

static void block_amax(const float *x, int64_t count, int64_t block, float *to)
{
    if (block == 1) {
        map(absolute, x, to, (int)count);
        return;
    }
    int64_t at = 0;
#ifdef __AVX2__
    int64_t done = fpo_amax_avx2(x, count / block, block, to);
    x += done * block;
    count -= done * block;
    to += done;
#endif
    if (block > 1 && block <= 64 && (block & (block - 1)) == 0 && count <= FPO_CHUNK) {
        at = count / block * block;
        small_blocks(x, (int)at, (int)block, to);
        to += at / block;
    }
    for (; at < count; at += block)
        *to++ = amax_of(x + at, count - at < block ? count - at : block);
}

FPO_INLINE void join_amax_of(const float *restrict x, float *restrict to, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        to[i] = fpo_float_of((uint32_t)larger(magnitude_of(x[i]), magnitude_of(to[i])));
}

static void join_amax(const float *x, float *to, int64_t count)
{
    int64_t at = 0;
    for (; at + 16 <= count; at += 16) {
        fetch_next(x + at);
        join_amax_of(x + at, to + at, 16);
    }
    join_amax_of(x + at, to + at, count - at);
}

#include "quantize_errors.h"

FPO_INLINE void fill(float *restrict to, float value, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        to[i] = value;
}

static void spread(const float *values, int64_t block, float *to, int64_t count)
{
    int64_t at = 0;
    if (block == 16)
        for (; at + 16 <= count; at += 16)
            fill(to + at, *values++, 16);
    else if (block == 32)
        for (; at + 32 <= count; at += 32)
            fill(to + at, *values++, 32);
    for (; at < count; at += block)
        fill(to + at, *values++, count - at < block ? count - at : block);
}

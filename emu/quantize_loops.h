/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of a recipe, for one instruction set: included once by each of quantize_portable.c, quantize_avx2.c and
 * quantize_avx512.c, which say what the compiler may use and name the table, FPO_LOOPS. Everything here rounds as IEEE
 * 754 says, lane by lane, so that the results are the same; recipe_eval.c has the same functions one value at a time,
 * independently.
 *
 *   quantize_functions.h    functions of one value
 *   quantize_approximate.h  the hardware's approximations, powers and logarithms
 *   quantize_codes.h        roundings and codes, by quantize_round.h
 *   quantize_magnitudes.h   amax
 *   quantize_errors.h       the sums of a search's errors
 *   quantize_transform.h    the Hadamard transform
 *   quantize_random.h       random bits
 *   quantize_lanes.h, quantize_avx2.h  vectors by hand */
#include "quantize_approximate.h"
#include "quantize_avx2.h"
#include "quantize_codes.h"
#include "quantize_errors.h"
#include "quantize_kernels.h"
#include "quantize_magnitudes.h"
#include "quantize_random.h"
#include "quantize_transform.h"

#include <math.h>
#include <string.h>

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

const fpo_quantize_kernels FPO_LOOPS = {
    .step = step,
    .step_of_blocks = step_of_blocks,
    .round_randomly = round_randomly,
    .random_words = random_words,
    .random_blocks = random_blocks,
    .draw_bits = draw_bits,
    .draw_numbers = draw_numbers,
    .encode = encode,
    .nibbles_of_step = nibbles_of_step,
    .block_amax = block_amax,
    .join_amax = join_amax,
    .error_sums = error_sums,
    .spread = spread,
};

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Roundings, and the codes of what is rounded. Part of quantize_loops.h. */
#ifndef FP4ORACLE_EMU_QUANTIZE_CODES_H
#define FP4ORACLE_EMU_QUANTIZE_CODES_H

#include "quantize_functions.h"

#include <string.h>

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

static void pack_bytes(const uint32_t *restrict wide, uint8_t *restrict codes, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        codes[i] = (uint8_t)wide[i];
}

static void encode(const fpo_coder *coder, const float *x, uint8_t *to, int count)
{
    _Alignas(FPO_LINE) uint32_t wide[FPO_CHUNK];
    encode_wide(coder, x, wide, count);
    if (coder->nibbles)
        pack_nibbles(wide, to, count);
    else
        pack_bytes(wide, to, count);
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
        const fpo_coder coder = fpo_coder_of(FPO_E2M1, fpo_code_cast(FPO_E2M1));
        nearest(a, b, values, count);
        encode_wide(&coder, values, wide, count);
    }
    pack_nibbles(wide, packed, count);
}

#endif

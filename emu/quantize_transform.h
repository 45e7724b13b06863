/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* 16 elements times the Hadamard matrix over 4, some signs changed first; a sum's terms are added in order, in f32.
 * TransformerEngine pytorch/tensor/nvfp4_tensor.py. Part of quantize_loops.h. */
#ifndef FP4ORACLE_EMU_QUANTIZE_TRANSFORM_H
#define FP4ORACLE_EMU_QUANTIZE_TRANSFORM_H

#include "quantize_kernels.h"
#include "quantize_lanes.h"
#include "quantize_round.h"

enum { FPO_TRANSFORM = 16 };

/* Whether term i of sum j is subtracted. */
FPO_LANE bool fpo_transform_subtracts(unsigned i, unsigned j)
{
    const unsigned negative = 0xD7E8; /* bit i: element i changes its sign */
    return (__builtin_parity(i & j) ^ (negative >> i & 1)) != 0;
}

/* The sign bit where it does. */
typedef uint32_t fpo_flips[FPO_TRANSFORM][FPO_TRANSFORM];

static inline void fpo_transform_one(const float *restrict x, fpo_flips flips, float *restrict to)
{
    float sums[FPO_TRANSFORM] = {0};
#pragma GCC unroll 16
    for (int i = 0; i < FPO_TRANSFORM; i++) {
        uint32_t term = fpo_bits_of(0.25f * x[i]);
#pragma omp simd
        for (int j = 0; j < FPO_TRANSFORM; j++)
            sums[j] += fpo_float_of(term ^ flips[i][j]);
    }
    memcpy(to, sums, sizeof sums);
}

#ifdef __AVX2__

/* Term i to the sums of vectors [0, count). */
FPO_LANE void fpo_transform_add(fpo_floats x, unsigned i, fpo_floats *sums, unsigned count)
{
    fpo_floats term = 0.25f * x;
#pragma GCC unroll 16
    for (unsigned j = 0; j < count; j++)
        sums[j] = fpo_transform_subtracts(i, j) ? sums[j] - term : sums[j] + term;
}

/* Vector i of x is element i of each transform. Sums whose terms so far have had the same signs are one: 1, 2, 4, 8 of
 * them, and 16 from the ninth term on. */
FPO_LANE void fpo_transform_lanes(const fpo_floats x[FPO_TRANSFORM], fpo_floats sums[FPO_TRANSFORM])
{
    sums[0] = 0 + 0.25f * x[0]; /* no -0 */
#pragma GCC unroll 4
    for (unsigned level = 0; level < 4; level++) {
        unsigned known = 1u << level;
#pragma GCC unroll 8
        for (unsigned j = 0; j < known; j++)
            sums[known + j] = sums[j];
#pragma GCC unroll 8
        for (unsigned i = known; i < 2 * known; i++)
            fpo_transform_add(x[i], i, sums, 2 * known);
    }
}

static inline void fpo_transform_many(const float *restrict x, float *restrict to)
{
    fpo_floats v[FPO_TRANSFORM], sums[FPO_TRANSFORM];
    for (int i = 0; i < FPO_LANES; i++)
        fpo_fetch_next(x + FPO_TRANSFORM * i);
#pragma GCC unroll 2
    for (int half = 0; half < FPO_TRANSFORM; half += FPO_LANES)
        fpo_load_lanes(x + half, FPO_TRANSFORM, v + half);
    fpo_transform_lanes(v, sums);
#pragma GCC unroll 2
    for (int half = 0; half < FPO_TRANSFORM; half += FPO_LANES)
        fpo_store_lanes(sums + half, FPO_TRANSFORM, to + half);
}

#endif

/* Zeros follow where the last 16 are fewer. */
static inline void fpo_transform(const float *restrict x, float *restrict to, int count)
{
    int at = 0;
#ifdef __AVX2__
    for (; at + FPO_LANES * FPO_TRANSFORM <= count; at += FPO_LANES * FPO_TRANSFORM)
        fpo_transform_many(x + at, to + at);
#endif
    fpo_flips flips;
    for (unsigned i = 0; i < FPO_TRANSFORM && at < count; i++)
        for (unsigned j = 0; j < FPO_TRANSFORM; j++)
            flips[i][j] = fpo_transform_subtracts(i, j) ? 0x80000000u : 0;
    for (; at < count; at += FPO_TRANSFORM) {
        size_t bytes = (size_t)(count - at < FPO_TRANSFORM ? count - at : FPO_TRANSFORM) * sizeof *x;
        float last[FPO_TRANSFORM] = {0}, transformed[FPO_TRANSFORM];
        memcpy(last, x + at, bytes);
        fpo_transform_one(last, flips, transformed);
        memcpy(to + at, transformed, bytes);
    }
}

#endif

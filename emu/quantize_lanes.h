/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Vectors whose lanes are blocks, where there are instructions to exchange lanes. Part of quantize_loops.h. */
#ifndef FP4ORACLE_EMU_QUANTIZE_LANES_H
#define FP4ORACLE_EMU_QUANTIZE_LANES_H

#include "quantize_round.h"

#ifdef __AVX2__

#ifdef __AVX512F__
#define FPO_LANES 16
#else
#define FPO_LANES 8
#endif
typedef float fpo_floats __attribute__((vector_size(FPO_LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int32_t fpo_ints __attribute__((vector_size(FPO_LANES * sizeof(float))));

#if FPO_LANES == 16
static const fpo_ints fpo_lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#else
static const fpo_ints fpo_lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7};
#endif

/* Lane l of vector v goes to lane v of vector l: one bit of v and l is exchanged at a time. */
FPO_LANE void fpo_transpose(fpo_floats v[FPO_LANES])
{
#pragma GCC unroll 16
    for (int bit = 1; bit < FPO_LANES; bit *= 2) {
        /* Lanes of the first vector, and from FPO_LANES on those of the second. */
        fpo_ints crossed = fpo_lane_numbers + (((fpo_lane_numbers & bit) != 0) & (FPO_LANES - bit));
        fpo_ints straight = crossed + bit;
#pragma GCC unroll 16
        for (int i = 0; i < FPO_LANES; i++) {
            if ((i & bit) != 0)
                continue;
            fpo_floats first = v[i], second = v[i + bit];
            v[i] = __builtin_shuffle(first, second, crossed);
            v[i + bit] = __builtin_shuffle(first, second, straight);
        }
    }
}

/* Element i of FPO_LANES blocks into vector i, and back; blocks follow one another. */
FPO_LANE void fpo_load_lanes(const float *x, int64_t block, fpo_floats v[FPO_LANES])
{
#pragma GCC unroll 16
    for (int i = 0; i < FPO_LANES; i++)
        v[i] = *(const fpo_floats *)(const void *)(x + block * i);
    fpo_transpose(v);
}

FPO_LANE void fpo_store_lanes(fpo_floats v[FPO_LANES], int64_t block, float *to)
{
    fpo_transpose(v);
#pragma GCC unroll 16
    for (int i = 0; i < FPO_LANES; i++)
        *(fpo_floats *)(void *)(to + block * i) = v[i];
}

#endif

#endif

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

#ifdef __clang__
#define FPO_SHUFFLE(first, second, ...) __builtin_shufflevector(first, second, __VA_ARGS__)
#else
#define FPO_SHUFFLE(first, second, ...) __builtin_shuffle(first, second, (fpo_ints){__VA_ARGS__})
#endif
#define FPO_4_LANES(lane, l, bit) lane(l, bit), lane(l + 1, bit), lane(l + 2, bit), lane(l + 3, bit)
#if FPO_LANES == 16
#define FPO_ALL_LANES(lane, bit)                                                                                       \
    FPO_4_LANES(lane, 0, bit), FPO_4_LANES(lane, 4, bit), FPO_4_LANES(lane, 8, bit), FPO_4_LANES(lane, 12, bit)
#else
#define FPO_ALL_LANES(lane, bit) FPO_4_LANES(lane, 0, bit), FPO_4_LANES(lane, 4, bit)
#endif

/* Lanes of a first vector, and from FPO_LANES on those of a second: both with the bit of their number clear, or set. */
#define FPO_CLEAR_LANE(l, bit) (((l) & (bit)) != 0 ? FPO_LANES + (l) - (bit) : (l))
#define FPO_SET_LANE(l, bit) (FPO_CLEAR_LANE(l, bit) + (bit))

/* One bit of the vector's and the lane's number is exchanged. */
#define FPO_EXCHANGE(v, bit)                                                                                           \
    for (int i = 0; i < FPO_LANES; i++)                                                                                \
        if ((i & (bit)) == 0) {                                                                                        \
            fpo_floats first = v[i], second = v[i + (bit)];                                                            \
            v[i] = FPO_SHUFFLE(first, second, FPO_ALL_LANES(FPO_CLEAR_LANE, bit));                                     \
            v[i + (bit)] = FPO_SHUFFLE(first, second, FPO_ALL_LANES(FPO_SET_LANE, bit));                               \
        }

/* Lane l of vector v goes to lane v of vector l. */
FPO_LANE void fpo_transpose(fpo_floats v[FPO_LANES])
{
#pragma GCC unroll 16
    FPO_EXCHANGE(v, 1)
#pragma GCC unroll 16
    FPO_EXCHANGE(v, 2)
#pragma GCC unroll 16
    FPO_EXCHANGE(v, 4)
#if FPO_LANES == 16
#pragma GCC unroll 16
    FPO_EXCHANGE(v, 8)
#endif
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

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The largest magnitude of many numbers. Part of quantize_loops.h. */
#ifndef FP4ORACLE_EMU_QUANTIZE_MAGNITUDES_H
#define FP4ORACLE_EMU_QUANTIZE_MAGNITUDES_H

#include "quantize_avx2.h"
#include "quantize_functions.h"

#include <string.h>

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
        fpo_fetch_next(x + at);
        join_amax_of(x + at, to + at, 16);
    }
    join_amax_of(x + at, to + at, count - at);
}

#endif

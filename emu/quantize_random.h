/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Random bits of many elements: part of quantize_loops.h, for one instruction set. The generator is random.c's. */
#ifndef FP4ORACLE_EMU_QUANTIZE_RANDOM_H
#define FP4ORACLE_EMU_QUANTIZE_RANDOM_H

#include "recipe.h"

/* Philox4x32-10 on numbers of 64 bits, whose upper halves are 0: products of 32 by 32 bits are what vectors have. */
static inline __attribute__((always_inline)) void philox(uint64_t seed, uint64_t c[restrict 4])
{
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++) {
        uint64_t product0 = UINT64_C(0xD2511F53) * c[0], product1 = UINT64_C(0xCD9E8D57) * c[2];
        c[0] = (product1 >> 32) ^ c[1] ^ key0;
        c[2] = (product0 >> 32) ^ c[3] ^ key1;
        c[1] = product1 & UINT32_MAX;
        c[3] = product0 & UINT32_MAX;
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
}

static void random_words(uint64_t seed, uint64_t first, uint32_t *restrict words, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++) {
        uint64_t index = first + (uint64_t)i;
        uint64_t c[4] = {index & UINT32_MAX, index >> 32, 0, 0};
        philox(seed, c);
        words[i] = (uint32_t)c[0];
    }
}

static void random_blocks(uint64_t seed, const uint64_t *restrict streams, const uint64_t *restrict indices,
                          uint32_t *restrict words, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++) {
        uint64_t c[4] = {indices[i] & UINT32_MAX, indices[i] >> 32, streams[i] & UINT32_MAX, streams[i] >> 32};
        philox(seed, c);
        for (int j = 0; j < 4; j++)
            words[4 * i + j] = (uint32_t)c[j];
    }
}

#endif

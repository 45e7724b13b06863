/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Random bits of many elements: part of quantize_loops.h, for one instruction set. The generator is random.c's. */
#ifndef FP4ORACLE_EMU_QUANTIZE_RANDOM_H
#define FP4ORACLE_EMU_QUANTIZE_RANDOM_H

#include "recipe.h"

#include <fp4oracle/random.h>

#ifdef __AVX2__

#include <immintrin.h>

/* Philox4x32-10 on the lower halves of lanes of 64 bits; what is in the upper ones does not matter. */
static inline __attribute__((always_inline)) void philox_lanes(uint64_t seed, __m256i c[4])
{
    const __m256i multiplier0 = _mm256_set1_epi64x(0xD2511F53), multiplier1 = _mm256_set1_epi64x(0xCD9E8D57);
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++) {
        __m256i product0 = _mm256_mul_epu32(multiplier0, c[0]), product1 = _mm256_mul_epu32(multiplier1, c[2]);
        c[0] = _mm256_srli_epi64(product1, 32) ^ c[1] ^ _mm256_set1_epi64x(key0);
        c[2] = _mm256_srli_epi64(product0, 32) ^ c[3] ^ _mm256_set1_epi64x(key1);
        c[1] = product1;
        c[3] = product0;
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
}

/* The lower halves of a and of b, in turn. */
static inline __attribute__((always_inline)) __m256i philox_pair(__m256i a, __m256i b)
{
    return _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xAA);
}

/* Blocks [0, 4). */
static inline __attribute__((always_inline)) void philox_4_blocks(uint64_t seed, const uint64_t *streams,
                                                                  const uint64_t *indices, uint32_t *words)
{
    __m256i index = _mm256_loadu_si256((const __m256i *)(const void *)indices);
    __m256i stream = _mm256_loadu_si256((const __m256i *)(const void *)streams);
    __m256i c[4] = {index, _mm256_srli_epi64(index, 32), stream, _mm256_srli_epi64(stream, 32)};
    philox_lanes(seed, c);
    __m256i first = philox_pair(c[0], c[1]), second = philox_pair(c[2], c[3]);
    __m256i even = _mm256_unpacklo_epi64(first, second), odd = _mm256_unpackhi_epi64(first, second);
    _mm256_storeu_si256((__m256i *)(void *)words, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(words + 8), _mm256_permute2x128_si256(even, odd, 0x31));
}

/* As many blocks as come in eights, of two independent halves; how many. */
static int philox_many(uint64_t seed, const uint64_t *streams, const uint64_t *indices, uint32_t *words, int count)
{
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        philox_4_blocks(seed, streams + i, indices + i, words + 4 * i);
        philox_4_blocks(seed, streams + i + 4, indices + i + 4, words + 4 * i + 16);
    }
    return i;
}

#endif

static void random_blocks(uint64_t seed, const uint64_t *streams, const uint64_t *indices, uint32_t *words, int count)
{
    int i = 0;
#ifdef __AVX2__
    i = philox_many(seed, streams, indices, words, count);
#endif
    for (; i < count; i++)
        fpo_random_block((fpo_random){seed, streams[i]}, indices[i], words + 4 * i);
}

/* The first words of blocks of stream 0, whose indices follow one another. */
static void random_words(uint64_t seed, uint64_t first, uint32_t *words, int count)
{
    enum { AT_ONCE = 64 };
    static const uint64_t streams[AT_ONCE];
    uint64_t indices[AT_ONCE];
    uint32_t blocks[4 * AT_ONCE];
    for (int at = 0; at < count; at += AT_ONCE) {
        int now = count - at < AT_ONCE ? count - at : AT_ONCE;
        for (int i = 0; i < AT_ONCE; i++)
            indices[i] = first + (uint64_t)(at + i);
        random_blocks(seed, streams, indices, blocks, now);
        for (int i = 0; i < now; i++)
            words[at + i] = blocks[4 * i];
    }
}

/* A byte is the leading one of an element's bits. */
static void draw_bits(const uint8_t *restrict bytes, uint32_t *restrict bits, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        bits[i] = (uint32_t)bytes[i] << 24;
}

static void draw_numbers(const uint32_t *restrict bits, float *restrict to, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] = fpo_draw_number(bits[i]);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a compiler does not find by itself: the amax of small blocks in a good order of shuffles, and the instructions
 * that round to f16. */
#ifndef FP4ORACLE_EMU_QUANTIZE_AVX2_H
#define FP4ORACLE_EMU_QUANTIZE_AVX2_H

#include "quantize_kernels.h"

#ifdef __AVX2__

#include <immintrin.h>

static inline __m256i fpo_magnitudes(const float *x)
{
    return _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)x), _mm256_set1_epi32(0x7FFFFFFF));
}

/* The lanes of `a` and those of `b`, neighbours of 32 bits joined: in each half a, b, a, b. */
static inline __m256i fpo_join_words(__m256i a, __m256i b)
{
    return _mm256_max_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}

static inline __m256i fpo_join_pairs(__m256i a, __m256i b)
{
    return _mm256_max_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

/* Lane i: the largest of v[i]. */
static inline __m256i fpo_largest_of_8(const __m256i v[8])
{
    __m256i low = fpo_join_pairs(fpo_join_words(v[0], v[1]), fpo_join_words(v[2], v[3]));
    __m256i high = fpo_join_pairs(fpo_join_words(v[4], v[5]), fpo_join_words(v[6], v[7]));
    return _mm256_max_epi32(_mm256_permute2x128_si256(low, high, 0x20), _mm256_permute2x128_si256(low, high, 0x31));
}

/* Eight blocks of 8 * vectors elements at a time. */
static inline __attribute__((always_inline)) void fpo_amax_of_8_blocks(const float *x, int vectors, float *to)
{
    __m256i v[8];
    for (int b = 0; b < 8; b++) {
        for (int i = 0; i < vectors; i += 2)
            fpo_fetch_next(x + 8 * (vectors * b + i));
        v[b] = fpo_magnitudes(x + 8 * vectors * b);
        for (int i = 1; i < vectors; i++)
            v[b] = _mm256_max_epi32(v[b], fpo_magnitudes(x + 8 * (vectors * b + i)));
    }
    _mm256_storeu_si256((__m256i *)(void *)to, fpo_largest_of_8(v));
}

/* As many of the `blocks` blocks as come in eights; returns how many. */
static inline int64_t fpo_amax_avx2(const float *x, int64_t blocks, int64_t block, float *to)
{
    int64_t done = blocks & ~(int64_t)7;
    for (int64_t b = 0; b < done; b += 8)
        switch (block) {
        case 8: fpo_amax_of_8_blocks(x + b * 8, 1, to + b); break;
        case 16: fpo_amax_of_8_blocks(x + b * 16, 2, to + b); break;
        case 32: fpo_amax_of_8_blocks(x + b * 32, 4, to + b); break;
        case 64: fpo_amax_of_8_blocks(x + b * 64, 8, to + b); break;
        case 128: fpo_amax_of_8_blocks(x + b * 128, 16, to + b); break;
        default: return 0;
        }
    return done;
}

/* Of as many elements as come in 32s; *done: how many. */
static inline float fpo_amax_of_many(const float *x, int64_t count, int64_t *done)
{
    __m256i v[8] = {_mm256_setzero_si256()};
    for (int i = 1; i < 8; i++)
        v[i] = v[0];
    int64_t at = 0;
    for (; at + 32 <= count; at += 32) {
        fpo_fetch_next(x + at);
        fpo_fetch_next(x + at + 16);
        for (int i = 0; i < 4; i++)
            v[i] = _mm256_max_epi32(v[i], fpo_magnitudes(x + at + 8 * i));
    }
    int32_t lanes[8];
    _mm256_storeu_si256((__m256i *)(void *)lanes, fpo_largest_of_8(v));
    *done = at;
    int32_t a = lanes[0] > lanes[1] ? lanes[0] : lanes[1], b = lanes[2] > lanes[3] ? lanes[2] : lanes[3];
    return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(a > b ? a : b)));
}

/* Rounded to f16, 8 at a time; returns how many. A NaN becomes `nan`. */
static inline int fpo_round_f16_avx2(const float *x, float *to, int count, uint32_t nan)
{
    const __m256 canonical = _mm256_castsi256_ps(_mm256_set1_epi32((int)nan));
    int done = count & ~7;
    for (int i = 0; i < done; i += 8) {
        __m256 v = _mm256_loadu_ps(x + i);
        __m256 rounded = _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
        __m256 is_nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
        _mm256_storeu_ps(to + i, _mm256_blendv_ps(rounded, canonical, is_nan));
    }
    return done;
}

#endif

#endif

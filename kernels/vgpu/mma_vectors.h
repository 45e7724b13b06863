/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Operations of mma_loops.h on 8 words or floats in 256 bits: AVX2, and AVX-512 too. */
#include "mma_tile.h"

#include <immintrin.h>

typedef __m256i words;
typedef __m256 floats;

static inline words w_set1(int32_t a)
{
    return _mm256_set1_epi32(a);
}

static inline words w_load(const void *p)
{
    return _mm256_load_si256(p);
}

static inline void w_store(void *p, words a)
{
    _mm256_store_si256(p, a);
}

static inline words w_add(words a, words b)
{
    return _mm256_add_epi32(a, b);
}

static inline words w_sub(words a, words b)
{
    return _mm256_sub_epi32(a, b);
}

static inline words w_and(words a, words b)
{
    return _mm256_and_si256(a, b);
}

static inline words w_or(words a, words b)
{
    return _mm256_or_si256(a, b);
}

static inline words w_max(words a, words b)
{
    return _mm256_max_epi32(a, b);
}

static inline words w_min(words a, words b)
{
    return _mm256_min_epi32(a, b);
}

static inline words w_equal(words a, words b)
{
    return _mm256_cmpeq_epi32(a, b);
}

static inline words w_less(words a, words b)
{
    return _mm256_cmpgt_epi32(b, a);
}

static inline words w_select(words which, words a, words b)
{
    return _mm256_blendv_epi8(b, a, which);
}

static inline words w_shift_right(words a, int by)
{
    return _mm256_srli_epi32(a, by);
}

static inline unsigned w_mask(words a)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(a));
}

static inline words w_from_floats(floats a)
{
    return _mm256_cvttps_epi32(a);
}

static inline floats f_set1(float a)
{
    return _mm256_set1_ps(a);
}

static inline floats f_load(const float *p)
{
    return _mm256_load_ps(p);
}

static inline floats f_mul(floats a, floats b)
{
    return _mm256_mul_ps(a, b);
}

/* 2^exponent; -127 gives 0. */
static inline floats f_power(words exponent)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(w_add(exponent, w_set1(127)), 23));
}

/* E2M1 in halves by its code. */
#define HALVES 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12

static inline __m256i low_nibbles(__m256i x)
{
    return _mm256_and_si256(x, _mm256_set1_epi8(15));
}

static inline void unpack_row(const uint32_t *first, const uint32_t *second, int8_t *even, int8_t *odd,
                              int32_t correction[4])
{
    const __m256i table = _mm256_setr_epi8(HALVES, HALVES), twelve = _mm256_set1_epi8(12);
    __m256i x = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)first)),
                                        _mm_loadu_si128((const __m128i *)second), 1);
    __m256i low = _mm256_shuffle_epi8(table, low_nibbles(x));
    __m256i high = _mm256_shuffle_epi8(table, low_nibbles(_mm256_srli_epi16(x, 4)));
    _mm256_store_si256((__m256i *)even, low);
    _mm256_store_si256((__m256i *)odd, high);
    __m256i sums = _mm256_add_epi64(_mm256_sad_epu8(_mm256_add_epi8(low, twelve), _mm256_setzero_si256()),
                                    _mm256_sad_epu8(_mm256_add_epi8(high, twelve), _mm256_setzero_si256()));
    int64_t sum[4]; /* of 16 elements, each plus 12 */
    _mm256_storeu_si256((__m256i *)sum, sums);
    for (int g = 0; g < 4; g++)
        correction[g] = 12 * (16 * 12 - (int32_t)sum[g]);
}

static inline void unpack_columns(const uint32_t *column, uint8_t *even, uint8_t *odd)
{
    const __m256i table = _mm256_add_epi8(_mm256_setr_epi8(HALVES, HALVES), _mm256_set1_epi8(12));
    __m256i x = _mm256_load_si256((const __m256i *)column);
    _mm256_store_si256((__m256i *)even, _mm256_shuffle_epi8(table, low_nibbles(x)));
    _mm256_store_si256((__m256i *)odd, _mm256_shuffle_epi8(table, low_nibbles(_mm256_srli_epi16(x, 4))));
}

static inline __m256i broadcast_four(const int8_t *elements)
{
    int32_t four;
    memcpy(&four, elements, sizeof four);
    return _mm256_set1_epi32(four);
}

/* Four bytes of 8 columns to 8 bytes of four rows. */
static inline void turn_bytes(const uint32_t *columns, uint8_t *rows)
{
    const __m256i by_row = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9,
                                            13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m256i halves = _mm256_shuffle_epi8(_mm256_load_si256((const __m256i *)columns), by_row);
    _mm256_store_si256((__m256i *)rows, _mm256_permutevar8x32_epi32(halves, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}

/* Largest of a[k] + b[k][n] for each of 8 columns n: four k a vector. */
static inline words largest_product(const int8_t *a, const int8_t *b)
{
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3,
                                            3, 3, 3, 3, 3, 3, 3);
    __m256i most = _mm256_set1_epi8(-128);
    for (int k = 0; k < 32; k += 4) {
        __m256i row = _mm256_shuffle_epi8(broadcast_four(a + k), spread);
        most = _mm256_max_epi8(most, _mm256_adds_epi8(row, _mm256_load_si256((const __m256i *)(b + 8 * k))));
    }
    __m128i two = _mm_max_epi8(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    return _mm256_cvtepi8_epi32(_mm_max_epi8(two, _mm_unpackhi_epi64(two, two)));
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* mma_loops.h with AVX2: doubles in two halves. */
#include "mma_vectors.h"

typedef struct doubles {
    __m256d low, high;
} doubles;

#define HALVES_OF(expression_low, expression_high) ((doubles){(expression_low), (expression_high)})

static inline doubles d_set1(double a)
{
    return HALVES_OF(_mm256_set1_pd(a), _mm256_set1_pd(a));
}

static inline doubles d_load(const double *p)
{
    return HALVES_OF(_mm256_load_pd(p), _mm256_load_pd(p + 4));
}

static inline doubles d_mul(doubles a, doubles b)
{
    return HALVES_OF(_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high));
}

static inline doubles d_add(doubles a, doubles b)
{
    return HALVES_OF(_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high));
}

static inline doubles d_sub(doubles a, doubles b)
{
    return HALVES_OF(_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high));
}

static inline doubles d_add_product(doubles sum, doubles a, doubles b)
{
    return HALVES_OF(_mm256_fmadd_pd(a.low, b.low, sum.low), _mm256_fmadd_pd(a.high, b.high, sum.high));
}

static inline doubles d_cut(doubles a)
{
    enum { CUT = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC };
    return HALVES_OF(_mm256_round_pd(a.low, CUT), _mm256_round_pd(a.high, CUT));
}

static inline doubles d_from_words(words a)
{
    return HALVES_OF(_mm256_cvtepi32_pd(_mm256_castsi256_si128(a)), _mm256_cvtepi32_pd(_mm256_extracti128_si256(a, 1)));
}

static inline doubles d_from_floats(words a)
{
    __m256 f = _mm256_castsi256_ps(a);
    return HALVES_OF(_mm256_cvtps_pd(_mm256_castps256_ps128(f)), _mm256_cvtps_pd(_mm256_extractf128_ps(f, 1)));
}

static inline __m256d power_of(__m128i field)
{
    return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_cvtepi32_epi64(field), 52));
}

static inline doubles d_power(words exponent)
{
    words field = w_add(exponent, w_set1(1023));
    return HALVES_OF(power_of(_mm256_castsi256_si128(field)), power_of(_mm256_extracti128_si256(field, 1)));
}

/* The sign, the exponent and the first `bits` of the mantissa. */
static inline doubles d_keep(doubles a, int bits)
{
    __m256d kept = _mm256_castsi256_pd(_mm256_set1_epi64x((int64_t)(~(uint64_t)0 << (52 - bits))));
    return HALVES_OF(_mm256_and_pd(a.low, kept), _mm256_and_pd(a.high, kept));
}

/* All bits of a half's numbers that are not normal in f32, nor zero. */
static inline __m256d outside_f32(__m256d a)
{
    __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
    __m256d small = _mm256_cmp_pd(size, _mm256_set1_pd(0x1p-126), _CMP_LT_OQ);
    __m256d zero = _mm256_cmp_pd(size, _mm256_setzero_pd(), _CMP_EQ_OQ);
    __m256d large = _mm256_cmp_pd(size, _mm256_set1_pd(0x1p128), _CMP_NLT_UQ);
    return _mm256_or_pd(_mm256_andnot_pd(zero, small), large);
}

static inline __m256i join(__m128 low, __m128 high)
{
    return _mm256_castps_si256(_mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1));
}

/* Rounded, where d_to_floats would say that a number is outside. */
static inline words d_round_to_floats(doubles a)
{
    return join(_mm256_cvtpd_ps(a.low), _mm256_cvtpd_ps(a.high));
}

/* Bits of numbers that a f32 holds; *outside: those beyond its normal range, but for zero. */
static inline words d_to_floats(doubles a, words *outside)
{
    __m256 low = _mm256_castpd_ps(outside_f32(a.low)), high = _mm256_castpd_ps(outside_f32(a.high));
    __m256 mixed = _mm256_shuffle_ps(low, high, 0x88); /* 0 1 4 5 | 2 3 6 7 */
    *outside = _mm256_castpd_si256(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xD8));
    return d_round_to_floats(a);
}

/* Two words of 8 elements: `b` has even and odd elements of the first for 8 columns, then of the second. Pair sums of
 * vpmaddubsw are at most 2 * 24 * 12, four of them at most 2304: nothing saturates. */
static inline words dot_group(const uint8_t *b, const int8_t *even, const int8_t *odd, int32_t correction)
{
    const __m256i *columns = (const __m256i *)b;
    __m256i first = _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_load_si256(columns), broadcast_four(even)),
                                     _mm256_maddubs_epi16(_mm256_load_si256(columns + 1), broadcast_four(odd)));
    __m256i second = _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_load_si256(columns + 2), broadcast_four(even + 4)),
                                      _mm256_maddubs_epi16(_mm256_load_si256(columns + 3), broadcast_four(odd + 4)));
    __m256i sum = _mm256_madd_epi16(_mm256_add_epi16(first, second), _mm256_set1_epi16(1));
    return _mm256_add_epi32(sum, _mm256_set1_epi32(correction));
}

static inline void decode_values(const decoder *how, __m128i bytes, double *value)
{
    __m256i halves = to_halves(how, bytes);
    __m256 power = _mm256_set1_ps(how->power);
    for (int i = 0; i < 2; i++) {
        __m128i eight = i == 0 ? _mm256_castsi256_si128(halves) : _mm256_extracti128_si256(halves, 1);
        __m256 f = _mm256_mul_ps(_mm256_cvtph_ps(eight), power);
        _mm256_store_pd(value + 8 * i, _mm256_cvtps_pd(_mm256_castps256_ps128(f)));
        _mm256_store_pd(value + 8 * i + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(f, 1)));
    }
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

static inline void limits_of(const int8_t (*a)[32], const int8_t *b, const int32_t *plus, int32_t *limit)
{
    _mm_store_si128((__m128i *)limit, limits_of_four(a, b, plus));
}

#define ROWS_AT_ONCE 4
#define TILE_GROUPS fpo_tile_groups_avx2
#define TILE_SINGLE fpo_tile_single_avx2
#define CUT_ROWS cut_rows_one_by_one
#include "mma_loops.h"

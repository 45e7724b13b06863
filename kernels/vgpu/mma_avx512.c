/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* mma_loops.h with AVX-512 VNNI: 8 doubles are one vector, and four products of bytes one instruction. */
#include "mma_vectors.h"

typedef __m512d doubles;

static inline doubles d_set1(double a)
{
    return _mm512_set1_pd(a);
}

static inline doubles d_load(const double *p)
{
    return _mm512_load_pd(p);
}

static inline doubles d_mul(doubles a, doubles b)
{
    return _mm512_mul_pd(a, b);
}

static inline doubles d_add(doubles a, doubles b)
{
    return _mm512_add_pd(a, b);
}

static inline doubles d_sub(doubles a, doubles b)
{
    return _mm512_sub_pd(a, b);
}

static inline doubles d_add_product(doubles sum, doubles a, doubles b)
{
    return _mm512_fmadd_pd(a, b, sum);
}

static inline doubles d_cut(doubles a)
{
    return _mm512_roundscale_pd(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

static inline doubles d_from_words(words a)
{
    return _mm512_cvtepi32_pd(a);
}

static inline doubles d_from_floats(words a)
{
    return _mm512_cvtps_pd(_mm256_castsi256_ps(a));
}

static inline doubles d_power(words exponent)
{
    __m512i field = _mm512_cvtepi32_epi64(w_add(exponent, w_set1(1023)));
    return _mm512_castsi512_pd(_mm512_slli_epi64(field, 52));
}

/* The sign, the exponent and the first `bits` of the mantissa. */
static inline doubles d_keep(doubles a, int bits)
{
    __m512i kept = _mm512_set1_epi64((int64_t)(~(uint64_t)0 << (52 - bits)));
    return _mm512_castsi512_pd(_mm512_and_si512(_mm512_castpd_si512(a), kept));
}

/* Bits of numbers that a f32 holds; *outside: those beyond its normal range, but for zero. */
static inline words d_to_floats(doubles a, words *outside)
{
    doubles size = _mm512_abs_pd(a);
    __mmask8 small = _mm512_cmp_pd_mask(size, _mm512_set1_pd(0x1p-126), _CMP_LT_OQ);
    __mmask8 zero = _mm512_cmp_pd_mask(size, _mm512_setzero_pd(), _CMP_EQ_OQ);
    __mmask8 large = _mm512_cmp_pd_mask(size, _mm512_set1_pd(0x1p128), _CMP_NLT_UQ);
    *outside = _mm256_movm_epi32((__mmask8)((small & ~zero) | large));
    return _mm256_castps_si256(_mm512_cvtpd_ps(a));
}

/* Two words of 8 elements: `b` has even and odd elements of the first for 8 columns, then of the second. */
static inline words dot_group(const uint8_t *b, const int8_t *even, const int8_t *odd, int32_t correction)
{
    const __m256i *columns = (const __m256i *)b;
    __m256i sum = _mm256_set1_epi32(correction);
    sum = _mm256_dpbusd_epi32(sum, _mm256_load_si256(columns), broadcast_four(even));
    sum = _mm256_dpbusd_epi32(sum, _mm256_load_si256(columns + 1), broadcast_four(odd));
    sum = _mm256_dpbusd_epi32(sum, _mm256_load_si256(columns + 2), broadcast_four(even + 4));
    return _mm256_dpbusd_epi32(sum, _mm256_load_si256(columns + 3), broadcast_four(odd + 4));
}

static inline void decode_values(const decoder *how, __m128i bytes, double *value)
{
    __m512 f = _mm512_mul_ps(_mm512_cvtph_ps(to_halves(how, bytes)), _mm512_set1_ps(how->power));
    _mm512_store_pd(value, _mm512_cvtps_pd(_mm512_castps512_ps256(f)));
    _mm512_store_pd(value + 8, _mm512_cvtps_pd(_mm512_extractf32x8_ps(f, 1)));
}

/* Largest of a[k] + b[k][n] for each of 8 columns n: eight k a vector. */
static inline words largest_product(const int8_t *a, const int8_t *b)
{
    /* Each quarter has all eight bytes twice, and keeps two of them, eight times each. */
    const __m512i spread = _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505,
                                            0x0404040404040404, 0x0303030303030303, 0x0202020202020202,
                                            0x0101010101010101, 0);
    __m512i most = _mm512_set1_epi8(-128);
    for (int k = 0; k < 32; k += 8) {
        int64_t eight;
        memcpy(&eight, a + k, sizeof eight);
        __m512i row = _mm512_shuffle_epi8(_mm512_set1_epi64(eight), spread);
        most = _mm512_max_epi8(most, _mm512_adds_epi8(row, _mm512_load_si512(b + 8 * k)));
    }
    __m256i four = _mm256_max_epi8(_mm512_castsi512_si256(most), _mm512_extracti64x4_epi64(most, 1));
    __m128i two = _mm_max_epi8(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return _mm256_cvtepi8_epi32(_mm_max_epi8(two, _mm_unpackhi_epi64(two, two)));
}

#define ROWS_AT_ONCE 8
#define TILE_GROUPS fpo_tile_groups_avx512
#define TILE_SINGLE fpo_tile_single_avx512
#include "mma_loops.h"

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

#define ROWS_AT_ONCE 8
#define TILE_GROUPS fpo_tile_groups_avx512
#define TILE_SINGLE fpo_tile_single_avx512
#include "mma_loops.h"

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

/* Rounded, where d_to_floats would say that a number is outside. */
static inline words d_round_to_floats(doubles a)
{
    return _mm256_castps_si256(_mm512_cvtpd_ps(a));
}

/* Bits of numbers that a f32 holds; *outside: those beyond its normal range, but for zero. */
static inline words d_to_floats(doubles a, words *outside)
{
    doubles size = _mm512_abs_pd(a);
    __mmask8 small = _mm512_cmp_pd_mask(size, _mm512_set1_pd(0x1p-126), _CMP_LT_OQ);
    __mmask8 zero = _mm512_cmp_pd_mask(size, _mm512_setzero_pd(), _CMP_EQ_OQ);
    __mmask8 large = _mm512_cmp_pd_mask(size, _mm512_set1_pd(0x1p128), _CMP_NLT_UQ);
    *outside = _mm256_movm_epi32((__mmask8)((small & ~zero) | large));
    return d_round_to_floats(a);
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

static inline void limits_of(const int8_t (*a)[32], const int8_t *b, const int32_t *plus, int32_t *limit)
{
    w_store(limit, _mm256_set_m128i(limits_of_four(a + 4, b, plus + 4), limits_of_four(a, b, plus)));
}

#define ROWS_AT_ONCE 8
#define TILE_GROUPS fpo_tile_groups_avx512
#define TILE_SINGLE fpo_tile_single_avx512
#define CUT_ROWS cut_rows_two_by_two
#include "mma_loops.h"

/* Two rows of C lie side by side in each of its registers: a vector has the even columns of both, then the odd ones. */
static inline uint32_t cut_rows_two_by_two(const numbers *x, const fpo_mma_tile *tile, const fpo_single_a *a, int first,
                                           const fpo_single_b *b, const int32_t *whole)
{
    enum { FIRST_ROW = 0x0F0F, SECOND_ROW = 0xF0F0 }; /* of both, in a vector */
    const __m512i columns = _mm512_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7);
    const __m512i reach = _mm512_permutexvar_epi32(columns, _mm512_castsi256_si512(w_load(b->reach)));
    const __m512i scale = _mm512_permutexvar_epi32(columns, _mm512_castsi256_si512(w_load(b->scale)));
    const __m512i reach_a = _mm512_castsi256_si512(w_load(&a->reach[first]));
    const __m512i whole_a = _mm512_castsi256_si512(w_load(whole));
    const __m512i floor = _mm512_broadcastq_epi64(_mm256_castsi256_si128(x->floor));
    const __m512i spare = _mm512_broadcastq_epi64(_mm256_castsi256_si128(x->spare));
    const uint32_t *const *half = &tile->c[first / 8 * 2]; /* `first` is a multiple of 8 */
    uint32_t rows = 0;
    __m512i row = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1);
#pragma GCC unroll 4
    for (int r = 0; r < ROWS_AT_ONCE; r += 2, row = _mm512_add_epi32(row, _mm512_set1_epi32(2))) {
        __m256i even = _mm256_loadu_si256((const __m256i *)(half[0] + 4 * r));
        __m256i odd = _mm256_loadu_si256((const __m256i *)(half[1] + 4 * r));
        __m512i c = _mm512_inserti64x4(_mm512_castsi256_si512(even), odd, 1);
        __m512i field = _mm512_and_si512(_mm512_srli_epi32(c, 23), _mm512_set1_epi32(255));
        __m512i own = _mm512_max_epi32(field, _mm512_set1_epi32(1));
        __m512i products = _mm512_add_epi32(reach, _mm512_permutexvar_epi32(row, reach_a));
        __m512i e = _mm512_max_epi32(_mm512_max_epi32(own, floor), products);
        __mmask16 not_zero = _mm512_test_epi32_mask(c, _mm512_set1_epi32(0x7FFFFFFF));
        __mmask16 c_cut = _mm512_mask_cmpgt_epi32_mask(not_zero, _mm512_sub_epi32(e, own), spare);
        __m512i limit = _mm512_permutexvar_epi32(row, whole_a);
        uint32_t cut = (uint32_t)(c_cut | _mm512_cmpgt_epi32_mask(_mm512_sub_epi32(e, scale), limit));
        rows |= (uint32_t)((cut & FIRST_ROW) != 0) << r | (uint32_t)((cut & SECOND_ROW) != 0) << (r + 1);
    }
    return rows;
}

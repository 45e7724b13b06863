/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Operations of mma_loops.h on 8 words in 256 bits: AVX2, and AVX-512 too. */
#include "mma_tile.h"

#include <immintrin.h>

typedef __m256i words;

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

static inline words w_load_halves(const void *low, const void *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high), 1);
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

static inline int32_t w_least(words a)
{
    __m128i least = _mm_min_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    least = _mm_min_epi32(least, _mm_shuffle_epi32(least, 0x4E));
    return _mm_cvtsi128_si32(_mm_min_epi32(least, _mm_shuffle_epi32(least, 0xB1)));
}

/* Bit k: a[k] + b[k] < limit, of 32. */
static inline uint32_t below(const int8_t *a, const int8_t *b, int limit)
{
    __m256i sum = _mm256_adds_epi8(_mm256_load_si256((const __m256i *)a), _mm256_load_si256((const __m256i *)b));
    __m256i limits = _mm256_set1_epi8((int8_t)(limit < -128 ? -128 : limit > 127 ? 127 : limit));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(limits, sum));
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
    __m256i x = w_load_halves(first, second);
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

static inline void unpack_columns(words x, uint8_t *even, uint8_t *odd)
{
    const __m256i table = _mm256_add_epi8(_mm256_setr_epi8(HALVES, HALVES), _mm256_set1_epi8(12));
    _mm256_store_si256((__m256i *)even, _mm256_shuffle_epi8(table, low_nibbles(x)));
    _mm256_store_si256((__m256i *)odd, _mm256_shuffle_epi8(table, low_nibbles(_mm256_srli_epi16(x, 4))));
}

static inline __m256i broadcast_four(const int8_t *elements)
{
    int32_t four;
    memcpy(&four, elements, sizeof four);
    return _mm256_set1_epi32(four);
}

/* Four words of each of 8 columns: row i has word i of all, the even columns first. */
static inline void turn_words(const uint32_t *columns, words rows[4])
{
    __m256i zero = w_load_halves(columns, columns + 4), one = w_load_halves(columns + 8, columns + 12);
    __m256i two = w_load_halves(columns + 16, columns + 20), three = w_load_halves(columns + 24, columns + 28);
    __m256i low = _mm256_unpacklo_epi32(zero, one), high = _mm256_unpackhi_epi32(zero, one);
    __m256i next_low = _mm256_unpacklo_epi32(two, three), next_high = _mm256_unpackhi_epi32(two, three);
    rows[0] = _mm256_unpacklo_epi64(low, next_low);
    rows[1] = _mm256_unpackhi_epi64(low, next_low);
    rows[2] = _mm256_unpacklo_epi64(high, next_high);
    rows[3] = _mm256_unpackhi_epi64(high, next_high);
}

/* Four bytes of 8 columns to 8 bytes of four rows. */
static inline words turn_bytes(words columns)
{
    const __m256i by_row = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9,
                                            13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(columns, by_row), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* fpo_tile_numbers as vectors. */
typedef struct decoder {
    __m256i sign, magnitude; /* of halves */
    __m128i sign_shift, half_shift;
    float power;
    __m256i magnitudes, fields, bias, special; /* of bytes */
    __m128i field_shift;
} decoder;

static inline decoder decoder_of(const fpo_tile_numbers *numbers)
{
    return (decoder){.sign = _mm256_set1_epi16(numbers->sign),
                     .magnitude = _mm256_set1_epi16(numbers->magnitude),
                     .sign_shift = _mm_cvtsi32_si128(numbers->sign_shift),
                     .half_shift = _mm_cvtsi32_si128(numbers->half_shift),
                     .power = numbers->power,
                     .magnitudes = _mm256_set1_epi8((char)numbers->magnitude),
                     .fields = _mm256_set1_epi8((char)(numbers->magnitude >> numbers->field_shift)),
                     .bias = _mm256_set1_epi8((char)numbers->bias),
                     .special = _mm256_set1_epi8((char)numbers->special),
                     .field_shift = _mm_cvtsi32_si128(numbers->field_shift)};
}

/* Sixteen elements: mma_avx2.c, mma_avx512.c. */
static inline void decode_values(const decoder *how, __m128i bytes, double *value);

/* 32 elements. */
static inline void decode(const decoder *how, words bytes, double *value, int8_t *exponent, int8_t *least)
{
    __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
    decode_values(how, low, value);
    decode_values(how, high, value + 16);
    __m256i magnitude = _mm256_and_si256(bytes, how->magnitudes);
    __m256i field = _mm256_and_si256(_mm256_srl_epi16(magnitude, how->field_shift), how->fields);
    __m256i e = _mm256_sub_epi8(_mm256_max_epu8(field, _mm256_set1_epi8(1)), how->bias);
    __m256i zero = _mm256_cmpeq_epi8(magnitude, _mm256_setzero_si256());
    __m256i special = _mm256_cmpeq_epi8(_mm256_max_epu8(magnitude, how->special), magnitude);
    e = _mm256_blendv_epi8(e, _mm256_set1_epi8(FPO_TILE_SPECIAL), special);
    _mm256_store_si256((__m256i *)exponent, _mm256_blendv_epi8(e, _mm256_set1_epi8(FPO_TILE_ZERO), zero));
    _mm256_store_si256((__m256i *)least, _mm256_blendv_epi8(e, _mm256_set1_epi8(FPO_TILE_NO_LEAST), zero));
}

/* Sixteen bytes to IEEE halves that are to be multiplied by `power`. */
static inline __m256i to_halves(const decoder *how, __m128i bytes)
{
    __m256i x = _mm256_cvtepu8_epi16(bytes);
    __m256i sign = _mm256_sll_epi16(_mm256_and_si256(x, how->sign), how->sign_shift);
    return _mm256_or_si256(sign, _mm256_sll_epi16(_mm256_and_si256(x, how->magnitude), how->half_shift));
}

/* The least of each of four rows of 8. */
static inline void least_of_eights(const int8_t *rows, int8_t *least)
{
    __m256i x = _mm256_load_si256((const __m256i *)rows);
    x = _mm256_min_epi8(x, _mm256_srli_epi64(x, 32));
    x = _mm256_min_epi8(x, _mm256_srli_epi64(x, 16));
    x = _mm256_min_epi8(x, _mm256_srli_epi64(x, 8));
    least[0] = (int8_t)_mm256_extract_epi8(x, 0);
    least[1] = (int8_t)_mm256_extract_epi8(x, 8);
    least[2] = (int8_t)_mm256_extract_epi8(x, 16);
    least[3] = (int8_t)_mm256_extract_epi8(x, 24);
}

/* For four rows, the least of a[k] + b[k], plus plus[row]. */
static inline __m128i limits_of_four(const int8_t (*a)[32], const int8_t *b, const int32_t *plus)
{
    const __m256i column = _mm256_load_si256((const __m256i *)b);
    __m256i x[4];
    for (int r = 0; r < 4; r++)
        x[r] = _mm256_adds_epi8(_mm256_load_si256((const __m256i *)a[r]), column);
    __m256i even = _mm256_min_epi8(_mm256_unpacklo_epi8(x[0], x[1]), _mm256_unpackhi_epi8(x[0], x[1]));
    __m256i odd = _mm256_min_epi8(_mm256_unpacklo_epi8(x[2], x[3]), _mm256_unpackhi_epi8(x[2], x[3]));
    __m256i all = _mm256_min_epi8(_mm256_unpacklo_epi16(even, odd), _mm256_unpackhi_epi16(even, odd));
    __m128i least = _mm_min_epi8(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    least = _mm_min_epi8(least, _mm_shuffle_epi32(least, 0x4E));
    least = _mm_min_epi8(least, _mm_shuffle_epi32(least, 0xB1));
    return _mm_add_epi32(_mm_cvtepi8_epi32(least), _mm_load_si128((const __m128i *)plus));
}

/* Largest of 32 elements of each of 8 columns. */
static inline words largest_of_columns(const int8_t *rows)
{
    __m256i most = _mm256_load_si256((const __m256i *)rows);
    for (int i = 32; i < 256; i += 32)
        most = _mm256_max_epi8(most, _mm256_load_si256((const __m256i *)(rows + i)));
    __m128i two = _mm_max_epi8(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    return _mm256_cvtepi8_epi32(_mm_max_epi8(two, _mm_unpackhi_epi64(two, two)));
}

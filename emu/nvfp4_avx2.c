/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* NVFP4 with AVX2: 8 columns a vector, so a panel is done in two halves. */
#include "nvfp4.h"

#include <immintrin.h>
#include <string.h>

enum { EVEN, ODD, PARITIES, HALF = FPO_NVFP4_COLUMNS / 2, LANES = 4 };

static inline __m256i broadcast_four(const int8_t *elements)
{
    int32_t four;
    memcpy(&four, elements, sizeof four);
    return _mm256_set1_epi32(four);
}

/* One block of one row times 8 columns, then times the columns' scales: below 2^30. The pair sums of vpmaddubsw are at
 * most 2 * 24 * 12, four of them at most 2304: nothing saturates. */
static inline __m256i scaled_block(const int8_t *a, int32_t correction, const __m256i b[4], __m256i b_scale)
{
    __m256i pairs = _mm256_maddubs_epi16(b[0], broadcast_four(a));
#pragma GCC unroll 4
    for (int i = 1; i < 4; i++)
        pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(b[i], broadcast_four(a + 4 * i)));
    __m256i sum = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    return _mm256_mullo_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(correction)), b_scale);
}

static inline void add_block(__m256i acc[PARITIES], __m256i scaled, int32_t a_scale)
{
    __m256i scale = _mm256_set1_epi32(a_scale);
    acc[EVEN] = _mm256_add_epi64(acc[EVEN], _mm256_mul_epi32(scaled, scale));
    acc[ODD] = _mm256_add_epi64(acc[ODD], _mm256_mul_epi32(_mm256_srli_epi64(scaled, 32), scale));
}

static inline void load_block(const fpo_nvfp4 *p, int64_t panel, int half, int64_t block, __m256i b[4],
                              __m256i *b_scale)
{
    int64_t blocks = p->steps * FPO_NVFP4_BLOCKS;
    const uint8_t *elements =
        p->b.elements + (panel * blocks + block) * FPO_NVFP4_BLOCK * FPO_NVFP4_COLUMNS + half * 4 * HALF;
    const int32_t *scales = p->b.scales + (panel * blocks + block) * FPO_NVFP4_COLUMNS + half * HALF;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        b[i] = _mm256_load_si256((const __m256i *)(elements + 4 * FPO_NVFP4_COLUMNS * i));
    *b_scale = _mm256_load_si256((const __m256i *)scales);
}

/* Adds the blocks [first, last) of 4 rows and half a panel. */
static inline void add_blocks(const fpo_nvfp4 *p, int64_t row, int64_t panel, int half, int64_t first, int64_t last,
                              __m256i acc[FPO_NVFP4_ROWS][PARITIES])
{
    int64_t blocks = p->steps * FPO_NVFP4_BLOCKS;
    for (int64_t block = first; block < last; block++) {
        __m256i b[4], b_scale;
        load_block(p, panel, half, block, b, &b_scale);
#pragma GCC unroll 4 /* keeps acc in registers */
        for (int r = 0; r < FPO_NVFP4_ROWS; r++) {
            int64_t at = (row + r) * blocks + block;
            __m256i scaled = scaled_block(p->a.elements + at * FPO_NVFP4_BLOCK, p->a.corrections[at], b, b_scale);
            add_block(acc[r], scaled, p->a.scales[at]);
        }
    }
}

static void sums_half(const fpo_nvfp4 *p, int64_t row, int64_t panel, int half, int64_t *sums)
{
    __m256i acc[FPO_NVFP4_ROWS][PARITIES];
    for (int r = 0; r < FPO_NVFP4_ROWS; r++)
        acc[r][EVEN] = acc[r][ODD] = _mm256_setzero_si256();
    add_blocks(p, row, panel, half, 0, p->steps * FPO_NVFP4_BLOCKS, acc);
    for (int r = 0; r < FPO_NVFP4_ROWS; r++) {
        int64_t parts[PARITIES][LANES];
        _mm256_storeu_si256((__m256i *)parts[EVEN], acc[r][EVEN]);
        _mm256_storeu_si256((__m256i *)parts[ODD], acc[r][ODD]);
        for (int c = 0; c < HALF; c++)
            sums[r * FPO_NVFP4_COLUMNS + half * HALF + c] = parts[c % 2][c / 2];
    }
}

void fpo_nvfp4_sums_avx2(const fpo_nvfp4 *p, int64_t row, int64_t panel, int64_t *sums)
{
    for (int half = 0; half < 2; half++)
        sums_half(p, row, panel, half, sums);
}

/* An int64 below 2^51 in magnitude as a double: AVX2 has no conversion. */
static inline __m256d to_double(__m256i x)
{
    const __m256d magic = _mm256_set1_pd(0x1.8p52);
    return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(x, _mm256_castpd_si256(magic))), magic);
}

/* One chain step of 4 columns of one parity: c + sum * 2^-20, exact in a double where nothing is truncated, cut to 24
 * bits toward zero. Returns the columns for which that does not hold. */
static inline int step(__m256d *c, __m256i sum, double ceiling)
{
    const __m256d kept = _mm256_castsi256_pd(_mm256_set1_epi64x(~(int64_t)0x1FFFFFFF));
    __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), *c);
    __m256d large = _mm256_cmp_pd(size, _mm256_set1_pd(ceiling), _CMP_NLT_UQ);
    __m256d exact = _mm256_fmadd_pd(to_double(sum), _mm256_set1_pd(0x1p-20), *c);
    *c = _mm256_and_pd(exact, kept);
    return _mm256_movemask_pd(large);
}

/* The columns in `left` of a parity once more, by the generic step. `column` is the first of the half panel. */
static void redo(__m256d *c, __m256d before, int left, int parity, int64_t row, int64_t column, int64_t at,
                 fpo_nvfp4_generic_step *generic, const void *closure)
{
    double old[LANES], new[LANES];
    _mm256_storeu_pd(old, before);
    _mm256_storeu_pd(new, *c);
    for (int i = 0; i < LANES; i++)
        if (left >> i & 1)
            new[i] = generic(closure, row, column + 2 * i + parity, at, (float)old[i]);
    *c = _mm256_loadu_pd(new);
}

static void chain_half(const fpo_nvfp4 *p, int64_t row, int64_t panel, int half, double reach,
                       fpo_nvfp4_generic_step *generic, const void *closure, float *acc)
{
    int64_t column = panel * FPO_NVFP4_COLUMNS + half * HALF;
    __m256d c[FPO_NVFP4_ROWS][PARITIES];
    double ceiling[FPO_NVFP4_ROWS];
    for (int r = 0; r < FPO_NVFP4_ROWS; r++) {
        c[r][EVEN] = c[r][ODD] = _mm256_setzero_pd();
        ceiling[r] = fpo_nvfp4_ceiling(p, row + r, panel, reach);
    }
    for (int64_t at = 0; at < p->steps; at++) {
        __m256i sum[FPO_NVFP4_ROWS][PARITIES];
        for (int r = 0; r < FPO_NVFP4_ROWS; r++)
            sum[r][EVEN] = sum[r][ODD] = _mm256_setzero_si256();
        add_blocks(p, row, panel, half, at * FPO_NVFP4_BLOCKS, (at + 1) * FPO_NVFP4_BLOCKS, sum);
#pragma GCC unroll 4
        for (int r = 0; r < FPO_NVFP4_ROWS; r++) {
#pragma GCC unroll 2
            for (int parity = 0; parity < PARITIES; parity++) {
                __m256d before = c[r][parity];
                int left = step(&c[r][parity], sum[r][parity], ceiling[r]);
                if (__builtin_expect(left != 0, 0))
                    redo(&c[r][parity], before, left, parity, row + r, column, at, generic, closure);
            }
        }
    }
    for (int r = 0; r < FPO_NVFP4_ROWS; r++) {
        double parts[PARITIES][LANES];
        _mm256_storeu_pd(parts[EVEN], c[r][EVEN]);
        _mm256_storeu_pd(parts[ODD], c[r][ODD]);
        for (int i = 0; i < HALF; i++)
            acc[r * FPO_NVFP4_COLUMNS + half * HALF + i] = (float)parts[i % 2][i / 2];
    }
}

void fpo_nvfp4_chain_avx2(const fpo_nvfp4 *p, int64_t row, int64_t panel, double reach, fpo_nvfp4_generic_step *generic,
                          const void *closure, float *acc)
{
    for (int half = 0; half < 2; half++)
        chain_half(p, row, panel, half, reach, generic, closure, acc);
}

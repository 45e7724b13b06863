/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* NVFP4 with AVX-512 VNNI: 16 columns a vector. */
#include "nvfp4.h"

#include <immintrin.h>
#include <string.h>

/* Columns 0, 2, .. and 1, 3, ..: 32-bit products widen to 64 bits by parity. */
enum { EVEN, ODD, PARITIES };

static inline __m512i broadcast_four(const int8_t *elements)
{
    int32_t four;
    memcpy(&four, elements, sizeof four);
    return _mm512_set1_epi32(four);
}

/* One block of one row times 16 columns, then times the columns' scales: below 2^30. */
static inline __m512i scaled_block(const int8_t *a, int32_t correction, const __m512i b[4], __m512i b_scale)
{
    __m512i sum = _mm512_set1_epi32(correction);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        sum = _mm512_dpbusd_epi32(sum, b[i], broadcast_four(a + 4 * i));
    return _mm512_mullo_epi32(sum, b_scale);
}

static inline void add_block(__m512i acc[PARITIES], __m512i scaled, int32_t a_scale)
{
    __m512i scale = _mm512_set1_epi32(a_scale);
    acc[EVEN] = _mm512_add_epi64(acc[EVEN], _mm512_mul_epi32(scaled, scale));
    acc[ODD] = _mm512_add_epi64(acc[ODD], _mm512_mul_epi32(_mm512_srli_epi64(scaled, 32), scale));
}

static inline void load_block(const fpo_nvfp4 *p, int64_t panel, int64_t block, __m512i b[4], __m512i *b_scale)
{
    int64_t blocks = p->steps * FPO_NVFP4_BLOCKS;
    const uint8_t *elements = p->b.elements + (panel * blocks + block) * FPO_NVFP4_BLOCK * FPO_NVFP4_COLUMNS;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        b[i] = _mm512_load_si512(elements + 64 * i);
    *b_scale = _mm512_load_si512(p->b.scales + (panel * blocks + block) * FPO_NVFP4_COLUMNS);
}

static inline void store_sums(const __m512i acc[PARITIES], int64_t *sums)
{
    int64_t parts[PARITIES][8];
    _mm512_storeu_si512(parts[EVEN], acc[EVEN]);
    _mm512_storeu_si512(parts[ODD], acc[ODD]);
    for (int c = 0; c < FPO_NVFP4_COLUMNS; c++)
        sums[c] = parts[c % 2][c / 2];
}

/* Adds the blocks [first, last) of 4 rows and a panel. */
static inline void add_blocks(const fpo_nvfp4 *p, int64_t row, int64_t panel, int64_t first, int64_t last,
                              __m512i acc[FPO_NVFP4_ROWS][PARITIES])
{
    int64_t blocks = p->steps * FPO_NVFP4_BLOCKS;
    for (int64_t block = first; block < last; block++) {
        __m512i b[4], b_scale;
        load_block(p, panel, block, b, &b_scale);
#pragma GCC unroll 4 /* keeps acc in registers */
        for (int r = 0; r < FPO_NVFP4_ROWS; r++) {
            int64_t at = (row + r) * blocks + block;
            __m512i scaled = scaled_block(p->a.elements + at * FPO_NVFP4_BLOCK, p->a.corrections[at], b, b_scale);
            add_block(acc[r], scaled, p->a.scales[at]);
        }
    }
}

void fpo_nvfp4_sums_avx512(const fpo_nvfp4 *p, int64_t row, int64_t panel, int64_t *sums)
{
    int64_t blocks = p->steps * FPO_NVFP4_BLOCKS;
    __m512i acc[FPO_NVFP4_ROWS][PARITIES];
    for (int r = 0; r < FPO_NVFP4_ROWS; r++)
        acc[r][EVEN] = acc[r][ODD] = _mm512_setzero_si512();

    add_blocks(p, row, panel, 0, blocks, acc);
    for (int r = 0; r < FPO_NVFP4_ROWS; r++)
        store_sums(acc[r], sums + r * FPO_NVFP4_COLUMNS);
}

/* One chain step of 8 columns of one parity: c + sum * 2^-20, exact in a double where nothing is truncated, cut to 24
 * bits toward zero. Returns the columns for which that does not hold. */
static inline __mmask8 step(__m512d *c, __m512i sum, double ceiling)
{
    const __m512d unit = _mm512_set1_pd(0x1p-20);
    const __m512i kept = _mm512_set1_epi64(~(int64_t)0x1FFFFFFF);
    __m512d size = _mm512_abs_pd(*c);
    __mmask8 large = _mm512_cmp_pd_mask(size, _mm512_set1_pd(ceiling), _CMP_NLT_UQ);
    __m512d exact = _mm512_fmadd_pd(_mm512_cvtepi64_pd(sum), unit, *c);
    *c = _mm512_castsi512_pd(_mm512_and_si512(_mm512_castpd_si512(exact), kept));
    return large;
}

/* The columns in `left` of a parity once more, by the generic step. */
static void redo(__m512d *c, __m512d before, __mmask8 left, int parity, int64_t row, int64_t panel, int64_t at,
                 fpo_nvfp4_generic_step *generic, const void *closure)
{
    double old[8], new[8];
    _mm512_storeu_pd(old, before);
    _mm512_storeu_pd(new, *c);
    for (int i = 0; i < 8; i++)
        if (left >> i & 1)
            new[i] = generic(closure, row, panel * FPO_NVFP4_COLUMNS + 2 * i + parity, at, (float)old[i]);
    *c = _mm512_loadu_pd(new);
}

void fpo_nvfp4_chain_avx512(const fpo_nvfp4 *p, int64_t row, int64_t panel, double reach,
                            fpo_nvfp4_generic_step *generic, const void *closure, float *acc)
{
    __m512d c[FPO_NVFP4_ROWS][PARITIES];
    double ceiling[FPO_NVFP4_ROWS];
    for (int r = 0; r < FPO_NVFP4_ROWS; r++) {
        c[r][EVEN] = c[r][ODD] = _mm512_setzero_pd();
        ceiling[r] = fpo_nvfp4_ceiling(p, row + r, panel, reach);
    }

    for (int64_t at = 0; at < p->steps; at++) {
        __m512i sum[FPO_NVFP4_ROWS][PARITIES];
        for (int r = 0; r < FPO_NVFP4_ROWS; r++)
            sum[r][EVEN] = sum[r][ODD] = _mm512_setzero_si512();
        add_blocks(p, row, panel, at * FPO_NVFP4_BLOCKS, (at + 1) * FPO_NVFP4_BLOCKS, sum);
#pragma GCC unroll 4
        for (int r = 0; r < FPO_NVFP4_ROWS; r++) {
#pragma GCC unroll 2
            for (int parity = 0; parity < PARITIES; parity++) {
                __m512d before = c[r][parity];
                __mmask8 left = step(&c[r][parity], sum[r][parity], ceiling[r]);
                if (__builtin_expect(left != 0, 0))
                    redo(&c[r][parity], before, left, parity, row + r, panel, at, generic, closure);
            }
        }
    }
    for (int r = 0; r < FPO_NVFP4_ROWS; r++) {
        double parts[PARITIES][8];
        _mm512_storeu_pd(parts[EVEN], c[r][EVEN]);
        _mm512_storeu_pd(parts[ODD], c[r][ODD]);
        for (int i = 0; i < FPO_NVFP4_COLUMNS; i++)
            acc[r * FPO_NVFP4_COLUMNS + i] = (float)parts[i % 2][i / 2];
    }
}

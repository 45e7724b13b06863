/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* mma.sync m16n8 of a whole warp as vectors over the 8 columns, once for each instruction set with the same bits:
 * FP4 with K = 64 in groups of 16, and elements of up to 8 bits with K = 32 in one sum. What leaves the common case
 * (NaN, infinities, subnormal results, overflow) is left to the general step. */
#ifndef FP4ORACLE_KERNELS_VGPU_MMA_TILE_H
#define FP4ORACLE_KERNELS_VGPU_MMA_TILE_H

#include "mma.h"

enum { FPO_TILE_ROWS = 16, FPO_TILE_COLUMNS = 8 };

/* Scales in a register of 32 lanes, from bit `shift` on. Of A, lanes 2 * thread and 2 * thread + 1 of each quad g have
 * those of rows g and g + 8; of B, lane `thread` of quad n has those of column n. */
typedef struct fpo_tile_scales {
    const uint32_t *lanes; /* NULL: none */
    uint32_t thread, shift;
} fpo_tile_scales;

/* Registers of C and of D have columns of one parity each, four of a row side by side. The loops keep this order: the
 * even columns stand before the odd ones in d and left. */
typedef struct fpo_mma_tile {
    const uint32_t *a[4], *b[2], *c[4]; /* fragments: registers of 32 lanes */
    fpo_tile_scales a_scales, b_scales;
    _Alignas(32) uint32_t d[FPO_TILE_ROWS][FPO_TILE_COLUMNS];
    uint8_t left[FPO_TILE_ROWS]; /* bit n: d[m][n] is C */
} fpo_mma_tile;

/* The column that stands at a place. */
static inline int fpo_tile_column(int place)
{
    return place % (FPO_TILE_COLUMNS / 2) * 2 + place / (FPO_TILE_COLUMNS / 2);
}

/* Scale i of a row of A; of the column at a place. */
static inline uint8_t fpo_tile_scale_a(const fpo_mma_tile *tile, int row, int i)
{
    const fpo_tile_scales *s = &tile->a_scales;
    return (uint8_t)(s->lanes[(unsigned)(row % 8 * 4 + row / 8) + 2 * s->thread] >> (s->shift + 8 * (unsigned)i));
}

static inline uint8_t fpo_tile_scale_b(const fpo_mma_tile *tile, int place, int i)
{
    const fpo_tile_scales *s = &tile->b_scales;
    return (uint8_t)(s->lanes[(unsigned)(4 * fpo_tile_column(place)) + s->thread] >> (s->shift + 8 * (unsigned)i));
}

/* Which loops serve a unit; NULL: none, and the general step computes every output. */
fpo_tile_function *fpo_mma_tile_for(const fpo_mma_unit *unit, fpo_isa isa);
/* Fills what the loops read of a unit. */
void fpo_mma_tile_prepare(fpo_mma_unit *unit);

/* What the loops made of fragments and scales, kept for the instructions that use them again: found by the place of the
 * fragment's first register, and valid while all registers and scales are equal. */
enum { FPO_TILE_KEPT = 8, FPO_TILE_GROUPS = FPO_MMA_K / FPO_FAST_GROUP, FPO_TILE_WORDS = 8, FPO_TILE_SINGLE_K = 32 };

typedef struct fpo_tile_key {
    const fpo_mma_unit *unit;
    uint32_t registers[4][FPO_PTX_WARP], scales[FPO_PTX_WARP];
    uint32_t thread, shift;
} fpo_tile_key;

typedef struct fpo_groups_a {
    _Alignas(64) fpo_tile_key key;
    _Alignas(64) int8_t elements[FPO_TILE_ROWS][2][32]; /* even and odd elements of each word, in halves */
    int32_t correction[FPO_TILE_ROWS][FPO_TILE_GROUPS]; /* of the 12 added to B's */
    uint32_t any[FPO_TILE_ROWS][FPO_TILE_GROUPS];       /* bits: elements that are not zero */
    double factor[FPO_TILE_ROWS][FPO_TILE_GROUPS];
    int32_t exponent[FPO_TILE_ROWS][FPO_TILE_GROUPS];
    bool special[FPO_TILE_ROWS];
} fpo_groups_a;

typedef struct fpo_groups_b {
    _Alignas(64) fpo_tile_key key;
    _Alignas(64) uint8_t elements[FPO_TILE_WORDS][2][32]; /* 8 columns of four elements, in halves, plus 12 */
    _Alignas(64) double factor[FPO_TILE_GROUPS][FPO_TILE_COLUMNS];
    _Alignas(64) int32_t exponent[FPO_TILE_GROUPS][FPO_TILE_COLUMNS];
    _Alignas(64) uint32_t any[FPO_TILE_GROUPS][FPO_TILE_COLUMNS];
    _Alignas(32) int32_t special[FPO_TILE_COLUMNS]; /* all bits: has a NaN or an infinity */
} fpo_groups_b;

/* `least` is the exponent of an element of A, or the least one of the 8 elements of B with this k; zeros do not count:
 * FPO_TILE_NO_LEAST. `reach` is the largest exponent of a row or a column, scaled: that of A and that of B together are
 * an exponent with the bias of f32, which none of their products exceeds. Where the largest exponent of a sum, with the
 * same bias and less B's scale, is at most `whole` + the least of all least[k] of A and B, no product loses a bit. */
enum { FPO_TILE_NO_LEAST = 127, FPO_TILE_REACH_ZERO = -8000, FPO_TILE_REACH_SPECIAL = 1 << 20 };
typedef struct fpo_single_a {
    _Alignas(64) fpo_tile_key key;
    _Alignas(64) double value[FPO_TILE_ROWS][FPO_TILE_SINGLE_K];
    _Alignas(64) int8_t exponent[FPO_TILE_ROWS][FPO_TILE_SINGLE_K];
    _Alignas(64) int8_t least[FPO_TILE_ROWS][FPO_TILE_SINGLE_K];
    _Alignas(16) int32_t whole[FPO_TILE_ROWS];
    _Alignas(32) int32_t reach[FPO_TILE_ROWS];
    int32_t scale[FPO_TILE_ROWS];
    double factor[FPO_TILE_ROWS];
    bool special[FPO_TILE_ROWS];
} fpo_single_a;

typedef struct fpo_single_b {
    _Alignas(64) fpo_tile_key key;
    _Alignas(64) double value[FPO_TILE_SINGLE_K][FPO_TILE_COLUMNS];
    _Alignas(64) int8_t exponent[FPO_TILE_SINGLE_K][FPO_TILE_COLUMNS];
    _Alignas(32) int8_t least[FPO_TILE_SINGLE_K];
    _Alignas(64) double factor[FPO_TILE_COLUMNS];
    _Alignas(32) int32_t scale[FPO_TILE_COLUMNS], reach[FPO_TILE_COLUMNS];
    _Alignas(32) int32_t special[FPO_TILE_COLUMNS];
} fpo_single_b;

typedef struct fpo_tile_kept {
    fpo_groups_a groups_a[FPO_TILE_KEPT];
    fpo_groups_b groups_b[FPO_TILE_KEPT];
    fpo_single_a single_a[FPO_TILE_KEPT];
    fpo_single_b single_b[FPO_TILE_KEPT];
} fpo_tile_kept;

fpo_tile_kept *fpo_tile_kept_new(void); /* NULL: out of memory */

fpo_tile_function fpo_tile_groups_portable, fpo_tile_single_portable;
fpo_tile_function fpo_tile_groups_avx2, fpo_tile_single_avx2;
fpo_tile_function fpo_tile_groups_avx512, fpo_tile_single_avx512;

#endif

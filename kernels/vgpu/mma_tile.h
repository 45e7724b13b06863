/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* mma.sync m16n8 of a whole warp as vectors over the 8 columns, once for each instruction set with the same bits:
 * FP4 with K = 64 in groups of 16, and elements of up to 8 bits with K = 32 in one sum. What leaves the common case
 * (NaN, infinities, subnormal results, overflow) is left to the general step. */
#ifndef FP4ORACLE_KERNELS_VGPU_MMA_TILE_H
#define FP4ORACLE_KERNELS_VGPU_MMA_TILE_H

#include "mma.h"

enum { FPO_TILE_ROWS = 16, FPO_TILE_COLUMNS = 8, FPO_TILE_SCALES = 4 };

typedef struct fpo_mma_tile {
    const uint32_t *a[4], *b[2]; /* fragments: registers of 32 lanes */
    uint8_t a_scale[FPO_TILE_ROWS][FPO_TILE_SCALES], b_scale[FPO_TILE_COLUMNS][FPO_TILE_SCALES]; /* codes */
    _Alignas(32) uint32_t d[FPO_TILE_ROWS][FPO_TILE_COLUMNS];                                    /* C, then D */
    uint8_t left[FPO_TILE_ROWS]; /* bit n: d[m][n] is still C */
} fpo_mma_tile;

/* Which loops serve a unit; NULL: none, and the general step computes every output. */
fpo_tile_function *fpo_mma_tile_for(const fpo_mma_unit *unit, fpo_isa isa);
/* Fills what the loops read of a unit. */
void fpo_mma_tile_prepare(fpo_mma_unit *unit);

fpo_tile_function fpo_tile_groups_portable, fpo_tile_single_portable;
fpo_tile_function fpo_tile_groups_avx2, fpo_tile_single_avx2;
fpo_tile_function fpo_tile_groups_avx512, fpo_tile_single_avx512;

#endif

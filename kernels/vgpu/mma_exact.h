/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* m16n8k64 of FP4 where the sum is exact: see mma_exact.c. */
#ifndef FP4ORACLE_KERNELS_VGPU_MMA_EXACT_H
#define FP4ORACLE_KERNELS_VGPU_MMA_EXACT_H

#include "mma.h"

/* Scales of a row by group of 16 elements, and the exponents of those that are not zero. */
typedef struct fpo_mma_exact_row {
    double scale[FPO_MMA_K / FPO_FAST_GROUP];
    int largest, smallest;
} fpo_mma_exact_row;

bool fpo_mma_is_exact_unit(const fpo_mma_unit *unit);
void fpo_mma_exact_scales(const fpo_mma_unit *unit, const fpo_mma_side *side, int row, fpo_mma_exact_row *out);
/* fpo_mma_multiply for such a unit: 16 rows, 8 columns. */
void fpo_mma_multiply_exact(const fpo_mma_unit *unit, const fpo_mma_side *a, const fpo_mma_side *b, uint32_t *d);

#endif

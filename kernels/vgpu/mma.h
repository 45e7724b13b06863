/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensor cores: rows of elements as digits of a model's step, and products of them. */
#ifndef FP4ORACLE_KERNELS_VGPU_MMA_H
#define FP4ORACLE_KERNELS_VGPU_MMA_H

#include "machine.h"

#include "step.h"

enum { FPO_MMA_ROWS = 256 }; /* of B, at most (wgmma) */

/* One side of an instruction: rows of k elements, and their scales. */
typedef struct fpo_mma_side {
    fpo_format element, scale; /* scale FPO_FORMAT_NONE: none */
    int rows;
    int scales; /* per row */
    fpo_digits elements[FPO_MMA_ROWS][64];
    fpo_digits factors[FPO_MMA_ROWS][4];
} fpo_mma_side;

fpo_format fpo_mma_format(fpo_ptx_value value);
/* One code of the side's element format, by its place. */
void fpo_mma_put(const fpo_step *step, fpo_mma_side *side, int row, int k, uint32_t code);
/* d[m * n_rows + n] = step(a[m], b[n], c[...]); c may be d. Bits of the accumulator's format. */
void fpo_mma_multiply(const fpo_step *step, const fpo_mma_side *a, const fpo_mma_side *b, uint32_t *d);

/* The model for an instruction, or NULL after a fault. */
const fpo_step *fpo_mma_step(fpo_warp *warp, fpo_vgpu_mma mma);

#endif

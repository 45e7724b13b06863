/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensor cores: rows of elements as a model's step wants them, and products of rows. */
#ifndef FP4ORACLE_KERNELS_VGPU_MMA_H
#define FP4ORACLE_KERNELS_VGPU_MMA_H

#include "machine.h"

#include "step_fast.h"

enum { FPO_MMA_ROWS = 256, FPO_MMA_K = 64, FPO_MMA_SCALES = 4 };

/* One element as the step and its fast path want it. */
typedef struct fpo_mma_number {
    fpo_digits digits;
    float value;
    int16_t number;
    bool nonzero, special;
} fpo_mma_number;

/* What one instruction needs again and again: its step, its fast path, and every code of small formats decoded. */
typedef struct fpo_mma_unit {
    struct fpo_mma_unit *next;
    const fpo_step *step;
    fpo_format element[2], scale; /* of A and of B; scale FPO_FORMAT_NONE: none */
    int scales;                   /* of a row */
    fpo_fast_path path;
    int16_t position[FPO_MMA_K];  /* of element k in the order of the chained sums */
    fpo_mma_number table[2][256]; /* formats of up to 8 bits */
    fpo_digits scale_table[256];
} fpo_mma_unit;

/* One side of an instruction. */
typedef struct fpo_mma_side {
    int rows;
    fpo_digits elements[FPO_MMA_ROWS][FPO_MMA_K];
    float value[FPO_MMA_ROWS][FPO_MMA_K];
    int16_t number[FPO_MMA_ROWS][FPO_MMA_K];
    uint16_t nonzero[FPO_MMA_ROWS][FPO_MMA_K / FPO_FAST_GROUP];
    fpo_digits factors[FPO_MMA_ROWS][FPO_MMA_SCALES];
    bool special[FPO_MMA_ROWS]; /* has a NaN or an infinity */
} fpo_mma_side;

/* Room for the instruction that is being executed, and the units made so far. */
typedef struct fpo_mma_room {
    fpo_mma_unit *units;
    fpo_mma_side a, b;
} fpo_mma_room;

/* NULL after a fault: the GPU does not have the instruction, its model does not fit, or no memory. */
const fpo_mma_unit *fpo_mma_prepare(fpo_warp *warp, fpo_vgpu_mma mma, fpo_format a, fpo_format b, fpo_format scale,
                                    int k, int scales);
void fpo_mma_room_free(fpo_mma_room *room);

fpo_format fpo_mma_format(fpo_ptx_value value);
/* Makes a side of the room ready for `rows` rows. */
void fpo_mma_start(fpo_mma_side *side, int rows);
/* Element k of a row; `which` is 0 for A and 1 for B. */
void fpo_mma_put(const fpo_mma_unit *unit, int which, fpo_mma_side *side, int row, int k, uint32_t code);
void fpo_mma_put_scale(const fpo_mma_unit *unit, fpo_mma_side *side, int row, int index, uint32_t code);
/* d[m * b->rows + n] = step(a[m], b[n], d[...]), bits of the accumulator's format. */
void fpo_mma_multiply(const fpo_mma_unit *unit, const fpo_mma_side *a, const fpo_mma_side *b, uint32_t *d);

#endif

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

struct fpo_mma_tile;
struct fpo_mma_unit;
struct fpo_tile_kept; /* mma_tile.h */
typedef void fpo_tile_function(const struct fpo_mma_unit *unit, struct fpo_mma_tile *tile, struct fpo_tile_kept *kept);

/* Elements of up to 8 bits by the byte that they lie in: as a table, and as a formula. The exponents of zeros make those
 * of any product lower than all others; NaN and infinities have no value. */
enum { FPO_TILE_ZERO = -128, FPO_TILE_SPECIAL = 127 };
typedef struct fpo_tile_numbers {
    double value[256];
    int8_t exponent[256];
    uint8_t sign, magnitude;        /* bits of the byte */
    uint8_t sign_shift, half_shift; /* to those of an IEEE half, whose exponent is larger by a constant: */
    float power;                    /* what to multiply the half by */
    uint8_t field_shift, bias;      /* the exponent of a magnitude is max(magnitude >> field_shift, 1) - bias */
    uint8_t special;                /* magnitudes from here on are NaN or infinite; 255: none is */
} fpo_tile_numbers;

typedef struct fpo_tile_scale {
    double factor;
    int32_t exponent; /* FPO_FAST_ABSENT for zero and NaN */
    bool special;
} fpo_tile_scale;

/* What one instruction needs again and again: its step, its fast path, and every code of small formats decoded. */
typedef struct fpo_mma_unit {
    struct fpo_mma_unit *next;
    const fpo_step *step;
    fpo_format element[2], scale; /* of A and of B; scale FPO_FORMAT_NONE: none */
    int scales;                   /* of a row */
    fpo_fast_path path;
    int16_t position[FPO_MMA_K];  /* of element k in the order of the chained sums */
    fpo_mma_number table[2][256]; /* formats of up to 8 bits */
    int16_t pair[256][2];         /* E2M1: both elements of a byte in halves */
    uint8_t pair_nonzero[256];    /* bit i: element i is not zero */
    bool nibbles;                 /* rows are packed */
    fpo_tile_function *tile;      /* NULL: not served by mma_loops.h */
    fpo_tile_numbers tile_numbers[2];
    int tile_product_bits;    /* of a product, below its exponent */
    bool tile_sums_are_exact; /* a double holds any sum of a step's products */
    fpo_tile_scale tile_scale[256];
    fpo_digits scale_table[256];
} fpo_mma_unit;

/* One side of an instruction. */
typedef struct fpo_mma_side {
    int rows;
    uint32_t codes[FPO_MMA_ROWS][FPO_MMA_K]; /* decoded when the general step wants them */
    float value[FPO_MMA_ROWS][FPO_MMA_K];
    int16_t number[FPO_MMA_ROWS][FPO_MMA_K];
    uint16_t nonzero[FPO_MMA_ROWS][FPO_MMA_K / FPO_FAST_GROUP];
    uint32_t packed[FPO_MMA_ROWS][FPO_MMA_K / 8]; /* instead of codes, for 4-bit elements */
    fpo_digits factors[FPO_MMA_ROWS][FPO_MMA_SCALES];
    bool special[FPO_MMA_ROWS]; /* has a NaN or an infinity */
} fpo_mma_side;

/* Room for the instruction that is being executed, and the units made so far. */
typedef struct fpo_mma_room {
    fpo_mma_unit *units;
    struct fpo_tile_kept *kept; /* NULL until a unit has loops */
    fpo_mma_side a, b;
    uint32_t d[FPO_MMA_ROWS * FPO_MMA_ROWS];       /* of tcgen05.mma */
    uint8_t left[FPO_MMA_ROWS * FPO_MMA_ROWS / 8]; /* outputs of it that the general step computes, a bit each */
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
/* Sixteen 4-bit elements of a row would be two of these: 8 elements from k on (a multiple of 8). */
void fpo_mma_put_nibbles(const fpo_mma_unit *unit, fpo_mma_side *side, int row, int k, uint32_t word);
/* One output by the step itself. */
uint32_t fpo_mma_general(const fpo_mma_unit *unit, const fpo_mma_side *a, int m, const fpo_mma_side *b, int n,
                         uint32_t c);
/* d[m * b->rows + n] = step(a[m], b[n], d[...]), bits of the accumulator's format. */
void fpo_mma_multiply(const fpo_mma_unit *unit, const fpo_mma_side *a, const fpo_mma_side *b, uint32_t *d);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Dot products whose bits are chosen: each bit of a binary number has one or two places in K, where a power of two in A
 * times one in B is that bit. A row of A sets the bits that it wants and is zero elsewhere; every row of B has its
 * powers at all places. Then D[m][n] = (the number of row m) * (the sign and shift of row n).
 *
 * K is taken in chunks over which the scales of both operands are constant. A chunk has as many bits as products of the
 * elements' powers of two can tell apart (e2m1: 0.25 to 16, 7 bits); the scales of the next chunk continue where it
 * ends. */
#ifndef FP4ORACLE_VECTORS_BIT_FRAME_H
#define FP4ORACLE_VECTORS_BIT_FRAME_H

#include "operand_fill.h"

enum { FPO_FRAME_BITS = 48, FPO_FRAME_CHUNKS = FPO_FRAME_BITS + 2 };

typedef struct fpo_frame_bit {
    int64_t place[2]; /* in K; place[1] is -1 where the chunk has no room for another */
    int a, b;         /* exponents of the elements there, scales not included */
} fpo_frame_bit;

typedef struct fpo_frame {
    int bits, lowest; /* bit i is 2^(lowest + i) */
    fpo_frame_bit bit[FPO_FRAME_BITS];
    /* One number above all bits, with two places in chunks of their own behind the others where there are such, and in
     * one chunk where not. big.place[0] is -1 in a frame without it. */
    fpo_frame_bit big;
    int big_exponent;
    int64_t chunk;                                            /* elements of K in a chunk */
    int chunks;                                               /* in use */
    int a_scale[FPO_FRAME_CHUNKS], b_scale[FPO_FRAME_CHUNKS]; /* exponents of the scales, by chunk */
    bool shifts; /* rows of B whose scales are their own have a factor 1/2, 1, 2 */
} fpo_frame;

typedef struct fpo_frame_plan {
    const fpo_operand_view *a, *b;
    int64_t k;
    int bits;    /* wanted; there are fewer if the formats or K have no more */
    int highest; /* no number is above 2^highest */
    bool big;    /* with the number above all bits: the smallest product under the largest scales */
    bool shifts;
} fpo_frame_plan;

void fpo_frame_build(const fpo_frame_plan *plan, fpo_frame *frame);

/* A number in the frame: what its places hold, -1, 0 or 1. */
typedef struct fpo_frame_number {
    int8_t digits[2][FPO_FRAME_BITS];
    int8_t big[2];
} fpo_frame_number;

/* Sets the number of a row of A; it comes zeroed. */
typedef void (*fpo_frame_choose)(const fpo_frame *frame, uint64_t seed, int64_t row, const void *context,
                                 fpo_frame_number *number);

/* Fills both operands. Rows of B alternate in sign; where A has zeros, B has powers of two at random. */
fpo_status fpo_frame_fill(fpo_vector *vector, const fpo_frame *frame, fpo_frame_choose choose, const void *context,
                          fpo_error *error);

#endif

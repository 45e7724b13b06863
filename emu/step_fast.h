/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Portable fast paths of the step, for the numbers that every real instruction has: terms cut toward zero, zero
 * products and zero groups left out of the search. They return what fpo_step_chain returns, and leave NaN and
 * infinities to it. */
#ifndef FP4ORACLE_EMU_STEP_FAST_H
#define FP4ORACLE_EMU_STEP_FAST_H

#include "step.h"

typedef enum fpo_fast_kind {
    FPO_FAST_NONE,
    FPO_FAST_NARROW, /* single products that f32 holds exactly: FP8, FP6, FP4, f16 */
    FPO_FAST_WIDE,   /* single products of f32's range: bf16, tf32 */
    FPO_FAST_GROUPS  /* groups of 16 products of FP4 or FP6 */
} fpo_fast_kind;

enum {
    FPO_FAST_ABSENT = -8000, /* exponent of a zero: never the largest */
    FPO_FAST_GROUP = 16
};

/* An operand as a fast path reads it. Element i of instruction s is at s * step->k + i, the elements of an instruction
 * in the order of its chained sums. */
typedef struct fpo_fast_row {
    const float *value;       /* NARROW: the operand; WIDE: its significand, below 2 */
    const int16_t *exponent;  /* NARROW, WIDE */
    const int16_t *fixed;     /* GROUPS: the operand in units of 2^lowest of its format */
    const uint16_t *nonzero;  /* GROUPS: bit i of word g: element 16 * g + i is not zero */
    const fpo_digits *scales; /* one for each block_k elements; NULL without */
    int block_k;
} fpo_fast_row;

/* What the path needs of the step and the formats. */
typedef struct fpo_fast_path {
    fpo_fast_kind kind;
    const fpo_step *step;
    int scale_fraction; /* of both scales together */
    int lowest;         /* GROUPS: exponent of the unit of a product of two fixed operands */
} fpo_fast_path;

/* FPO_FAST_NONE where the step or the operands want the generic path. Scale formats: FPO_FORMAT_NONE on both sides, or
 * on neither. */
fpo_fast_path fpo_fast_path_for(const fpo_step *step, fpo_format a, fpo_format b, fpo_format a_scale,
                                fpo_format b_scale, int a_block_k, int b_block_k);

/* Element number `position` of an instruction, in the order of its chained sums, is element fpo_fast_order(...) of K.
 */
int fpo_fast_order(const fpo_step *step, int position);
/* Exponent of the unit of a fixed operand. */
int fpo_fast_lowest(fpo_format element);

/* Instruction number `index` of two rows, of which neither has a NaN or an infinity in it. c is finite. */
uint32_t fpo_fast_step(const fpo_fast_path *path, const fpo_fast_row *a, const fpo_fast_row *b, int64_t index,
                       uint32_t c);

#endif

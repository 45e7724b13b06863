/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Inside fpo_quantize: a program run over a tensor.
 *
 *   quantize.c         the public function: checks, the tensor's scope, threads
 *   quantize_simplify.c  steps that need not run
 *   quantize_plan.c    what runs, what stores the codes, where registers are
 *   quantize_amax.c    amax of the tensor, of regions that span rows
 *   quantize_row.c     rows: their blocks and elements, in chunks that stay in the cache
 *   quantize_random.c  random bits of the elements
 *   quantize_vector.c  one step on many values: its arguments brought to one length
 *   quantize_kernels.h the loops themselves, for each instruction set */
#ifndef FP4ORACLE_EMU_QUANTIZER_H
#define FP4ORACLE_EMU_QUANTIZER_H

#include "quantize_kernels.h"

#include <fenv.h>

/* The steps that something depends on, scope by scope. */
typedef struct fpo_plan {
    struct fpo_planned {
        const fpo_recipe_step *step;
        bool by_blocks; /* the second argument is taken block by block, and is not spread over its elements */
    } steps[FPO_RECIPE_STEPS];
    int begin[FPO_SCOPE_COUNT + 1]; /* of a scope's steps; they end where those of the next begin */
    int16_t slot[FPO_REGISTERS];    /* of a lane's memory, FPO_CHUNK values each */
    int slots;
} fpo_plan;

/* What is the same for all rows. A region is what one amax covers: a block of scales, or more (16x16). */
typedef struct fpo_quantizer {
    const fpo_program *program;
    const fpo_operand_view *view;
    const float *x;
    int64_t rows, k;
    int64_t region_rows, region_k; /* never 0 */
    int64_t regions;               /* along K */
    int64_t block_rows, block_k;   /* of the stored scales, never 0 */
    int64_t scale_columns;
    fpo_scope amax_scope;         /* whose rule for NaN applies where regions span rows */
    double tensor[FPO_REGISTERS]; /* values of the tensor's scope */
    bool live[FPO_RECIPE_STEPS];  /* steps that something depends on */
    bool used[FPO_REGISTERS];
    fpo_plan plan;
    int reach[FPO_REGISTERS]; /* of a register of the tensor's or the row's scope: how many copies a lane reads */
    const fpo_quantize_kernels *kernels;
    const fpo_recipe_step *last; /* the step whose results are stored as codes without being values; else NULL */
    int source[2];               /* registers that codes are made of: `code`, or the arguments of that step */
    fpo_coder codes, scales;     /* of what is stored */
    bool keeps_input;            /* of blocks whose amax was just taken: `input:` runs once */
    int64_t kept;                /* numbers that a lane keeps, see there */
    float *region_amax;          /* regions of several rows: amax, [ceil(rows / region_rows), regions]; else NULL */
    uint8_t *region_choice;      /* the same for the candidate that a search chose */
    fpo_quantized *result;
    int64_t code_row_bytes;
} fpo_quantizer;

enum { FPO_REGIONS = 256 };                                  /* of a row, worked on at once */
enum { FPO_PIECES = 4, FPO_PIECE = FPO_CHUNK / FPO_PIECES }; /* in which codes are stored */

/* A thread's registers: arrays of FPO_CHUNK values. Those of the tensor's and the row's scope are all the
 * same, as far as they are read (fpo_quantizer.reach). */
typedef struct fpo_lane {
    float *values[FPO_REGISTERS];
    float *own[FPO_REGISTERS]; /* where a register's values are written; it may stand for another's instead */
    float *argument[3];        /* arguments spread to a step's number of values */
    float *memory;
    float *kept;     /* of the regions at work: the elements after `input:`, or a search's best codes; NULL: neither */
    uintptr_t ahead; /* what is asked for of the memory while elements are worked on, */
    int ahead_at_once;  /* so many lines of the cache at a time */
    fenv_t environment; /* the caller's: rounding mode, and whether its thread flushes subnormals */
    bool entered;
} fpo_lane;

/* Whether a register is there and something depends on it. */
static inline bool fpo_uses(const fpo_quantizer *q, int r)
{
    return r != FPO_NO_REGISTER && q->used[r];
}

static inline bool fpo_per_element(int scope)
{
    return scope == FPO_SCOPE_INPUT || scope >= FPO_SCOPE_ELEMENT;
}

/* Between the two a thread computes as IEEE 754 has it, whatever its program or a library of it has set. */
bool fpo_lane_init(fpo_lane *lane, const fpo_quantizer *q);
void fpo_lane_free(fpo_lane *lane);

/* Columns [begin, end) of a row; `first` is the region of column begin. */
typedef struct fpo_span {
    int64_t row, begin, end;
    int64_t first, base; /* base: the region that the block registers begin with */
    int count;           /* elements */
    int regions;         /* that they touch */
} fpo_span;

/* Fills in a quantizer that is zero but for its kernels: shapes, the plan, and all that follows from it. Nothing is
 * copied. */
void fpo_plan_program(fpo_quantizer *q, const fpo_program *program, const fpo_operand_view *view, const float *x,
                      int64_t rows, int64_t k, fpo_quantized *result);
/* The first value of a register of the row's scope, as often as it is read. */
void fpo_repeat(const fpo_quantizer *q, fpo_lane *lane, int r);
/* A register as count values, one for each element of the span; `slot` (0 to 2) is where they go if they have to be
 * spread. */
const float *fpo_spread(const fpo_quantizer *q, fpo_lane *lane, int r, int slot, const fpo_span *span);
/* Asks for the tensor's memory from element `next` on, as much as the span, while its elements are worked on. */
void fpo_fetch_ahead(const fpo_quantizer *q, fpo_lane *lane, int64_t next, const fpo_span *span);
/* Some of that: more at once would be waited for. */
void fpo_fetch_some(fpo_lane *lane);
/* Runs the live steps of one scope over the span's regions (block, try) or elements (input, element, error). */
void fpo_run_scope(const fpo_quantizer *q, fpo_lane *lane, fpo_scope scope, const fpo_span *span);
/* The elements of a span, after the recipe's `input:` part: where they are, register x. */
const float *fpo_load_elements(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *span);
/* 32 random bits of each element of a span, at most FPO_CHUNK. */
void fpo_span_bits(const fpo_quantizer *q, const fpo_span *span, uint32_t *bits);
/* The recipe's `random`, where it has that, before the elements' scope runs. */
void fpo_load_random(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *span);
/* |x| of the span's elements joined to `amax` by the recipe's rule. */
float fpo_amax_join(fpo_amax_rule rule, float amax, float other);
float fpo_amax_of(fpo_amax_rule rule, const float *x, int64_t count);
/* The same, quicker where there is no NaN. */
float fpo_amax_fast(const fpo_quantizer *q, fpo_amax_rule rule, const float *x, int64_t count);
/* Of each `block` elements; the last may be fewer. */
void fpo_amax_of_blocks(const fpo_quantizer *q, fpo_amax_rule rule, const float *x, int64_t count, int64_t block,
                        float *to);

/* The same number, or the canonical NaN: its bits would depend on how an operation was compiled. */
static inline float fpo_canonical(float x)
{
    return x == x ? x : fpo_round_to_float((fpo_value){.kind = FPO_NAN}, FPO_NEAREST_EVEN);
}

/* The sum of a region's errors as the library adds them: in chunks, each in order, then neighbours pairwise; or by fma.
 * At most FPO_CHUNK of them. */
float fpo_error_sum(const fpo_program *program, const float *errors, int count);

/* Rows [begin, end), all of the same regions: codes, scales, row scales. */
void fpo_quantize_rows(const fpo_quantizer *q, fpo_lane *lane, int64_t begin, int64_t end);
/* Errors of every candidate over the row's regions, joined to errors[candidate * regions + region]. */
void fpo_row_errors(const fpo_quantizer *q, fpo_lane *lane, int64_t row, float *errors);

/* The same program with fewer steps of blocks and elements. */
void fpo_simplify(fpo_program *program);

fpo_status fpo_tensor_amax(const fpo_quantizer *q, int threads, float *amax, fpo_error *error);
fpo_status fpo_region_amax(fpo_quantizer *q, int threads, fpo_error *error);
fpo_status fpo_region_choice(fpo_quantizer *q, int threads, fpo_error *error);

#endif

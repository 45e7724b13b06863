/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The loops of a recipe over many values, one table for each instruction set; the same bits from all of them.
 * quantize_loops.h is the text of the loops, compiled three times (quantize_portable.c, _avx2.c, _avx512.c).
 * recipe_eval.c is what they are checked against. */
#ifndef FP4ORACLE_EMU_QUANTIZE_KERNELS_H
#define FP4ORACLE_EMU_QUANTIZE_KERNELS_H

#include "quantize_round.h"
#include "recipe.h"

/* Elements of a chunk: a dozen registers of them fit the first-level cache. */
enum { FPO_CHUNK = 1024 };

enum { FPO_LINE = 64 }; /* bytes of a cache's line, and of the widest vector */

/* Asks for the memory at an address; where there is none, nothing happens. */
static inline void fpo_fetch(uintptr_t address)
{
    __builtin_prefetch((const void *)address);
}

/* A tensor is read once, and a processor's own prefetching ends with each page: a loop over x asks for what it will
 * want so many bytes before. */
static inline void fpo_fetch_next(const float *x)
{
    fpo_fetch((uintptr_t)x + 2048);
}

typedef struct fpo_quantize_kernels {
    /* to[i] = the step on a[i], b[i], c[i]; an argument that the function does not have may be anything. At most
     * FPO_CHUNK values; `to` is none of the arguments. */
    void (*step)(const fpo_recipe_step *step, const float *a, const float *b, const float *c, float *to, int count);
    /* The same for a function of two where b is value i of each `block` elements; of fpo_has_blocks alone, and of
     * fpo_has_constant where there is one block. */
    void (*step_of_blocks)(const fpo_recipe_step *step, const float *a, const float *b, int64_t block, float *to,
                           int count);
    /* Stochastic rounding by 32 random bits each; false: not a format that has such a loop. */
    bool (*round_randomly)(const fpo_recipe_step *step, const uint32_t *bits, const float *x, float *to, int count);
    /* The first words of the generator's blocks from `first` on, of stream 0. */
    void (*random_words)(uint64_t seed, uint64_t first, uint32_t *words, int count);
    /* All four words of each of these blocks. */
    void (*random_blocks)(uint64_t seed, const uint64_t *streams, const uint64_t *indices, uint32_t *words, int count);
    /* bits[i]: byte i, and 24 zeros. */
    void (*draw_bits)(const uint8_t *bytes, uint32_t *bits, int count);
    /* to[i] = fpo_draw_number(bits[i]) */
    void (*draw_numbers)(const uint32_t *bits, float *to, int count);
    /* Codes of at most FPO_CHUNK numbers, of up to 8 bits; those of 4 bits two a byte, even ones low, and a byte that
     * is half full ends with 0. */
    void (*encode)(const fpo_coder *coder, const float *x, uint8_t *to, int count);
    /* The same of a step's results on a[i], b[i]; of fpo_has_codes alone. */
    void (*nibbles_of_step)(const fpo_recipe_step *step, const float *a, const float *b, uint8_t *packed, int count);
    /* The amax of each `block` elements of x (the last block may be short), where none is NaN; elsewhere some NaN. */
    void (*block_amax)(const float *x, int64_t count, int64_t block, float *to);
    /* to[i]: the larger of |x[i]| and to[i], which is not negative; some NaN where one is NaN. */
    void (*join_amax)(const float *x, float *to, int64_t count);
    /* fpo_error_sum of each `block` errors; false: no loop for such blocks or sums. */
    bool (*error_sums)(const fpo_program *program, const float *errors, int64_t block, int blocks, float *sums);
    /* The other way: value i for each of its `block` elements. */
    void (*spread)(const float *values, int64_t block, float *to, int64_t count);
} fpo_quantize_kernels;

static inline bool fpo_has_blocks(const fpo_recipe_step *step)
{
    bool one_instruction = step->function == FPO_FN_DIV_FULL && !step->ftz; /* div.full.ftz is another */
    return step->function == FPO_FN_MUL || step->function == FPO_FN_DIV || one_instruction;
}

/* Functions of two that step_of_blocks takes, too, where b is one value for all. */
static inline bool fpo_has_constant(const fpo_recipe_step *step)
{
    switch ((fpo_function)step->function) {
    case FPO_FN_FMIN:
    case FPO_FN_FMAX: return true;
    case FPO_FN_ADD:
    case FPO_FN_SUB:
    case FPO_FN_MIN:
    case FPO_FN_MAX:
    case FPO_FN_LT:
    case FPO_FN_LE:
    case FPO_FN_GT:
    case FPO_FN_GE:
    case FPO_FN_EQ:
    case FPO_FN_NE: return !step->ftz;
    default: return fpo_has_blocks(step);
    }
}

/* Whether a step's results are codes of e2m1 in the first place. */
static inline bool fpo_has_codes(const fpo_recipe_step *step)
{
    return !step->ftz && (step->function == FPO_FN_WRAP || step->function == FPO_FN_NEAREST);
}

extern const fpo_quantize_kernels fpo_quantize_portable, fpo_quantize_avx2, fpo_quantize_avx512;

#endif

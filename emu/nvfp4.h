/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* NVFP4 x NVFP4 by vector instructions: operands repacked once per fpo_gemm, then 4 rows x 16 columns at a time.
 *
 * Everything is an integer: an element counts in units of 2^-1 (at most 12), a scale in units of 2^-9 (at most
 * 448 * 512 = 229376). A block of 16 products is at most 16 * 144 = 2304, times one scale below 2^30 (int32), times the
 * other below 2^47 (int64), in units of 2^-20. */
#ifndef FP4ORACLE_EMU_NVFP4_H
#define FP4ORACLE_EMU_NVFP4_H

#include "engine.h"

enum {
    FPO_NVFP4_ROWS = 4,     /* rows of A and ... */
    FPO_NVFP4_COLUMNS = 16, /* ... columns of one call of a kernel */
    FPO_NVFP4_BLOCK = 16,   /* elements of K of one scale */
    FPO_NVFP4_STEP = 64,    /* elements of K of one instruction */
    FPO_NVFP4_BLOCKS = FPO_NVFP4_STEP / FPO_NVFP4_BLOCK,
    FPO_NVFP4_OFFSET = 12 /* added to B's elements, so that they are unsigned */
};

/* A, rows padded to a multiple of FPO_NVFP4_ROWS and K to whole steps, with zeros. */
typedef struct fpo_nvfp4_rows {
    int8_t *elements;       /* [row][K] */
    int32_t *corrections;   /* [row][block]: -FPO_NVFP4_OFFSET * the sum of the block's elements */
    int32_t *scales;        /* [row][block] */
    double *smallest_scale; /* [row]: 2^e, e the smallest exponent of the row's scales that are not zero */
    double *largest_scale;  /* [row] */
} fpo_nvfp4_rows;

/* B, in panels of FPO_NVFP4_COLUMNS rows (columns of D). smallest_ and largest_scale are of the panel. */
typedef struct fpo_nvfp4_panels {
    uint8_t *elements; /* [panel][K/4][column][4], plus FPO_NVFP4_OFFSET */
    int32_t *scales;   /* [panel][block][column] */
    double *smallest_scale;
    double *largest_scale;
} fpo_nvfp4_panels;

typedef struct fpo_nvfp4 {
    int64_t steps;
    fpo_nvfp4_rows a;
    fpo_nvfp4_panels b;
} fpo_nvfp4;

/* Repacks both operands, in parallel. NULL where they are not NVFP4, the processor has no path here, or there is no
 * memory for it: the portable paths need none. */
fpo_nvfp4 *fpo_nvfp4_pack(const fpo_gemm_context *context, int threads);
void fpo_nvfp4_free(fpo_nvfp4 *packed);

/* sums[r * FPO_NVFP4_COLUMNS + c] of rows row .. row+3 (row a multiple of 4) and of a panel, units of 2^-20. */
typedef void fpo_nvfp4_sums_kernel(const fpo_nvfp4 *packed, int64_t row, int64_t panel, int64_t *sums);

/* When a chain needs no truncation but that of its results: all terms are multiples of the smallest scale product of
 * row and panel * 2^-8 (e2m1 products have 2 fraction bits, each ue4m3 scale 3), and so is every accumulator c. Terms
 * are cut at 2^(e - fraction_bits), e the largest exponent of a scale product or of c. So nothing is cut, and c + sum
 * is exact in a double, while all of these stay below the smallest scale product * 2^(fraction_bits - 8 + 1), which is
 * what this returns; 0 where the scale products themselves do not, and the fast step is no use. */
static inline double fpo_nvfp4_ceiling(const fpo_nvfp4 *p, int64_t row, int64_t panel, double reach)
{
    double ceiling = p->a.smallest_scale[row] * p->b.smallest_scale[panel] * reach;
    return p->a.largest_scale[row] * p->b.largest_scale[panel] < ceiling ? ceiling : 0;
}

/* An element of a step that the kernel leaves to the generic step: its accumulator after that step. Rows and columns
 * may lie in the padding. */
typedef float fpo_nvfp4_generic_step(const void *closure, int64_t row, int64_t column, int64_t step, float c);

/* Accumulators of a chain of mxf4nvf4 steps from +0: as sums, in f32. reach: 2^(fraction_bits - 8 + 1). */
typedef void fpo_nvfp4_chain_kernel(const fpo_nvfp4 *packed, int64_t row, int64_t panel, double reach,
                                    fpo_nvfp4_generic_step *generic, const void *closure, float *acc);

fpo_nvfp4_sums_kernel fpo_nvfp4_sums_avx2, fpo_nvfp4_sums_avx512;
fpo_nvfp4_chain_kernel fpo_nvfp4_chain_avx2, fpo_nvfp4_chain_avx512;

/* The tile's accumulators if the operands are packed and the accumulation is one chain of mxf4nvf4 steps; otherwise
 * false, and nothing is written. */
bool fpo_nvfp4_accumulate(const fpo_gemm_context *context, fpo_tile tile, float *acc);

#endif

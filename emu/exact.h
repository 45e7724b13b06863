/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Inside the exact model: sums of a tile, and the epilogue on exact numbers. */
#ifndef FP4ORACLE_EMU_EXACT_H
#define FP4ORACLE_EMU_EXACT_H

#include "engine.h"
#include "wide.h"

/* An exact extended number. `magnitude` counts where the kind is FPO_FINITE, its own sign never does. */
typedef struct fpo_exact {
    fpo_class kind;
    bool negative;
    fpo_wide magnitude;
} fpo_exact;

/* Takes magnitude, sign and kind from a wide number; zero becomes +0. */
void fpo_exact_settle(fpo_exact *x);

/* The epilogue's program on the accumulator y, which it overwrites; the code of D (or f32 bits with d_scale). */
uint32_t fpo_exact_epilogue(const fpo_gemm_context *context, fpo_exact *y, int64_t m, int64_t n);

/* FPO_NAN or FPO_INFINITE (with its sign) where elements or scales per K block make the sum so, else FPO_FINITE. */
fpo_class fpo_exact_special(const fpo_gemm_context *context, int64_t m, int64_t n, bool *negative);

/* Whether a 64-bit fixed-point accumulator holds every sum of this problem: NVFP4 operands, K within the bound. */
bool fpo_fixed64_fits(const fpo_gemm_context *context);
/* Sums in units of 2^-20, laid out as acc of fpo_accumulate_tile. NaN scales count as 0 there. */
typedef fpo_status fpo_fixed64_sums(const fpo_gemm_context *context, fpo_tile tile, int64_t *acc, fpo_error *error);
fpo_fixed64_sums fpo_fixed64_sums_portable;
fpo_fixed64_sums fpo_fixed64_sums_vector; /* where context->nvfp4 is there; tiles at multiples of 4 rows, 16 columns */
enum { FPO_FIXED64_EXPONENT = -20 };

/* The epilogue of most problems in floating point: y = sum * coefficient, to f32 or a narrower format. A result
 * that the error of the double could change is left to the exact epilogue. */
typedef struct fpo_quick_epilogue {
    bool usable;        /* the program is a product of scalars and nothing else, D is IEEE to nearest */
    double coefficient; /* for sums in units of 2^FPO_FIXED64_EXPONENT */
} fpo_quick_epilogue;

fpo_quick_epilogue fpo_quick_epilogue_of(const fpo_gemm_context *context);
/* False: not decided. */
bool fpo_quick_code(const fpo_quick_epilogue *quick, fpo_format d, int64_t sum, uint32_t *code);

/* Any formats: every element of the tile summed in a wide accumulator, then the epilogue. */
fpo_status fpo_exact_wide_tile(const fpo_gemm_context *context, fpo_tile tile, uint32_t *codes, fpo_error *error);

#endif

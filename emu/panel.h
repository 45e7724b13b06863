/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Rows of an operand decoded for the step, and chains of steps over them. */
#ifndef FP4ORACLE_EMU_PANEL_H
#define FP4ORACLE_EMU_PANEL_H

#include "step_fast.h"

/* Rows [first, first + rows) of an operand over all of K, padded with +0 (and scale code 0) to whole steps. */
typedef struct fpo_panel {
    int64_t first, rows;
    int64_t k;             /* padded: steps * step->k */
    int64_t scale_columns; /* scales of a row; 0 without scales inside the instruction */
    int block_k;
    int fraction, scale_fraction;
    fpo_digits *elements; /* rows x k; NULL for FPO_STEP_FMA */
    fpo_digits *scales;   /* rows x scale_columns */
    float *values;        /* rows x k: dequantised to f32 for FPO_STEP_FMA, as the fast path wants them otherwise */
    int16_t *numbers;  /* rows x k: exponents or fixed-point numbers, as the fast path wants them; NULL without one */
    uint16_t *nonzero; /* rows x k / 16, for FPO_FAST_GROUPS */
    uint8_t *special;  /* rows x steps: the instruction's operands hold a NaN or an infinity */
} fpo_panel;

/* Bytes that one row of a panel takes. */
size_t fpo_panel_row_bytes(const fpo_step *step, const fpo_prepared *operand);
/* For the generic path alone. */
fpo_status fpo_panel_build(const fpo_step *step, const fpo_prepared *operand, int64_t first, int64_t rows,
                           fpo_panel *panel, fpo_error *error);
/* For a fast path, too. */
fpo_status fpo_panel_build_fast(const fpo_fast_path *path, const fpo_prepared *operand, int64_t first, int64_t rows,
                                fpo_panel *panel, fpo_error *error);
void fpo_panel_free(fpo_panel *panel);

/* The path for a pair of operands. */
fpo_fast_path fpo_panel_path(const fpo_step *step, const fpo_prepared *a, const fpo_prepared *b);

/* accumulator[j] = chain of the steps [step0, step1) over row m of a and row n0 + j of b (indices within the panels),
 * continuing from accumulator[j], j < columns. Bits of the accumulator format. */
void fpo_chain_row(const fpo_fast_path *path, const fpo_panel *a, const fpo_panel *b, int64_t m, int64_t n0,
                   int64_t columns, int64_t step0, int64_t step1, uint32_t *accumulator);

#endif

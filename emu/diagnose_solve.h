/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits whose parameters are found in a wrong output. */
#ifndef FP4ORACLE_EMU_DIAGNOSE_SOLVE_H
#define FP4ORACLE_EMU_DIAGNOSE_SOLVE_H

#include "diagnose_output.h"

#include <fp4oracle/edit.h>
#include <fp4oracle/part.h>

/* What is known of a wrong output: where it is wrong, and all of it. */
typedef struct fpo_solve_input {
    const fpo_gemm_spec *spec;
    const fpo_gemm_problem *problem;
    const fpo_part *part;
    fpo_output_view expected, observed;
    const fpo_execution *execution;
} fpo_solve_input;

/* A constant factor of the wrong elements, and one code for all of them. At most `capacity` edits are written; returns
 * how many. */
size_t fpo_solve_constants(const fpo_solve_input *input, fpo_edit *edits, size_t capacity);
/* Offsets, strides, groups, ranges of K: those that the place of the error suggests, and all small ones. */
size_t fpo_solve_places(const fpo_solve_input *input, fpo_edit *edits, size_t capacity);

/* What a factor that was found proves less than one that was guessed, in bits: its significant bits and its exponent.
 */
double fpo_edit_found_bits(const fpo_edit *edit);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Outputs as a search looks at them: elements, and of outputs with block scales elements together with their scales. */
#ifndef FP4ORACLE_EMU_DIAGNOSE_OUTPUT_H
#define FP4ORACLE_EMU_DIAGNOSE_OUTPUT_H

#include <fp4oracle/compare.h>
#include <fp4oracle/sign.h>
#include <fp4oracle/spec.h>

/* M x N codes as fpo_gemm writes them, and their scales where the epilogue has some. */
typedef struct fpo_output_view {
    const void *d;
    const uint8_t *d_scale;
} fpo_output_view;

/* What is compared of the element: its code, and with block scales that of the scale << 8 | its code. */
uint32_t fpo_output_word(const fpo_epilogue *epilogue, int64_t n, fpo_output_view output, int64_t row, int64_t column);

/* Everything that is known of a wrong output before a hypothesis is tried. */
typedef struct fpo_findings {
    fpo_comparison comparison;
    fpo_part part, nan;
    fpo_sign_kind sign;
    fpo_evidence evidence;
} fpo_findings;

/* comparison alone. */
fpo_status fpo_output_compare(const fpo_epilogue *epilogue, int64_t m, int64_t n, fpo_output_view expected,
                              fpo_output_view observed, fpo_comparison *comparison, fpo_error *error);
/* The others. */
fpo_status fpo_output_look(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, fpo_output_view expected,
                           fpo_output_view observed, fpo_findings *findings, fpo_error *error);

#endif

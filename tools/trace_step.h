/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* One modelled instruction taken apart: terms, exponents, what alignment cuts off, the sum and its rounding. The sums
 * are MPFR's and share no code with the library's integers; only operands are decoded by it. */
#ifndef FP4ORACLE_TOOLS_TRACE_STEP_H
#define FP4ORACLE_TOOLS_TRACE_STEP_H

#include "number.h"
#include "panel.h"

#include <jansson.h>

/* Instruction `index` of the chain, on row 0 of both panels: the accumulator's bits after it. Adds to `event` "c",
 * "result" and, if `detailed`, the terms. */
uint32_t fpo_trace_instruction(const fpo_step *step, const fpo_panel *a, const fpo_panel *b, int64_t index, uint32_t c,
                               bool detailed, json_t *event);

/* "0x3F800000 = 1" */
json_t *fpo_trace_bits_json(const fpo_step *step, uint32_t bits);

#endif

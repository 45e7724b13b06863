/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How one element of D comes about, step by step, as a JSON object that `explain output` prints for people or for
 * machines. The arithmetic is MPFR's, and the result is compared with the library's. */
#ifndef FP4ORACLE_TOOLS_TRACE_H
#define FP4ORACLE_TOOLS_TRACE_H

#include "engine.h"
#include "number.h"

#include <jansson.h>

/* One element of a prepared problem. */
typedef struct fpo_trace {
    const fpo_gemm_context *context;
    int64_t row, column;
    int64_t detailed; /* blocks or instructions of which the elements are shown */
} fpo_trace;

/* The accumulator before the epilogue, in `accumulator` (FPO_WIDE_BITS). Adds "blocks" to `object`. */
void fpo_trace_exact(const fpo_trace *trace, json_t *object, mpfr_ptr accumulator);

/* The same under a modelled accumulation, in the kernel's order: "steps". */
fpo_status fpo_trace_model(const fpo_trace *trace, json_t *object, mpfr_ptr accumulator, fpo_error *error);

/* The epilogue's program: y goes in as the accumulator and comes out as what is narrowed to D. Adds "epilogue". */
void fpo_trace_epilogue(const fpo_trace *trace, json_t *object, mpfr_ptr y);

/* y to a code of `format`: "rounding", and the code. */
uint32_t fpo_trace_rounding(json_t *object, mpfr_srcptr y, fpo_format format, const fpo_cast *cast);

/* What the trace says, for people. */
void fpo_trace_print(const json_t *object);

/* Codes and scales of the element's row of an operand. */
static inline uint32_t fpo_trace_code(const fpo_prepared *operand, int64_t row, int64_t k)
{
    return fpo_load_code(operand->element, operand->codes, (size_t)(row * operand->k + k));
}

/* Whether the scales of an operand belong to the accumulation. */
static inline bool fpo_trace_has_block_scales(const fpo_prepared *operand)
{
    return operand->scale.format != FPO_FORMAT_NONE && operand->scale.block_k > 0;
}

static inline uint32_t fpo_trace_scale(const fpo_prepared *operand, int64_t row, int64_t k)
{
    return fpo_load_code(operand->scale.format, operand->scales, (size_t)fpo_scale_index(operand, row, k));
}

#endif

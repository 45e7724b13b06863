/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The emulator: one function from (spec, operand bytes) to output bytes. */
#ifndef FP4ORACLE_GEMM_H
#define FP4ORACLE_GEMM_H

#include <fp4oracle/spec.h>

FPO_BEGIN_DECLS

typedef enum fpo_isa { FPO_ISA_BEST = 0, FPO_ISA_PORTABLE, FPO_ISA_AVX2, FPO_ISA_AVX512 } fpo_isa;

/* How to run, never what comes out: results do not depend on any of this. Zero-initialise for the defaults. */
typedef struct fpo_execution {
    int threads; /* 0: as OpenMP decides */
    fpo_isa isa; /* FPO_ISA_BEST: what this processor has; asking for more than it has falls back to what it has */
    void (*progress)(void *context, double fraction_done); /* NULL, or called from one thread now and then */
    void *progress_context;
} fpo_execution;

typedef struct fpo_gemm_output {
    void *d; /* M x N in epilogue.d, rows contiguous (e2m1: two a byte, ceil(N/2) bytes a row) */
    size_t d_bytes;
    void *d_scale; /* NULL unless epilogue.d_scale: M x ceil(N/16) bytes, linear */
    size_t d_scale_bytes;
} fpo_gemm_output;

/* Bytes that the output of this spec and shape takes; 0 where that is no number (a bad spec or shape, an overflow). */
FPO_API size_t fpo_output_bytes(const fpo_gemm_spec *spec, int64_t m, int64_t n);
FPO_API size_t fpo_output_scale_bytes(const fpo_gemm_spec *spec, int64_t m, int64_t n);

/* M, N, K >= 1, K no multiple of the block included (the last block is short). Errors name the operand and the
 * numbers; the output is untouched then. Buffers of operands, C and bias must have exactly the size that the spec and
 * shape say; those of the output may be larger. */
FPO_API fpo_status fpo_gemm(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_gemm_output *output,
                            const fpo_execution *execution, fpo_error *error);

typedef struct fpo_element {
    int64_t row, column;
} fpo_element;

/* Single elements of D (not for outputs with d_scale): codes[i] is the code of D at elements[i]. */
FPO_API fpo_status fpo_gemm_elements(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem,
                                     const fpo_element *elements, size_t count, uint32_t *codes,
                                     const fpo_execution *execution, fpo_error *error);

/* The reference twin: the same function in the order of the specification, slowly, sharing no arithmetic with fpo_gemm.
 * Exact model, fma model and fused steps alike. */
FPO_API fpo_status fpo_gemm_twin(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem,
                                 const fpo_gemm_output *output, fpo_error *error);

FPO_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A vector for a kernel: whether it can be run at all, the problem as the kernel sees it, and the spec that then says
 * what must come out. */
#ifndef FP4ORACLE_RUNNER_ADAPT_H
#define FP4ORACLE_RUNNER_ADAPT_H

#include "info.h"
#include "vector_file.h"

typedef struct fpo_case {
    const fpo_vector *vector;
    fpo_gemm_spec spec;       /* of the kernel: the vector's operands, the kernel's D. The accumulation is
                                 the vector's */
    fpo_gemm_problem problem; /* tensor scales folded into alpha where the kernel wants that; C and bias NULL where it
                                 does not need them */
    bool golden; /* apart from the accumulation, spec and problem mean what the vector's mean: its expected outputs hold
                  */
} fpo_case;

/* FPO_ERR_UNSUPPORTED with the reason if this kernel cannot take this vector. */
fpo_status fpo_adapt(const fpo_kernel_info *kernel, const fpo_vector *vector, fpo_case *c, fpo_error *error);

/* What a variant's order says of the epilogue. */
fpo_status fpo_adapt_epilogue(const fpo_kernel_order *order, fpo_case *c, fpo_error *error);

/* "coef_mul alpha, mul_coef, fma_beta_c": the steps of an epilogue by their names in spec_choices.inc. */
fpo_status fpo_epilogue_parse(const char *text, fpo_epilogue_step *steps, fpo_error *error);

/* The accumulation of a kernel that is described by `model` and, where it says more, by its order. */
fpo_status fpo_accumulation_of(const fpo_accumulation *model, const fpo_kernel_order *order,
                               fpo_accumulation *accumulation, fpo_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* An output against what must come out: under the model that was asked for, or under those that describe the kernel. */
#ifndef FP4ORACLE_RUNNER_JUDGE_H
#define FP4ORACLE_RUNNER_JUDGE_H

#include "adapt.h"
#include "checks.h"

#include <fp4oracle/diagnose.h>

typedef struct fpo_judgement {
    bool match;
    const char *model; /* that matches; without a match, the one that the comparison is with */
    bool golden;       /* compared with the vector's stored output, not with a computed one */
    size_t models_tried;
    fpo_gemm_spec spec; /* under that model */
    /* Without a match: */
    void *expected, *expected_scale; /* freed by fpo_judgement_free; the scales may be NULL */
    fpo_comparison comparison, scale_comparison;
    bool diagnosed;
    fpo_diagnosis diagnosis;
    char no_diagnosis[FPO_MESSAGE_SIZE]; /* why there is none */
} fpo_judgement;

typedef struct fpo_judge_options {
    const fpo_model *model; /* NULL: as the kernel, the vector or the registry have them */
    bool diagnose;
    const fpo_execution *execution; /* may be NULL */
} fpo_judge_options;

fpo_status fpo_judge(const fpo_case *c, const fpo_kernel_order *order, const fpo_checks *observed,
                     const fpo_judge_options *options, fpo_judgement *judgement, fpo_error *error);
/* Whether `d` is what the problem with the other data gives under the model that matches. */
fpo_status fpo_judge_other(const fpo_judgement *judgement, const fpo_gemm_problem *other, const fpo_checks *observed,
                           const fpo_judge_options *options, bool *match, fpo_error *error);
void fpo_judgement_free(fpo_judgement *judgement);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What verify and diagnose look at: a vector (or a plain file with the operands) and an output that somebody computed.
 * The two need not agree on the format of D: a vector with D in f32 judges a bf16 output by the same spec with D in
 * bf16. */
#ifndef FP4ORACLE_TOOLS_SUBJECT_H
#define FP4ORACLE_TOOLS_SUBJECT_H

#include "checkpoint.h"
#include "vector_file.h"

#include <argp.h>

typedef struct fpo_subject_arguments {
    const char *vector;
    const char *output;       /* FILE[:TENSOR] */
    const char *output_scale; /* FILE[:TENSOR] of an nvfp4 output's scales; NULL: `d_scale` beside the output */
    const char *format;       /* NULL: `vector` is one; else the operand formats of a plain file */
    const char *model;        /* NULL: any that is allowed */
    const char *source[2];    /* FILE[:TENSOR] of the numbers that A and B were quantised from; NULL: not known */
    bool has_beta;            /* of a plain file with C */
    float beta;
    int64_t k; /* of a plain file with an odd number of 4-bit codes; 0: as many as there is room for */
} fpo_subject_arguments;

/* The options that verify and diagnose share; `input` is an fpo_subject_arguments. The one argument is the vector. */
extern const struct argp fpo_subject_argp;

typedef struct fpo_subject {
    fpo_vector *vector;
    fpo_gemm_spec spec; /* of the first model asked for, with D as the output has it */
    bool is_plain;
    bool scaled;    /* there are block scales for the output */
    bool d_differs; /* D of the output is not the format that the vector has outputs in */
    const void *observed, *observed_scale;
    size_t observed_bytes, observed_scale_bytes;
    fpo_tensor_source sources[2]; /* keep the output's files open */
} fpo_subject;

fpo_status fpo_subject_open(const fpo_subject_arguments *arguments, fpo_subject *subject, fpo_error *error);
void fpo_subject_close(fpo_subject *subject);

/* The output that this spec requires: from the vector where it has it, else computed. *d and *d_scale belong to the
 * vector. `model`: the vector's model of that name, if it has one. */
fpo_status fpo_subject_expected(fpo_subject *subject, const char *model, const fpo_accumulation *accumulation,
                                const void **d, const void **d_scale, fpo_error *error);

/* Whether a model can be what made the output: its instruction takes the operands. */
bool fpo_subject_takes(const fpo_subject *subject, const fpo_model *model);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Suites of vectors, each vector made to tell certain mistakes apart: data, not code. */
#ifndef FP4ORACLE_VECTORS_VECTOR_SUITE_H
#define FP4ORACLE_VECTORS_VECTOR_SUITE_H

#include "generate.h"

typedef enum fpo_vector_suite {
#define FPO_SUITE(ID, name, summary) FPO_SUITE_##ID,
#include "suites.inc"
#undef FPO_SUITE
    FPO_SUITE_COUNT
} fpo_vector_suite;

typedef struct fpo_suite_vector {
    const char *name;
    uint32_t suites; /* set of 1u << fpo_vector_suite */
    const char *purpose;
    fpo_data_kind kind;
    int64_t m, n, k;
    fpo_format d; /* FPO_FORMAT_NONE: the one that the suite is asked for */
    bool c, bias;
    /* 0: what the data have. Tensor scales count where the format has them. */
    float alpha, beta, a_tensor_scale, b_tensor_scale;
    bool alpha_is_zero, beta_is_zero;
    bool residual; /* C = -(the exact D), rounded to its format: D is what the rounding left, its lowest bits show */
    bool overflows, underflows; /* alpha carries some of D beyond the largest, or below the smallest normal number */
} fpo_suite_vector;

const char *fpo_suite_name(fpo_vector_suite suite);
const char *fpo_suite_summary(fpo_vector_suite suite);
fpo_vector_suite fpo_suite_by_name(const char *name); /* FPO_SUITE_COUNT if there is none */

const fpo_suite_vector *fpo_suite_vector_at(size_t index); /* of all; NULL beyond the end */
const fpo_suite_vector *fpo_suite_vector_by_name(const char *name);
bool fpo_suite_has(fpo_vector_suite suite, const fpo_suite_vector *vector);

/* What a suite is made for. */
typedef struct fpo_suite_target {
    fpo_block_format a, b;
    fpo_format d; /* FPO_FORMAT_NONE: f32, and some vectors in narrower formats; else this one alone */
    /* A kernel whose C and bias have these formats, FPO_FORMAT_NONE where it has none. False: they are in the format of
     * D, or bf16 where that is narrower; the C of a residual is f32. */
    bool has_addends;
    fpo_format c, bias;
    uint64_t seed;
} fpo_suite_target;

/* Whether the suite has this vector for that target: one in an output format of its own belongs to targets without. */
bool fpo_suite_applies(const fpo_suite_vector *vector, const fpo_suite_target *target);

/* The vector with spec (model exact), operands and purpose, without expected outputs. FPO_ERR_UNSUPPORTED where the
 * formats cannot have it. */
fpo_status fpo_suite_generate(const fpo_suite_vector *entry, const fpo_suite_target *target, fpo_vector **vector,
                              fpo_error *error);

/* The formats that suites are tested with, and the model of the hardware that each is for (suite_formats.inc). */
typedef struct fpo_suite_format {
    fpo_block_format a, b;
    const char *model;
} fpo_suite_format;

const fpo_suite_format *fpo_suite_format_at(size_t index); /* NULL beyond the end */
/* The model for a pair of formats; for those not listed, the last registered hardware model that takes them. */
const fpo_model *fpo_suite_model(fpo_block_format a, fpo_block_format b);

#endif

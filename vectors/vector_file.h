/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Golden vectors: a spec, the operands, and what must come out under one or more accumulation models. As files they are
 * safetensors (docs/vector-format.md). */
#ifndef FP4ORACLE_VECTORS_VECTOR_FILE_H
#define FP4ORACLE_VECTORS_VECTOR_FILE_H

#include "digest.h"

#include <fp4oracle/gemm.h>

/* What must come out under one model. */
typedef struct fpo_expected {
    const char *model;             /* names the tensors: d.exact, d.sm120_mxf4nvf4, ... */
    fpo_accumulation accumulation; /* the numbers of that model when the vector was made */
    const void *d, *d_scale;       /* NULL where the vector has digests alone (d_scale: or the output has no scales) */
    size_t d_bytes, d_scale_bytes;
    fpo_digest d_digest, d_scale_digest;
} fpo_expected;

typedef struct fpo_vector {
    fpo_gemm_spec spec; /* its accumulation is that of expected[0] */
    fpo_gemm_problem problem;
    const char *purpose; /* what the vector is for: one line for people */
    const char *data;    /* where the operands come from: "uniform", "model.safetensors:layer.weight", ... */
    const char *program; /* version of the program that made it */
    /* NULL, or a JSON object: the edits that the vector was seen to tell from a right kernel, by name, with the list of
     * their parameters. For people and reports; nothing depends on it. */
    const char *separates;
    uint64_t seed;
    fpo_expected *expected;
    size_t expected_count;
    struct fpo_memory *memory; /* everything that the pointers above point to, the mapped file included */
} fpo_vector;

/* A vector with nothing in it; purpose and data "", this program's version, alpha and tensor scales 1. */
fpo_status fpo_vector_create(fpo_vector **vector, fpo_error *error);
void fpo_vector_free(fpo_vector *vector); /* NULL is fine */

/* Memory that lives as long as the vector: zeroed, aligned to 64 bytes. NULL if there is none. */
void *fpo_vector_allocate(fpo_vector *vector, size_t size);
const char *fpo_vector_text(fpo_vector *vector, const char *text);

/* Maps the file; operands and outputs are used in place (copied only where they are not aligned). Everything is
 * checked: the spec, every shape and size, every digest. */
fpo_status fpo_vector_read(const char *path, fpo_vector **vector, fpo_error *error);
/* The same on the bytes of a file, which must outlive the vector; `label` names them in messages. */
fpo_status fpo_vector_parse(const void *bytes, size_t size, const char *label, fpo_vector **vector, fpo_error *error);

/* `digests_only`: the expected outputs are left out, for vectors whose outputs are large. Outputs that the vector has
 * as digests alone are written as such anyway. */
fpo_status fpo_vector_write(const char *path, const fpo_vector *vector, bool digests_only, fpo_error *error);

/* NULL if the vector has no such model. */
const fpo_expected *fpo_vector_expected(const fpo_vector *vector, const char *model);
/* The spec under the accumulation of one of the vector's models. */
fpo_gemm_spec fpo_vector_spec(const fpo_vector *vector, const fpo_expected *expected);

/* Adds a model with the outputs `d` and `d_scale`, which must live as long as the vector. */
fpo_status fpo_vector_add(fpo_vector *vector, const char *model, const fpo_accumulation *accumulation, const void *d,
                          const void *d_scale, fpo_error *error);
/* Computes and adds the outputs under a model; the spec and the problem must be there. */
fpo_status fpo_vector_compute(fpo_vector *vector, const fpo_model *model, const fpo_execution *execution,
                              fpo_error *error);

/* Somebody's dump: the tensor names of docs/vector-format.md, nothing else. */
typedef struct fpo_plain {
    fpo_block_format a, b;
    fpo_format d, d_scale;  /* of the output; d_scale: UE8M0 for an mxfp8 output, else as d has it */
    const fpo_model *model; /* for spec.accumulation */
    int64_t k;              /* 0: from the tensors; an odd K cannot be told from e2m1 codes alone */
    const float *beta;      /* of a file without a tensor beta; NULL: such a file has no c */
} fpo_plain;

/* A vector without expected outputs. Tensors that are no operands (outputs, other things) are ignored. */
fpo_status fpo_vector_from_plain(const char *path, const fpo_plain *plain, fpo_vector **vector, fpo_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the parts of the vector file's code share. */
#ifndef FP4ORACLE_VECTORS_VECTOR_MEMORY_H
#define FP4ORACLE_VECTORS_VECTOR_MEMORY_H

#include "safetensors.h"
#include "vector_file.h"

enum { FPO_VECTOR_VERSION = 1 }; /* of the file format */
#define FPO_VECTOR_KEY "fp4oracle" /* of __metadata__ */
#define FPO_SEPARATES_KEY "fp4oracle.separates"

typedef struct fpo_memory {
    fpo_safetensors *file; /* NULL for a vector that was made here */
    bool *taken;           /* per tensor of the file: whether it is part of the vector */
    void **blocks;
    size_t count;
} fpo_memory;

/* Opens the file that the vector keeps mapped; or takes the bytes of one, if `bytes` is not NULL. */
fpo_status fpo_vector_map(fpo_vector *vector, const char *path, const void *bytes, size_t size, fpo_error *error);

/* The messages of these do not name the file; the callers' do.
 * Fills the problem from the tensors of the mapped file. The spec's views and epilogue formats, and m, n, k are there.
 * What the spec needs and the file lacks, and a shape that does not fit, are errors. */
fpo_status fpo_vector_attach(fpo_vector *vector, fpo_error *error);
/* The outputs under one model, those that the file has: `d` and `d_scale` of `expected` and their sizes. */
fpo_status fpo_vector_attach_expected(fpo_vector *vector, fpo_expected *expected, fpo_error *error);

/* "d." and the model's name, or "d_scale." and that, in the vector's memory. NULL if there is none. */
const char *fpo_vector_output_name(fpo_vector *vector, const char *prefix, const char *model);

/* 1 to 64 characters of A-Z a-z 0-9 _ . + - */
bool fpo_model_name_valid(const char *name);

/* A tensor with a single number, and what its absence means. */
typedef struct fpo_scalar_field {
    const char *name;
    size_t offset; /* of a float in fpo_gemm_problem */
    float absent;
} fpo_scalar_field;

enum { FPO_SCALARS = 5 };
extern const fpo_scalar_field fpo_scalars[FPO_SCALARS];

#endif

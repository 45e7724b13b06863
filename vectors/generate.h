/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Problems from a seed, or from tensors. What comes out depends on the arguments alone. */
#ifndef FP4ORACLE_VECTORS_GENERATE_H
#define FP4ORACLE_VECTORS_GENERATE_H

#include "vector_file.h"

#include <fp4oracle/quantize.h>

typedef enum fpo_data_kind {
#define FPO_DATA_KIND(ID, name, summary) FPO_DATA_##ID,
#include "data_kinds.inc"
#undef FPO_DATA_KIND
    FPO_DATA_COUNT
} fpo_data_kind;

const char *fpo_data_kind_name(fpo_data_kind kind);
const char *fpo_data_kind_summary(fpo_data_kind kind);
fpo_data_kind fpo_data_kind_by_name(const char *name); /* FPO_DATA_COUNT if there is none */

typedef struct fpo_generate {
    fpo_block_format a, b;
    fpo_format d;
    fpo_format c, bias; /* FPO_FORMAT_NONE: none. C comes with beta = 0.5 */
    int64_t m, n, k;
    fpo_data_kind kind;
    uint64_t seed;
} fpo_generate;

/* A vector with spec (model exact), operands, data and seed, without expected outputs. */
fpo_status fpo_generate_vector(const fpo_generate *wanted, fpo_vector **vector, fpo_error *error);

/* A matrix of floats whose values `dtype` (F32, F16, BF16) has exactly. */
typedef struct fpo_float_matrix {
    const float *values;
    int64_t rows, k;
    fpo_format dtype;
} fpo_float_matrix;

/* The matrix as an operand: quantised by `recipe`, or by the format's default where that is FPO_RECIPE_COUNT; formats
 * without recipes are encoded to nearest. The buffers belong to the vector. */
fpo_status fpo_quantize_operand(fpo_vector *vector, fpo_block_format format, fpo_recipe recipe,
                                const fpo_float_matrix *matrix, fpo_operand *operand, fpo_error *error);

#endif

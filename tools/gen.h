/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What fp4oracle gen is asked for, and making it. */
#ifndef FP4ORACLE_TOOLS_GEN_H
#define FP4ORACLE_TOOLS_GEN_H

#include "generate.h"
#include "model_choice.h"

typedef struct fpo_gen_arguments {
    const char *suite;                     /* a registered suite, which is all that is made then; output is a folder */
    const char *a, *b;                     /* FILE[:TENSOR], both or neither */
    const char *c, *bias;                  /* FILE[:TENSOR], with a and b */
    const char *checkpoint, *layer, *fuse; /* a folder and a layer of it, or parts of one, which is b; a may be given */
    int64_t rows;                          /* of generated activations */
    bool has_rows;
    const char *recipe;    /* NAME or A,B; NULL: the default of the format */
    fpo_generate generate; /* formats, and for --data its kind and shape; c and bias are formats */
    fpo_format d_scale;    /* UE8M0 for an mxfp8 output; else as generate.d has it */
    bool has_format, has_data, has_shape, has_d, has_alpha, has_beta, has_norm;
    float alpha, beta, norm; /* norm: the factor d_scale of a narrow output */
    const char **models;     /* names */
    size_t model_count;
    const char *purpose; /* NULL: none */
    const char *output;
    bool digests_only, separates, json;
} fpo_gen_arguments;

/* The vector with the outputs of all its models. */
fpo_status fpo_gen_vector(const fpo_gen_arguments *arguments, fpo_vector **vector, fpo_error *error);

/* The outputs of all models that are asked for. */
fpo_status fpo_gen_compute(const fpo_gen_arguments *arguments, fpo_vector *vector, fpo_error *error);

/* The operands from tensors of files; spec, problem and data of `vector` are filled in. */
fpo_status fpo_gen_from_tensors(const fpo_gen_arguments *arguments, fpo_vector *vector, fpo_error *error);

/* A file of `fp4oracle quantize`, which --a and --b take as it is. */
bool fpo_is_quantized_file(const char *path);
fpo_status fpo_gen_quantized(fpo_vector *vector, const char *path, fpo_block_format format, fpo_operand *operand,
                             int64_t *rows, int64_t *k, fpo_error *error);

/* The same, b being a layer of a quantised checkpoint and a its activations. */
fpo_status fpo_gen_from_checkpoint(const fpo_gen_arguments *arguments, fpo_vector *vector, fpo_error *error);

/* C and bias, m and n of the problem being there. */
fpo_status fpo_gen_load_addends(const fpo_gen_arguments *arguments, fpo_vector *vector, fpo_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a quantised layer is multiplied with. */
#ifndef FP4ORACLE_VECTORS_HF_ACTIVATIONS_H
#define FP4ORACLE_VECTORS_HF_ACTIVATIONS_H

#include "generate.h"
#include "hf_checkpoint.h"

typedef struct fpo_hf_activations {
    fpo_block_format format;
    fpo_recipe
        recipe;     /* in: FPO_RECIPE_COUNT for the scheme's, or the format's where it is another. Out: what was used */
    bool is_static; /* out: the checkpoint's input scale was used, which is for the scheme's own recipe alone */
} fpo_hf_activations;

/* Standard normal numbers from a seed, each rounded to bf16. The caller frees `values`. */
fpo_status fpo_hf_normal_activations(uint64_t seed, int64_t rows, int64_t k, float **values, fpo_error *error);

/* The buffers of the operands belong to the vector. */
fpo_status fpo_hf_quantise_activations(fpo_vector *vector, const fpo_scheme_info *scheme, const fpo_hf_layer *layer,
                                       const fpo_float_matrix *matrix, fpo_hf_activations *wanted, fpo_operand *operand,
                                       fpo_error *error);
fpo_status fpo_hf_weight_operand(fpo_vector *vector, const fpo_hf_layer *layer, fpo_operand *operand, fpo_error *error);

#endif

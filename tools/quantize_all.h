/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Where the recipes of one operand format disagree on a tensor. */
#ifndef FP4ORACLE_TOOLS_QUANTIZE_ALL_H
#define FP4ORACLE_TOOLS_QUANTIZE_ALL_H

#include "quantized.h"

/* What one recipe makes of the tensor, against the first recipe of its format. */
typedef struct fpo_recipe_outcome {
    fpo_recipe recipe, same_as; /* same_as: an earlier one with equal codes and scales; FPO_RECIPE_COUNT if none */
    int64_t codes_different, scales_different;
    int64_t first_row, first_block; /* of the scale matrix, row by row: the first block with a difference; -1 if none */
    bool has_tensor_scale, tensor_scale_differs, failed;
    float tensor_scale;
    fpo_error error; /* why it failed */
} fpo_recipe_outcome;

/* In the order of the registry; the recipes of one format need not stand together. */
typedef struct fpo_recipe_outcomes {
    fpo_recipe_outcome outcomes[FPO_RECIPE_COUNT];
    fpo_recipe reference[FPO_RECIPE_COUNT];  /* by recipe: the first one of its format */
    int64_t codes, scales[FPO_RECIPE_COUNT]; /* how many there are to differ */
} fpo_recipe_outcomes;

/* NULL on failure; free it. */
fpo_recipe_outcomes *fpo_quantize_by_all(const fpo_tensor_numbers *numbers, fpo_error *error);

void fpo_recipe_outcomes_print(const fpo_recipe_outcomes *all, const fpo_tensor_numbers *numbers, const char *input);
json_t *fpo_recipe_outcomes_json(const fpo_recipe_outcomes *all, const fpo_tensor_numbers *numbers, const char *input);

#endif

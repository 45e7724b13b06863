/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The text of a recipe's steps, put together from its compiled program. */
#ifndef FP4ORACLE_EMU_RECIPE_EXPRESSION_H
#define FP4ORACLE_EMU_RECIPE_EXPRESSION_H

#include "recipe.h"

/* "scale = e4m3(amax / 6 / tensor_scale)"; cut where it is longer than `size`. */
void fpo_step_text(const fpo_program *program, const fpo_recipe_step *step, char *text, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A compiled recipe over a tensor, every step on every element, in the order of docs/recipes.md: nothing is planned,
 * left out, kept or shared. Slow, and what the engine is checked against. */
#ifndef FP4ORACLE_TESTS_RECIPE_TWIN_H
#define FP4ORACLE_TESTS_RECIPE_TWIN_H

#include "recipe.h"

/* As fpo_quantize_by; `result` has its places and what is given. False: there is no memory. */
bool fpo_twin_quantize(const fpo_program *program, const fpo_operand_view *view, const float *x, int64_t rows,
                       int64_t k, fpo_quantized *result);

#endif

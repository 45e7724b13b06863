/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A recipe's program over the first block of one row, step by step, with the text of each step. The values of a step
 * are the library's own; the order in which steps run is written out here again and its result compared with
 * fpo_quantize. */
#ifndef FP4ORACLE_TOOLS_RECIPE_TRACE_H
#define FP4ORACLE_TOOLS_RECIPE_TRACE_H

#include <fp4oracle/quantize.h>
#include <jansson.h>

enum { FPO_STEP_TEXT = 160 };

/* Adds "tensor", "row", "block", "tries", "elements" and "scale" to `object`. */
/* library_scale: the tensor scale as the library keeps it, instead of what the recipe computes; or NULL. */
fpo_status fpo_trace_recipe(const fpo_recipe_info *recipe, const float *x, int64_t k, fpo_format dtype,
                            const float *library_scale, json_t *object, fpo_error *error);

#endif

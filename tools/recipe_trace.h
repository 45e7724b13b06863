/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What fpo_recipe_trace says of the first block of one row, as JSON. */
#ifndef FP4ORACLE_TOOLS_RECIPE_TRACE_H
#define FP4ORACLE_TOOLS_RECIPE_TRACE_H

#include <fp4oracle/quantize.h>
#include <jansson.h>

/* Adds "tensor", "row", "block", "tries", "elements" and "scale" to `object`. */
/* library_scale: the tensor scale as the library keeps it, instead of what the recipe computes; or NULL. */
fpo_status fpo_trace_recipe(const fpo_recipe_info *recipe, const float *x, int64_t k, fpo_format dtype,
                            const float *library_scale, json_t *object, fpo_error *error);

#endif

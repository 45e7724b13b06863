/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Arguments as text to values. Every failure names the argument and what would be right. */
#ifndef FP4ORACLE_TOOLS_ARGUMENTS_H
#define FP4ORACLE_TOOLS_ARGUMENTS_H

#include "suggest.h"

#include <fp4oracle/fp4oracle.h>

/* `what` ("format", "model") and the names of a registry: "no format 'nvpf4'; did you mean 'nvfp4'? ...". */
fpo_status fpo_no_such_name(const char *what, const char *wanted, fpo_name_at name_at, const char *topic,
                            fpo_error *error);

/* The names of the registries, in their order; NULL beyond the end. */
const char *fpo_format_name_at(size_t index);
const char *fpo_block_format_name_at(size_t index);
const char *fpo_model_name_at(size_t index);
const char *fpo_recipe_name_at(size_t index);
const char *fpo_layout_name_at(size_t index);
const char *fpo_data_kind_name_at(size_t index);

fpo_status fpo_parse_format(const char *text, fpo_format *format, fpo_error *error);
fpo_status fpo_parse_model(const char *text, const fpo_model **model, fpo_error *error);
fpo_status fpo_parse_recipe(const char *text, fpo_recipe *recipe, fpo_error *error);
fpo_status fpo_parse_layout(const char *text, fpo_layout *layout, fpo_error *error);
/* "nvfp4", or "mxfp8_e4m3,mxfp4" for a pair. */
fpo_status fpo_parse_block_formats(const char *text, fpo_block_format *a, fpo_block_format *b, fpo_error *error);

/* "MxNxK", each from 1 to 2^31-1. */
fpo_status fpo_parse_shape(const char *text, int64_t *m, int64_t *n, int64_t *k, fpo_error *error);
/* A whole number from `smallest` to `largest`; decimal, 0x or 0b. `what` names the argument. */
fpo_status fpo_parse_integer(const char *what, const char *text, int64_t smallest, int64_t largest, int64_t *value,
                             fpo_error *error);
fpo_status fpo_parse_seed(const char *text, uint64_t *seed, fpo_error *error);
/* A decimal or hexadecimal number, inf or nan, rounded to f32. */
fpo_status fpo_parse_float(const char *what, const char *text, float *value, fpo_error *error);
/* A code of `bits` bits: 0x3A, 58 or 0b111010. */
fpo_status fpo_parse_code(const char *text, int bits, const char *format, uint32_t *code, fpo_error *error);

#endif

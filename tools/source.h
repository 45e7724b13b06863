/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The numbers that an operand was quantised from, as --source-a and --source-b give them. */
#ifndef FP4ORACLE_TOOLS_SOURCE_H
#define FP4ORACLE_TOOLS_SOURCE_H

#include "vector_file.h"

/* Of A and of B, each FILE[:TENSOR] or NULL; the numbers become part of the vector. */
fpo_status fpo_take_sources(const char *const arguments[2], fpo_vector *vector, fpo_error *error);

#endif

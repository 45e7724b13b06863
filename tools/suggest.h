/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* "Did you mean": the known name nearest to a mistyped one. */
#ifndef FP4ORACLE_TOOLS_SUGGEST_H
#define FP4ORACLE_TOOLS_SUGGEST_H

#include <stddef.h>

/* The names of a registry in order; NULL beyond the end. */
typedef const char *(*fpo_name_at)(size_t index);

/* NULL if nothing is near. */
const char *fpo_suggest(const char *wanted, fpo_name_at name_at);

#endif

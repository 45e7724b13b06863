/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits by their names, and whether a diagnosis names one. */
#ifndef FP4ORACLE_TESTS_SUPPORT_CAUSES_H
#define FP4ORACLE_TESTS_SUPPORT_CAUSES_H

#include <fp4oracle/diagnose.h>

/* As a cause of its own: alone, or among others that explain the output as well. */
bool is_a_cause(const fpo_diagnosis *d, const fpo_edit *edit);
/* That, or by what is plain to see, or as one of more than there is room for. */
bool is_explained(const fpo_diagnosis *d, const fpo_edit *edit);

fpo_edit edit_named(const char *name, int operands, int from, int to, float value);

#endif

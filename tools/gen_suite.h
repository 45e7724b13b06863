/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Suites of vectors as files. */
#ifndef FP4ORACLE_TOOLS_GEN_SUITE_H
#define FP4ORACLE_TOOLS_GEN_SUITE_H

#include "gen.h"
#include "vector_suite.h"

/* Why these arguments cannot go with --suite; NULL if they can. */
const char *fpo_gen_suite_complaint(const fpo_gen_arguments *arguments);

/* The vectors of a registered suite in the folder `output`, NAME.safetensors each; says so. Returns the exit status. */
int fpo_gen_suite(const char *program, const fpo_gen_arguments *arguments);

#endif

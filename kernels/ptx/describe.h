/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The table as text for people. */
#ifndef FP4ORACLE_KERNELS_PTX_DESCRIBE_H
#define FP4ORACLE_KERNELS_PTX_DESCRIBE_H

#include "ptx.h"

#include <stdio.h>

void fpo_ptx_describe(FILE *out);        /* a Markdown list of all patterns, family by family */
size_t fpo_ptx_count_instructions(void); /* distinct opcodes with modifiers that the patterns stand for */

#endif

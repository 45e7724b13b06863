/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The arguments of `fp4oracle run`. */
#ifndef FP4ORACLE_TOOLS_RUN_ARGUMENTS_H
#define FP4ORACLE_TOOLS_RUN_ARGUMENTS_H

#include <fp4oracle/model.h>

typedef struct fpo_run_arguments {
    const char *kernel, *device, *junit, *record;
    const fpo_model *model;
    const char *suite, *format;
    const char *source[2]; /* FILE[:TENSOR] that A and B of the vector were quantised from, or NULL */
    char **vectors;
    size_t vector_count;
    float time_limit;
    bool json, list, once, no_diagnosis, check;
} fpo_run_arguments;

/* Ends the program where they make no sense. */
void fpo_run_arguments_parse(int argc, char **argv, fpo_run_arguments *arguments);

#endif

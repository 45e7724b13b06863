/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Which vector files a command works on: those named, and those of a suite. */
#ifndef FP4ORACLE_TOOLS_RUN_VECTORS_H
#define FP4ORACLE_TOOLS_RUN_VECTORS_H

#include <fp4oracle/status.h>
#include <stddef.h>

typedef struct fpo_run_vector {
    char *path;
} fpo_run_vector;

typedef struct fpo_run_vectors {
    size_t count;
    fpo_run_vector *list;
} fpo_run_vectors;

/* `suite` may be NULL. A suite is a folder: its *.safetensors, in the order of their names. */
fpo_status fpo_run_vectors_find(const char *suite, char *const *named, size_t named_count, fpo_run_vectors *vectors,
                                fpo_error *error);
void fpo_run_vectors_free(fpo_run_vectors *vectors);

#endif

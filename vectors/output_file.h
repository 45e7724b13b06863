/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A file that appears whole or not at all: written beside its place, synced, renamed. */
#ifndef FP4ORACLE_VECTORS_OUTPUT_FILE_H
#define FP4ORACLE_VECTORS_OUTPUT_FILE_H

#include <fp4oracle/status.h>
#include <stddef.h>

typedef struct fpo_output_file {
    int descriptor;
    char *path, *temporary;
} fpo_output_file;

/* Refuses a `path` that exists and is not a regular file: renaming over /dev/null would replace it. */
fpo_status fpo_output_open(fpo_output_file *file, const char *path, fpo_error *error);
fpo_status fpo_output_write(fpo_output_file *file, const void *bytes, size_t size, fpo_error *error);
/* Syncs and renames; the file is closed either way. */
fpo_status fpo_output_commit(fpo_output_file *file, fpo_error *error);
/* Closes and removes what was written; does nothing after a commit. */
void fpo_output_discard(fpo_output_file *file);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Which vectors a command works on: those named, those of a folder, and those of a registered suite. */
#ifndef FP4ORACLE_TOOLS_RUN_VECTORS_H
#define FP4ORACLE_TOOLS_RUN_VECTORS_H

#include "info.h"
#include "vector_suite.h"

typedef struct fpo_run_vector {
    char *path;                    /* of the file; of a registered vector what reports call it, "smoke/one_hot-nvfp4" */
    const fpo_suite_vector *entry; /* NULL: a file */
    fpo_vector_suite suite;
    fpo_suite_target target;
    fpo_vector *made; /* of a registered vector, for the kernel that asked last */
    fpo_suite_target made_for;
} fpo_run_vector;

typedef struct fpo_run_vectors {
    size_t count;
    fpo_run_vector *list;
} fpo_run_vectors;

/* `suite` may be NULL. It is SUITE or SUITE/VECTOR of the registry, for the formats `format` ("F" or "A,B") or, where
 * that is NULL, for all that suites are tested with; or else a folder: its *.safetensors, in the order of their names.
 */
fpo_status fpo_run_vectors_find(const char *suite, const char *format, char *const *named, size_t named_count,
                                fpo_run_vectors *vectors, fpo_error *error);
void fpo_run_vectors_free(fpo_run_vectors *vectors);

/* Whether this is for kernels with these operands and this D at all: files may be, of registered vectors it is known.
 */
bool fpo_run_vector_suits(const fpo_run_vector *source, const fpo_kernel_info *kernel);
/* The vector, which the caller gives back; a registered one as it is for such a kernel. FPO_ERR_UNSUPPORTED where there
 * is none. */
fpo_status fpo_run_vector_open(fpo_run_vector *source, const fpo_kernel_info *kernel, fpo_vector **vector,
                               fpo_error *error);
void fpo_run_vector_close(fpo_run_vector *source, fpo_vector *vector);

enum { FPO_RUN_VECTOR_WORDS = 4 };
/* What names this vector alone on a command line; returns the number of words, `text` holds those that are no literals.
 */
int fpo_run_vector_arguments(const fpo_run_vector *source, char text[2][128], char *words[FPO_RUN_VECTOR_WORDS]);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What fp4oracle coverage finds out, and how it says so. */
#ifndef FP4ORACLE_TOOLS_COVERAGE_RUN_H
#define FP4ORACLE_TOOLS_COVERAGE_RUN_H

#include "coverage.h"
#include "vector_suite.h"

#include <jansson.h>

/* The vectors of one kill matrix, and the matrix. */
typedef struct fpo_coverage_run {
    const fpo_model *model;
    size_t count;
    fpo_vector **vectors;
    const char **names;
    fpo_digest source; /* what the matrix is computed from */
    fpo_coverage *coverage;
} fpo_coverage_run;

/* All edits of one kind. */
typedef struct fpo_coverage_family {
    const fpo_edit_info *info;
    fpo_edit_kind kind;
    size_t edits, killed, equivalent, surviving;
    const char *reason; /* why the first equivalent one is; NULL: none is */
} fpo_coverage_family;

/* False if there is no edit of this kind. `first`: killed by the first so many vectors alone. */
bool fpo_coverage_family_of(const fpo_coverage *coverage, fpo_edit_kind kind, size_t first,
                            fpo_coverage_family *family);

/* "### nvfp4 x nvfp4 -> f32 under MODEL" and "computed from ...", which begin a table of --markdown. */
void fpo_coverage_print_source(const fpo_coverage_run *run);
void fpo_coverage_print(const fpo_coverage_run *run);
/* A table of families by vectors, each cell with how many of a family's edits the vector kills. */
void fpo_coverage_print_matrix(const fpo_coverage_run *run);
/* `smoke`: how many of the first vectors make the smoke suite; 0: no suite. */
void fpo_coverage_print_markdown(const fpo_coverage_run *run, size_t smoke);
json_t *fpo_coverage_json(const fpo_coverage_run *run);

#endif

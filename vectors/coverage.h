/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The kill matrix: which vectors show which mistakes. A vector kills an edit if the edited spec gives at least one
 * other byte of D than the right one. */
#ifndef FP4ORACLE_VECTORS_COVERAGE_H
#define FP4ORACLE_VECTORS_COVERAGE_H

#include "digest.h"
#include "vector_file.h"

#include <fp4oracle/edit.h>

typedef enum fpo_kill {
    FPO_KILL_NONE,     /* the vector does not admit the edit: there is no alpha to drop, or the result makes no sense */
    FPO_KILL_UNTRIED,  /* another vector kills it, and one was enough */
    FPO_KILL_SAMPLE,   /* a sample of its output is the same, and another vector kills it */
    FPO_KILL_SURVIVES, /* all of its output is the same */
    FPO_KILL_KILLS
} fpo_kill;

typedef struct fpo_coverage_edit {
    fpo_edit edit;
    const char *equivalent; /* why no vector of these formats can kill it; NULL if one can */
    bool otherwise; /* its numbers come from a vector's shape, and another vector kills it with numbers of its own */
    size_t killers; /* vectors that kill it */
} fpo_coverage_edit;

typedef struct fpo_coverage {
    size_t vector_count, edit_count;
    fpo_coverage_edit *edits;             /* in the order of the catalogue */
    uint8_t *cells;                       /* fpo_kill, by edit and then by vector */
    size_t killed, otherwise, equivalent; /* the rest of edit_count survives everything */
} fpo_coverage;

typedef struct fpo_coverage_options {
    const fpo_model *model; /* of the right kernel */
    bool first_only;        /* one vector that kills an edit is enough */
    bool samples_only;      /* what a sample of an output does not show is taken to survive */
    fpo_execution execution;
} fpo_coverage_options;

/* Edits that none of the vectors admits are not part of it. */
fpo_status fpo_coverage_compute(fpo_vector *const *vectors, size_t count, const fpo_coverage_options *options,
                                fpo_coverage **coverage, fpo_error *error);
void fpo_coverage_free(fpo_coverage *coverage);

/* What a kill matrix is computed from: operands and scalars of the vectors, and the edits that each admits with their
 * parameters. A matrix with another digest is of other vectors or of another catalogue. Nothing is computed. */
fpo_status fpo_coverage_source(fpo_vector *const *vectors, size_t count, const fpo_model *model, fpo_digest *digest,
                               fpo_error *error);

fpo_kill fpo_coverage_cell(const fpo_coverage *coverage, size_t edit, size_t vector);

/* Why the edit of this spec cannot change any output whatever the operands are; NULL if it can (equivalent_edits.inc,
 * and edits that lead to the same numbers). */
const char *fpo_equivalent_edit(const fpo_gemm_spec *spec, const fpo_edit *edit);
/* Whether the numbers of such an edit are those of a vector's shape (shaped_edits.inc). */
bool fpo_edit_depends_on_shape(const fpo_edit *edit);

#endif

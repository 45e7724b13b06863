/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Everything that can be said about a kernel before anybody knows what its output should be: launches that must give
 * the same output, because they differ in nothing that may matter. */
#ifndef FP4ORACLE_RUNNER_CHECKS_H
#define FP4ORACLE_RUNNER_CHECKS_H

#include "stage.h"

/* Which part of D something is about. */
typedef struct fpo_region {
    int64_t elements;
    int64_t first_row, last_row, first_column, last_column; /* the smallest rectangle around them */
} fpo_region;

typedef struct fpo_run_finding {
    fpo_outcome outcome;
    char text[FPO_MESSAGE_SIZE];
} fpo_run_finding;

enum { FPO_FINDINGS = 8 };

typedef struct fpo_checks {
    void *d;       /* of the first launch, M x N as fpo_gemm writes it; the caller frees both */
    void *d_scale; /* NULL where the kernel writes none */
    size_t d_bytes, d_scale_bytes;
    int launches;
    int64_t unwritten; /* elements of D that no launch wrote */
    void *other_d;     /* what the other data gave; NULL with one launch alone */
    size_t count;
    fpo_run_finding findings[FPO_FINDINGS]; /* in the order in which they were made; none: FPO_OUTCOME_MATCH so far */
} fpo_checks;

/* One launch alone where `once`. FPO_OK even if there are findings. A failure means that there is no output: what the
 * stage's outcome and the error say. */
fpo_status fpo_check_launches(fpo_stage *stage, bool once, fpo_checks *checks, fpo_error *error);
/* D of a single launch with the other data, `checks->d_bytes` bytes. */
fpo_status fpo_check_other(fpo_stage *stage, const fpo_checks *checks, void *d, fpo_error *error);
void fpo_checks_free(fpo_checks *checks);

void fpo_checks_note(fpo_checks *checks, fpo_outcome outcome, const char *format, ...) FPO_PRINTF(3, 4);

/* "rows 64-127, columns 0-255" */
void fpo_region_text(const fpo_region *region, char *text, size_t size);

#endif

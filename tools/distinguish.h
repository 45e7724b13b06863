/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A vector that tells apart what one output could not. */
#ifndef FP4ORACLE_TOOLS_DISTINGUISH_H
#define FP4ORACLE_TOOLS_DISTINGUISH_H

#include "subject.h"

#include <fp4oracle/diagnose.h>

typedef struct fpo_distinction {
    fpo_vector *vector; /* with the output of the model; free it */
    size_t causes;
    fpo_cause list[FPO_CAUSES];
    size_t kinds;                /* how many different outputs the causes give */
    size_t group_of[FPO_CAUSES]; /* causes of the same group give the same output */
} fpo_distinction;

/* Generated data, its kind and shape tried until every cause gives an output of its own, or the best there is. `model`
 * is the one that the causes are edits of. */
fpo_status fpo_distinguish(const fpo_subject *subject, const char *model, const fpo_diagnosis *diagnosis,
                           fpo_distinction *distinction, fpo_error *error);

void fpo_distinction_print(const fpo_distinction *distinction, const char *path);

#endif

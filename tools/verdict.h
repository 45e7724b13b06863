/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What verify and diagnose find out about an output, and how they say it. */
#ifndef FP4ORACLE_TOOLS_VERDICT_H
#define FP4ORACLE_TOOLS_VERDICT_H

#include "differences.h"
#include "subject.h"

#include <fp4oracle/diagnose.h>
#include <jansson.h>

enum {
    FPO_MATCHES = 128,     /* more than the registry has of one format */
    FPO_FAULT_CLASSES = 24 /* 1 to 23: docs/diagnosis.md */
};

typedef struct fpo_finding {
    fpo_verdict verdict;
    const char *asked[FPO_MATCHES]; /* models that the output may follow */
    size_t asked_count;
    const char *matches[FPO_MATCHES]; /* models whose bits the output has, asked for or not */
    size_t match_count;
    size_t untried;      /* models that agree on a sample and were not tried further: the output is large */
    const char *closest; /* of the asked ones, the one that `differences` compares with */
    fpo_differences differences;
    int64_t scales_different; /* of an nvfp4 output's scales */
    bool diagnosed;
    fpo_diagnosis diagnosis; /* under the model `closest` */
    double seconds;          /* that the search took */
    size_t
        singles[FPO_FAULT_CLASSES]; /* single edits that this spec admits, by class; the other hypotheses are pairs */
} fpo_finding;

/* Compares with the models asked for, then with all others; `search`: where none explains the output, looks for the
 * misinterpretation that does. */
fpo_status fpo_find(fpo_subject *subject, const char *model, bool search, fpo_finding *finding, fpo_error *error);

/* How a finding is told. */
typedef struct fpo_telling {
    const fpo_subject_arguments *arguments;
    const char *line; /* the command that says this again */
    bool search;      /* with the search's own numbers, for `diagnose` */
} fpo_telling;

/* FPO_EXIT_OK for a match, else FPO_EXIT_DIVERGENCE. */
int fpo_finding_print(const fpo_finding *finding, const fpo_telling *telling);
int fpo_finding_print_json(const fpo_finding *finding, const fpo_telling *telling);

#endif

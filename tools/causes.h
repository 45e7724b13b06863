/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a diagnosis found, for people and for machines. */
#ifndef FP4ORACLE_TOOLS_CAUSES_H
#define FP4ORACLE_TOOLS_CAUSES_H

#include <fp4oracle/diagnose.h>
#include <jansson.h>

/* Whether an explanation is worth naming beside the others: not a defect where another is none, not "everything is 2
 * times too large" where another says why. */
bool fpo_cause_is_finding(const fpo_diagnosis *diagnosis, size_t index);
/* Indented by two, a label of 16 columns before each line. `distinguish`: the command that makes a vector which tells
 * several explanations apart; NULL if there is none. */
void fpo_causes_print(const fpo_diagnosis *diagnosis, const char *distinguish);
/* {edit, parameters, sentence} of each explanation. */
json_t *fpo_diagnosis_causes_json(const fpo_diagnosis *diagnosis);
/* The part, the sign, the evidence, candidates and the closest hypothesis as members of `object`. */
void fpo_diagnosis_add_json(json_t *object, const fpo_diagnosis *diagnosis);

#endif

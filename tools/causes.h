/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a diagnosis found, for people and for machines. */
#ifndef FP4ORACLE_TOOLS_CAUSES_H
#define FP4ORACLE_TOOLS_CAUSES_H

#include <fp4oracle/diagnose.h>
#include <jansson.h>

/* Indented by two, a label of 16 columns before each line. */
void fpo_causes_print(const fpo_diagnosis *diagnosis);
/* {edit, parameters, sentence} of each explanation. */
json_t *fpo_diagnosis_causes_json(const fpo_diagnosis *diagnosis);

#endif

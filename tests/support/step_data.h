/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The recorded steps that the repo carries (vectors/data/steps), each with the model that must reproduce it. */
#ifndef FP4ORACLE_TESTS_STEP_DATA_H
#define FP4ORACLE_TESTS_STEP_DATA_H

#include <steps.h>

typedef struct step_data_set {
    const char *file;  /* "mmasim/sm120_mxf4_2x_e2m1_e2m1_ue8m0" */
    const char *model; /* name in the registry */
    const fpo_step_rows *rows;
} step_data_set;

typedef struct step_data {
    step_data_set *sets;
    size_t count, files;
    void *owned;
} step_data;

/* Fails the test where a file is unreadable or no model is known for it. */
step_data *step_data_open(void);
void step_data_close(step_data *data);

#endif

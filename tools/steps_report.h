/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What `fp4oracle steps` finds out about one result tensor, and how it says so. */
#ifndef FP4ORACLE_TOOLS_STEPS_REPORT_H
#define FP4ORACLE_TOOLS_STEPS_REPORT_H

#include <jansson.h>
#include <steps.h>

typedef struct fpo_steps_judgement {
    const fpo_model *model;
    fpo_steps_result result;
} fpo_steps_judgement;

typedef struct fpo_steps_verdict {
    const fpo_step_rows *rows;
    fpo_steps_judgement *models; /* fewest differing rows first, then as in the registry */
    size_t count;
    size_t reproducing; /* of them, with no differing row */
} fpo_steps_verdict;

/* `model` NULL: every model that is a single instruction for such rows. */
fpo_status fpo_steps_judge(const fpo_step_rows *rows, const fpo_model *model, fpo_steps_verdict *verdict,
                           fpo_error *error);
void fpo_steps_verdict_free(fpo_steps_verdict *verdict);

void fpo_steps_verdict_print(const char *path, const fpo_steps_verdict *verdict);
json_t *fpo_steps_verdict_json(const char *path, const fpo_steps_verdict *verdict);

#endif

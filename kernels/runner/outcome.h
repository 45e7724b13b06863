/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What can come of running a kernel on a vector. */
#ifndef FP4ORACLE_RUNNER_OUTCOME_H
#define FP4ORACLE_RUNNER_OUTCOME_H

#include "child.h"

typedef enum fpo_outcome {
#define FPO_OUTCOME(ID, name, exit_status, sentence) FPO_OUTCOME_##ID,
#include "outcomes.inc"
#undef FPO_OUTCOME
    FPO_OUTCOME_COUNT
} fpo_outcome;

const char *fpo_outcome_name(fpo_outcome outcome);
const char *fpo_outcome_sentence(fpo_outcome outcome);
int fpo_outcome_exit_status(fpo_outcome outcome);

/* What a plug-in's answer means; not for FPO_PLUGIN_OK. */
fpo_outcome fpo_outcome_of_status(fpo_plugin_status status);
/* What the end of a worker means; not for FPO_ENDING_NONE. */
fpo_outcome fpo_outcome_of_ending(const fpo_ending *ending);

#endif

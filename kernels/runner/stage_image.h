/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Between the parts of a stage: one request with its outcome. */
#ifndef FP4ORACLE_RUNNER_STAGE_IMAGE_H
#define FP4ORACLE_RUNNER_STAGE_IMAGE_H

#include "stage.h"

/* A request; a failure sets stage->outcome and the error. */
fpo_status fpo_stage_ask(fpo_stage *stage, const fpo_worker_request *request, fpo_worker_reply *reply,
                         fpo_error *error);

#endif

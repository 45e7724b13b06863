/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Between the parts of a stage. */
#ifndef FP4ORACLE_RUNNER_STAGE_PARTS_H
#define FP4ORACLE_RUNNER_STAGE_PARTS_H

#include "stage.h"

/* A request; a failure sets stage->outcome and the error. */
fpo_status fpo_stage_ask(fpo_stage *stage, const fpo_worker_request *request, fpo_worker_reply *reply,
                         fpo_error *error);

/* Sizes, conversions and images of what the kernel reads, and sizes of what it writes. */
fpo_status fpo_stage_add_inputs(fpo_stage *stage, fpo_error *error);
fpo_status fpo_stage_add_outputs(fpo_stage *stage, fpo_error *error);

/* Bytes of a buffer with its guards. A matrix' guards hold a tile of lines (`line` bytes each, 0 for what is no
 * matrix), so that a ragged tile lands in them. */
fpo_status fpo_stage_size_buffer(fpo_stage *stage, fpo_slot slot, int64_t bytes, int64_t line, fpo_error *error);

#endif

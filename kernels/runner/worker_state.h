/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a worker holds. */
#ifndef FP4ORACLE_RUNNER_WORKER_STATE_H
#define FP4ORACLE_RUNNER_WORKER_STATE_H

#include "worker.h"

#include <stdbool.h>

typedef struct fpo_worker {
    int arena_file;
    uint8_t *arena;
    size_t arena_bytes;
    fpo_loaded_plugin plugin;
    bool loaded;
    void *slot[FPO_SLOT_COUNT];
    uint64_t slot_bytes[FPO_SLOT_COUNT];
} fpo_worker;

/* A problem of the runner with addresses of this process, or of its device. */
fpo_kernel_problem fpo_worker_problem(const fpo_worker *w, const fpo_wire_problem *wire);

#endif

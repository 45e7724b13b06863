/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The worker process: `fp4oracle worker SOCKET ARENA`, started by the runner and by nobody else. */
#ifndef FP4ORACLE_RUNNER_WORKER_H
#define FP4ORACLE_RUNNER_WORKER_H

#include "plugin.h"
#include "protocol.h"

/* Serves requests until it is told to quit or its parent is gone; returns the exit status. */
int fpo_worker_main(int socket, int arena);

/* JSON texts of what a plug-in declares, malloc'ed; NULL if memory ran out. */
char *fpo_describe_plugin(const fpo_loaded_plugin *plugin);
char *fpo_describe_devices(const fpo_loaded_plugin *plugin);
char *fpo_describe_variant(const char *name, const fpo_kernel_order *order);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Between the parts of a child. */
#ifndef FP4ORACLE_RUNNER_CHILD_SPAWN_H
#define FP4ORACLE_RUNNER_CHILD_SPAWN_H

#include "child.h"

/* Starts the worker with the arena and the log of `child`; sets child->pid. 0, or an errno. */
int fpo_child_spawn(fpo_child *child, const fpo_child_options *options, int worker_socket);

#endif

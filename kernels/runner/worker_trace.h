/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#ifndef FP4ORACLE_RUNNER_WORKER_TRACE_H
#define FP4ORACLE_RUNNER_WORKER_TRACE_H

#include "plugin.h"

/* Launches the kernel once more, traced, on the virtual GPU that this process has: what is wrong with the first mma of
 * which something is, a newline, and with check=1 the scales that nothing read; nothing for what is right. Not supported: no virtual GPU, or operands
 * that a trace does not know. */
fpo_plugin_status fpo_worker_trace(const fpo_loaded_plugin *plugin, const fpo_kernel *kernel,
                                   const fpo_kernel_problem *problem, char *finding, size_t size, char *why);

#endif

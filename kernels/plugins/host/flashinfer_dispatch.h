/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The plug-in's functions for kernels of SM120 and SM100 whose `user` is a flashinfer_kernel. */
#ifndef FP4ORACLE_PLUGINS_FLASHINFER_DISPATCH_H
#define FP4ORACLE_PLUGINS_FLASHINFER_DISPATCH_H

#include "../flashinfer_sm120/launch.h"

typedef struct flashinfer_kernel {
    flashinfer_call call;
} flashinfer_kernel;

fpo_plugin_status flashinfer_workspace(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint64_t *bytes,
                                       char *why);
fpo_plugin_status flashinfer_run(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why);

#endif

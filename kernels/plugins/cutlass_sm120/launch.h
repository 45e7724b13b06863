/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a compiled CUTLASS kernel offers to the table of kernels: its host code behind three functions. */
#ifndef FP4ORACLE_PLUGINS_CUTLASS_SM120_LAUNCH_H
#define FP4ORACLE_PLUGINS_CUTLASS_SM120_LAUNCH_H

#include <fp4oracle/kernel_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cutlass_kernel {
    fpo_plugin_status (*check)(const fpo_kernel_problem *problem, char *why);
    uint64_t (*workspace)(const fpo_kernel_problem *problem);
    fpo_plugin_status (*run)(const fpo_kernel_problem *problem, char *why);
} cutlass_kernel;

/* FPO_PLUGIN_DEVICE_LOST or FPO_PLUGIN_FAILED, by what CUDA says now; `call` is what did not work, `words` CUTLASS's.
 */
fpo_plugin_status cutlass_failed(const char *call, const char *words, char *why);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What one instantiation of CUTLASS's universal GEMM offers to the plug-in's table. */
#ifndef FP4ORACLE_PLUGINS_CUTLASS_SM90_LAUNCHER_H
#define FP4ORACLE_PLUGINS_CUTLASS_SM90_LAUNCHER_H

#include <fp4oracle/kernel_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cutlass_functions {
    /* Whether CUTLASS takes this problem. */
    fpo_plugin_status (*check)(const fpo_kernel_problem *problem, char *why);
    fpo_plugin_status (*workspace)(const fpo_kernel_problem *problem, uint64_t *bytes, char *why);
    fpo_plugin_status (*run)(const fpo_kernel_problem *problem, char *why);
} cutlass_functions;

/* By format of D. */
typedef struct cutlass_launcher {
    cutlass_functions f32, bf16;
} cutlass_launcher;

/* One source file each: they compile side by side. */
extern const cutlass_launcher cutlass_tensor_e4m3, cutlass_tensor_e5m2, cutlass_fast_e4m3, cutlass_fast_e5m2,
    cutlass_blockwise_e4m3, cutlass_blockwise_e5m2;

#ifdef __cplusplus
}
#endif

#endif

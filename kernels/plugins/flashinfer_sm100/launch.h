/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* FlashInfer's compiled launchers for SM100, each a flashinfer_call. */
#ifndef FP4ORACLE_PLUGINS_FLASHINFER_SM100_LAUNCH_H
#define FP4ORACLE_PLUGINS_FLASHINFER_SM100_LAUNCH_H

#include <fp4oracle/kernel_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

int flashinfer_fp4_f32_1sm(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_fp4_bf16_2sm(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_groupwise_f32_1sm(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_groupwise_bf16_2sm(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_groupwise_bf16_small(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_grouped_f32(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);

#ifdef __cplusplus
}
#endif

#endif

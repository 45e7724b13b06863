/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What FlashInfer's compiled launchers offer to the table of kernels. */
#ifndef FP4ORACLE_PLUGINS_FLASHINFER_SM120_LAUNCH_H
#define FP4ORACLE_PLUGINS_FLASHINFER_SM120_LAUNCH_H

#include <fp4oracle/kernel_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One call of a launcher. With `workspace_bytes` it launches nothing and says how much scratch memory it needs. 0, or
 * what went wrong in `why`. */
typedef int (*flashinfer_call)(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);

int flashinfer_fp4_f32(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_fp4_f32_stream_k(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_fp4_bf16(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_fp4_bf16_stream_k(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_mxfp8_f32(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_mxfp8_bf16(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_groupwise_f32(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);
int flashinfer_groupwise_bf16(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* DeepGEMM's kernels for compute capability 10.0. */
#ifndef FP4ORACLE_PLUGINS_DEEPGEMM_SM100_LAUNCH_H
#define FP4ORACLE_PLUGINS_DEEPGEMM_SM100_LAUNCH_H

#include <fp4oracle/kernel_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

enum deepgemm_kernel {
#define DEEPGEMM_KERNEL(ID, name, summary, a, b, a_k, b_k, d, tile_m, tile_n, swap, ctas) DEEPGEMM_##ID,
#include "kernels.inc"
#undef DEEPGEMM_KERNEL
    DEEPGEMM_KERNELS
};

/* The scales are packed ue8m0 words in device memory. */
fpo_plugin_status deepgemm_gemm(enum deepgemm_kernel kernel, const fpo_kernel_problem *problem, const void *a_scale,
                                const void *b_scale, char *why);

#ifdef __cplusplus
}
#endif

#endif

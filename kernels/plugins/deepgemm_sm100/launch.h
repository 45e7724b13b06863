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
#define DEEPGEMM_KERNEL(ID, name, summary, a, b, a_k, b_k, d, tile_m, tile_n, swap, ctas, grouped) DEEPGEMM_##ID,
#include "kernels.inc"
#undef DEEPGEMM_KERNEL
    DEEPGEMM_KERNELS
};

/* Groups of the grouped kernels, which are compiled for their number. */
enum { DEEPGEMM_M_GROUPS = 5, DEEPGEMM_K_GROUPS = 3 };

/* A matrix in device memory, its lines in bytes, and the packed ue8m0 words of its scales: a line for each word of K,
 * in which each row has its own. Groups follow one another as the kernel wants them. */
typedef struct deepgemm_matrix {
    const void *codes, *scales;
    int64_t rows, columns, line;
    int64_t scale_rows, scale_lines;
} deepgemm_matrix;

typedef struct deepgemm_operands {
    int64_t m, n, k; /* what the kernel is told; of one group where it wants that */
    deepgemm_matrix a, b;
    void *d;
    int64_t d_rows, d_line;
    int64_t d_planes, d_plane; /* k-grouped: matrices, and bytes from one to the next; else 0 */
    const int32_t *groups;     /* the kernel's grouped_layout */
} deepgemm_operands;

fpo_plugin_status deepgemm_gemm(enum deepgemm_kernel kernel, const deepgemm_operands *operands, char *why);
fpo_plugin_status deepgemm_grouped_gemm(enum deepgemm_kernel kernel, const deepgemm_operands *operands, char *why);

#ifdef __cplusplus
}
#endif

#endif

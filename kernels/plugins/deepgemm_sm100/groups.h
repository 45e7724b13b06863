/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A GEMM as a grouped one, so that its D tells whether every group got its own matrices.
 *
 * Grouped by M (experts): N is halved and M cut in two parts; each half of N for each part of M is a group with a copy
 * of its rows of A and of B, and a group without rows stands among them. Grouped by K (weight gradients): each half of
 * N is a group with all of M and K, and a group without K stands between them. The groups' outputs are copied to their
 * places in D, all of which they cover. What is copied lies in the workspace, with zeros between the groups. */
#ifndef FP4ORACLE_PLUGINS_DEEPGEMM_SM100_GROUPS_H
#define FP4ORACLE_PLUGINS_DEEPGEMM_SM100_GROUPS_H

#include "launch.h"

typedef enum deepgemm_grouping {
    DEEPGEMM_Normal,
    DEEPGEMM_MGroupedContiguous,
    DEEPGEMM_MGroupedContiguousWithPsumLayout,
    DEEPGEMM_MGroupedMasked,
    DEEPGEMM_KGroupedContiguous
} deepgemm_grouping;

/* What copying has to know of a kernel. */
typedef struct deepgemm_grouped {
    enum deepgemm_kernel kernel;
    deepgemm_grouping grouping;
    int tile_m;
    int a_bits, b_bits; /* of an element */
    int a_scale_k, b_scale_k;
    int d_bytes;
} deepgemm_grouped;

uint64_t deepgemm_grouped_bytes(const deepgemm_grouped *g, const fpo_kernel_problem *p);
fpo_plugin_status deepgemm_run_grouped(const deepgemm_grouped *g, const fpo_kernel_problem *p, char *why);

#endif

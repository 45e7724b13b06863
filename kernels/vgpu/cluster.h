/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Clusters: CTAs that are resident together, their barrier and the addresses of their shared memory. */
#ifndef FP4ORACLE_KERNELS_VGPU_CLUSTER_H
#define FP4ORACLE_KERNELS_VGPU_CLUSTER_H

#include "machine.h"

/* The shape that launch and kernel ask for; an error if they contradict each other or the grid is no multiple. */
fpo_status fpo_cluster_shape(fpo_grid *grid);
/* A launch's grid in CTAs: some kernels are launched by a number of clusters. */
void fpo_cluster_grid(const fpo_ptx_kernel *kernel, uint32_t ctas[3]);
/* Coordinates of the first CTA of the cluster with that number, and of the CTA of some rank in it. */
void fpo_cluster_origin(const fpo_grid *grid, uint64_t number, uint32_t first[3]);
void fpo_cluster_place(const fpo_grid *grid, uint32_t rank, uint32_t place[3]);

void fpo_cluster_start(fpo_cluster *cluster);
bool fpo_cluster_has_ended(const fpo_cluster *cluster);
void fpo_cluster_barrier_after_exit(fpo_warp *warp);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A grid on several host threads. */
#ifndef FP4ORACLE_KERNELS_VGPU_SPREAD_H
#define FP4ORACLE_KERNELS_VGPU_SPREAD_H

#include "machine.h"

/* Whether no CTA can see what another one does before the launch ends (clusters apart): no atomics on global memory, no
 * reductions, no volatile or ordered accesses. */
bool fpo_ctas_are_independent(const fpo_ptx_kernel *kernel);

/* Whether an access to memory orders others: volatile, relaxed, acquire, release. */
bool fpo_is_ordered(const char *opcode);

/* Runs a grid that is set up, with room for `slots` clusters at a time. */
void fpo_grid_spread(fpo_grid *grid, int slots);

/* launch.c: runs the clusters number grid->next, next + stride, ... with `slots` of them resident. */
void fpo_grid_run(fpo_grid *grid, int slots);
/* shadow.c: hands a finding over, now or when the launch has ended. `key` tells findings of an instruction apart. */
void fpo_grid_report(fpo_grid *grid, uint32_t instruction, unsigned key, const char *message);

#endif

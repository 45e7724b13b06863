/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A warp, seen from the scheduler. */
#ifndef FP4ORACLE_KERNELS_VGPU_WARP_H
#define FP4ORACLE_KERNELS_VGPU_WARP_H

#include "machine.h"

/* Runs until all lanes have exited or wait, or `budget` instructions are done. */
void fpo_warp_run(fpo_warp *warp, uint32_t budget);

#endif

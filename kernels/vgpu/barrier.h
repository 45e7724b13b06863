/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Named barriers of a CTA, seen from the scheduler. */
#ifndef FP4ORACLE_KERNELS_VGPU_BARRIER_H
#define FP4ORACLE_KERNELS_VGPU_BARRIER_H

#include "machine.h"

void fpo_barriers_after_exit(fpo_cta *cta);

#endif

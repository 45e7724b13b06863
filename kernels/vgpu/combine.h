/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What atomics and reductions do with two values. */
#ifndef FP4ORACLE_KERNELS_VGPU_COMBINE_H
#define FP4ORACLE_KERNELS_VGPU_COMBINE_H

#include "machine.h"

/* `c` is what cas stores; `flush`: subnormal f32 are 0, as in global memory. */
uint64_t fpo_combine(fpo_ptx_value op, fpo_ptx_type type, uint64_t old, uint64_t b, uint64_t c, bool flush);
/* Each element of `to` with that of `from`; no operation: a copy. */
void fpo_combine_array(fpo_ptx_value op, fpo_ptx_type type, uint8_t *to, const uint8_t *from, uint32_t bytes,
                       bool flush);

#endif

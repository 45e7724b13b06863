/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The machine's side of each row that is not pure, named after its semantics in the table. */
#ifndef FP4ORACLE_KERNELS_VGPU_EXECUTE_H
#define FP4ORACLE_KERNELS_VGPU_EXECUTE_H

#include "machine.h"

#define FPO_PTX_SEMANTICS(ID, name, summary) fpo_outcome fpo_do_##name(fpo_warp *, const fpo_ptx_instruction *);
#include "semantics.inc"
#undef FPO_PTX_SEMANTICS

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* DeepGEMM's packing of f32 scales without its check that they are powers of two, which earlier releases did not have. */
#include <deep_gemm/common/exception.cuh>

#undef DG_TRAP_ONLY_DEVICE_ASSERT
#define DG_TRAP_ONLY_DEVICE_ASSERT(condition) ((void)0)
#define DEEPGEMM_PACK deepgemm_pack_unguarded
#include "pack.cuh"

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* DeepGEMM's packing of f32 scales as it is. */
#define DEEPGEMM_PACK deepgemm_pack_guarded
#include "pack.cuh"

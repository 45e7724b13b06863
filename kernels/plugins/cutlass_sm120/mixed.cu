// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// MXFP8 times formats of fewer bits, which lie without gaps in global memory and padded to bytes in shared memory.
#include "block_scaled.cuh"

using namespace fpo;

BLOCK_SCALED(mxfp8_mxfp6_f32, mxfp8, mxfp6_e3m2, float, tile_128x128x128, Cooperative, void)
BLOCK_SCALED(mxfp8_mxfp6_bf16, mxfp8, mxfp6_e3m2, cutlass::bfloat16_t, tile_128x128x128, Cooperative, void)
BLOCK_SCALED(mxfp8_mxfp4_f32, mxfp8, mxfp4, float, tile_128x128x128, Cooperative, void)

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// MXFP4 and MXFP8.
#include "block_scaled.cuh"

using namespace fpo;

BLOCK_SCALED(mxfp4_f32, mxfp4, mxfp4, float, tile_128x128x128, Cooperative, void)
BLOCK_SCALED(mxfp8_f32, mxfp8, mxfp8, float, tile_128x128x128, Cooperative, void)
BLOCK_SCALED(mxfp8_bf16, mxfp8, mxfp8, cutlass::bfloat16_t, tile_128x128x128, Cooperative, void)

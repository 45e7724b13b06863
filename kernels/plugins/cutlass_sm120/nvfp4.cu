// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// NVFP4 in the tile of example 79a: schedules, schedulers and outputs.
#include "block_scaled.cuh"

using namespace fpo;

BLOCK_SCALED(nvfp4_f32, nvfp4, nvfp4, float, tile_128x128x128, Cooperative, void)
BLOCK_SCALED(nvfp4_bf16, nvfp4, nvfp4, cutlass::bfloat16_t, tile_128x128x128, Cooperative, void)
BLOCK_SCALED(nvfp4_f32_pingpong, nvfp4, nvfp4, float, tile_128x128x128, Pingpong, void)
BLOCK_SCALED(nvfp4_f32_stream_k, nvfp4, nvfp4, float, tile_128x128x128, Cooperative, StreamK)

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* E4M3 x E4M3 with f32 scales, 1x128 of A and 128x128 of B. */
#include "sm90.cuh"

namespace
{

template <class D> using Kernel = sm90::Kernel<sm90::Blockwise, sm90::Scaled, sm90::E4M3, D>;

} // namespace

extern "C" const cutlass_launcher cutlass_blockwise_e4m3 = {Kernel<float>::functions, Kernel<sm90::BF16>::functions};

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* E5M2 x E4M3, the accumulator promoted to f32 every 128 of K. */
#include "sm90.cuh"

namespace
{

template <class D> using Kernel = sm90::Kernel<sm90::Tensor, sm90::Promoted, sm90::E5M2, D>;

} // namespace

extern "C" const cutlass_launcher cutlass_tensor_e5m2 = {Kernel<float>::functions, Kernel<sm90::BF16>::functions};

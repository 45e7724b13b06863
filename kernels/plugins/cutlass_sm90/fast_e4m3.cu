/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* E4M3 x E4M3, accumulated in the tensor cores over all of K. */
#include "sm90.cuh"

namespace
{

template <class D> using Kernel = sm90::Kernel<sm90::Tensor, sm90::Fast, sm90::E4M3, D>;

} // namespace

extern "C" const cutlass_launcher cutlass_fast_e4m3 = {Kernel<float>::functions, Kernel<sm90::BF16>::functions};

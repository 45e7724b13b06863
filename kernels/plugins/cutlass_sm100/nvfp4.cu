// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// NVFP4.
#include "gemm.cuh"

using namespace fpo;

#include "nvfp4.inc"

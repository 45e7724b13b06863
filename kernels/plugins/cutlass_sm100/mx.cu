// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// MXFP4 and MXFP8.
#include "gemm.cuh"

using namespace fpo;

#include "mx.inc"

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// FlashInfer's FP8 GEMM for SM120 with f32 scales per 1x128 of A and 128x128 of B, both MN-major.
#include "launch.h"

#include <cuda_bf16.h>

#include "flashinfer/gemm/gemm_groupwise_sm120.cuh"

using e4m3 = cutlass::float_e4m3_t;

#define CALL(name, type)                                                                                               \
    extern "C" int name(const fpo_kernel_problem *p, uint64_t *bytes, char *why)                                       \
    {                                                                                                                  \
        if (bytes != nullptr) {                                                                                        \
            *bytes = 0;                                                                                                \
            return 0;                                                                                                  \
        }                                                                                                              \
        auto scale_a = static_cast<float *>(const_cast<void *>(p->a_scale));                                           \
        auto scale_b = static_cast<float *>(const_cast<void *>(p->b_scale));                                           \
        cudaError_t error = flashinfer::gemm::CutlassGroupwiseScaledGEMMSM120<1, 128, 128, false>(                     \
            p->workspace, p->workspace_bytes, static_cast<e4m3 *>(const_cast<void *>(p->a)),                           \
            static_cast<e4m3 *>(const_cast<void *>(p->b)), scale_a, scale_b, static_cast<type *>(p->d), int(p->m),     \
            int(p->n), int(p->k), 1, nullptr);                                                                         \
        snprintf(why, FPO_PLUGIN_TEXT, "CutlassGroupwiseScaledGEMMSM120: %s", cudaGetErrorString(error));              \
        return error;                                                                                                  \
    }

CALL(flashinfer_groupwise_f32, float)
CALL(flashinfer_groupwise_bf16, cutlass::bfloat16_t)

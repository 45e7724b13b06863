// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// FlashInfer's FP8 GEMM for SM100 with f32 scales per 1x128 of A and 128x128 of B.
#include "launch.h"

#include <cuda_bf16.h>

#include "flashinfer/gemm/gemm_groupwise_sm100.cuh"

using namespace flashinfer::gemm;
using e4m3 = cutlass::float_e4m3_t;

// FlashInfer's callers hand it 32 MiB of scratch memory, of which these kernels take none or little.
static const uint64_t scratch = 1 << 20;

#define CALL(name, launcher, type, k_major, sms)                                                                       \
    int name(const fpo_kernel_problem *p, uint64_t *bytes, char *why)                                                  \
    {                                                                                                                  \
        if (bytes != nullptr) {                                                                                        \
            *bytes = scratch;                                                                                          \
            return 0;                                                                                                  \
        }                                                                                                              \
        auto scale_a = static_cast<float *>(const_cast<void *>(p->a_scale));                                           \
        auto scale_b = static_cast<float *>(const_cast<void *>(p->b_scale));                                           \
        try {                                                                                                          \
            cudaError_t error = launcher<1, 128, 128, k_major, sms>(                                                   \
                p->workspace, p->workspace_bytes, static_cast<e4m3 *>(const_cast<void *>(p->a)),                       \
                static_cast<e4m3 *>(const_cast<void *>(p->b)), scale_a, scale_b, static_cast<type *>(p->d), int(p->m), \
                int(p->n), int(p->k), 1, nullptr);                                                                     \
            snprintf(why, FPO_PLUGIN_TEXT, #launcher ": %s", cudaGetErrorString(error));                               \
            return error;                                                                                              \
        } catch (const std::exception &error) {                                                                        \
            snprintf(why, FPO_PLUGIN_TEXT, "%s", error.what());                                                        \
            return 1;                                                                                                  \
        }                                                                                                              \
    }

CALL(flashinfer_groupwise_f32_1sm, CutlassGroupwiseScaledGEMMSM100, float, false, 1)
CALL(flashinfer_groupwise_bf16_2sm, CutlassGroupwiseScaledGEMMSM100, cutlass::bfloat16_t, true, 2)
CALL(flashinfer_groupwise_bf16_small, CutlassGroupwiseScaledGEMMSM100LowLatency, cutlass::bfloat16_t, false, 1)

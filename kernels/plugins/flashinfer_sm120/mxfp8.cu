// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// FlashInfer's mxfp8 GEMM for SM120 in its 128x128x128 tile.
#include "launch.h"

#include <cuda_bf16.h>
#include <stdexcept>
#include <string>

#include "flashinfer/gemm/cutlass_gemm_configs.h"
#include "flashinfer/gemm/mxfp8_gemm_template_sm120.h"

namespace flashinfer {
namespace gemm {
INSTANTIATE_MXFP8_GEMM_KERNEL_LAUNCHER_SM120(float, 128, 128, 128, false)
INSTANTIATE_MXFP8_GEMM_KERNEL_LAUNCHER_SM120(__nv_bfloat16, 128, 128, 128, false)
} // namespace gemm
} // namespace flashinfer

using namespace flashinfer::gemm;

#define CALL(name, type)                                                                                               \
    extern "C" int name(const fpo_kernel_problem *p, uint64_t *bytes, char *why)                                       \
    {                                                                                                                  \
        using Size = cute::Int<128>;                                                                                   \
        const bool ask = bytes != nullptr;                                                                             \
        try {                                                                                                          \
            size_t needed = genericMxfp8GemmKernelLauncherSm120<type, Size, Size, Size, false>(                        \
                ask ? nullptr : p->d, ask ? nullptr : p->a, ask ? nullptr : p->b, p->a_scale, p->b_scale, int(p->m),   \
                int(p->n), int(p->k), 1, CutlassGemmConfig(), static_cast<char *>(p->workspace), p->workspace_bytes,   \
                nullptr, nullptr);                                                                                     \
            if (ask)                                                                                                   \
                *bytes = needed;                                                                                       \
            return 0;                                                                                                  \
        } catch (const std::exception &error) {                                                                        \
            snprintf(why, FPO_PLUGIN_TEXT, "%s", error.what());                                                        \
            return 1;                                                                                                  \
        }                                                                                                              \
    }

CALL(flashinfer_mxfp8_f32, float)
CALL(flashinfer_mxfp8_bf16, __nv_bfloat16)

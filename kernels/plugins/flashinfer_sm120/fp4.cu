// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// FlashInfer's fp4_gemm_cutlass_sm120 in its 128x128x128 tile: the data-parallel kernel and the Stream-K one.
#include "launch.h"

#include <cuda_bf16.h>
#include <stdexcept>
#include <string>

#include "flashinfer/gemm/cutlass_gemm_configs.h"
#include "flashinfer/gemm/fp4_gemm_template_sm120.h"

namespace flashinfer {
namespace gemm {
INSTANTIATE_FP4_GEMM_KERNEL_LAUNCHER(float, 128, 128, 128, 1, 1, 1, _1SM, false)
INSTANTIATE_FP4_GEMM_KERNEL_LAUNCHER(__nv_bfloat16, 128, 128, 128, 1, 1, 1, _1SM, false)
} // namespace gemm
} // namespace flashinfer

using namespace flashinfer::gemm;

// Its launchers return the size of the workspace, and launch nothing where there are no matrices.
#define CALL(name, launcher, type)                                                                                     \
    extern "C" int name(const fpo_kernel_problem *p, uint64_t *bytes, char *why)                                       \
    {                                                                                                                  \
        using Size = cute::Int<128>;                                                                                   \
        using One = cute::Int<1>;                                                                                      \
        const bool ask = bytes != nullptr;                                                                             \
        try {                                                                                                          \
            size_t needed = launcher<type, Size, Size, Size, One, One, One, _1SM, false>(                              \
                ask ? nullptr : p->d, ask ? nullptr : p->a, ask ? nullptr : p->b, p->a_scale, p->b_scale, p->alpha,    \
                int(p->m), int(p->n), int(p->k), 1, CutlassGemmConfig(), static_cast<char *>(p->workspace),            \
                p->workspace_bytes, nullptr, nullptr);                                                                 \
            if (ask)                                                                                                   \
                *bytes = needed;                                                                                       \
            return 0;                                                                                                  \
        } catch (const std::exception &error) {                                                                        \
            snprintf(why, FPO_PLUGIN_TEXT, "%s", error.what());                                                        \
            return 1;                                                                                                  \
        }                                                                                                              \
    }

CALL(flashinfer_fp4_f32, genericFp4GemmKernelLauncher, float)
CALL(flashinfer_fp4_f32_stream_k, genericFp4GemmKernelLauncherStreamK, float)
CALL(flashinfer_fp4_bf16, genericFp4GemmKernelLauncher, __nv_bfloat16)
CALL(flashinfer_fp4_bf16_stream_k, genericFp4GemmKernelLauncherStreamK, __nv_bfloat16)

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// FlashInfer's fp4_gemm_cutlass for SM100: a tile of one SM, and one of a pair.
#include "launch.h"

#include <cuda_bf16.h>
#include <stdexcept>
#include <string>

#include "flashinfer/gemm/cutlass_gemm_configs.h"
#include "flashinfer/gemm/fp4_gemm_template_sm100.h"

namespace flashinfer {
namespace gemm {
INSTANTIATE_FP4_GEMM_KERNEL_LAUNCHER(float, 128, 128, 256, 1, 1, 1, _1SM)
INSTANTIATE_FP4_GEMM_KERNEL_LAUNCHER(__nv_bfloat16, 128, 128, 256, 2, 1, 1, _2SM)
} // namespace gemm
} // namespace flashinfer

using namespace flashinfer::gemm;

// The launcher returns the size of the workspace, and launches nothing where there are no matrices.
template <class Type, int ClusterM, class Sms> static int call(const fpo_kernel_problem *p, uint64_t *bytes, char *why)
{
    using Size = cute::Int<128>;
    using One = cute::Int<1>;
    const bool ask = bytes != nullptr;
    try {
        size_t needed = genericFp4GemmKernelLauncher<Type, Size, Size, cute::Int<256>, cute::Int<ClusterM>, One, One, Sms>(
            ask ? nullptr : p->d, ask ? nullptr : p->a, ask ? nullptr : p->b, p->a_scale, p->b_scale, p->alpha,
            int(p->m), int(p->n), int(p->k), 1, CutlassGemmConfig(), static_cast<char *>(p->workspace),
            p->workspace_bytes, nullptr, nullptr);
        if (ask)
            *bytes = needed;
        return 0;
    } catch (const std::exception &error) {
        snprintf(why, FPO_PLUGIN_TEXT, "%s", error.what());
        return 1;
    }
}

int flashinfer_fp4_f32_1sm(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why)
{
    return call<float, 1, _1SM>(problem, workspace_bytes, why);
}

int flashinfer_fp4_bf16_2sm(const fpo_kernel_problem *problem, uint64_t *workspace_bytes, char *why)
{
    return call<__nv_bfloat16, 2, _2SM>(problem, workspace_bytes, why);
}

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// NVFP4 in other tiles, and with an NVFP4 output (example 79b).
#include "block_scaled.cuh"

using namespace fpo;

BLOCK_SCALED(nvfp4_f32_256, nvfp4, nvfp4, float, tile_256x128x128, Cooperative, void)
BLOCK_SCALED(nvfp4_f32_k256, nvfp4, nvfp4, float, tile_128x128x256, Cooperative, void)

// D is quantised: 16 columns of a row share a ue4m3 scale factor.
struct nvfp4_nvfp4_types {
    using A = nvfp4;
    using B = nvfp4;
    using D = cutlass::float_e2m1_t;
    using C = cutlass::bfloat16_t;
    using Fusion = cutlass::epilogue::fusion::LinCombBlockScaleFactor<16, D, float, cutlass::float_ue4m3_t, Row, C>;
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        Arch, Scaled, tile_128x128x128, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float, C, Row,
        store_alignment<C>, D, Row, store_alignment<D>, cutlass::epilogue::collective::EpilogueScheduleAuto,
        Fusion>::CollectiveOp;
    using Stages = cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;
    using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<Arch, Scaled, A, Row, 32, B, Column, 32, float,
                                                                           tile_128x128x128, Cluster, Stages,
                                                                           Pingpong>::CollectiveOp;
    using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue, void>;
    using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
};

namespace {

// The norm constant on the device: it lives until the process ends, which runs one kernel.
float *norm_on_device(float norm)
{
    static float *on_device;
    if (on_device == nullptr && cudaMalloc(reinterpret_cast<void **>(&on_device), sizeof *on_device) != cudaSuccess)
        return nullptr;
    return cudaMemcpy(on_device, &norm, sizeof norm, cudaMemcpyHostToDevice) == cudaSuccess ? on_device : nullptr;
}

struct quantising {
    using Gemm = nvfp4_nvfp4_types::Gemm;

    static Gemm::Arguments arguments(const fpo_kernel_problem *p)
    {
        auto arguments = block_scaled_arguments<Gemm>(p);
        arguments.epilogue.thread.block_scale_factor_ptr = static_cast<cutlass::float_ue4m3_t *>(p->d_scale);
        arguments.epilogue.thread.norm_constant_ptr = norm_on_device(*p->d_norm);
        return arguments;
    }
};

} // namespace

CUTLASS_FUNCTIONS(nvfp4_nvfp4, quantising)

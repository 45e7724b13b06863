// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// CUTLASS block-scaled GEMMs for SM120 with plain C entry points: production kernels for the virtual GPU's tests.
// Example 79a of CUTLASS has the same collectives. -DCASE=1: NVFP4 -> f32, 2: NVFP4 -> bf16, 3: MXFP8 (e4m3) -> f32,
// 4: NVFP4 -> f32 pingpong, 5: MXFP4 -> f32, 6: NVFP4 -> f32 with the Stream-K scheduler.
#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/detail/sm100_blockscaled_layout.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/dispatch_policy.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

using namespace cute;

#if CASE == 3
using Element = cutlass::mx_float8_t<cutlass::float_e4m3_t>;
constexpr int alignment = 16;
#elif CASE == 5
using Element = cutlass::mx_float4_t<cutlass::float_e2m1_t>;
constexpr int alignment = 32;
#else
using Element = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
constexpr int alignment = 32;
#endif
#if CASE == 2
using Output = cutlass::bfloat16_t;
#else
using Output = float;
#endif
#if CASE == 4
using Schedule = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
#else
using Schedule = cutlass::gemm::collective::KernelScheduleAuto;
#endif

#if CASE == 6
using Scheduler = cutlass::gemm::StreamKScheduler;
#else
using Scheduler = void;
#endif

using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using TileShape = Shape<_128, _128, _128>;
using ClusterShape = Shape<_1, _1, _1>;
using Arch = cutlass::arch::Sm120;
using Class = cutlass::arch::OpClassBlockScaledTensorOp;
constexpr int output_alignment = 128 / cutlass::sizeof_bits<Output>::value;

using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    Arch, Class, TileShape, ClusterShape, cutlass::epilogue::collective::EpilogueTileAuto, float, float, Output, Row,
    output_alignment, Output, Row, output_alignment, cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;
using Stages = cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;
using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<Arch, Class, Element, Row, alignment, Element,
                                                                       Column, alignment, float, TileShape, ClusterShape, Stages,
                                                                       Schedule>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue, Scheduler>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

// D (M x N, row-major) = alpha * A (M x K) * B (N x K)^T; scales in the 128x4 layout. 0 if it ran.
extern "C" int cutlass_gemm(int m, int n, int k, const void *a, const void *b, const void *sfa, const void *sfb,
                            void *d, float alpha)
{
    using Config = typename Kernel::CollectiveMainloop::Sm1xxBlkScaledConfig;
    using Data = typename Element::DataType;
    using Scale = typename Element::ScaleFactorType;
    auto stride_a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1});
    auto stride_b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1});
    auto stride_d = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1});
    auto shape = make_shape(m, n, k, 1);
    typename Gemm::Arguments arguments{
        cutlass::gemm::GemmUniversalMode::kGemm,
        {m, n, k, 1},
        {(const Data *)a, stride_a, (const Data *)b, stride_b, (const Scale *)sfa, Config::tile_atom_to_shape_SFA(shape),
         (const Scale *)sfb, Config::tile_atom_to_shape_SFB(shape)},
        {{alpha, 0.0f}, (Output *)d, stride_d, (Output *)d, stride_d}};
    Gemm gemm;
    if (gemm.can_implement(arguments) != cutlass::Status::kSuccess)
        return 1;
    void *workspace = nullptr;
    size_t bytes = Gemm::get_workspace_size(arguments);
    if (bytes != 0 && cudaMalloc(&workspace, bytes) != cudaSuccess)
        return 2;
    if (gemm.initialize(arguments, workspace) != cutlass::Status::kSuccess)
        return 3;
    if (gemm.run() != cutlass::Status::kSuccess)
        return 4;
    int failed = cudaDeviceSynchronize() != cudaSuccess;
    if (workspace != nullptr)
        cudaFree(workspace);
    return failed ? 5 : 0;
}

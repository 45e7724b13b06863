// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// CUTLASS's MXFP8 GEMM for SM120 whose D is MXFP8, too: 32 columns of a row share a ue8m0 scale factor, which the
// epilogue computes (the fusion of example 79b, with other types). -DCASE=1: e4m3, cooperative, 2: e5m2, pingpong.
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

#if CASE == 1
using Output = cutlass::float_e4m3_t;
using Schedule = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
#else
using Output = cutlass::float_e5m2_t;
using Schedule = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
#endif
using Element = cutlass::mx_float8_t<cutlass::float_e4m3_t>;
using Source = float; // C
using Scale = cutlass::float_ue8m0_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using TileShape = Shape<_128, _128, _128>;
using ClusterShape = Shape<_1, _1, _1>;
using Arch = cutlass::arch::Sm120;
using Class = cutlass::arch::OpClassBlockScaledTensorOp;

using Fusion = cutlass::epilogue::fusion::LinCombBlockScaleFactor<32, Output, float, Scale, Row, Source>;
using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    Arch, Class, TileShape, ClusterShape, cutlass::epilogue::collective::EpilogueTileAuto, float, float, Source, Row, 4,
    Output, Row, 16, cutlass::epilogue::collective::EpilogueScheduleAuto, Fusion>::CollectiveOp;
using Stages = cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;
using Mainloop =
    typename cutlass::gemm::collective::CollectiveBuilder<Arch, Class, Element, Row, 16, Element, Column, 16, float,
                                                          TileShape, ClusterShape, Stages, Schedule>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue, void>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

// D and its scale factors (128x4 layout) of alpha * A * B^T + beta * C, times the norm constant. All pointers are the
// device's. 0 if it ran.
extern "C" int cutlass_gemm(int m, int n, int k, const void *a, const void *b, const void *sfa, const void *sfb,
                            const void *c, float alpha, float beta, const void *norm, void *d, void *sfd)
{
    using Config = typename Kernel::CollectiveMainloop::Sm1xxBlkScaledConfig;
    using Data = typename Element::DataType;
    auto stride_a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1});
    auto stride_b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1});
    auto stride_c = cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, {m, n, 1});
    auto stride_d = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1});
    auto shape = make_shape(m, n, k, 1);
    typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                       {m, n, k, 1},
                                       {(const Data *)a, stride_a, (const Data *)b, stride_b, (const Scale *)sfa,
                                        Config::tile_atom_to_shape_SFA(shape), (const Scale *)sfb,
                                        Config::tile_atom_to_shape_SFB(shape)},
                                       {{alpha, beta}, (const Source *)c, stride_c, (Output *)d, stride_d}};
    arguments.epilogue.thread.block_scale_factor_ptr = (Scale *)sfd;
    arguments.epilogue.thread.norm_constant_ptr = (const float *)norm;
    Gemm gemm;
    if (gemm.can_implement(arguments) != cutlass::Status::kSuccess)
        return 1;
    if (Gemm::get_workspace_size(arguments) != 0)
        return 2;
    if (gemm.initialize(arguments, nullptr) != cutlass::Status::kSuccess)
        return 3;
    if (gemm.run() != cutlass::Status::kSuccess)
        return 4;
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 5;
}

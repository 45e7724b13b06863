// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// FP8 with f32 scales per block of K, as CUTLASS's examples 87a (128x128 for A and B) and 87b (1x128 for A) have it.
#include "gemm.cuh"

#include <cutlass/detail/blockwise_scale_layout.hpp>

namespace fpo {

using Plain = cutlass::arch::OpClassTensorOp;
using Blockwise = cutlass::gemm::KernelScheduleSm120Blockwise;
using BlockwisePingpong = cutlass::gemm::KernelTmaWarpSpecializedBlockwisePingpongSm120;
using e4m3 = cutlass::float_e4m3_t;

template <class Types> struct blockwise {
    using Gemm = typename Types::Gemm;
    using Kernel = typename Types::Kernel;
    using D = typename Types::D;

    static typename Gemm::Arguments arguments(const fpo_kernel_problem *p)
    {
        auto shape = cute::make_shape(int(p->m), int(p->n), int(p->k), 1);
        float beta = p->c != nullptr && p->beta != nullptr ? *p->beta : 0.0f;
        auto stride_d = lines<typename Kernel::StrideD, D>(p->d_line);
        auto stride_c = p->c != nullptr ? lines<typename Kernel::StrideC, D>(p->c_line) : stride_d;
        auto c = static_cast<const D *>(p->c != nullptr ? p->c : p->d);
        typename Gemm::Arguments arguments{
            cutlass::gemm::GemmUniversalMode::kGemm,
            {int(p->m), int(p->n), int(p->k), 1},
            {static_cast<const e4m3 *>(p->a), lines<typename Kernel::StrideA, e4m3>(p->a_line),
             static_cast<const e4m3 *>(p->b), lines<typename Kernel::StrideB, e4m3>(p->b_line),
             static_cast<const float *>(p->a_scale), Types::Scales::tile_atom_to_shape_SFA(shape),
             static_cast<const float *>(p->b_scale), Types::Scales::tile_atom_to_shape_SFB(shape)},
            {{}, c, stride_c, static_cast<D *>(p->d), stride_d}};
        arguments.epilogue.thread.alpha = *p->alpha;
        arguments.epilogue.thread.beta = beta;
        return arguments;
    }
};

} // namespace fpo

// One scale for `rows` of A and 128 of K, and for 128 of N and 128 of K of B.
#define BLOCKWISE(name, rows, d, tile, schedule)                                                                       \
    struct name##_types {                                                                                              \
        using D = d;                                                                                                   \
        using Scales = cutlass::detail::Sm120BlockwiseScaleConfig<rows, 128, 128>;                                     \
        using LayoutA = cute::tuple<fpo::Row, decltype(Scales::deduce_layoutSFA())>;                                   \
        using LayoutB = cute::tuple<fpo::Column, decltype(Scales::deduce_layoutSFB())>;                                \
        using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<                                    \
            fpo::Arch, fpo::Plain, fpo::tile, fpo::Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float,    \
            float, d, fpo::Row, fpo::store_alignment<d>, d, fpo::Row, fpo::store_alignment<d>,                         \
            cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;                                        \
        using Stages =                                                                                                 \
            cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;          \
        using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<                                        \
            fpo::Arch, fpo::Plain, fpo::e4m3, LayoutA, 16, fpo::e4m3, LayoutB, 16, float, fpo::tile, fpo::Cluster,     \
            Stages, fpo::schedule>::CollectiveOp;                                                                      \
        using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue, void>;\
        using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;                                              \
    };                                                                                                                 \
    CUTLASS_FUNCTIONS(name, fpo::blockwise<name##_types>)

BLOCKWISE(fp8_128x128_f32, 128, float, tile_128x128x128, Blockwise)
BLOCKWISE(fp8_1x128_f32, 1, float, tile_128x128x128, Blockwise)
BLOCKWISE(fp8_1x128_bf16_pingpong, 1, cutlass::bfloat16_t, tile_64x128x128, BlockwisePingpong)

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// FP8 with f32 scales per block of K, as CUTLASS's example 81 has it: promoted to registers every 128 of K.
#include "gemm.cuh"

#include <cutlass/detail/blockwise_scale_layout.hpp>

namespace fpo {

using e4m3 = cutlass::float_e4m3_t;

// The arguments of a block-scaled GEMM, with the layouts of blockwise scales in their place.
template <class Types> struct blockwise {
    using Gemm = typename Types::Gemm;

    struct View : Gemm {
        struct GemmKernel : Gemm::GemmKernel {
            struct CollectiveMainloop {
                using Sm1xxBlkScaledConfig = typename Types::Scales;
            };
        };
    };

    static typename Gemm::Arguments arguments(const fpo_kernel_problem *p) { return block_scaled_arguments<View>(p); }
};

} // namespace fpo

// One scale for `rows` of A and 128 of K, and for 128 of N and 128 of K of B.
#define CUTLASS_BLOCKWISE(id, name, rows, d, output, tile_m, cluster_m, schedule, sentence)                            \
    struct id##_types {                                                                                                \
        using Scales = cutlass::detail::Sm100BlockwiseScaleConfig<rows, 128, 128>;                                     \
        using LayoutA = cute::tuple<fpo::Row, decltype(Scales::deduce_layoutSFA())>;                                   \
        using LayoutB = cute::tuple<fpo::Column, decltype(Scales::deduce_layoutSFB())>;                                \
        using Tile = cute::Shape<cute::Int<tile_m>, cute::_128, cute::_128>;                                           \
        using Group = cute::Shape<cute::Int<cluster_m>, cute::_1, cute::_1>;                                           \
        using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<                                    \
            cutlass::arch::Sm100, cutlass::arch::OpClassTensorOp, Tile, Group,                                         \
            cutlass::epilogue::collective::EpilogueTileAuto, float, float, d, fpo::Row, fpo::store_alignment<d>, d,    \
            fpo::Row, fpo::store_alignment<d>, cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;     \
        using Stages =                                                                                                 \
            cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;          \
        using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<                                        \
            cutlass::arch::Sm100, cutlass::arch::OpClassTensorOp, fpo::e4m3, LayoutA, 16, fpo::e4m3, LayoutB, 16,      \
            float, Tile, Group, Stages, cutlass::gemm::schedule>::CollectiveOp;                                        \
        using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue, void>;\
        using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;                                              \
    };                                                                                                                 \
    CUTLASS_FUNCTIONS(id, fpo::blockwise<id##_types>)

#include "fp8.inc"

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// NVFP4 in groups, as CUTLASS's example 75 has it.
#include "../cutlass_sm120/grouped.cuh"

#define CUTLASS_GROUPED(id, name, d, output, tile_m, tile_n, tile_k, sms, sentence)                                    \
    struct id##_types {                                                                                                \
        using Tile = cute::Shape<cute::Int<tile_m>, cute::Int<tile_n>, cute::Int<tile_k>>;                             \
        using Group = cute::Shape<int32_t, int32_t, cute::_1>;                                                         \
        using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<                                    \
            cutlass::arch::Sm100, fpo::Scaled, Tile, Group, cute::Shape<cute::_128, cute::_64>, float, float, d,       \
            fpo::Row *, fpo::store_alignment<d>, d, fpo::Row *, fpo::store_alignment<d>,                               \
            cutlass::epilogue::PtrArrayTmaWarpSpecialized##sms>::CollectiveOp;                                         \
        using Stages =                                                                                                 \
            cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;          \
        using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<                                        \
            cutlass::arch::Sm100, fpo::Scaled, fpo::nvfp4, fpo::Row *, 32, fpo::nvfp4, fpo::Column *, 32, float, Tile, \
            Group, Stages, cutlass::gemm::KernelPtrArrayTmaWarpSpecialized##sms##Nvf4Sm100>::CollectiveOp;             \
        using Kernel = cutlass::gemm::kernel::GemmUniversal<fpo::GroupShapes, Mainloop, Epilogue>;                     \
        using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;                                              \
        static constexpr int pair = cute::size<0>(typename Mainloop::AtomThrShapeMNK{});                               \
    };                                                                                                                 \
    CUTLASS_GROUPED_FUNCTIONS(id)

#include "grouped.inc"

// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// CUTLASS's block-scaled GEMM for SM100 from the collective builders; its host code is that of SM120's.
#pragma once

#include "../cutlass_sm120/block_scaled.cuh"

// Types are named outside of any template: see block_scaled.cuh.
#define CUTLASS_KERNEL(id, name, format, d, output, tile_m, tile_n, tile_k, cluster_m, cluster_n, schedule, order,     \
                       sentence)                                                                                       \
    struct id##_types {                                                                                                \
        using A = format;                                                                                              \
        using B = format;                                                                                              \
        using D = d;                                                                                                   \
        using Tile = cute::Shape<cute::Int<tile_m>, cute::Int<tile_n>, cute::Int<tile_k>>;                             \
        using Group = cute::Shape<cute::Int<cluster_m>, cute::Int<cluster_n>, cute::_1>;                               \
        using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<                                    \
            cutlass::arch::Sm100, fpo::Scaled, Tile, Group, cutlass::epilogue::collective::EpilogueTileAuto, float,    \
            float, d, fpo::Row, fpo::store_alignment<d>, d, fpo::Row, fpo::store_alignment<d>,                         \
            cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;                                        \
        using Stages =                                                                                                 \
            cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;          \
        using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<                                        \
            cutlass::arch::Sm100, fpo::Scaled, A, fpo::Row, fpo::alignment<A, B>(), B, fpo::Column,                    \
            fpo::alignment<B, A>(), float, Tile, Group, Stages, cutlass::gemm::schedule>::CollectiveOp;                \
        using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;      \
        using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;                                              \
    };                                                                                                                 \
    CUTLASS_FUNCTIONS(id, fpo::block_scaled<id##_types>)

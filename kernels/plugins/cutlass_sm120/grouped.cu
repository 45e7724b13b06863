// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// NVFP4 in groups, as CUTLASS's example 79d has it: cooperative, and pingpong.
#include "grouped.cuh"

// Types are named outside of any template: see block_scaled.cuh.
#define GROUPED(id, d, schedule)                                                                                       \
    struct id##_types {                                                                                                \
        using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<                                    \
            fpo::Arch, fpo::Scaled, fpo::tile_128x128x128, fpo::Cluster,                                               \
            cutlass::epilogue::collective::EpilogueTileAuto, float, float, d, fpo::Row *, fpo::store_alignment<d>, d,  \
            fpo::Row *, fpo::store_alignment<d>, cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;   \
        using Stages =                                                                                                 \
            cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;          \
        using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<                                        \
            fpo::Arch, fpo::Scaled, fpo::nvfp4, fpo::Row *, 32, fpo::nvfp4, fpo::Column *, 32, float,                  \
            fpo::tile_128x128x128, fpo::Cluster, Stages, schedule>::CollectiveOp;                                      \
        using Kernel = cutlass::gemm::kernel::GemmUniversal<fpo::GroupShapes, Mainloop, Epilogue>;                     \
        using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;                                              \
        static constexpr int pair = 1;                                                                                 \
    };                                                                                                                 \
    CUTLASS_GROUPED_FUNCTIONS(id)

GROUPED(nvfp4_f32_grouped, float, cutlass::gemm::KernelPtrArrayTmaWarpSpecializedCooperative)
GROUPED(nvfp4_bf16_grouped_pingpong, cutlass::bfloat16_t, cutlass::gemm::KernelPtrArrayTmaWarpSpecializedPingpong)

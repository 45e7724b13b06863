// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// CUTLASS's block-scaled GEMM for SM120 from the collective builders, as its example 79 has it.
#pragma once

#include "gemm.cuh"

#include <cutlass/detail/sm100_blockscaled_layout.hpp>

namespace fpo {

using Scaled = cutlass::arch::OpClassBlockScaledTensorOp;
using nvfp4 = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
using mxfp4 = cutlass::mx_float4_t<cutlass::float_e2m1_t>;
using mxfp8 = cutlass::mx_float8_t<cutlass::float_e4m3_t>;
using mxfp8_e5m2 = cutlass::mx_float8_t<cutlass::float_e5m2_t>;
using mxfp6_e3m2 = cutlass::mx_float6_t<cutlass::float_e3m2_t>;
using mxfp6_e2m3 = cutlass::mx_float6_t<cutlass::float_e2m3_t>;

// Elements of which 16 bytes of global memory consist; those of a kernel that pads in shared memory come 128 at a time.
template <class Element, class Other> constexpr int alignment()
{
    constexpr int bits = cutlass::sizeof_bits<typename Element::DataType>::value;
    constexpr bool mixed = !std::is_same_v<Element, Other>;
    return mixed && bits < 8 ? 128 : bits == 6 ? 128 : 128 / bits;
}

// An argument of whatever pointer type.
template <class Pointer> void set_pointer(Pointer &argument, const void *address)
{
    argument = static_cast<Pointer>(const_cast<void *>(address));
}

// D = alpha * (A * B^T) + beta * C, scales of A and B in the 128x4 layout. All types come from Gemm: see BLOCK_SCALED.
template <class Gemm> typename Gemm::Arguments block_scaled_arguments(const fpo_kernel_problem *p)
{
    using Kernel = typename Gemm::GemmKernel;
    using Config = typename Kernel::CollectiveMainloop::Sm1xxBlkScaledConfig;
    typename Gemm::Arguments arguments{};
    auto &mainloop = arguments.mainloop;
    auto &epilogue = arguments.epilogue;
    arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    arguments.problem_shape = cute::make_shape(int(p->m), int(p->n), int(p->k), 1);
    set_pointer(mainloop.ptr_A, p->a);
    set_pointer(mainloop.ptr_B, p->b);
    set_pointer(mainloop.ptr_SFA, p->a_scale);
    set_pointer(mainloop.ptr_SFB, p->b_scale);
    mainloop.dA = lines<typename Kernel::StrideA, typename Gemm::ElementA>(p->a_line);
    mainloop.dB = lines<typename Kernel::StrideB, typename Gemm::ElementB>(p->b_line);
    mainloop.layout_SFA = Config::tile_atom_to_shape_SFA(arguments.problem_shape);
    mainloop.layout_SFB = Config::tile_atom_to_shape_SFB(arguments.problem_shape);
    set_pointer(epilogue.ptr_C, p->c != nullptr ? p->c : p->d);
    set_pointer(epilogue.ptr_D, p->d);
    epilogue.dC = lines<typename Kernel::StrideC, typename Gemm::ElementC>(p->c != nullptr ? p->c_line : p->d_line);
    epilogue.dD = lines<typename Kernel::StrideD, typename Gemm::ElementD>(p->d_line);
    epilogue.thread.alpha = *p->alpha;
    epilogue.thread.beta = p->c != nullptr && p->beta != nullptr ? *p->beta : 0.0f;
    return arguments;
}

template <class Types> struct block_scaled {
    using Gemm = typename Types::Gemm;

    static typename Gemm::Arguments arguments(const fpo_kernel_problem *p) { return block_scaled_arguments<Gemm>(p); }
};

} // namespace fpo

// The types are named outside of any template: g++ and nvcc's front end differ in the type of a constant (C<16u>, C<16>)
// where the builder's arguments depend on template parameters; the kernel that is launched is then not the one compiled.
#define BLOCK_SCALED(name, a, b, d, tile, schedule, scheduler)                                                         \
    struct name##_types {                                                                                              \
        using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<                                    \
            fpo::Arch, fpo::Scaled, fpo::tile, fpo::Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float,   \
            float, d, fpo::Row, fpo::store_alignment<d>, d, fpo::Row, fpo::store_alignment<d>,                         \
            cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;                                        \
        using Stages =                                                                                                 \
            cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>;          \
        using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<                                        \
            fpo::Arch, fpo::Scaled, a, fpo::Row, fpo::alignment<a, b>(), b, fpo::Column, fpo::alignment<b, a>(),       \
            float, fpo::tile, fpo::Cluster, Stages, fpo::schedule>::CollectiveOp;                                      \
        using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue,       \
                                                            scheduler>;                                                \
        using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;                                              \
    };                                                                                                                 \
    CUTLASS_FUNCTIONS(name, fpo::block_scaled<name##_types>)

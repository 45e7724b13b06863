// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// A CUTLASS GEMM for SM120 behind a cutlass_kernel.
#pragma once

#include "launch.h"

#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/dispatch_policy.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <type_traits>

namespace fpo {

using cute::_1;
using cute::Shape;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Arch = cutlass::arch::Sm120;
using Cluster = Shape<_1, _1, _1>;

using Cooperative = cutlass::gemm::collective::KernelScheduleAuto;
using Pingpong = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using StreamK = cutlass::gemm::StreamKScheduler;

using tile_128x128x128 = Shape<cute::_128, cute::_128, cute::_128>;
using tile_256x128x128 = Shape<cute::_256, cute::_128, cute::_128>;
using tile_128x128x256 = Shape<cute::_128, cute::_128, cute::_256>;
using tile_64x128x128 = Shape<cute::_64, cute::_128, cute::_128>;

template <class T> constexpr int store_alignment = 128 / cutlass::sizeof_bits<T>::value;

// The strides of a matrix whose lines begin `bytes` apart.
template <class Stride, class Element> Stride lines(int64_t bytes)
{
    Stride stride{};
    cute::get<0>(stride) = bytes * 8 / cutlass::sizeof_bits<Element>::value;
    return stride;
}

// What every CUTLASS GEMM has: `Kind` gives the types and fills in the arguments.
template <class Kind> struct functions {
    using Gemm = typename Kind::Gemm;

    static fpo_plugin_status check(const fpo_kernel_problem *problem, char *why)
    {
        auto status = Gemm().can_implement(Kind::arguments(problem));
        if (status == cutlass::Status::kSuccess)
            return FPO_PLUGIN_OK;
        snprintf(why, FPO_PLUGIN_TEXT, "CUTLASS's can_implement: %s", cutlassGetStatusString(status));
        return FPO_PLUGIN_UNSUPPORTED;
    }

    static uint64_t workspace(const fpo_kernel_problem *problem)
    {
        return Gemm::get_workspace_size(Kind::arguments(problem));
    }

    static fpo_plugin_status run(const fpo_kernel_problem *problem, char *why)
    {
        Gemm gemm;
        auto status = gemm.initialize(Kind::arguments(problem), problem->workspace);
        if (status != cutlass::Status::kSuccess)
            return cutlass_failed("initialize", cutlassGetStatusString(status), why);
        status = gemm.run();
        return status == cutlass::Status::kSuccess ? FPO_PLUGIN_OK
                                                   : cutlass_failed("run", cutlassGetStatusString(status), why);
    }
};

} // namespace fpo

// What plugin.c knows of a kernel whose types are in `Kind`.
#define CUTLASS_FUNCTIONS(name, ...)                                                                                   \
    extern "C" const cutlass_kernel name = {fpo::functions<__VA_ARGS__>::check, fpo::functions<__VA_ARGS__>::workspace,\
                                            fpo::functions<__VA_ARGS__>::run};

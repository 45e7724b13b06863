// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// CUTLASS's grouped block-scaled GEMMs: pointers, strides and scale layouts of each group in device memory. One GEMM is cut
// into four groups, of which some may be ragged or empty; their tiles are one launch.
#pragma once

#include "block_scaled.cuh"

#include <algorithm>
#include <cuda_runtime_api.h>
#include <cutlass/gemm/group_array_problem_shape.hpp>

namespace fpo {

using GroupShapes = cutlass::gemm::GroupProblemShape<cute::Shape<int, int, int>>;

template <class Types> struct grouped {
    using Gemm = typename Types::Gemm;
    using Kernel = typename Gemm::GemmKernel;
    using Arguments = typename Gemm::Arguments;
    using Config = typename Kernel::CollectiveMainloop::Sm1xxBlkScaledConfig;
    static constexpr int groups = 4;

    // An array of what `Pointer` points to.
    template <class Pointer> using array = std::remove_pointer_t<Pointer>[groups];

    struct Tables {
        GroupShapes::UnderlyingProblemShape shape[groups];
        array<decltype(Kernel::MainloopArguments::ptr_A)> a;
        array<decltype(Kernel::MainloopArguments::ptr_B)> b;
        array<decltype(Kernel::MainloopArguments::ptr_SFA)> a_scale;
        array<decltype(Kernel::MainloopArguments::ptr_SFB)> b_scale;
        array<decltype(Kernel::EpilogueArguments::ptr_C)> c;
        array<decltype(Kernel::EpilogueArguments::ptr_D)> d;
        typename Kernel::InternalStrideA a_lines[groups];
        typename Kernel::InternalStrideB b_lines[groups];
        typename Kernel::InternalStrideC c_lines[groups];
        typename Kernel::InternalStrideD d_lines[groups];
        typename Kernel::CollectiveMainloop::InternalLayoutSFA a_scales[groups];
        typename Kernel::CollectiveMainloop::InternalLayoutSFB b_scales[groups];
    };
    static constexpr size_t own_bytes = (sizeof(Tables) + 255) / 256 * 256;

    // Where a size is cut: a group begins with a block of 128 rows of scales.
    static int64_t cut(int64_t size) { return std::min(size, (size / 2 + 127) / 128 * 128); }

    static const char *at(const void *matrix, int64_t bytes) { return static_cast<const char *>(matrix) + bytes; }

    static void fill(Tables &t, int g, const fpo_kernel_problem *p)
    {
        using Output = typename Gemm::ElementD;
        const int64_t row = g / 2 * cut(p->m), column = g % 2 * cut(p->n), scale_line = (p->k + 63) / 64 * 4;
        const int64_t m = g / 2 ? p->m - row : cut(p->m), n = g % 2 ? p->n - column : cut(p->n);
        const int64_t c_line = p->c != nullptr ? p->c_line : p->d_line;
        t.shape[g] = cute::make_shape(int(m), int(n), int(p->k));
        set_pointer(t.a[g], at(p->a, row * p->a_line));
        set_pointer(t.b[g], at(p->b, column * p->b_line));
        set_pointer(t.a_scale[g], at(p->a_scale, row * scale_line));
        set_pointer(t.b_scale[g], at(p->b_scale, column * scale_line));
        set_pointer(t.c[g], at(p->c != nullptr ? p->c : p->d, row * c_line + column * int64_t(sizeof(Output))));
        set_pointer(t.d[g], at(p->d, row * p->d_line + column * int64_t(sizeof(Output))));
        t.a_lines[g] = lines<typename Kernel::InternalStrideA, typename Gemm::ElementA>(p->a_line);
        t.b_lines[g] = lines<typename Kernel::InternalStrideB, typename Gemm::ElementB>(p->b_line);
        t.c_lines[g] = lines<typename Kernel::InternalStrideC, Output>(c_line);
        t.d_lines[g] = lines<typename Kernel::InternalStrideD, Output>(p->d_line);
        const auto whole = cute::make_shape(int(m), int(n), int(p->k), 1);
        t.a_scales[g] = Config::tile_atom_to_shape_SFA(whole);
        t.b_scales[g] = Config::tile_atom_to_shape_SFB(whole);
    }

    static Tables tables(const fpo_kernel_problem *p)
    {
        Tables t;
        for (int g = 0; g < groups; g++)
            fill(t, g, p);
        return t;
    }

    // The kernel reads the tables in the workspace, the host code the shapes in `host`.
    static Arguments arguments(const fpo_kernel_problem *p, Tables *host)
    {
        auto device = static_cast<Tables *>(p->workspace);
        Arguments arguments{};
        auto &mainloop = arguments.mainloop;
        auto &epilogue = arguments.epilogue;
        arguments.mode = cutlass::gemm::GemmUniversalMode::kGrouped;
        arguments.problem_shape = {groups, device->shape, host->shape};
        mainloop.ptr_A = device->a;
        mainloop.dA = device->a_lines;
        mainloop.ptr_B = device->b;
        mainloop.dB = device->b_lines;
        mainloop.ptr_SFA = device->a_scale;
        mainloop.layout_SFA = device->a_scales;
        mainloop.ptr_SFB = device->b_scale;
        mainloop.layout_SFB = device->b_scales;
        epilogue.ptr_C = device->c;
        epilogue.dC = device->c_lines;
        epilogue.ptr_D = device->d;
        epilogue.dD = device->d_lines;
        epilogue.thread.alpha = *p->alpha;
        epilogue.thread.beta = p->c != nullptr && p->beta != nullptr ? *p->beta : 0.0f;
        arguments.hw_info.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count();
        arguments.hw_info.cluster_shape = dim3(Types::pair, 1, 1);
        arguments.hw_info.cluster_shape_fallback = dim3(Types::pair, 1, 1);
        return arguments;
    }

    static fpo_plugin_status check(const fpo_kernel_problem *problem, char *why)
    {
        Tables host = tables(problem);
        auto status = Gemm().can_implement(arguments(problem, &host));
        if (status == cutlass::Status::kSuccess)
            return FPO_PLUGIN_OK;
        snprintf(why, FPO_PLUGIN_TEXT, "CUTLASS's can_implement: %s", cutlassGetStatusString(status));
        return FPO_PLUGIN_UNSUPPORTED;
    }

    static uint64_t workspace(const fpo_kernel_problem *problem)
    {
        Tables host = tables(problem);
        return own_bytes + Gemm::get_workspace_size(arguments(problem, &host));
    }

    static fpo_plugin_status run(const fpo_kernel_problem *problem, char *why)
    {
        Tables host = tables(problem);
        if (cudaMemcpy(problem->workspace, &host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess)
            return cutlass_failed("tables", "not copied", why);
        Gemm gemm;
        auto status = gemm.initialize(arguments(problem, &host), static_cast<char *>(problem->workspace) + own_bytes);
        if (status != cutlass::Status::kSuccess)
            return cutlass_failed("initialize", cutlassGetStatusString(status), why);
        status = gemm.run();
        return status == cutlass::Status::kSuccess ? FPO_PLUGIN_OK
                                                   : cutlass_failed("run", cutlassGetStatusString(status), why);
    }
};

} // namespace fpo

#define CUTLASS_GROUPED_FUNCTIONS(id)                                                                                  \
    extern "C" const cutlass_kernel id = {fpo::grouped<id##_types>::check, fpo::grouped<id##_types>::workspace,        \
                                          fpo::grouped<id##_types>::run};

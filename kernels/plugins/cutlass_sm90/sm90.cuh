/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* CUTLASS's FP8 kernels for compute capability 9.0 as its own CollectiveBuilder makes them: tile 128x128x128,
 * cooperative, no cluster, D = alpha * accumulator + beta * C. */
#ifndef FP4ORACLE_PLUGINS_CUTLASS_SM90_CUH
#define FP4ORACLE_PLUGINS_CUTLASS_SM90_CUH

#include "launcher.h"

#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/detail/blockwise_scale_layout.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <stdio.h>

namespace sm90
{

using Tile = cute::Shape<cute::_128, cute::_128, cute::_128>;
using Cluster = cute::Shape<cute::_1, cute::_1, cute::_1>;
using RowMajor = cutlass::layout::RowMajor;
using ColumnMajor = cutlass::layout::ColumnMajor;
/* One scale of A per row and 128 of K, one of B per 128 x 128: f32, rows contiguous. */
using Scales = cutlass::detail::Sm90BlockwiseScaleConfig<1, 128, 128>;

using Promoted = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using Fast = cutlass::gemm::KernelTmaWarpSpecializedCooperativeFP8FastAccum;
using Scaled = cutlass::gemm::KernelTmaWarpSpecializedCooperativeFP8Blockwise;

struct Tensor {
    using LayoutA = RowMajor;
    using LayoutB = ColumnMajor;
};
struct Blockwise {
    using LayoutA = cute::tuple<RowMajor, decltype(Scales::deduce_layoutSFA())>;
    using LayoutB = cute::tuple<ColumnMajor, decltype(Scales::deduce_layoutSFB())>;
};

template <class Scaling, class Schedule, class A, class D> struct Kernel {
    using B = cutlass::float_e4m3_t;
    static constexpr int line = 16 / sizeof(D);
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, float, float, D, RowMajor, line, D, RowMajor, line,
        cutlass::epilogue::TmaWarpSpecializedCooperative>::CollectiveOp;
    using Stages =
        cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>;
    using MainLoop = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, A, typename Scaling::LayoutA, 16, B,
        typename Scaling::LayoutB, 16, float, Tile, Cluster, Stages, Schedule>::CollectiveOp;
    using Universal = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, MainLoop, Epilogue>;
    using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Universal>;
    using Arguments = typename Gemm::Arguments;

    static Arguments arguments(const fpo_kernel_problem *p)
    {
        Arguments x{};
        int m = int(p->m), n = int(p->n), k = int(p->k);
        x.mode = cutlass::gemm::GemmUniversalMode::kGemm;
        x.problem_shape = {m, n, k, 1};
        x.mainloop.ptr_A = static_cast<const A *>(p->a);
        x.mainloop.ptr_B = static_cast<const B *>(p->b);
        cute::get<0>(x.mainloop.dA) = p->a_line;
        cute::get<0>(x.mainloop.dB) = p->b_line;
        if constexpr (cute::is_same_v<Scaling, Blockwise>) {
            x.mainloop.ptr_SFA = static_cast<const float *>(p->a_scale);
            x.mainloop.ptr_SFB = static_cast<const float *>(p->b_scale);
            x.mainloop.layout_SFA = Scales::tile_atom_to_shape_SFA(cute::make_shape(m, n, k, 1));
            x.mainloop.layout_SFB = Scales::tile_atom_to_shape_SFB(cute::make_shape(m, n, k, 1));
        }
        x.epilogue.thread.alpha = p->alpha != nullptr ? *p->alpha : 1.0f;
        x.epilogue.thread.beta = p->c != nullptr && p->beta != nullptr ? *p->beta : 0.0f;
        x.epilogue.ptr_C = static_cast<const D *>(p->c != nullptr ? p->c : p->d);
        x.epilogue.ptr_D = static_cast<D *>(p->d);
        cute::get<0>(x.epilogue.dC) = (p->c != nullptr ? p->c_line : p->d_line) / int64_t(sizeof(D));
        cute::get<0>(x.epilogue.dD) = p->d_line / int64_t(sizeof(D));
        return x;
    }

    static fpo_plugin_status status(cutlass::Status result, const char *call, char *why)
    {
        if (result == cutlass::Status::kSuccess)
            return FPO_PLUGIN_OK;
        cudaError_t error = cudaGetLastError();
        snprintf(why, FPO_PLUGIN_TEXT, "%s: %s%s%s", call, cutlass::cutlassGetStatusString(result),
                 error != cudaSuccess ? "; " : "", error != cudaSuccess ? cudaGetErrorString(error) : "");
        return FPO_PLUGIN_FAILED;
    }

    static fpo_plugin_status check(const fpo_kernel_problem *p, char *why)
    {
        fpo_plugin_status answer = status(Gemm::can_implement(arguments(p)), "can_implement", why);
        return answer == FPO_PLUGIN_OK ? FPO_PLUGIN_OK : FPO_PLUGIN_UNSUPPORTED;
    }

    static fpo_plugin_status workspace(const fpo_kernel_problem *p, uint64_t *bytes, char *)
    {
        *bytes = Gemm::get_workspace_size(arguments(p));
        return FPO_PLUGIN_OK;
    }

    static fpo_plugin_status run(const fpo_kernel_problem *p, char *why)
    {
        Gemm gemm;
        fpo_plugin_status answer = status(gemm.initialize(arguments(p), p->workspace), "initialize", why);
        return answer == FPO_PLUGIN_OK ? status(gemm.run(), "run", why) : answer;
    }

    static constexpr cutlass_functions functions = {check, workspace, run};
};

using E4M3 = cutlass::float_e4m3_t;
using E5M2 = cutlass::float_e5m2_t;
using BF16 = cutlass::bfloat16_t;

} // namespace sm90

#endif

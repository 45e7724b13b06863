/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Launchers for DeepGEMM's device code without PyTorch and without its just-in-time compiler: five tensor maps, the size
 * of the shared memory, the launch, with a cluster where two CTAs share an instruction. */
#include "launch.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <deep_gemm/impls/sm100_fp8_fp4_gemm_1d1d.cuh>
#include <stdio.h>

namespace {

using e4m3 = cutlass::float_e4m3_t;
using e2m1 = cutlass::float_e2m1_t;
using bf16 = cutlass::bfloat16_t;
using f32 = float;

/* Persistent CTAs, and what the scheduler divides the tiles among. */
constexpr uint32_t multiprocessors = 4;
constexpr uint32_t threads = 128, epilogue_stages = 2, store_stages = 2, swizzle = 128;

using encode_function = decltype(&cuTensorMapEncodeTiled);

encode_function encoder()
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found) !=
        cudaSuccess)
        return nullptr;
    return reinterpret_cast<encode_function>(function);
}

struct matrix {
    const char *name;
    const void *address;
    CUtensorMapDataType type;
    int64_t columns, rows, line; /* line in bytes */
    uint32_t box_columns, box_rows;
    bool swizzled;
};

fpo_plugin_status encode(const matrix &x, CUtensorMap *map, char *why)
{
    static const encode_function function = encoder();
    if (function == nullptr) {
        snprintf(why, FPO_PLUGIN_TEXT, "the driver has no cuTensorMapEncodeTiled");
        return FPO_PLUGIN_UNSUPPORTED;
    }
    cuuint64_t sizes[2] = {cuuint64_t(x.columns), cuuint64_t(x.rows)}, lines[1] = {cuuint64_t(x.line)};
    cuuint32_t box[2] = {x.box_columns, x.box_rows}, steps[2] = {1, 1};
    CUresult result = function(map, x.type, 2, const_cast<void *>(x.address), sizes, lines, box, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE,
                               x.swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "cuTensorMapEncodeTiled of %s: error %d", x.name, int(result));
    return FPO_PLUGIN_FAILED;
}

constexpr uint32_t round_up(uint32_t value, uint32_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

template <class A, class B, class D, uint32_t a_k, uint32_t b_k, uint32_t tile_m, uint32_t tile_n, bool swap,
          uint32_t ctas>
fpo_plugin_status run(const fpo_kernel_problem *p, const void *a_scale, const void *b_scale, char *why)
{
    constexpr bool fp4 = cute::is_same_v<A, e2m1>;
    constexpr uint32_t tile_k = fp4 ? 256 : 128, stages = fp4 || tile_n > 128 ? 3 : 4, rows_b = tile_n / ctas;
    constexpr uint32_t store_m = swap ? 16 : tile_m < 128 ? tile_m : 128, store_n = swap ? tile_n : swizzle / sizeof(D);
    const auto kernel = deep_gemm::sm100_fp8_fp4_gemm_1d1d_impl<
        cute::UMMA::Major::K, cute::UMMA::Major::K, a_k, b_k, 128, 0, 0, 0, tile_m, tile_n, tile_k, 1, swizzle, swizzle,
        swizzle, stages, store_stages, threads, threads, ctas, false, multiprocessors, swap, false,
        deep_gemm::GemmType::Normal, false, A, B, D, deep_gemm::epilogue::operators::Identity>;
    using storage =
        deep_gemm::layout::SM100FP8FP4GemmSharedStorage<stages, epilogue_stages, store_stages, tile_m, rows_b, tile_k,
                                                        store_m, store_n, round_up(tile_m, 128), round_up(tile_n, 128),
                                                        tile_k / 128, A, B, D>;
    const CUtensorMapDataType element = fp4 ? CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B : CU_TENSOR_MAP_DATA_TYPE_UINT8,
                              output = sizeof(D) == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                      : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const int64_t m4 = (p->m + 3) / 4 * 4, n4 = (p->n + 3) / 4 * 4;
    const matrix matrices[] = {
        {"A", p->a, element, p->k, p->m, p->a_line, tile_k, tile_m, true},
        {"B", p->b, element, p->k, p->n, p->b_line, tile_k, rows_b, true},
        {"A's scales", a_scale, CU_TENSOR_MAP_DATA_TYPE_INT32, m4, (p->k + 4 * a_k - 1) / (4 * a_k), m4 * 4,
         round_up(tile_m, 128), tile_k / 128, false},
        {"B's scales", b_scale, CU_TENSOR_MAP_DATA_TYPE_INT32, n4, (p->k + 4 * b_k - 1) / (4 * b_k), n4 * 4,
         round_up(tile_n, 128), tile_k / 128, false},
        {"D", p->d, output, p->n, p->m, p->d_line, swizzle / uint32_t(sizeof(D)), store_m, true},
    };
    CUtensorMap maps[5];
    for (int i = 0; i < 5; i++) {
        fpo_plugin_status status = encode(matrices[i], &maps[i], why);
        if (status != FPO_PLUGIN_OK)
            return status;
    }
    cudaError_t error = cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, int(sizeof(storage)));
    if (error == cudaSuccess) {
        cudaLaunchAttribute cluster{};
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim.x = ctas;
        cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
        cudaLaunchConfig_t launch{};
        launch.gridDim = dim3(multiprocessors);
        launch.blockDim = dim3(2 * threads);
        launch.dynamicSmemBytes = sizeof(storage);
        launch.attrs = &cluster;
        launch.numAttrs = 1;
        error = cudaLaunchKernelEx(&launch, kernel, static_cast<int *>(nullptr), uint32_t(p->m), uint32_t(p->n),
                                   uint32_t(p->k), deep_gemm::EpilogueOperatorArgs{}, maps[0], maps[1], maps[2],
                                   maps[3], maps[4]);
    }
    if (error == cudaSuccess)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "%u bytes of shared memory: %s", unsigned(sizeof(storage)),
             cudaGetErrorString(error));
    return error == cudaErrorInvalidValue ? FPO_PLUGIN_UNSUPPORTED : FPO_PLUGIN_FAILED;
}

} // namespace

fpo_plugin_status deepgemm_gemm(deepgemm_kernel kernel, const fpo_kernel_problem *problem, const void *a_scale,
                                const void *b_scale, char *why)
{
    switch (kernel) {
#define DEEPGEMM_KERNEL(ID, name, summary, a, b, a_k, b_k, d, tile_m, tile_n, swap, ctas)                              \
    case DEEPGEMM_##ID:                                                                                                \
        return run<a, b, d, a_k, b_k, tile_m, tile_n, swap, ctas>(problem, a_scale, b_scale, why);
#include "kernels.inc"
#undef DEEPGEMM_KERNEL
    default: return FPO_PLUGIN_UNSUPPORTED;
    }
}

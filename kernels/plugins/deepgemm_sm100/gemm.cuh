/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Launches DeepGEMM's device code without PyTorch and without its just-in-time compiler: five tensor maps, the size of
 * the shared memory, the launch, with a cluster where two CTAs share an instruction. */
#ifndef FP4ORACLE_PLUGINS_DEEPGEMM_SM100_GEMM_CUH
#define FP4ORACLE_PLUGINS_DEEPGEMM_SM100_GEMM_CUH

#include "../common/tensor_map.cuh"
#include "launch.h"

#include <deep_gemm/impls/sm100_fp8_fp4_gemm_1d1d.cuh>
#include <stdio.h>

namespace
{

using e4m3 = cutlass::float_e4m3_t;
using e2m1 = cutlass::float_e2m1_t;
using bf16 = cutlass::bfloat16_t;
using f32 = float;
using deep_gemm::GemmType;

/* Persistent CTAs, and what the scheduler divides the tiles among. */
constexpr uint32_t multiprocessors = 4;
constexpr uint32_t threads = 128, epilogue_stages = 2, store_stages = 2, swizzle = 128;

constexpr uint32_t round_up(uint32_t value, uint32_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

constexpr uint32_t groups_of(GemmType type)
{
    return type == GemmType::Normal                   ? 1
           : deep_gemm::is_k_grouped_contiguous(type) ? DEEPGEMM_K_GROUPS
                                                      : DEEPGEMM_M_GROUPS;
}

/* FP4 in shared memory: packed where both operands are, else 8 bytes in each 16. */
template <class T, class Other>
using in_shared = cute::conditional_t<cute::is_same_v<T, e2m1> && !cute::is_same_v<Other, e2m1>,
                                      cutlass::detail::float_e2m1_unpacksmem_t, T>;

template <class T> constexpr CUtensorMapDataType map_type()
{
    return cute::is_same_v<T, e2m1>   ? CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B
           : cute::is_same_v<T, e4m3> ? CU_TENSOR_MAP_DATA_TYPE_UINT8
           : cute::is_same_v<T, bf16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
           : cute::is_same_v<T, f32>  ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                      : CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B;
}

inline fpo::tensor codes_of(const char *name, const deepgemm_matrix &x, CUtensorMapDataType type, uint32_t tile_k,
                            uint32_t rows)
{
    return {name, x.codes, type, x.columns, x.rows, x.line, tile_k, rows, CU_TENSOR_MAP_SWIZZLE_128B};
}

inline fpo::tensor scales_of(const char *name, const deepgemm_matrix &x, uint32_t tile_k, uint32_t rows)
{
    const int64_t padded = (x.scale_rows + 3) / 4 * 4;
    return {name,
            x.scales,
            CU_TENSOR_MAP_DATA_TYPE_INT32,
            padded,
            x.scale_lines,
            padded * 4,
            round_up(rows, 128),
            tile_k / 128,
            CU_TENSOR_MAP_SWIZZLE_NONE};
}

template <class kernel_function>
fpo_plugin_status launch_kernel(kernel_function kernel, uint32_t ctas, size_t bytes, const deepgemm_operands *x,
                                const CUtensorMap (&maps)[5], char *why)
{
    cudaError_t error = cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
    if (error == cudaSuccess) {
        cudaLaunchAttribute cluster{};
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim.x = ctas;
        cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
        cudaLaunchConfig_t launch{};
        launch.gridDim = dim3(multiprocessors);
        launch.blockDim = dim3(2 * threads);
        launch.dynamicSmemBytes = bytes;
        launch.attrs = &cluster;
        launch.numAttrs = 1;
        error = cudaLaunchKernelEx(&launch, kernel, const_cast<int *>(x->groups), uint32_t(x->m), uint32_t(x->n),
                                   uint32_t(x->k), deep_gemm::EpilogueOperatorArgs{}, maps[0], maps[1], maps[2],
                                   maps[3], maps[4]);
    }
    if (error == cudaSuccess)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "%u bytes of shared memory: %s", unsigned(bytes), cudaGetErrorString(error));
    return error == cudaErrorInvalidValue ? FPO_PLUGIN_UNSUPPORTED : FPO_PLUGIN_FAILED;
}

template <class stored_a, class stored_b, class D, uint32_t a_k, uint32_t b_k, uint32_t tile_m, uint32_t tile_n,
          bool swap, uint32_t ctas, GemmType type>
fpo_plugin_status run(const deepgemm_operands *x, char *why)
{
    using A = in_shared<stored_a, stored_b>;
    using B = in_shared<stored_b, stored_a>;
    constexpr bool fp4 = cute::is_same_v<A, e2m1>;
    constexpr uint32_t tile_k = fp4 ? 256 : 128, stages = fp4 || tile_n > 128 ? 3 : 4, rows_b = tile_n / ctas;
    constexpr uint32_t store_m = swap ? 16 : tile_m < 128 ? tile_m : 128, store_n = swap ? tile_n : swizzle / sizeof(D);
    const auto kernel = deep_gemm::sm100_fp8_fp4_gemm_1d1d_impl<
        cute::UMMA::Major::K, cute::UMMA::Major::K, a_k, b_k, 128, 0, 0, 0, tile_m, tile_n, tile_k, groups_of(type),
        swizzle, swizzle, swizzle, stages, store_stages, threads, threads, ctas, false, multiprocessors, swap, false,
        type, false, A, B, D, deep_gemm::epilogue::operators::Identity>;
    using storage =
        deep_gemm::layout::SM100FP8FP4GemmSharedStorage<stages, epilogue_stages, store_stages, tile_m, rows_b, tile_k,
                                                        store_m, store_n, round_up(tile_m, 128), round_up(tile_n, 128),
                                                        tile_k / 128, A, B, D>;
    const fpo::tensor tensors[] = {
        codes_of("A", x->a, map_type<A>(), tile_k, tile_m),
        codes_of("B", x->b, map_type<B>(), tile_k, rows_b),
        scales_of("A's scales", x->a, tile_k, tile_m),
        scales_of("B's scales", x->b, tile_k, tile_n),
        {"D", x->d, map_type<D>(), x->n, x->d_rows, x->d_line, swizzle / uint32_t(sizeof(D)), store_m,
         CU_TENSOR_MAP_SWIZZLE_128B, x->d_planes, x->d_plane},
    };
    CUtensorMap maps[5];
    const fpo_plugin_status status = fpo::encode_tensor_maps(tensors, maps, why);
    return status == FPO_PLUGIN_OK ? launch_kernel(kernel, ctas, sizeof(storage), x, maps, why) : status;
}

/* Only instantiations of the file's own types are compiled. */
template <bool wanted, class stored_a, class stored_b, class D, uint32_t a_k, uint32_t b_k, uint32_t tile_m,
          uint32_t tile_n, bool swap, uint32_t ctas, GemmType type>
fpo_plugin_status run_if(const deepgemm_operands *x, char *why)
{
    if constexpr (wanted)
        return run<stored_a, stored_b, D, a_k, b_k, tile_m, tile_n, swap, ctas, type>(x, why);
    else
        return FPO_PLUGIN_UNSUPPORTED;
}

} // namespace

#endif

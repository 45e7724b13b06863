/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A launcher for DeepGEMM's device code without PyTorch and without its just-in-time compiler: four tensor maps, the
 * size of the shared memory, the launch. No cluster, no multicast. */
#include "../common/tensor_map.cuh"
#include "launch.h"

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cute/arch/mma_sm100_desc.hpp>
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>
#include <stdio.h>

namespace
{

constexpr uint32_t block_k = 128, stages = 4, load_threads = 128;
/* CTAs of the grid, and what the scheduler divides the tiles among: the multiprocessors of an H100 or H200. */
constexpr uint32_t multiprocessors = 132;

constexpr uint32_t round_up(uint32_t value, uint32_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* As the kernel lays it out: D, the stages of A and B, of A's scales, B's scales for all of K, two barriers a stage. */
template <uint32_t tile_m, uint32_t tile_n> uint32_t shared_bytes(int64_t k)
{
    uint32_t scale_rows = block_k % tile_n == 0 ? 1 : 2, blocks = uint32_t((k + block_k - 1) / block_k);
    return round_up(tile_m * tile_n * 2, 1024) + stages * (tile_m + tile_n) * block_k +
           stages * round_up(tile_m * 4, 128) + round_up(blocks * scale_rows * 4, 8) + stages * 16;
}

template <uint32_t tile_m, uint32_t tile_n> fpo_plugin_status run(const fpo_kernel_problem *p, char *why)
{
    constexpr uint32_t math_threads = tile_m <= 64 ? 128 : 256;
    constexpr uint32_t d_swizzle = tile_n % 64 == 0 ? 128 : tile_n % 32 == 0 ? 64 : 32;
    const auto kernel =
        deep_gemm::sm90_fp8_gemm_1d2d_impl<cute::UMMA::Major::K, 0, 0, 0, 1, tile_m, tile_n, block_k, 128, 128,
                                           d_swizzle, stages, load_threads, math_threads, 1, false, multiprocessors,
                                           deep_gemm::GemmType::Normal, cutlass::bfloat16_t>;
    const int64_t blocks = (p->k + block_k - 1) / block_k, padded_m = (p->m + 3) / 4 * 4;
    const CUtensorMapSwizzle d_mode = d_swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                      : d_swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                        : CU_TENSOR_MAP_SWIZZLE_32B;
    const fpo::tensor tensors[] = {
        {"A", p->a, CU_TENSOR_MAP_DATA_TYPE_UINT8, p->k, p->m, p->a_line, block_k, tile_m, CU_TENSOR_MAP_SWIZZLE_128B},
        {"B", p->b, CU_TENSOR_MAP_DATA_TYPE_UINT8, p->k, p->n, p->b_line, block_k, tile_n, CU_TENSOR_MAP_SWIZZLE_128B},
        {"D", p->d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, p->n, p->m, p->d_line, d_swizzle / 2, tile_m, d_mode},
        {"A's scales", p->a_scale, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, padded_m, blocks, padded_m * 4, tile_m, 1,
         CU_TENSOR_MAP_SWIZZLE_NONE},
    };
    CUtensorMap maps[4];
    const fpo_plugin_status status = fpo::encode_tensor_maps(tensors, maps, why);
    if (status != FPO_PLUGIN_OK)
        return status;
    const uint32_t bytes = shared_bytes<tile_m, tile_n>(p->k);
    cudaError_t error = cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
    if (error == cudaSuccess) {
        kernel<<<multiprocessors, load_threads + math_threads, bytes>>>(
            const_cast<float *>(static_cast<const float *>(p->b_scale)), nullptr, uint32_t(p->m), uint32_t(p->n),
            uint32_t(p->k), maps[0], maps[1], maps[2], maps[3]);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "%u bytes of shared memory: %s", unsigned(bytes), cudaGetErrorString(error));
    return error == cudaErrorInvalidValue ? FPO_PLUGIN_UNSUPPORTED : FPO_PLUGIN_FAILED;
}

} // namespace

/* The third does not divide 128: two rows of B's scales meet in one tile. */
extern "C" const deepgemm_tile deepgemm_tiles[DEEPGEMM_TILES] = {
    {128, 128, run<128, 128>},
    {64, 128, run<64, 128>},
    {64, 96, run<64, 96>},
};

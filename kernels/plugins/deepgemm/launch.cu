/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A launcher for DeepGEMM's device code without PyTorch and without its just-in-time compiler: four tensor maps, the
 * size of the shared memory, the launch. No cluster, no multicast. */
#include "launch.h"

#include <cuda.h>
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
    const void *address;
    CUtensorMapDataType type;
    int64_t columns, rows, line; /* line in bytes */
    uint32_t box_columns, box_rows;
    CUtensorMapSwizzle swizzle;
};

fpo_plugin_status encode(const char *name, const matrix &x, CUtensorMap *map, char *why)
{
    static const encode_function function = encoder();
    if (function == nullptr) {
        snprintf(why, FPO_PLUGIN_TEXT, "the driver has no cuTensorMapEncodeTiled");
        return FPO_PLUGIN_UNSUPPORTED;
    }
    cuuint64_t sizes[2] = {cuuint64_t(x.columns), cuuint64_t(x.rows)}, lines[1] = {cuuint64_t(x.line)};
    cuuint32_t box[2] = {x.box_columns, x.box_rows}, steps[2] = {1, 1};
    CUresult result =
        function(map, x.type, 2, const_cast<void *>(x.address), sizes, lines, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                 x.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "cuTensorMapEncodeTiled of %s: error %d", name, int(result));
    return FPO_PLUGIN_FAILED;
}

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
    CUtensorMap a, b, d, scales;
    fpo_plugin_status status = encode(
        "A", {p->a, CU_TENSOR_MAP_DATA_TYPE_UINT8, p->k, p->m, p->a_line, block_k, tile_m, CU_TENSOR_MAP_SWIZZLE_128B},
        &a, why);
    if (status == FPO_PLUGIN_OK)
        status = encode(
            "B",
            {p->b, CU_TENSOR_MAP_DATA_TYPE_UINT8, p->k, p->n, p->b_line, block_k, tile_n, CU_TENSOR_MAP_SWIZZLE_128B},
            &b, why);
    if (status == FPO_PLUGIN_OK)
        status =
            encode("D", {p->d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, p->n, p->m, p->d_line, d_swizzle / 2, tile_m, d_mode},
                   &d, why);
    if (status == FPO_PLUGIN_OK)
        status = encode("A's scales",
                        {p->a_scale, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, padded_m, blocks, padded_m * 4, tile_m, 1,
                         CU_TENSOR_MAP_SWIZZLE_NONE},
                        &scales, why);
    if (status != FPO_PLUGIN_OK)
        return status;
    const uint32_t bytes = shared_bytes<tile_m, tile_n>(p->k);
    cudaError_t error = cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
    if (error == cudaSuccess) {
        kernel<<<multiprocessors, load_threads + math_threads, bytes>>>(
            const_cast<float *>(static_cast<const float *>(p->b_scale)), nullptr, uint32_t(p->m), uint32_t(p->n),
            uint32_t(p->k), a, b, d, scales);
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

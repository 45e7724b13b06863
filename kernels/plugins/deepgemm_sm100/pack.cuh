/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A launcher of DeepGEMM's transpose_and_pack_fp32_into_ue8m0, which is compiled for a number of scales a row. */
#include "pack.h"

#include <cuda_runtime.h>

#include <deep_gemm/common/types.cuh>
#include <deepgemm_smxx_layout.cuh>
#include <stdio.h>

namespace {

template <uint32_t columns> void launch(const float *scales, uint32_t *words, uint32_t rows)
{
    constexpr uint32_t block_rows = 48, block_columns = 64, threads = 512;
    const auto kernel = deep_gemm::transpose_and_pack_fp32_into_ue8m0<threads, block_rows, columns, block_columns>;
    const uint32_t row_blocks = (rows + block_rows - 1) / block_rows,
                   column_blocks = columns < block_columns ? 1 : (columns + block_columns - 1) / block_columns;
    kernel<<<row_blocks * column_blocks, threads, block_rows * (block_columns + 1) * 4>>>(const_cast<float *>(scales),
                                                                                          words, rows, nullptr, 0);
}

} // namespace

fpo_plugin_status DEEPGEMM_PACK(const void *scales, void *words, int64_t rows, int64_t columns, char *why)
{
    const float *from = static_cast<const float *>(scales);
    uint32_t *to = static_cast<uint32_t *>(words);
    switch (columns) {
    case 1: launch<1>(from, to, uint32_t(rows)); break;
    case 2: launch<2>(from, to, uint32_t(rows)); break;
    case 3: launch<3>(from, to, uint32_t(rows)); break;
    case 4: launch<4>(from, to, uint32_t(rows)); break;
    case 8: launch<8>(from, to, uint32_t(rows)); break;
    case 16: launch<16>(from, to, uint32_t(rows)); break;
    case 32: launch<32>(from, to, uint32_t(rows)); break;
    default:
        snprintf(why, FPO_PLUGIN_TEXT, "the packing kernel is compiled for K of 128 times 1 to 4, 8, 16 and 32, not %lld",
                 static_cast<long long>(columns));
        return FPO_PLUGIN_UNSUPPORTED;
    }
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "packing %lld x %lld scales: %s", static_cast<long long>(rows),
             static_cast<long long>(columns), cudaGetErrorString(error));
    return FPO_PLUGIN_FAILED;
}

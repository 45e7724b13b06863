/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* f32 scales to powers of two, as loaders did it that left the codes as they were: the exponent alone, or the next power
 * of two. Finite positive scales, not rounded beyond 2^127. And the scales of 128x128 blocks, repeated for each row. */
#include "pack.h"

#include <cuda_runtime.h>
#include <stdio.h>

namespace {

/* Word w of a row: its scales 4w to 4w + 3, a byte each; zero beyond the last. */
template <bool up> __global__ void convert(const uint32_t *scales, uint32_t *words, int64_t rows, int64_t columns)
{
    const int64_t row = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, padded = (rows + 3) / 4 * 4;
    if (row >= rows)
        return;
    for (int64_t w = 0; w < (columns + 3) / 4; w++) {
        uint32_t word = 0;
        for (int64_t i = 0; i < 4 && 4 * w + i < columns; i++) {
            const uint32_t bits = scales[row * columns + 4 * w + i];
            word |= ((bits >> 23) + (up && (bits & 0x7FFFFF) != 0)) << (8 * i);
        }
        words[w * padded + row] = word;
    }
}

__global__ void repeat(const float *blocks, float *scales, int64_t rows, int64_t columns, int64_t row_pitch,
                       int64_t column_pitch)
{
    const int64_t row = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (int64_t column = 0; row < rows && column < columns; column++)
        scales[row * row_pitch + column * column_pitch] = blocks[row / 128 * columns + column];
}

fpo_plugin_status status(int64_t rows, int64_t columns, char *why)
{
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "converting %lld x %lld scales: %s", static_cast<long long>(rows),
             static_cast<long long>(columns), cudaGetErrorString(error));
    return FPO_PLUGIN_FAILED;
}

template <bool up> void launch(const void *scales, void *words, int64_t rows, int64_t columns)
{
    constexpr int threads = 128;
    convert<up><<<unsigned((rows + threads - 1) / threads), threads>>>(static_cast<const uint32_t *>(scales),
                                                                       static_cast<uint32_t *>(words), rows, columns);
}

} // namespace

fpo_plugin_status deepgemm_exponents(const void *scales, void *words, int64_t rows, int64_t columns, char *why)
{
    launch<false>(scales, words, rows, columns);
    return status(rows, columns, why);
}

fpo_plugin_status deepgemm_rounded_up(const void *scales, void *words, int64_t rows, int64_t columns, char *why)
{
    launch<true>(scales, words, rows, columns);
    return status(rows, columns, why);
}

fpo_plugin_status deepgemm_repeat_rows(const void *blocks, void *scales, int64_t rows, int64_t columns, bool mn_major,
                                       char *why)
{
    constexpr int threads = 128;
    repeat<<<unsigned((rows + threads - 1) / threads), threads>>>(
        static_cast<const float *>(blocks), static_cast<float *>(scales), rows, columns, mn_major ? 1 : columns,
        mn_major ? (rows + 3) / 4 * 4 : 1);
    return status(rows, columns, why);
}

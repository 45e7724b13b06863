// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The fp4oracle authors

// FlashInfer's grouped FP8 GEMM for SM100, which is its experts': the rows of A are cut into four groups, of which one
// is empty, and each group has a B of its own, here a copy of the same.
#include "launch.h"

#include <cuda_bf16.h>

#include "flashinfer/gemm/group_gemm_fp8_groupwise_sm100.cuh"

using e4m3 = cutlass::float_e4m3_t;

static const int groups = 4;
static const uint64_t indices = 256;       // the rows at which groups begin
static const uint64_t tables = 1 << 16;    // FlashInfer's tables of pointers and strides
static const uint64_t scratch = 1 << 20;   // CUTLASS's tensor maps

static uint64_t b_bytes(const fpo_kernel_problem *p)
{
    return uint64_t(p->n) * uint64_t(p->k);
}

// Groups begin at multiples of four rows: the scales of a K block stand row after row and are read 16 bytes at a time.
static void first_rows(int (&rows)[groups + 1], int m)
{
    rows[0] = 0;
    rows[1] = rows[2] = m / 8 / 4 * 4;
    rows[3] = (m / 2 + 3) / 4 * 4;
    rows[4] = m;
}

static cudaError_t copies(char *to, const void *from, uint64_t bytes)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < groups && error == cudaSuccess; i++)
        error = cudaMemcpy(to + i * bytes, from, bytes, cudaMemcpyDeviceToDevice);
    return error;
}

static cudaError_t launch(const fpo_kernel_problem *p)
{
    char *memory = static_cast<char *>(p->workspace), *int_buffer = memory + indices, *float_buffer = int_buffer + tables;
    char *b = float_buffer + scratch, *b_scale = b + groups * b_bytes(p);
    int rows[groups + 1];
    first_rows(rows, int(p->m));
    cudaError_t error = cudaMemcpy(memory, rows, sizeof rows, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = copies(b, p->b, b_bytes(p));
    if (error == cudaSuccess)
        error = copies(b_scale, p->b_scale, uint64_t(p->b_scale_bytes));
    if (error != cudaSuccess)
        return error;
    return flashinfer::group_gemm::CutlassFP8GroupwiseScaledGroupGEMMSM100<1, 128, 128, false, 1>(
        int_buffer, tables, float_buffer, scratch, static_cast<e4m3 *>(const_cast<void *>(p->a)),
        reinterpret_cast<e4m3 *>(b), static_cast<float *>(const_cast<void *>(p->a_scale)),
        reinterpret_cast<float *>(b_scale), static_cast<float *>(p->d), reinterpret_cast<int *>(memory), int(p->m),
        int(p->n), int(p->k), groups, nullptr);
}

int flashinfer_grouped_f32(const fpo_kernel_problem *p, uint64_t *bytes, char *why)
{
    if (bytes != nullptr) {
        *bytes = indices + tables + scratch + groups * (b_bytes(p) + uint64_t(p->b_scale_bytes));
        return 0;
    }
    try {
        cudaError_t error = launch(p);
        snprintf(why, FPO_PLUGIN_TEXT, "CutlassFP8GroupwiseScaledGroupGEMMSM100: %s", cudaGetErrorString(error));
        return error;
    } catch (const std::exception &error) {
        snprintf(why, FPO_PLUGIN_TEXT, "%s", error.what());
        return 1;
    }
}

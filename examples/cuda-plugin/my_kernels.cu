/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A CUDA kernel as a plug-in: NVFP4 x NVFP4 to f32, one thread an output. Put your own in its place. */
#include <fp4oracle/kernel_cuda.h>
#include <fp4oracle/kernel_plugin.h>

struct operand {
    const uint8_t *codes, *scales; /* two codes a byte; scales in the 128x4 layout, which the runner made */
    int64_t line, scale_columns;
};

__device__ float e2m1(uint32_t code)
{
    const uint32_t magnitude = code & 7, bits = magnitude < 2 ? magnitude * 0x3F000000u : (magnitude + 252) << 22;
    return __uint_as_float(bits | (code & 8) << 28);
}

__device__ float ue4m3(uint32_t code)
{
    const uint32_t exponent = code >> 3 & 15, mantissa = code & 7;
    if (exponent == 15 && mantissa == 7)
        return __uint_as_float(0x7FFFFFFF);
    return exponent == 0 ? mantissa * 0.001953125f : __uint_as_float((exponent + 120) << 23 | mantissa << 20);
}

__device__ float element(operand x, int row, int k)
{
    const int column = k / 16, tile = row / 128 * int((x.scale_columns + 3) / 4) + column / 4;
    const uint32_t code = x.codes[row * x.line + k / 2] >> (k % 2 != 0 ? 4 : 0) & 15;
    return e2m1(code) * ue4m3(x.scales[tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4]);
}

__global__ void gemm(operand a, operand b, float *d, int64_t d_line, int m, int n, int k, float alpha)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum = fmaf(element(a, row, i), element(b, column, i), sum);
    d[row * d_line + column] = alpha * sum;
}

static fpo_plugin_status run(const fpo_kernel *, const fpo_kernel_problem *p, char *why)
{
    const int64_t scale_columns = (p->k + 15) / 16;
    const operand a = {static_cast<const uint8_t *>(p->a), static_cast<const uint8_t *>(p->a_scale), p->a_line,
                       scale_columns};
    const operand b = {static_cast<const uint8_t *>(p->b), static_cast<const uint8_t *>(p->b_scale), p->b_line,
                       scale_columns};
    const dim3 block(32, 4), grid(unsigned(p->n + 31) / 32, unsigned(p->m + 3) / 4);
    gemm<<<grid, block>>>(a, b, static_cast<float *>(p->d), p->d_line / 4, int(p->m), int(p->n), int(p->k), *p->alpha);
    return fpo_cuda_answer(cudaGetLastError(), "launching gemm", why);
}

extern "C" const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_kernel_order order;
    static fpo_kernel kernel;
    static fpo_plugin plugin;
    order.size = sizeof order;
    order.models = "fma_f32"; /* how it adds up; NULL if nobody knows */
    kernel.name = "mine/nvfp4";
    kernel.summary = "one thread an output";
    kernel.a.element = "e2m1";
    kernel.a.scale = "ue4m3";
    kernel.a.scale_rows = 1;
    kernel.a.scale_k = 16;
    kernel.a.scale_layout = "128x4";
    kernel.b = kernel.a;
    kernel.d = "f32";
    kernel.any_line = 1;            /* it uses a_line, b_line and d_line, whatever they are */
    kernel.alpha = FPO_SCALAR_HOST; /* with the tensor scales in it, which is the default */
    kernel.arithmetic = FPO_ARITHMETIC_PLAIN;
    kernel.order = &order;
    plugin.size = sizeof plugin;
    plugin.abi = FPO_PLUGIN_ABI;
    plugin.name = "my_kernels";
    plugin.version = "1.0";
    plugin.kernels = &kernel;
    plugin.kernel_count = 1;
    plugin.kernel_size = sizeof kernel;
    plugin.memory = fpo_cuda_memory_functions("");
    plugin.run = run;
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : nullptr;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* CUDA kernels that misbehave, each in one way: NVFP4 x NVFP4 to f32, scales linear, one thread an output. */
#include <fp4oracle/kernel_cuda.h>
#include <fp4oracle/kernel_plugin.h>

enum misdeed {
#define MISDEED(ID, name, summary) ID,
#include "gpu_misdeeds.inc"
#undef MISDEED
    MISDEEDS
};

struct problem {
    const uint8_t *a, *b, *a_scale, *b_scale;
    float *d;
    int64_t a_line, b_line, d_line; /* bytes, bytes, elements */
    int m, n, k;
    float alpha;
};

enum { TILE = 16 }; /* outputs of a block in both directions, and elements of K that it shares at a time */

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

__device__ float element(const uint8_t *codes, const uint8_t *scales, int64_t line, int columns, int row, int k,
                         int block, int flip)
{
    const uint32_t code = codes[row * line + k / 2] >> (k % 2 != flip ? 4 : 0) & 15;
    return e2m1(code) * ue4m3(scales[row * columns + k / block]);
}

__device__ float a_element(const problem &p, int row, int k)
{
    return element(p.a, p.a_scale, p.a_line, (p.k + 15) / 16, row, k, 16, 0);
}

__device__ float b_element(const problem &p, int row, int k, misdeed what)
{
    const int block = what == WRONG_SCALE ? 32 : 16;
    return element(p.b, p.b_scale, p.b_line, (p.k + block - 1) / block, row, k, block, what == SWAPS_NIBBLES);
}

__device__ float dot(const problem &p, int row, int column, int begin, int end, misdeed what)
{
    float sum = 0;
    for (int k = begin; k < end; k++)
        sum = fmaf(a_element(p, row, k), b_element(p, column, k, what), sum);
    return sum;
}

/* Tiles of A and B by way of shared memory, as most kernels do it. */
__device__ float shared_dot(const problem &p, int row, int column, misdeed what)
{
    __shared__ volatile float a[TILE][TILE], b[TILE][TILE + 1];
    const int x = threadIdx.x, y = threadIdx.y, b_row = blockIdx.x * TILE + y;
    float sum = 0;
    for (int begin = 0; begin < p.k; begin += TILE) {
        const int k = begin + x;
        a[y][x] = row < p.m && k < p.k ? a_element(p, row, k) : 0;
        b[y][x] = b_row < p.n && k < p.k ? b_element(p, b_row, k, what) : 0;
        if (what != SKIPS_BARRIER)
            __syncthreads();
        for (int i = 0; i < TILE && begin + i < p.k; i++)
            sum = fmaf(a[y][i], b[x][i], sum);
        if (what != SKIPS_BARRIER)
            __syncthreads();
    }
    (void)column;
    return sum;
}

/* Kernels by the parameter, not by a run-time value: each has the one mistake alone. */
template <misdeed what> __global__ void gemm(problem p, volatile int *flag)
{
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    const bool last_tile = blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1;
    const float sum = shared_dot(p, row, column, what);
    if (what == MISSES_TILE && last_tile)
        return;
    if (row >= p.m || (what != WRITES_OUTSIDE && column >= p.n))
        return;
    if (what == TRAPS && row == 1 && column == 1)
        __trap();
    if (what == HANGS)
        while (*flag == 0)
            ;
    float *d = &p.d[row * p.d_line + column];
    if (what == FAULTS && row == 1 && column == 1)
        d = reinterpret_cast<float *>(uintptr_t(1) << 60);
    if (what == MISALIGNS && row == 1 && column == 1)
        d = reinterpret_cast<float *>(reinterpret_cast<uintptr_t>(d) + 1);
    *d = p.alpha * sum;
}

__global__ void clear(problem p)
{
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    if (row < p.m && column < p.n)
        p.d[row * p.d_line + column] = 0;
}

/* K in parts, each added to D, which starts at 0. */
template <misdeed what> __global__ void add_part(problem p, int parts)
{
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    if (row >= p.m || column >= p.n)
        return;
    const int length = (p.k + parts - 1) / parts, begin = blockIdx.z * length;
    const float part = p.alpha * dot(p, row, column, begin, min(begin + length, p.k), what);
    float *d = &p.d[row * p.d_line + column];
    if (what == ADDS_IN_ANY_ORDER)
        atomicAdd(d, part);
    else
        *d = *d + part;
}

template <misdeed what> static cudaError_t launch(const problem &p)
{
    static int *flag;
    const dim3 grid(unsigned(p.n + TILE - 1) / TILE, unsigned(p.m + TILE - 1) / TILE);
    if (what == RACES || what == ADDS_IN_ANY_ORDER) {
        const unsigned parts = what == RACES ? 2 : 32;
        clear<<<grid, dim3(TILE, TILE)>>>(p);
        add_part<what><<<dim3(grid.x, grid.y, parts), dim3(TILE, TILE)>>>(p, int(parts));
        return cudaGetLastError();
    }
    if (what == HANGS && flag == nullptr) {
        cudaError_t error = cudaMalloc(&flag, sizeof *flag);
        if (error == cudaSuccess)
            error = cudaMemset(flag, 0, sizeof *flag);
        if (error != cudaSuccess)
            return error;
    }
    gemm<what><<<grid, dim3(TILE, what == CANNOT_START ? 128 : TILE)>>>(p, flag);
    return cudaGetLastError();
}

static cudaError_t (*const launchers[MISDEEDS])(const problem &) = {
#define MISDEED(ID, name, summary) launch<ID>,
#include "gpu_misdeeds.inc"
#undef MISDEED
};

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    const problem x = {static_cast<const uint8_t *>(p->a),
                       static_cast<const uint8_t *>(p->b),
                       static_cast<const uint8_t *>(p->a_scale),
                       static_cast<const uint8_t *>(p->b_scale),
                       static_cast<float *>(p->d),
                       p->a_line,
                       p->b_line,
                       p->d_line / 4,
                       int(p->m),
                       int(p->n),
                       int(p->k),
                       *p->alpha};
    return fpo_cuda_answer(launchers[reinterpret_cast<uintptr_t>(kernel->user)](x), "the launch", why);
}

static void describe(fpo_kernel *kernel, uintptr_t what, const char *name, const char *summary)
{
    static const fpo_kernel_order order = {
        sizeof order, 0, "fma_f32", nullptr, nullptr, nullptr, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    kernel->name = name;
    kernel->summary = summary;
    kernel->fault = what == BEHAVES ? nullptr : summary;
    kernel->user = reinterpret_cast<const void *>(what);
    kernel->a.element = "e2m1";
    kernel->a.scale = "ue4m3";
    kernel->a.scale_rows = 1;
    kernel->a.scale_k = 16;
    kernel->b = kernel->a;
    kernel->d = "f32";
    kernel->any_line = 1;
    kernel->alpha = FPO_SCALAR_HOST;
    kernel->arithmetic = FPO_ARITHMETIC_PLAIN;
    kernel->order = &order;
}

extern "C" const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_kernel kernels[MISDEEDS];
    static fpo_plugin plugin;
#define MISDEED(ID, name, summary) describe(&kernels[ID], ID, "gpu/" name, summary);
#include "gpu_misdeeds.inc"
#undef MISDEED
    plugin.size = sizeof plugin;
    plugin.abi = FPO_PLUGIN_ABI;
    plugin.name = "misbehave_gpu";
    plugin.version = "1";
    plugin.kernels = kernels;
    plugin.kernel_count = MISDEEDS;
    plugin.kernel_size = sizeof *kernels;
    plugin.memory = fpo_cuda_memory_functions("");
    plugin.run = run;
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : nullptr;
}

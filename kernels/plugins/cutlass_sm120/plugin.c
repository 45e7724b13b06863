/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* CUTLASS's GEMMs for SM120 as a plug-in: what each kernel takes, returns and adds up to. CUTLASS itself is compiled by
 * nvcc from the package nvidia-cutlass (tools/build_kernels), with its own host code. */
#include "../common/cuda_memory.h"
#include "launch.h"

#include <cuda_runtime_api.h>
#include <stdio.h>

#define SOURCE "NVIDIA CUTLASS 4.2.0 (nvidia-cutlass 4.2.0.0)"

static const int32_t geforce[] = {120, 121, 0};

/* alpha * acc rounded, then one fma with beta and C, which is +0 where there is none. */
static const char epilogue[] = "mul alpha, fma_beta_c_always";

#define ORDER(name, model_names, k)                                                                                    \
    static const fpo_kernel_order name = {                                                                             \
        .size = sizeof name, .models = model_names, .epilogue = epilogue, .instruction_k = k}
ORDER(blockwise, "sm120_fp8_blockwise", 32);

#define FP8_BLOCK(rows)                                                                                                \
    {                                                                                                                  \
        .element = "e4m3", .scale = "f32", .scale_layout = "mn_major", .scale_rows = rows, .scale_k = 128,             \
        .line_multiple = 16                                                                                            \
    }
#define FP8_128x128 FP8_BLOCK(128)
#define FP8_1x128 FP8_BLOCK(1)

/* The kernels: X(ID of its functions, name, A, B, format of C and D, multiple of M, order, one line for people). */
#define KERNELS(X)                                                                                                     \
    X(fp8_128x128_f32, "fp8/128x128,128x128/f32", FP8_128x128, FP8_128x128, "f32", 128, blockwise,                     \
      "tile 128x128x128, cooperative: example 87a with D in f32")                                                      \
    X(fp8_1x128_f32, "fp8/1x128,128x128/f32", FP8_1x128, FP8_128x128, "f32", 0, blockwise,                             \
      "tile 128x128x128, cooperative: example 87b with D in f32")                                                      \
    X(fp8_1x128_bf16_pingpong, "fp8/1x128,128x128/bf16/pingpong", FP8_1x128, FP8_128x128, "bf16", 0, blockwise,        \
      "tile 64x128x128, pingpong: example 87b")

#define DECLARE(id, ...) extern const cutlass_kernel id;
KERNELS(DECLARE)
#undef DECLARE

static const fpo_kernel kernels[] = {
#define ENTRY(id, kernel_name, takes_a, takes_b, output, rows, adds_up, sentence)                                      \
    {.name = "cutlass/" kernel_name,                                                                                   \
     .summary = sentence,                                                                                              \
     .source = SOURCE,                                                                                                 \
     .user = &id,                                                                                                      \
     .a = takes_a,                                                                                                     \
     .b = takes_b,                                                                                                     \
     .c = output,                                                                                                      \
     .d = output,                                                                                                      \
     .c_line_multiple = 16,                                                                                            \
     .d_line_multiple = 16,                                                                                            \
     .any_line = 1,                                                                                                    \
     .alpha = FPO_SCALAR_HOST,                                                                                         \
     .beta = FPO_SCALAR_HOST,                                                                                          \
     .m_multiple = rows,                                                                                               \
     .n_multiple = 128,                                                                                                \
     .k_multiple = 128,                                                                                                \
     .native = geforce,                                                                                                \
     .order = &adds_up},
    KERNELS(ENTRY)
#undef ENTRY
};

fpo_plugin_status cutlass_failed(const char *call, const char *words, char *why)
{
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        return fpo_cuda_status(error, call, why);
    snprintf(why, FPO_PLUGIN_TEXT, "CUTLASS's %s: %s", call, words);
    return FPO_PLUGIN_FAILED;
}

static fpo_plugin_status check(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    return ((const cutlass_kernel *)kernel->user)->check(problem, why);
}

static fpo_plugin_status workspace(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint64_t *bytes,
                                   char *why)
{
    (void)why;
    *bytes = ((const cutlass_kernel *)kernel->user)->workspace(problem);
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    return ((const cutlass_kernel *)kernel->user)->run(problem, why);
}

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof plugin,
        .abi = FPO_PLUGIN_ABI,
        .name = "cutlass_sm120",
        .version = "CUTLASS 4.2.0",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof kernels[0],
        .kernel_size = sizeof kernels[0],
        .check = check,
        .workspace = workspace,
        .run = run,
    };
    if (abi_wanted != FPO_PLUGIN_ABI)
        return NULL;
    plugin.memory = fpo_cuda_memory(plugin.version);
    return &plugin;
}

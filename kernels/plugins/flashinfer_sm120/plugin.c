/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* FlashInfer's GEMMs for SM120 as a plug-in: what each takes, returns and adds up to. FlashInfer itself is compiled by
 * nvcc from the package flashinfer-python, with its own host code. */
#include "../common/cuda_memory.h"
#include "../host/flashinfer_dispatch.h"
#include "../host/stream_k.h"

static const int32_t geforce[] = {120, 121, 0};

/* C is void, or the same as no C: the product is rounded once, and +0 added where the epilogue adds a C of zeros. */
#define ORDER(name, model_names, steps, k)                                                                             \
    static const fpo_kernel_order name = {                                                                             \
        .size = sizeof name, .models = model_names, .epilogue = steps, .instruction_k = k}
ORDER(mxf4nvf4, "sm120_mxf4nvf4", "mul alpha", 64);
ORDER(mxf8f6f4, "sm120_mxf8f6f4", "mul alpha", 32);
ORDER(blockwise, "sm120_fp8_blockwise", "mul alpha, fma_beta_c_always", 32);
FPO_STREAM_K_ORDER(mxf4nvf4_stream_k, "mul alpha");

/* Zeros beyond K meet the scales that stand there: a NaN among them comes out. */
#define SCALED(format, scale_format, block)                                                                            \
    {                                                                                                                  \
        .element = format, .scale = scale_format, .scale_layout = "128x4", .scale_rows = 1, .scale_k = block,          \
        .scale_padding = FPO_PADDING_NUMBERS                                                                           \
    }
#define NVFP4 SCALED("e2m1", "ue4m3", 16)
#define MXFP8 SCALED("e4m3", "ue8m0", 32)
#define FP8(rows)                                                                                                      \
    {                                                                                                                  \
        .element = "e4m3", .scale = "f32", .scale_layout = "mn_major", .scale_rows = rows, .scale_k = 128              \
    }

/* The kernels: X(ID, name, A, B, D, multiple of N, of K, where alpha is, order, one line for people). */
#define KERNELS(X)                                                                                                     \
    X(flashinfer_fp4_f32, "fp4/f32", NVFP4, NVFP4, "f32", 4, 32, FPO_SCALAR_DEVICE, mxf4nvf4, "data-parallel")         \
    X(flashinfer_fp4_f32_stream_k, "fp4/f32/stream_k", NVFP4, NVFP4, "f32", 4, 32, FPO_SCALAR_DEVICE,                  \
      mxf4nvf4_stream_k, "Stream-K")                                                                                   \
    X(flashinfer_fp4_bf16, "fp4/bf16", NVFP4, NVFP4, "bf16", 8, 32, FPO_SCALAR_DEVICE, mxf4nvf4, "data-parallel")      \
    X(flashinfer_fp4_bf16_stream_k, "fp4/bf16/stream_k", NVFP4, NVFP4, "bf16", 8, 32, FPO_SCALAR_DEVICE,               \
      mxf4nvf4_stream_k, "Stream-K")                                                                                   \
    X(flashinfer_mxfp8_f32, "mxfp8/f32", MXFP8, MXFP8, "f32", 4, 16, FPO_SCALAR_NONE, mxf8f6f4, "persistent")          \
    X(flashinfer_mxfp8_bf16, "mxfp8/bf16", MXFP8, MXFP8, "bf16", 8, 16, FPO_SCALAR_NONE, mxf8f6f4, "persistent")       \
    X(flashinfer_groupwise_f32, "groupwise/f32", FP8(1), FP8(128), "f32", 128, 128, FPO_SCALAR_NONE, blockwise,        \
      "scales 1x128 and 128x128")                                                                                      \
    X(flashinfer_groupwise_bf16, "groupwise/bf16", FP8(1), FP8(128), "bf16", 128, 128, FPO_SCALAR_NONE, blockwise,     \
      "scales 1x128 and 128x128")

#define CALL(id, ...) static const flashinfer_kernel id##_call = {id};
KERNELS(CALL)
#undef CALL

static const fpo_kernel kernels[] = {
#define ENTRY(id, kernel_name, takes_a, takes_b, output, n_step, k_step, alpha_place, adds_up, sentence)               \
    {.name = "flashinfer/" kernel_name,                                                                                \
     .summary = "tile 128x128x128, cooperative, " sentence,                                                            \
     .source = "FlashInfer 0.7.4 (flashinfer-python 0.7.4)",                                                           \
     .user = &id##_call,                                                                                               \
     .a = takes_a,                                                                                                     \
     .b = takes_b,                                                                                                     \
     .d = output,                                                                                                      \
     .alpha = alpha_place,                                                                                             \
     .n_multiple = n_step,                                                                                             \
     .k_multiple = k_step,                                                                                             \
     .native = geforce,                                                                                                \
     .order = &adds_up},
    KERNELS(ENTRY)
#undef ENTRY
};

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof plugin,
        .abi = FPO_PLUGIN_ABI,
        .name = "flashinfer_sm120",
        .version = "FlashInfer 0.7.4",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof kernels[0],
        .kernel_size = sizeof kernels[0],
        .describe = fpo_describe_stream_k,
        .workspace = flashinfer_workspace,
        .run = flashinfer_run,
    };
    if (abi_wanted != FPO_PLUGIN_ABI)
        return NULL;
    plugin.memory = fpo_cuda_memory(plugin.version);
    return &plugin;
}

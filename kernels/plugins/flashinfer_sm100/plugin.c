/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* FlashInfer's GEMMs for SM100 as a plug-in, and one that is given its scales in the wrong layout. FlashInfer itself is
 * compiled by nvcc from the package flashinfer-python, with its own host code. */
#include "launch.h"

#include "../common/cuda_memory.h"
#include "../host/flashinfer_dispatch.h"

static const int32_t blackwell[] = {100, 0};

/* FP4 has no C: the product is rounded once. FP8 has D for its C and beta = 0. */
#define ORDER(name, model_names, steps, k)                                                                             \
    static const fpo_kernel_order name = {                                                                             \
        .size = sizeof name, .models = model_names, .epilogue = steps, .instruction_k = k}
ORDER(mxf4nvf4, "sm100_mxf4nvf4", "mul alpha", 64);
ORDER(blockwise, "sm100_fp8_blockwise", "mul alpha, fma_beta_c_always", 32);
ORDER(blockwise_no_c, "sm100_fp8_blockwise", "mul alpha", 32);

/* Zeros beyond K meet the scales that stand there: a NaN among them comes out. */
#define NVFP4(layout)                                                                                                  \
    {                                                                                                                  \
        .element = "e2m1", .scale = "ue4m3", .scale_layout = layout, .scale_rows = 1, .scale_k = 16,                   \
        .scale_padding = FPO_PADDING_NUMBERS                                                                           \
    }
#define FP8(rows, layout)                                                                                              \
    {                                                                                                                  \
        .element = "e4m3", .scale = "f32", .scale_layout = layout, .scale_rows = rows, .scale_k = 128                  \
    }
#define SWIZZLED NVFP4("128x4")
#define LINEAR NVFP4("padded")

/* The kernels: X(ID, name, A, B, D, multiple of M, of N, of K, where alpha is, order, one line for people, fault). */
#define KERNELS(X)                                                                                                     \
    X(flashinfer_fp4_f32_1sm, "fp4/f32", SWIZZLED, SWIZZLED, "f32", 0, 4, 32, FPO_SCALAR_DEVICE, mxf4nvf4,             \
      "tile 128x128x256, one SM", NULL)                                                                                \
    X(flashinfer_fp4_bf16_2sm, "fp4/bf16/2sm", SWIZZLED, SWIZZLED, "bf16", 0, 8, 32, FPO_SCALAR_DEVICE, mxf4nvf4,      \
      "tile 256x128x256, two SMs, cluster 2x1", NULL)                                                                  \
    X(flashinfer_groupwise_f32_1sm, "groupwise/f32", FP8(1, "mn_major"), FP8(128, "mn_major"), "f32", 4, 4, 16,        \
      FPO_SCALAR_NONE, blockwise, "tile 128x128x128, one SM, scales 1x128 and 128x128", NULL)                          \
    X(flashinfer_groupwise_bf16_2sm, "groupwise/bf16/2sm/k_major", FP8(1, NULL), FP8(128, NULL), "bf16", 0, 8, 16,     \
      FPO_SCALAR_NONE, blockwise, "tile 256x128x128, two SMs, scales 1x128 and 128x128, K-major", NULL)                \
    X(flashinfer_groupwise_bf16_small, "groupwise/bf16/small_m", FP8(1, "mn_major"), FP8(128, "mn_major"), "bf16", 4,  \
      8, 16, FPO_SCALAR_NONE, blockwise_no_c, "the transpose, tile 128x16x128, for few rows", NULL)                    \
    X(flashinfer_grouped_f32, "grouped/f32", FP8(1, "mn_major"), FP8(128, "mn_major"), "f32", 4, 128, 128,             \
      FPO_SCALAR_NONE, blockwise_no_c, "tile 128x128x128, one SM; four groups of rows, one of them empty", NULL)       \
    X(flashinfer_fp4_f32_1sm, "fp4/f32+linear_b_scales", SWIZZLED, LINEAR, "f32", 0, 4, 32, FPO_SCALAR_DEVICE,         \
      mxf4nvf4, "the block scales of B are given as they are, row after row",                                          \
      "has B's block scales row after row, as a checkpoint has them, where they are read in the 128x4 layout")

static const fpo_kernel kernels[] = {
#define ENTRY(id, kernel_name, takes_a, takes_b, output, m_step, n_step, k_step, alpha_place, adds_up, sentence,       \
              broken)                                                                                                  \
    {.name = "flashinfer_sm100/" kernel_name,                                                                          \
     .summary = sentence,                                                                                              \
     .source = "FlashInfer 0.7.4 (flashinfer-python 0.7.4)",                                                           \
     .fault = broken,                                                                                                  \
     .user = &(const flashinfer_kernel){id},                                                                           \
     .a = takes_a,                                                                                                     \
     .b = takes_b,                                                                                                     \
     .d = output,                                                                                                      \
     .alpha = alpha_place,                                                                                             \
     .m_multiple = m_step,                                                                                             \
     .n_multiple = n_step,                                                                                             \
     .k_multiple = k_step,                                                                                             \
     .native = blackwell,                                                                                              \
     .order = &adds_up},
    KERNELS(ENTRY)
#undef ENTRY
};

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof plugin,
        .abi = FPO_PLUGIN_ABI,
        .name = "flashinfer_sm100",
        .version = "FlashInfer 0.7.4",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof kernels[0],
        .kernel_size = sizeof kernels[0],
        .workspace = flashinfer_workspace,
        .run = flashinfer_run,
    };
    if (abi_wanted != FPO_PLUGIN_ABI)
        return NULL;
    plugin.memory = fpo_cuda_memory(plugin.version);
    return &plugin;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* CUTLASS's GEMMs for SM120 as a plug-in: what each kernel takes, returns and adds up to. CUTLASS itself is compiled by
 * nvcc from the package nvidia-cutlass (tools/compile_cuda), with its own host code. */
#include "../common/cuda_memory.h"
#include "../host/cutlass_dispatch.h"
#include "../host/stream_k.h"

#define SOURCE "NVIDIA CUTLASS 4.2.0 (nvidia-cutlass 4.2.0.0)"

static const int32_t geforce[] = {120, 121, 0};

/* alpha * acc rounded, then one fma with beta and C, which is +0 where there is
 * none. */
static const char epilogue[] = "mul alpha, fma_beta_c_always";

#define ORDER(name, model_names, k)                                                                                    \
    static const fpo_kernel_order name = {                                                                             \
        .size = sizeof name, .models = model_names, .epilogue = epilogue, .instruction_k = k}
ORDER(mxf4nvf4, "sm120_mxf4nvf4", 64);
ORDER(mxf4, "sm120_mxf4", 64);
ORDER(mxf8f6f4, "sm120_mxf8f6f4", 32);
ORDER(blockwise, "sm120_fp8_blockwise", 32);
FPO_STREAM_K_ORDER(mxf4nvf4_stream_k, epilogue);

/* Zeros beyond K meet the scales that stand there: a NaN among them comes out.
 * CUTLASS's callers put zeros there. */
#define SCALED(format, scale_format, block, bytes, how)                                                                \
    {                                                                                                                  \
        .element = format, .packing = how, .scale = scale_format, .scale_layout = "128x4", .scale_rows = 1,            \
        .scale_k = block, .line_multiple = bytes, .scale_padding = FPO_PADDING_NUMBERS                                 \
    }
#define NVFP4 SCALED("e2m1", "ue4m3", 16, 16, NULL)
#define MXFP4 SCALED("e2m1", "ue8m0", 32, 16, NULL)
#define MXFP4_PADDED SCALED("e2m1", "ue8m0", 32, 64, NULL)
#define MXFP8 SCALED("e4m3", "ue8m0", 32, 16, NULL)
#define MXFP8_E5M2 SCALED("e5m2", "ue8m0", 32, 16, NULL)
#define MXFP6_E3M2 SCALED("e3m2", "ue8m0", 32, 96, "fp6_dense")
#define MXFP6_E2M3 SCALED("e2m3", "ue8m0", 32, 96, "fp6_dense")
#define FP8_BLOCK(rows)                                                                                                \
    {                                                                                                                  \
        .element = "e4m3", .scale = "f32", .scale_layout = "mn_major", .scale_rows = rows, .scale_k = 128,             \
        .line_multiple = 16                                                                                            \
    }
#define FP8_128x128 FP8_BLOCK(128)
#define FP8_1x128 FP8_BLOCK(1)

/* The kernels: X(ID of its functions, name, A, B, format of C and D, multiples
 * of M, N and K, order, one line for people). */
#define KERNELS(X)                                                                                                     \
    X(nvfp4_f32, "nvfp4/f32", NVFP4, NVFP4, "f32", 0, 0, 0, mxf4nvf4, "tile 128x128x128, cooperative")                 \
    X(nvfp4_bf16, "nvfp4/bf16", NVFP4, NVFP4, "bf16", 0, 0, 0, mxf4nvf4, "tile 128x128x128, cooperative: example 79a") \
    X(nvfp4_f32_pingpong, "nvfp4/f32/pingpong", NVFP4, NVFP4, "f32", 0, 0, 0, mxf4nvf4, "tile 128x128x128, pingpong")  \
    X(nvfp4_f32_stream_k, "nvfp4/f32/stream_k", NVFP4, NVFP4, "f32", 0, 0, 0, mxf4nvf4_stream_k,                       \
      "tile 128x128x128, cooperative, Stream-K scheduler")                                                             \
    X(nvfp4_f32_grouped, "nvfp4/f32/grouped", NVFP4, NVFP4, "f32", 0, 0, 0, mxf4nvf4,                                  \
      "tile 128x128x128, cooperative; four groups, M and N cut behind their middles at a multiple of 128")             \
    X(nvfp4_bf16_grouped_pingpong, "nvfp4/bf16/grouped/pingpong", NVFP4, NVFP4, "bf16", 0, 0, 0, mxf4nvf4,             \
      "tile 128x128x128, pingpong: example 79d; the same four groups")                                                 \
    X(nvfp4_f32_256, "nvfp4/f32/256x128x128", NVFP4, NVFP4, "f32", 0, 0, 0, mxf4nvf4, "tile 256x128x128, cooperative") \
    X(nvfp4_f32_k256, "nvfp4/f32/128x128x256", NVFP4, NVFP4, "f32", 0, 0, 0, mxf4nvf4,                                 \
      "tile 128x128x256, cooperative")                                                                                 \
    X(mxfp4_f32, "mxfp4/f32", MXFP4, MXFP4, "f32", 0, 0, 0, mxf4, "tile 128x128x128, cooperative")                     \
    X(mxfp8_f32, "mxfp8/f32", MXFP8, MXFP8, "f32", 0, 0, 0, mxf8f6f4, "tile 128x128x128, cooperative")                 \
    X(mxfp8_bf16, "mxfp8/bf16", MXFP8, MXFP8, "bf16", 0, 0, 0, mxf8f6f4, "tile 128x128x128, cooperative")              \
    X(mxfp8_mxfp6_f32, "mxfp8,mxfp6_e3m2/f32", MXFP8, MXFP6_E3M2, "f32", 0, 0, 0, mxf8f6f4,                            \
      "tile 128x128x128, cooperative")                                                                                 \
    X(mxfp8_mxfp6_bf16, "mxfp8,mxfp6_e3m2/bf16", MXFP8, MXFP6_E3M2, "bf16", 0, 0, 0, mxf8f6f4,                         \
      "tile 128x128x128, cooperative: example 79c")                                                                    \
    X(mxfp8_mxfp4_f32, "mxfp8,mxfp4/f32", MXFP8, MXFP4_PADDED, "f32", 0, 0, 0, mxf8f6f4,                               \
      "tile 128x128x128, cooperative")                                                                                 \
    X(fp8_128x128_f32, "fp8/128x128,128x128/f32", FP8_128x128, FP8_128x128, "f32", 128, 128, 128, blockwise,           \
      "tile 128x128x128, cooperative: example 87a with D in f32")                                                      \
    X(fp8_1x128_f32, "fp8/1x128,128x128/f32", FP8_1x128, FP8_128x128, "f32", 0, 128, 128, blockwise,                   \
      "tile 128x128x128, cooperative: example 87b with D in f32")                                                      \
    X(fp8_1x128_bf16_pingpong, "fp8/1x128,128x128/bf16/pingpong", FP8_1x128, FP8_128x128, "bf16", 0, 128, 128,         \
      blockwise, "tile 64x128x128, pingpong: example 87b")

#define DECLARE(id, ...) extern const cutlass_kernel id;
KERNELS(DECLARE)
extern const cutlass_kernel nvfp4_nvfp4;
#undef DECLARE

static const fpo_kernel kernels[] = {
#define ENTRY(id, kernel_name, takes_a, takes_b, output, rows, columns, depth, adds_up, sentence)                      \
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
     .n_multiple = columns,                                                                                            \
     .k_multiple = depth,                                                                                              \
     .native = geforce,                                                                                                \
     .order = &adds_up},
    KERNELS(ENTRY)
#undef ENTRY
        {.name = "cutlass/nvfp4/nvfp4/pingpong",
         .summary = "tile 128x128x128, pingpong, D quantised to NVFP4: example 79b",
         .source = SOURCE,
         .user = &nvfp4_nvfp4,
         .a = NVFP4,
         .b = NVFP4,
         .c = "bf16",
         .d = "e2m1",
         .d_scale = "ue4m3",
         .d_scale_layout = "128x4",
         .c_line_multiple = 16,
         .d_line_multiple = 16,
         .any_line = 1,
         .alpha = FPO_SCALAR_HOST,
         .beta = FPO_SCALAR_HOST,
         .native = geforce,
         .order = &mxf4nvf4},
};

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
        .check = cutlass_check,
        .describe = fpo_describe_stream_k,
        .workspace = cutlass_workspace,
        .run = cutlass_run,
    };
    if (abi_wanted != FPO_PLUGIN_ABI)
        return NULL;
    plugin.memory = fpo_cuda_memory(plugin.version);
    return &plugin;
}

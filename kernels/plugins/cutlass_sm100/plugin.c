/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* CUTLASS's GEMMs for SM100 as a plug-in: block-scaled, in groups, FP8 with scales per block of K; and two
 * that are given their scales in the wrong layout. */
#include "../common/cuda_memory.h"
#include "../host/cutlass_dispatch.h"

#define SOURCE "NVIDIA CUTLASS 4.2.0 (nvidia-cutlass 4.2.0.0)"

static const int32_t blackwell[] = {100, 0};

/* alpha * acc rounded, then one fma with beta and C, which is +0 where there is none. */
static const char epilogue[] = "mul alpha, fma_beta_c_always";

#define ORDER(name, model_names, k)                                                                                    \
    static const fpo_kernel_order name = {                                                                             \
        .size = sizeof name, .models = model_names, .epilogue = epilogue, .instruction_k = k}
ORDER(mxf4nvf4, "sm100_mxf4nvf4", 64);
ORDER(mxf4, "sm100_mxf4", 64);
ORDER(mxf8f6f4, "sm100_mxf8f6f4", 32);
ORDER(blockwise, "sm100_fp8_blockwise", 32);

/* Zeros beyond K meet the scales that stand there: a NaN among them comes out. CUTLASS's callers put zeros there. */
#define SCALED(format, scale_format, block, layout)                                                                    \
    {                                                                                                                  \
        .element = format, .scale = scale_format, .scale_layout = layout, .scale_rows = 1, .scale_k = block,           \
        .line_multiple = 16, .scale_padding = FPO_PADDING_NUMBERS                                                      \
    }
#define FORMAT_nvfp4 SCALED("e2m1", "ue4m3", 16, "128x4")
#define LINEAR_SCALES SCALED("e2m1", "ue4m3", 16, "padded")
#define FORMAT_mxfp4 SCALED("e2m1", "ue8m0", 32, "128x4")
#define FORMAT_mxfp8 SCALED("e4m3", "ue8m0", 32, "128x4")

/* Scales of rows are read 16 bytes at a time, which are four rows. */
#define FP8(rows)                                                                                                      \
    {                                                                                                                  \
        .element = "e4m3", .scale = "f32", .scale_layout = "mn_major", .scale_rows = rows, .scale_k = 128,             \
        .line_multiple = 16                                                                                            \
    }

#define CUTLASS_KERNEL(id, ...) extern const cutlass_kernel id;
#define CUTLASS_GROUPED CUTLASS_KERNEL
#define CUTLASS_BLOCKWISE CUTLASS_KERNEL
#include "fp8.inc"
#include "grouped.inc"
#include "mx.inc"
#include "nvfp4.inc"
#undef CUTLASS_KERNEL
#undef CUTLASS_GROUPED
#undef CUTLASS_BLOCKWISE

#define KERNEL(id, kernel_name, takes_a, takes_b, output, rows, adds_up, sentence, broken)                             \
    {                                                                                                                  \
        .name = "cutlass_sm100/" kernel_name, .summary = sentence, .source = SOURCE, .fault = broken, .user = &id,     \
        .a = takes_a, .b = takes_b, .c = output, .d = output, .c_line_multiple = 16, .d_line_multiple = 16,            \
        .any_line = 1, .alpha = FPO_SCALAR_HOST, .beta = FPO_SCALAR_HOST, .m_multiple = rows, .native = blackwell,     \
        .order = &adds_up                                                                                              \
    }

static const fpo_kernel kernels[] = {
#define CUTLASS_KERNEL(id, name, format, type, output, m, n, k, cm, cn, schedule, order, sentence)                     \
    KERNEL(id, name, FORMAT_##format, FORMAT_##format, output, 0, order, sentence, NULL),
#define CUTLASS_GROUPED(id, name, type, output, m, n, k, sms, sentence)                                                \
    KERNEL(id, name, FORMAT_nvfp4, FORMAT_nvfp4, output, 0, mxf4nvf4, sentence, NULL),
#define CUTLASS_BLOCKWISE(id, name, rows, type, output, m, cm, schedule, sentence)                                     \
    KERNEL(id, name, FP8(rows), FP8(128), output, rows == 1 ? 4 : 0, blockwise, sentence, NULL),
#include "fp8.inc"
#include "grouped.inc"
#include "mx.inc"
#include "nvfp4.inc"
#undef CUTLASS_KERNEL
#undef CUTLASS_GROUPED
#undef CUTLASS_BLOCKWISE
    KERNEL(nvfp4_f32, "nvfp4/f32+linear_scales", LINEAR_SCALES, LINEAR_SCALES, "f32", 0, mxf4nvf4,
           "the block scales are given as they are, row after row",
           "has the block scales row after row where they are read in the 128x4 layout"),
    KERNEL(nvfp4_f32, "nvfp4/f32+linear_b_scales", FORMAT_nvfp4, LINEAR_SCALES, "f32", 0, mxf4nvf4,
           "the block scales of B are given as they are, row after row",
           "has B's block scales row after row, as a checkpoint has them, where they are read in the 128x4 layout"),
};

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof plugin,
        .abi = FPO_PLUGIN_ABI,
        .name = "cutlass_sm100",
        .version = "CUTLASS 4.2.0",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof kernels[0],
        .kernel_size = sizeof kernels[0],
        .check = cutlass_check,
        .workspace = cutlass_workspace,
        .run = cutlass_run,
    };
    plugin.memory = fpo_cuda_memory(plugin.version);
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* DeepGEMM's FP8 GEMM for compute capability 9.0 as a plug-in: a variant for each tile size. */
#include "../common/cuda_memory.h"
#include "launch.h"

#include <stdio.h>

static const int32_t hopper[] = {90, 0};

static const fpo_kernel_order order = {.size = sizeof order,
                                       .models = "sm90_fp8_blockwise",
                                       .tile_m = 128,
                                       .tile_n = 128,
                                       .tile_k = 128,
                                       .instruction_k = 32};

static const fpo_kernel kernels[] = {{
    .name = "deepgemm/sm90_fp8_gemm_1d2d/bf16",
    .summary = "normal GEMM, no cluster, 4 stages",
    .source = "DeepGEMM, device headers of PyPI sgl-deep-gemm 0.2.5",
    .a = {.element = "e4m3",
          .line_multiple = 16,
          .scale = "f32",
          .scale_layout = "mn_major_4",
          .scale_rows = 1,
          .scale_k = 128},
    .b = {.element = "e4m3", .line_multiple = 16, .scale = "f32", .scale_rows = 128, .scale_k = 128},
    .d = "bf16",
    .d_line_multiple = 16,
    .any_line = 1,
    .n_multiple = 8,
    .k_multiple = 16,
    .arithmetic = FPO_ARITHMETIC_DEVICE,
    .native = hopper,
    .order = &order,
}};

static fpo_plugin_status variants(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint32_t *count,
                                  char *why)
{
    (void)kernel;
    (void)problem;
    (void)why;
    *count = DEEPGEMM_TILES;
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status describe(const fpo_kernel *kernel, const fpo_kernel_problem *problem,
                                  fpo_kernel_variant *variant, char *why)
{
    (void)kernel;
    (void)why;
    const deepgemm_tile *tile = &deepgemm_tiles[problem->variant];
    snprintf(variant->name, sizeof variant->name, "tile %dx%d", (int)tile->m, (int)tile->n);
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    (void)kernel;
    return deepgemm_tiles[problem->variant].run(problem, why);
}

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof(fpo_plugin),
        .abi = FPO_PLUGIN_ABI,
        .name = "deepgemm",
        .version = "sgl-deep-gemm 0.2.5",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof *kernels,
        .kernel_size = sizeof(fpo_kernel),
        .variants = variants,
        .describe = describe,
        .run = run,
    };
    plugin.memory = fpo_cuda_memory(plugin.version);
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : NULL;
}

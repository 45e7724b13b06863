/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* CUTLASS's Stream-K for NVFP4 on SM120, as CUTLASS and FlashInfer instantiate it: tiles of 128x128x128. */
#ifndef FP4ORACLE_PLUGINS_STREAM_K_H
#define FP4ORACLE_PLUGINS_STREAM_K_H

#include <fp4oracle/kernel_plugin.h>

/* The split depends on the number of multiprocessors, which fpo_describe_stream_k fills in. */
#define FPO_STREAM_K_ORDER(name, steps)                                                                                \
    static const fpo_kernel_order name = {                                                                             \
        .size = sizeof name,                                                                                           \
        .models = "sm120_mxf4nvf4_stream_k_170",                                                                       \
        .epilogue = steps,                                                                                             \
        .split = "stream_k",                                                                                           \
        .reduction = "last_adds",                                                                                      \
        .tile_m = 128,                                                                                                 \
        .tile_n = 128,                                                                                                 \
        .tile_k = 128,                                                                                                 \
        .instruction_k = 64,                                                                                           \
        .min_k_tiles = 8,                                                                                              \
        .max_groups = 8,                                                                                               \
    }

/* `describe` of a plug-in: the kernel's order, and where that splits K, the device's multiprocessors. */
fpo_plugin_status fpo_describe_stream_k(const fpo_kernel *kernel, const fpo_kernel_problem *problem,
                                        fpo_kernel_variant *variant, char *why);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* DeepGEMM's sm90_fp8_gemm_1d2d by tile size. */
#ifndef FP4ORACLE_PLUGINS_DEEPGEMM_LAUNCH_H
#define FP4ORACLE_PLUGINS_DEEPGEMM_LAUNCH_H

#include <fp4oracle/kernel_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct deepgemm_tile {
    int32_t m, n;
    fpo_plugin_status (*run)(const fpo_kernel_problem *problem, char *why);
} deepgemm_tile;

enum { DEEPGEMM_TILES = 3 };
extern const deepgemm_tile deepgemm_tiles[DEEPGEMM_TILES];

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Where an output differs, for people and for machines. */
#ifndef FP4ORACLE_TOOLS_DIFFERENCES_H
#define FP4ORACLE_TOOLS_DIFFERENCES_H

#include <fp4oracle/compare.h>
#include <jansson.h>

enum { FPO_TILE_EDGE = 128, FPO_TILES_SHOWN = 8 };

/* Tiles of 128x128, the size that most kernels give one thread block, with a difference. */
typedef struct fpo_tiles {
    int64_t count, touched;
    size_t shown;
    struct {
        int64_t row, column, different;
    } first[FPO_TILES_SHOWN];
} fpo_tiles;

typedef struct fpo_differences {
    fpo_format format;
    int64_t m, n;
    fpo_comparison comparison;
    fpo_tiles tiles;
} fpo_differences;

/* Two M x N matrices as fpo_gemm writes them. */
void fpo_find_differences(fpo_format format, int64_t m, int64_t n, const void *expected, const void *observed,
                          fpo_differences *result);
void fpo_differences_print(const fpo_differences *differences);
json_t *fpo_differences_json(const fpo_differences *differences);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How K is divided into parts. A part is a sequence of k-tiles; its elements of K are those of its tiles in order. */
#ifndef FP4ORACLE_EMU_SPLIT_H
#define FP4ORACLE_EMU_SPLIT_H

#include "engine.h"

/* Tiles first, first + stride, ...: `count` of them (0: the part is empty and contributes +0). */
typedef struct fpo_part {
    int64_t first, stride, count;
} fpo_part;

typedef struct fpo_split {
    const fpo_schedule *schedule;
    int64_t k, tile_k, tiles;        /* tiles = ceil(k / tile_k) */
    int64_t m, n;                    /* the output as the kernel sees it: exchanged under swap_ab */
    int64_t tile_rows, tile_columns; /* of outputs that share their parts; 0: all do */
} fpo_split;

fpo_split fpo_split_of(const fpo_schedule *schedule, int64_t m, int64_t n, int64_t k);
/* Parts of the output (row, column) of D, at least 1. */
int64_t fpo_split_parts(const fpo_split *split, int64_t row, int64_t column);
fpo_part fpo_split_part(const fpo_split *split, int64_t row, int64_t column, int64_t index);
/* One past the last column after `column` that has the same parts in this row. */
int64_t fpo_split_same_until(const fpo_split *split, int64_t column, int64_t end);

/* The same of Stream-K (stream_k.c). */
int64_t fpo_stream_k_parts(const fpo_split *split, int64_t row, int64_t column);
fpo_part fpo_stream_k_part(const fpo_split *split, int64_t row, int64_t column, int64_t index);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Split-K: which k-tiles a part takes. */
#include "split.h"

static int64_t ceil_divide(int64_t x, int64_t y)
{
    return (x + y - 1) / y;
}

static int64_t smaller(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t round_up(int64_t x, int64_t multiple)
{
    return multiple > 1 ? ceil_divide(x, multiple) * multiple : x;
}

fpo_split fpo_split_of(const fpo_schedule *schedule, int64_t m, int64_t n, int64_t k)
{
    fpo_split split = {.schedule = schedule, .k = k, .tile_k = schedule->tile_k > 0 ? schedule->tile_k : k};
    split.tiles = ceil_divide(k, split.tile_k);
    split.m = schedule->swap_ab ? n : m;
    split.n = schedule->swap_ab ? m : n;
    if (schedule->split == FPO_SPLIT_STREAM_K) {
        split.tile_rows = schedule->swap_ab ? schedule->tile_n : schedule->tile_m;
        split.tile_columns = schedule->swap_ab ? schedule->tile_m : schedule->tile_n;
    }
    return split;
}

int64_t fpo_split_parts(const fpo_split *split, int64_t row, int64_t column)
{
    switch (split->schedule->split) {
    case FPO_SPLIT_NONE: return 1;
    case FPO_SPLIT_STREAM_K: return fpo_stream_k_parts(split, row, column);
    case FPO_SPLIT_CONTIGUOUS:
    case FPO_SPLIT_EVEN:
    case FPO_SPLIT_INTERLEAVED:
    case FPO_SPLIT_CUBLASLT: break;
    }
    return split->schedule->parts;
}

/* Part i of runs of q tiles; tiles beyond parts * q belong to nobody (facts.md 6.5b: a bug of the library). */
static fpo_part run_of_tiles(const fpo_split *split, int64_t q, int64_t index)
{
    int64_t first = smaller(index * q, split->tiles);
    return (fpo_part){first, 1, smaller(first + q, split->tiles) - first};
}

fpo_part fpo_split_part(const fpo_split *split, int64_t row, int64_t column, int64_t index)
{
    const fpo_schedule *s = split->schedule;
    int64_t parts = s->parts, tiles = split->tiles;
    switch (s->split) {
    case FPO_SPLIT_NONE: break;
    case FPO_SPLIT_STREAM_K: return fpo_stream_k_part(split, row, column, index);
    case FPO_SPLIT_CONTIGUOUS: return run_of_tiles(split, round_up(ceil_divide(tiles, parts), s->quantum), index);
    case FPO_SPLIT_CUBLASLT: {
        /* floor(K / parts) is 0 where there are more parts than elements: then the first part takes one tile. */
        int64_t q = ceil_divide(split->k / parts, split->tile_k);
        return run_of_tiles(split, round_up(q > 0 ? q : 1, s->quantum), index);
    }
    case FPO_SPLIT_EVEN: {
        int64_t each = tiles / parts, longer = tiles % parts;
        return (fpo_part){index * each + smaller(index, longer), 1, each + (index < longer ? 1 : 0)};
    }
    case FPO_SPLIT_INTERLEAVED: return (fpo_part){index, parts, index < tiles ? ceil_divide(tiles - index, parts) : 0};
    }
    return (fpo_part){0, 1, tiles};
}

int64_t fpo_split_same_until(const fpo_split *split, int64_t column, int64_t end)
{
    if (split->tile_columns <= 0)
        return end;
    return smaller((column / split->tile_columns + 1) * split->tile_columns, end);
}

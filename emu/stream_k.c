/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* CUTLASS Stream-K: which k-tiles of an output tile go to which unit. Clusters of one CTA and no swizzle, which is what
 * sm120 has. Source of the rules: CUTLASS 4.2 tile_scheduler_params.h (stream_k_heuristic, calculate_groups) and
 * sm90_tile_scheduler_stream_k.hpp; kernels.md 5.1 found 0 differing bits with them. */
#include "split.h"

typedef struct plan {
    int64_t k_tiles;
    int64_t streamed; /* output tiles that are shared out; the others, behind them in raster order, have one part */
    int64_t units, groups;
    int64_t even_parts; /* 0, or every output tile is cut into so many parts: the heuristic prefers split-K then */
} plan;

static int64_t ceil_divide(int64_t x, int64_t y)
{
    return (x + y - 1) / y;
}

static bool along_m(int64_t tiles_m, int64_t tiles_n)
{
    return tiles_n > tiles_m;
}

static int64_t choose_groups(const fpo_schedule *s, const plan *p, int64_t side)
{
    int64_t groups = side < s->max_groups ? side : s->max_groups, fallback = 0;
    for (; groups > 1; groups--) {
        bool valid =
            p->units % groups == 0 && p->streamed / groups * p->k_tiles / (p->units / groups) >= s->min_k_tiles;
        if (valid && p->streamed % groups == 0)
            return groups;
        if (valid && fallback == 0)
            fallback = groups; /* tiles are not shared out evenly among the groups */
    }
    return fallback > 0 ? fallback : 1;
}

static plan plan_of(const fpo_split *split)
{
    const fpo_schedule *s = split->schedule;
    int64_t tiles_m = ceil_divide(split->m, s->tile_m), tiles_n = ceil_divide(split->n, s->tile_n);
    int64_t tiles = tiles_m * tiles_n, wave = s->wave;
    int64_t full = tiles / wave, tail = tiles % wave;
    plan p = {.k_tiles = split->tiles, .groups = 1};
    if (tail == 0 || p.k_tiles <= s->min_k_tiles || 2 * tail >= wave)
        return p; /* data-parallel */
    p.streamed = tiles - (full > 1 ? full - 1 : 0) * wave;
    p.units = p.k_tiles * p.streamed / s->min_k_tiles;
    p.units = p.units < wave ? p.units : wave;
    if (p.units > p.streamed && p.units % p.streamed == 0)
        p.even_parts = p.units / p.streamed;
    else
        p.groups = choose_groups(s, &p, along_m(tiles_m, tiles_n) ? tiles_m : tiles_n);
    return p;
}

/* K-tiles [first, end) of a unit in the space of its group: tile after tile. */
static void unit_range(const fpo_schedule *s, const plan *p, int64_t group, int64_t unit, int64_t *first, int64_t *end)
{
    int64_t units = p->units / p->groups;
    int64_t tiles = p->streamed / p->groups + (group < p->streamed % p->groups ? 1 : 0);
    int64_t each = tiles * p->k_tiles / units, longer = tiles * p->k_tiles % units;
    *first = unit * each + (unit < longer ? unit : longer);
    *end = *first + each + (unit < longer ? 1 : 0);
    /* Cuts that would leave fewer than min_k_tiles on one side move to the edge of the output tile. */
    int64_t into = *first % p->k_tiles;
    if (into < s->min_k_tiles)
        *first -= into;
    else if (into > p->k_tiles - s->min_k_tiles)
        *first += p->k_tiles - into;
    into = *end % p->k_tiles;
    if (into < s->min_k_tiles)
        *end -= into;
    else if (into > p->k_tiles - s->min_k_tiles)
        *end += p->k_tiles - into;
}

/* Counts the parts of an output tile; stores number `index` of them where there is one. */
static int64_t walk(const fpo_split *split, int64_t row, int64_t column, int64_t index, fpo_part *part)
{
    const fpo_schedule *s = split->schedule;
    plan p = plan_of(split);
    int64_t m = (s->swap_ab ? column : row) / s->tile_m, n = (s->swap_ab ? row : column) / s->tile_n;
    int64_t tiles_m = ceil_divide(split->m, s->tile_m), tiles_n = ceil_divide(split->n, s->tile_n);
    int64_t tile = along_m(tiles_m, tiles_n) ? n * tiles_m + m : m * tiles_n + n;
    *part = (fpo_part){0, 1, p.k_tiles};
    if (p.even_parts > 0) {
        int64_t each = p.k_tiles / p.even_parts, longer = p.k_tiles % p.even_parts;
        *part = (fpo_part){index * each + (index < longer ? index : longer), 1, each + (index < longer ? 1 : 0)};
        return p.even_parts;
    }
    if (tile >= p.streamed)
        return 1;
    int64_t start = tile / p.groups * p.k_tiles, count = 0;
    for (int64_t unit = 0; unit < p.units / p.groups; unit++) {
        int64_t first, end;
        unit_range(s, &p, tile % p.groups, unit, &first, &end);
        first = first > start ? first : start;
        end = end < start + p.k_tiles ? end : start + p.k_tiles;
        if (first >= end)
            continue;
        if (count == index)
            *part = (fpo_part){first - start, 1, end - first};
        count++;
    }
    return count;
}

int64_t fpo_stream_k_parts(const fpo_split *split, int64_t row, int64_t column)
{
    fpo_part part;
    return walk(split, row, column, 0, &part);
}

fpo_part fpo_stream_k_part(const fpo_split *split, int64_t row, int64_t column, int64_t index)
{
    fpo_part part;
    walk(split, row, column, index, &part);
    return part;
}

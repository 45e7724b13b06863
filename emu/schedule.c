/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* From single instructions to accumulators: K order, promotion, splits and their reduction. */
#include "panel.h"
#include "split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 128,                /* outputs of a row that go through a chain together */
    PANEL_BYTES = 4 * 1024 * 1024 /* decoded rows of one operand */
};

/* One row of a block of outputs. m, n: in D; m_panel, n_panel: in the panels. */
typedef struct row {
    const fpo_gemm_context *context;
    const fpo_fast_path *path;
    const fpo_panel *a, *b;
    int64_t m, n, m_panel, n_panel, columns;
} row;

static float add(float x, float y)
{
    return fpo_canonical(x + y);
}

/* One addition of atom.global.add.f32, which flushes subnormal inputs and results (kernels.md 5.2 rule 6). */
static float flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

/* The f32 scale of an operand for the K block of element k, 1 where it has none that changes with K. */
static float promotion_scale(const fpo_prepared *operand, int64_t r, int64_t k)
{
    if (operand->scales == NULL || operand->scale.format != FPO_F32 || operand->scale.block_k == 0)
        return 1.0f;
    return fpo_float_of_bits(fpo_load_code(FPO_F32, operand->scales, (size_t)fpo_scale_index(operand, r, k)));
}

static float promote(fpo_promotion promotion, float p, float sa, float sb, float total)
{
    switch (promotion) {
    case FPO_PROMOTE_ADD: return add(total, p);
    case FPO_PROMOTE_FMA_AB: return fpo_canonical(fmaf(p, sa * sb, total));
    case FPO_PROMOTE_FMA_B_THEN_A: return fpo_canonical(fmaf(p * sb, sa, total));
    case FPO_PROMOTE_FMA_A_THEN_B: return fpo_canonical(fmaf(p * sa, sb, total));
    case FPO_PROMOTE_MUL_AB_ADD: return add(total, p * (sa * sb));
    case FPO_PROMOTE_MUL_A_B_ADD: return add(total, (p * sa) * sb);
    case FPO_PROMOTE_MUL_B_A_ADD: return add(total, (p * sb) * sa);
    }
    return total;
}

/* Steps of a part's own sequence [q0, q1): which steps of K they are depends on the tiles that the part has. */
typedef struct sequence {
    fpo_part part;
    int64_t steps_per_tile;
    int64_t steps; /* in all of K */
    int64_t length;
} sequence;

static sequence sequence_of(const fpo_split *split, fpo_part part, int64_t step_k)
{
    sequence s = {.part = part,
                  .steps_per_tile = (split->tile_k + step_k - 1) / step_k,
                  .steps = (split->k + step_k - 1) / step_k};
    s.length = part.count * s.steps_per_tile;
    int64_t last_tile = part.first + (part.count - 1) * part.stride;
    if (part.count > 0 && (last_tile + 1) * s.steps_per_tile > s.steps) /* the last tile of K is short */
        s.length -= (last_tile + 1) * s.steps_per_tile - s.steps;
    return s;
}

static int64_t step_at(const sequence *s, int64_t q)
{
    return (s->part.first + q / s->steps_per_tile * s->part.stride) * s->steps_per_tile + q % s->steps_per_tile;
}

/* A chain over [q0, q1) from +0. */
static void chain(const row *r, const sequence *s, int64_t q0, int64_t q1, float *result)
{
    const fpo_step *step = &r->context->spec->accumulation.step;
    uint32_t bits[COLUMNS];
    memset(bits, 0, sizeof bits);
    while (q0 < q1) {
        int64_t end = s->part.stride == 1 ? q1 : (q0 / s->steps_per_tile + 1) * s->steps_per_tile;
        end = end < q1 ? end : q1;
        int64_t first = step_at(s, q0);
        fpo_chain_row(r->path, r->a, r->b, r->m_panel, r->n_panel, r->columns, first, first + (end - q0), bits);
        q0 = end;
    }
    for (int64_t j = 0; j < r->columns; j++)
        result[j] = fpo_accumulator_value(step, bits[j]);
}

/* The partial sum that is promoted: one chain, or the sum of chains over inner_k. */
static void partial_sum(const row *r, const sequence *s, int64_t q0, int64_t q1, float *result)
{
    const fpo_accumulation *accumulation = &r->context->spec->accumulation;
    int64_t inner = accumulation->schedule.inner_k / accumulation->step.k;
    if (inner == 0) {
        chain(r, s, q0, q1, result);
        return;
    }
    float next[COLUMNS];
    for (int64_t q = q0; q < q1; q += inner) {
        chain(r, s, q, q + inner < q1 ? q + inner : q1, q == q0 ? result : next);
        for (int64_t j = 0; q != q0 && j < r->columns; j++)
            result[j] = add(result[j], next[j]);
    }
}

static void part_sum(const row *r, const sequence *s, float *total)
{
    const fpo_accumulation *accumulation = &r->context->spec->accumulation;
    const fpo_schedule *schedule = &accumulation->schedule;
    const fpo_prepared *a = &r->context->a, *b = &r->context->b;
    if (schedule->promote_k == 0) {
        chain(r, s, 0, s->length, total);
        return;
    }
    int64_t interval = schedule->promote_k / accumulation->step.k;
    float p[COLUMNS];
    for (int64_t j = 0; j < r->columns; j++)
        total[j] = 0.0f;
    for (int64_t q = 0; q < s->length; q += interval) {
        partial_sum(r, s, q, q + interval < s->length ? q + interval : s->length, p);
        int64_t k = step_at(s, q) * accumulation->step.k;
        float sa = promotion_scale(a, r->m, k);
        for (int64_t j = 0; j < r->columns; j++) {
            float sb = promotion_scale(b, r->n + j, k);
            /* Under swap_ab the kernel's A is our B. */
            total[j] = schedule->swap_ab ? promote(schedule->promotion, p[j], sb, sa, total[j])
                                         : promote(schedule->promotion, p[j], sa, sb, total[j]);
        }
    }
}

/* parts[i * stride]: the sum of the S parts, left in parts[0]. */
static float reduce(const fpo_schedule *schedule, float *parts, int64_t count, int64_t stride)
{
    float sum = parts[0];
    switch (schedule->reduction) {
    case FPO_REDUCE_SERIAL:
        for (int64_t i = 1; i < count; i++)
            sum = add(sum, parts[i * stride]);
        return sum;
    case FPO_REDUCE_PAIRWISE:
        for (; count > 1; count = (count + 1) / 2)
            for (int64_t i = 0; i < (count + 1) / 2; i++)
                parts[i * stride] =
                    2 * i + 1 < count ? add(parts[2 * i * stride], parts[(2 * i + 1) * stride]) : parts[2 * i * stride];
        return parts[0];
    case FPO_REDUCE_HALVES: {
        int64_t half = (count + 1) / 2;
        sum = parts[(count - 1) * stride];
        for (int64_t i = 0; i < half && count > 1; i++)
            sum =
                add(sum, i + half < count - 1 ? add(parts[i * stride], parts[(i + half) * stride]) : parts[i * stride]);
        return sum;
    }
    case FPO_REDUCE_LAST_ADDS:
        if (count == 1)
            return sum;
        for (int64_t i = 1; i < count - 1; i++)
            sum = schedule->flush_subnormals ? flush(add(flush(sum), flush(parts[i * stride])))
                                             : add(sum, parts[i * stride]);
        return add(parts[(count - 1) * stride], sum);
    }
    return sum;
}

/* Outputs of one row that have the same parts. `parts` has room for them, COLUMNS floats each. */
static void accumulate_row(const row *r, const fpo_split *split, float *parts, float *accumulator)
{
    const fpo_accumulation *accumulation = &r->context->spec->accumulation;
    int64_t count = fpo_split_parts(split, r->m, r->n);
    for (int64_t i = 0; i < count; i++) {
        sequence s = sequence_of(split, fpo_split_part(split, r->m, r->n, i), accumulation->step.k);
        part_sum(r, &s, parts + i * COLUMNS);
    }
    for (int64_t j = 0; j < r->columns; j++)
        accumulator[j] = reduce(&accumulation->schedule, parts + j, count, COLUMNS);
}

/* A block whose rows fit into the panels. */
static fpo_status accumulate_block(const fpo_gemm_context *context, const fpo_split *split, fpo_tile block,
                                   fpo_tile tile, float *parts, float *accumulator, fpo_error *error)
{
    const fpo_step *step = &context->spec->accumulation.step;
    fpo_fast_path path = fpo_panel_path(step, &context->a, &context->b);
    fpo_panel a, b;
    fpo_status status = fpo_panel_build_fast(&path, &context->a, block.m0, block.m1 - block.m0, &a, error);
    if (status != FPO_OK)
        return status;
    status = fpo_panel_build_fast(&path, &context->b, block.n0, block.n1 - block.n0, &b, error);
    if (status != FPO_OK) {
        fpo_panel_free(&a);
        return status;
    }
    for (int64_t m = block.m0; m < block.m1; m++)
        for (int64_t n = block.n0, end; n < block.n1; n = end) {
            end = n + COLUMNS < block.n1 ? n + COLUMNS : block.n1;
            end = fpo_split_same_until(split, n, end);
            row r = {context, &path, &a, &b, m, n, m - block.m0, n - block.n0, end - n};
            accumulate_row(&r, split, parts, accumulator + (m - tile.m0) * (tile.n1 - tile.n0) + n - tile.n0);
        }
    fpo_panel_free(&a);
    fpo_panel_free(&b);
    return FPO_OK;
}

static int64_t rows_of_panel(const fpo_step *step, const fpo_prepared *operand)
{
    int64_t rows = (int64_t)(PANEL_BYTES / fpo_panel_row_bytes(step, operand));
    return rows < 1 ? 1 : rows;
}

/* The most parts that an output of this tile has. */
static int64_t most_parts(const fpo_split *split, fpo_tile tile)
{
    if (split->tile_columns <= 0)
        return fpo_split_parts(split, tile.m0, tile.n0);
    int64_t most = 1;
    for (int64_t m = tile.m0; m < tile.m1; m = (m / split->tile_rows + 1) * split->tile_rows)
        for (int64_t n = tile.n0; n < tile.n1; n = (n / split->tile_columns + 1) * split->tile_columns) {
            int64_t count = fpo_split_parts(split, m, n);
            most = count > most ? count : most;
        }
    return most;
}

fpo_status fpo_accumulate_tile(const fpo_gemm_context *context, fpo_tile tile, float *acc, fpo_error *error)
{
    const fpo_accumulation *accumulation = &context->spec->accumulation;
    const fpo_gemm_problem *problem = context->problem;
    fpo_split split = fpo_split_of(&accumulation->schedule, problem->m, problem->n, problem->k);
    int64_t most = most_parts(&split, tile);
    float *parts = malloc((size_t)most * COLUMNS * sizeof *parts);
    if (parts == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %lld parts of K", (long long)most);
    int64_t rows = rows_of_panel(&accumulation->step, &context->a);
    int64_t columns = rows_of_panel(&accumulation->step, &context->b);
    fpo_status status = FPO_OK;
    for (int64_t n = tile.n0; n < tile.n1 && status == FPO_OK; n += columns)
        for (int64_t m = tile.m0; m < tile.m1 && status == FPO_OK; m += rows) {
            fpo_tile block = {m, m + rows < tile.m1 ? m + rows : tile.m1, n,
                              n + columns < tile.n1 ? n + columns : tile.n1};
            status = accumulate_block(context, &split, block, tile, parts, acc, error);
        }
    free(parts);
    return status;
}

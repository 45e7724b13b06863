/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The largest magnitude, by the rules that libraries have for NaN. */
#include "quantizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

float fpo_amax_join(fpo_amax_rule rule, float amax, float other)
{
    if (rule == FPO_AMAX_NAN_WINS)
        return isnan(amax) || isnan(other) ? NAN : amax > other ? amax : other;
    if (isnan(amax) || isnan(other))
        return isnan(amax) ? other : amax;
    return amax > other ? amax : other;
}

static float amax_plain(fpo_amax_rule rule, const float *x, int64_t count, int64_t step)
{
    float amax = rule == FPO_AMAX_NAN_ZERO ? 0 : fabsf(x[0]);
    for (int64_t i = 0; i < count; i += step)
        amax = fpo_amax_join(rule, amax, fabsf(x[i]));
    return amax;
}

float fpo_amax_of(fpo_amax_rule rule, const float *x, int64_t count)
{
    if (rule != FPO_AMAX_EVEN_ODD || count < 2)
        return amax_plain(rule, x, count, 1);
    float even = amax_plain(FPO_AMAX_NAN_LOSES, x, count, 2);
    float odd = amax_plain(FPO_AMAX_NAN_LOSES, x + 1, count - 1, 2);
    return even > odd ? even : odd;
}

float fpo_amax_fast(const fpo_quantizer *q, fpo_amax_rule rule, const float *x, int64_t count)
{
    float amax;
    q->kernels->block_amax(x, count, count, &amax);
    return isnan(amax) ? fpo_amax_of(rule, x, count) : amax;
}

void fpo_amax_of_blocks(const fpo_quantizer *q, fpo_amax_rule rule, const float *x, int64_t count, int64_t block,
                        float *to)
{
    int64_t blocks = (count + block - 1) / block;
    q->kernels->block_amax(x, count, block, to);
    float largest;
    q->kernels->block_amax(to, blocks, blocks, &largest);
    for (int64_t i = 0; i < blocks && isnan(largest); i++)
        if (isnan(to[i])) {
            int64_t begin = i * block, end = begin + block < count ? begin + block : count;
            to[i] = fpo_amax_of(rule, x + begin, end - begin);
        }
}

/* amax of each region's part in one row, into to[region] */
static void row_amax(const fpo_quantizer *q, fpo_lane *lane, int64_t row, float *to)
{
    fpo_amax_rule rule = q->program->amax_rule[q->amax_scope];
    int64_t at_once = FPO_CHUNK / q->region_k;
    for (int64_t region = 0; region < q->regions && at_once > 1; region += at_once) {
        int64_t begin = region * q->region_k, end = begin + at_once * q->region_k;
        end = end < q->k ? end : q->k;
        fpo_span span = {row, begin, end, region, region, (int)(end - begin), (int)at_once};
        fpo_amax_of_blocks(q, rule, fpo_load_elements(q, lane, &span), span.count, q->region_k, to + region);
    }
    for (int64_t region = 0; region < q->regions && at_once <= 1; region++) {
        int64_t begin = region * q->region_k, end = begin + q->region_k < q->k ? begin + q->region_k : q->k;
        for (int64_t at = begin; at < end; at += FPO_CHUNK) {
            int64_t stop = at + FPO_CHUNK < end ? at + FPO_CHUNK : end;
            fpo_span span = {row, at, stop, region, region, (int)(stop - at), 1};
            float part = fpo_amax_fast(q, rule, fpo_load_elements(q, lane, &span), span.count);
            to[region] = at == begin ? part : fpo_amax_join(rule, to[region], part);
        }
    }
}

/* One row's elements, or those of their regions' amax, joined to those of the rows above it: NaN where one is. */
static void join_row(const fpo_quantizer *q, fpo_lane *lane, int64_t row, float *parts, float *to)
{
    if (q->region_k > 1) {
        row_amax(q, lane, row, parts);
        q->kernels->join_amax(parts, to, q->regions);
        return;
    }
    for (int64_t at = 0; at < q->k; at += FPO_CHUNK) {
        int64_t end = at + FPO_CHUNK < q->k ? at + FPO_CHUNK : q->k;
        fpo_span span = {row, at, end, at, at, (int)(end - at), (int)(end - at)};
        q->kernels->join_amax(fpo_load_elements(q, lane, &span), to + at, end - at);
    }
}

static bool is_plain(const fpo_quantizer *q, const float *amax)
{
    float largest;
    q->kernels->block_amax(amax, q->regions, q->regions, &largest);
    return !isnan(largest);
}

static void join_parts(fpo_amax_rule rule, const float *parts, float *to, int64_t regions)
{
    for (int64_t i = 0; i < regions; i++)
        to[i] = fpo_amax_join(rule, to[i], parts[i]);
}

enum { PIECE_ROWS = 64 }; /* of a strip that one thread takes at a time */

typedef struct pieces {
    int64_t of_strip, count;
    float *amax; /* [count, regions]: of each region's part in the piece */
} pieces;

/* amax of the regions in piece `index`; `row` has room for those of one row. */
static void piece_amax(const fpo_quantizer *q, fpo_lane *lane, const pieces *p, int64_t index, float *row)
{
    int64_t strip = index / p->of_strip, first = index % p->of_strip * PIECE_ROWS;
    int64_t begin = strip * q->region_rows + first;
    int64_t count = q->region_rows - first < PIECE_ROWS ? q->region_rows - first : PIECE_ROWS;
    float *to = p->amax + index * q->regions;
    if (begin >= q->rows) { /* of a strip that is cut off */
        memset(to, 0, (size_t)q->regions * sizeof *to);
        return;
    }
    int64_t end = begin + count < q->rows ? begin + count : q->rows;
    memset(to, 0, (size_t)q->regions * sizeof *to);
    for (int64_t i = begin; i < end; i++)
        join_row(q, lane, i, row, to);
    if (is_plain(q, to))
        return;
    row_amax(q, lane, begin, to); /* by the rule for NaN */
    for (int64_t i = begin + 1; i < end; i++) {
        row_amax(q, lane, i, row);
        join_parts(q->program->amax_rule[q->amax_scope], row, to, q->regions);
    }
}

static void join_pieces(const fpo_quantizer *q, const pieces *p)
{
    for (int64_t index = 0; index < p->count; index++) {
        int64_t strip = index / p->of_strip, piece = index % p->of_strip;
        float *to = q->region_amax + strip * q->regions;
        const float *part = p->amax + index * q->regions;
        if (piece == 0)
            memcpy(to, part, (size_t)q->regions * sizeof *to);
        else if (strip * q->region_rows + piece * PIECE_ROWS < q->rows)
            join_parts(q->program->amax_rule[q->amax_scope], part, to, q->regions);
    }
}

fpo_status fpo_region_amax(fpo_quantizer *q, int threads, fpo_error *error)
{
    int64_t strips = (q->rows + q->region_rows - 1) / q->region_rows;
    pieces p = {.of_strip = (q->region_rows + PIECE_ROWS - 1) / PIECE_ROWS};
    p.count = strips * p.of_strip;
    p.amax = malloc((size_t)(p.count * q->regions) * sizeof(float));
    q->region_amax = malloc((size_t)(strips * q->regions) * sizeof(float));
    const bool allocated = p.amax != NULL && q->region_amax != NULL;
    bool failed = !allocated;
#pragma omp parallel num_threads(threads) if (allocated)
    {
        fpo_lane lane = {.memory = NULL};
        float *row = malloc((size_t)q->regions * sizeof(float));
        bool ready = allocated && row != NULL && fpo_lane_init(&lane, q);
        if (!ready)
#pragma omp atomic write
            failed = true;
#pragma omp for schedule(static)
        for (int64_t index = 0; index < p.count; index++)
            if (ready)
                piece_amax(q, &lane, &p, index, row);
        fpo_lane_free(&lane);
        free(row);
    }
    if (!failed)
        join_pieces(q, &p);
    free(p.amax);
    return failed ? fpo_fail(error, FPO_ERR_MEMORY, "out of memory for the amax of blocks") : FPO_OK;
}

/* The same with one region that is all. */
fpo_status fpo_tensor_amax(const fpo_quantizer *q, int threads, float *amax, fpo_error *error)
{
    fpo_quantizer whole = *q;
    whole.region_rows = q->rows;
    whole.region_k = q->k;
    whole.regions = 1;
    whole.amax_scope = FPO_SCOPE_TENSOR;
    whole.region_amax = NULL;
    fpo_status status = fpo_region_amax(&whole, threads, error);
    if (status == FPO_OK)
        *amax = whole.region_amax[0];
    free(whole.region_amax);
    return status;
}

fpo_status fpo_region_choice(fpo_quantizer *q, int threads, fpo_error *error)
{
    int64_t strips = (q->rows + q->region_rows - 1) / q->region_rows;
    int tries = q->program->try_count;
    q->region_choice = calloc((size_t)(strips * q->regions), 1);
    const bool allocated = q->region_choice != NULL;
    bool failed = !allocated;
#pragma omp parallel num_threads(threads) if (allocated)
    {
        fpo_lane lane = {.memory = NULL};
        float *errors = malloc((size_t)(tries * q->regions) * sizeof(float));
        bool ready = allocated && errors != NULL && fpo_lane_init(&lane, q);
        if (!ready)
#pragma omp atomic write
            failed = true;
#pragma omp for schedule(static)
        for (int64_t strip = 0; strip < strips; strip++) {
            if (!ready)
                continue;
            memset(errors, 0, (size_t)(tries * q->regions) * sizeof(float));
            for (int64_t i = 0; i < q->region_rows && strip * q->region_rows + i < q->rows; i++)
                fpo_row_errors(q, &lane, strip * q->region_rows + i, errors);
            for (int64_t region = 0; region < q->regions; region++)
                for (int attempt = 1; attempt < tries; attempt++) {
                    uint8_t *best = &q->region_choice[strip * q->regions + region];
                    if (errors[attempt * q->regions + region] < errors[*best * q->regions + region])
                        *best = (uint8_t)attempt;
                }
        }
        fpo_lane_free(&lane);
        free(errors);
    }
    return failed ? fpo_fail(error, FPO_ERR_MEMORY, "out of memory for a recipe's search") : FPO_OK;
}

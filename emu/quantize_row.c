/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Rows of a tensor through a recipe, a chunk at a time: regions (amax, scale), then their elements. */
#include "quantizer.h"

#include <math.h>
#include <string.h>

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

const float *fpo_load_elements(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *span)
{
    const fpo_program *program = q->program;
    const float *from = q->x + span->row * q->k + span->begin;
    /* A register that is read alone may be the tensor itself; an `input:` may leave x as it is. */
    lane->values[program->x] = (float *)from;
    if (program->raw_x != FPO_NO_REGISTER) {
        lane->values[program->raw_x] = (float *)from;
        fpo_run_scope(q, lane, FPO_SCOPE_INPUT, span);
    }
    return lane->values[program->x];
}

/* As many regions of a row from `first` on as are worked on at once: many, so that the steps of their scope are loops
 * worth the name; in a search, those of one chunk of elements. */
static fpo_span regions_from(const fpo_quantizer *q, int64_t row, int64_t first)
{
    int64_t fit = q->region_k < FPO_CHUNK ? FPO_CHUNK / q->region_k : 1;
    if (q->program->try_count == 0 && q->region_k < FPO_CHUNK && fit < FPO_REGIONS)
        fit = FPO_REGIONS;
    int64_t most = q->program->try_count == 0 ? FPO_CHUNK : FPO_REGIONS;
    int64_t count = smaller(smaller(fit, most), q->regions - first);
    int64_t begin = first * q->region_k, end = smaller(begin + count * q->region_k, q->k);
    return (fpo_span){row, begin, end, first, first, (int)smaller(end - begin, FPO_CHUNK), (int)count};
}

/* The next chunk of the elements of a span: some of its regions, or a part of the only one. */
static fpo_span elements_from(const fpo_quantizer *q, const fpo_span *regions, int64_t at)
{
    fpo_span span = *regions;
    int64_t fit = q->region_k < FPO_CHUNK ? FPO_CHUNK / q->region_k : 1;
    int64_t most = regions->regions > 1 ? fit * q->region_k : FPO_CHUNK;
    span.begin = at;
    span.end = smaller(at + most, regions->end);
    span.count = (int)(span.end - at);
    span.first = at / q->region_k;
    span.regions = (int)((span.end + q->region_k - 1) / q->region_k - span.first);
    return span;
}

/* amax of part `span` of one region. */
static float part_amax(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *span, fpo_amax_rule rule)
{
    return fpo_amax_fast(q, rule, fpo_load_elements(q, lane, span), span->count);
}

static float region_value(const fpo_quantizer *q, const fpo_lane *lane, int r, int64_t region)
{
    int scope = q->program->registers[r].scope;
    if (scope == FPO_SCOPE_TENSOR)
        return (float)q->tensor[r];
    return lane->values[r][scope == FPO_SCOPE_ROW ? 0 : region];
}

static void row_scope(const fpo_quantizer *q, fpo_lane *lane, int64_t row)
{
    const fpo_program *program = q->program;
    if (fpo_uses(q, program->row_amax)) {
        float *to = lane->values[program->row_amax];
        fpo_amax_rule rule = program->amax_rule[FPO_SCOPE_ROW];
        for (int64_t at = 0; at < q->k; at += FPO_CHUNK) {
            fpo_span span = {row, at, smaller(at + FPO_CHUNK, q->k), 0, 0, (int)smaller(FPO_CHUNK, q->k - at), 1};
            float part = part_amax(q, lane, &span, rule);
            to[0] = at == 0 ? part : fpo_amax_join(rule, to[0], part);
        }
    }
    fpo_span span = {row, 0, 0, 0, 0, 0, 1};
    if (program->row_amax != FPO_NO_REGISTER)
        fpo_repeat(q, lane, program->row_amax);
    fpo_run_scope(q, lane, FPO_SCOPE_ROW, &span);
    if (program->row_scale == FPO_NO_REGISTER)
        return;
    int multiplier = program->row_multiplier != FPO_NO_REGISTER ? program->row_multiplier : program->row_scale;
    if (q->result->row_scales != NULL)
        q->result->row_scales[row] = fpo_canonical(region_value(q, lane, multiplier, 0));
    if (q->result->library_row_scales != NULL)
        q->result->library_row_scales[row] = fpo_canonical(region_value(q, lane, program->row_scale, 0));
}

/* The elements of a span, kept for when they are quantised. */
static const float *kept_elements(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *span)
{
    if (!q->keeps_input)
        return fpo_load_elements(q, lane, span);
    int x = q->program->x;
    float *own = lane->own[x], *to = lane->kept + (span->begin - span->base * q->region_k);
    lane->own[x] = to;
    const float *from = fpo_load_elements(q, lane, span);
    if (from != to) /* another register stands for x */
        memcpy(to, from, (size_t)span->count * sizeof *to);
    lane->own[x] = own;
    return to;
}

/* amax of the regions of one chunk of elements. */
static void chunk_amax(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *span, float *to)
{
    fpo_amax_rule rule = q->program->amax_rule[FPO_SCOPE_BLOCK];
    const float *x = kept_elements(q, lane, span);
    if (rule == FPO_AMAX_NAN_WINS) /* with the bits that the NaN has */
        q->kernels->block_amax(x, span->count, q->region_k, to);
    else
        fpo_amax_of_blocks(q, rule, x, span->count, q->region_k, to);
}

/* amax of the regions of a span, and what the block's scope makes of it. */
static void block_scope(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *regions)
{
    const fpo_program *program = q->program;
    if (fpo_uses(q, program->amax)) {
        float *to = lane->values[program->amax];
        if (q->region_amax != NULL) {
            const float *from = q->region_amax + regions->row / q->region_rows * q->regions + regions->first;
            memcpy(to, from, (size_t)regions->regions * sizeof(float));
        } else {
            fpo_span span;
            for (int64_t at = regions->begin; at < regions->end; at = span.end) {
                span = elements_from(q, regions, at);
                float part = 0;
                bool whole = regions->regions > 1 || at == regions->begin;
                chunk_amax(q, lane, &span, whole ? to + (span.first - regions->first) : &part);
                if (!whole)
                    to[0] = fpo_amax_join(program->amax_rule[FPO_SCOPE_BLOCK], to[0], part);
            }
        }
    }
    fpo_run_scope(q, lane, FPO_SCOPE_BLOCK, regions);
}

static float flush(const fpo_program *program, float x)
{
    return program->error_ftz && fabsf(x) < 0x1p-126f ? 0 : x;
}

float fpo_error_sum(const fpo_program *program, const float *errors, int count)
{
    float sums[FPO_CHUNK];
    int chunk = program->error_chunk > 0 ? program->error_chunk : count, n = 0;
    if (program->error_max)
        return fpo_amax_of(FPO_AMAX_NAN_WINS, errors, count);
    if (program->error_fma) {
        float sum = 0;
        for (int i = 0; i < count; i++)
            sum = flush(program, fmaf(errors[i], errors[i], sum));
        return sum;
    }
    for (int at = 0; at < count; at += chunk) {
        float sum = errors[at];
        for (int i = at + 1; i < at + chunk && i < count; i++)
            sum = flush(program, sum + errors[i]);
        sums[n++] = sum;
    }
    for (; n > 1; n = (n + 1) / 2)
        for (int i = 0; i < n; i += 2)
            sums[i / 2] = i + 1 < n ? flush(program, sums[i] + sums[i + 1]) : sums[i];
    return sums[0];
}

static void try_scope(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *regions, int attempt)
{
    const fpo_program *program = q->program;
    if (program->attempt != FPO_NO_REGISTER)
        for (int i = 0; i < regions->regions; i++)
            lane->values[program->attempt][i] = program->tries[attempt];
    fpo_run_scope(q, lane, FPO_SCOPE_TRY, regions);
}

/* Errors of a candidate over a span of whole regions. */
static void candidate_errors(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *regions, int attempt,
                             float *errors)
{
    try_scope(q, lane, regions, attempt);
    fpo_load_elements(q, lane, regions);
    fpo_load_random(q, lane, regions);
    fpo_run_scope(q, lane, FPO_SCOPE_ELEMENT, regions);
    fpo_run_scope(q, lane, FPO_SCOPE_ERROR, regions);
    const float *error = fpo_spread(q, lane, q->program->error, 0, regions);
    if (q->program->error_max) {
        fpo_amax_of_blocks(q, FPO_AMAX_NAN_WINS, error, regions->count, q->region_k, errors);
        return;
    }
    int whole = (int)(regions->count / q->region_k), i = 0;
    if (q->kernels->error_sums(q->program, error, q->region_k, whole, errors))
        i = whole;
    for (; i < regions->regions; i++) {
        int64_t begin = i * q->region_k, end = smaller(begin + q->region_k, regions->count);
        errors[i] = fpo_error_sum(q->program, error + begin, (int)(end - begin));
    }
}

void fpo_row_errors(const fpo_quantizer *q, fpo_lane *lane, int64_t row, float *errors)
{
    float part[FPO_REGIONS];
    row_scope(q, lane, row);
    fpo_span regions;
    for (int64_t first = 0; first < q->regions; first += regions.regions) {
        regions = regions_from(q, row, first);
        block_scope(q, lane, &regions);
        for (int attempt = 0; attempt < q->program->try_count; attempt++) {
            candidate_errors(q, lane, &regions, attempt, part);
            for (int i = 0; i < regions.regions; i++) {
                float *sum = &errors[attempt * q->regions + first + i];
                *sum = q->program->error_max ? fpo_amax_join(FPO_AMAX_NAN_WINS, *sum, part[i]) : *sum + part[i];
            }
        }
    }
}

/* Whether a search keeps what the codes are made of: not if it is one for a block, which follows from the choice. */
static bool keeps_codes(const fpo_quantizer *q)
{
    return q->program->try_count > 0 && q->region_choice == NULL &&
           fpo_per_element(q->program->registers[q->source[0]].scope);
}

/* The first candidate with the smallest error; one whose error is NaN never replaces another. What the codes of the
 * best are made of is kept. */
static void search(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *regions, uint8_t *choice)
{
    float best[FPO_REGIONS], errors[FPO_REGIONS];
    for (int attempt = 0; attempt < q->program->try_count; attempt++) {
        candidate_errors(q, lane, regions, attempt, errors);
        const float *codes = lane->values[q->source[0]];
        for (int i = 0; i < regions->regions; i++) {
            if (attempt > 0 && !(errors[i] < best[i]))
                continue;
            best[i] = errors[i];
            choice[i] = (uint8_t)attempt;
            int64_t begin = i * q->region_k, end = smaller(begin + q->region_k, regions->count);
            if (keeps_codes(q))
                memcpy(lane->kept + begin, codes + begin, (size_t)(end - begin) * sizeof *codes);
        }
    }
}

/* The chosen candidates' numbers, for the scopes that follow. */
static void choose(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *regions)
{
    const fpo_program *program = q->program;
    uint8_t found[FPO_REGIONS];
    const uint8_t *choice = found;
    if (q->region_choice != NULL)
        choice = q->region_choice + regions->row / q->region_rows * q->regions + regions->first;
    else
        search(q, lane, regions, found);
    for (int i = 0; i < regions->regions && program->attempt != FPO_NO_REGISTER; i++)
        lane->values[program->attempt][i] = program->tries[choice[i]];
}

static void store_scales(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *regions)
{
    fpo_format format = q->view->scale.format;
    if (format == FPO_FORMAT_NONE || regions->row % q->block_rows != 0)
        return;
    int64_t first = (regions->begin + q->block_k - 1) / q->block_k;
    int64_t to = regions->row / q->block_rows * q->scale_columns + first;
    int scope = q->program->registers[q->program->scale].scope;
    float *values = lane->values[q->program->scale];
    int count = (int)((regions->end + q->block_k - 1) / q->block_k - first);
    if (scope > FPO_SCOPE_ROW && q->block_k != q->region_k) {
        values = lane->argument[0];
        for (int i = 0; i < count; i++)
            values[i] = lane->values[q->program->scale][(first + i) * q->block_k / q->region_k - regions->first];
    }
    if (format == FPO_F32) {
        for (int i = 0; i < count; i++)
            ((float *)q->result->scales)[to + i] = fpo_canonical(values[i]);
    } else {
        q->kernels->encode(&q->scales, values, (uint8_t *)q->result->scales + to, count);
    }
}

/* The codes of a span, a piece at a time.
 *
 * The values of `code` are numbers of the element format: encoding them is exact. Where they come from a rounding to
 * it, that and the encoding are one, and so where a step has codes to begin with. */
static void store_codes(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *span)
{
    uint8_t *row = (uint8_t *)q->result->codes + span->row * q->code_row_bytes;
    const float *a = fpo_spread(q, lane, q->source[0], 0, span);
    const float *b = q->source[1] != FPO_NO_REGISTER ? fpo_spread(q, lane, q->source[1], 1, span) : a;
    for (int at = 0; at < span->count; at += FPO_PIECE) {
        int count = span->count - at < FPO_PIECE ? span->count - at : FPO_PIECE;
        uint8_t *to = row + fpo_packing_row_bytes(FPO_PACKING_CANONICAL, q->view->element, span->begin + at);
        fpo_fetch_some(lane);
        if (q->last != NULL && fpo_has_codes(q->last))
            q->kernels->nibbles_of_step(q->last, a + at, b + at, to, count);
        else
            q->kernels->encode(&q->codes, a + at, to, count);
    }
}

/* `next`: the element that follows in the order of work. */
static void quantize_elements(const fpo_quantizer *q, fpo_lane *lane, const fpo_span *regions, int64_t next)
{
    fpo_span span;
    for (int64_t at = regions->begin; at < regions->end; at = span.end) {
        span = elements_from(q, regions, at);
        if (q->keeps_input)
            lane->values[q->program->x] = lane->kept + (at - regions->begin);
        else
            fpo_load_elements(q, lane, &span);
        fpo_load_random(q, lane, &span);
        fpo_fetch_ahead(q, lane, next + (at - regions->begin), &span);
        fpo_run_scope(q, lane, FPO_SCOPE_ELEMENT, &span);
        store_codes(q, lane, &span);
    }
}

void fpo_quantize_rows(const fpo_quantizer *q, fpo_lane *lane, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row++)
        row_scope(q, lane, row);
    fpo_span regions;
    for (int64_t first = 0; first < q->regions; first += regions.regions) {
        regions = regions_from(q, begin, first);
        block_scope(q, lane, &regions);
        if (q->program->try_count > 0)
            choose(q, lane, &regions);
        fpo_run_scope(q, lane, FPO_SCOPE_TRY, &regions);
        for (int64_t row = begin; row < end; row++) {
            regions.row = row;
            store_scales(q, lane, &regions);
            if (keeps_codes(q)) {
                lane->values[q->source[0]] = lane->kept;
                store_codes(q, lane, &regions);
                continue;
            }
            int64_t next = row + 1 < end ? (row + 1) * q->k + regions.begin : begin * q->k + regions.end;
            quantize_elements(q, lane, &regions, next);
        }
    }
}

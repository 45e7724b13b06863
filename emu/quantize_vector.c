/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* One step of a recipe on many values. */
#include "quantizer.h"

#include <stdlib.h>

static void fill(float *to, float value, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = value;
}

bool fpo_lane_init(fpo_lane *lane, const fpo_quantizer *q)
{
    fegetenv(&lane->environment);
    fesetenv(FE_DFL_ENV);
    lane->entered = true;
    size_t registers = (size_t)(3 + q->plan.slots) * FPO_CHUNK;
    lane->memory = aligned_alloc(FPO_LINE, (registers + (size_t)q->kept) * sizeof(float));
    if (lane->memory == NULL)
        return false;
    lane->kept = q->kept > 0 ? lane->memory + registers : NULL;
    for (int i = 0; i < 3; i++)
        lane->argument[i] = lane->memory + (size_t)i * FPO_CHUNK;
    for (int r = 0; r < q->program->register_count; r++) {
        float *at = lane->memory + (size_t)(3 + q->plan.slot[r]) * FPO_CHUNK;
        lane->values[r] = lane->own[r] = at;
        if (q->used[r] && q->program->registers[r].scope == FPO_SCOPE_TENSOR)
            fill(at, (float)q->tensor[r], q->reach[r]);
    }
    return true;
}

void fpo_lane_free(fpo_lane *lane)
{
    free(lane->memory);
    if (lane->entered)
        fesetenv(&lane->environment);
}

void fpo_repeat(const fpo_quantizer *q, fpo_lane *lane, int r)
{
    fill(lane->values[r], lane->values[r][0], q->reach[r]);
}

/* The first of a register's values for a span: one for each of its regions where it has that many. */
static const float *values_from(const fpo_quantizer *q, const fpo_lane *lane, int r, const fpo_span *span)
{
    int scope = q->program->registers[r].scope;
    bool of_regions = scope > FPO_SCOPE_ROW && !fpo_per_element(scope);
    return lane->values[r] + (of_regions ? span->first - span->base : 0);
}

const float *fpo_spread(const fpo_quantizer *q, fpo_lane *lane, int r, int slot, const fpo_span *span)
{
    int scope = q->program->registers[r].scope;
    const float *values = values_from(q, lane, r, span);
    if (scope <= FPO_SCOPE_ROW || fpo_per_element(scope) || q->region_k == 1)
        return values;
    float *to = lane->argument[slot];
    q->kernels->spread(values, q->region_k, to, span->count);
    return to;
}

static void round_randomly(const fpo_quantizer *q, const fpo_recipe_step *step, const float *x, float *to,
                           const fpo_span *span)
{
    uint32_t bits[FPO_CHUNK];
    fpo_span_bits(q, span, bits);
    if (q->kernels->round_randomly(step, bits, x, to, span->count))
        return;
    for (int i = 0; i < span->count; i++) {
        uint32_t code = fpo_encode(step->format, fpo_value_from_float(x[i]), &step->cast, bits[i]);
        to[i] = (float)fpo_decode_double(step->format, code);
    }
}

/* An element by a value of its block, or of all. */
static void step_of_blocks(const fpo_quantizer *q, fpo_lane *lane, const fpo_recipe_step *step, const fpo_span *span)
{
    int b = step->argument[1];
    int64_t block = q->program->registers[b].scope > FPO_SCOPE_ROW ? q->region_k : span->count;
    q->kernels->step_of_blocks(step, lane->values[step->argument[0]], values_from(q, lane, b, span), block,
                               lane->values[step->to], span->count);
}

/* A choice that turns out the same way in all blocks of a span: the chosen register stands for the result. */
static bool choose_register(const fpo_quantizer *q, fpo_lane *lane, const fpo_recipe_step *step, const fpo_span *span)
{
    int condition = step->argument[0];
    int scope = q->program->registers[condition].scope;
    if (step->function != FPO_FN_SELECT || fpo_per_element(scope))
        return false;
    const float *values = values_from(q, lane, condition, span);
    int count = scope > FPO_SCOPE_ROW ? span->regions : 1;
    bool chosen = values[0] != 0;
    for (int i = 1; i < count; i++)
        if ((values[i] != 0) != chosen)
            return false;
    int from = step->argument[chosen ? 1 : 2];
    scope = q->program->registers[from].scope;
    if (scope > FPO_SCOPE_ROW && !fpo_per_element(scope))
        return false;
    lane->values[step->to] = lane->values[from];
    return true;
}

static void run_step(const fpo_quantizer *q, fpo_lane *lane, const struct fpo_planned *planned, const fpo_span *span)
{
    const fpo_recipe_step *step = planned->step;
    bool elements = fpo_per_element(step->scope);
    lane->values[step->to] = lane->own[step->to];
    if (planned->by_blocks) {
        step_of_blocks(q, lane, step, span);
        return;
    }
    if (elements && choose_register(q, lane, step, span))
        return;
    int count = elements ? span->count : step->scope == FPO_SCOPE_ROW ? 1 : span->regions;
    float *to = lane->values[step->to];
    const float *arguments[3] = {to, to, to};
    for (int i = 0; i < 3 && step->argument[i] != FPO_NO_REGISTER; i++)
        arguments[i] = elements ? fpo_spread(q, lane, step->argument[i], i, span) : lane->values[step->argument[i]];
    if (step->function == FPO_FN_ENCODE && step->cast.rounding == FPO_STOCHASTIC)
        round_randomly(q, step, arguments[0], to, span);
    else
        q->kernels->step(step, arguments[0], arguments[1], arguments[2], to, count);
    if (step->scope == FPO_SCOPE_ROW)
        fpo_repeat(q, lane, step->to);
}

void fpo_fetch_ahead(const fpo_quantizer *q, fpo_lane *lane, int64_t next, const fpo_span *span)
{
    int times = q->plan.begin[FPO_SCOPE_ELEMENT + 1] - q->plan.begin[FPO_SCOPE_ELEMENT] + FPO_PIECES;
    int lines = (int)((size_t)span->count * sizeof *q->x / FPO_LINE);
    lane->ahead = (uintptr_t)q->x + (uintptr_t)next * sizeof *q->x;
    lane->ahead_at_once = (lines + times - 1) / times;
}

void fpo_fetch_some(fpo_lane *lane)
{
    for (int line = 0; line < lane->ahead_at_once; line++, lane->ahead += FPO_LINE)
        fpo_fetch(lane->ahead);
}

void fpo_run_scope(const fpo_quantizer *q, fpo_lane *lane, fpo_scope scope, const fpo_span *span)
{
    for (int i = q->plan.begin[scope]; i < q->plan.begin[scope + 1]; i++) {
        if (scope == FPO_SCOPE_ELEMENT)
            fpo_fetch_some(lane);
        run_step(q, lane, &q->plan.steps[i], span);
    }
}

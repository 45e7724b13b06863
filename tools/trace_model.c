/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A modelled accumulation of one element: instructions, promotions, parts of K and their sum, in the kernel's order. */
#include "split.h"
#include "trace.h"
#include "trace_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct walk {
    const fpo_trace *trace;
    const fpo_accumulation *accumulation;
    fpo_panel a, b; /* one row each */
    json_t *events;
    int64_t shown; /* instructions shown in detail so far */
    int64_t part;
} walk;

static json_t *new_event(walk *w, const char *kind)
{
    json_t *event = json_pack("{s:s, s:I}", "event", kind, "part", (json_int_t)w->part);
    json_array_append_new(w->events, event);
    return event;
}

static json_t *float_json(float value)
{
    return json_pack("{s:s, s:s}", "bits", fpo_hex_text(FPO_F32, fpo_bits_of_float(value)).text, "value",
                     fpo_value_text(fpo_value_from_float(value)).text);
}

static float add(float x, float y)
{
    return fpo_canonical(x + y);
}

/* One fused multiply-add per element: a block of them is one event. */
static uint32_t fma_instruction(walk *w, int64_t k, uint32_t c, json_t *event)
{
    float sum = fpo_canonical(fmaf(w->a.values[k], w->b.values[k], fpo_float_of_bits(c)));
    json_object_set_new(event, "a", float_json(w->a.values[k]));
    json_object_set_new(event, "b", float_json(w->b.values[k]));
    json_object_set_new(event, "result", float_json(sum));
    return fpo_bits_of_float(sum);
}

static uint32_t instruction(walk *w, int64_t index, uint32_t c)
{
    const fpo_step *step = &w->accumulation->step;
    int64_t k = w->trace->context->problem->k;
    int64_t first = index * step->k, end = first + step->k < k ? first + step->k : k;
    bool fma = step->kind == FPO_STEP_FMA;
    bool detailed = w->shown / (fma ? 16 : 1) < w->trace->detailed;
    w->shown++;
    json_t *event = new_event(w, fma ? "fma" : "instruction");
    json_object_set_new(event, "k", json_pack("[I, I]", (json_int_t)first, (json_int_t)end));
    json_object_set_new(event, "detailed", json_boolean(detailed));
    return fma ? fma_instruction(w, first, c, event)
               : fpo_trace_instruction(step, &w->a, &w->b, index, c, detailed, event);
}

/* The instructions of a part, in order. */
typedef struct sequence {
    int64_t *steps;
    int64_t count;
} sequence;

static bool sequence_of(const fpo_split *split, fpo_part part, int64_t step_k, sequence *s)
{
    int64_t per_tile = (split->tile_k + step_k - 1) / step_k, all = (split->k + step_k - 1) / step_k;
    s->count = 0;
    s->steps = malloc((size_t)(part.count * per_tile + 1) * sizeof *s->steps);
    if (s->steps == NULL)
        return false;
    for (int64_t tile = 0; tile < part.count; tile++) {
        for (int64_t i = 0; i < per_tile; i++) {
            int64_t step = (part.first + tile * part.stride) * per_tile + i;
            if (step < all)
                s->steps[s->count++] = step;
        }
    }
    return true;
}

static float chain(walk *w, const sequence *s, int64_t q0, int64_t q1)
{
    uint32_t bits = 0;
    for (int64_t q = q0; q < q1; q++)
        bits = instruction(w, s->steps[q], bits);
    return fpo_accumulator_value(&w->accumulation->step, bits);
}

static float partial_sum(walk *w, const sequence *s, int64_t q0, int64_t q1)
{
    int64_t inner = w->accumulation->schedule.inner_k / w->accumulation->step.k;
    if (inner == 0)
        return chain(w, s, q0, q1);
    float result = 0;
    for (int64_t q = q0; q < q1; q += inner) {
        float next = chain(w, s, q, q + inner < q1 ? q + inner : q1);
        result = q == q0 ? next : add(result, next);
        json_object_set_new(new_event(w, "inner sum"), "result", float_json(result));
    }
    return result;
}

/* The f32 scale of the K block of element k, 1 where the accumulation has none of its own. */
static float block_scale(const fpo_prepared *operand, int64_t row, int64_t k)
{
    if (operand->scale.format != FPO_F32 || operand->scale.block_k == 0)
        return 1.0f;
    return fpo_float_of_bits(fpo_trace_scale(operand, row, k));
}

static const char *promotion_formula(fpo_promotion promotion)
{
    switch (promotion) {
    case FPO_PROMOTE_ADD: return "total + p";
    case FPO_PROMOTE_FMA_AB: return "fma(p, sA*sB, total)";
    case FPO_PROMOTE_FMA_B_THEN_A: return "fma(p*sB, sA, total)";
    case FPO_PROMOTE_FMA_A_THEN_B: return "fma(p*sA, sB, total)";
    case FPO_PROMOTE_MUL_AB_ADD: return "total + p*(sA*sB)";
    case FPO_PROMOTE_MUL_A_B_ADD: return "total + (p*sA)*sB";
    case FPO_PROMOTE_MUL_B_A_ADD: return "total + (p*sB)*sA";
    }
    return "?";
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

static float part_sum(walk *w, const sequence *s)
{
    const fpo_schedule *schedule = &w->accumulation->schedule;
    if (schedule->promote_k == 0)
        return chain(w, s, 0, s->count);
    int64_t interval = schedule->promote_k / w->accumulation->step.k;
    float total = 0;
    for (int64_t q = 0; q < s->count; q += interval) {
        float p = partial_sum(w, s, q, q + interval < s->count ? q + interval : s->count);
        int64_t k = s->steps[q] * w->accumulation->step.k;
        float sa = block_scale(&w->trace->context->a, w->trace->row, k);
        float sb = block_scale(&w->trace->context->b, w->trace->column, k);
        total = schedule->swap_ab ? promote(schedule->promotion, p, sb, sa, total)
                                  : promote(schedule->promotion, p, sa, sb, total);
        json_t *event = new_event(w, "promotion");
        json_object_set_new(event, "formula", json_string(promotion_formula(schedule->promotion)));
        json_object_set_new(event, "partial_sum", float_json(p));
        json_object_set_new(event, "scale_a", float_json(sa));
        json_object_set_new(event, "scale_b", float_json(sb));
        json_object_set_new(event, "result", float_json(total));
    }
    return total;
}

/* A sum that flushes subnormal inputs and results: atom.global.add.f32. */
static float flushed(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

static float reduce(const fpo_schedule *schedule, float *parts, int64_t count)
{
    float sum = parts[0];
    int64_t half = (count + 1) / 2;
    switch (schedule->reduction) {
    case FPO_REDUCE_SERIAL:
        for (int64_t i = 1; i < count; i++)
            sum = add(sum, parts[i]);
        return sum;
    case FPO_REDUCE_PAIRWISE:
        for (; count > 1; count = (count + 1) / 2) {
            for (int64_t i = 0; i < (count + 1) / 2; i++)
                parts[i] = 2 * i + 1 < count ? add(parts[2 * i], parts[2 * i + 1]) : parts[2 * i];
        }
        return parts[0];
    case FPO_REDUCE_HALVES:
        sum = parts[count - 1];
        for (int64_t i = 0; i < half && count > 1; i++)
            sum = add(sum, i + half < count - 1 ? add(parts[i], parts[i + half]) : parts[i]);
        return sum;
    case FPO_REDUCE_LAST_ADDS:
        for (int64_t i = 1; i < count - 1; i++)
            sum = schedule->flush_subnormals ? flushed(add(flushed(sum), flushed(parts[i]))) : add(sum, parts[i]);
        return count == 1 ? sum : add(parts[count - 1], sum);
    }
    return sum;
}

static fpo_status walk_parts(walk *w, float *result, fpo_error *error)
{
    const fpo_gemm_problem *problem = w->trace->context->problem;
    fpo_split split = fpo_split_of(&w->accumulation->schedule, problem->m, problem->n, problem->k);
    int64_t count = fpo_split_parts(&split, w->trace->row, w->trace->column);
    float *parts = malloc((size_t)count * sizeof *parts);
    if (parts == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld parts of K", (long long)count);
    for (w->part = 0; w->part < count; w->part++) {
        sequence s;
        fpo_part part = fpo_split_part(&split, w->trace->row, w->trace->column, w->part);
        if (!sequence_of(&split, part, w->accumulation->step.k, &s)) {
            free(parts);
            return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for the instructions of K = %lld",
                            (long long)problem->k);
        }
        parts[w->part] = part_sum(w, &s);
        free(s.steps);
        if (count > 1)
            json_object_set_new(new_event(w, "part"), "result", float_json(parts[w->part]));
    }
    *result = reduce(&w->accumulation->schedule, parts, count);
    free(parts);
    return FPO_OK;
}

fpo_status fpo_trace_model(const fpo_trace *trace, json_t *object, mpfr_ptr accumulator, fpo_error *error)
{
    const fpo_gemm_context *c = trace->context;
    walk w = {.trace = trace, .accumulation = &c->spec->accumulation, .events = json_array()};
    float result = 0;
    fpo_status status = fpo_panel_build(&w.accumulation->step, &c->a, trace->row, 1, &w.a, error);
    if (status == FPO_OK)
        status = fpo_panel_build(&w.accumulation->step, &c->b, trace->column, 1, &w.b, error);
    if (status == FPO_OK)
        status = walk_parts(&w, &result, error);
    fpo_panel_free(&w.a);
    fpo_panel_free(&w.b);
    json_object_set_new(object, "steps", w.events);
    if (status != FPO_OK)
        return status;
    fpo_value_to_mpfr(accumulator, fpo_value_from_float(result));
    json_object_set_new(object, "accumulator", json_string(fpo_mpfr_text(accumulator).text));
    json_object_set_new(object, "accumulator_bits", json_string(fpo_hex_text(FPO_F32, fpo_bits_of_float(result)).text));
    return FPO_OK;
}

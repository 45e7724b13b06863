/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* One step of a recipe on many values. */
#include "quantizer.h"

#include <stdlib.h>

bool fpo_lane_init(fpo_lane *lane, const fpo_quantizer *q)
{
    int count = q->program->register_count + 3;
    lane->memory = malloc((size_t)count * FPO_CHUNK * sizeof(float));
    lane->codes = malloc(FPO_CHUNK);
    for (int r = 0; r < count && lane->memory != NULL; r++) {
        float *at = lane->memory + (size_t)r * FPO_CHUNK;
        if (r < 3)
            lane->argument[r] = at;
        else
            lane->values[r - 3] = at;
    }
    return lane->memory != NULL && lane->codes != NULL;
}

void fpo_lane_free(fpo_lane *lane)
{
    free(lane->memory);
    free(lane->codes);
}

static bool per_element(int scope)
{
    return scope == FPO_SCOPE_INPUT || scope >= FPO_SCOPE_ELEMENT;
}

static void fill(float *to, float value, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = value;
}

/* A register as `count` values, one for each of the step's; `slot` is where they go if they have to be spread. */
static const float *spread(const fpo_quantizer *q, fpo_lane *lane, int r, int slot, bool elements, int count,
                           const fpo_span *span)
{
    const fpo_register *value = &q->program->registers[r];
    float *to = lane->argument[slot];
    if (value->scope == FPO_SCOPE_TENSOR) {
        fill(to, (float)q->tensor[r], count);
        return to;
    }
    if (value->scope == FPO_SCOPE_ROW) {
        fill(to, lane->values[r][0], count);
        return to;
    }
    if (!elements || per_element(value->scope))
        return lane->values[r];
    int64_t column = span->begin;
    for (int region = 0; region < span->regions; region++) {
        int64_t end = (span->first + region + 1) * q->region_k;
        if (end > span->end)
            end = span->end;
        fill(to + (column - span->begin), lane->values[r][region], (int)(end - column));
        column = end;
    }
    return to;
}

/* 16 elements times the Hadamard matrix over 4, signs first; sums in order, f32. TransformerEngine
 * pytorch/tensor/nvfp4_tensor.py. */
static void hadamard(const float *x, float *to, int count)
{
    static const int signs[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
    for (int base = 0; base + 16 <= count; base += 16)
        for (int j = 0; j < 16; j++) {
            float sum = 0;
            for (int i = 0; i < 16; i++) {
                bool negative = __builtin_parity((unsigned)(i & j)) != (signs[i] < 0);
                sum += negative ? -0.25f * x[base + i] : 0.25f * x[base + i];
            }
            to[base + j] = sum;
        }
}

static void run_step(const fpo_quantizer *q, fpo_lane *lane, const fpo_recipe_step *step, const fpo_span *span)
{
    bool elements = per_element(step->scope);
    int count = elements ? span->count : step->scope == FPO_SCOPE_ROW ? 1 : span->regions;
    float *to = lane->values[step->to];
    const float *arguments[3] = {to, to, to};
    for (int i = 0; i < 3 && step->argument[i] != FPO_NO_REGISTER; i++)
        arguments[i] = spread(q, lane, step->argument[i], i, elements, count, span);
    if (step->function == FPO_FN_HADAMARD) {
        hadamard(arguments[0], to, count);
        return;
    }
    for (int i = 0; i < count; i++)
        to[i] = (float)fpo_recipe_apply(step, arguments[0][i], arguments[1][i], arguments[2][i]);
}

void fpo_run_scope(const fpo_quantizer *q, fpo_lane *lane, fpo_scope scope, const fpo_span *span)
{
    for (int i = 0; i < q->program->step_count; i++)
        if (q->live[i] && q->program->steps[i].scope == scope)
            run_step(q, lane, &q->program->steps[i], span);
}

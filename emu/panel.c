/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Panels: operand rows decoded once, for all the outputs of a tile. */
#include "panel.h"

#include <stdlib.h>

/* Scales that the instruction itself takes: not f32 ones, which belong to the promotion or the epilogue. */
static bool scales_in_step(const fpo_step *step, const fpo_prepared *operand)
{
    return operand->scales != NULL && operand->scale.block_k > 0 && operand->scale.format != FPO_F32 &&
           !step->dequantised;
}

/* Scales that a dequantising kernel multiplies into the operand. */
static bool scales_in_operand(const fpo_step *step, const fpo_prepared *operand)
{
    return operand->scales != NULL && operand->scale.block_k > 0 && step->dequantised;
}

static int64_t padded_k(const fpo_step *step, const fpo_prepared *operand)
{
    return (operand->k + step->k - 1) / step->k * step->k;
}

size_t fpo_panel_row_bytes(const fpo_step *step, const fpo_prepared *operand)
{
    return (size_t)padded_k(step, operand) * (sizeof(fpo_digits) + sizeof(float) + sizeof(int16_t) + 1);
}

fpo_fast_path fpo_panel_path(const fpo_step *step, const fpo_prepared *a, const fpo_prepared *b)
{
    bool a_scaled = scales_in_step(step, a), b_scaled = scales_in_step(step, b);
    return fpo_fast_path_for(step, a->element, b->element, a_scaled ? a->scale.format : FPO_FORMAT_NONE,
                             b_scaled ? b->scale.format : FPO_FORMAT_NONE, a->scale.block_k, b->scale.block_k);
}

/* ---- codes to digits ---- */

static uint32_t dequantised_code(const fpo_step *step, const fpo_prepared *operand, int64_t row, int64_t column)
{
    uint32_t code = fpo_load_code(operand->element, operand->codes, (size_t)(row * operand->k + column));
    if (!scales_in_operand(step, operand))
        return fpo_step_dequantise(step, operand->element, code, FPO_FORMAT_NONE, 0);
    fpo_format scale = operand->scale.format;
    uint32_t scale_code = fpo_load_code(scale, operand->scales, (size_t)fpo_scale_index(operand, row, column));
    return fpo_step_dequantise(step, operand->element, code, scale, scale_code);
}

static void build_dequantised_values(const fpo_step *step, const fpo_prepared *operand, fpo_panel *panel)
{
    for (int64_t r = 0; r < panel->rows; r++)
        for (int64_t k = 0; k < operand->k; k++)
            panel->values[r * panel->k + k] = fpo_float_of_bits(dequantised_code(step, operand, panel->first + r, k));
}

static void build_elements(const fpo_step *step, const fpo_prepared *operand, fpo_panel *panel)
{
    const fpo_digits zero = fpo_step_decode(step, step->dequantised ? step->operand_format : operand->element, 0);
    for (int64_t r = 0; r < panel->rows; r++) {
        fpo_digits *row = panel->elements + r * panel->k;
        int64_t at = panel->first + r;
        if (!step->dequantised)
            fpo_step_decode_codes(step, operand->element, operand->codes, at * operand->k, operand->k, row);
        for (int64_t k = 0; step->dequantised && k < operand->k; k++)
            row[k] = fpo_step_decode(step, step->operand_format, dequantised_code(step, operand, at, k));
        for (int64_t k = operand->k; k < panel->k; k++)
            row[k] = zero;
    }
}

static void build_scales(const fpo_step *step, const fpo_prepared *operand, fpo_panel *panel)
{
    const fpo_digits zero = fpo_step_decode_scale(step, operand->scale.format, 0);
    for (int64_t r = 0; r < panel->rows; r++)
        for (int64_t s = 0; s < panel->scale_columns; s++) {
            int64_t k = s * panel->block_k;
            fpo_digits *scale = &panel->scales[r * panel->scale_columns + s];
            *scale = k >= operand->k
                         ? zero
                         : fpo_step_decode_scale(step, operand->scale.format,
                                                 fpo_load_code(operand->scale.format, operand->scales,
                                                               (size_t)fpo_scale_index(operand, panel->first + r, k)));
        }
}

/* ---- digits to what the fast path reads ---- */

static bool is_special(fpo_digits x)
{
    return x.exponent >= FPO_EXPONENT_INFINITY;
}

/* 2^exponent for any digits: within the normal numbers of f32. */
static float power_of_two(int exponent)
{
    return fpo_float_of_bits((uint32_t)(exponent + 127) << 23);
}

static void mark_specials(const fpo_step *step, const fpo_digits *elements, const fpo_panel *panel, uint8_t *special)
{
    for (int64_t s = 0; s < panel->k / step->k; s++) {
        bool found = false;
        for (int64_t k = s * step->k; k < (s + 1) * step->k; k++)
            found = found || is_special(elements[k]);
        special[s] = found;
    }
}

static void mark_special_scales(const fpo_step *step, const fpo_digits *scales, const fpo_panel *panel,
                                uint8_t *special)
{
    for (int64_t s = 0; s < panel->scale_columns; s++) {
        int64_t last = ((s + 1) * panel->block_k - 1) / step->k, steps = panel->k / step->k;
        for (int64_t i = s * panel->block_k / step->k; is_special(scales[s]) && i <= last && i < steps; i++)
            special[i] = true;
    }
}

/* Element number i of an instruction, which starts at `elements`, in the order of its chained sums. */
static inline fpo_digits in_order(const fpo_digits *elements, const uint8_t *order, int i)
{
    fpo_digits x = elements[order[i]];
    if (is_special(x))
        x.significand = 0; /* never looked at, but a number */
    return x;
}

typedef struct fast_builder {
    const fpo_step *step;
    int fraction, lowest;
    uint8_t order[FPO_STEP_MAX_K];
} fast_builder;

/* Significands below 2, the exponents apart; or, where f32 has all the numbers, times the powers of two. */
static void build_products(const fast_builder *builder, bool narrow, const fpo_digits *elements, float *values,
                           int16_t *exponents)
{
    float unit = power_of_two(-builder->fraction);
    for (int i = 0; i < builder->step->k; i++) {
        fpo_digits x = in_order(elements, builder->order, i);
        bool zero = x.significand == 0;
        float scale = narrow && !zero ? power_of_two(x.exponent - builder->fraction) : unit;
        values[i] = (float)x.significand * scale;
        exponents[i] = zero ? FPO_FAST_ABSENT : x.exponent;
    }
}

static void build_groups(const fast_builder *builder, const fpo_digits *elements, int16_t *fixed, uint16_t *nonzero)
{
    for (int i = 0; i < builder->step->k; i++) {
        fpo_digits x = in_order(elements, builder->order, i);
        if (x.significand != 0) {
            fixed[i] = (int16_t)(x.significand * (1 << (x.exponent - builder->fraction - builder->lowest)));
            nonzero[i / FPO_FAST_GROUP] |= (uint16_t)(1u << (i % FPO_FAST_GROUP));
        } else {
            fixed[i] = 0;
        }
    }
}

static void build_fast(fpo_fast_kind kind, const fpo_step *step, const fpo_prepared *operand, fpo_panel *panel)
{
    fast_builder builder = {.step = step, .fraction = panel->fraction};
    if (kind == FPO_FAST_GROUPS)
        builder.lowest = fpo_fast_lowest(fpo_step_operand_format(step, operand->element));
    for (int i = 0; i < step->k; i++)
        builder.order[i] = (uint8_t)fpo_fast_order(step, i);
    for (int64_t r = 0; r < panel->rows; r++) {
        const fpo_digits *elements = panel->elements + r * panel->k;
        uint8_t *special = panel->special + r * (panel->k / step->k);
        mark_specials(step, elements, panel, special);
        if (panel->scales != NULL)
            mark_special_scales(step, panel->scales + r * panel->scale_columns, panel, special);
        for (int64_t at = r * panel->k; at < (r + 1) * panel->k; at += step->k)
            if (kind == FPO_FAST_GROUPS)
                build_groups(&builder, panel->elements + at, panel->numbers + at, panel->nonzero + at / FPO_FAST_GROUP);
            else
                build_products(&builder, kind == FPO_FAST_NARROW, panel->elements + at, panel->values + at,
                               panel->numbers + at);
    }
}

/* ---- the panel ---- */

static bool allocate(const fpo_step *step, fpo_fast_kind fast, fpo_panel *panel)
{
    size_t elements = (size_t)(panel->rows * panel->k), scales = (size_t)(panel->rows * panel->scale_columns);
    bool fma = step->kind == FPO_STEP_FMA, ok = true;
    if (fma || fast == FPO_FAST_NARROW || fast == FPO_FAST_WIDE)
        ok = ok && (panel->values = calloc(elements, sizeof *panel->values)) != NULL;
    if (!fma)
        ok = ok && (panel->elements = malloc(elements * sizeof *panel->elements)) != NULL;
    if (scales > 0)
        ok = ok && (panel->scales = malloc(scales * sizeof *panel->scales)) != NULL;
    if (fast != FPO_FAST_NONE) {
        ok = ok && (panel->numbers = malloc(elements * sizeof *panel->numbers)) != NULL;
        ok = ok && (panel->special = malloc(elements / (size_t)step->k)) != NULL;
    }
    if (fast == FPO_FAST_GROUPS)
        ok = ok && (panel->nonzero = calloc(elements / FPO_FAST_GROUP, sizeof *panel->nonzero)) != NULL;
    return ok;
}

fpo_status fpo_panel_build_fast(const fpo_fast_path *path, const fpo_prepared *operand, int64_t first, int64_t rows,
                                fpo_panel *panel, fpo_error *error)
{
    const fpo_step *step = path->step;
    fpo_fast_kind fast = path->kind;
    *panel = (fpo_panel){.first = first, .rows = rows, .k = padded_k(step, operand)};
    bool fma = step->kind == FPO_STEP_FMA;
    if (!fma)
        panel->fraction = fpo_step_fraction(fpo_step_operand_format(step, operand->element));
    if (!fma && scales_in_step(step, operand)) {
        panel->block_k = operand->scale.block_k;
        panel->scale_columns = (panel->k + panel->block_k - 1) / panel->block_k;
        panel->scale_fraction = fpo_step_fraction(operand->scale.format);
    }
    if (!allocate(step, fast, panel)) {
        fpo_panel_free(panel);
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %lld decoded rows of %lld elements", (long long)rows,
                        (long long)panel->k);
    }
    if (fma) {
        build_dequantised_values(step, operand, panel);
        return FPO_OK;
    }
    build_elements(step, operand, panel);
    if (panel->scale_columns > 0)
        build_scales(step, operand, panel);
    if (fast != FPO_FAST_NONE)
        build_fast(fast, step, operand, panel);
    return FPO_OK;
}

fpo_status fpo_panel_build(const fpo_step *step, const fpo_prepared *operand, int64_t first, int64_t rows,
                           fpo_panel *panel, fpo_error *error)
{
    const fpo_fast_path generic = {.kind = FPO_FAST_NONE, .step = step};
    return fpo_panel_build_fast(&generic, operand, first, rows, panel, error);
}

void fpo_panel_free(fpo_panel *panel)
{
    free(panel->elements);
    free(panel->scales);
    free(panel->values);
    free(panel->numbers);
    free(panel->nonzero);
    free(panel->special);
    *panel = (fpo_panel){0};
}

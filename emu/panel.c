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
    return (size_t)padded_k(step, operand) * sizeof(fpo_digits) * 2;
}

static uint32_t dequantised_code(const fpo_step *step, const fpo_prepared *operand, int64_t row, int64_t column)
{
    uint32_t code = fpo_load_code(operand->element, operand->codes, (size_t)(row * operand->k + column));
    if (!scales_in_operand(step, operand))
        return fpo_step_dequantise(step, operand->element, code, FPO_FORMAT_NONE, 0);
    fpo_format scale = operand->scale.format;
    uint32_t scale_code = fpo_load_code(scale, operand->scales, (size_t)fpo_scale_index(operand, row, column));
    return fpo_step_dequantise(step, operand->element, code, scale, scale_code);
}

static void build_values(const fpo_step *step, const fpo_prepared *operand, fpo_panel *panel)
{
    for (int64_t r = 0; r < panel->rows; r++)
        for (int64_t k = 0; k < operand->k; k++)
            panel->values[r * panel->k + k] = fpo_float_of_bits(dequantised_code(step, operand, panel->first + r, k));
}

static void build_elements(const fpo_step *step, const fpo_prepared *operand, fpo_panel *panel)
{
    fpo_digits table[256];
    bool narrow = fpo_format_describe(operand->element)->bits <= 8 && !step->dequantised;
    for (uint32_t code = 0; narrow && code < 256; code++)
        table[code] = fpo_step_decode(step, operand->element, code);
    const fpo_digits zero = fpo_step_decode(step, operand->element, 0);
    for (int64_t r = 0; r < panel->rows; r++) {
        fpo_digits *row = panel->elements + r * panel->k;
        const uint8_t *codes = (const uint8_t *)operand->codes + (panel->first + r) * operand->k; /* if narrow */
        for (int64_t k = 0; k < operand->k; k++) {
            if (narrow)
                row[k] = table[codes[k]];
            else if (step->dequantised)
                row[k] =
                    fpo_step_decode(step, step->operand_format, dequantised_code(step, operand, panel->first + r, k));
            else
                row[k] = fpo_step_decode(
                    step, operand->element,
                    fpo_load_code(operand->element, operand->codes, (size_t)((panel->first + r) * operand->k + k)));
        }
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

fpo_status fpo_panel_build(const fpo_step *step, const fpo_prepared *operand, int64_t first, int64_t rows,
                           fpo_panel *panel, fpo_error *error)
{
    *panel = (fpo_panel){.first = first, .rows = rows, .k = padded_k(step, operand)};
    bool fma = step->kind == FPO_STEP_FMA;
    if (!fma)
        panel->fraction = fpo_step_fraction(fpo_step_operand_format(step, operand->element));
    if (!fma && scales_in_step(step, operand)) {
        panel->block_k = operand->scale.block_k;
        panel->scale_columns = (panel->k + panel->block_k - 1) / panel->block_k;
        panel->scale_fraction = fpo_step_fraction(operand->scale.format);
        panel->scales = malloc((size_t)(rows * panel->scale_columns) * sizeof *panel->scales);
    }
    if (fma)
        panel->values = calloc((size_t)(rows * panel->k), sizeof *panel->values);
    else
        panel->elements = malloc((size_t)(rows * panel->k) * sizeof *panel->elements);
    if ((fma ? (void *)panel->values : (void *)panel->elements) == NULL ||
        (panel->scale_columns > 0 && panel->scales == NULL)) {
        fpo_panel_free(panel);
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %lld decoded rows of %lld elements", (long long)rows,
                        (long long)panel->k);
    }
    if (fma)
        build_values(step, operand, panel);
    else
        build_elements(step, operand, panel);
    if (panel->scale_columns > 0)
        build_scales(step, operand, panel);
    return FPO_OK;
}

void fpo_panel_free(fpo_panel *panel)
{
    free(panel->elements);
    free(panel->scales);
    free(panel->values);
    *panel = (fpo_panel){0};
}

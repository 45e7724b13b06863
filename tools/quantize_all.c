/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every recipe on one tensor. Two results are in memory at a time: the reference's and the recipe's; which of the
 * others a recipe is equal to, their digests tell. */
#include "quantize_all.h"
#include "digest.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct digests {
    fpo_digest codes, scales, rows;
    float tensor_scale;
} digests;

static bool same_view(const fpo_operand_view *x, const fpo_operand_view *y)
{
    return x->element == y->element && x->scale.format == y->scale.format &&
           x->scale.block_rows == y->scale.block_rows && x->scale.block_k == y->scale.block_k;
}

static fpo_recipe reference_of(fpo_recipe recipe)
{
    int first = 0;
    while (!same_view(&fpo_recipe_describe((fpo_recipe)first)->view, &fpo_recipe_describe(recipe)->view))
        first++;
    return (fpo_recipe)first;
}

/* The block (row, block) of the scale matrix has a difference. */
static void note_block(fpo_recipe_outcome *outcome, int64_t row, int64_t block)
{
    if (outcome->first_row >= 0 &&
        (outcome->first_row < row || (outcome->first_row == row && outcome->first_block <= block)))
        return;
    outcome->first_row = row;
    outcome->first_block = block;
}

static void compare_scales(const fpo_quantized_tensor *x, const fpo_quantized_tensor *y, fpo_recipe_outcome *outcome)
{
    const fpo_scale_view *view = &x->view.scale;
    int64_t rows = fpo_scale_rows(view, x->rows), columns = fpo_scale_columns(view, x->k);
    for (int64_t i = 0; i < rows * columns; i++) {
        if (fpo_load_code(view->format, x->data.scales, (size_t)i) ==
            fpo_load_code(view->format, y->data.scales, (size_t)i))
            continue;
        outcome->scales_different++;
        note_block(outcome, i / columns, i % columns);
    }
}

static void compare_codes(const fpo_quantized_tensor *x, const fpo_quantized_tensor *y, uint8_t *buffer,
                          fpo_recipe_outcome *outcome)
{
    const fpo_scale_view *view = &x->view.scale;
    fpo_format element = x->view.element;
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, element, x->k);
    uint8_t *one = buffer, *two = buffer + x->k;
    for (int64_t row = 0; row < x->rows; row++) {
        const char *of_x = (const char *)x->data.codes + row * row_bytes;
        const char *of_y = (const char *)y->data.codes + row * row_bytes;
        if (memcmp(of_x, of_y, (size_t)row_bytes) == 0)
            continue;
        fpo_unpack_row(FPO_PACKING_CANONICAL, element, x->k, of_x, one);
        fpo_unpack_row(FPO_PACKING_CANONICAL, element, x->k, of_y, two);
        for (int64_t k = 0; k < x->k; k++)
            if (one[k] != two[k]) {
                outcome->codes_different++;
                note_block(outcome, view->block_rows > 0 ? row / view->block_rows : 0,
                           view->block_k > 0 ? k / view->block_k : 0);
            }
    }
}

static digests digest(const fpo_quantized_tensor *tensor)
{
    const fpo_quantized *data = &tensor->data;
    size_t rows = data->row_scales != NULL ? (size_t)tensor->rows * sizeof *data->row_scales : 0;
    return (digests){fpo_digest_of(data->codes, data->codes_bytes), fpo_digest_of(data->scales, data->scales_bytes),
                     fpo_digest_of(data->row_scales, rows), data->tensor_scale};
}

static bool equal(const digests *x, const digests *y)
{
    return fpo_digest_equal(&x->codes, &y->codes) && fpo_digest_equal(&x->scales, &y->scales) &&
           fpo_digest_equal(&x->rows, &y->rows) && memcmp(&x->tensor_scale, &y->tensor_scale, sizeof(float)) == 0;
}

/* One recipe against its reference, whose result is `first` (or becomes it). */
static void compare(fpo_recipe recipe, fpo_recipe reference, const fpo_tensor_numbers *numbers,
                    fpo_quantized_tensor *first, uint8_t *buffer, fpo_recipe_outcomes *all, digests *seen)
{
    fpo_recipe_outcome *outcome = &all->outcomes[recipe];
    fpo_quantized_tensor result;
    *outcome = (fpo_recipe_outcome){
        .recipe = recipe, .same_as = FPO_RECIPE_COUNT, .first_row = -1, .first_block = -1, .tensor_scale = 1};
    if (recipe != reference && all->outcomes[reference].failed)
        outcome->error = all->outcomes[reference].error;
    outcome->failed = (recipe != reference && all->outcomes[reference].failed) ||
                      fpo_quantize_tensor(recipe, numbers, NULL, 0, &result, &outcome->error) != FPO_OK;
    if (outcome->failed)
        return;
    outcome->has_tensor_scale = result.has_tensor_scale;
    outcome->tensor_scale = result.data.tensor_scale;
    seen[recipe] = digest(&result);
    for (int other = 0; other < (int)recipe && outcome->same_as == FPO_RECIPE_COUNT; other++)
        if (all->reference[other] == reference && !all->outcomes[other].failed && equal(&seen[other], &seen[recipe]))
            outcome->same_as = (fpo_recipe)other;
    if (recipe == reference) {
        *first = result;
        return;
    }
    outcome->tensor_scale_differs = memcmp(&result.data.tensor_scale, &first->data.tensor_scale, sizeof(float)) != 0;
    compare_scales(first, &result, outcome);
    compare_codes(first, &result, buffer, outcome);
    fpo_quantized_tensor_free(&result);
}

fpo_recipe_outcomes *fpo_quantize_by_all(const fpo_tensor_numbers *numbers, fpo_error *error)
{
    fpo_recipe_outcomes *all = calloc(1, sizeof *all);
    digests *seen = calloc(FPO_RECIPE_COUNT, sizeof *seen);
    uint8_t *buffer = malloc((size_t)numbers->k * 2);
    if (all == NULL || seen == NULL || buffer == NULL) {
        fpo_fail(error, FPO_ERR_MEMORY, "out of memory for two rows of %lld codes", (long long)numbers->k);
        free(all);
        free(seen);
        free(buffer);
        return NULL;
    }
    all->codes = numbers->rows * numbers->k;
    for (int r = 0; r < FPO_RECIPE_COUNT; r++)
        all->reference[r] = reference_of((fpo_recipe)r);
    for (int reference = 0; reference < FPO_RECIPE_COUNT; reference++) {
        fpo_quantized_tensor first = {0};
        const fpo_scale_view *scale = &fpo_recipe_describe((fpo_recipe)reference)->view.scale;
        for (int r = reference; r < FPO_RECIPE_COUNT && all->reference[reference] == (fpo_recipe)reference; r++)
            if (all->reference[r] == (fpo_recipe)reference) {
                all->scales[r] = fpo_scale_rows(scale, numbers->rows) * fpo_scale_columns(scale, numbers->k);
                compare((fpo_recipe)r, (fpo_recipe)reference, numbers, &first, buffer, all, seen);
            }
        fpo_quantized_tensor_free(&first);
    }
    free(seen);
    free(buffer);
    return all;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Probes through a recipe. */
#include "recipe_probe.h"

#include "assertions.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A view without blocks along K has rows as short as the probes. */
enum { SHORT_ROW = 8 };

static int64_t block_length(const fpo_operand_view *view)
{
    return view->scale.block_k > 0 ? view->scale.block_k : SHORT_ROW;
}

static void put_block(const fpo_probe *probe, int64_t length, float *to)
{
    for (int64_t i = 0; i < length; i++)
        to[i] = probe->filled ? probe->x[0] : i < probe->count ? probe->x[i] : 0;
}

/* The scale and the codes of block `block` of a tensor; `codes` has them one a byte. */
static fpo_outcome outcome_of(const fpo_recipe_info *recipe, const fpo_probe *probe, const fpo_quantized *q,
                              const uint8_t *codes, int64_t block)
{
    int64_t length = block_length(&recipe->view);
    codes += block * length;
    fpo_outcome outcome = {.multiplier = q->tensor_scale};
    outcome.scale =
        fpo_load_code(recipe->view.scale.format, q->scales, recipe->view.scale.block_rows == 0 ? 0 : (size_t)block);
    outcome.bytes = XXH64(codes, (size_t)length, outcome.scale);
    for (int i = 0; i < probe->count; i++)
        outcome.codes[i] = codes[i];
    outcome.rest = probe->filled ? codes[0] : codes[length - 1];
    return outcome;
}

/* A tensor of `blocks` blocks: one row of them, or one a row where a row has no blocks. */
static void quantize_blocks(const fpo_recipe_info *recipe, fpo_format dtype, const float *x, int64_t blocks,
                            fpo_quantized *q, uint8_t **codes)
{
    int64_t length = block_length(&recipe->view);
    bool in_row = recipe->view.scale.block_k > 0;
    int64_t rows = in_row ? 1 : blocks, k = in_row ? blocks * length : length;
    *q = (fpo_quantized){.codes_bytes = fpo_operand_codes_bytes(&recipe->view, rows, k),
                         .scales_bytes = fpo_operand_scales_bytes(&recipe->view, rows, k),
                         .dtype = dtype};
    q->codes = malloc(q->codes_bytes);
    q->scales = malloc(q->scales_bytes + 1);
    *codes = malloc((size_t)(rows * k));
    fpo_execution execution = {.threads = 1};
    fpo_error error;
    fpo_status status = fpo_quantize_by(recipe, x, rows, k, q, &execution, &error);
    ck_assert_msg(status == FPO_OK, "%s: %s", recipe->name, error.message);
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, recipe->view.element, k);
    for (int64_t row = 0; row < rows; row++)
        fpo_unpack_row(FPO_PACKING_CANONICAL, recipe->view.element, k, (uint8_t *)q->codes + row * row_bytes,
                       *codes + row * k);
}

static void release(fpo_quantized *q, uint8_t *codes)
{
    free(q->codes);
    free(q->scales);
    free(codes);
}

/* `count` probes with the same dtype and number in front. */
static void run_together(const fpo_recipe_info *recipe, const fpo_probe *probes, const uint32_t *which, size_t count,
                         fpo_outcome *outcomes)
{
    int64_t length = block_length(&recipe->view);
    int64_t front = probes[which[0]].tensor != 0;
    float *x = calloc((size_t)(((int64_t)count + front) * length), sizeof *x);
    x[0] = probes[which[0]].tensor;
    for (size_t i = 0; i < count; i++)
        put_block(&probes[which[i]], length, x + ((int64_t)i + front) * length);
    fpo_quantized q;
    uint8_t *codes;
    quantize_blocks(recipe, probes[which[0]].dtype, x, (int64_t)count + front, &q, &codes);
    for (size_t i = 0; i < count; i++)
        outcomes[which[i]] = outcome_of(recipe, &probes[which[i]], &q, codes, (int64_t)i + front);
    release(&q, codes);
    free(x);
}

fpo_outcome fpo_probe_run(const fpo_recipe_info *recipe, const fpo_probe *probe)
{
    fpo_outcome outcome;
    run_together(recipe, probe, &(uint32_t){0}, 1, &outcome);
    return outcome;
}

/* Blocks of one tensor share its amax: where that matters, only probes below a number in front are put together. */
static bool goes_alone(const fpo_recipe_info *recipe, const fpo_probe *probe)
{
    const fpo_operand_view *view = &recipe->view;
    if (strstr(recipe->text, "hadamard") != NULL)
        return true; /* the amax is that of what it makes of the numbers */
    bool finite = true;
    for (int i = 0; i < probe->count; i++)
        finite = finite && isfinite(probe->x[i]);
    bool shares = view->scale.format == FPO_UE4M3 || view->scale.block_rows == 0;
    return shares && (probe->tensor == 0 || !finite || view->scale.block_rows == 0);
}

void fpo_probes_run(const fpo_recipe_info *recipe, const fpo_probes *probes, fpo_outcome *outcomes)
{
    uint32_t *which = malloc(probes->count * sizeof *which);
    bool *done = calloc(probes->count, sizeof *done);
    for (size_t i = 0; i < probes->count; i++) {
        const fpo_probe *first = &probes->at[i];
        size_t count = 0;
        if (done[i])
            continue;
        for (size_t j = i; j < (goes_alone(recipe, first) ? i + 1 : probes->count); j++) {
            const fpo_probe *probe = &probes->at[j];
            if (done[j] || probe->dtype != first->dtype || probe->tensor != first->tensor ||
                (j > i && goes_alone(recipe, probe)))
                continue;
            done[j] = true;
            which[count++] = (uint32_t)j;
        }
        run_together(recipe, probes->at, which, count, outcomes);
    }
    free(which);
    free(done);
}

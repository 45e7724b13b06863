/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Layers that a server fuses (q, k and v; gate and up) as one operand: the rows of the first, then of the next. Of
 * differing tensor scales the largest as stored counts for all, as in vLLM 0.33.0 (modelopt.py and
 * compressed_tensors_w4a4_nvfp4.py): the largest multiplier, but also the largest divisor. Block scales stay. */
#include "hf_layer.h"

#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 8, NAME_SIZE = 512 };

typedef struct parts {
    fpo_hf_layer layers[MOST_PARTS];
    char names[MOST_PARTS][NAME_SIZE];
    size_t count;
} parts;

/* "PREFIX.PART" of each part of a list with commas. */
static fpo_status name_parts(parts *p, const char *prefix, const char *list, fpo_error *error)
{
    for (const char *at = list; *at != '\0'; p->count++) {
        size_t length = strcspn(at, ",");
        if (length == 0 || p->count == MOST_PARTS || strlen(prefix) + length + 2 > NAME_SIZE)
            return fpo_fail(error, FPO_ERR_ARGUMENT, "'%.80s' is no list of at most %d layers", list, MOST_PARTS);
        snprintf(p->names[p->count], NAME_SIZE, "%s%s%.*s", prefix, prefix[0] != '\0' ? "." : "", (int)length, at);
        at += length + (at[length] == ',' && at[length + 1] != '\0');
    }
    if (p->count < 2)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "'%.80s' names fewer than two layers", list);
    return FPO_OK;
}

static fpo_status belong_together(const fpo_hf *hf, const parts *p, size_t i, fpo_error *error)
{
    const fpo_hf_layer *first = &p->layers[0], *layer = &p->layers[i];
    const fpo_scale_view *view = &fpo_block_format_describe(layer->format)->view.scale;
    const fpo_text name = fpo_shown(p->names[i]);
    if (layer->k != first->k)
        return fpo_fail(error, FPO_ERR_SHAPE, "%s takes %lld inputs, the first one %lld: they are not fused", name.text,
                        (long long)layer->k, (long long)first->k);
    if (layer->has_tensor_scale != first->has_tensor_scale || layer->has_input_scale != first->has_input_scale)
        return fpo_fail(error, FPO_ERR_FILE,
                        "%s and the first layer do not both have a tensor scale and an input scale", name.text);
    if (view->block_rows > 1 && i + 1 < p->count && layer->rows % view->block_rows != 0)
        return fpo_fail(error, FPO_ERR_SHAPE, "%s has %lld rows: the next layer's would share its blocks of %d rows",
                        name.text, (long long)layer->rows, view->block_rows);
    bool whole = view->format != FPO_FORMAT_NONE && view->block_rows == 0;
    if (whole && memcmp(layer->weight.scales, first->weight.scales, layer->weight.scales_bytes) != 0)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "%s has another scale than the first layer: servers quantise such weights again", name.text);
    if (hf->scheme == FPO_SCHEME_TORCHAO_NVFP4 && layer->stored_tensor_scale != first->stored_tensor_scale)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "%s has another per_tensor_scale than the first layer: nothing fuses such ones", name.text);
    return FPO_OK;
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

static fpo_status join(const fpo_hf *hf, const parts *p, fpo_hf_layer *fused, fpo_error *error)
{
    *fused = p->layers[0];
    fused->scales = fused->codes = NULL;
    bool whole = fpo_block_format_describe(fused->format)->view.scale.block_rows == 0;
    for (size_t i = 1; i < p->count; i++) {
        const fpo_hf_layer *layer = &p->layers[i];
        fused->rows += layer->rows;
        fused->weight.codes_bytes += layer->weight.codes_bytes;
        fused->weight.scales_bytes += whole ? 0 : layer->weight.scales_bytes;
        fused->stored_tensor_scale = larger(fused->stored_tensor_scale, layer->stored_tensor_scale);
        fused->stored_input_scale = larger(fused->stored_input_scale, layer->stored_input_scale);
    }
    uint8_t *codes = fused->codes = malloc(fused->weight.codes_bytes);
    uint8_t *scales = fused->scales = malloc(fused->weight.scales_bytes);
    if (codes == NULL || scales == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld rows", (long long)fused->rows);
    fused->weight.codes = codes;
    fused->weight.scales = scales;
    for (size_t i = 0; i < p->count; i++) {
        const fpo_operand *from = &p->layers[i].weight;
        memcpy(codes, from->codes, from->codes_bytes);
        codes += from->codes_bytes;
        if (i == 0 || !whole) {
            memcpy(scales, from->scales, from->scales_bytes);
            scales += from->scales_bytes;
        }
    }
    fpo_hf_layer_scale(fpo_scheme_describe(hf->scheme), fused);
    return FPO_OK;
}

fpo_status fpo_hf_fused_read(fpo_hf *hf, const char *prefix, const char *list, fpo_hf_layer *fused, fpo_error *error)
{
    memset(fused, 0, sizeof *fused);
    parts *p = calloc(1, sizeof *p);
    if (p == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for the parts of %.80s", list);
    fpo_status status = name_parts(p, prefix, list, error);
    for (size_t i = 0; i < p->count && status == FPO_OK; i++) {
        status = fpo_hf_layer_read(hf, p->names[i], &p->layers[i], error);
        if (status == FPO_OK)
            status = belong_together(hf, p, i, error);
    }
    if (status == FPO_OK)
        status = join(hf, p, fused, error);
    if (status != FPO_OK)
        fpo_hf_layer_free(fused);
    for (size_t i = 0; i < MOST_PARTS; i++)
        fpo_hf_layer_free(&p->layers[i]);
    free(p);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A layer as numbers. */
#include "hf_checkpoint.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENT_CODES = 256 }; /* elements are of a byte at most */

void fpo_hf_layer_dequantise(const fpo_hf_layer *layer, float *values)
{
    const fpo_operand_view *view = &fpo_block_format_describe(layer->format)->view;
    int64_t columns = fpo_scale_columns(&view->scale, layer->k), block_rows = view->scale.block_rows,
            block_k = view->scale.block_k;
    const uint8_t *codes = layer->weight.codes;
    double numbers[ELEMENT_CODES], scale = 0;
    for (uint32_t code = 0; code < ELEMENT_CODES; code++)
        numbers[code] = fpo_decode_double(view->element, code);
    for (int64_t row = 0; row < layer->rows; row++)
        for (int64_t k = 0; k < layer->k; k++) {
            size_t at = (size_t)(row * layer->k + k);
            if (k == 0 || (block_k > 0 && k % block_k == 0)) {
                int64_t index = (block_rows > 0 ? row / block_rows : 0) * columns + (block_k > 0 ? k / block_k : 0);
                scale = fpo_decode_double(view->scale.format,
                                          fpo_load_code(view->scale.format, layer->weight.scales, (size_t)index));
            }
            uint32_t code = view->element == FPO_E2M1 ? codes[at / 2] >> (at % 2 * 4) & 0xF : codes[at];
            /* At most 4 + 24 significant bits, or 2 + 4 + 24: exact in double, so that it is rounded once. */
            values[at] = (float)(numbers[code] * scale * (double)layer->weight.tensor_scale);
        }
}

fpo_status fpo_hf_source_rows(const char *argument, bool *matches, int64_t *rows, int64_t *k, float **values,
                              fpo_error *error)
{
    const char *colon = strrchr(argument, ':');
    char *folder = colon != NULL ? strndup(argument, (size_t)(colon - argument)) : NULL;
    *values = NULL;
    *matches = folder != NULL && fpo_hf_is(folder);
    fpo_hf *hf = NULL;
    fpo_hf_layer layer = {0};
    fpo_status status = *matches ? fpo_hf_open(folder, &hf, error) : FPO_OK;
    if (hf != NULL)
        status = fpo_hf_layer_read(hf, colon + 1, &layer, error);
    if (hf != NULL && status == FPO_OK) {
        *rows = layer.rows;
        *k = layer.k;
        *values = malloc((size_t)(layer.rows * layer.k) * sizeof **values);
        if (*values != NULL)
            fpo_hf_layer_dequantise(&layer, *values);
        else
            status = fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld x %lld numbers", (long long)layer.rows,
                              (long long)layer.k);
    }
    fpo_hf_layer_free(&layer);
    fpo_hf_close(hf);
    free(folder);
    return status;
}

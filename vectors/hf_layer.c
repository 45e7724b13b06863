/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* One layer's tensors as an operand. */
#include "hf_layer.h"
#include "text.h"
#include "widen.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A layer while it is read. */
typedef struct reader {
    fpo_hf *hf;
    const fpo_scheme_info *scheme;
    const char *name;   /* the layer's */
    size_t length;      /* of its part that tensors have; an expert's number follows */
    int64_t expert;     /* -1: the tensors are this layer's alone */
    char *tensor;       /* the name of the tensor at hand */
    size_t tensor_size; /* of that buffer */
} reader;

static const char *tensor_name(reader *r, const char *suffix)
{
    snprintf(r->tensor, r->tensor_size, "%.*s%s", (int)r->length, r->name, suffix);
    return r->tensor;
}

static fpo_status get(reader *r, const char *suffix, const fpo_tensor **tensor, fpo_error *error)
{
    return fpo_checkpoint_tensor(r->hf->tensors, tensor_name(r, suffix), tensor, error);
}

static fpo_text shape_text(const fpo_tensor *tensor)
{
    fpo_text shape = {"["};
    for (size_t i = 0; i < tensor->rank; i++) {
        size_t used = strlen(shape.text);
        snprintf(shape.text + used, sizeof shape.text - used, "%s%lld", i ? ", " : "", (long long)tensor->shape[i]);
    }
    size_t used = strlen(shape.text);
    snprintf(shape.text + used, sizeof shape.text - used, "]");
    return shape;
}

static fpo_status wrong_dtype(const fpo_tensor *tensor, const char *wanted, fpo_error *error)
{
    return fpo_fail(error, FPO_ERR_FILE, "tensor %s is %s, not %s", fpo_shown(tensor->name).text,
                    fpo_dtype_name(tensor->dtype), wanted);
}

/* The part of a tensor that is this layer's: all of it, or one expert's; its dimensions without the experts'. */
typedef struct part {
    const uint8_t *bytes;
    size_t size, rank;
    const int64_t *shape;
} part;

static fpo_status take_part(const reader *r, const fpo_tensor *tensor, part *p, fpo_error *error)
{
    *p = (part){tensor->data, tensor->bytes, tensor->rank, tensor->shape};
    if (r->expert < 0)
        return FPO_OK;
    if (tensor->rank < 2 || r->expert >= tensor->shape[0])
        return fpo_fail(error, FPO_ERR_SHAPE, "tensor %s has the shape %s and no expert %lld",
                        fpo_shown(tensor->name).text, shape_text(tensor).text, (long long)r->expert);
    p->size = tensor->bytes / (size_t)tensor->shape[0];
    p->bytes += (size_t)r->expert * p->size;
    p->rank--;
    p->shape++;
    return FPO_OK;
}

static fpo_status read_codes(reader *r, fpo_hf_layer *layer, fpo_error *error)
{
    const fpo_tensor *tensor = NULL;
    part p;
    fpo_status status = get(r, r->scheme->codes, &tensor, error);
    if (status == FPO_OK)
        status = take_part(r, tensor, &p, error);
    if (status != FPO_OK)
        return status;
    bool nibbles = fpo_block_format_describe(layer->format)->view.element == FPO_E2M1;
    if (tensor->dtype != (nibbles ? FPO_DTYPE_U8 : FPO_DTYPE_F8_E4M3))
        return wrong_dtype(tensor, nibbles ? "U8 (two e2m1 codes a byte)" : "F8_E4M3", error);
    bool blocks = r->expert >= 0; /* [rows, blocks, 16] */
    if (p.rank != (blocks ? 3 : 2) || p.size == 0 || (blocks && p.shape[2] != 16))
        return fpo_fail(error, FPO_ERR_SHAPE, "tensor %s has the shape %s, not %s", fpo_shown(tensor->name).text,
                        shape_text(tensor).text, blocks ? "[experts, rows, blocks, 16]" : "[rows, columns]");
    layer->rows = p.shape[0];
    layer->k = (int64_t)(p.size / (size_t)p.shape[0]) * (nibbles ? 2 : 1);
    if (layer->rows > INT32_MAX || layer->k > INT32_MAX)
        return fpo_fail(error, FPO_ERR_SHAPE, "tensor %s: %lld x %lld is too large", fpo_shown(tensor->name).text,
                        (long long)layer->rows, (long long)layer->k);
    layer->weight.codes = p.bytes;
    layer->weight.codes_bytes = p.size;
    return FPO_OK;
}

/* Whether scales of this dtype can stand in a tensor of scales of that format. */
static bool fits(fpo_format format, fpo_dtype dtype)
{
    switch (format) {
    case FPO_UE4M3: return dtype == FPO_DTYPE_F8_E4M3;
    case FPO_UE8M0: return dtype == FPO_DTYPE_U8 || dtype == FPO_DTYPE_F8_E8M0;
    default:
        return dtype == FPO_DTYPE_F32 || dtype == FPO_DTYPE_BF16 || dtype == FPO_DTYPE_F16 ||
               dtype == FPO_DTYPE_F8_E8M0;
    }
}

/* torchao: {"_type": "NVFP4Tensor", "_data": {"is_swizzled_scales": true, ...}} in the file's metadata. */
static bool swizzled(reader *r)
{
    if (r->hf->scheme != FPO_SCHEME_TORCHAO_NVFP4)
        return false;
    char *scale = strdup(tensor_name(r, r->scheme->scale));
    const char *text = scale ? fpo_checkpoint_metadata(r->hf->tensors, scale, tensor_name(r, ".weight")) : NULL;
    json_t *described = text != NULL ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    bool result = json_is_true(json_object_get(json_object_get(described, "_data"), "is_swizzled_scales"));
    json_decref(described);
    free(scale);
    return result;
}

/* [rows, columns], and where one of them is 1 also a list, or a number without dimensions. */
static bool shape_fits(const part *p, int64_t rows, int64_t columns)
{
    if (p->rank == 2)
        return p->shape[0] == rows && p->shape[1] == columns;
    int64_t count = p->rank == 1 ? p->shape[0] : p->rank == 0 ? 1 : 0;
    return (rows == 1 || columns == 1) && count == rows * columns;
}

static fpo_status read_scales(reader *r, fpo_hf_layer *layer, fpo_error *error)
{
    const fpo_scale_view *view = &fpo_block_format_describe(layer->format)->view.scale;
    const fpo_tensor *tensor = NULL;
    part p;
    fpo_status status = get(r, r->scheme->scale, &tensor, error);
    if (status == FPO_OK)
        status = take_part(r, tensor, &p, error);
    if (status != FPO_OK)
        return status;
    if (!fits(view->format, tensor->dtype))
        return wrong_dtype(tensor,
                           view->format == FPO_UE4M3   ? "F8_E4M3"
                           : view->format == FPO_UE8M0 ? "U8 or F8_E8M0"
                                                       : "F32, BF16, F16 or F8_E8M0",
                           error);
    int64_t rows = fpo_scale_rows(view, layer->rows), columns = fpo_scale_columns(view, layer->k);
    bool tiles = swizzled(r);
    int64_t padded = fpo_layout_size(FPO_LAYOUT_128X4, rows, columns);
    if (tiles ? tensor->elements != padded : !shape_fits(&p, rows, columns))
        return fpo_fail(error, FPO_ERR_SHAPE,
                        "tensor %s has the shape %s, but %lld x %lld codes need %lld x %lld scales%s",
                        fpo_shown(tensor->name).text, shape_text(tensor).text, (long long)layer->rows,
                        (long long)layer->k, (long long)rows, (long long)columns, tiles ? ", in tiles of 128x4" : "");
    size_t width = fpo_format_describe(view->format)->storage_bytes;
    layer->weight.scales_bytes = (size_t)(rows * columns) * width;
    layer->weight.scales = layer->scales = malloc(layer->weight.scales_bytes);
    if (layer->scales == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu bytes of scales", layer->weight.scales_bytes);
    if (view->format == FPO_F32)
        fpo_widen(fpo_dtype_format(tensor->dtype), p.bytes, rows * columns, layer->scales);
    else if (tiles)
        fpo_layout_undo(FPO_LAYOUT_128X4, rows, columns, 1, p.bytes, layer->scales);
    else
        memcpy(layer->scales, p.bytes, layer->weight.scales_bytes);
    return FPO_OK;
}

/* One number; `there` is false where the tensor need not be and is not. */
static fpo_status read_number(reader *r, const char *suffix, bool *there, float *number, fpo_error *error)
{
    const fpo_tensor *tensor = NULL;
    *there = suffix[0] != 0 && fpo_checkpoint_has(r->hf->tensors, tensor_name(r, suffix));
    if (!*there)
        return FPO_OK;
    fpo_status status = get(r, suffix, &tensor, error);
    if (status != FPO_OK)
        return status;
    if (tensor->dtype != FPO_DTYPE_F32 && tensor->dtype != FPO_DTYPE_BF16 && tensor->dtype != FPO_DTYPE_F16)
        return wrong_dtype(tensor, "F32, BF16 or F16", error);
    if (tensor->elements != 1)
        return fpo_fail(error, FPO_ERR_SHAPE, "tensor %s has the shape %s, not one number",
                        fpo_shown(tensor->name).text, shape_text(tensor).text);
    fpo_widen(fpo_dtype_format(tensor->dtype), tensor->data, 1, number);
    if (!isfinite(*number) || *number < 0 || (*number == 0 && r->scheme->meaning == FPO_STORED_DIVISOR))
        return fpo_fail(error, FPO_ERR_FILE, "tensor %s is %g: no scale that anything can be %s by",
                        fpo_shown(tensor->name).text, (double)*number,
                        r->scheme->meaning == FPO_STORED_DIVISOR ? "divided" : "multiplied");
    return FPO_OK;
}

/* AWQ and SmoothQuant multiply the activations by a vector of their own (modelopt's pre_quant_scale) before they are
 * quantised. A vector without it would be of another layer than the checkpoint's. */
static fpo_status refuse_smoothing(reader *r, fpo_error *error)
{
    if (!fpo_checkpoint_has(r->hf->tensors, tensor_name(r, ".pre_quant_scale")))
        return FPO_OK;
    return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s scales the channels of its input (AWQ), which is not supported",
                    fpo_shown(r->tensor).text);
}

void fpo_hf_layer_scale(const fpo_scheme_info *scheme, fpo_hf_layer *layer)
{
    bool divisor = scheme->meaning == FPO_STORED_DIVISOR;
    if (layer->has_tensor_scale)
        layer->weight.tensor_scale = divisor ? 1 / layer->stored_tensor_scale : layer->stored_tensor_scale;
    if (layer->has_input_scale) {
        layer->input_scale = divisor ? 1 / layer->stored_input_scale : layer->stored_input_scale;
        layer->library_scale = divisor                                  ? layer->stored_input_scale
                               : scheme->activations == FPO_BLOCK_NVFP4 ? 1 / layer->stored_input_scale
                                                                        : layer->stored_input_scale;
    }
}

static fpo_status read_layer(reader *r, fpo_hf_layer *layer, fpo_error *error)
{
    const fpo_scheme_info *scheme = r->scheme;
    if (refuse_smoothing(r, error) != FPO_OK)
        return FPO_ERR_UNSUPPORTED;
    layer->format = scheme->weight;
    layer->weight.tensor_scale = 1;
    fpo_status status = read_codes(r, layer, error);
    if (status == FPO_OK)
        status = read_scales(r, layer, error);
    if (status == FPO_OK)
        status = read_number(r, scheme->tensor_scale, &layer->has_tensor_scale, &layer->stored_tensor_scale, error);
    /* torchao's per_tensor_scale is optional, and its absence means 1. */
    if (status == FPO_OK && !layer->has_tensor_scale && scheme->tensor_scale[0] != 0 &&
        r->hf->scheme != FPO_SCHEME_TORCHAO_NVFP4)
        return fpo_fail(error, FPO_ERR_FILE, "%s has no tensor %s", r->hf->folder,
                        fpo_shown(tensor_name(r, scheme->tensor_scale)).text);
    if (status == FPO_OK)
        status = read_number(r, scheme->input_scale, &layer->has_input_scale, &layer->stored_input_scale, error);
    fpo_hf_layer_scale(scheme, layer);
    return status;
}

/* "NAME.3": the tensors' part of the name, and the expert. */
static void split_expert(reader *r)
{
    const char *dot = strrchr(r->name, '.');
    r->expert = -1;
    r->length = strlen(r->name);
    if (dot == NULL || !fpo_hf_has_experts(r->hf->scheme))
        return;
    r->expert = strtoll(dot + 1, NULL, 10);
    r->length = (size_t)(dot - r->name);
}

static bool listed(const fpo_hf *hf, const char *name)
{
    for (size_t i = 0; i < hf->layer_count; i++)
        if (strcmp(hf->layers[i], name) == 0)
            return true;
    return false;
}

/* As many layers as a message has room for. */
static fpo_status no_layer(const fpo_hf *hf, const char *name, fpo_error *error)
{
    char list[300] = "";
    for (size_t i = 0; i < hf->layer_count && strlen(list) < 200; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", fpo_shown(hf->layers[i]).text);
    }
    if (name[0] == 0)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "which layer: %.80s has %zu: %s", hf->folder, hf->layer_count, list);
    return fpo_fail(error, FPO_ERR_ARGUMENT, "%.80s has no quantised layer %.80s, but %zu: %s", hf->folder,
                    fpo_shown(name).text, hf->layer_count, list);
}

fpo_status fpo_hf_layer_read(fpo_hf *hf, const char *name, fpo_hf_layer *layer, fpo_error *error)
{
    memset(layer, 0, sizeof *layer);
    if (!listed(hf, name))
        return no_layer(hf, name, error);
    reader r = {.hf = hf, .scheme = fpo_scheme_describe(hf->scheme), .name = name};
    split_expert(&r);
    r.tensor_size = strlen(name) + 64;
    r.tensor = malloc(r.tensor_size);
    if (r.tensor == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", hf->folder);
    fpo_status status = read_layer(&r, layer, error);
    free(r.tensor);
    if (status != FPO_OK)
        fpo_hf_layer_free(layer);
    return status;
}

void fpo_hf_layer_free(fpo_hf_layer *layer)
{
    free(layer->scales);
    free(layer->codes);
    memset(layer, 0, sizeof *layer);
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The worker's JSON read into the runner's structs. */
#include "info_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fpo_info_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const char *fpo_info_text_or(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = fpo_info_text(object, key);
    return text != NULL ? text : otherwise;
}

int64_t fpo_info_number(const json_t *object, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(object, key));
}

static int64_t at_least_one(int64_t x)
{
    return x >= 1 ? x : 1;
}

/* Notes the first thing that a kernel names and nobody knows. */
static void unknown(fpo_kernel_info *kernel, const char *where, const char *what, const char *name)
{
    if (kernel->unusable[0] == '\0') {
        snprintf(kernel->unusable, sizeof kernel->unusable, "%s %s '%s', which this runner does not know", where, what,
                 name);
    }
}

static fpo_format format_of(fpo_kernel_info *kernel, const char *where, const char *what, const char *name)
{
    fpo_format format = name != NULL ? fpo_format_by_name(name) : FPO_FORMAT_NONE;
    if (format == FPO_FORMAT_COUNT) {
        unknown(kernel, where, what, name);
        return FPO_FORMAT_NONE;
    }
    return format;
}

static fpo_layout layout_of(fpo_kernel_info *kernel, const char *where, const char *name)
{
    fpo_layout layout = name != NULL ? fpo_layout_by_name(name) : FPO_LAYOUT_LINEAR;
    if (layout == FPO_LAYOUT_COUNT) {
        unknown(kernel, where, "has the scale layout", name);
        return FPO_LAYOUT_LINEAR;
    }
    return layout;
}

static fpo_operand_want operand_of(fpo_kernel_info *kernel, const char *where, const json_t *json)
{
    const char *packing = fpo_info_text_or(json, "packing", "canonical");
    fpo_operand_want want = {
        .view = {.element = format_of(kernel, where, "has the element format", fpo_info_text(json, "element")),
                 .packing = fpo_packing_by_name(packing),
                 .scale = {.format = format_of(kernel, where, "has the scale format", fpo_info_text(json, "scale")),
                           .block_rows = (int32_t)fpo_info_number(json, "scale_rows"),
                           .block_k = (int32_t)fpo_info_number(json, "scale_k"),
                           .layout = layout_of(kernel, where, fpo_info_text(json, "scale_layout"))}},
        .mn_major = fpo_info_number(json, "major") == FPO_MAJOR_MN,
        .line_multiple = at_least_one(fpo_info_number(json, "line_multiple")),
        .scale_padding = (uint32_t)fpo_info_number(json, "scale_padding"),
    };
    if (want.scale_padding > FPO_PADDING_ZERO) {
        unknown(kernel, where, "has", "a rule for the padding of its scales");
    }
    if (want.view.packing == FPO_PACKING_COUNT) {
        unknown(kernel, where, "has the packing", packing);
        want.view.packing = FPO_PACKING_CANONICAL;
    }
    if (fpo_info_number(json, "major") > FPO_MAJOR_MN) {
        unknown(kernel, where, "is stored", "in an order");
    }
    if (want.view.element == FPO_FORMAT_NONE) {
        unknown(kernel, where, "has the element format", "none");
    }
    return want;
}

static fpo_matrix_want matrix_of(fpo_kernel_info *kernel, const json_t *json, const char *name)
{
    char key[32];
    fpo_matrix_want want = {.format = format_of(kernel, name, "has the format", fpo_info_text(json, name))};
    snprintf(key, sizeof key, "%s_order", name);
    want.column_major = fpo_info_number(json, key) == FPO_COLUMN_MAJOR;
    snprintf(key, sizeof key, "%s_line_multiple", name);
    want.line_multiple = at_least_one(fpo_info_number(json, key));
    return want;
}

fpo_kernel_order fpo_info_order(const json_t *json)
{
    return (fpo_kernel_order){
        .models = fpo_info_text(json, "models"),
        .epilogue = fpo_info_text(json, "epilogue"),
        .split = fpo_info_text(json, "split"),
        .reduction = fpo_info_text(json, "reduction"),
        .parts = (int32_t)fpo_info_number(json, "parts"),
        .tile_m = (int32_t)fpo_info_number(json, "tile_m"),
        .tile_n = (int32_t)fpo_info_number(json, "tile_n"),
        .tile_k = (int32_t)fpo_info_number(json, "tile_k"),
        .instruction_k = (int32_t)fpo_info_number(json, "instruction_k"),
        .quantum = (int32_t)fpo_info_number(json, "quantum"),
        .wave = (int32_t)fpo_info_number(json, "wave"),
        .min_k_tiles = (int32_t)fpo_info_number(json, "min_k_tiles"),
        .max_groups = (int32_t)fpo_info_number(json, "max_groups"),
        .swap_ab = (int32_t)fpo_info_number(json, "swap_ab"),
    };
}

static void capabilities_of(const json_t *array, int32_t *list)
{
    size_t count = json_array_size(array);
    for (size_t i = 0; i < count && i + 1 < FPO_CAPABILITIES; i++) {
        list[i] = (int32_t)json_integer_value(json_array_get(array, i));
    }
}

static void kernel_of(const json_t *json, fpo_kernel_info *kernel)
{
    kernel->name = fpo_info_text_or(json, "name", "?");
    kernel->summary = fpo_info_text_or(json, "summary", "");
    kernel->source = fpo_info_text(json, "source");
    kernel->fault = fpo_info_text(json, "fault");
    kernel->a = operand_of(kernel, "A", json_object_get(json, "a"));
    kernel->b = operand_of(kernel, "B", json_object_get(json, "b"));
    kernel->c = matrix_of(kernel, json, "c");
    kernel->d = matrix_of(kernel, json, "d");
    kernel->bias = format_of(kernel, "bias", "has the format", fpo_info_text(json, "bias"));
    kernel->d_scale = format_of(kernel, "D", "has the scale format", fpo_info_text(json, "d_scale"));
    kernel->d_scale_layout = layout_of(kernel, "D", fpo_info_text(json, "d_scale_layout"));
    kernel->bias_per_row = fpo_info_number(json, "bias_per_row") != 0;
    kernel->any_line = fpo_info_number(json, "any_line") != 0;
    kernel->alpha = (uint32_t)fpo_info_number(json, "alpha");
    kernel->beta = (uint32_t)fpo_info_number(json, "beta");
    kernel->tensor_scales = (uint32_t)fpo_info_number(json, "tensor_scales");
    kernel->arithmetic = (uint32_t)fpo_info_number(json, "arithmetic");
    kernel->m_multiple = at_least_one(fpo_info_number(json, "m_multiple"));
    kernel->n_multiple = at_least_one(fpo_info_number(json, "n_multiple"));
    kernel->k_multiple = at_least_one(fpo_info_number(json, "k_multiple"));
    kernel->any_device = !json_is_array(json_object_get(json, "native"));
    capabilities_of(json_object_get(json, "native"), kernel->native);
    capabilities_of(json_object_get(json, "emulated"), kernel->emulated);
    kernel->order = fpo_info_order(json_object_get(json, "order"));
    if (kernel->d.format == FPO_FORMAT_NONE) {
        unknown(kernel, "D", "has the format", "none");
    }
    if (kernel->alpha > FPO_SCALAR_DEVICE || kernel->beta > FPO_SCALAR_DEVICE ||
        kernel->tensor_scales > FPO_TENSOR_SCALES_DEVICE || kernel->arithmetic > FPO_ARITHMETIC_PLAIN) {
        unknown(kernel, "the kernel", "has", "a convention for its scalars or arithmetic");
    }
}

fpo_status fpo_plugin_info_parse(const char *text, size_t length, fpo_plugin_info *info, fpo_error *error)
{
    json_error_t where;
    *info = (fpo_plugin_info){.json = json_loadb(text, length, 0, &where)};
    const json_t *kernels = json_object_get(info->json, "kernels");
    info->count = json_array_size(kernels);
    info->kernels = calloc(info->count + 1, sizeof *info->kernels);
    if (info->json == NULL || info->kernels == NULL || info->count == 0) {
        fpo_plugin_info_free(info);
        return fpo_fail(error, FPO_ERR_KERNEL, "the worker's description of the plug-in is unreadable: %s", where.text);
    }
    info->name = fpo_info_text_or(info->json, "name", "?");
    info->version = fpo_info_text_or(info->json, "version", "?");
    info->host_memory = json_is_true(json_object_get(info->json, "host_memory"));
    for (size_t i = 0; i < info->count; i++) {
        info->kernels[i].index = (uint32_t)i;
        kernel_of(json_array_get(kernels, i), &info->kernels[i]);
    }
    return FPO_OK;
}

void fpo_plugin_info_free(fpo_plugin_info *info)
{
    json_decref(info->json);
    free(info->kernels);
    *info = (fpo_plugin_info){0};
}

const fpo_kernel_info *fpo_plugin_info_find(const fpo_plugin_info *info, const char *name)
{
    for (size_t i = 0; i < info->count; i++) {
        if (strcmp(info->kernels[i].name, name) == 0) {
            return &info->kernels[i];
        }
    }
    return NULL;
}

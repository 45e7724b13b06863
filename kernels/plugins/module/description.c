/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* From JSON to kernels that the runner knows. */
#include "description.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 4096, LARGEST = 1 << 30 };

static fpo_kernel_operand read_operand(const fields *kernel, const char *name)
{
    static const char *const names[] = {"element", "packing",       "scale", "scale_layout",  "scale_rows",
                                        "scale_k", "line_multiple", "major", "scale_padding", NULL};
    static const char *const majors[] = {"k", "mn", NULL}, *const paddings[] = {"any", "numbers", "zero", NULL};
    char path[128];
    snprintf(path, sizeof path, "%s.%s", kernel->path, name);
    fields f = {field_object(kernel, name), path, kernel->errors};
    if (f.object == NULL) {
        field_fail(f.errors, "%s is missing", path);
        return (fpo_kernel_operand){0};
    }
    field_names(&f, names);
    return (fpo_kernel_operand){
        .element = field_wanted_text(&f, "element"),
        .packing = field_text(&f, "packing", NULL),
        .scale = field_text(&f, "scale", NULL),
        .scale_layout = field_text(&f, "scale_layout", NULL),
        .scale_rows = (int32_t)field_number(&f, "scale_rows", 0, LARGEST, 0),
        .scale_k = (int32_t)field_number(&f, "scale_k", 0, LARGEST, 0),
        .line_multiple = (uint32_t)field_number(&f, "line_multiple", 0, 65536, 0),
        .major = (uint32_t)field_choice(&f, "major", majors, 0),
        .scale_padding = (uint32_t)field_choice(&f, "scale_padding", paddings, 0),
    };
}

static void read_order(const fields *kernel, fpo_kernel_order *order)
{
    static const char *const names[] = {"models", "epilogue", "split", "reduction",   "parts",      "tile_m",  "tile_n",
                                        "tile_k", "quantum",  "wave",  "min_k_tiles", "max_groups", "swap_ab", NULL};
    char path[128];
    snprintf(path, sizeof path, "%s.order", kernel->path);
    fields f = {field_object(kernel, "order"), path, kernel->errors};
    *order = (fpo_kernel_order){.size = sizeof *order};
    if (f.object == NULL)
        return;
    field_names(&f, names);
    order->models = field_text(&f, "models", NULL);
    order->epilogue = field_text(&f, "epilogue", NULL);
    order->split = field_text(&f, "split", NULL);
    order->reduction = field_text(&f, "reduction", NULL);
    int32_t *const numbers[] = {&order->parts, &order->tile_m,      &order->tile_n,     &order->tile_k, &order->quantum,
                                &order->wave,  &order->min_k_tiles, &order->max_groups, &order->swap_ab};
    for (int i = 0; names[4 + i] != NULL; i++)
        *numbers[i] = (int32_t)field_number(&f, names[4 + i], 0, LARGEST, 0);
}

static void read_kernel(const fields *f, module_kernel *launch, fpo_kernel *kernel)
{
    static const char *const names[] = {"name",
                                        "summary",
                                        "source",
                                        "fault",
                                        "entry",
                                        "grid",
                                        "block",
                                        "shared",
                                        "workspace",
                                        "arguments",
                                        "native",
                                        "order",
                                        "a",
                                        "b",
                                        "c",
                                        "d",
                                        "bias",
                                        "bias_per_row",
                                        "d_scale",
                                        "d_scale_layout",
                                        "c_order",
                                        "d_order",
                                        "c_line_multiple",
                                        "d_line_multiple",
                                        "any_line",
                                        "alpha",
                                        "beta",
                                        "tensor_scales",
                                        "m_multiple",
                                        "n_multiple",
                                        "k_multiple",
                                        NULL};
    static const char *const scalars[] = {"none", "host", "device", NULL};
    static const char *const tensor_scales[] = {"in_alpha", "host", "device", NULL};
    static const char *const orders[] = {"row_major", "column_major", NULL};
    field_names(f, names);
    module_read_launch(f, launch);
    read_order(f, &launch->order);
    *kernel = (fpo_kernel){
        .name = field_wanted_text(f, "name"),
        .summary = field_text(f, "summary", NULL),
        .source = field_text(f, "source", NULL),
        .fault = field_text(f, "fault", NULL),
        .user = launch,
        .a = read_operand(f, "a"),
        .b = read_operand(f, "b"),
        .c = field_text(f, "c", NULL),
        .bias = field_text(f, "bias", NULL),
        .d = field_wanted_text(f, "d"),
        .d_scale = field_text(f, "d_scale", NULL),
        .d_scale_layout = field_text(f, "d_scale_layout", NULL),
        .bias_per_row = (uint32_t)field_number(f, "bias_per_row", 0, 1, 0),
        .c_order = (uint32_t)field_choice(f, "c_order", orders, 0),
        .d_order = (uint32_t)field_choice(f, "d_order", orders, 0),
        .c_line_multiple = (uint32_t)field_number(f, "c_line_multiple", 0, 65536, 0),
        .d_line_multiple = (uint32_t)field_number(f, "d_line_multiple", 0, 65536, 0),
        .any_line = (uint32_t)field_number(f, "any_line", 0, 1, 0),
        .alpha = (uint32_t)field_choice(f, "alpha", scalars, 0),
        .beta = (uint32_t)field_choice(f, "beta", scalars, 0),
        .tensor_scales = (uint32_t)field_choice(f, "tensor_scales", tensor_scales, 0),
        .m_multiple = (int32_t)field_number(f, "m_multiple", 0, LARGEST, 0),
        .n_multiple = (int32_t)field_number(f, "n_multiple", 0, LARGEST, 0),
        .k_multiple = (int32_t)field_number(f, "k_multiple", 0, LARGEST, 0),
        .native = launch->native,
        .order = &launch->order,
    };
}

/* The module's path is relative to the folder of the description. */
static void place_module(const char *path, const char *file, module_description *description, field_errors *errors)
{
    const char *slash = strrchr(path, '/');
    int folder = file[0] == '/' || slash == NULL ? 0 : (int)(slash - path) + 1;
    int length = snprintf(description->module, sizeof description->module, "%.*s%s", folder, path, file);
    if (length >= (int)sizeof description->module)
        field_fail(errors, "%s.module is longer than %zu bytes", path, sizeof description->module - 1);
}

static bool read_kernels(const fields *f, module_description *description)
{
    const json_t *list = field_array(f, "kernels");
    size_t count = json_array_size(list);
    if (count < 1 || count > MOST_KERNELS)
        return field_fail(f->errors, "%s: it has %zu kernels, not 1 to %d", f->path, count, MOST_KERNELS);
    description->launches = calloc(count, sizeof *description->launches);
    description->kernels = calloc(count, sizeof *description->kernels);
    if (description->launches == NULL || description->kernels == NULL)
        return field_fail(f->errors, "%s: no memory for %zu kernels", f->path, count);
    for (size_t i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "kernels[%zu]", i);
        fields kernel = {json_array_get(list, i), path, f->errors};
        if (json_is_object(kernel.object))
            read_kernel(&kernel, &description->launches[i], &description->kernels[i]);
        else
            field_fail(f->errors, "%s is no object", path);
    }
    description->count = (uint32_t)count;
    return f->errors->text[0] == '\0';
}

bool module_parse(const char *text, size_t length, const char *path, module_description *description,
                  field_errors *errors)
{
    static const char *const names[] = {"module", "kernels", "comment", NULL};
    json_error_t problem;
    *description = (module_description){0};
    description->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (description->root == NULL)
        return field_fail(errors, "line %d, column %d: %s", problem.line, problem.column, problem.text);
    fields f = {description->root, "the description", errors};
    if (!json_is_object(f.object))
        return field_fail(errors, "it is no JSON object");
    field_names(&f, names);
    place_module(path, field_wanted_text(&f, "module"), description, errors);
    return read_kernels(&f, description);
}

void module_free(module_description *description)
{
    free(description->launches);
    free(description->kernels);
    json_decref(description->root);
    *description = (module_description){0};
}

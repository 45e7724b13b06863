/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* From JSON to kernels that the runner knows. */
#include "description.h"

#include "expression.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 4096, LARGEST = 1 << 30 };

bool module_pointer(const char *name, const fpo_kernel_problem *p, const void **address)
{
    const struct {
        const char *name;
        const void *address;
    } buffers[] = {
        {"a", p->a},
        {"b", p->b},
        {"c", p->c},
        {"d", p->d},
        {"bias", p->bias},
        {"a_scale", p->a_scale},
        {"b_scale", p->b_scale},
        {"d_scale", p->d_scale},
        {"a_tensor_scale", p->a_tensor_scale},
        {"b_tensor_scale", p->b_tensor_scale},
        {"alpha", p->alpha},
        {"beta", p->beta},
        {"workspace", p->workspace},
        {"null", NULL},
    };
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        if (strcmp(buffers[i].name, name) == 0) {
            *address = buffers[i].address;
            return true;
        }
    return false;
}

bool module_scalar(const char *name, const fpo_kernel_problem *p, float *value)
{
    bool alpha = strcmp(name, "alpha") == 0, beta = strcmp(name, "beta") == 0;
    const float *from = alpha ? p->alpha : p->beta;
    *value = from != NULL ? *from : alpha ? 1.0f : 0.0f;
    return alpha || beta;
}

static void check_expression(const fields *f, const char *name, const char *text)
{
    static const fpo_kernel_problem unit = {
        .m = 128, .n = 128, .k = 128, .a_line = 128, .b_line = 128, .c_line = 512, .d_line = 512};
    char why[EXPRESSION_WHY];
    int64_t value;
    if (!expression_value(text, &unit, 1, &value, why))
        field_fail(f->errors, "%s.%s \"%.64s\": %s", f->path, name, text, why);
}

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

/* Three numbers or expressions; what is missing is 1. */
static void read_grid(const fields *f, module_kernel *kernel)
{
    const json_t *grid = field_array(f, "grid");
    size_t count = json_array_size(grid);
    if (count < 1 || count > 3)
        field_fail(f->errors, "%s.grid has %zu entries, not 1 to 3", f->path, count);
    for (size_t i = 0; i < 3; i++) {
        const json_t *entry = i < count ? json_array_get(grid, i) : NULL;
        kernel->grid[i] = entry != NULL ? json_string_value(entry) : "1";
        char name[16];
        snprintf(name, sizeof name, "grid[%zu]", i);
        if (kernel->grid[i] == NULL)
            field_fail(f->errors, "%s.%s is no text (an expression, \"ceil(m, 128)\")", f->path, name);
        else
            check_expression(f, name, kernel->grid[i]);
    }
}

static void read_block(const fields *f, module_kernel *kernel)
{
    const json_t *block = field_array(f, "block");
    size_t count = json_array_size(block);
    if (count < 1 || count > 3)
        field_fail(f->errors, "%s.block has %zu entries, not 1 to 3", f->path, count);
    for (size_t i = 0; i < 3; i++) {
        json_int_t threads = i < count ? json_integer_value(json_array_get(block, i)) : 1;
        if (threads < 1 || threads > 1024)
            field_fail(f->errors, "%s.block[%zu] is %lld, not within 1 to 1024", f->path, i, (long long)threads);
        kernel->block[i] = (uint32_t)threads;
    }
}

/* "a" is the address of a buffer; {"i32": "m"}, {"i64": "a_line / 2"}, {"f32": "alpha"} are numbers. */
static bool read_argument(const fields *f, const json_t *json, module_argument *argument)
{
    static const char *const types[] = {"i32", "i64", "f32"};
    const fpo_kernel_problem none = {0};
    const void *address;
    float scalar;
    if (json_is_string(json)) {
        *argument = (module_argument){ARGUMENT_POINTER, json_string_value(json)};
        return module_pointer(argument->text, &none, &address);
    }
    for (int i = 0; i < 3; i++) {
        const char *text = json_string_value(json_object_get(json, types[i]));
        if (text == NULL || json_object_size(json) != 1)
            continue;
        *argument = (module_argument){(argument_kind)(ARGUMENT_I32 + i), text};
        if (argument->kind == ARGUMENT_F32)
            return module_scalar(text, &none, &scalar);
        check_expression(f, types[i], text);
        return true;
    }
    return false;
}

static void read_arguments(const fields *f, module_kernel *kernel)
{
    const json_t *list = field_array(f, "arguments");
    size_t count = json_array_size(list);
    if (count < 1 || count > MODULE_ARGUMENTS)
        field_fail(f->errors, "%s.arguments has %zu entries, not 1 to %d", f->path, count, MODULE_ARGUMENTS);
    for (size_t i = 0; i < count && i < MODULE_ARGUMENTS; i++) {
        if (!read_argument(f, json_array_get(list, i), &kernel->arguments[i]))
            field_fail(f->errors,
                       "%s.arguments[%zu] is neither a buffer (\"a\", \"a_scale\", \"d\", \"null\", ...) nor "
                       "{\"i32\" or \"i64\": expression} nor {\"f32\": \"alpha\" or \"beta\"}",
                       f->path, i);
        kernel->argument_count = (int)i + 1;
    }
}

static void read_devices(const fields *f, module_kernel *kernel)
{
    const json_t *list = field_array(f, "native");
    size_t count = json_array_size(list);
    if (count < 1 || count >= MODULE_DEVICES)
        field_fail(f->errors, "%s.native has %zu compute capabilities, not 1 to %d", f->path, count,
                   MODULE_DEVICES - 1);
    for (size_t i = 0; i < count && i < MODULE_DEVICES - 1; i++) {
        json_int_t capability = json_integer_value(json_array_get(list, i));
        if (capability < 50 || capability > 999)
            field_fail(f->errors, "%s.native[%zu] is %lld, no compute capability (120 is 12.0)", f->path, i,
                       (long long)capability);
        kernel->native[i] = (int32_t)capability;
    }
}

static void read_launch(const fields *f, module_kernel *kernel)
{
    kernel->entry = field_wanted_text(f, "entry");
    kernel->shared = field_text(f, "shared", "0");
    kernel->workspace = field_text(f, "workspace", "0");
    check_expression(f, "shared", kernel->shared);
    check_expression(f, "workspace", kernel->workspace);
    read_grid(f, kernel);
    read_block(f, kernel);
    read_arguments(f, kernel);
    read_devices(f, kernel);
    read_order(f, &kernel->order);
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
    read_launch(f, launch);
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
    module_kernel *launches = calloc(count, sizeof *launches);
    description->kernels = calloc(count, sizeof *description->kernels);
    if (launches == NULL || description->kernels == NULL) {
        free(launches);
        return field_fail(f->errors, "%s: no memory for %zu kernels", f->path, count);
    }
    for (size_t i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "kernels[%zu]", i);
        fields kernel = {json_array_get(list, i), path, f->errors};
        if (json_is_object(kernel.object))
            read_kernel(&kernel, &launches[i], &description->kernels[i]);
        else
            field_fail(f->errors, "%s is no object", path);
    }
    description->count = (uint32_t)count;
    return f->errors->text[0] == '\0';
}

bool module_read(const char *path, module_description *description, field_errors *errors)
{
    static const char *const names[] = {"module", "kernels", "comment", NULL};
    json_error_t problem;
    *description = (module_description){0};
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    if (root == NULL)
        return field_fail(errors, "line %d, column %d: %s", problem.line, problem.column, problem.text);
    fields f = {root, "the description", errors};
    if (!json_is_object(root))
        return field_fail(errors, "it is no JSON object");
    field_names(&f, names);
    place_module(path, field_wanted_text(&f, "module"), description, errors);
    return read_kernels(&f, description); /* texts stay in `root` */
}

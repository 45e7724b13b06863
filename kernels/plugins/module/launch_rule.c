/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How a kernel is launched: grid, threads, shared memory, parameters. */
#include "description.h"

#include "expression.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

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

void module_read_launch(const fields *f, module_kernel *kernel)
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
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle explain recipe: the text of a recipe, and its steps on the first block of a row of numbers. */
#include "explain.h"
#include "number.h"
#include "quantized.h"
#include "recipe_trace.h"
#include "report.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

/* Without values of the caller's: both signs, a zero, halfway cases, something small, and a largest number that is no
 * power of two. */
static const float example[] = {0.1f,  -0.25f, 0.5f,  -0.75f, 1.0f,    -1.25f, 1.75f,  -2.5f,  3.5f,  -5.0f, 0.0f,
                                0.01f, -0.3f,  0.66f, 5.7f,   -4.4f,   2.0f,   -2.25f, 0.875f, 0.05f, -1.1f, 1.3f,
                                -1.9f, 2.9f,   0.4f,  -0.45f, 0.0625f, 3.3f,   -3.7f,  4.2f,   0.7f,  -0.15f};

static fpo_status parse_values(int count, char **arguments, fpo_format dtype, float **values, int64_t *k,
                               fpo_error *error)
{
    *k = count > 0 ? count : (int64_t)(sizeof example / sizeof example[0]);
    *values = malloc((size_t)*k * sizeof **values);
    if (*values == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld values", (long long)*k);
    for (int64_t i = 0; i < *k; i++) {
        float value = count > 0 ? 0 : example[i];
        fpo_status status = count > 0 ? fpo_parse_float("value", arguments[i], &value, error) : FPO_OK;
        if (status != FPO_OK)
            return status;
        uint32_t code = fpo_encode(dtype, fpo_value_from_float(value), fpo_cast_describe(FPO_CAST_IEEE), 0);
        (*values)[i] = (float)fpo_decode_double(dtype, code);
    }
    return FPO_OK;
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "";
}

/* The recipe's text, a statement a line, the names of its parts at the margin. */
static void print_text(const char *program)
{
    while (*program != '\0') {
        size_t length = strcspn(program, ";");
        while (length > 0 && *program == ' ') {
            program++;
            length--;
        }
        if (length > 0)
            printf("  %.*s;\n", (int)length, program);
        program += length + (program[length] == ';');
    }
}

static void print_steps(const char *name, const json_t *steps)
{
    if (json_array_size(steps) == 0)
        return;
    fpo_section("%s", name);
    fpo_table *table = fpo_table_new(3);
    fpo_table_add(table, "step");
    fpo_table_add(table, "result");
    fpo_table_add(table, "as f32");
    size_t index;
    json_t *step;
    json_array_foreach(steps, index, step)
    {
        fpo_table_add(table, "%s", text(step, "step"));
        fpo_table_add(table, "%s", text(step, "result"));
        fpo_table_add(table, "%s", text(step, "bits"));
    }
    fpo_table_print(table, 2);
}

static void print_tries(const json_t *tries)
{
    if (json_array_size(tries) == 0)
        return;
    fpo_section("search: the first candidate with the smallest error");
    size_t index;
    json_t *candidate;
    json_array_foreach(tries, index, candidate)
        printf("  try %s: error %s%s\n", text(candidate, "try"), text(candidate, "error"),
               json_is_true(json_object_get(candidate, "chosen")) ? "   <- chosen" : "");
}

/* A column a step, a row an element. */
static void print_elements(const json_t *steps, const json_t *codes)
{
    size_t count = json_array_size(steps), index;
    json_t *step;
    fpo_section("elements of the block");
    json_array_foreach(steps, index, step) printf("  (%zu) %s\n", index + 1, text(step, "step"));
    enum { MOST = 12 };
    size_t first = count > MOST ? count - MOST : 0; /* the last ones, which end in the code */
    fpo_table *table = fpo_table_new(count - first + 2);
    fpo_table_add(table, "k");
    for (size_t c = first; c < count; c++)
        fpo_table_add(table, "(%zu)", c + 1);
    fpo_table_add(table, "code");
    for (size_t c = 0; c < count - first + 2; c++)
        fpo_table_align_right(table, c);
    for (size_t k = 0; k < json_array_size(codes); k++) {
        fpo_table_add(table, "%zu", k);
        for (size_t c = first; c < count; c++)
            fpo_table_add(table, "%s",
                          json_string_value(json_array_get(json_object_get(json_array_get(steps, c), "results"), k)));
        fpo_table_add(table, "%s", json_string_value(json_array_get(codes, k)));
    }
    fpo_table_print(table, 2);
}

static void print_recipe(const fpo_recipe_info *recipe, const json_t *object)
{
    fpo_heading("%s", recipe->name);
    printf("  %s\n", recipe->summary);
    printf("  makes     %s\n", text(object, "operand"));
    printf("  library   %s (%s)\n", recipe->library, fpo_recipe_standing_name(recipe->standing));
    if (recipe->source[0] != '\0')
        printf("  source    %s\n", recipe->source);
    fpo_section("the recipe");
    print_text(recipe->text);
    print_steps("once a tensor", json_object_get(object, "tensor"));
    print_steps("once a row", json_object_get(object, "row"));
    print_steps("once a block: the first one", json_object_get(object, "block"));
    print_tries(json_object_get(object, "tries"));
    const json_t *scale = json_object_get(object, "scale");
    printf("  block scale: %s %s = %s\n", text(scale, "format"), text(scale, "code"), text(scale, "value"));
    print_elements(json_object_get(object, "elements"), json_object_get(object, "codes"));
}

static fpo_status parse_dtype(const char *name, fpo_format *dtype, fpo_error *error)
{
    *dtype = name == NULL ? FPO_F32 : fpo_format_by_name(name);
    if (*dtype == FPO_F32 || *dtype == FPO_BF16 || *dtype == FPO_F16)
        return FPO_OK;
    return fpo_fail(error, FPO_ERR_ARGUMENT, "--dtype '%.80s' is not f32, bf16 or f16", name);
}

int fpo_explain_recipe(const fpo_explain_options *options, int count, char **arguments)
{
    fpo_error error;
    fpo_recipe recipe = FPO_RECIPE_COUNT;
    fpo_format dtype = FPO_F32;
    float *values = NULL;
    int64_t k = 0;
    fpo_status status = fpo_parse_recipe(arguments[0], &recipe, &error);
    if (status == FPO_OK)
        status = parse_dtype(options->dtype, &dtype, &error);
    if (status == FPO_OK)
        status = parse_values(count - 1, arguments + 1, dtype, &values, &k, &error);
    if (status != FPO_OK) {
        free(values);
        return fpo_report_error(options->program, &error);
    }
    const fpo_recipe_info *info = fpo_recipe_describe(recipe);
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "explain", "recipe", "name", info->name,
                               "operand", fpo_recipe_format_text(info).text, "library", info->library, "standing",
                               fpo_recipe_standing_name(info->standing), "text", info->text, "dtype",
                               fpo_format_describe(dtype)->name);
    status = fpo_trace_recipe(info, values, k, dtype, options->library_scale, object, &error);
    free(values);
    if (status != FPO_OK) {
        json_decref(object);
        return fpo_report_error(options->program, &error);
    }
    if (options->json)
        return fpo_print_json(object);
    print_recipe(info, object);
    json_decref(object);
    return FPO_EXIT_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A trace for people: what fpo_trace_* put into the JSON object, one step under the other. */
#include "report.h"
#include "table.h"
#include "trace.h"

#include <string.h>

enum { ELEMENTS_A_LINE = 8 };

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "";
}

static void print_elements(const json_t *block)
{
    static const char *const rows[] = {"a", "a_values", "b", "b_values", "products"};
    static const char *const names[] = {"a", "", "b", "", "a*b"};
    size_t count = json_array_size(json_object_get(block, "a"));
    json_int_t k0 = json_integer_value(json_array_get(json_object_get(block, "k"), 0));
    for (size_t first = 0; first < count; first += ELEMENTS_A_LINE) {
        size_t end = first + ELEMENTS_A_LINE < count ? first + ELEMENTS_A_LINE : count;
        fpo_table *table = fpo_table_new(1 + end - first);
        fpo_table_add(table, "k");
        for (size_t i = first; i < end; i++) {
            fpo_table_add(table, "%lld", (long long)k0 + (long long)i);
            fpo_table_align_right(table, 1 + i - first);
        }
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            fpo_table_add(table, "%s", names[r]);
            for (size_t i = first; i < end; i++)
                fpo_table_add(table, "%s", json_string_value(json_array_get(json_object_get(block, rows[r]), i)));
        }
        fpo_table_print(table, 4);
    }
}

static void print_scale(const char *name, const json_t *scale)
{
    if (scale != NULL)
        printf("    %-16s %s %s = %s\n", name, text(scale, "format"), text(scale, "code"), text(scale, "value"));
}

static void print_blocks(const json_t *blocks)
{
    size_t index, summarised = 0;
    json_t *block;
    json_array_foreach(blocks, index, block)
    {
        const json_t *k = json_object_get(block, "k");
        if (json_object_get(block, "a") == NULL) {
            summarised++;
            continue;
        }
        printf("  block %zu, k = %lld to %lld\n", index, (long long)json_integer_value(json_array_get(k, 0)),
               (long long)json_integer_value(json_array_get(k, 1)) - 1);
        print_elements(block);
        printf("    %-16s %s\n", "sum of products", text(block, "sum_of_products"));
        print_scale("scale of a", json_object_get(block, "a_scale"));
        print_scale("scale of b", json_object_get(block, "b_scale"));
        printf("    %-16s %s\n", "scaled", text(block, "scaled"));
        printf("    %-16s %s\n", "total", text(block, "total"));
    }
    if (summarised > 0)
        printf("  ... and %zu more block%s (--blocks N shows N of them)\n", summarised, summarised == 1 ? "" : "s");
}

static void print_epilogue(const json_t *steps)
{
    size_t index;
    json_t *step;
    json_array_foreach(steps, index, step)
    {
        printf("  %s\n", text(step, "meaning"));
        printf("    %s%s%s%s= %s", text(step, "operand"), json_object_get(step, "operand") != NULL ? " = " : "",
               text(step, "operand_value"), json_object_get(step, "operand") != NULL ? "   result " : "result ",
               text(step, "result"));
        printf("%s%s\n", json_object_get(step, "bits") != NULL ? "   " : "", text(step, "bits"));
    }
    if (json_array_size(steps) == 0)
        puts("  nothing: y is the accumulator");
}

static void print_rounding(const json_t *rounding)
{
    printf("  y           %s\n", text(rounding, "y"));
    if (json_object_get(rounding, "kept_bits") != NULL) {
        const json_t *in = json_object_get(rounding, "toward_zero"), *out = json_object_get(rounding, "away_from_zero");
        printf("  exactly     %s\n", text(rounding, "y_exact"));
        printf("  bits        %s | %s   in units of 2^%lld\n", text(rounding, "kept_bits"),
               text(rounding, "discarded_bits"),
               (long long)json_integer_value(json_object_get(rounding, "last_place")));
        printf("  discarded   %s\n", text(rounding, "discarded"));
        printf("  between     %s = %s\n", text(in, "code"), text(in, "value"));
        printf("  and         %s = %s\n", text(out, "code"), text(out, "value"));
    }
    printf("  rounded     %s\n", text(rounding, "mode"));
    printf("  d           %s%s = %s%s\n", fpo_style(stdout, FPO_GOOD), text(rounding, "code"), text(rounding, "value"),
           fpo_style(stdout, FPO_PLAIN));
}

void fpo_trace_print(const json_t *object)
{
    const json_t *blocks = json_object_get(object, "blocks");
    if (blocks != NULL) {
        fpo_section("dot product, exactly");
        print_blocks(blocks);
    }
    printf("  accumulator: %s", text(object, "accumulator"));
    if (strcmp(text(object, "accumulator"), text(object, "accumulator_exact")) != 0)
        printf(" = %s", text(object, "accumulator_exact"));
    putchar('\n');
    fpo_section("epilogue");
    print_epilogue(json_object_get(object, "epilogue"));
    fpo_section("rounding to %s", text(json_object_get(object, "rounding"), "format"));
    print_rounding(json_object_get(object, "rounding"));
}

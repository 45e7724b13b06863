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

/* "0x3F800000 = 1" */
static void print_number(const char *name, const json_t *number)
{
    printf("    %-16s %s = %s\n", name, text(number, "bits"), text(number, "value"));
}

static void print_terms(const json_t *sum)
{
    fpo_table *table = fpo_table_new(5);
    static const char *const headings[] = {"term", "value", "exponent", "kept", "cut off"};
    for (size_t i = 0; i < 5; i++) {
        fpo_table_add(table, "%s", headings[i]);
        if (i > 0)
            fpo_table_align_right(table, i);
    }
    size_t index;
    json_t *term;
    json_array_foreach(json_object_get(sum, "terms"), index, term)
    {
        fpo_table_add(table, "%s", text(term, "term"));
        fpo_table_add(table, "%s", text(term, "value"));
        fpo_table_add(table, "%lld%s", (long long)json_integer_value(json_object_get(term, "exponent")),
                      json_is_true(json_object_get(term, "enters")) ? "" : " (does not count)");
        fpo_table_add(table, "%s", text(term, "kept"));
        fpo_table_add(table, "%s", text(term, "cut"));
    }
    fpo_table_print(table, 4);
}

static void print_sum(const json_t *sum)
{
    if (json_object_get(sum, "special") != NULL) {
        printf("    %s\n", text(sum, "special"));
        print_number("result", json_object_get(sum, "result"));
        return;
    }
    if (json_array_size(json_object_get(sum, "terms")) > 0)
        print_terms(sum);
    else
        puts("    every term is zero");
    printf("    %-16s e = %lld, terms are kept in multiples of 2^%lld\n", "aligned to",
           (long long)json_integer_value(json_object_get(sum, "largest_exponent")),
           (long long)json_integer_value(json_object_get(sum, "grid")));
    printf("    %-16s %s", "sum of what is kept", text(sum, "sum"));
    if (strcmp(text(sum, "sum"), text(sum, "exact_sum")) != 0)
        printf("   (exactly %s)", text(sum, "exact_sum"));
    putchar('\n');
    if (json_object_get(sum, "result_grid") != NULL)
        printf("    %-16s to a multiple of 2^%lld\n", "rounded",
               (long long)json_integer_value(json_object_get(sum, "result_grid")));
    print_number("result", json_object_get(sum, "result"));
}

static void print_k(const char *what, const json_t *event)
{
    const json_t *k = json_object_get(event, "k");
    printf("  %s, part %lld, k = %lld to %lld\n", what, (long long)json_integer_value(json_object_get(event, "part")),
           (long long)json_integer_value(json_array_get(k, 0)),
           (long long)json_integer_value(json_array_get(k, 1)) - 1);
}

static void print_instruction(const json_t *event)
{
    print_k("instruction", event);
    print_number("c", json_object_get(event, "c"));
    size_t index;
    json_t *sum;
    json_array_foreach(json_object_get(event, "sums"), index, sum) print_sum(sum);
    if (json_array_size(json_object_get(event, "sums")) > 1)
        print_number("the instruction", json_object_get(event, "result"));
}

static void print_promotion(const json_t *event)
{
    printf("  promotion: total = %s\n", text(event, "formula"));
    print_number("p", json_object_get(event, "partial_sum"));
    print_number("sA", json_object_get(event, "scale_a"));
    print_number("sB", json_object_get(event, "scale_b"));
    print_number("total", json_object_get(event, "result"));
}

static void print_fma(const json_t *event)
{
    const json_t *k = json_object_get(event, "k"), *a = json_object_get(event, "a"), *b = json_object_get(event, "b"),
                 *result = json_object_get(event, "result");
    printf("  k = %lld: %s * %s -> %s (%s)\n", (long long)json_integer_value(json_array_get(k, 0)), text(a, "value"),
           text(b, "value"), text(result, "value"), text(result, "bits"));
}

/* Instructions beyond those shown in detail are counted; promotions and parts among them too. */
static void print_steps(const json_t *steps)
{
    size_t index, left_out = 0;
    json_t *event;
    bool detailed = true;
    json_array_foreach(steps, index, event)
    {
        const char *kind = text(event, "event");
        if (json_object_get(event, "detailed") != NULL)
            detailed = json_is_true(json_object_get(event, "detailed"));
        if (!detailed) {
            left_out++;
            continue;
        }
        if (strcmp(kind, "instruction") == 0)
            print_instruction(event);
        else if (strcmp(kind, "fma") == 0)
            print_fma(event);
        else if (strcmp(kind, "promotion") == 0)
            print_promotion(event);
        else
            print_number(kind, json_object_get(event, "result"));
    }
    if (left_out > 0)
        printf("  ... and %zu more step%s (--blocks N shows N instructions, --json all results)\n", left_out,
               left_out == 1 ? "" : "s");
}

static void print_output_scale(const json_t *scale)
{
    fpo_section("scale of the 16 outputs that share one");
    size_t index;
    json_t *y;
    printf("  y          ");
    json_array_foreach(json_object_get(scale, "group"), index, y)
        printf(" %s%s", json_string_value(y), index == 7 ? "\n             " : "");
    printf("\n  scale       %s %s = %s\n", text(scale, "format"), text(scale, "code"), text(scale, "value"));
    printf("  y / scale   %s\n", text(scale, "y_over_scale"));
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
        bool exact = text(rounding, "discarded_bits")[0] == '\0';
        printf("  bits        %s%s%s   in units of 2^%lld\n", text(rounding, "kept_bits"), exact ? "" : " | ",
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
    const json_t *steps = json_object_get(object, "steps");
    if (steps != NULL) {
        fpo_section("accumulation, as modelled");
        print_steps(steps);
    }
    printf("  accumulator: %s", text(object, "accumulator"));
    const char *other = text(object, steps != NULL ? "accumulator_bits" : "accumulator_exact");
    if (strcmp(text(object, "accumulator"), other) != 0)
        printf(" = %s", other);
    putchar('\n');
    fpo_section("epilogue");
    print_epilogue(json_object_get(object, "epilogue"));
    if (json_object_get(object, "output_scale") != NULL)
        print_output_scale(json_object_get(object, "output_scale"));
    fpo_section("rounding to %s", text(json_object_get(object, "rounding"), "format"));
    print_rounding(json_object_get(object, "rounding"));
}

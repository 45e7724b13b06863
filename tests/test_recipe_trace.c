/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fpo_recipe_trace: every recipe, its events in order, its codes those of fpo_quantize; one recipe's numbers by hand.
 */
#include <fp4oracle/recipe_trace.h>

#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { K = 256 };

typedef struct record {
    char texts[200][160];
    fpo_trace_scope scopes[200];
    double first[200];
    int count, candidates, chosen;
    double scale, codes[K], last_element[K];
    int64_t codes_count;
} record;

static void watch(void *context, const fpo_trace_event *event)
{
    record *r = context;
    ck_assert_int_lt(r->count, 200);
    snprintf(r->texts[r->count], sizeof r->texts[0], "%s", event->text);
    r->scopes[r->count] = event->scope;
    r->first[r->count++] = event->values[0];
    if (event->scope == FPO_TRACE_CANDIDATE) {
        ck_assert_int_eq(event->count, 2);
        r->candidates++;
        r->chosen += event->chosen;
    }
    if (event->scope == FPO_TRACE_SCALE)
        r->scale = event->values[0];
    if (event->scope == FPO_TRACE_ELEMENT)
        memcpy(r->last_element, event->values, (size_t)event->count * sizeof *event->values);
    if (event->scope == FPO_TRACE_CODES) {
        r->codes_count = event->count;
        memcpy(r->codes, event->values, (size_t)event->count * sizeof *event->values);
    }
}

static void numbers(float *x)
{
    for (int i = 0; i < K; i++)
        x[i] = (float)((i * 37 % 101 - 50) / 8.0);
}

START_TEST(every_recipe)
{
    const fpo_recipe_info *recipe = fpo_recipe_describe((fpo_recipe)_i);
    static record r;
    float x[K];
    fpo_error error = {FPO_OK, ""};
    r = (record){.count = 0};
    numbers(x);
    fpo_status status = fpo_recipe_trace(recipe, x, K, FPO_BF16, NULL, watch, &r, &error);
    ck_assert_msg(status == FPO_OK, "%s: %s", recipe->name, error.message);
    ck_assert_int_eq(r.chosen, r.candidates > 0);
    for (int i = 1; i < r.count; i++)
        ck_assert_msg(r.scopes[i] >= r.scopes[i - 1] || r.scopes[i] == FPO_TRACE_BLOCK, "%s: %s comes after %s",
                      recipe->name, r.texts[i], r.texts[i - 1]);
    uint8_t codes[K], scales[4 * K], unpacked[K];
    fpo_quantized q = {.codes = codes, .codes_bytes = sizeof codes, .scales = scales, .scales_bytes = sizeof scales};
    q.codes_bytes = fpo_operand_codes_bytes(&recipe->view, 1, K);
    q.scales_bytes = fpo_operand_scales_bytes(&recipe->view, 1, K);
    q.dtype = FPO_BF16;
    ck_assert_int_eq(fpo_quantize((fpo_recipe)_i, x, 1, K, &q, NULL, &error), FPO_OK);
    fpo_unpack_row(FPO_PACKING_CANONICAL, recipe->view.element, K, codes, unpacked);
    ck_assert_int_gt(r.codes_count, 0);
    for (int64_t i = 0; i < r.codes_count; i++)
        ck_assert_msg((double)unpacked[i] == r.codes[i], "%s: element %lld", recipe->name, (long long)i);
    ck_assert_msg((double)fpo_load_code(recipe->view.scale.format, scales, 0) == r.scale, "%s: scale", recipe->name);
}
END_TEST

/* modelopt's NVFP4 of {1, -0.3}: docs/recipes.md has the same numbers. */
START_TEST(by_hand)
{
    const float x[] = {1, -0.3f};
    static record r;
    fpo_error error;
    r = (record){.count = 0};
    const fpo_recipe_info *recipe = fpo_recipe_describe(fpo_recipe_by_name("modelopt_nvfp4"));
    ck_assert_int_eq(fpo_recipe_trace(recipe, x, 2, FPO_F32, NULL, watch, &r, &error), FPO_OK);
    ck_assert_str_eq(r.texts[0], "tensor_amax");
    ck_assert(r.first[0] == 1);
    ck_assert_str_eq(r.texts[1], "tensor_scale = tensor_amax / 2688");
    ck_assert(r.first[1] == (double)(1 / 2688.0f));
    ck_assert(r.scale == 0x7E);
    ck_assert_int_eq(r.codes_count, 2);
    ck_assert(r.codes[0] == 7 && r.codes[1] == 0xC);
    ck_assert(r.last_element[0] == 6 && r.last_element[1] == -2);
    const float given = 0.5f;
    r = (record){.count = 0};
    ck_assert_int_eq(fpo_recipe_trace(recipe, x, 2, FPO_F32, &given, watch, &r, &error), FPO_OK);
    ck_assert_str_eq(r.texts[1], "tensor_scale, given");
    ck_assert(r.first[1] == 0.5);
}
END_TEST

/* Recipes that no library has: the trace compares itself with the engine. */
START_TEST(odd_ones)
{
    static const struct {
        fpo_format element;
        const char *text;
    } odd[] = {
        {FPO_E5M2, "block: scale = 1; element: code = e5m2.nosat(x);"},
        {FPO_E5M2, "block: scale = 1; c = amax > 0; element: y = e5m2.nosat(x); code = c ? y : 0;"},
        {FPO_E2M1, "input: a = abs(x); block: scale = 1; element: code = e2m1(x);"},
        {FPO_E2M1, "input: a = x * 1; x = x * 2; block: scale = amax / 6; element: code = e2m1(a / scale);"},
    };
    const float x[] = {1e30f, -3, 0.5f, INFINITY};
    static record r;
    fpo_error error = {FPO_OK, ""};
    fpo_recipe_info recipe = {.name = "odd", .text = odd[_i].text};
    recipe.view = (fpo_operand_view){.element = odd[_i].element, .packing = FPO_PACKING_CANONICAL};
    recipe.view.scale = (fpo_scale_view){FPO_F32, 1, 16, FPO_LAYOUT_LINEAR};
    r = (record){.count = 0};
    fpo_status status = fpo_recipe_trace(&recipe, x, 4, FPO_F32, NULL, watch, &r, &error);
    ck_assert_msg(status == FPO_OK, "%s: %s", odd[_i].text, error.message);
    ck_assert_int_eq(r.codes_count, 4);
    if (odd[_i].element == FPO_E5M2)
        ck_assert(r.codes[0] == 0x7C && r.codes[3] == 0x7C);
}
END_TEST

START_TEST(refused)
{
    const float x[] = {1}, given = 1;
    static record r;
    fpo_error error;
    const fpo_recipe_info *recipe = fpo_recipe_describe(fpo_recipe_by_name("ocp_floor_mxfp4"));
    ck_assert_int_eq(fpo_recipe_trace(recipe, x, 0, FPO_F32, NULL, watch, &r, &error), FPO_ERR_ARGUMENT);
    ck_assert_int_eq(fpo_recipe_trace(recipe, x, 1, FPO_F32, &given, watch, &r, &error), FPO_ERR_ARGUMENT);
    ck_assert_msg(strstr(error.message, "ocp_floor_mxfp4") != NULL, "%s", error.message);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recipe_trace");
    TCase *tests = tcase_create("trace");
    tcase_add_loop_test(tests, every_recipe, 0, FPO_RECIPE_COUNT);
    tcase_add_test(tests, by_hand);
    tcase_add_loop_test(tests, odd_ones, 0, 4);
    tcase_add_test(tests, refused);
    suite_add_tcase(suite, tests);
    return suite;
}

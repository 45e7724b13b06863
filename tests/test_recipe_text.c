/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The language of recipes: what a text means, what is refused and by which words, and that no text breaks anything. */
#include "recipe.h"
#include "suite.h"

#include <fp4oracle/random.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fpo_operand_view nvfp4 = {FPO_E2M1, FPO_PACKING_CANONICAL, {FPO_UE4M3, 1, 16, FPO_LAYOUT_LINEAR}};

/* Quantises 1, 2, ..., 16 by the text and returns the value that its first step named `name` has, through the scale. */
static double scale_of(const char *text, fpo_format dtype)
{
    float x[16], scale;
    uint8_t codes[16];
    for (int i = 0; i < 16; i++)
        x[i] = (float)(i + 1);
    fpo_recipe_info info = {.name = "test", .text = text, .view = nvfp4};
    info.view.element = FPO_E4M3;
    info.view.scale.format = FPO_F32;
    fpo_quantized result = {.codes = codes, .codes_bytes = 16, .scales = &scale, .scales_bytes = 4, .dtype = dtype};
    fpo_error error;
    ck_assert_msg(fpo_quantize_by(&info, x, 1, 16, &result, NULL, &error) == FPO_OK, "%s: %s", text, error.message);
    return (double)scale;
}

static const struct {
    const char *expression;
    double value;
} expressions[] = {
    {"1 + 2 * 3", 7},
    {"(1 + 2) * 3", 9},
    {"2 - 3 - 4", -5},
    {"16 / 4 / 2", 2},
    {"-amax", -16},
    {"- -amax", 16},
    {"-(1 - 3)", 2},
    {"1 < 2", 1},
    {"2 <= 1", 0},
    {"3 == 3", 1},
    {"nan != nan", 1},
    {"nan == nan", 0},
    {"1 > 2 ? 3 : 4", 4},
    {"1 ? 0 ? 1 : 2 : 3", 2},
    {"0 ? 1 : 0 ? 2 : 3", 3},
    {"amax * 0.5", 8},
    {"1e2", 100},
    {"25e-2", 0.25},
    {"3p-2", 0.75},
    {"1p10", 1024},
    {"max(2, min(7, 5))", 5},
    {"fmax(nan, 3)", 3},
    {"max(nan, 3) == max(nan, 3)", 0},
    {"rcp(4)", 0.25},
    {"fma(3, 4, 5)", 17},
    {"abs(-3)", 3},
    {"log2(8)", 3},
    {"exp2(-3)", 0.125},
    {"ceil(1.25) + floor(1.75) + rint(2.5)", 5},
    {"field(1)", 127},
    {"mantissa(1.5)", 4194304},
    {"addbits(1, 4194304)", 1.5},
    {"e4m3(17)", 16},
    {"e4m3(1000)", 448},
    {"e2m1(2.5)", 2},
    {"e2m1.away(2.5)", 3},
    {"e2m1.down(3.5)", 3},
    {"e5m2.nosat(1e6) == inf", 1},
    {"ue8m0.rp(3)", 4},
    {"ue8m0.rz(3)", 2},
    {"e8(130)", 8},
    {"ue4m3_code(56)", 1},
    {"signed(3, 1)", -3},
    {"signed(-3, 0)", 3},
    {"nearest(2.5, 1)", 2},
    {"grid(13)", 12},
    {"wrap(12)", -0.5},
    {"bf16(1.00390625)", 1},
    {"f16(65520) == inf", 1},
    {"flt_max < inf", 1},
    {"D(1.001953125)", 1}, /* bf16 */
    {"d_eps", 0.0078125},  /* of bf16 */
    {"is_bf16 + 2 * is_f16", 1},
};

START_TEST(meaning)
{
    char text[256];
    snprintf(text, sizeof text, "# a comment\nblock: scale = %s; element: code = e4m3(x)", expressions[_i].expression);
    double value = scale_of(text, FPO_BF16);
    ck_assert_msg(value == expressions[_i].value, "%s is %g", expressions[_i].expression, value);
}
END_TEST

/* A name is bound anew at each assignment; f64 keeps doubles; ftz flushes. */
START_TEST(modes)
{
    ck_assert(scale_of("block: a = 2; a = a * a; a = a * a; scale = a; element: code = e4m3(x)", FPO_F32) == 16);
    const char *python =
        "tensor: f64; t = 1 / 3 * 3 - 1 / 7 * 7 + 1e-9; i = 1 / t; ieee; block: scale = i; element: code = e4m3(x)";
    ck_assert(scale_of(python, FPO_F32) == (double)(float)(1 / (1.0 / 3 * 3 - 1.0 / 7 * 7 + 1e-9)));
    ck_assert(scale_of("block: scale = 1p-130 * 2; element: code = e4m3(x)", FPO_F32) == ldexp(1, -129));
    ck_assert(scale_of("ftz; block: scale = 1p-130 * 2; element: code = e4m3(x)", FPO_F32) == 0);
    ck_assert(scale_of("ftz; tensor: a = 1p-130; ieee; block: scale = a * 2; element: code = e4m3(x)", FPO_F32) ==
              ldexp(1, -129));
}
END_TEST

static const struct {
    const char *text, *message;
} refused[] = {
    {"", "nothing is assigned to code"},
    {"block: scale = 1;", "nothing is assigned to code"},
    {"element: code = x;", "nothing is assigned to scale"},
    {"block: scale = 1; element: code = 1;", "do not depend on x"},
    {"block: scale = y; element: code = x;", "'y' has no value here"},
    {"block: scale = 1 +; element: code = x;", "expected a value"},
    {"block: scale = (1; element: code = x;", "expected ')'"},
    {"block: scale = 1 ? 2; element: code = x;", "expected ':'"},
    {"block: scale = sqrt(2); element: code = x;", "no function sqrt of 1"},
    {"block: scale = min(2); element: code = x;", "no function min of 1"},
    {"block: scale = e4m3.up(2); element: code = x;", "no such way to round: 'up'"},
    {"block: scale = f32(2); element: code = x;", "no function f32"},
    {"element: code = x; block: scale = 1;", "come in the order"},
    {"block: scale = 1; element: code = x; scale = x;", "changes more often"},
    {"tensor: tensor_scale = x; block: scale = 1; element: code = x;", "changes more often"},
    {"block: f64; scale = amax * 2; element: code = x;", "f64 is for values of the whole tensor"},
    {"block: scale = 1; try 1, 2: s = try; element: code = x;", "a search needs both"},
    {"block: scale = 1; element: code = x; error: error = abs(x);", "a search needs both"},
    {"block: try: scale = 1; element: code = x;", "expected 1 to 8 numbers"},
    {"block: try 1,2,3,4,5,6,7,8,9: scale = 1; element: code = x;", "expected 1 to 8 numbers"},
    {"block: scale = 1; element: code = x; error sum: error = x;", "errors are added in order"},
    {"block 16: scale = 1; element: code = x;", "expected ','"},
    {"block 2.5, 1: scale = 1; element: code = x;", "expected an integer"},
    {"wrong: scale = 1;", "'wrong' is no part of a recipe"},
    {"block: scale = 1; element: code = hadamard(x);", "hadamard transforms the input"},
    {"input: x = 3; block: scale = amax / 6; element: code = e2m1(x / scale);", "the codes do not depend on x"},
    {"ftz; input: x = hadamard(x); block: scale = 1; element: code = x;", "hadamard is not known to flush"},
    {"block: scale = 1; s = random; element: code = x;", "random belongs under element:"},
    {"input: x = x + random; block: scale = 1; element: code = x;", "random belongs under element:"},
    {"block: scale = e4m3.rs(amax); element: code = x;", "only elements are rounded with random bits"},
    {"block: scale = 12345678901234567890; element: code = x;", "more digits or a larger exponent"},
    {"block: scale = 1e40; element: code = x;", "more digits or a larger exponent"},
    {"block: scale = $; element: code = x;", "expected a value"},
    {"7", "expected a name"},
};

START_TEST(refusals)
{
    fpo_program program;
    fpo_error error;
    ck_assert_int_eq(fpo_recipe_compile(refused[_i].text, &nvfp4, FPO_F32, &program, &error), FPO_ERR_ARGUMENT);
    ck_assert_msg(strstr(error.message, refused[_i].message) != NULL, "%s: %s", refused[_i].text, error.message);
}
END_TEST

/* Long and deep texts are refused, not run out of. */
START_TEST(limits)
{
    static char text[40000];
    fpo_program program;
    fpo_error error;
    const char *const parts[] = {"(", "-", "1+", "abs(", "1?1:", "a=1;", "x*"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        strcpy(text, i == 5 ? "block: " : "block: scale = ");
        for (size_t n = strlen(text); n + 10 < sizeof text; n += strlen(parts[i]))
            strcpy(text + n, parts[i]);
        strcat(text, "1");
        ck_assert_int_eq(fpo_recipe_compile(text, &nvfp4, FPO_F32, &program, &error), FPO_ERR_ARGUMENT);
    }
}
END_TEST

/* Mangled texts: compiled or refused; what compiles can be run. */
START_TEST(mangled)
{
    fpo_random random = {11, 0};
    uint64_t draw = 0;
    static const char letters[] = "abex19. ();:,?=<>+-*/_#\n";
    int compiled = 0;
    float x[48], scales[48];
    uint8_t codes[96];
    for (int i = 0; i < 48; i++)
        x[i] = ldexpf((float)(i - 20), i % 9);
    for (int round = 0; round < 20000; round++) {
        const fpo_recipe_info *info =
            fpo_recipe_describe((fpo_recipe)fpo_random_below(random, draw++, FPO_RECIPE_COUNT));
        char text[2048];
        size_t length = strlen(info->text);
        ck_assert_uint_lt(length, sizeof text - 8);
        strcpy(text, info->text);
        for (int edits = (int)fpo_random_below(random, draw++, 3); edits >= 0 && length > 2; edits--) {
            size_t at = (size_t)fpo_random_below(random, draw++, length);
            size_t other = (size_t)fpo_random_below(random, draw++, length);
            size_t count = (size_t)fpo_random_below(random, draw++, 12);
            switch (fpo_random_below(random, draw++, 3)) {
            case 0: text[at] = letters[fpo_random_below(random, draw++, sizeof letters - 1)]; break;
            case 1:
                count = count < length - at ? count : length - at;
                memmove(text + at, text + at + count, length - at - count + 1);
                length -= count;
                break;
            default:
                count = count < length - other ? count : length - other;
                count = count < length - at ? count : length - at;
                memmove(text + at, text + other, count);
                break;
            }
        }
        fpo_recipe_info broken = *info;
        broken.text = text;
        fpo_quantized result = {.codes = codes, .scales = scales};
        result.codes_bytes = fpo_operand_codes_bytes(&info->view, 1, 48);
        result.scales_bytes = fpo_operand_scales_bytes(&info->view, 1, 48);
        ck_assert_uint_le(result.scales_bytes, sizeof scales);
        fpo_execution execution = {.threads = 1};
        compiled += fpo_quantize_by(&broken, x, 1, 48, &result, &execution, NULL) == FPO_OK;
    }
    ck_assert_int_gt(compiled, 500);
}
END_TEST

/* Every recipe says all of its standing, source and steps, and its named operand format is its view. */
START_TEST(registry)
{
    for (int recipe = 0; recipe < FPO_RECIPE_COUNT; recipe++) {
        const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)recipe);
        fpo_program program;
        fpo_error error;
        for (int dtype = FPO_F16; dtype <= FPO_F32; dtype++)
            if (dtype != FPO_TF32)
                ck_assert_msg(fpo_recipe_compile(info->text, &info->view, (fpo_format)dtype, &program, &error) ==
                                  FPO_OK,
                              "%s: %s", info->name, error.message);
        ck_assert(info->standing == FPO_RECIPE_DEFINED || strlen(info->source) > 0);
        ck_assert_uint_gt(strlen(info->summary), 2);
        if (info->format != FPO_BLOCK_COUNT) {
            const fpo_operand_view *view = &fpo_block_format_describe(info->format)->view;
            ck_assert_int_eq(view->element, info->view.element);
            ck_assert_int_eq(view->scale.format, info->view.scale.format);
            ck_assert_int_eq(view->scale.block_rows, info->view.scale.block_rows);
            ck_assert_int_eq(view->scale.block_k, info->view.scale.block_k);
        }
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("recipe text");
    TCase *tests = tcase_create("language");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, meaning, 0, (int)(sizeof expressions / sizeof *expressions));
    tcase_add_test(tests, modes);
    tcase_add_loop_test(tests, refusals, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tests, limits);
    tcase_add_test(tests, mangled);
    tcase_add_test(tests, registry);
    suite_add_tcase(suite, tests);
    return suite;
}

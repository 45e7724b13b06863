/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The rules of a tensor-core step, each on operands small enough to be worked out by hand. Recorded results are in
 * test_recorded_steps.c. */
#include "suite.h"

#include "step.h"

#include <string.h>

enum { E4M3_ONE = 0x38, E4M3_SMALLEST = 0x01, E4M3_NAN = 0x7F, E5M2_ONE = 0x3C, E5M2_INFINITY = 0x7C, E2M1_ONE = 2 };
enum { F32_ONE = 0x3F800000, F32_INFINITY = 0x7F800000, F32_NAN = 0x7FFFFFFF };

typedef struct row {
    uint8_t a[64], b[64], sa[4], sb[4];
} row;

static const fpo_step *step_of(const char *name)
{
    const fpo_model *model = fpo_model_by_name(name);
    ck_assert_msg(model != NULL, "no model %s", name);
    return &model->accumulation.step;
}

static uint32_t run_plain(const char *name, fpo_format element, const row *r, uint32_t c)
{
    fpo_step_operands operands = {.a_element = element, .b_element = element, .a = r->a, .b = r->b};
    return fpo_step_run(step_of(name), &operands, c);
}

static uint32_t run_scaled(const char *name, fpo_format element, fpo_format scale, int block_k, const row *r,
                           uint32_t c)
{
    fpo_step_operands operands = {.a_element = element,
                                  .b_element = element,
                                  .a_scale = scale,
                                  .b_scale = scale,
                                  .block_k = block_k,
                                  .a = r->a,
                                  .b = r->b,
                                  .sa = r->sa,
                                  .sb = r->sb};
    return fpo_step_run(step_of(name), &operands, c);
}

START_TEST(test_sum)
{
    row r = {0};
    memset(r.a, E4M3_ONE, 32);
    memset(r.b, E4M3_ONE, 32);
    ck_assert_uint_eq(run_plain("sm120_f8f6f4", FPO_E4M3, &r, F32_ONE), 0x42040000); /* 33 */
    row f = {0};
    memset(f.a, E2M1_ONE, 64);
    memset(f.b, E2M1_ONE, 64);
    memset(f.sa, 0x38, 4);
    memset(f.sb, 0x40, 4);
    ck_assert_uint_eq(run_scaled("sm120_mxf4nvf4", FPO_E2M1, FPO_UE4M3, 16, &f, F32_ONE), 0x43010000); /* 129 */
}
END_TEST

/* C = -448 * 448 has exponent 17, so with 25 bits the grid is 2^-8: a product of 2^-9 is cut, with 26 it stays. The
 * product 448 * 448, which C cancels, has exponent 16: its significand 3.0625 is not normalised. */
START_TEST(test_fraction_bits)
{
    row r = {0};
    r.a[0] = r.b[0] = 0x7E;
    r.a[1] = E4M3_ONE, r.b[1] = E4M3_SMALLEST; /* 2^-9 */
    uint32_t minus_448_squared = 0xC8440000;
    ck_assert_uint_eq(run_plain("sm120_f8f6f4", FPO_E4M3, &r, minus_448_squared), 0);
    fpo_step wider = *step_of("sm120_f8f6f4");
    wider.fraction_bits = 26;
    fpo_step_operands operands = {.a_element = FPO_E4M3, .b_element = FPO_E4M3, .a = r.a, .b = r.b};
    ck_assert_uint_eq(fpo_step_run(&wider, &operands, minus_448_squared), 0x3B000000);
    r.a[2] = 0x7E, r.b[2] = 0xFE; /* the same without C: grid 2^-9 */
    ck_assert_uint_eq(run_plain("sm120_f8f6f4", FPO_E4M3, &r, 0), 0x3B000000);
}
END_TEST

START_TEST(test_specials)
{
    row r = {0};
    ck_assert_uint_eq(run_plain("sm120_f8f6f4", FPO_E5M2, &r, 0x80000000), 0); /* -0 + 0 */
    ck_assert_uint_eq(run_plain("sm120_f8f6f4", FPO_E5M2, &r, F32_INFINITY), F32_INFINITY);
    ck_assert_uint_eq(run_plain("sm120_f8f6f4", FPO_E5M2, &r, 0xFFC00001), F32_NAN);
    r.a[3] = E5M2_INFINITY;
    ck_assert_uint_eq(run_plain("sm120_f8f6f4", FPO_E5M2, &r, 0), F32_NAN); /* infinity * 0 */
    r.b[3] = E5M2_ONE;
    ck_assert_uint_eq(run_plain("sm120_f8f6f4", FPO_E5M2, &r, F32_ONE), F32_INFINITY);
    ck_assert_uint_eq(run_plain("sm120_f8f6f4", FPO_E5M2, &r, 0xFF800000), F32_NAN);
    ck_assert_uint_eq(run_plain("sm120_f8f6f4_f16acc", FPO_E5M2, &r, 0), 0x7C00);
    row n = {0};
    n.a[31] = E4M3_NAN;
    ck_assert_uint_eq(run_plain("sm120_f8f6f4_f16acc", FPO_E4M3, &n, 0), 0x7FFF);
    row s = {0};
    s.sa[2] = 0xFF; /* bit 7 does not count: 0x7F, a NaN, although all products are zero */
    ck_assert_uint_eq(run_scaled("sm120_mxf4nvf4", FPO_E2M1, FPO_UE4M3, 16, &s, 0), F32_NAN);
}
END_TEST

START_TEST(test_overflow)
{
    row r = {0};
    memset(r.a, 0x7E, 32);
    memset(r.b, 0x7E, 32);
    r.sa[0] = r.sb[0] = 0xFE; /* 2^127 */
    ck_assert_uint_eq(run_scaled("sm120_mxf8f6f4", FPO_E4M3, FPO_UE8M0, 32, &r, 0), F32_INFINITY);
    memset(r.a, 0xFE, 32);
    ck_assert_uint_eq(run_scaled("sm120_mxf8f6f4", FPO_E4M3, FPO_UE8M0, 32, &r, 0), 0xFF800000);
}
END_TEST

/* 13 fraction bits kept, toward zero; f16 to nearest even. */
START_TEST(test_result)
{
    row r = {0};
    r.a[0] = r.b[0] = E4M3_ONE;
    uint32_t c = 0x3B000FFF; /* a little above 2^-9 */
    ck_assert_uint_eq(run_plain("sm90_wgmma_fp8", FPO_E4M3, &r, c), 0x3F804000);
    r.b[0] = 0xB8;
    ck_assert_uint_eq(run_plain("sm90_wgmma_fp8", FPO_E4M3, &r, c), 0xBF7F8000);
    r.b[0] = E4M3_ONE;
    ck_assert_uint_eq(run_plain("sm90_wgmma_fp8_f16acc", FPO_E4M3, &r, 0x1000), 0x3C00); /* 1 + 2^-11: a tie */
    ck_assert_uint_eq(run_plain("sm90_wgmma_fp8_f16acc", FPO_E4M3, &r, 0x1001), 0x3C00); /* its 2^-21 is cut before */
    ck_assert_uint_eq(run_plain("sm120_f8f6f4_f16acc", FPO_E4M3, &r, 0x1001), 0x3C01);   /* and is not with 25 bits */
}
END_TEST

/* Numbers that the integers have no room for are refused, not computed wrongly. */
START_TEST(test_room)
{
    fpo_accumulation x = fpo_model_by_name("sm120_mxf4nvf4")->accumulation;
    fpo_operand_view view = {.element = FPO_E2M1};
    ck_assert_int_eq(fpo_accumulation_check_operands(&x, &view, &view, NULL), FPO_OK);
    view.element = FPO_E4M3; /* a group of 16 fits beside 35 fraction bits no more */
    ck_assert_int_eq(fpo_accumulation_check_operands(&x, &view, &view, NULL), FPO_ERR_UNSUPPORTED);
    x.step.fraction_bits = 25;
    ck_assert_int_eq(fpo_accumulation_check_operands(&x, &view, &view, NULL), FPO_OK);
    view.element = FPO_E5M2; /* and its exact sum not at all */
    ck_assert_int_eq(fpo_accumulation_check_operands(&x, &view, &view, NULL), FPO_ERR_UNSUPPORTED);
    view.element = FPO_F32;
    ck_assert_int_eq(fpo_accumulation_check_operands(&x, &view, &view, NULL), FPO_ERR_UNSUPPORTED);
    x.step.fraction_bits = 42;
    ck_assert_int_eq(fpo_accumulation_check(&x, NULL), FPO_ERR_ARGUMENT);
}
END_TEST

START_TEST(test_registry)
{
    for (size_t i = 0; fpo_model_at(i) != NULL; i++) {
        const fpo_model *model = fpo_model_at(i);
        fpo_error error = {0};
        ck_assert_msg(fpo_accumulation_check(&model->accumulation, &error) == FPO_OK, "%s: %s", model->name,
                      error.message);
        ck_assert_ptr_eq(fpo_model_by_name(model->name), model); /* names are unique */
        ck_assert_msg(model->source[0] != '\0' && model->summary[0] != '\0', "%s", model->name);
        ck_assert(model->operands.anything || model->operands.elements != 0);
    }
    ck_assert_ptr_null(fpo_model_by_name("sm121_mxf4nvf4"));
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("step");
    TCase *c = tcase_create("rules");
    tcase_add_test(c, test_sum);
    tcase_add_test(c, test_fraction_bits);
    tcase_add_test(c, test_specials);
    tcase_add_test(c, test_overflow);
    tcase_add_test(c, test_result);
    tcase_add_test(c, test_room);
    tcase_add_test(c, test_registry);
    suite_add_tcase(suite, c);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Casts by hand: the values that the standards and the CUDA headers' documentation name. */
#include "suite.h"

#include <fp4oracle/cast.h>
#include <math.h>

typedef struct row {
    fpo_format format;
    fpo_cast_preset preset;
    double x;
    uint32_t code;
} row;

static const row rows[] = {
    /* decision points of e2m1: ties to the even code */
    {FPO_E2M1, FPO_CAST_PTX, 0.25, 0x0},
    {FPO_E2M1, FPO_CAST_PTX, 0.75, 0x2},
    {FPO_E2M1, FPO_CAST_PTX, 1.25, 0x2},
    {FPO_E2M1, FPO_CAST_PTX, 1.75, 0x4},
    {FPO_E2M1, FPO_CAST_PTX, 2.5, 0x4},
    {FPO_E2M1, FPO_CAST_PTX, 3.5, 0x6},
    {FPO_E2M1, FPO_CAST_PTX, 5, 0x6},
    {FPO_E2M1, FPO_CAST_PTX, 0x1.0000000000001p-2, 0x1},
    {FPO_E2M1, FPO_CAST_PTX, -0.0, 0x8},
    {FPO_E2M1, FPO_CAST_PTX, -0.25, 0x8},
    {FPO_E2M1, FPO_CAST_PTX, -1e300, 0xF},
    {FPO_E2M1, FPO_CAST_PTX, -INFINITY, 0xF},
    {FPO_E2M1, FPO_CAST_PTX, NAN, 0x7},
    {FPO_E2M3, FPO_CAST_PTX, 7.75, 0x1F},
    {FPO_E3M2, FPO_CAST_PTX, -NAN, 0x1F},
    {FPO_E4M3, FPO_CAST_PTX, 464, 0x7E},
    {FPO_E4M3, FPO_CAST_PTX, 1e9, 0x7E},
    {FPO_E4M3, FPO_CAST_PTX, -NAN, 0x7F},
    {FPO_E4M3, FPO_CAST_IEEE, 464, 0x7E},
    {FPO_E4M3, FPO_CAST_IEEE, -464.0001, 0xFF},
    {FPO_E4M3, FPO_CAST_PTX, 0x1p-10, 0x00},
    {FPO_E4M3, FPO_CAST_PTX, 0x1.8p-9, 0x02},
    {FPO_E5M2, FPO_CAST_IEEE, 61440, 0x7C},
    {FPO_E5M2, FPO_CAST_IEEE, 61439.9, 0x7B},
    {FPO_E5M2, FPO_CAST_PTX, INFINITY, 0x7B},
    {FPO_UE4M3, FPO_CAST_PTX, -1, 0x38},
    /* ue8m0 (facts.md 1.3) */
    {FPO_UE8M0, FPO_CAST_PTX_RP, 0, 0x00},
    {FPO_UE8M0, FPO_CAST_PTX_RP, 0x1p-140, 0x00},
    {FPO_UE8M0, FPO_CAST_PTX_RP, 0x1p-127, 0x00},
    {FPO_UE8M0, FPO_CAST_PTX_RP, 0x1.0001p-127, 0x01},
    {FPO_UE8M0, FPO_CAST_PTX_RZ, 0x1.ffffp-127, 0x00},
    {FPO_UE8M0, FPO_CAST_PTX_RP, -1, 0x7F},
    {FPO_UE8M0, FPO_CAST_PTX_RP, -1.5, 0x80},
    {FPO_UE8M0, FPO_CAST_PTX_RP, 0x1.8p127, 0xFE},
    {FPO_UE8M0, FPO_CAST_PTX_RZ, INFINITY, 0xFE},
    {FPO_UE8M0, FPO_CAST_PTX_RZ, NAN, 0xFF},
    {FPO_UE8M0, FPO_CAST_IEEE, INFINITY, 0xFF},
    {FPO_F16, FPO_CAST_IEEE, 65520, 0x7C00},
    {FPO_F16, FPO_CAST_IEEE, 65519, 0x7BFF},
    {FPO_BF16, FPO_CAST_IEEE, -NAN, 0x7FFF},
    {FPO_TF32, FPO_CAST_IEEE, 1, 0x1FC00},
    {FPO_F32, FPO_CAST_IEEE, 0x1p-150, 0},
    {FPO_F32, FPO_CAST_IEEE, 0x1.8p-149, 2},
};

START_TEST(named_values)
{
    const row *r = &rows[_i];
    uint32_t code = fpo_encode_double(r->format, r->x, fpo_cast_describe(r->preset));
    ck_assert_msg(code == r->code, "%s %s of %a: 0x%X, not 0x%X", fpo_cast_name(r->preset),
                  fpo_format_describe(r->format)->name, r->x, code, r->code);
}
END_TEST

/* ck_assert writes to a pipe even if it holds: in long loops it is called for failures alone. */
static void check_number(fpo_format format, uint32_t code)
{
    fpo_value value = fpo_decode(format, code);
    double x = fpo_decode_double(format, code);
    if (value.kind == FPO_NAN) {
        if (!isnan(x))
            ck_abort_msg("%s 0x%X is %a", fpo_format_describe(format)->name, code, x);
        return;
    }
    double magnitude = value.kind == FPO_INFINITE ? INFINITY : ldexp((double)value.significand, value.exponent);
    if (x != (value.negative ? -magnitude : magnitude) || (signbit(x) != 0) != value.negative)
        ck_abort_msg("%s 0x%X is %a, not %a", fpo_format_describe(format)->name, code, x, magnitude);
    fpo_cast policy = *fpo_cast_describe(FPO_CAST_IEEE);
    for (int rounding = 0; rounding <= FPO_STOCHASTIC; rounding++) {
        policy.rounding = (fpo_rounding)rounding;
        uint32_t exact = fpo_encode(format, value, &policy, UINT32_MAX), again = fpo_encode_double(format, x, &policy);
        if (exact != code || again != code)
            ck_abort_msg("%s 0x%X comes back as 0x%X and 0x%X", fpo_format_describe(format)->name, code, exact, again);
    }
}

START_TEST(every_number_encodes_to_its_own_code)
{
    fpo_format format = (fpo_format)_i;
    const fpo_format_info *info = fpo_format_describe(format);
    for (uint64_t code = 0; code <= info->code_mask; code += info->bits > 20 ? 4099 : 1)
        check_number(format, (uint32_t)code);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("cast");
    TCase *tests = tcase_create("cast");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, named_values, 0, (int)(sizeof rows / sizeof rows[0]));
    tcase_add_loop_test(tests, every_number_encodes_to_its_own_code, 1, FPO_FORMAT_COUNT);
    suite_add_tcase(suite, tests);
    return suite;
}

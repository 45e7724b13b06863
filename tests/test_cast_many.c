/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Encoding of very many f32 numbers against a model in the processor's own arithmetic: scaled to where the last place
 * kept weighs 1, rounded by rint, trunc, floor, ceil or round. A thousandth also goes to the MPFR oracle. 10^6 numbers;
 * 1.2 * 10^8 with FPO_LONG=1. They are distinct: an odd multiplier permutes the 2^32 patterns. */
#include "format_oracle.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct narrow {
    fpo_format format;
    int mantissa_bits, min_exponent;
    double largest;
    uint32_t largest_code, non_finite; /* what an overflow becomes without saturation, 0 if it saturates all the same */
    uint32_t sign;                     /* 0: the sign is ignored */
} narrow;

static const narrow targets[] = {
    {FPO_E2M1, 1, 0, 6, 0x7, 0, 0x8},
    {FPO_E2M3, 3, 0, 7.5, 0x1F, 0, 0x20},
    {FPO_E3M2, 2, -2, 28, 0x1F, 0, 0x20},
    {FPO_E4M3, 3, -6, 448, 0x7E, 0x7F, 0x80},
    {FPO_E5M2, 2, -14, 57344, 0x7B, 0x7C, 0x80},
    {FPO_UE4M3, 3, -6, 448, 0x7E, 0x7F, 0},
    {FPO_F16, 10, -14, 65504, 0x7BFF, 0x7C00, 0x8000},
    {FPO_BF16, 7, -126, 0x1.FEp127, 0x7F7F, 0x7F80, 0x8000},
    {FPO_TF32, 10, -126, 0x1.FFCp127, 0x3FBFF, 0x3FC00, 0x40000},
};

static double round_integer(double y, fpo_rounding rounding, bool negative)
{
    switch (rounding) {
    case FPO_NEAREST_EVEN: return rint(y);
    case FPO_NEAREST_AWAY: return round(y);
    case FPO_NEAREST_TOWARD_ZERO: return ceil(y - 0.5); /* y has few bits: exact */
    case FPO_TOWARD_ZERO: return trunc(y);
    case FPO_AWAY_FROM_ZERO: return ceil(y);
    case FPO_UP: return negative ? floor(y) : ceil(y);
    case FPO_DOWN: return negative ? ceil(y) : floor(y);
    case FPO_STOCHASTIC: break;
    }
    return NAN;
}

/* 2^n, a normal double. */
static double power(int n)
{
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The code of a finite x. */
static uint32_t model(const narrow *t, float x, fpo_rounding rounding, bool saturate)
{
    bool negative = t->sign != 0 && signbit(x);
    uint32_t sign = negative ? t->sign : 0;
    double a = fabs((double)x);
    int exponent = a == 0 ? t->min_exponent : ilogb(a);
    if (exponent < t->min_exponent)
        exponent = t->min_exponent;
    double last_place = power(exponent - t->mantissa_bits);
    double value = round_integer(a / last_place, rounding, negative) * last_place;
    if (value > t->largest) {
        bool toward_zero = round_integer(0.5, rounding, negative) == 0 && rounding != FPO_NEAREST_EVEN &&
                           rounding != FPO_NEAREST_TOWARD_ZERO;
        return (saturate || toward_zero || t->non_finite == 0 ? t->largest_code : t->non_finite) | sign;
    }
    /* The code from the value: which power of two, and how many places above it. */
    int power_of_value = value < power(t->min_exponent) ? t->min_exponent - 1 : ilogb(value);
    double base = power_of_value < t->min_exponent ? 0 : power(power_of_value);
    int place = (power_of_value < t->min_exponent ? t->min_exponent : power_of_value) - t->mantissa_bits;
    uint32_t field = (uint32_t)(power_of_value - t->min_exponent + 1);
    return (field << t->mantissa_bits) + (uint32_t)((value - base) / power(place)) + sign;
}

/* ue8m0 of a nonzero finite |x|, toward zero or away from it, by frexp. */
static uint32_t model_ue8m0(float x, bool up)
{
    int exponent;
    double mantissa = frexp(fabs((double)x), &exponent); /* [0.5, 1) */
    int code = exponent - 1 + 127 + (up && mantissa != 0.5 ? 1 : 0);
    return (uint32_t)(code < 0 || fabs((double)x) <= 0x1p-127 ? 0 : code > 0xFE ? 0xFE : code);
}

static uint64_t numbers(void)
{
    return getenv("FPO_LONG") != NULL ? 120000000 : 1000000;
}

static float number(uint64_t index)
{
    uint32_t bits = (uint32_t)(index * 2654435761u + 12345);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

START_TEST(processor_arithmetic_agrees)
{
    enum { TARGETS = sizeof targets / sizeof targets[0] };
    fpo_oracle oracles[TARGETS];
    for (int t = 0; t < TARGETS; t++)
        fpo_oracle_init(&oracles[t], targets[t].format);
    uint64_t count = numbers(), finite = 0;
    for (uint64_t i = 0; i < count; i++) {
        float x = number(i);
        if (!isfinite(x))
            continue;
        finite++;
        fpo_value value = fpo_value_from_float(x);
        for (int t = 0; t < TARGETS; t++) {
            fpo_cast policy = *fpo_cast_describe(i % 2 == 0 ? FPO_CAST_PTX : FPO_CAST_IEEE);
            /* Every number to nearest even, and one other rounding in turn. */
            for (int other = 0; other < 2; other++) {
                policy.rounding = other == 0 ? FPO_NEAREST_EVEN : (fpo_rounding)(1 + i % (FPO_STOCHASTIC - 1));
                uint32_t code = fpo_encode(targets[t].format, value, &policy, 0);
                uint32_t expected = model(&targets[t], x, policy.rounding, i % 2 == 0);
                if (i % 1000 == 0 && code == expected)
                    expected = fpo_oracle_encode(&oracles[t], x, fpo_oracle_bracket_double(&oracles[t], x), &policy, 0);
                if (code != expected)
                    ck_abort_msg("%s of %a, rounding %d: 0x%X, not 0x%X", oracles[t].name, x, policy.rounding, code,
                                 expected);
            }
        }
        if (x != 0) {
            bool up = i % 2 == 0;
            uint32_t code = fpo_encode(FPO_UE8M0, value, fpo_cast_describe(up ? FPO_CAST_PTX_RP : FPO_CAST_PTX_RZ), 0);
            if (code != model_ue8m0(x, up))
                ck_abort_msg("ue8m0 of %a: 0x%X, not 0x%X", x, code, model_ue8m0(x, up));
        }
        uint32_t back = fpo_encode(FPO_F32, value, fpo_cast_describe(FPO_CAST_IEEE), 0), bits;
        memcpy(&bits, &x, sizeof bits);
        if (back != bits)
            ck_abort_msg("f32 0x%08X comes back as 0x%08X", bits, back);
    }
    for (int t = 0; t < TARGETS; t++)
        fpo_oracle_clear(&oracles[t]);
    printf("%llu finite f32 numbers to %d formats%s\n", (unsigned long long)finite, TARGETS + 2,
           getenv("FPO_LONG") != NULL ? "" : " (FPO_LONG=1 takes 1.2e8)");
    fflush(stdout);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("many casts");
    TCase *tests = tcase_create("many casts");
    tcase_set_timeout(tests, 3600);
    tcase_add_test(tests, processor_arithmetic_agrees);
    suite_add_tcase(suite, tests);
    return suite;
}

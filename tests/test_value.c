/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Exact values against MPFR: conversion, product, comparison, and rounding of numbers longer than 64 bits (sticky). */
#include "cast_policies.h"
#include "format_oracle.h"
#include "suite.h"

#include <fp4oracle/random.h>
#include <math.h>
#include <string.h>

enum { CASES = 200000 };

static void set_value(mpfr_t out, fpo_value value)
{
    if (value.kind == FPO_INFINITE)
        mpfr_set_inf(out, 1);
    else if (mpfr_set_ui_2exp(out, value.kind == FPO_ZERO ? 0 : value.significand, value.exponent, MPFR_RNDN) != 0)
        ck_abort_msg("a significand of more than %d bits", FPO_ORACLE_BITS);
    if (value.negative)
        mpfr_neg(out, out, MPFR_RNDN);
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Doubles of all kinds: a third any bits, a third near one exponent, a third with few significant bits. */
static double some_double(uint64_t index)
{
    uint64_t bits = fpo_random_bits((fpo_random){3, 1}, index);
    if (index % 3 == 1)
        bits = (bits & ~(UINT64_C(0x7FC) << 52)) | UINT64_C(0x3FC) << 52;
    if (index % 3 == 2)
        bits &= UINT64_C(0xFFFF) << 48;
    if (index % 101 == 0)
        bits = (bits & UINT64_C(1) << 63) | (index % 2 == 0 ? UINT64_C(0x7FF) << 52 : 0);
    return double_of(bits);
}

START_TEST(from_double_and_float)
{
    mpfr_t value, expected;
    mpfr_inits2(FPO_ORACLE_BITS, value, expected, (mpfr_ptr)0);
    for (uint64_t i = 0; i < CASES; i++) {
        double x = some_double(i);
        float y = (float)x;
        for (int narrow = 0; narrow < 2; narrow++) {
            double z = narrow != 0 ? y : x;
            fpo_value v = narrow != 0 ? fpo_value_from_float(y) : fpo_value_from_double(x);
            fpo_class kind = isnan(z) ? FPO_NAN : isinf(z) ? FPO_INFINITE : z == 0 ? FPO_ZERO : FPO_FINITE;
            bool good = v.kind == kind && v.negative == (signbit(z) != 0) && !v.sticky;
            if (good && kind != FPO_NAN) {
                set_value(value, v);
                mpfr_set_d(expected, z, MPFR_RNDN);
                good = mpfr_equal_p(value, expected) != 0;
            }
            if (!good)
                ck_abort_msg("%a", z);
        }
    }
    mpfr_clears(value, expected, (mpfr_ptr)0);
}
END_TEST

static fpo_value some_value(uint64_t index)
{
    uint64_t bits = fpo_random_bits((fpo_random){4, 1}, index);
    fpo_value v = {.significand = (uint32_t)bits >> (bits >> 32) % 31, .negative = bits >> 63 != 0, .kind = FPO_FINITE};
    v.exponent = (int)(bits >> 40 & 63) - 32;
    if (v.significand == 0 || bits >> 50 % 13 == 0)
        v.kind = (bits >> 46 & 3) == 0 ? FPO_INFINITE : (bits >> 46 & 3) == 1 ? FPO_NAN : FPO_ZERO;
    return v;
}

START_TEST(products_and_comparison)
{
    mpfr_t x, y, product, expected;
    mpfr_inits2(FPO_ORACLE_BITS, x, y, product, expected, (mpfr_ptr)0);
    for (uint64_t i = 0; i < CASES; i++) {
        fpo_value v = some_value(2 * i), w = some_value(2 * i + 1);
        if (i % 7 == 0) { /* the same magnitude, written otherwise */
            w = v;
            if (w.kind == FPO_FINITE && w.significand < UINT64_C(1) << 28) {
                w.significand <<= 4;
                w.exponent -= 4;
            }
        }
        fpo_value p = fpo_value_multiply(v, w);
        set_value(x, v);
        set_value(y, w);
        if (v.kind == FPO_NAN)
            mpfr_set_nan(x);
        if (w.kind == FPO_NAN)
            mpfr_set_nan(y);
        mpfr_mul(expected, x, y, MPFR_RNDN);
        bool nan = mpfr_nan_p(expected) != 0;
        bool good = (p.kind == FPO_NAN) == nan && !p.sticky && (p.kind != FPO_ZERO || mpfr_zero_p(expected));
        if (good && !nan) {
            set_value(product, p);
            good = mpfr_equal_p(product, expected) && p.negative == (mpfr_signbit(expected) != 0);
        }
        if (!good)
            ck_abort_msg("product %llu", (unsigned long long)i);
        if (v.kind != FPO_NAN && w.kind != FPO_NAN && fpo_value_compare_magnitude(v, w) != mpfr_cmpabs(x, y))
            ck_abort_msg("comparison %llu", (unsigned long long)i);
    }
    mpfr_clears(x, y, product, expected, (mpfr_ptr)0);
}
END_TEST

/* A number of 160 bits, given to the library as its upper `kept` bits with sticky; the oracle sees it all. */
START_TEST(sticky_stands_for_the_rest)
{
    fpo_oracle oracle;
    fpo_cast policies[FPO_POLICIES];
    mpz_t whole, upper, rest;
    mpfr_t x;
    fpo_oracle_init(&oracle, (fpo_format)_i);
    fpo_fill_policies(policies);
    mpz_inits(whole, upper, rest, (mpz_ptr)0);
    mpfr_init2(x, 192);
    for (uint64_t i = 0; i < 6000; i++) {
        uint64_t bits = fpo_random_bits((fpo_random){5, (uint64_t)_i}, i);
        unsigned kept = 32 + (unsigned)(bits >> 32) % 33;
        /* Around what rounding looks at: many numbers end in 1000..., 0111..., 0000... */
        mpz_set_ui(whole, 1u << 25 | ((uint32_t)bits & 0x1FFFFFF));
        mpz_mul_2exp(whole, whole, 134);
        if (i % 4 == 1)
            mpz_add_ui(whole, whole, 1);
        if (i % 4 == 2)
            mpz_sub_ui(whole, whole, 1);
        if (i % 4 == 3) {
            mpz_set_ui(rest, bits);
            mpz_mul_2exp(rest, rest, (unsigned)(bits >> 58));
            mpz_add(whole, whole, rest);
        }
        int exponent = (int)(bits >> 40 & 0xFF) - 128 - (i % 2 == 0 ? 160 : 160 - oracle.bias);
        size_t length = mpz_sizeinbase(whole, 2);
        mpz_fdiv_q_2exp(upper, whole, length - kept);
        mpz_fdiv_r_2exp(rest, whole, length - kept);
        fpo_value value = {.significand = mpz_get_ui(upper), .exponent = exponent + (int)(length - kept)};
        value.kind = FPO_FINITE;
        value.sticky = mpz_sgn(rest) != 0;
        value.negative = bits >> 63 != 0;
        mpfr_set_z_2exp(x, whole, exponent, MPFR_RNDN);
        fpo_bracket bracket = fpo_oracle_bracket(&oracle, x);
        for (int policy = 0; policy < FPO_POLICIES; policy++) {
            uint32_t random_bits = (uint32_t)(bits >> 7);
            /* 32 bits of a fraction are not known from a short significand. */
            if (policies[policy].rounding == FPO_STOCHASTIC && (int)kept - oracle.mantissa_bits < 33)
                continue;
            uint32_t code = fpo_encode(oracle.format, value, &policies[policy], random_bits);
            uint32_t expected = fpo_oracle_round(&oracle, bracket, value.negative, &policies[policy], random_bits);
            if (code != expected)
                ck_abort_msg("%s, case %llu, policy %d: 0x%X, not 0x%X", oracle.name, (unsigned long long)i, policy,
                             code, expected);
        }
    }
    /* Below everything: nonzero, no significand left. */
    for (int policy = 0; policy < FPO_POLICIES; policy++) {
        fpo_value tiny = {.kind = FPO_FINITE, .exponent = -200, .sticky = true};
        mpfr_set_ui_2exp(x, 1, -300, MPFR_RNDN);
        fpo_bracket bracket = fpo_oracle_bracket(&oracle, x);
        for (int sign = 0; sign < 2; sign++) {
            tiny.negative = sign != 0;
            ck_assert_uint_eq(fpo_encode(oracle.format, tiny, &policies[policy], 0x12345678),
                              fpo_oracle_round(&oracle, bracket, tiny.negative, &policies[policy], 0x12345678));
        }
    }
    mpz_clears(whole, upper, rest, (mpz_ptr)0);
    mpfr_clear(x);
    fpo_oracle_clear(&oracle);
}
END_TEST

/* All 64 bits count, also those that a subnormal result drops far below its last place. */
START_TEST(long_significands_among_subnormals)
{
    fpo_oracle oracle;
    fpo_cast policies[FPO_POLICIES];
    mpfr_t x;
    fpo_oracle_init(&oracle, (fpo_format)_i);
    fpo_fill_policies(policies);
    mpfr_init2(x, 64);
    int quantum = fpo_format_describe(oracle.format)->quantum;
    for (int top = 0; top < 64; top++) {
        for (int low = 0; low <= top; low += 1 + top / 5) {
            fpo_value value = {.kind = FPO_FINITE, .significand = UINT64_C(1) << top | UINT64_C(1) << low};
            for (int exponent = quantum - 66 - top; exponent < quantum + oracle.mantissa_bits + 3 - top; exponent++) {
                value.exponent = exponent;
                mpfr_set_ui_2exp(x, value.significand, exponent, MPFR_RNDN);
                fpo_bracket bracket = fpo_oracle_bracket(&oracle, x);
                for (int policy = FPO_CAST_COUNT; policy < FPO_CAST_COUNT + 2 * FPO_ROUNDINGS; policy++) {
                    uint32_t code = fpo_encode(oracle.format, value, &policies[policy], UINT32_MAX);
                    if (code != fpo_oracle_round(&oracle, bracket, false, &policies[policy], UINT32_MAX))
                        ck_abort_msg("%s of %llu * 2^%d, policy %d: 0x%X", oracle.name,
                                     (unsigned long long)value.significand, exponent, policy, code);
                }
            }
        }
    }
    mpfr_clear(x);
    fpo_oracle_clear(&oracle);
}
END_TEST

/* Extreme exponents are arithmetic, not overflow. */
START_TEST(extreme_exponents)
{
    const fpo_cast *ptx = fpo_cast_describe(FPO_CAST_PTX);
    fpo_value huge = {.kind = FPO_FINITE, .significand = 1, .exponent = INT32_MAX};
    fpo_value tiny = {.kind = FPO_FINITE, .significand = UINT64_MAX, .exponent = INT32_MIN};
    for (unsigned f = 1; f < FPO_FORMAT_COUNT; f++) {
        ck_assert_uint_eq(fpo_encode((fpo_format)f, huge, ptx, 0), fpo_format_describe((fpo_format)f)->max_finite);
        ck_assert_uint_eq(fpo_encode((fpo_format)f, tiny, ptx, 0), 0);
    }
    ck_assert_int_eq(fpo_value_compare_magnitude(huge, tiny), 1);
    ck_assert_int_eq(fpo_value_compare_magnitude(tiny, huge), -1);
}
END_TEST

START_TEST(rounding_to_float)
{
    for (uint64_t i = 0; i < CASES; i++) {
        double x = some_double(i);
        float nearest = fpo_round_to_float(fpo_value_from_double(x), FPO_NEAREST_EVEN), expected = (float)x;
        if (isnan(x) ? !isnan(nearest) : memcmp(&nearest, &expected, sizeof nearest) != 0)
            ck_abort_msg("%a gives %a, not %a", x, nearest, expected);
        float zero = fpo_round_to_float(fpo_value_from_double(x), FPO_TOWARD_ZERO);
        float beyond = nextafterf(zero, x < 0 ? -INFINITY : INFINITY);
        if (isfinite(x) && (fabs((double)zero) > fabs(x) || (fabs((double)beyond) <= fabs(x) && !isinf(beyond))))
            ck_abort_msg("%a toward zero gives %a", x, zero);
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("value");
    TCase *tests = tcase_create("value");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, from_double_and_float);
    tcase_add_test(tests, products_and_comparison);
    tcase_add_loop_test(tests, sticky_stands_for_the_rest, 1, FPO_FORMAT_COUNT);
    tcase_add_loop_test(tests, long_significands_among_subnormals, 1, FPO_FORMAT_COUNT);
    tcase_add_test(tests, extreme_exponents);
    tcase_add_test(tests, rounding_to_float);
    suite_add_tcase(suite, tests);
    return suite;
}

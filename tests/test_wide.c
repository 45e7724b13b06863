/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Wide integers against GMP: sums, products, scalings, and the 64 bits and sticky that rounding takes. */
#include "gemm_data.h"
#include "suite.h"
#include "wide.h"

#include <gmp.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = -20000 }; /* exponents in the reference count from here */

static void reference(const fpo_wide *x, mpz_t z)
{
    mpz_import(z, (size_t)x->length, -1, sizeof x->limbs[0], 0, 0, x->limbs);
    mpz_mul_2exp(z, z, (mp_bitcnt_t)(x->exponent - BASE));
    if (x->negative)
        mpz_neg(z, z);
}

static void check(const fpo_wide *x, const mpz_t expected, const char *what, int i)
{
    mpz_t z;
    mpz_init(z);
    reference(x, z);
    ck_assert_msg(mpz_cmp(z, expected) == 0, "%s, case %d", what, i);
    ck_assert_msg(x->length == 0 || (x->limbs[0] != 0 && x->limbs[x->length - 1] != 0), "%s, case %d: not trimmed",
                  what, i);
    ck_assert(x->length > 0 || !x->negative);
    mpz_clear(z);
}

static fpo_u128 random_magnitude(gemm_random *r)
{
    fpo_u128 high = fpo_random_bits(r->random, r->index++);
    fpo_u128 x = high << 64 | fpo_random_bits(r->random, r->index++);
    switch (gemm_random_below(r, 5)) {
    case 0: return x >> gemm_random_below(r, 128);
    case 1: return (fpo_u128)1 << gemm_random_below(r, 128);
    case 2: return ~(fpo_u128)0 >> gemm_random_below(r, 128);
    case 3: return x & 0xFFFF;
    default: return x;
    }
}

static void random_wide(gemm_random *r, fpo_wide *x)
{
    fpo_wide more;
    fpo_wide_set(x, gemm_random_below(r, 2) != 0, random_magnitude(r), (int)gemm_random_below(r, 600) - 300);
    for (uint64_t i = gemm_random_below(r, 4); i > 0; i--) {
        fpo_wide_set(&more, gemm_random_below(r, 2) != 0, random_magnitude(r), (int)gemm_random_below(r, 600) - 300);
        fpo_wide_add(x, &more);
    }
}

static void check_value(const fpo_wide *x, int i)
{
    fpo_value value = fpo_wide_value(x);
    mpz_t z, top;
    mpz_init(z);
    mpz_init(top);
    reference(x, z);
    ck_assert_int_eq(value.kind, mpz_sgn(z) == 0 ? FPO_ZERO : FPO_FINITE);
    ck_assert_int_eq(value.negative, mpz_sgn(z) < 0);
    mpz_abs(z, z);
    if (mpz_sgn(z) != 0) {
        ck_assert_msg(value.significand >> 63 == 1, "case %d: not normalised", i);
        mpz_import(top, 1, -1, 8, 0, 0, &value.significand);
        mpz_mul_2exp(top, top, (mp_bitcnt_t)(value.exponent - BASE));
        ck_assert_int_eq(value.sticky, mpz_cmp(top, z) < 0);
        ck_assert_int_le(mpz_cmp(top, z), 0);
        mpz_sub(z, z, top);
        mpz_set_ui(top, 1);
        mpz_mul_2exp(top, top, (mp_bitcnt_t)(value.exponent - BASE));
        ck_assert_int_lt(mpz_cmp(z, top), 0);
    }
    mpz_clear(z);
    mpz_clear(top);
}

START_TEST(arithmetic)
{
    gemm_random r = {{20261130, 11}, 0};
    fpo_wide x, y, z;
    mpz_t a, b;
    mpz_init(a);
    mpz_init(b);
    for (int i = 0; i < 30000; i++) {
        random_wide(&r, &x);
        random_wide(&r, &y);
        if (i % 16 == 0) { /* full cancellation */
            fpo_wide_copy(&y, &x);
            y.negative = x.length > 0 && !x.negative;
        }
        reference(&x, a);
        reference(&y, b);
        check_value(&x, i);
        fpo_wide_copy(&z, &x);
        fpo_wide_add(&z, &y);
        mpz_add(b, a, b);
        check(&z, b, "sum", i);

        reference(&y, b);
        fpo_wide_copy(&z, &x);
        fpo_wide_multiply(&z, &y);
        mpz_mul(b, a, b);
        mpz_tdiv_q_2exp(b, b, (mp_bitcnt_t)-BASE);
        check(&z, b, "product", i);

        uint32_t factor = (uint32_t)gemm_random_below(&r, UINT64_C(1) << 32) >> gemm_random_below(&r, 32);
        int exponent = (int)gemm_random_below(&r, 200) - 100;
        bool negative = gemm_random_below(&r, 2) != 0;
        fpo_wide_copy(&z, &x);
        fpo_wide_scale(&z, negative, factor, exponent);
        mpz_mul_ui(b, a, factor);
        mpz_mul_2exp(b, b, 1000);
        mpz_tdiv_q_2exp(b, b, (mp_bitcnt_t)(1000 - exponent));
        if (negative)
            mpz_neg(b, b);
        check(&z, b, "scaling", i);
    }
    mpz_clear(a);
    mpz_clear(b);
}
END_TEST

START_TEST(sums)
{
    gemm_random r = {{20261130, 12}, 0};
    mpz_t expected, term;
    mpz_init(expected);
    mpz_init(term);
    for (int i = 0; i < 20000; i++) {
        int lowest = -(int)gemm_random_below(&r, 600), highest = lowest + 140 + (int)gemm_random_below(&r, 1000);
        fpo_sum sum;
        fpo_wide x;
        ck_assert(fpo_sum_open(&sum, lowest, highest));
        mpz_set_ui(expected, 0);
        for (uint64_t n = 1 + gemm_random_below(&r, 20); n > 0; n--) {
            fpo_u128 magnitude = random_magnitude(&r);
            bool negative = gemm_random_below(&r, 2) != 0;
            int exponent = lowest + (int)gemm_random_below(&r, (uint64_t)(highest - lowest - 135));
            fpo_sum_add(&sum, negative, magnitude, exponent);
            fpo_wide_set(&x, negative, magnitude, exponent);
            reference(&x, term);
            mpz_add(expected, expected, term);
        }
        fpo_sum_total(&sum, &x);
        check(&x, expected, "accumulated sum", i);
        fpo_sum_reset(&sum);
        fpo_sum_total(&sum, &x);
        ck_assert_int_eq(x.length, 0);
    }
    mpz_clear(expected);
    mpz_clear(term);
}
END_TEST

START_TEST(too_wide)
{
    fpo_sum sum;
    ck_assert(fpo_sum_open(&sum, -596, 575 + 64));
    ck_assert(!fpo_sum_open(&sum, -1000, 1000));
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("wide");
    TCase *tests = tcase_create("wide");
    tcase_add_test(tests, arithmetic);
    tcase_add_test(tests, sums);
    tcase_add_test(tests, too_wide);
    suite_add_tcase(suite, tests);
    return suite;
}

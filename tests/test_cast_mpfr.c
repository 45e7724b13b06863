/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Encoding against the definition in MPFR, under every policy: all f16 and bf16 numbers to every format, all midpoints
 * and codes of every format with their neighbours, and the ends of double. */
#include "cast_policies.h"
#include "format_oracle.h"
#include "suite.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    fpo_oracle oracle;
    fpo_cast policies[FPO_POLICIES];
    uint64_t compared;
} bench;

static void bench_open(bench *b, int format)
{
    fpo_oracle_init(&b->oracle, (fpo_format)format);
    fpo_fill_policies(b->policies);
    b->compared = 0;
}

static void bench_close(bench *b)
{
    ck_assert_uint_gt(b->compared, 0);
    fpo_oracle_clear(&b->oracle);
}

static void compare(bench *b, double x, fpo_bracket bracket, int policy, uint32_t random_bits)
{
    fpo_value value = fpo_value_from_double(x);
    uint32_t code = fpo_encode(b->oracle.format, value, &b->policies[policy], random_bits);
    uint32_t expected = fpo_oracle_encode(&b->oracle, x, bracket, &b->policies[policy], random_bits);
    b->compared++;
    if (code != expected)
        ck_abort_msg("%s of %a, policy %d (%s), random 0x%X: 0x%X, not 0x%X", b->oracle.name, x, policy,
                     policy < FPO_CAST_COUNT ? fpo_cast_name((fpo_cast_preset)policy) : "-", random_bits, code,
                     expected);
}

/* x and -x under every policy; a stochastic one at its threshold, where the result changes, and at its ends. */
static void compare_all(bench *b, double x)
{
    fpo_bracket bracket = fpo_oracle_bracket_double(&b->oracle, x);
    uint64_t threshold = (UINT64_C(1) << 32) - bracket.fraction;
    for (int policy = 0; policy < FPO_POLICIES; policy++) {
        for (int sign = 0; sign < 2; sign++) {
            double signed_x = sign != 0 ? -x : x;
            if (b->policies[policy].rounding == FPO_STOCHASTIC) {
                compare(b, signed_x, bracket, policy, (uint32_t)(threshold - 1));
                if (threshold <= UINT32_MAX)
                    compare(b, signed_x, bracket, policy, (uint32_t)threshold);
                compare(b, signed_x, bracket, policy, UINT32_MAX);
            }
            compare(b, signed_x, bracket, policy, 0);
        }
    }
}

START_TEST(all_f16_and_bf16_numbers)
{
    bench b;
    bench_open(&b, _i);
    /* NaNs aside, the sign is tried by compare_all. */
    for (uint32_t code = 0; code < 0x10000; code++) {
        for (int source = 0; source < 2; source++) {
            double x = fpo_decode_double(source == 0 ? FPO_F16 : FPO_BF16, code);
            if (code < 0x8000 || isnan(x))
                compare_all(&b, x);
        }
    }
    bench_close(&b);
}
END_TEST

static void compare_neighbourhood(bench *b, double x)
{
    compare_all(b, x);
    compare_all(b, nextafter(x, INFINITY));
    compare_all(b, nextafter(x, 0));
    float single = (float)x;
    if (single != x || isinf(single))
        return;
    compare_all(b, nextafterf(single, INFINITY));
    compare_all(b, nextafterf(single, 0));
}

/* Every number of the format and every midpoint, the step after the largest included; f32 is
 * sampled, and tf32 without FPO_LONG=1. */
START_TEST(midpoints_and_numbers_with_neighbours)
{
    bench b;
    bench_open(&b, _i);
    bool whole = b.oracle.last < 0x8000 || (b.oracle.last < 0x80000 && getenv("FPO_LONG") != NULL);
    uint32_t step = whole ? 1 : b.oracle.last / 20000 | 1;
    for (uint64_t k = 0; k <= b.oracle.last + 2; k += step) {
        if (k + step > b.oracle.last && k < b.oracle.last - 3)
            k = b.oracle.last - 3; /* the largest and what follows, whatever the step */
        uint32_t here = (uint32_t)k;
        fpo_oracle_number(&b.oracle, b.oracle.low, here);
        fpo_oracle_number(&b.oracle, b.oracle.high, here + 1);
        double number = mpfr_get_d(b.oracle.low, MPFR_RNDN), next = mpfr_get_d(b.oracle.high, MPFR_RNDN);
        compare_neighbourhood(&b, number);
        compare_neighbourhood(&b, number + (next - number) / 2); /* exact: at most 25 bits */
    }
    bench_close(&b);
}
END_TEST

START_TEST(ends_of_double)
{
    static const double ends[] = {0.0,      NAN,      INFINITY, DBL_MAX,  DBL_MIN,     DBL_TRUE_MIN, 0x1p-150, 0x1p-151,
                                  0x1p-200, 0x1p1000, 0x1p128,  0x1p-128, 0x1.8p-128,  0x1p-127,     0x1p-126, 1e-5,
                                  0x1p64,   0x1p-64,  0x1p-63,  0x1p-65,  0x1.8p-1000, 3e9,          7e18};
    bench b;
    bench_open(&b, _i);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        compare_all(&b, ends[i]);
        if (isfinite(ends[i])) {
            compare_all(&b, nextafter(ends[i], INFINITY));
            compare_all(&b, nextafter(ends[i], 0));
        }
    }
    bench_close(&b);
}
END_TEST

/* The definition itself: of the 2^32 random numbers, floor(2^32 * fraction) go up. Counted over the upper 12 bits,
 * which decide for numbers whose discarded fraction has at most 12. */
START_TEST(stochastic_shares_are_the_fractions)
{
    bench b;
    bench_open(&b, _i);
    const fpo_cast *policy = fpo_cast_describe(FPO_CAST_PTX_RS);
    for (uint32_t code = 1; code < 0x7C00; code += 37) {
        double x = fpo_decode_double(FPO_F16, code);
        fpo_bracket bracket = fpo_oracle_bracket_double(&b.oracle, x);
        if (bracket.below >= b.oracle.last || bracket.fraction % (1u << 20) != 0)
            continue;
        fpo_value value = fpo_value_from_double(x);
        uint64_t up = 0;
        for (uint32_t top = 0; top < 4096; top++)
            up += fpo_encode(b.oracle.format, value, policy, top << 20) - bracket.below;
        b.compared++;
        if (up << 20 != bracket.fraction)
            ck_abort_msg("%s of %a: %llu of 4096 go up, the fraction is %llu / 2^32", b.oracle.name, x,
                         (unsigned long long)up, (unsigned long long)bracket.fraction);
    }
    bench_close(&b);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("cast against MPFR");
    TCase *tests = tcase_create("cast against MPFR");
    tcase_set_timeout(tests, 1800);
    tcase_add_loop_test(tests, all_f16_and_bf16_numbers, 1, FPO_FORMAT_COUNT);
    tcase_add_loop_test(tests, midpoints_and_numbers_with_neighbours, 1, FPO_FORMAT_COUNT);
    tcase_add_loop_test(tests, ends_of_double, 1, FPO_FORMAT_COUNT);
    tcase_add_loop_test(tests, stochastic_shares_are_the_fractions, 1, FPO_FORMAT_COUNT);
    suite_add_tcase(suite, tests);
    return suite;
}

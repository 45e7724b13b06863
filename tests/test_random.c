/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The generator against Random123's known answers, and what is drawn from it. */
#include "suite.h"

#include <fp4oracle/random.h>
#include <math.h>

/* Random123 1.14, tests/kat_vectors, philox4x32 10: counter, key, result. */
START_TEST(known_answers)
{
    static const struct {
        uint64_t index, stream, seed;
        uint32_t words[4];
    } rows[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    uint32_t words[4];
    fpo_random_block((fpo_random){rows[_i].seed, rows[_i].stream}, rows[_i].index, words);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(words[i], rows[_i].words[i]);
    ck_assert(fpo_random_bits((fpo_random){rows[_i].seed, rows[_i].stream}, rows[_i].index) ==
              (rows[_i].words[0] | (uint64_t)rows[_i].words[1] << 32));
}
END_TEST

START_TEST(below_is_the_scaled_word)
{
    fpo_random random = {7, 9};
    static const uint64_t bounds[] = {1, 2, 3, 255, 65537, UINT64_C(1) << 32, (UINT64_C(1) << 63) + 12345, UINT64_MAX};
    for (unsigned b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        for (uint64_t i = 0; i < 1000; i++) {
            __extension__ typedef unsigned __int128 wide;
            uint64_t expected = (uint64_t)((wide)fpo_random_bits(random, i) * bounds[b] >> 64);
            uint64_t got = fpo_random_below(random, i, bounds[b]);
            if (got != expected || got >= bounds[b])
                ck_abort_msg("%llu below %llu", (unsigned long long)got, (unsigned long long)bounds[b]);
        }
    }
}
END_TEST

START_TEST(normal_has_the_moments)
{
    enum { N = 200000 };
    double sum = 0, squares = 0, fourth = 0;
    for (uint64_t i = 0; i < N; i++) {
        double x = fpo_random_normal((fpo_random){1, 2}, i);
        if (fabs(x) >= 6 || x * 0x1p21 != floor(x * 0x1p21))
            ck_abort_msg("%a", x);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    /* Four standard errors; the fourth moment of a sum of 12 uniforms is 2.9. */
    ck_assert_double_le(fabs(sum / N), 4 / sqrt(N));
    ck_assert_double_le(fabs(squares / N - 1), 4 * sqrt(1.9 / N));
    ck_assert_double_le(fabs(fourth / N - 2.9), 4 * sqrt(80.0 / N));
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("random");
    TCase *tests = tcase_create("random");
    tcase_add_loop_test(tests, known_answers, 0, 3);
    tcase_add_test(tests, below_is_the_scaled_word);
    tcase_add_test(tests, normal_has_the_moments);
    suite_add_tcase(suite, tests);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Stream-K against CUTLASS itself: which k-tiles of each output tile go to which unit, in 800 problems that CUTLASS 4.2
 * decided on a CPU (tools/record_stream_k.sh). */
#include "suite.h"

#include "stream_k_decisions.h"

#include <stdio.h>
#include <stdlib.h>

static char *decisions;

static void set_up(void)
{
    decisions = stream_k_decisions();
}

static void tear_down(void)
{
    free(decisions);
}

/* Entry number `index` of those that the registry has. */
static const fpo_model *stream_k_model(size_t index)
{
    for (size_t i = 0; fpo_model_at(i) != NULL; i++)
        if (fpo_model_at(i)->accumulation.schedule.split == FPO_SPLIT_STREAM_K && index-- == 0)
            return fpo_model_at(i);
    return NULL;
}

START_TEST(test_cutlass)
{
    for (size_t i = 0; stream_k_model(i) != NULL; i++) {
        const fpo_schedule *schedule = &stream_k_model(i)->accumulation.schedule;
        stream_k_counts seen = stream_k_compare(decisions, schedule, false);
        printf("%s: %ld problems, %ld output tiles of which %ld are split, %ld parts\n", stream_k_model(i)->name,
               seen.problems, seen.tiles, seen.split_tiles, seen.parts);
        ck_assert_int_eq(seen.problems, 800);
        ck_assert_int_gt(seen.split_tiles, 3000);
        ck_assert_int_eq(seen.wrong, 0);
        /* The transposed kernel: the same decisions with rows and columns exchanged. */
        ck_assert_int_eq(stream_k_compare(decisions, schedule, true).wrong, 0);
    }
}
END_TEST

/* The recorded decisions depend on each number of the schedule. */
START_TEST(test_numbers_matter)
{
    ck_assert_ptr_nonnull(stream_k_model(0));
    for (int i = 0; i < 5; i++) {
        fpo_schedule s = stream_k_model(0)->accumulation.schedule;
        int32_t *numbers[] = {&s.tile_m, &s.tile_n, &s.tile_k, &s.min_k_tiles, &s.max_groups};
        *numbers[i] += i < 3 ? *numbers[i] : 1;
        ck_assert_msg(stream_k_compare(decisions, &s, false).wrong > 0, "number %d", i);
        if (i >= 3) {
            *numbers[i] -= 2;
            ck_assert_msg(stream_k_compare(decisions, &s, false).wrong > 0, "number %d", i);
        }
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("stream-k");
    TCase *c = tcase_create("cutlass");
    tcase_add_unchecked_fixture(c, set_up, tear_down);
    tcase_add_test(c, test_cutlass);
    tcase_add_test(c, test_numbers_matter);
    suite_add_tcase(suite, c);
    return suite;
}

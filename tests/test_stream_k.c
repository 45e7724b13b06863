/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Stream-K against CUTLASS itself: which k-tiles of each output tile go to which unit, in 800 problems that CUTLASS 4.2
 * decided on a CPU (tools/record_stream_k.sh). */
#include "suite.h"

#include "recorded.h"
#include "split.h"

#include <stdio.h>
#include <stdlib.h>

static char *lines;

static void set_up(void)
{
    fpo_error error = {0};
    void *bytes;
    size_t size;
    fpo_status status =
        fpo_read_zstd(FPO_SOURCE_DIR "/vectors/data/stream_k/cutlass_4.2_parts.txt.zst", &bytes, &size, &error);
    ck_assert_msg(status == FPO_OK, "%s", error.message);
    lines = realloc(bytes, size + 1);
    ck_assert_ptr_nonnull(lines);
    lines[size] = '\0';
}

static void tear_down(void)
{
    free(lines);
}

static long number(char **at)
{
    char *end;
    long value = strtol(*at, &end, 10);
    ck_assert_ptr_ne(end, *at);
    *at = end;
    return value;
}

typedef struct counts {
    long problems, tiles, parts, split_tiles, wrong;
} counts;

/* Compares the tiles of one line; leaves *at behind it. */
static void compare_line(const fpo_schedule *schedule, char **at, bool exchanged, counts *seen)
{
    long m = number(at), n = number(at), k = number(at);
    fpo_schedule s = *schedule;
    s.wave = (int32_t)number(at);
    s.swap_ab = exchanged;
    fpo_split split = fpo_split_of(&s, exchanged ? n : m, exchanged ? m : n, k);
    while (**at == ' ') {
        long tile_m = number(at);
        ck_assert_int_eq(*(*at)++, ',');
        long tile_n = number(at), count = 0;
        int64_t row = tile_m * 128 + 5, column = tile_n * 128 + 7;
        int64_t r = exchanged ? column : row, c = exchanged ? row : column;
        ck_assert_int_eq(*(*at)++, ':');
        for (; **at >= '0' && **at <= '9'; count++) {
            long first = number(at);
            ck_assert_int_eq(*(*at)++, '+');
            long length = number(at);
            ck_assert_int_eq(*(*at)++, '/');
            fpo_part part = fpo_split_part(&split, r, c, count);
            seen->wrong += part.first != first || part.count != length || part.stride != 1;
        }
        seen->wrong += fpo_split_parts(&split, r, c) != count;
        seen->tiles++;
        seen->parts += count;
        seen->split_tiles += count > 1;
    }
    seen->problems++;
}

static counts compare_all(const fpo_schedule *schedule, bool exchanged)
{
    counts seen = {0};
    for (char *at = lines; *at != '\0'; at++) /* over the line's end */
        compare_line(schedule, &at, exchanged, &seen);
    return seen;
}

static const fpo_schedule *schedule(void)
{
    return &fpo_model_by_name("sm120_mxf4nvf4_stream_k_170")->accumulation.schedule;
}

START_TEST(test_cutlass)
{
    counts seen = compare_all(schedule(), false);
    printf("%ld problems, %ld output tiles of which %ld are split, %ld parts\n", seen.problems, seen.tiles,
           seen.split_tiles, seen.parts);
    ck_assert_int_eq(seen.problems, 800);
    ck_assert_int_gt(seen.split_tiles, 3000);
    ck_assert_int_eq(seen.wrong, 0);
    /* The transposed kernel: the same decisions with rows and columns exchanged. */
    ck_assert_int_eq(compare_all(schedule(), true).wrong, 0);
}
END_TEST

/* The recorded decisions depend on each number of the schedule. */
START_TEST(test_numbers_matter)
{
    for (int i = 0; i < 5; i++) {
        fpo_schedule s = *schedule();
        int32_t *numbers[] = {&s.tile_m, &s.tile_n, &s.tile_k, &s.min_k_tiles, &s.max_groups};
        *numbers[i] += i < 3 ? *numbers[i] : 1;
        ck_assert_msg(compare_all(&s, false).wrong > 0, "number %d", i);
        if (i >= 3) {
            *numbers[i] -= 2;
            ck_assert_msg(compare_all(&s, false).wrong > 0, "number %d", i);
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

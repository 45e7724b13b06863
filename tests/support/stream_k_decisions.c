/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "stream_k_decisions.h"
#include "recorded.h"

#include "assertions.h"
#include <split.h>
#include <stdlib.h>

char *stream_k_decisions(void)
{
    fpo_error error = {0};
    void *bytes;
    size_t size;
    fpo_status status =
        fpo_read_zstd(FPO_SOURCE_DIR "/vectors/data/stream_k/cutlass_4.2_parts.txt.zst", &bytes, &size, &error);
    ck_assert_msg(status == FPO_OK, "%s", error.message);
    char *text = realloc(bytes, size + 1);
    ck_assert_ptr_nonnull(text);
    text[size] = '\0';
    return text;
}

static long number(const char **at)
{
    char *end;
    long value = strtol(*at, &end, 10);
    ck_assert_ptr_ne(end, *at);
    *at = end;
    return value;
}

/* Compares the tiles of one line; leaves *at behind it. */
static void compare_line(const fpo_schedule *schedule, const char **at, bool exchanged, stream_k_counts *seen)
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

stream_k_counts stream_k_compare(const char *decisions, const fpo_schedule *schedule, bool exchanged)
{
    stream_k_counts seen = {0};
    for (const char *at = decisions; *at != '\0'; at++) /* over the line's end */
        compare_line(schedule, &at, exchanged, &seen);
    return seen;
}

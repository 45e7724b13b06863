/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The virtual SM100's tcgen05.ld and st, which no GPU at hand has, on random data, against CuTe's layouts of their
 * fragments. */
#include "suite.h"
#include "tcgen05_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CuTe's (thread, value) -> bit of the fragment, in units of 32 bits: two or three modes of each, for one repetition
 * count n; the stride of a lane is that of a row (cute/atom/copy_traits_sm100.hpp). */
typedef struct fragment {
    const char *shape;
    int per; /* registers of one repetition */
    int row; /* words of a lane in one repetition */
    int thread_extent[3], thread_lane[3], thread_word[3];
    int value_extent[2], value_lane[2], value_word[2]; /* the last mode goes over repetitions */
} fragment;

static const fragment fragments[] = {
    {"32x32b", 1, 1, {32, 1, 1}, {1, 0, 0}, {0, 0, 0}, {1, 1}, {0, 0}, {0, 0}},
    {"16x64b", 1, 2, {2, 2, 8}, {8, 0, 1}, {0, 1, 0}, {1, 1}, {0, 0}, {0, 0}},
    {"16x128b", 2, 4, {4, 8, 1}, {0, 1, 0}, {1, 0, 0}, {2, 1}, {8, 0}, {0, 0}},
    {"16x256b", 4, 8, {4, 8, 1}, {0, 1, 0}, {2, 0, 0}, {2, 2}, {0, 8}, {1, 0}},
};

static void place(const fragment *f, int thread, int r, int *lane, int *word)
{
    *lane = *word = 0;
    for (int i = 0; i < 3; i++) {
        int digit = thread % f->thread_extent[i];
        thread /= f->thread_extent[i];
        *lane += digit * f->thread_lane[i];
        *word += digit * f->thread_word[i];
    }
    for (int i = 0; i < 2; i++) {
        int digit = r % f->value_extent[i];
        r /= f->value_extent[i];
        *lane += digit * f->value_lane[i];
        *word += digit * f->value_word[i];
    }
    *word += r * f->row;
}

static void registers(char *text, size_t size, int count)
{
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%sv%d", i > 0 ? ", " : "", i);
}

/* Reads a fragment of every warp from column 5 (and the lower or upper half), and writes it to column 200 + a bit. */
static void check_fragment(const fragment *f, int repetitions, int half, bool packed, bool late)
{
    int count = f->per * repetitions, columns = f->row * repetitions * (packed ? 2 : 1);
    char list[1024], body[8192];
    registers(list, sizeof list, count);
    size_t used = (size_t)snprintf(
        body, sizeof body,
        "add.u32 r20, r12, %u;\ntcgen05.ld.sync.aligned.%s.x%d%s.b32 {%s}, [r20+5];\ntcgen05.wait::ld.sync.aligned;\n"
        "mul.lo.u32 r21, r0, %d; cvt.u64.u32 d8, r21; add.s64 d8, d8, d2;\n",
        (unsigned)half << 20, f->shape, repetitions, packed ? ".pack::16b" : "", list, 4 * count);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, "st.global.b32 [d8+%d], v%d;\n", 4 * i, i);
    snprintf(body + used, sizeof body - used,
             "bar.sync 0;\ntcgen05.st.sync.aligned.%s.x%d%s.b32 [r20+250], {%s};\ntcgen05.wait::st.sync.aligned;\n",
             f->shape, repetitions, packed ? ".unpack::16b" : "", list);
    state *s = tcgen05_states((uint64_t)(repetitions + half), 1), *before = malloc(sizeof *before);
    memcpy(before, s, sizeof *s);
    tcgen05_must_run(s, &(arguments){.body = body, .late = late});
    for (int t = 0; t < THREADS; t++) {
        for (int r = 0; r < count; r++) {
            int lane, word;
            place(f, t % 32, r, &lane, &word);
            lane += t / 32 * 32 + 16 * half;
            uint32_t want = before->tmem[5 + word][lane];
            if (packed)
                want = (before->tmem[5 + 2 * word][lane] & 0xFFFF) | before->tmem[6 + 2 * word][lane] << 16;
            if (s->out[t * count + r] != want) /* asserting is slow */
                ck_abort_msg("%s x%d half %d packed %d: thread %d register %d", f->shape, repetitions, half, packed, t,
                             r);
            if (packed) {
                before->tmem[250 + 2 * word][lane] = want & 0xFFFF;
                before->tmem[251 + 2 * word][lane] = want >> 16;
            } else {
                before->tmem[250 + word][lane] = want;
            }
        }
    }
    ck_assert_int_le(250 + columns, COLUMNS);
    ck_assert_msg(memcmp(s->tmem, before->tmem, sizeof s->tmem) == 0, "%s x%d: what was written", f->shape,
                  repetitions);
    free(before);
    free(s);
}

START_TEST(fragments_of_registers)
{
    const fragment *f = &fragments[_i];
    for (int repetitions = 1; f->per * repetitions <= 128 && f->row * repetitions <= 64; repetitions *= 4)
        for (int half = 0; half < (_i == 0 ? 1 : 2); half++)
            for (int packed = 0; packed < 2; packed++)
                check_fragment(f, repetitions, half, packed, repetitions == 4);
}
END_TEST

/* Half of the warp takes the columns from the immediate on. */
START_TEST(fragments_in_two_halves)
{
    state *s = tcgen05_states(5, 1);
    tcgen05_must_run(s, &(arguments){.body =
                                         "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {v0, v1}, [r12+3], 40;\n"
                                         "tcgen05.wait::ld.sync.aligned;\nmul.lo.u32 r21, r0, 8; cvt.u64.u32 d8, r21;\n"
                                         "add.s64 d8, d8, d2; st.global.v2.b32 [d8], {v0, v1};\n"});
    for (int t = 0; t < THREADS; t++)
        for (int r = 0; r < 2; r++)
            ck_assert_uint_eq(s->out[2 * t + r], s->tmem[3 + r + (t % 32 < 16 ? 0 : 40)][t / 32 * 32 + t % 16]);
    free(s);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_tcgen05_registers");
    TCase *tests = tcase_create("tcgen05");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, fragments_of_registers, 0, 4);
    tcase_add_test(tests, fragments_in_two_halves);
    suite_add_tcase(suite, tests);
    return suite;
}

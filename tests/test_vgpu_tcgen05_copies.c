/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The virtual SM100's tcgen05.cp and shift, which no GPU at hand has, on random data, against the places that PTX
 * names.
 */
#include "suite.h"
#include "tcgen05_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct copy_shape {
    const char *text;
    int rows, words;
    int partition[4][2]; /* rows [partition[p][0], +32) go to lanes 32 p; -1: none */
} copy_shape;

static const copy_shape copies[] = {{"128x256b", 128, 8, {{0, 0}, {32, 0}, {64, 0}, {96, 0}}},
                                    {"128x128b", 128, 4, {{0, 0}, {32, 0}, {64, 0}, {96, 0}}},
                                    {"32x128b.warpx4", 32, 4, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}},
                                    {"64x128b.warpx2::02_13", 64, 4, {{0, 0}, {32, 0}, {0, 0}, {32, 0}}},
                                    {"64x128b.warpx2::01_23", 64, 4, {{0, 0}, {0, 0}, {32, 0}, {32, 0}}}};

START_TEST(copies_from_shared_memory)
{
    const copy_shape *shape = &copies[_i];
    for (int swizzle = 0; swizzle < 4; swizzle += 3) {
        layout l = tcgen05_contiguous(swizzle);
        char body[1024];
        snprintf(body, sizeof body,
                 "add.s64 d3, d3, d10;\n"
                 "@p3 tcgen05.cp.cta_group::1.%s [r10+7], d3;\n" COMMIT,
                 shape->text);
        state *s = tcgen05_states(11, 1), *before = malloc(sizeof *before);
        memcpy(before, s, sizeof *s);
        tcgen05_must_run(s, &(arguments){.body = body, .a = tcgen05_descriptor(&l, 0), .seed = (uint64_t)swizzle});
        for (int lane = 0; lane < LANES; lane++)
            for (int w = 0; w < shape->words; w++)
                memcpy(&before->tmem[7 + w][lane],
                       s->image + tcgen05_k_major(&l, (uint32_t)(shape->partition[lane / 32][0] + lane % 32),
                                                  (uint32_t)(4 * w)),
                       4);
        ck_assert_msg(memcmp(s->tmem, before->tmem, sizeof s->tmem) == 0, "%s, swizzle %d", shape->text, swizzle);
        free(before);
        free(s);
    }
}
END_TEST

START_TEST(copies_of_four_lanes_and_shifts)
{
    layout l = tcgen05_contiguous(0);
    state *s = tcgen05_states(12, 1), *before = malloc(sizeof *before);
    memcpy(before, s, sizeof *s);
    tcgen05_must_run(s, &(arguments){.body = "add.s64 d3, d3, d10;\n"
                                             "add.u32 r20, r10, 0x1C0000;\n" /* lane 28 */
                                             "@p3 tcgen05.cp.cta_group::1.4x256b [r20+9], d3;\n"
                                             "add.u32 r21, r10, 0x400000;\n" /* lane 64 */
                                             "@p3 tcgen05.shift.cta_group::1.down [r21+16];\n" COMMIT,
                                     .a = tcgen05_descriptor(&l, 0)});
    for (int row = 0; row < 4; row++)
        for (int w = 0; w < 8; w++)
            memcpy(&before->tmem[9 + w][28 + 32 * row],
                   s->image + tcgen05_k_major(&l, (uint32_t)row, (uint32_t)(4 * w)), 4);
    for (int column = 16; column < 24; column++)
        for (int lane = 64; lane < 95; lane++)
            before->tmem[column][lane] = before->tmem[column][lane + 1];
    ck_assert_int_eq(memcmp(s->tmem, before->tmem, sizeof s->tmem), 0);
    free(before);
    free(s);
}
END_TEST

/* Packed elements become bytes on their way: the A of kind::f8f6f4 in tensor memory. */
START_TEST(copies_that_unpack)
{
    static const struct {
        const char *text;
        int bits, shift;
    } cases[] = {{"b8x16.b4x16_p64", 4, 2}, {"b8x16.b6x16_p32", 6, 0}};
    layout l = tcgen05_contiguous(3);
    char body[1024];
    snprintf(body, sizeof body,
             "add.s64 d3, d3, d10;\n"
             "@p3 tcgen05.cp.cta_group::1.128x256b.%s [r10+32], d3;\n" COMMIT,
             cases[_i].text);
    state *s = tcgen05_states(13, 1);
    tcgen05_must_run(s, &(arguments){.body = body, .a = tcgen05_descriptor(&l, 0)});
    for (uint32_t lane = 0; lane < LANES; lane++) {
        for (uint32_t e = 0; e < 32; e++) {
            uint32_t bits = (uint32_t)cases[_i].bits, code = 0;
            for (uint32_t i = 0; i < bits; i++) {
                uint32_t bit = e % 16 * bits + i;
                code |= (uint32_t)(s->image[tcgen05_k_major(&l, lane, 16 * (e / 16) + bit / 8)] >> bit % 8 & 1) << i;
            }
            if ((s->tmem[32 + e / 4][lane] >> (8 * (e % 4)) & 255) != code << cases[_i].shift)
                ck_abort_msg("%s: lane %u, element %u", cases[_i].text, lane, e);
        }
    }
    free(s);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_tcgen05_copies");
    TCase *tests = tcase_create("tcgen05");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, copies_from_shared_memory, 0, sizeof copies / sizeof *copies);
    tcase_add_test(tests, copies_of_four_lanes_and_shifts);
    tcase_add_loop_test(tests, copies_that_unpack, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The virtual SM100's tcgen05.mma of every kind, which no GPU at hand has, on random data, against the emulator's step
 * on operands that are laid out here by CuTe's canonical layouts. */
#include "engine.h"
#include "suite.h"
#include "tcgen05_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    B_AT = 32 * 1024, /* of shared memory: A from 0, B from here */
    MOST_N = 256,
    A_COLUMN = 256, /* A, then its scales and B's */
    SCALES_COLUMN = 264
};

typedef struct instruction {
    const char *opcode; /* from the kind on */
    const char *model;
    fpo_format a, b;
    uint32_t a_code, b_code; /* in the instruction descriptor */
    int k;
    int scales;
    fpo_format scale;
} instruction;

static const instruction plain[] = {
    {"kind::f16", "sm100_f16", FPO_F16, FPO_F16, 0, 0, 16, 0, FPO_FORMAT_NONE},
    {"kind::f16", "sm100_bf16", FPO_BF16, FPO_BF16, 1, 1, 16, 0, FPO_FORMAT_NONE},
    {"kind::tf32", "sm100_tf32", FPO_F32, FPO_F32, 2, 2, 8, 0, FPO_FORMAT_NONE},
    {"kind::f8f6f4", "sm100_f8f6f4", FPO_E4M3, FPO_E5M2, 0, 1, 32, 0, FPO_FORMAT_NONE},
    {"kind::f8f6f4", "sm100_f8f6f4", FPO_E5M2, FPO_E2M1, 1, 5, 32, 0, FPO_FORMAT_NONE},
    {"kind::f8f6f4", "sm100_f8f6f4", FPO_E2M3, FPO_E3M2, 3, 4, 32, 0, FPO_FORMAT_NONE},
    {"kind::f8f6f4", "sm100_f8f6f4", FPO_E2M1, FPO_E4M3, 5, 0, 32, 0, FPO_FORMAT_NONE},
};
static const instruction scaled[] = {
    {"kind::mxf8f6f4.block_scale", "sm100_mxf8f6f4", FPO_E4M3, FPO_E4M3, 0, 0, 32, 1, FPO_UE8M0},
    {"kind::mxf8f6f4.block_scale.block32", "sm100_mxf8f6f4", FPO_E2M1, FPO_E3M2, 5, 4, 32, 1, FPO_UE8M0},
    {"kind::mxf4.block_scale.scale_vec::2X", "sm100_mxf4", FPO_E2M1, FPO_E2M1, 1, 1, 64, 2, FPO_UE8M0},
    {"kind::mxf4nvf4.block_scale.scale_vec::2X", "sm100_mxf4", FPO_E2M1, FPO_E2M1, 1, 1, 64, 2, FPO_UE8M0},
    {"kind::mxf4nvf4.block_scale.scale_vec::4X", "sm100_mxf4nvf4", FPO_E2M1, FPO_E2M1, 1, 1, 64, 4, FPO_UE4M3},
    {"kind::mxf4nvf4.block_scale.block16", "sm100_mxf4nvf4", FPO_E2M1, FPO_E2M1, 1, 1, 64, 4, FPO_UE8M0},
};

typedef struct form {
    int m, n;
    layout a, b;
    bool ws, tmem, accumulate, f16, negate_a, negate_b, leave_out;
    bool pair;
    int id_a, id_b; /* of scales */
    uint64_t seed;
} form;

typedef struct codes {
    uint32_t a[MOST_N][64], b[MOST_N][64];
    uint8_t sa[MOST_N][4], sb[MOST_N][4];
} codes;

static uint32_t random_code(fpo_format format, uint64_t stream, uint64_t index)
{
    uint32_t word = tcgen05_random(stream, index);
    if (format == FPO_F32 && index % 16 != 0) /* exponents near 1, or anything now and then */
        return (word & 0x807FFFFF) | (120 + (word >> 24) % 16) << 23;
    return word & fpo_format_describe(format)->code_mask;
}

static void fill_codes(codes *c, const instruction *ins, uint64_t stream)
{
    for (int r = 0; r < MOST_N; r++) {
        for (int k = 0; k < ins->k; k++) {
            uint64_t index = (uint64_t)(r * 64 + k);
            c->a[r][k] = random_code(ins->a, stream, index);
            c->b[r][k] = random_code(ins->b, stream + 1, index);
        }
        for (int i = 0; i < 4; i++) {
            uint32_t word = tcgen05_random(stream + 2, (uint64_t)(r * 4 + i)),
                     near = ins->scale == FPO_UE8M0 ? 120 : 0x30;
            c->sa[r][i] = (uint8_t)(r % 16 == 0 ? word : near + word % 12);
            c->sb[r][i] = (uint8_t)(r % 16 == 1 ? word >> 8 : near + (word >> 8) % 12);
        }
    }
}

/* With K = 32, elements of 4 and 6 bits lie packed in the low bytes of 16. */
static void put(uint8_t *image, const layout *l, fpo_format format, int k_of_instruction, uint32_t row, uint32_t k,
                uint32_t code)
{
    uint32_t bits = fpo_format_describe(format)->bits;
    if (!l->k_contiguous) {
        memcpy(image + tcgen05_mn_major(l, bits / 8, row, k), &code, bits / 8);
        return;
    }
    uint32_t bit = bits < 8 && k_of_instruction == 32 ? k / 16 * 128 + k % 16 * bits : k * bits;
    for (uint32_t i = 0; i < bits; i++) {
        uint8_t *byte = image + tcgen05_k_major(l, row, (bit + i) / 8);
        *byte = (uint8_t)((*byte & ~(1u << (bit + i) % 8)) | (code >> i & 1) << (bit + i) % 8);
    }
}

/* Where D's (m, n) lies: PTX figures of layouts D, F (M = 64), E and G (.ws with 64 and 32); A and B of pairs. */
static void place_of_d(const form *f, int m, int n, int *cta, int *lane, int *column)
{
    *cta = f->pair ? m / (f->m / 2) : 0;
    if (f->pair)
        m %= f->m / 2;
    *lane = m;
    *column = n;
    if (f->pair && f->m == 128 && n >= f->n / 2) {
        *lane = m + 64;
        *column = n - f->n / 2;
    }
    if (f->m == 64 && !f->ws)
        *lane = m % 16 + 32 * (m / 16);
    if (f->m == 64 && f->ws) {
        *lane = m + (n >= f->n / 2 ? 64 : 0);
        *column = n % (f->n / 2);
    }
    if (f->m == 32) {
        *lane = m + 32 * (n / (f->n / 4));
        *column = n % (f->n / 4);
    }
}

static void put_tmem_a(state *s, const instruction *ins, const form *f, int row, int k, uint32_t code)
{
    int bits = ins->k == 32 ? 8 : fpo_format_describe(ins->a)->bits, lane = row;
    uint32_t *word = &s->tmem[A_COLUMN + k * bits / 32][0], shift = (uint32_t)(k * bits % 32);
    if (f->m == 64 && !f->ws)
        lane = row % 16 + 32 * (row / 16);
    uint32_t mask = bits == 32 ? UINT32_MAX : ((1u << bits) - 1) << shift;
    word[lane] = (word[lane] & ~mask) | (ins->a == FPO_E2M1 && bits == 8 ? code << 2 : code) << shift;
}

/* Scales of B lie in every CTA; with a pair and M = 128, those of the second half of the rows in the upper lanes. */
static void put_b_scales(state *s, const codes *c, const form *f)
{
    bool halves = f->pair && f->m == 128;
    for (int r = 0; r < f->n; r++) {
        int half = halves ? f->n / 2 : f->n, upper = r / half;
        for (int p = 0; p < 4; p++)
            if (!halves || p / 2 == upper)
                memcpy(&s->tmem[SCALES_COLUMN + 4 + r % half / 32][32 * p + r % half % 32], c->sb[r], 4);
    }
}

/* What a CTA has: its rows of A, and half of B's with a pair. */
static void prepare(state *s, const codes *c, const instruction *ins, const form *f, int cta)
{
    int rows = f->pair ? f->m / 2 : f->m, columns = f->pair ? f->n / 2 : f->n;
    for (int r = 0; r < rows; r++) {
        for (int k = 0; k < ins->k; k++) {
            uint32_t code = c->a[cta * rows + r][k];
            if (f->tmem)
                put_tmem_a(s, ins, f, r, k, code);
            else
                put(s->image, &f->a, ins->a, ins->k, (uint32_t)r, (uint32_t)k, code);
        }
        for (int p = 0; p < 4 && ins->scales > 0; p++)
            memcpy(&s->tmem[SCALES_COLUMN + r / 32][32 * p + r % 32], c->sa[cta * rows + r], 4);
    }
    for (int r = 0; r < columns; r++)
        for (int k = 0; k < ins->k; k++)
            put(s->image + B_AT, &f->b, ins->b, ins->k, (uint32_t)r, (uint32_t)k, c->b[cta * columns + r][k]);
    if (ins->scales > 0)
        put_b_scales(s, c, f);
}

static uint32_t expected(const codes *c, const instruction *ins, const form *f, int m, int n, uint32_t word)
{
    union {
        uint8_t small[64];
        uint16_t half[64];
        uint32_t word[64];
    } a, b;
    uint8_t sa[4], sb[4];
    uint32_t sign_a = f->negate_a ? 1u << (fpo_format_describe(ins->a)->bits - 1) : 0,
             sign_b = f->negate_b ? 1u << (fpo_format_describe(ins->b)->bits - 1) : 0;
    for (int k = 0; k < ins->k; k++) {
        uint32_t x = c->a[m][k] ^ sign_a, y = c->b[n][k] ^ sign_b;
        if (ins->k == 8) {
            a.word[k] = x;
            b.word[k] = y;
        } else if (ins->k == 16) {
            a.half[k] = (uint16_t)x;
            b.half[k] = (uint16_t)y;
        } else {
            a.small[k] = (uint8_t)x;
            b.small[k] = (uint8_t)y;
        }
    }
    uint8_t mask = ins->scale == FPO_UE4M3 ? 0x7F : 0xFF;
    for (int i = 0; i < ins->scales; i++) {
        sa[i] = c->sa[m][f->id_a + i] & mask;
        sb[i] = c->sb[n][f->id_b + i] & mask;
    }
    fpo_step_operands operands = {.a_element = ins->a, .b_element = ins->b, .a = &a, .b = &b};
    if (ins->scales > 0) {
        operands.a_scale = operands.b_scale = ins->scale;
        operands.block_k = ins->k / ins->scales;
        operands.sa = sa;
        operands.sb = sb;
    }
    const fpo_model *model = fpo_model_by_name(ins->model);
    uint32_t accumulator = f->accumulate ? word : 0;
    return fpo_step_run(&model->accumulation.step, &operands, f->f16 ? accumulator & 0xFFFF : accumulator);
}

static uint32_t descriptor(const instruction *ins, const form *f)
{
    uint32_t id = ins->a_code << 7 | ins->b_code << 10 | (uint32_t)f->negate_a << 13 | (uint32_t)f->negate_b << 14 |
                  (uint32_t)!f->a.k_contiguous << 15 | (uint32_t)!f->b.k_contiguous << 16 | (uint32_t)f->n / 8 << 17 |
                  (uint32_t)f->m / 16 << 24;
    if (ins->scales == 0)
        return id | (f->f16 ? 0u : 1u) << 4;
    return id | (uint32_t)f->id_b << 4 | (ins->scale == FPO_UE8M0 ? 1u : 0u) << 23 | (uint32_t)f->id_a << 29;
}

static void body_of(const instruction *ins, const form *f, char *body, size_t size)
{
    char scales[64] = "", lanes[64] = "";
    if (ins->scales > 0)
        snprintf(scales, sizeof scales, ", [r25], [r26]");
    if (f->leave_out)
        snprintf(lanes, sizeof lanes, ", {r30, r31, r32, r33}");
    snprintf(
        body, size,
        "add.s64 d3, d3, d10; add.s64 d4, d4, d10;\nadd.u32 r24, r10, %d; add.u32 r25, r10, %d; add.u32 r26, r10, %d;\n"
        "mov.u32 r30, 0x80000001; mov.u32 r31, 0; mov.u32 r32, 0xFFFF0000; mov.u32 r33, 2; mov.u16 h1, 3;\n"
        "setp.eq.and.u32 p6, r16, 0, p3;\n@p6 tcgen05.mma%s.cta_group::%s.%s [r10], %s, d4, r5%s%s, p1;\n%s",
        A_COLUMN, SCALES_COLUMN, SCALES_COLUMN + 4, f->ws ? ".ws" : "", f->pair ? "2" : "1", ins->opcode,
        f->tmem ? "[r24]" : "d3", scales, lanes,
        f->pair ? "@p6 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
                  "[r3], h1;\n" WAIT
                : COMMIT);
}

static bool is_left_out(const form *f, int lane)
{
    static const uint32_t words[] = {0x80000001, 0, 0xFFFF0000, 2};
    return f->leave_out && (words[lane / 32] >> (lane % 32) & 1) != 0;
}

static void check_mma(const instruction *ins, const form *f)
{
    static codes c;
    static char body[4096];
    int ctas = f->pair ? 2 : 1;
    state *s = tcgen05_states((uint64_t)(f->m * f->n), ctas), *before = malloc((size_t)ctas * sizeof *before);
    fill_codes(&c, ins, (uint64_t)(ins->a_code + 16 * ins->b_code));
    for (int cta = 0; cta < ctas; cta++)
        prepare(&s[cta], &c, ins, f, cta);
    memcpy(before, s, (size_t)ctas * sizeof *s);
    body_of(ins, f, body, sizeof body);
    tcgen05_must_run(s, &(arguments){.body = body,
                                     .a = tcgen05_descriptor(&f->a, 0),
                                     .b = tcgen05_descriptor(&f->b, B_AT),
                                     .id = descriptor(ins, f),
                                     .keep = f->accumulate,
                                     .seed = f->seed,
                                     .pair = f->pair});
    for (int m = 0; m < f->m; m++) {
        for (int n = 0; n < f->n; n++) {
            int cta, lane, column;
            place_of_d(f, m, n, &cta, &lane, &column);
            uint32_t *word = &before[cta].tmem[column][lane], want = expected(&c, ins, f, m, n, *word);
            *word = is_left_out(f, lane) ? *word : want;
        }
    }
    for (int i = 0; i < ctas * COLUMNS * LANES; i++) {
        int cta = i / (COLUMNS * LANES), column = i / LANES % COLUMNS, lane = i % LANES;
        uint32_t got = s[cta].tmem[column][lane], want = before[cta].tmem[column][lane];
        if (got != want) /* asserting is slow */
            ck_abort_msg("%s, M %d, N %d%s%s: CTA %d, lane %d, column %d has 0x%08x, not 0x%08x", ins->opcode, f->m,
                         f->n, f->ws ? ", ws" : "", f->pair ? ", pair" : "", cta, lane, column, got, want);
    }
    free(before);
    free(s);
}

static layout across(int swizzle, int rows, int width)
{
    uint32_t atom = 8 * (16u << swizzle), chunks = (uint32_t)(rows * width) / (16u << swizzle);
    if (swizzle == 0)
        return (layout){0, false, chunks * 128, 128};
    return (layout){swizzle, false, atom, atom * chunks};
}

START_TEST(plain_kinds)
{
    const instruction *ins = &plain[_i];
    for (int swizzle = 0; swizzle < 4; swizzle++) {
        check_mma(ins, &(form){.m = 128,
                               .n = 32,
                               .a = tcgen05_contiguous(swizzle),
                               .b = tcgen05_contiguous(3 - swizzle),
                               .accumulate = true});
        check_mma(ins, &(form){.m = 64,
                               .n = 24,
                               .a = tcgen05_contiguous(swizzle),
                               .b = tcgen05_contiguous(swizzle),
                               .accumulate = swizzle & 1});
    }
    check_mma(ins, &(form){.m = 128,
                           .n = 256,
                           .a = tcgen05_contiguous(3),
                           .b = tcgen05_contiguous(3),
                           .negate_a = true,
                           .accumulate = true,
                           .seed = 3});
    check_mma(ins, &(form){.m = 64,
                           .n = 48,
                           .a = tcgen05_contiguous(3),
                           .b = tcgen05_contiguous(2),
                           .negate_b = true,
                           .leave_out = true});
    check_mma(ins, &(form){.m = 128,
                           .n = 16,
                           .a = tcgen05_contiguous(3),
                           .b = tcgen05_contiguous(3),
                           .tmem = true,
                           .accumulate = true,
                           .leave_out = true});
    check_mma(ins, &(form){.m = 64, .n = 16, .a = tcgen05_contiguous(3), .b = tcgen05_contiguous(3), .tmem = true});
}
END_TEST

START_TEST(weight_stationary)
{
    const instruction *ins = &plain[_i];
    for (int m = 32; m <= 128; m *= 2)
        check_mma(ins, &(form){.m = m,
                               .n = 64,
                               .a = tcgen05_contiguous(3),
                               .b = tcgen05_contiguous(1),
                               .ws = true,
                               .accumulate = true});
}
END_TEST

START_TEST(transposed_operands)
{
    static const struct {
        int instruction, width;
    } cases[] = {{0, 2}, {1, 2}, {3, 1}};
    for (int i = 0; i < 3; i++)
        for (int swizzle = 0; swizzle < 4; swizzle++)
            check_mma(&plain[cases[i].instruction], &(form){.m = 128,
                                                            .n = 128,
                                                            .a = across(swizzle, 128, cases[i].width),
                                                            .b = across(3 - swizzle, 128, cases[i].width),
                                                            .accumulate = true});
}
END_TEST

START_TEST(half_precision_accumulators)
{
    instruction f16 = plain[0], f8 = plain[3];
    f16.model = "sm100_f16_f16acc";
    f8.model = "sm100_f8f6f4_f16acc";
    form f = {
        .m = 128, .n = 32, .a = tcgen05_contiguous(3), .b = tcgen05_contiguous(3), .accumulate = true, .f16 = true};
    check_mma(&f16, &f);
    check_mma(&f8, &f);
}
END_TEST

START_TEST(scaled_kinds)
{
    const instruction *ins = &scaled[_i];
    for (int id = 0; id + ins->scales <= 4; id += ins->scales)
        check_mma(ins, &(form){.m = 128,
                               .n = 24,
                               .a = tcgen05_contiguous(3),
                               .b = tcgen05_contiguous(2),
                               .accumulate = true,
                               .id_a = id,
                               .id_b = 4 - ins->scales - id});
    check_mma(
        ins,
        &(form){
            .m = 128, .n = 256, .a = tcgen05_contiguous(3), .b = tcgen05_contiguous(3), .accumulate = true, .seed = 9});
    check_mma(ins, &(form){.m = 128, .n = 8, .a = tcgen05_contiguous(1), .b = tcgen05_contiguous(0), .tmem = true});
    if (ins->k == 32)
        check_mma(ins,
                  &(form){.m = 128, .n = 16, .a = tcgen05_contiguous(3), .b = tcgen05_contiguous(3), .negate_a = true});
}
END_TEST

/* One instruction over two CTAs. */
START_TEST(pairs_of_ctas)
{
    const instruction *ins = _i < 3 ? &plain[2 * _i] : &scaled[2 * (_i - 3)];
    for (int m = 128; m <= 256; m *= 2)
        for (int n = 32; n <= 256; n += 224)
            check_mma(ins, &(form){.m = m,
                                   .n = n,
                                   .a = tcgen05_contiguous(3),
                                   .b = tcgen05_contiguous(2),
                                   .accumulate = true,
                                   .pair = true,
                                   .seed = (uint64_t)(n == 32)});
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_tcgen05_mma");
    TCase *tests = tcase_create("tcgen05");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, plain_kinds, 0, sizeof plain / sizeof *plain);
    tcase_add_loop_test(tests, weight_stationary, 0, sizeof plain / sizeof *plain);
    tcase_add_test(tests, transposed_operands);
    tcase_add_test(tests, half_precision_accumulators);
    tcase_add_loop_test(tests, scaled_kinds, 0, sizeof scaled / sizeof *scaled);
    tcase_add_loop_test(tests, pairs_of_ctas, 0, 6);
    suite_add_tcase(suite, tests);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* SM120's mma.sync, which no GPU at hand has: every kind, type pair, scale vector and selector, over random registers,
 * against the emulator's step on fragments gathered by the inverse formulas of the layouts (facts.md 2.2 and 2.3). */
#include "engine.h"
#include "suite.h"

#include <fp4oracle/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vgpu.h>

enum { WARPS = 24, LANES = 32, WORDS = 12 }; /* a lane's registers: A 0-3, B 4-5, C 6-9, scales 10 and 11 */

typedef uint32_t inputs[LANES][WORDS], outputs[LANES][4]; /* of a warp */

typedef struct instruction {
    const char *text; /* with the types and the scale format filled in */
    int k, scales;    /* 0: no scales */
    fpo_format a, b, scale;
    const char *model;
} instruction;

/* A register of C: mostly near the products, sometimes anything, zero, infinite or NaN. */
static uint32_t random_c(uint64_t r)
{
    uint32_t bits = (uint32_t)(r >> 32);
    switch (r & 15) {
    case 0: return 0;
    case 1: return 0x80000000;
    case 2: return bits & 0x807FFFFF;
    case 3: return bits;
    case 4: return 0x7F800000 | (bits & 0x80000000);
    case 5: return (bits & 0x807FFFFF) | 253u << 23;
    default: return (bits & 0x807FFFFF) | (uint32_t)(110 + (r >> 8 & 31)) << 23;
    }
}

/* Scale bytes: all codes, or codes near 1. */
static uint32_t random_scales(uint64_t r, fpo_format format, int style)
{
    uint32_t word = (uint32_t)(r >> 32), result = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t byte = word >> (8 * i) & 255;
        if (style != 0)
            byte = format == FPO_UE8M0 ? 120 + byte % 16 : 0x28 + byte % 0x20;
        result |= byte << (8 * i);
    }
    return result;
}

/* All of C's exponents within six of one another, about the largest product: lower in the first warps, higher in the
 * last ones, where C alone decides what the sum's units are. */
static uint32_t close_c(uint64_t r, int warp)
{
    return ((uint32_t)(r >> 32) & 0x807FFFFF) | (uint32_t)(118 + warp * 32 / WARPS + (int)(r >> 8 & 255) % 6) << 23;
}

/* Four bytes of elements: anything, or with large exponents, mostly zero, or large with a few small ones. The last two
 * once more, with such C and with scales that are next to each other. */
enum {
    ANY_ELEMENTS,
    LARGE_ELEMENTS,
    SPARSE_ELEMENTS,
    FEW_SMALL_ELEMENTS,
    LARGE_AND_CLOSE,
    FEW_SMALL_AND_CLOSE,
    ELEMENT_STYLES
};

static uint32_t random_elements(uint64_t r, int style)
{
    enum { LARGE = 0x60, NOT_LARGEST = 0xEF, SMALL = 0x87 };
    uint32_t word = (uint32_t)(r >> 32), result = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t byte = word >> (8 * i) & 255, which = (uint32_t)(r >> (4 * i)) & 15;
        bool few = style == FEW_SMALL_ELEMENTS || style == FEW_SMALL_AND_CLOSE;
        if (style == LARGE_ELEMENTS || style == LARGE_AND_CLOSE || (few && which != 0))
            byte = (byte | LARGE) & NOT_LARGEST;
        else if (few)
            byte &= SMALL;
        else if (style == SPARSE_ELEMENTS && which > 1)
            byte = 0;
        result |= byte << (8 * i);
    }
    return result;
}

static uint32_t element(const instruction *ins, uint32_t (*lanes)[WORDS], bool is_a, int row, int k)
{
    fpo_format format = is_a ? ins->a : ins->b;
    int bits = ins->k == 64 ? 4 : 8, half = ins->k / 2, per = 32 / bits;
    int lane = 4 * (row % 8) + k % half / per, r = is_a ? row / 8 + 2 * (k / half) : k / half;
    uint32_t container = lanes[lane][(is_a ? 0 : 4) + r] >> (bits * (k % per)) & ((1u << bits) - 1);
    return format == FPO_E2M1 && bits == 8 ? container >> 2 & 15 : container & fpo_format_describe(format)->code_mask;
}

static uint32_t expected(const instruction *ins, const fpo_step *step, uint32_t (*lanes)[WORDS], const int *selector,
                         int m, int n)
{
    uint8_t a[64], b[64], sa[4], sb[4];
    for (int k = 0; k < ins->k; k++) {
        a[k] = (uint8_t)element(ins, lanes, true, m, k);
        b[k] = (uint8_t)element(ins, lanes, false, n, k);
    }
    for (int i = 0; i < ins->scales; i++) {
        sa[i] = (uint8_t)(lanes[4 * (m % 8) + 2 * selector[1] + m / 8][10] >> (8 * (selector[0] + i)));
        sb[i] = (uint8_t)(lanes[4 * n + selector[3]][11] >> (8 * (selector[2] + i)));
        if (ins->scale == FPO_UE4M3) { /* bit 7 is ignored: facts.md 6.1 */
            sa[i] &= 0x7F;
            sb[i] &= 0x7F;
        }
    }
    fpo_step_operands operands = {.a_element = ins->a, .b_element = ins->b, .a = a, .b = b};
    if (ins->scales > 0) {
        operands.a_scale = operands.b_scale = ins->scale;
        operands.block_k = ins->k / ins->scales;
        operands.sa = sa;
        operands.sb = sb;
    }
    uint32_t c = lanes[4 * (m % 8) + n / 2][6 + 2 * (m / 8) + n % 2];
    return fpo_step_run(step, &operands, c);
}

/* The program of one warp: its lanes' registers from memory, the instruction, the result to memory. */
static void write_ptx(const instruction *ins, const int *selector, char *ptx, size_t size)
{
    char scales[64] = "";
    if (ins->scales > 0)
        snprintf(scales, sizeof scales, ", {w10}, {%d, %d}, {w11}, {%d, %d}", selector[0], selector[1], selector[2],
                 selector[3]);
    snprintf(ptx, size,
             ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"
             ".reg .b32 w<12>, d<4>, thread, cta;\n.reg .b64 at, to, offset;\n"
             "mov.u32 cta, %%ctaid.x;\nmov.u32 thread, %%tid.x;\nmad.lo.u32 cta, cta, 32, thread;\n"
             "ld.param.u64 at, [in];\nmul.wide.u32 offset, cta, 48;\nadd.s64 at, at, offset;\n"
             "ld.param.u64 to, [out];\nmul.wide.u32 offset, cta, 16;\nadd.s64 to, to, offset;\n"
             "ld.global.v4.b32 {w0, w1, w2, w3}, [at];\nld.global.v4.b32 {w4, w5, w6, w7}, [at+16];\n"
             "ld.global.v4.b32 {w8, w9, w10, w11}, [at+32];\n"
             "%s {d0, d1, d2, d3}, {w0, w1, w2, w3}, {w4, w5}, {w6, w7, w8, w9}%s;\n"
             "st.global.v4.b32 [to], {d0, d1, d2, d3};\nret;\n}\n",
             ins->text, scales);
}

static void execute(const char *ptx, fpo_isa isa, const inputs *in, outputs *out)
{
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 120, .isa = isa};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    ck_assert_msg(fpo_vgpu_load(gpu, ptx, strlen(ptx), &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, "k", &function, &error) == FPO_OK, "%s", error.message);
    fpo_vgpu_attach(gpu, (void *)(uintptr_t)in, WARPS * sizeof *in);
    fpo_vgpu_attach(gpu, out, WARPS * sizeof *out);
    const void *arguments[] = {&in, &out};
    fpo_vgpu_launch launch = {.grid = {WARPS, 1, 1}, .block = {LANES, 1, 1}, .arguments = arguments};
    ck_assert_msg(fpo_vgpu_run(function, &launch, NULL, &error) == FPO_OK, "%s", error.message);
    fpo_vgpu_free(gpu);
}

static void compare(const instruction *ins, const int *selector, fpo_isa isa, const outputs *want, const outputs *got)
{
    for (int i = 0; i < WARPS * LANES * 4; i++) {
        int w = i / (LANES * 4), lane = i / 4 % LANES, r = i % 4;
        ck_assert_msg(want[w][lane][r] == got[w][lane][r],
                      "%s {%d, %d} {%d, %d}, loops %d, warp %d (%d, %d): 0x%08x, the step has 0x%08x", ins->text,
                      selector[0], selector[1], selector[2], selector[3], (int)isa, w, lane / 4 + 8 * (r / 2),
                      2 * (lane % 4) + r % 2, got[w][lane][r], want[w][lane][r]);
    }
}

/* The loops of every instruction set against the step. */
static void check_elements(const instruction *ins, const int *selector, int style, int elements)
{
    static _Alignas(16) inputs in[WARPS];
    static _Alignas(16) outputs want[WARPS], got[WARPS];
    char ptx[2048];
    write_ptx(ins, selector, ptx, sizeof ptx);
    for (int i = 0; i < WARPS * LANES * WORDS; i++) {
        uint64_t r = fpo_random_bits((fpo_random){77, (uint64_t)(style + 2 * elements)}, (uint64_t)i);
        int word = i % WORDS;
        bool close = elements >= LARGE_AND_CLOSE;
        int warp = i / (LANES * WORDS);
        in[warp][i / WORDS % LANES][word] = word < 6    ? random_elements(r, elements)
                                            : word < 10 ? (close ? close_c(r, warp) : random_c(r))
                                            : close     ? 0x7E7E7E7E + (uint32_t)(r >> 32 & 0x01010101)
                                                        : random_scales(r, ins->scale, style);
    }
    const fpo_model *model = fpo_model_by_name(ins->model);
    ck_assert_ptr_nonnull(model);
    for (int w = 0; w < WARPS; w++)
        for (int m = 0; m < 16; m++)
            for (int n = 0; n < 8; n++)
                want[w][4 * (m % 8) + n / 2][2 * (m / 8) + n % 2] =
                    expected(ins, &model->accumulation.step, in[w], selector, m, n);
    for (fpo_isa isa = FPO_ISA_PORTABLE; isa <= FPO_ISA_AVX512; isa++) {
        if (fpo_isa_resolve(isa) != isa)
            continue;
        execute(ptx, isa, (const inputs *)in, got);
        compare(ins, selector, isa, (const outputs *)want, (const outputs *)got);
    }
}

static void check(const instruction *ins, const int *selector, int style)
{
    check_elements(ins, selector, style, ANY_ELEMENTS);
}

static const struct {
    const char *kind;
    int scales, last_byte, byte_step;
    fpo_format scale;
    const char *scale_name, *model;
} fp4[] = {
    {"kind::mxf4nvf4.block_scale.scale_vec::4X", 4, 0, 1, FPO_UE4M3, "ue4m3", "sm120_mxf4nvf4"},
    {"kind::mxf4nvf4.block_scale.scale_vec::4X", 4, 0, 1, FPO_UE8M0, "ue8m0", "sm120_mxf4nvf4"},
    {"kind::mxf4nvf4.block_scale.scale_vec::2X", 2, 2, 2, FPO_UE8M0, "ue8m0", "sm120_mxf4"},
    {"kind::mxf4.block_scale", 2, 2, 2, FPO_UE8M0, "ue8m0", "sm120_mxf4"},
};

START_TEST(four_bits)
{
    char text[256];
    snprintf(text, sizeof text, "mma.sync.aligned.m16n8k64.row.col.%s.f32.e2m1.e2m1.f32.%s", fp4[_i].kind,
             fp4[_i].scale_name);
    instruction ins = {text, 64, fp4[_i].scales, FPO_E2M1, FPO_E2M1, fp4[_i].scale, fp4[_i].model};
    for (int byte = 0; byte <= fp4[_i].last_byte; byte += fp4[_i].byte_step)
        for (int thread = 0; thread < 8; thread++)
            for (int style = 0; style < 2; style++)
                check(&ins, (int[]){byte, thread & 1, fp4[_i].last_byte - byte, thread / 2}, style);
}
END_TEST

static const struct {
    const char *name;
    fpo_format format;
} small[] = {{"e4m3", FPO_E4M3}, {"e5m2", FPO_E5M2}, {"e3m2", FPO_E3M2}, {"e2m3", FPO_E2M3}, {"e2m1", FPO_E2M1}};

/* All 25 pairs; the selectors are spread over them, and all tried with the first; every kind of elements with equal
 * formats and with each one and the next. */
START_TEST(eight_bits_scaled)
{
    char text[256];
    snprintf(text, sizeof text,
             "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.%s.%s.f32.ue8m0",
             small[_i / 5].name, small[_i % 5].name);
    instruction ins = {text, 32, 1, small[_i / 5].format, small[_i % 5].format, FPO_UE8M0, "sm120_mxf8f6f4"};
    for (int s = _i == 0 ? 0 : _i % 8; s < (_i == 0 ? 32 : _i % 8 + 1); s++)
        for (int style = 0; style < 2; style++)
            check(&ins, (int[]){s % 4, s / 4 % 2, (s + 1) % 4, s / 8}, style);
    for (int elements = ANY_ELEMENTS + 1; _i % 6 <= 1 && elements < ELEMENT_STYLES; elements++)
        for (int style = 0; style < 2; style++)
            check_elements(&ins, (int[]){0, 0, 0, 0}, style, elements);
}
END_TEST

START_TEST(eight_bits)
{
    char text[256];
    snprintf(text, sizeof text, "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.%s.%s.f32", small[_i / 5].name,
             small[_i % 5].name);
    instruction ins = {text, 32, 0, small[_i / 5].format, small[_i % 5].format, FPO_FORMAT_NONE, "sm120_f8f6f4"};
    for (int elements = 0; elements < (_i % 6 <= 1 ? ELEMENT_STYLES : 1); elements++)
        check_elements(&ins, (int[]){0, 0, 0, 0}, 0, elements);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_mma");
    TCase *tests = tcase_create("mma");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, four_bits, 0, 4);
    tcase_add_loop_test(tests, eight_bits_scaled, 0, 25);
    tcase_add_loop_test(tests, eight_bits, 0, 25);
    suite_add_tcase(suite, tests);
    return suite;
}

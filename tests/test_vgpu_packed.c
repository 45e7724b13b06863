/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensors of 4- and 6-bit elements: what a tensor copy leaves in shared memory, what ldmatrix makes of it, and what a
 * store puts back, bit by bit by formulas of their own. */
#include "suite.h"
#include "tensor_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vgpu.h>

enum { COLUMNS = 384, ROWS = 20, BOX_ROWS = 8, SHARED = 1024, UNWRITTEN = 0xCB };

typedef struct packed {
    int type, bits, swizzle, column, row, columns;
} packed;

static uint8_t tensor[ROWS][COLUMNS]; /* a code each */

static void fill_tensor(int bits)
{
    uint32_t x = 12345u + (uint32_t)bits;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        x = x * 1664525u + 1013904223u;
        (&tensor[0][0])[i] = (uint8_t)(x >> 20 & ((1u << bits) - 1));
    }
}

static void put_bits(uint8_t *bytes, int start, int bits, int code)
{
    for (int i = 0; i < bits; i++) {
        int at = start + i;
        bytes[at / 8] = (uint8_t)((bytes[at / 8] & ~(1 << at % 8)) | (code >> i & 1) << at % 8);
    }
}

/* Where element e of the box's row r is in shared memory, in bits. */
static int place(const packed *p, int r, int e)
{
    bool padded = p->type != 13;
    int pitch = !padded && p->swizzle != 3 ? 64 : 128; /* a row takes the swizzle's whole span */
    int address = r * pitch + (padded ? e / 16 : e / 32) * 16;
    int inside = padded ? e % 16 * p->bits : e % 32 * 4;
    if (p->swizzle != 0)
        address ^= (address / 128 % (1 << p->swizzle)) * 16;
    return 8 * address + inside;
}

static void expect_shared(const packed *p, uint8_t *shared)
{
    memset(shared, UNWRITTEN, SHARED);
    for (int r = 0; r < BOX_ROWS; r++)
        for (int e = 0; e < 128; e++) {
            int row = p->row + r, column = p->column + e;
            bool inside = row >= 0 && row < ROWS && column >= 0 && column < p->columns;
            put_bits(shared, place(p, r, e), p->bits, inside ? tensor[row][column] : 0);
        }
}

static const char kernel_text[] =
    ".version 8.7\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128], .param .u64 "
    "out, "
    ".param .u32 x, .param .u32 y)\n{\n"
    ".shared .align 1024 .b8 box[1024]; .shared .align 8 .b64 bar; .reg .b32 %r<40>; .reg .b64 %rd<9>; .reg .pred "
    "%p<3>;\n"
    "mov.b64 %rd1, map; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [x]; ld.param.u32 %r2, [y]; mov.u32 %r3, box; "
    "mov.u32 %r4, bar;\n"
    "mov.u32 %r5, %tid.x; setp.ne.u32 %p1, %r5, 0; @%p1 bra LOADED; mbarrier.init.shared.b64 [%r4], 1;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r4], %r6_bytes;\n"
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r3], [%rd1, {%r1, %r2}], [%r4];\n"
    "LOADED: bar.warp.sync 0xffffffff; WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0; @!%p2 bra WAIT;\n"
    "shl.b32 %r7, %r5, 5; cvt.u64.u32 %rd3, %r7; add.u64 %rd4, %rd2, %rd3; add.u32 %r8, %r3, %r7;\n"
    "ld.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r8]; st.global.v4.u32 [%rd4], {%r10,%r11,%r12,%r13};\n"
    "ld.shared.v4.u32 {%r10,%r11,%r12,%r13}, [%r8+16]; st.global.v4.u32 [%rd4+16], {%r10,%r11,%r12,%r13};\n"
    /* Row l of the box, granule 0 (matrix i = l / 8 has granule i of rows 0 to 7). */
    "and.b32 %r14, %r5, 7; shr.u32 %r15, %r5, 3; shl.b32 %r14, %r14, 7; shl.b32 %r15, %r15, 4; add.u32 %r14, %r14, "
    "%r15; add.u32 %r14, %r14, %r3;\n"
    "ldmatrix.sync.aligned.m8n16.x4.shared::cta.b8x16.%s {%r20,%r21,%r22,%r23}, [%r14];\n"
    "shl.b32 %r16, %r5, 4; cvt.u64.u32 %rd5, %r16; add.u64 %rd6, %rd2, %rd5; st.global.v4.u32 [%rd6+1024], "
    "{%r20,%r21,%r22,%r23};\n"
    "@%p1 ret; %s\nret;\n}\n";

/* The text with the number of bytes, the form of ldmatrix and what follows in their places. */
static void write_kernel(char *text, size_t size, int bytes, const char *form, const char *end)
{
    char number[16];
    snprintf(number, sizeof number, "%d", bytes);
    const char *from = kernel_text;
    size_t used = 0;
    int strings = 0;
    while (*from != '\0' && used + 200 < size) {
        const char *piece = NULL;
        if (strncmp(from, "%r6_bytes", 9) == 0) {
            piece = number;
            from += 9;
        } else if (from[0] == '%' && from[1] == 's') {
            piece = strings++ == 0 ? form : end;
            from += 2;
        }
        if (piece != NULL)
            used += (size_t)snprintf(text + used, size - used, "%s", piece);
        else
            text[used++] = *from++;
    }
    text[used] = '\0';
}

static uint32_t run(const packed *p, uint64_t seed, bool store, uint8_t *out, uint8_t *memory)
{
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 120, .seed = seed};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    static char text[8192];
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    size_t pitch = (size_t)COLUMNS * (size_t)p->bits / 8;
    uint8_t *packed_tensor = fpo_vgpu_allocate(gpu, pitch * ROWS), *result = fpo_vgpu_allocate(gpu, 2048);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            put_bits(packed_tensor + (size_t)r * pitch, c * p->bits, p->bits, tensor[r][c]);
    fpo_tensor_request request = {.type = (uint32_t)p->type,
                                  .rank = 2,
                                  .address = (uint64_t)(uintptr_t)packed_tensor,
                                  .dim = {(uint64_t)p->columns, ROWS},
                                  .stride = {pitch},
                                  .box = {128, BOX_ROWS},
                                  .element_stride = {1, 1},
                                  .swizzle = (uint32_t)p->swizzle};
    _Alignas(64) uint8_t map[128];
    ck_assert(fpo_tensor_map_encode(&request, 120, map));
    write_kernel(text, sizeof text, 128 * BOX_ROWS * p->bits / 8, p->bits == 4 ? "b4x16_p64" : "b6x16_p32",
                 store ? "add.u32 %r2, %r2, 8; cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1, "
                         "%r2}], [%r3]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
                       : "");
    ck_assert_msg(fpo_vgpu_load(gpu, text, strlen(text), &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, "k", &function, &error) == FPO_OK, "%s", error.message);
    const void *arguments[] = {map, &result, &p->column, &p->row};
    fpo_vgpu_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .arguments = arguments};
    fpo_status status = fpo_vgpu_run(function, &launch, NULL, &error);
    ck_assert_msg(status == FPO_OK, "%s", error.message);
    memcpy(out, result, 2048);
    if (memory != NULL)
        memcpy(memory, packed_tensor, pitch * ROWS);
    fpo_vgpu_free(gpu);
    return 0;
}

/* Lane l of matrix i has elements 4 * (l % 4) + 0..3 of row l / 4, a byte each. */
static void check_matrices(const packed *p, const uint8_t *got)
{
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++)
            for (int e = 0; e < 4; e++) {
                int row = p->row + lane / 4, column = p->column + 16 * i + 4 * (lane % 4) + e;
                bool inside = row >= 0 && row < ROWS && column >= 0 && column < p->columns;
                ck_assert_int_eq(got[16 * lane + 4 * i + e], inside ? tensor[row][column] : 0);
            }
}

START_TEST(loads)
{
    static const packed cases[] = {
        {13, 4, 0, 0, 0, 384},    {13, 4, 2, 0, 0, 384},   {13, 4, 3, 128, 4, 384},  {13, 4, 0, 32, -3, 384},
        {13, 4, 2, 320, 15, 384}, {13, 4, 0, -32, 2, 384}, {13, 4, 0, 256, 0, 330},  {13, 4, 2, 64, 0, 182},
        {14, 4, 0, 0, 0, 384},    {14, 4, 3, 128, 3, 384}, {14, 4, 3, 256, 16, 384}, {14, 4, 0, 384, 0, 384},
        {14, 4, 3, -128, 0, 384}, {15, 6, 0, 0, 0, 384},   {15, 6, 3, 128, 5, 384},  {15, 6, 3, 256, -7, 384},
        {15, 6, 3, 256, 18, 256},
    };
    static uint8_t out[2048], expected[SHARED];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fill_tensor(cases[i].bits);
        for (uint64_t seed = 0; seed < 3; seed++) {
            run(&cases[i], seed, false, out, NULL);
            expect_shared(&cases[i], expected);
            size_t bytes = cases[i].type == 13 && cases[i].swizzle != 3 ? SHARED / 2 : SHARED;
            /* A copy that is late is preceded by a pattern, in the padding too. */
            for (size_t b = 0; b < bytes; b++) {
                bool padding = cases[i].type != 13 && b % 16 >= (size_t)(2 * cases[i].bits);
                ck_assert_msg(padding ? seed != 0 || out[b] == UNWRITTEN : out[b] == expected[b],
                              "case %zu, seed %d, byte %zu: 0x%02x, not 0x%02x", i, (int)seed, b, out[b], expected[b]);
            }
            if (cases[i].type != 13 && cases[i].swizzle == 0)
                check_matrices(&cases[i], out + SHARED);
        }
    }
}
END_TEST

/* 6-bit elements are packed again on their way back: eight rows further down they are the same. */
START_TEST(stores)
{
    static const packed cases[] = {
        {15, 6, 0, 0, 0, 384}, {15, 6, 3, 128, 4, 384}, {15, 6, 3, 256, 8, 384}, {13, 4, 2, 128, 3, 384}};
    static uint8_t out[2048], memory[ROWS * COLUMNS], expected[ROWS * COLUMNS];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const packed *p = &cases[i];
        fill_tensor(p->bits);
        int pitch = COLUMNS * p->bits / 8;
        for (uint64_t seed = 0; seed < 3; seed++) {
            run(p, seed, true, out, memory);
            for (int r = 0; r < ROWS; r++)
                for (int c = 0; c < COLUMNS; c++) {
                    bool copied = r >= p->row + 8 && r < p->row + 16 && c >= p->column && c < p->column + 128;
                    put_bits(expected + r * pitch, c * p->bits, p->bits, tensor[copied ? r - 8 : r][c]);
                }
            ck_assert_mem_eq(memory, expected, (size_t)(ROWS * pitch));
        }
    }
}
END_TEST

/* What cuda.h of CUDA 13.0 forbids. */
START_TEST(refusals)
{
    const fpo_tensor_request good = {.type = 15,
                                     .rank = 2,
                                     .address = 4096,
                                     .dim = {256, 8},
                                     .stride = {192},
                                     .box = {128, 8},
                                     .element_stride = {1, 1},
                                     .swizzle = 3};
    uint8_t map[128];
    ck_assert(fpo_tensor_map_encode(&good, 120, map));
    ck_assert(!fpo_tensor_map_encode(&good, 90, map));
    fpo_tensor_request r = good;
    r.address = 4096 + 16;
    ck_assert(!fpo_tensor_map_encode(&r, 120, map));
    r = good;
    r.dim[0] = 192;
    ck_assert(!fpo_tensor_map_encode(&r, 120, map));
    r = good;
    r.stride[0] = 208;
    ck_assert(!fpo_tensor_map_encode(&r, 120, map));
    r = good;
    r.box[0] = 64;
    ck_assert(!fpo_tensor_map_encode(&r, 120, map));
    r = good;
    r.swizzle = 2;
    ck_assert(!fpo_tensor_map_encode(&r, 120, map));
    r = good;
    r.fill = 1;
    ck_assert(!fpo_tensor_map_encode(&r, 120, map));
    r = good;
    r.type = 13;
    r.dim[0] = 255;
    ck_assert(!fpo_tensor_map_encode(&r, 120, map));
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_packed");
    TCase *tests = tcase_create("packed");
    tcase_add_test(tests, loads);
    tcase_add_test(tests, stores);
    tcase_add_test(tests, refusals);
    suite_add_tcase(suite, tests);
    return suite;
}

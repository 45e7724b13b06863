/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* tensormap.replace: a map in which a kernel has changed a field is the one that the driver encodes for the changed
 * arguments, in global and in shared memory. Then a grouped use: each CTA makes its own map and loads with it. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_THAT_COUNT = 64 }; /* bytes; the rest says again how large the box is, and may be left as it was */

static const char head[] = ".version 8.6\n.target sm_90a\n.address_size 64\n";

static unsigned kept; /* maps whose words 8 and 9 stayed although the box changed */

/* `field` with its state space left out, `operands` after the address. */
static void replaced(const char *field, const char *width, const char *operands, const gpu_map *before,
                     const gpu_map *after)
{
    _Alignas(64) uint8_t first[128], wanted[128], got[128];
    char text[4096], what[128];
    gpu_expect(field, gpu_encode(before, first) == 0 && gpu_encode(after, wanted) == 0);
    for (int shared = 0; shared < 2; shared++) {
        const char *instruction = shared ? "shared::cta" : "global";
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 map, .param .u64 out, .param .u64 v)\n{\n"
                 ".shared .align 128 .b8 room[128]; .reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .pred %%p<3>;\n"
                 "ld.param.u64 %%rd1, [map]; ld.param.u64 %%rd2, [out]; ld.param.u64 %%rd3, [v]; cvt.u32.u64 %%r3, "
                 "%%rd3;\n"
                 "mov.u32 %%r1, room; mov.u32 %%r2, %%tid.x; shl.b32 %%r4, %%r2, 2; cvt.u64.u32 %%rd4, %%r4; add.u32 "
                 "%%r5, %%r1, %%r4;\n"
                 "add.u64 %%rd5, %%rd1, %%rd4; ld.global.u32 %%r6, [%%rd5]; add.u64 %%rd6, %%rd2, %%rd4;\n"
                 "%s %s, %%r6; bar.warp.sync 0xffffffff; setp.ne.u32 %%p1, %%r2, 0; @%%p1 bra DONE;\n"
                 "tensormap.replace.tile.%s.%s.b1024.%s [%s], %s;\n"
                 "DONE: bar.warp.sync 0xffffffff;\n%s\nret;\n}\n",
                 head, shared ? "st.shared.u32" : "st.global.u32", shared ? "[%r5]" : "[%rd6]", field, instruction,
                 width, shared ? "%r1" : "%rd2", operands,
                 shared ? "ld.shared.u32 %r7, [%r5]; st.global.u32 [%rd6], %r7;" : "");
        gpu_module_text(text);
        uint64_t map = gpu_upload(first, sizeof first), out = gpu_allocate(128), value = after->address;
        gpu_launch l = {.kernel = "k", .grid = {1, 1, 1}, .block = 32};
        gpu_run(&l, (void *[]){&map, &out, &value});
        gpu_download(got, out, sizeof got);
        snprintf(what, sizeof what, "tensormap.replace.tile.%s.%s", field, instruction);
        gpu_compare(what, got, wanted, WORDS_THAT_COUNT);
        kept += memcmp(got + 64, wanted + 64, 64) != 0 && memcmp(got + 64, first + 64, 64) == 0;
        gpu_expect("words 8 and 9 are the old or the new ones",
                   memcmp(got + 64, wanted + 64, 64) == 0 || memcmp(got + 64, first + 64, 64) == 0);
    }
}

static void fields(void)
{
    uint64_t address = gpu_allocate(1 << 16);
    gpu_map base = {.type = 2,
                    .rank = 5,
                    .address = address,
                    .dim = {64, 9, 5, 3, 2},
                    .stride = {256, 4096, 65536, 1048576},
                    .box = {8, 4, 2, 2, 1}};
    char operands[64];
    gpu_map m = base;
    m.address += 4096;
    replaced("global_address", "b64", "%rd3", &base, &m);
    for (unsigned d = 0; d < 5; d++) {
        m = base;
        m.dim[d] = 1000 * (d + 1);
        snprintf(operands, sizeof operands, "%u, %u", d, 1000 * (d + 1));
        replaced("global_dim", "b32", operands, &base, &m);
        m = base;
        m.box[d] = d == 0 ? 16 : d + 5;
        snprintf(operands, sizeof operands, "%u, %u", d, m.box[d]);
        replaced("box_dim", "b32", operands, &base, &m);
        if (d == 4)
            break;
        m = base;
        m.stride[d] = 0x7000000000ull + 4096 * (d + 1);
        snprintf(operands, sizeof operands, "%u, %llu", d, m.stride[d]);
        replaced("global_stride", "b64", operands, &base, &m);
    }
    static const int types[] = {0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    /* tensormap.replace numbers the element types in its own order, cuTensorMapEncodeTiled in another. */
    static const int numbers[] = {0, 1, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12};
    m = base;
    m.box[0] = 64;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        gpu_map from = m, to = m;
        to.type = types[i];
        snprintf(operands, sizeof operands, "%d", numbers[i]);
        replaced("elemtype", "b32", operands, &from, &to);
    }
    for (int swizzle = 0; swizzle < 4; swizzle++) {
        m = base;
        m.box[0] = 8;
        gpu_map to = m;
        to.swizzle = swizzle;
        snprintf(operands, sizeof operands, "%d", swizzle);
        replaced("swizzle_mode", "b32", operands, &m, &to);
    }
    m = base;
    m.type = 7;
    gpu_map to = m;
    to.fill = 1;
    replaced("fill_mode", "b32", "1", &m, &to);
    m = base;
    m.dim[4] = m.box[4] = 1;
    m.stride[3] = 0;
    to = m;
    to.rank = 4;
    replaced("rank", "b32", "3", &m, &to);
}

/* CTA g loads the first 8 rows of matrix g: 16 + 4g columns of words, the rest of a row of 32 filled with 0. */
static void grouped(void)
{
    static const char body[] =
        ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 maps, .param .u64 in, .param .u64 out)\n{\n"
        ".shared .align 128 .b8 room[128]; .shared .align 1024 .b8 box[1024]; .shared .align 8 .b64 bar;\n"
        ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<3>;\n"
        "mov.b64 %rd1, map; ld.param.u64 %rd2, [maps]; ld.param.u64 %rd3, [in]; ld.param.u64 %rd4, [out];\n"
        "mov.u32 %r1, room; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r11, box; mov.u32 %r12, bar;\n"
        "shl.b32 %r4, %r2, 2; cvt.u64.u32 %rd5, %r4; add.u64 %rd6, %rd1, %rd5; ld.param.u32 %r5, [map];\n"
        "cvta.param.u64 %rd7, %rd6; ld.u32 %r5, [%rd7]; add.u32 %r6, %r1, %r4; st.shared.u32 [%r6], %r5;\n"
        "mul.wide.u32 %rd8, %r3, 128; add.u64 %rd2, %rd2, %rd8; mul.wide.u32 %rd9, %r3, 4096; add.u64 %rd3, %rd3, "
        "%rd9;\n"
        "mul.wide.u32 %rd10, %r3, 1024; add.u64 %rd4, %rd4, %rd10; shl.b32 %r7, %r3, 2; add.u32 %r7, %r7, 16;\n"
        "shl.b32 %r8, %r7, 2; cvt.u64.u32 %rd11, %r8; bar.warp.sync 0xffffffff; setp.ne.u32 %p1, %r2, 0; @%p1 bra "
        "MADE;\n"
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %rd3;\n"
        "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 0, %r7;\n"
        "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r1], 0, %rd11;\n"
        "mbarrier.init.shared::cta.b64 [%r12], 1; fence.proxy.async;\n"
        "MADE: bar.warp.sync 0xffffffff;\n"
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r1], 128;\n"
        "@%p1 bra LOADED; fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r12], 1024; mov.u32 %r9, 0;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd2, {%r9, %r9}], "
        "[%r12];\n"
        "LOADED: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r12], 0; @!%p2 bra LOADED;\n"
        "mov.u32 %r13, 0; NEXT: shl.b32 %r14, %r13, 7; add.u32 %r14, %r14, %r4; add.u32 %r15, %r11, %r14;\n"
        "ld.shared.u32 %r16, [%r15]; cvt.u64.u32 %rd12, %r14; add.u64 %rd13, %rd4, %rd12; st.global.u32 [%rd13], "
        "%r16;\n"
        "add.u32 %r13, %r13, 1; setp.lt.u32 %p2, %r13, 8; @%p2 bra NEXT; ret;\n}\n";
    enum { GROUPS = 4 };
    static uint32_t in[GROUPS][1024], got[GROUPS][8][32], wanted[GROUPS][8][32];
    for (unsigned g = 0; g < GROUPS; g++) {
        for (unsigned i = 0; i < 1024; i++)
            in[g][i] = (g << 24) + i * 77;
        for (unsigned row = 0; row < 8; row++)
            for (unsigned column = 0; column < 32; column++)
                wanted[g][row][column] = column < 16 + 4 * g ? in[g][row * (16 + 4 * g) + column] : 0;
    }
    char text[8192];
    snprintf(text, sizeof text, "%s%s", head, body);
    gpu_module_text(text);
    uint64_t maps = gpu_allocate(128 * GROUPS), from = gpu_upload(in, sizeof in), out = gpu_allocate(sizeof got);
    gpu_map m = {.type = 2, .rank = 2, .address = from, .dim = {32, 8}, .stride = {128}, .box = {32, 8}};
    _Alignas(64) uint8_t map[128];
    gpu_expect("a map for groups", gpu_encode(&m, map) == 0);
    gpu_launch l = {.kernel = "k", .grid = {GROUPS, 1, 1}, .block = 32};
    gpu_run(&l, (void *[]){map, &maps, &from, &out});
    gpu_download(got, out, sizeof got);
    gpu_compare("grouped loads", got, wanted, sizeof got);
}

void cases_tensormap(void)
{
    fields();
    grouped();
    printf("tensormap.replace left words 8 and 9 alone %u times\n", kept);
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Reductions by the copy engine, bulk and tensor, and stores and reductions of registers to other CTAs of a cluster. */
#include "gpu.h"

#include <stdio.h>
#include <string.h>

enum { ELEMENTS = 64 };

static const struct {
    const char *op, *type; /* as bulk reductions have them */
    int tensor;            /* the API's type, -1: no tensor has it */
    unsigned bytes;
} reductions[] = {
    {"add", "u32", 2, 4},       {"add", "s32", 3, 4},        {"add", "u64", 4, 8}, {"min", "u32", 2, 4},
    {"min", "s32", 3, 4},       {"min", "u64", 4, 8},        {"min", "s64", 5, 8}, {"max", "u32", 2, 4},
    {"max", "s32", 3, 4},       {"max", "u64", 4, 8},        {"max", "s64", 5, 8}, {"inc", "u32", 2, 4},
    {"dec", "u32", 2, 4},       {"and", "b32", 2, 4},        {"or", "b32", 2, 4},  {"xor", "b32", 2, 4},
    {"and", "b64", 4, 8},       {"or", "b64", 4, 8},         {"xor", "b64", 4, 8}, {"add", "f32", 7, 4},
    {"add.noftz", "f16", 6, 2}, {"add.noftz", "bf16", 9, 2}, {"min", "f16", 6, 2}, {"max", "f16", 6, 2},
    {"min", "bf16", 9, 2},      {"max", "bf16", 9, 2},
};

static uint64_t mixed(uint64_t x)
{
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    return x * 0xBF58476D1CE4E5B9u;
}

/* A small integer in the format, so that sums and comparisons are exact. */
static uint64_t floating(const char *type, int value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (strcmp(type, "f32") == 0)
        return bits;
    if (strcmp(type, "bf16") == 0)
        return bits >> 16;
    uint32_t exponent = bits >> 23 & 255;
    return (bits >> 31) << 15 | (value == 0 ? 0 : (exponent - 112) << 10 | (bits >> 13 & 0x3FF));
}

static int is_floating(const char *type)
{
    return strchr(type, 'f') != NULL;
}

static int small(uint64_t seed)
{
    return (int)(mixed(seed) >> 40 & 127) - 64;
}

static uint64_t element(const char *type, unsigned bytes, uint64_t seed)
{
    uint64_t value = is_floating(type) ? floating(type, small(seed)) : mixed(seed);
    return bytes == 8 ? value : value & (((uint64_t)1 << 8 * bytes) - 1);
}

static uint64_t reduced(const char *op, const char *type, unsigned bytes, uint64_t old_seed, uint64_t new_seed)
{
    uint64_t old = element(type, bytes, old_seed), b = element(type, bytes, new_seed);
    int less = type[0] == 's' ? (bytes == 4 ? (int32_t)b < (int32_t)old : (int64_t)b < (int64_t)old) : b < old;
    int x = small(old_seed), y = small(new_seed);
    switch (op[0] == 'm' ? op[1] : op[0]) {
    case 'a':
        if (op[1] == 'n')
            return old & b;
        return is_floating(type) ? floating(type, x + y) : bytes == 8 ? old + b : (uint32_t)(old + b);
    case 'i':
        if (op[1] == 'n')
            return old >= b ? 0 : old + 1;
        return is_floating(type) ? floating(type, y < x ? y : x) : less ? b : old;
    case 'o': return old | b;
    case 'x': return old ^ b;
    default: return old == 0 || old > b ? b : old - 1;
    }
}

/* max shares its second letter with add. */
static uint64_t expected(const char *op, const char *type, unsigned bytes, uint64_t old_seed, uint64_t new_seed)
{
    if (strcmp(op, "max") != 0)
        return reduced(op, type, bytes, old_seed, new_seed);
    uint64_t least = reduced("min", type, bytes, old_seed, new_seed), old = element(type, bytes, old_seed);
    return least == old ? element(type, bytes, new_seed) : old;
}

static void reduce(size_t index, int tensor)
{
    const char *op = reductions[index].op, *type = reductions[index].type;
    unsigned bytes = reductions[index].bytes, total = ELEMENTS * bytes;
    char text[4096], instruction[256], what[128];
    uint8_t in[512], out[512], wanted[512];
    for (unsigned i = 0; i < ELEMENTS; i++) {
        uint64_t old = element(type, bytes, 2 * i), b = element(type, bytes, 2 * i + 1),
                 result = expected(op, type, bytes, 2 * i, 2 * i + 1);
        memcpy(out + i * bytes, &old, bytes);
        memcpy(in + i * bytes, &b, bytes);
        memcpy(wanted + i * bytes, &result, bytes);
    }
    if (tensor)
        snprintf(instruction, sizeof instruction,
                 "cp.reduce.async.bulk.tensor.1d.global.shared::cta.%.3s.tile.bulk_group [%%rd3, {%%r9}], [%%r4];", op);
    else
        snprintf(instruction, sizeof instruction,
                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s.%s [%%rd2], [%%r4], %u;", op, type, total);
    snprintf(
        text, sizeof text,
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128], .param "
        ".u64 in, .param .u64 out)\n{\n.shared .align 128 .b8 box[512]; .reg .b32 %%r<20>; .reg .b64 %%rd<9>; .reg "
        ".pred %%p<3>;\n"
        "mov.b64 %%rd3, map; cvta.param.u64 %%rd3, %%rd3; ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out]; mov.u32 %%r1, %%tid.x; mov.u32 "
        "%%r4, box; mov.u32 %%r9, 0;\n"
        "mov.u32 %%r2, %%r1; NEXT: shl.b32 %%r3, %%r2, 2; setp.ge.u32 %%p1, %%r3, %u; @%%p1 bra FILLED; "
        "cvt.u64.u32 %%rd4, %%r3; add.u64 %%rd5, %%rd1, %%rd4; ld.global.u32 %%r5, [%%rd5]; add.u32 %%r6, %%r4, "
        "%%r3; st.shared.u32 [%%r6], %%r5; add.u32 %%r2, %%r2, 32; bra NEXT;\n"
        "FILLED: fence.proxy.async; bar.warp.sync 0xffffffff; setp.ne.u32 %%p2, %%r1, 0; @%%p2 ret;\n%s\n"
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;\n}\n",
        total, instruction);
    gpu_module_text(text);
    uint64_t from = gpu_upload(in, total), to = gpu_upload(out, total);
    _Alignas(64) uint8_t map[128] = {0};
    gpu_map m = {.type = reductions[index].tensor, .rank = 1, .address = to, .dim = {ELEMENTS}, .box = {ELEMENTS}};
    gpu_expect("a map to reduce into", gpu_encode(&m, map) == 0);
    gpu_launch l = {.kernel = "k", .grid = {1, 1, 1}, .block = 32};
    gpu_run(&l, (void *[]){map, &from, &to});
    gpu_download(out, to, total);
    snprintf(what, sizeof what, "%s reduction %s.%s", tensor ? "tensor" : "bulk", op, type);
    gpu_compare(what, out, wanted, total);
}

/* Every CTA of the cluster stores four words into its place in CTA 0 and adds to a sum there; CTA 0 waits for the
 * bytes. */
static void registers_to_cta(unsigned n)
{
    static const char text[] =
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
        ".shared .align 16 .b8 box[256]; .shared .align 8 .b64 bar; .shared .align 8 .b64 sum; .reg .b32 %r<20>; .reg "
        ".b64 %rd<9>; .reg .pred %p<4>;\n"
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; mov.u32 %r3, box; "
        "mov.u32 %r4, bar; mov.u32 %r5, sum; mov.u64 %rd2, 1000; st.shared.u64 [%r5], %rd2;\n"
        "mul.lo.u32 %r6, %r2, 24; mbarrier.init.shared::cta.b64 [%r4], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, "
        "[%r4], %r6; fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;\n"
        "mapa.shared::cluster.u32 %r7, %r3, 0; mapa.shared::cluster.u32 %r8, %r4, 0; mapa.shared::cluster.u32 %r9, "
        "%r5, "
        "0; shl.b32 %r10, %r1, 4; add.u32 %r7, %r7, %r10;\n"
        "mul.lo.u32 %r11, %r1, 16; add.u32 %r12, %r11, 1; add.u32 %r13, %r11, 2; add.u32 %r14, %r11, 3;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r7], {%r11, %r12, %r13, %r14}, [%r8];\n"
        "cvt.u64.u32 %rd3, %r12; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r9], "
        "%rd3, [%r8];\n"
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE; WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0; @!%p2 "
        "bra WAIT;\n"
        "mov.u32 %r15, 0; NEXT: shl.b32 %r16, %r15, 2; add.u32 %r17, %r3, %r16; ld.shared.u32 %r18, [%r17]; "
        "cvt.u64.u32 "
        "%rd4, %r16; add.u64 %rd5, %rd1, %rd4; st.global.u32 [%rd5+8], %r18; add.u32 %r15, %r15, 1; shl.b32 %r19, %r2, "
        "2; setp.lt.u32 %p3, %r15, %r19; @%p3 bra NEXT;\n"
        "ld.shared.u64 %rd6, [%r5]; st.global.u64 [%rd1], %rd6;\n"
        "DONE: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
    uint32_t got[66], wanted[66];
    memset(wanted, 0xEE, sizeof wanted);
    uint64_t sum = 1000;
    for (unsigned r = 0; r < n; r++) {
        sum += 16 * r + 1;
        for (unsigned i = 0; i < 4; i++)
            wanted[2 + 4 * r + i] = 16 * r + i;
    }
    memcpy(wanted, &sum, sizeof sum);
    gpu_module_text(text);
    uint64_t out = gpu_allocate(sizeof got);
    gpu_launch l = {.kernel = "k", .grid = {n, 1, 1}, .block = 1, .cluster = {n, 1, 1}};
    gpu_run(&l, (void *[]){&out});
    gpu_download(got, out, sizeof got);
    gpu_compare("registers to a CTA of the cluster", got, wanted, sizeof got);
}

void cases_reduce(void)
{
    for (size_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++) {
        reduce(i, 0);
        reduce(i, 1);
    }
    for (unsigned n = 1; n <= 8; n++)
        registers_to_cta(n);
}

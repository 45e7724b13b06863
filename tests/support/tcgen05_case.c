/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* See tcgen05_case.h. */
#include "tcgen05_case.h"

#include "assertions.h"
#include <fp4oracle/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vgpu.h>

/* Tensor memory is filled from a table, the body runs, and tensor memory goes back to the table. In a pair of CTAs each
 * has a table and an image of its own, `apart` bytes after the other's. */
#define PROGRAM                                                                                                        \
    ".version 8.7\n.target sm_100a\n.address_size 64\n"                                                                \
    ".extern .shared .align 1024 .b8 image[];\n"                                                                       \
    ".visible .entry k(.param .u64 tmem, .param .u64 bytes, .param .u64 out, .param .u64 da, .param .u64 db,\n"        \
    ".param .u32 id, .param .u32 keep, .param .u32 apart) {\n"                                                         \
    ".reg .pred p<9>; .reg .b16 h<3>; .reg .b32 r<40>, v<129>; .reg .b64 d<20>;\n"                                     \
    ".shared .align 8 .b64 bar; .shared .align 4 .b32 place;\n"                                                        \
    "mov.u32 r0, %%tid.x; shr.u32 r1, r0, 5; mov.u32 r2, place; mov.u32 r3, bar; mov.u32 r4, image;\n"                 \
    "ld.param.u64 d0, [tmem]; ld.param.u64 d1, [bytes]; ld.param.u64 d2, [out]; ld.param.u64 d3, [da];\n"              \
    "ld.param.u64 d4, [db]; ld.param.u32 r5, [id]; ld.param.u32 r6, [keep]; setp.ne.u32 p1, r6, 0;\n"                  \
    "ld.param.u32 r15, [apart]; mov.u32 r16, %%cluster_ctarank; mul.wide.u32 d9, r15, r16;\n"                          \
    "add.s64 d0, d0, d9; add.s64 d1, d1, d9; setp.eq.u32 p2, r1, 0; setp.eq.u32 p3, r0, 0;\n"                          \
    "and.b32 r17, r4, 0x3FFFF; cvt.u64.u32 d10, r17; shr.u64 d10, d10, 4;\n"                                           \
    "@p3 mbarrier.init.shared.b64 [r3], 1;\n"                                                                          \
    "@p2 tcgen05.alloc.cta_group::%s.sync.aligned.shared::cta.b32 [r2], 512;\n"                                        \
    "@p2 tcgen05.relinquish_alloc_permit.cta_group::%s.sync.aligned;\n"                                                \
    "mul.lo.u32 r7, r0, 16; cvt.u64.u32 d5, r7; add.s64 d5, d5, d1; add.u32 r8, r4, r7; mov.u32 r9, 0;\n"              \
    "COPY:\nld.global.v4.b32 {v0, v1, v2, v3}, [d5]; st.shared.v4.b32 [r8], {v0, v1, v2, v3};\n"                       \
    "add.s64 d5, d5, 2048; add.u32 r8, r8, 2048; add.u32 r9, r9, 2048; setp.lt.u32 p4, r9, 98304;\n@p4 bra COPY;\n"    \
    "bar.sync 0;\nld.shared.b32 r10, [r2];\nshl.b32 r11, r1, 21; add.u32 r12, r10, r11;\n"                             \
    "mul.lo.u32 r13, r0, 4; cvt.u64.u32 d6, r13; add.s64 d7, d0, d6; mov.u32 r14, 0;\n"                                \
    "FILL:\nld.global.b32 v0, [d7];\ntcgen05.st.sync.aligned.32x32b.x1.b32 [r12], {v0};\n"                             \
    "add.s64 d7, d7, 512; add.u32 r12, r12, 1; add.u32 r14, r14, 1; setp.lt.u32 p4, r14, 512;\n@p4 bra FILL;\n"        \
    "tcgen05.wait::st.sync.aligned;\nbar.sync 0;\nbarrier.cluster.arrive; barrier.cluster.wait;\n"                     \
    "tcgen05.fence::after_thread_sync;\nadd.u32 r12, r10, r11;\n%s"                                                    \
    "bar.sync 0;\nadd.s64 d7, d0, d6; mov.u32 r14, 0;\n"                                                               \
    "DRAIN:\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {v0}, [r12];\ntcgen05.wait::ld.sync.aligned;\n"                     \
    "st.global.b32 [d7], v0; add.s64 d7, d7, 512; add.u32 r12, r12, 1; add.u32 r14, r14, 1;\n"                         \
    "setp.lt.u32 p4, r14, 512;\n@p4 bra DRAIN;\n"                                                                      \
    "bar.sync 0;\n@p2 tcgen05.dealloc.cta_group::%s.sync.aligned.b32 r10, 512;\nret;\n}\n"

fpo_status tcgen05_run(state *s, const arguments *x, char message[FPO_MESSAGE_SIZE])
{
    static char text[32768];
    const char *group = x->pair ? "2" : "1";
    snprintf(text, sizeof text, PROGRAM, group, group, x->body, group);
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 100, .seed = x->seed, .late_loads = x->late};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    fpo_status status = fpo_vgpu_load(gpu, text, strlen(text), &module, &error);
    if (status == FPO_OK)
        status = fpo_vgpu_get_function(module, "k", &function, &error);
    void *tmem = s->tmem, *image = s->image, *out = s->out;
    uint32_t ctas = x->pair ? 2 : 1, apart = sizeof *s;
    fpo_vgpu_attach(gpu, s, ctas * sizeof *s);
    const void *list[] = {&tmem, &image, &out, &x->a, &x->b, &x->id, &x->keep, &apart};
    fpo_vgpu_launch launch = {.grid = {ctas, 1, 1},
                              .block = {THREADS, 1, 1},
                              .cluster = {ctas, 1, 1},
                              .dynamic_shared = IMAGE,
                              .arguments = list};
    if (status == FPO_OK)
        status = fpo_vgpu_run(function, &launch, NULL, &error);
    snprintf(message, FPO_MESSAGE_SIZE, "%s", error.message);
    fpo_vgpu_free(gpu);
    return status;
}

void tcgen05_must_run(state *s, const arguments *x)
{
    char message[FPO_MESSAGE_SIZE];
    ck_assert_msg(tcgen05_run(s, x, message) == FPO_OK, "%s", message);
}

uint32_t tcgen05_random(uint64_t stream, uint64_t index)
{
    return (uint32_t)(fpo_random_bits((fpo_random){20261130, stream}, index) >> 32);
}

state *tcgen05_states(uint64_t stream, int count)
{
    state *s = calloc((size_t)count, sizeof *s);
    for (int c = 0; c < count; c++) {
        for (size_t i = 0; i < sizeof s->tmem / 4; i++)
            ((uint32_t *)s[c].tmem)[i] = tcgen05_random(stream + 10 * (uint64_t)c, i);
        for (size_t i = 0; i < IMAGE / 4; i++)
            ((uint32_t *)s[c].image)[i] = tcgen05_random(stream + 10 * (uint64_t)c + 1, i);
    }
    return s;
}

/* Byte of (row, byte of K) or (row, k): CuTe's canonical layouts (cute/atom/mma_traits_sm100.hpp). */
uint32_t tcgen05_k_major(const layout *l, uint32_t row, uint32_t byte)
{
    if (l->swizzle == 0)
        return row % 8 * 16 + row / 8 * l->sbo + byte / 16 * l->lbo + byte % 16;
    uint32_t at = row % 8 * (16u << l->swizzle) + row / 8 * l->sbo + byte;
    return at ^ (at >> 7 & ((1u << l->swizzle) - 1)) << 4;
}

uint32_t tcgen05_mn_major(const layout *l, uint32_t width, uint32_t row, uint32_t k)
{
    uint32_t t = 16 / width, chunk = row / t, span = 1u << l->swizzle;
    if (l->swizzle == 0)
        return row % t * width + chunk * l->sbo + k % 8 * 16 + k / 8 * l->lbo;
    uint32_t at = row % t * width + chunk % span * 16 + chunk / span * l->lbo + k % 8 * span * 16 + k / 8 * l->sbo;
    return at ^ (at >> 7 & (span - 1)) << 4;
}

uint64_t tcgen05_descriptor(const layout *l, uint32_t start)
{
    static const uint64_t modes[] = {0, 6, 4, 2};
    return start >> 4 | (uint64_t)(l->lbo >> 4) << 16 | (uint64_t)(l->sbo >> 4) << 32 | (uint64_t)1 << 46 |
           modes[l->swizzle] << 61;
}

layout tcgen05_contiguous(int swizzle)
{
    return (layout){swizzle, true, 4096, 8 * (16u << swizzle)};
}

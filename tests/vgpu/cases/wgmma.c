/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* wgmma.wait_group waits for the whole warpgroup: warps that come late to the instruction have set their flags before
 * it, and the warp that waits must see them. */
#include "gpu.h"

#include <string.h>

void cases_wgmma(void)
{
    static const char text[] =
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
        ".shared .align 128 .b8 tile[4096]; .shared .align 16 .b32 flags[4];\n"
        ".reg .pred %p<5>; .reg .b32 %r<30>; .reg .f32 %f<5>; .reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; mov.u32 %r4, tile; "
        "mov.u32 %r5, flags;\n"
        "shl.b32 %r6, %r1, 5; add.u32 %r7, %r4, %r6; mov.u32 %r8, 0; st.shared.v4.u32 [%r7], {%r8,%r8,%r8,%r8}; "
        "st.shared.v4.u32 [%r7+16], {%r8,%r8,%r8,%r8};\n"
        "setp.lt.u32 %p1, %r1, 4; shl.b32 %r9, %r1, 2; add.u32 %r10, %r5, %r9; @%p1 st.shared.u32 [%r10], %r8; "
        "fence.proxy.async; bar.sync 0;\n"
        "mov.u32 %r11, %ctaid.x; and.b32 %r11, %r11, 3; setp.eq.u32 %p2, %r2, %r11; @%p2 bra READY;\n"
        "mov.u32 %r12, 0; DELAY: nanosleep.u32 1000; add.u32 %r12, %r12, 1; setp.lt.u32 %p3, %r12, 100; @%p3 bra "
        "DELAY;\n"
        "setp.ne.u32 %p4, %r3, 0; shl.b32 %r13, %r2, 2; add.u32 %r13, %r13, %r5; mov.u32 %r14, 1; @!%p4 "
        "st.volatile.shared.u32 [%r13], %r14;\n"
        "READY: bar.warp.sync 0xffffffff; mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, "
        "%f1;\n"
        "and.b32 %r15, %r4, 0x3FFFF; shr.u32 %r15, %r15, 4; cvt.u64.u32 %rd2, %r15; mov.u64 %rd3, 0x0000001000080000; "
        "or.b64 %rd2, %rd2, %rd3;\n"
        "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd2, %rd2, 1, "
        "1, 1, 0, 0;\n"
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
        "@!%p2 bra DONE; setp.ne.u32 %p4, %r3, 0; @%p4 bra DONE; ld.volatile.shared.u32 %r20, [%r5]; "
        "ld.volatile.shared.u32 %r21, [%r5+4];\n"
        "ld.volatile.shared.u32 %r22, [%r5+8]; ld.volatile.shared.u32 %r23, [%r5+12]; mov.u32 %r24, %ctaid.x; "
        "mul.wide.u32 %rd4, %r24, 16; add.u64 %rd4, %rd1, %rd4;\n"
        "st.global.v4.u32 [%rd4], {%r20,%r21,%r22,%r23};\n"
        "DONE: mov.b32 %r25, %f1; setp.eq.u32 %p4, %r25, 1; @%p4 st.global.u32 [%rd1], %r25; ret;\n}\n";
    enum { CTAS = 16 };
    uint32_t got[CTAS][4], wanted[CTAS][4];
    for (unsigned i = 0; i < CTAS; i++)
        for (unsigned w = 0; w < 4; w++)
            wanted[i][w] = w != i % 4;
    gpu_module_text(text);
    uint64_t out = gpu_allocate(sizeof got);
    gpu_launch l = {.kernel = "k", .grid = {CTAS, 1, 1}, .block = 128};
    gpu_run(&l, (void *[]){&out});
    gpu_download(got, out, sizeof got);
    gpu_compare("a wait for wgmma", got, wanted, sizeof got);
}

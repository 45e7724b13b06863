/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* cp.async and wgmma complete late under a seed: a kernel without its wait returns something else under some seed, the
 * same kernel with it the right values under each. Without a seed both are early, so that the faulty ones are right.
 * The checks tell them apart under every seed, and without one. */
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <vgpu.h>

enum { SEEDS = 6, WORDS = 256, THREADS = 128, REPORTS = 4096 };

#define HEAD                                                                                                           \
    ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"           \
    ".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b64 barrier;\n.reg .pred p, q;\n"                           \
    ".reg .b32 tid, a, b, base, n, x, w, zero, two;\n.reg .f32 d<4>;\n.reg .b64 g, h, o, offset, state, m;\n"          \
    "mov.u32 tid, %tid.x;\nmov.u32 base, tile;\nmov.u32 b, barrier;\nmov.u32 zero, 0;\nshl.b32 a, tid, 2;\n"           \
    "setp.eq.u32 q, tid, 0;\nmul.wide.u32 offset, tid, 4;\nadd.u32 a, a, base;\nmov.u32 x, 0x2BAD;\n"                  \
    "ld.param.u64 g, [in];\nadd.s64 g, g, offset;\nadd.s64 h, g, 512;\nld.param.u64 o, [out];\nadd.s64 o, o, "         \
    "offset;\n"
#define STORE "st.global.b32 [o], x;\n"
#define TAIL "ret;\n}\n"
#define COPY "cp.async.ca.shared.global [a], [g], 4;\n"
#define COMMIT "cp.async.commit_group;\n"
#define READ "ld.shared.b32 x, [a];\n" STORE TAIL
/* The next group's copies go to the words after those of this one. */
#define NEXT "cp.async.ca.shared.global [a+512], [h], 4;\n" COMMIT
#define INIT(count) "@q mbarrier.init.shared.b64 [b], " count ";\nbar.sync 0;\n"
#define WAIT "LOOP:\nmbarrier.try_wait.parity.shared.b64 p, [b], 0;\n@!p bra LOOP;\n"
/* An arrival of the thread's own completes the phase early if the copies' arrivals are not expected. */
#define ARRIVE "mbarrier.arrive.shared.b64 state, [b];\n"

/* 128 rows of 16 ones (f16) without a swizzle: D is 16 everywhere. */
#define MATRIX                                                                                                         \
    "mov.u32 w, 0x3C003C00;\nmov.u32 n, a;\nFILL:\nst.shared.b32 [n], w;\nadd.u32 n, n, 512;\nsub.u32 two, n, base;\n" \
    "setp.lt.u32 p, two, 4096;\n@p bra FILL;\nfence.proxy.async;\nbar.sync 0;\n"                                       \
    "and.b32 n, base, 0x3FFFF;\nshr.u32 n, n, 4;\ncvt.u64.u32 m, n;\nor.b64 m, m, 0x0000001000080000;\n"               \
    "mov.f32 d0, 0f00000000;\nmov.f32 d1, d0;\nmov.f32 d2, d0;\nmov.f32 d3, d0;\nwgmma.fence.sync.aligned;\n"
#define MULTIPLY                                                                                                       \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0,d1,d2,d3}, m, m, 1, 1, 1, 0, 0;\n"                          \
    "wgmma.commit_group.sync.aligned;\n"
#define WGMMA_WAIT(left) "wgmma.wait_group.sync.aligned " left ";\n"
#define OVERWRITE "bar.sync 0;\nst.shared.b32 [a], zero;\nst.shared.b32 [a+512], zero;\nbar.sync 0;\n"
#define FROM_REGISTERS                                                                                                 \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0,d1,d2,d3}, {w,w,w,w}, m, 1, 1, 1, 0;\n"                     \
    "wgmma.commit_group.sync.aligned;\n"
#define NOT_WAITED "uses shared memory that a cp.async writes, without a wait for its group"
#define IN_USE "uses a register before a wgmma.wait_group covers the wgmma that writes it (register 3 of D"
#define RESULT "cvt.rni.s32.f32 x, d3;\n" STORE TAIL

static const struct {
    const char *what, *ptx;
    bool right;        /* under each seed */
    uint32_t value;    /* of all words of `out`; 0: those of `in` */
    const char *words; /* of the checks' report, under every seed; NULL: none */
} kernels[] = {
    {"cp.async and its wait", HEAD COPY COMMIT "cp.async.wait_group 0;\n" READ, true, 0, NULL},
    {"cp.async and a wait for all", HEAD COPY "cp.async.wait_all;\n" READ, true, 0, NULL},
    {"cp.async without a wait", HEAD COPY COMMIT READ, false, 0, NOT_WAITED},
    {"cp.async not committed", HEAD COPY "cp.async.wait_group 0;\n" COMMIT READ, false, 0, NOT_WAITED},
    {"two groups, a wait that leaves the second", HEAD COPY COMMIT NEXT "cp.async.wait_group 1;\n" READ, true, 0, NULL},
    {"two groups, a wait that leaves both", HEAD COPY COMMIT NEXT "cp.async.wait_group 2;\n" READ, false, 0,
     NOT_WAITED},
    {"zero fill",
     HEAD "cp.async.ca.shared.global [a], [g], 4, zero;\ncp.async.wait_all;\nld.shared.b32 x, [a];\n"
          "add.u32 x, x, 5;\n" STORE TAIL,
     true, 5, NULL},
    {"an arrival that the phase expects",
     HEAD INIT("128") COPY "cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n" WAIT READ, true, 0, NULL},
    {"an arrival that it does not expect",
     HEAD INIT("128") COPY "cp.async.mbarrier.arrive.shared.b64 [b];\n" ARRIVE WAIT READ, true, 0, NULL},
    {"an arrival before the copy", HEAD INIT("128") "cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n" COPY WAIT READ,
     false, 0, NOT_WAITED},
    {"nobody waits at the mbarrier", HEAD INIT("128") COPY "cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n" READ,
     false, 0, NOT_WAITED},
    {"wgmma and its wait", HEAD MATRIX MULTIPLY WGMMA_WAIT("0") RESULT, true, 16, NULL},
    {"wgmma, its wait, and its shared memory used again", HEAD MATRIX MULTIPLY WGMMA_WAIT("0") OVERWRITE RESULT, true,
     16, NULL},
    {"wgmma without a wait", HEAD MATRIX MULTIPLY RESULT, false, 16, IN_USE},
    {"wgmma, shared memory used again before the wait", HEAD MATRIX MULTIPLY OVERWRITE WGMMA_WAIT("0") RESULT, false,
     16, "writes shared memory, with no ordering after an access of a wgmma of warpgroup 0 that no wait covers"},
    {"two in order on one accumulator", HEAD MATRIX MULTIPLY MULTIPLY WGMMA_WAIT("0") RESULT, true, 32, NULL},
    {"two, a wait that leaves the second", HEAD MATRIX MULTIPLY MULTIPLY WGMMA_WAIT("1") RESULT, false, 32, IN_USE},
    {"A in registers, written after the wait", HEAD MATRIX FROM_REGISTERS WGMMA_WAIT("0") "mov.b32 w, 0;\n" RESULT,
     true, 16, NULL},
    {"A in registers, written before the wait", HEAD MATRIX FROM_REGISTERS "mov.b32 w, 0;\n" WGMMA_WAIT("0") RESULT,
     false, 16,
     "`mov.b32` writes a register before a wgmma.wait_group covers the wgmma that reads it (register 0 of A"},
};

static void collect(void *context, const char *message)
{
    char *reports = context;
    size_t length = strlen(reports);
    snprintf(reports + length, REPORTS - length, "%s\n", message);
}

static void run(const char *ptx, uint64_t seed, bool check, const uint32_t *in, uint32_t *result, char *reports)
{
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 90, .seed = seed, .check = check};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    ck_assert_msg(fpo_vgpu_load(gpu, ptx, strlen(ptx), &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, "k", &function, &error) == FPO_OK, "%s", error.message);
    size_t bytes = WORDS * sizeof(uint32_t);
    uint32_t *source = fpo_vgpu_allocate(gpu, bytes), *out = fpo_vgpu_allocate(gpu, bytes);
    memcpy(source, in, bytes);
    memset(out, 0, bytes);
    const void *arguments[] = {&source, &out};
    fpo_vgpu_launch launch = {.grid = {1, 1, 1},
                              .block = {THREADS, 1, 1},
                              .arguments = arguments,
                              .report = collect,
                              .report_context = reports};
    ck_assert_msg(fpo_vgpu_run(function, &launch, NULL, &error) == FPO_OK, "%s", error.message);
    memcpy(result, out, THREADS * sizeof(uint32_t));
    fpo_vgpu_free(gpu);
}

START_TEST(a_missing_wait_is_seen)
{
    uint32_t in[WORDS], wanted[THREADS], got[THREADS], checked[THREADS];
    static char reports[REPORTS];
    const char *words = kernels[_i].words;
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = 0x01010101u * (i + 1);
    for (uint32_t i = 0; i < THREADS; i++)
        wanted[i] = kernels[_i].value != 0 ? kernels[_i].value : in[i];
    int wrong = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        reports[0] = '\0';
        run(kernels[_i].ptx, seed, false, in, got, reports);
        ck_assert_str_eq(reports, "");
        run(kernels[_i].ptx, seed, true, in, checked, reports);
        ck_assert_msg(memcmp(got, checked, sizeof got) == 0, "%s: the check changes the result", kernels[_i].what);
        ck_assert_msg(words != NULL ? strstr(reports, words) != NULL : reports[0] == '\0', "%s: %s", kernels[_i].what,
                      reports);
        bool equal = memcmp(got, wanted, sizeof got) == 0;
        wrong += !equal;
        ck_assert_msg(equal || (!kernels[_i].right && seed != 0), "%s, seed %d: 0x%x", kernels[_i].what, (int)seed,
                      got[0]);
    }
    ck_assert_msg(kernels[_i].right == (wrong == 0), "%s: right under every seed", kernels[_i].what);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_late");
    TCase *tests = tcase_create("late");
    tcase_add_loop_test(tests, a_missing_wait_is_seen, 0, sizeof kernels / sizeof kernels[0]);
    suite_add_tcase(suite, tests);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What is said of faults with tensor memory: each beside the same kernel without it, which raises nothing, under a
 * fixed order and under chance. Eight warps; 64 columns; A and B are zeros. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vgpu.h>

enum { THREADS = 256, BYTES = 4096, REPORTS = 8192, SEEDS = 4 };

/* p: warp 0, q: its first thread, low: warps 0 to 3. t: the first column, at the warp's lanes; t0: the column alone. */
#define HEAD                                                                                                           \
    ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"                          \
    ".shared .align 1024 .b8 tile[4096];\n.shared .align 8 .b64 barrier;\n.shared .b32 place;\n"                       \
    ".reg .pred p, q, low, again, off, on;\n.reg .b32 tid, a, b, s, t, t0, u, x, y, id, w;\n"                          \
    ".reg .b64 g, offset, d, e;\nmov.u32 tid, %tid.x;\nshr.u32 w, tid, 5;\nsetp.lt.u32 p, tid, 32;\n"                  \
    "setp.eq.u32 q, tid, 0;\nsetp.lt.u32 low, tid, 128;\nsetp.ne.u32 off, 0, 0;\nsetp.eq.u32 on, 0, 0;\n"              \
    "ld.param.u64 g, [out];\nmul.wide.u32 offset, tid, 4;\nadd.s64 g, g, offset;\nmov.u32 x, 7;\n"                     \
    "mov.u32 b, barrier;\nmov.u32 s, place;\nmov.u32 a, tile;\n@q mbarrier.init.shared.b64 [b], 1;\n"                  \
    "and.b32 u, a, 0x3FFFF;\nshr.u32 u, u, 4;\ncvt.u64.u32 d, u;\nor.b64 d, d, 0x0000400800800000;\n"                  \
    "mov.u32 id, 0x08040010;\nshl.b32 u, tid, 4;\nadd.u32 u, u, a;\nmov.u32 y, 0;\n"
#define ALLOCATE                                                                                                       \
    "@p tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 64;\nbar.sync 0;\nld.shared.b32 t0, [s];\n"       \
    "and.b32 t, w, 3;\nshl.b32 t, t, 21;\nadd.u32 t, t, t0;\n"
#define TILE "st.shared.v4.b32 [u], {y, y, y, y};\n"
#define FENCE "fence.proxy.async.shared::cta;\n"
#define ST(column) "tcgen05.st.sync.aligned.32x32b.x1.b32 [t+" #column "], {x};\n"
#define LD(column) "tcgen05.ld.sync.aligned.32x32b.x1.b32 {x}, [t+" #column "];\n"
#define WAIT_ST "tcgen05.wait::st.sync.aligned;\n"
#define WAIT_LD "tcgen05.wait::ld.sync.aligned;\n"
#define MMA "@q tcgen05.mma.cta_group::1.kind::f16 [t0], d, d, id, off;\n"
#define MMA_AGAIN "@q tcgen05.mma.cta_group::1.kind::f16 [t0], d, d, id, on;\n"
#define SCALED                                                                                                         \
    "mov.u32 id, 0x08840000;\nadd.u32 t, t0, 32;\nadd.u32 u, t0, 40;\n"                                                \
    "@q tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [t0], d, d, id, [t], [u], off;\n"
#define COMMIT "@q tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [b];\n"
#define WAIT "WAIT:\nmbarrier.try_wait.parity.shared.b64 again, [b], 0;\n@!again bra WAIT;\n"
#define ONLY(who, body) "{\n@!" who " bra SKIP;\n" body "SKIP:\n}\n"
#define FREE "@p tcgen05.dealloc.cta_group::1.sync.aligned.b32 t0, 64;\n"
#define STORE "st.global.b32 [g], x;\n"
#define END "bar.sync 0;\n" FREE "ret;\n}\n"

typedef struct sample {
    const char *what, *ptx;
    const char *words; /* of the report; "": none */
    const char *fault; /* of the error that ends the launch; NULL: none; "": one or the other */
    bool late;
} sample;

#define SCALES(value) "mov.u32 x, " value ";\n" ST(32) ST(33) ST(34) ST(35) ST(40) WAIT_ST

static const sample samples[] = {
    {"columns that are written and read", HEAD ALLOCATE ONLY("low", ST(3) WAIT_ST LD(3) WAIT_LD STORE) END, "", NULL,
     0},
    {"columns that nothing has written", HEAD ALLOCATE ONLY("low", ST(3) WAIT_ST LD(4) WAIT_LD STORE) END,
     "lane 0, `tcgen05.ld.sync.aligned.32x32b.x1.b32` reads tensor memory that nothing has written (lane ", NULL, 0},
    {"columns beyond the allocation", HEAD ALLOCATE ONLY("low", LD(64)) END, "",
     "column 64 of tensor memory is not allocated", 0},
    {"no allocation", HEAD "mov.u32 t, 0;\nmov.u32 t0, 0;\n" ONLY("low", LD(0)) "ret;\n}\n", "",
     "column 0 of tensor memory is not allocated", 0},
    {"an accumulator beyond the allocation",
     HEAD ALLOCATE TILE FENCE "bar.sync 0;\nadd.u32 t0, t0, 56;\n" MMA "ret;\n}\n", "",
     "D: column 64 of tensor memory is not allocated", 0},
    {"columns that are free again",
     HEAD ALLOCATE ONLY("low", ST(3) WAIT_ST) "bar.sync 0;\n" FREE "bar.sync 0;\n" ONLY("p", LD(3)) "ret;\n}\n", "",
     "column 3 of tensor memory is not allocated", 0},
    {"columns that are freed twice", HEAD ALLOCATE FREE END, "", "release: column 0 of tensor memory is not allocated",
     0},
    {"columns that nothing frees", HEAD ALLOCATE "ret;\n}\n",
     "warp 0, lane 0, `tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32` allocates tensor memory that nothing "
     "frees before the CTA ends (column 0)",
     NULL, 0},
    {"columns that are freed in part",
     HEAD ALLOCATE "bar.sync 0;\n@p tcgen05.dealloc.cta_group::1.sync.aligned.b32 t0, 32;\nret;\n}\n",
     "nothing frees before the CTA ends (column 32)", NULL, 0},
    {"an allocation after the right to it was given up",
     HEAD "@p tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nbar.sync 0;\n" ALLOCATE END, "", NULL, 0},
    {"another one", HEAD ALLOCATE "@p tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" ALLOCATE END, "",
     "the CTA has given up its right to allocate", 0},
    {"a register before its wait", HEAD ALLOCATE ONLY("low", ST(3) WAIT_ST LD(3) STORE WAIT_LD) END,
     "`st.global.b32` uses a register before a tcgen05.wait::ld for the tcgen05.ld that writes it (register 0 of the "
     "one on line ",
     NULL, true},
    {"a register after the wait", HEAD ALLOCATE ONLY("low", ST(3) WAIT_ST LD(3) WAIT_LD STORE) END, "", NULL, true},
    {"scales that differ", HEAD ALLOCATE TILE FENCE ONLY("low", SCALES("tid")) "bar.sync 0;\n" SCALED COMMIT WAIT END,
     "warp 0, lane 0, `tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale` takes scales that differ between the four "
     "partitions of tensor memory (lane 32, column 32)",
     NULL, 0},
    {"scales that do not", HEAD ALLOCATE TILE FENCE ONLY("low", SCALES("0x7F")) "bar.sync 0;\n" SCALED COMMIT WAIT END,
     "", NULL, 0},
    {"scales of one partition only",
     HEAD ALLOCATE TILE FENCE ONLY("p", SCALES("0x7F")) "bar.sync 0;\n" SCALED COMMIT WAIT END,
     "reads tensor memory that nothing has written (lane 32, column ", NULL, 0},
    {"another warp's columns, without a barrier",
     HEAD ALLOCATE ONLY("low", ST(3) WAIT_ST "bra DONE;\n") LD(3) WAIT_LD STORE "DONE:\n" END, "tensor memory", NULL,
     0},
    {"with a barrier",
     HEAD ALLOCATE ONLY("low", ST(3) WAIT_ST) "bar.sync 0;\n@low bra DONE;\n" LD(3) WAIT_LD STORE "DONE:\n" END, "",
     NULL, 0},
    {"an accumulator without a wait",
     HEAD ALLOCATE TILE FENCE "bar.sync 0;\n" MMA COMMIT ONLY("low", LD(0) WAIT_LD STORE) WAIT END, "tensor memory",
     NULL, 0},
    {"with a wait", HEAD ALLOCATE TILE FENCE "bar.sync 0;\n" MMA COMMIT WAIT ONLY("low", LD(0) WAIT_LD STORE) END, "",
     NULL, 0},
    {"with a wait of one warp and a barrier",
     HEAD ALLOCATE TILE FENCE
     "bar.sync 0;\n" MMA COMMIT ONLY("p", WAIT) "bar.sync 0;\n" ONLY("low", LD(0) WAIT_LD STORE) END,
     "", NULL, 0},
    {"an accumulator that was not yet read",
     HEAD ALLOCATE TILE FENCE ONLY("low", ST(0) WAIT_ST) "bar.sync 0;\n" ONLY("low", LD(0) WAIT_LD STORE)
         MMA COMMIT WAIT END,
     "tensor memory", NULL, 0},
    {"one that was",
     HEAD ALLOCATE TILE FENCE ONLY("low", ST(0) WAIT_ST) "bar.sync 0;\n" ONLY(
         "low", LD(0) WAIT_LD STORE) "bar.sync 0;\n" MMA COMMIT WAIT END,
     "", NULL, 0},
    {"mma upon mma, in the order of issue", HEAD ALLOCATE TILE FENCE "bar.sync 0;\n" MMA MMA_AGAIN COMMIT WAIT END, "",
     NULL, 0},
    {"an accumulator that nothing has written", HEAD ALLOCATE TILE FENCE "bar.sync 0;\n" MMA_AGAIN COMMIT WAIT END,
     "`tcgen05.mma.cta_group::1.kind::f16` reads tensor memory that nothing has written (lane 0, column 0)", NULL, 0},
    {"columns freed while others read", HEAD ALLOCATE ONLY("low", ST(3) WAIT_ST LD(3) WAIT_LD STORE) FREE "ret;\n}\n",
     "tensor memory", "", 0},
    {"columns freed while a tensor core writes", HEAD ALLOCATE TILE FENCE "bar.sync 0;\n" MMA COMMIT FREE "ret;\n}\n",
     "tensor memory", "", 0},
    {"a tile without a proxy fence", HEAD ALLOCATE TILE "bar.sync 0;\n" MMA COMMIT WAIT END,
     "`tcgen05.mma.cta_group::1.kind::f16` reads, asynchronously, shared memory that a thread wrote without a proxy "
     "fence",
     NULL, 0},
    {"a tile without a barrier", HEAD ALLOCATE TILE FENCE MMA COMMIT WAIT END, "shared memory", NULL, 0},
};

static void collect(void *context, const char *message)
{
    char *reports = context;
    size_t length = strlen(reports);
    snprintf(reports + length, REPORTS - length, "%s\n", message);
}

/* Reports, then the error. */
static fpo_status run(const sample *s, uint64_t seed, bool check, char *reports, char *result)
{
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 100, .seed = seed, .check = check, .late_loads = s->late};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    reports[0] = '\0';
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    ck_assert_msg(fpo_vgpu_load(gpu, s->ptx, strlen(s->ptx), &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, "k", &function, &error) == FPO_OK, "%s", error.message);
    void *out = fpo_vgpu_allocate(gpu, BYTES);
    memset(out, 0, BYTES);
    const void *arguments[] = {&out};
    fpo_vgpu_launch launch = {.grid = {1, 1, 1},
                              .block = {THREADS, 1, 1},
                              .arguments = arguments,
                              .report = collect,
                              .report_context = reports};
    fpo_status status = fpo_vgpu_run(function, &launch, NULL, &error);
    memcpy(result, out, BYTES);
    if (status != FPO_OK)
        collect(reports, error.message);
    fpo_vgpu_free(gpu);
    return status;
}

static bool has(const char *text, const char *words)
{
    return strstr(text, words) != NULL && strstr(text, "PTX line ") != NULL &&
           strstr(text, "CTA (0,0,0), warp ") != NULL;
}

START_TEST(found_and_named)
{
    static char reports[REPORTS], plain[REPORTS], checked[BYTES], unchecked[BYTES];
    const sample *s = &samples[_i];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        fpo_status status = run(s, seed, true, reports, checked);
        bool either = s->fault != NULL && s->fault[0] == '\0', faults = s->fault != NULL && !either;
        ck_assert_msg(either || (status != FPO_OK) == faults, "%s, seed %d: %s", s->what, (int)seed, reports);
        const char *words = faults ? s->fault : s->words;
        ck_assert_msg(words[0] != '\0' ? has(reports, words) : reports[0] == '\0', "%s, seed %d: %s", s->what,
                      (int)seed, reports);
        ck_assert_int_eq(run(s, seed, false, plain, unchecked), status);
        ck_assert_msg(memcmp(checked, unchecked, BYTES) == 0, "%s: the check changes the result", s->what);
        ck_assert_msg(s->fault != NULL || plain[0] == '\0', "%s, not checked: %s", s->what, plain);
    }
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_tmem_checks");
    TCase *tests = tcase_create("checks");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, found_and_named, 0, sizeof samples / sizeof samples[0]);
    suite_add_tcase(suite, tests);
    return suite;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What check=1 says of small kernels: each fault beside the same kernel without it, which raises nothing, under a fixed
 * order and under chance. A check changes no result. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vgpu.h>

enum { THREADS = 64, BYTES = 4096, REPORTS = 8192, SEEDS = 4 };

/* Two warps; p: the first one, q: its first thread. a: a word of shared memory of each lane; g and h: words of each
 * lane in two buffers of global memory, of which the second was never written. */
#define HEAD                                                                                                           \
    ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 fresh) {\n"        \
    ".shared .align 16 .b8 buffer[1024];\n.shared .align 8 .b64 barrier;\n.shared .b32 flag;\n"                        \
    ".reg .pred p, q, again;\n.reg .b32 tid, lane, a, b, base, x, y, z, one;\n.reg .b64 g, h, in0, offset, state;\n"   \
    "mov.u32 tid, %tid.x;\nand.b32 lane, tid, 31;\nsetp.lt.u32 p, tid, 32;\nsetp.eq.u32 q, tid, 0;\nmov.u32 one, 1;\n" \
    "mov.u32 base, buffer;\nmov.u32 b, barrier;\nshl.b32 a, lane, 2;\nadd.u32 a, a, base;\nmov.u32 x, 7;\n"            \
    "mul.wide.u32 offset, lane, 4;\nld.param.u64 in0, [in];\nadd.s64 g, in0, offset;\nld.param.u64 h, [fresh];\n"      \
    "add.s64 h, h, offset;\n"
#define TAIL "st.global.b32 [g+256], x;\nret;\n}\n"
#define MBARRIER(count) "@q mbarrier.init.shared.b64 [b], " count ";\nbar.sync 0;\n"
#define WAIT "LOOP:\nmbarrier.try_wait.parity.shared.b64 again, [b], 0;\n@!again bra LOOP;\n"
#define LOAD                                                                                                           \
    "@q mbarrier.arrive.expect_tx.shared.b64 state, [b], 16;\n"                                                        \
    "@q cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [base], [in0], 16, [b];\n"
#define STORE "@q cp.async.bulk.global.shared::cta.bulk_group [in0], [base], 16;\n@q cp.async.bulk.commit_group;\n"
#define FENCE "fence.proxy.async.shared::cta;\n"

static const struct {
    const char *what, *ptx, *words; /* of the report; "": none */
} kernels[] = {
    {"a read after another warp's write", HEAD "@p st.shared.b32 [a], tid;\n@!p ld.shared.b32 x, [a];\n" TAIL,
     "ordering"},
    {"with a barrier", HEAD "@p st.shared.b32 [a], tid;\nbar.sync 0;\n@!p ld.shared.b32 x, [a];\n" TAIL, ""},
    {"a barrier of one warp only",
     HEAD "@p st.shared.b32 [a], tid;\nbar.warp.sync -1;\n@!p ld.shared.b32 x, [a];\n" TAIL, "ordering"},
    {"arrival and wait",
     HEAD "@p st.shared.b32 [a], tid;\n@p bar.arrive 1, 64;\n@!p bar.sync 1, 64;\n@!p ld.shared.b32 x, [a];\n" TAIL,
     ""},
    {"the arrival before the write",
     HEAD "@p bar.arrive 1, 64;\n@p st.shared.b32 [a], tid;\n@!p bar.sync 1, 64;\n@!p ld.shared.b32 x, [a];\n" TAIL,
     "ordering"},
    {"a write after another warp's read",
     HEAD "@p st.shared.b32 [a], tid;\nbar.sync 0;\n@p ld.shared.b32 x, [a];\n@!p st.shared.b32 [a], tid;\n" TAIL,
     "ordering"},
    {"with a second barrier",
     HEAD "@p st.shared.b32 [a], tid;\nbar.sync 0;\n@p ld.shared.b32 x, [a];\nbar.sync 0;\n@!p st.shared.b32 [a], "
          "tid;\n" TAIL,
     ""},
    {"two writes", HEAD "st.shared.b32 [a], tid;\n" TAIL, "ordering"},
    {"an mbarrier",
     HEAD MBARRIER("32") "@p st.shared.b32 [a], tid;\n@p mbarrier.arrive.shared.b64 state, [b];\n@p bra END;\n" WAIT
                         "ld.shared.b32 x, [a];\nEND:\n" TAIL,
     ""},
    {"nobody waits at the mbarrier",
     HEAD MBARRIER("32") "@p st.shared.b32 [a], tid;\n@p mbarrier.arrive.shared.b64 state, [b];\n@p bra END;\n"
                         "ld.shared.b32 x, [a];\nEND:\n" TAIL,
     "ordering"},
    {"an mbarrier that a warp may use before it is one",
     HEAD "@q mbarrier.init.shared.b64 [b], 64;\n@p bra GO;\nSPIN:\nld.shared.b64 state, [b];\n"
          "shr.u64 state, state, 61;\nsetp.eq.u64 again, state, 6;\n@again bra SPIN;\nGO:\nmbarrier.arrive.shared.b64 state, [b];\n" TAIL,
     "`mbarrier.arrive.shared.b64` uses an mbarrier, with no ordering after its initialisation by warp 0"},
    {"a flag",
     HEAD "mov.u32 y, flag;\n@q st.volatile.shared.b32 [y], x;\nbar.sync 0;\n@!p bra OTHER;\nst.shared.b32 [a], tid;\n"
          "bar.warp.sync -1;\n@q st.volatile.shared.b32 [y], one;\nbra END;\nOTHER:\nld.volatile.shared.b32 z, [y];\n"
          "setp.ne.u32 again, z, 1;\n@again bra OTHER;\nld.shared.b32 x, [a];\nEND:\n" TAIL,
     ""},
    {"cp.async without a wait",
     HEAD "cp.async.ca.shared.global [a], [g], 4;\ncp.async.commit_group;\n@p ld.shared.b32 x, [a];\n" TAIL,
     "without a wait for its group"},
    {"cp.async, a wait for the other group",
     HEAD "@p cp.async.ca.shared.global [a], [g], 4;\ncp.async.commit_group;\n@p cp.async.ca.shared.global [a+128], "
          "[g], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\n@p ld.shared.b32 x, [a];\n@p ld.shared.b32 x, "
          "[a+128];\n" TAIL,
     "without a wait for its group"},
    {"cp.async with its waits",
     HEAD "@p cp.async.ca.shared.global [a], [g], 4;\ncp.async.commit_group;\n@p cp.async.ca.shared.global [a+128], "
          "[g], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\n@p ld.shared.b32 x, [a];\ncp.async.wait_all;\n@p "
          "ld.shared.b32 x, [a+128];\n" TAIL,
     ""},
    {"a bulk copy that is waited for", HEAD MBARRIER("1") LOAD WAIT "ld.shared.b32 x, [base];\n" TAIL, ""},
    {"a bulk copy that is not",
     HEAD MBARRIER("1") LOAD "@!p bra END;\n" WAIT "END:\n@!p ld.shared.b32 x, [base];\n" TAIL, "shared memory"},
    {"a bulk copy over what is being read",
     HEAD MBARRIER("1") "@p bra END;\nst.shared.b32 [a], tid;\nld.shared.b32 x, [a];\nEND:\n" FENCE LOAD
                        "@p mbarrier.try_wait.parity.shared.b64 again, [b], 0;\n" TAIL,
     "shared memory"},
    {"a bulk store, waited for",
     HEAD "@p st.shared.b32 [a], tid;\n" FENCE STORE "@q cp.async.bulk.wait_group.read 0;\nbar.sync 0;\n"
          "@!p st.shared.b32 [a], tid;\n" TAIL,
     ""},
    {"a bulk store, not waited for",
     HEAD "@p st.shared.b32 [a], tid;\n" FENCE STORE "bar.sync 0;\n@!p st.shared.b32 [a], tid;\n" TAIL,
     "shared memory"},
    {"global memory that was never written", HEAD "ld.global.b32 x, [h];\n" TAIL,
     "reads global memory that nothing has written (byte 0 of its allocation)"},
    {"global memory that the kernel writes first", HEAD "st.global.b32 [h], tid;\nld.global.b32 x, [h];\n" TAIL, ""},
    {"a bulk copy of never written memory",
     HEAD MBARRIER("1") "ld.param.u64 in0, [fresh];\n" LOAD WAIT "ld.shared.b32 x, [base];\n" TAIL,
     "nothing has written"},
};

static void collect(void *context, const char *message)
{
    char *reports = context;
    size_t length = strlen(reports);
    snprintf(reports + length, REPORTS - length, "%s\n", message);
}

/* Bytes [from, from + 128) of the first buffer that no kernel read go to `unread`. */
static void run(const char *ptx, bool check, uint64_t seed, uint8_t *result, char *reports, uint8_t *unread)
{
    fpo_error error = {FPO_OK, ""};
    fpo_vgpu_config config = {.capability = 120, .seed = seed, .check = check};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    reports[0] = '\0';
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &error), FPO_OK);
    ck_assert_msg(fpo_vgpu_load(gpu, ptx, strlen(ptx), &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, "k", &function, &error) == FPO_OK, "%s", error.message);
    uint8_t *in = fpo_vgpu_allocate(gpu, BYTES), *fresh = fpo_vgpu_allocate(gpu, BYTES);
    for (int i = 0; i < BYTES; i++)
        in[i] = (uint8_t)i;
    const void *arguments[] = {&in, &fresh};
    fpo_vgpu_launch launch = {.grid = {1, 1, 1},
                              .block = {THREADS, 1, 1},
                              .arguments = arguments,
                              .report = collect,
                              .report_context = reports};
    ck_assert_msg(fpo_vgpu_run(function, &launch, NULL, &error) == FPO_OK, "%s", error.message);
    memcpy(result, in, BYTES);
    fpo_vgpu_unread(gpu, in, BYTES, unread);
    fpo_vgpu_free(gpu);
}

START_TEST(found_and_named)
{
    static uint8_t checked[BYTES], unchecked[BYTES], unread[BYTES];
    static char reports[REPORTS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run(kernels[_i].ptx, false, seed, unchecked, reports, unread);
        ck_assert_str_eq(reports, "");
        run(kernels[_i].ptx, true, seed, checked, reports, unread);
        ck_assert_msg(memcmp(checked, unchecked, BYTES) == 0, "%s: the check changes the result", kernels[_i].what);
        if (kernels[_i].words[0] == '\0')
            ck_assert_msg(reports[0] == '\0', "%s: %s", kernels[_i].what, reports);
        else
            ck_assert_msg(strstr(reports, kernels[_i].words) != NULL && strstr(reports, "PTX line ") != NULL,
                          "%s: `%s` is not in: %s", kernels[_i].what, kernels[_i].words, reports);
    }
}
END_TEST

/* Lanes 0 to 30 read their words, and lane 31 nothing. */
START_TEST(bytes_that_nobody_read)
{
    static uint8_t result[BYTES], unread[BYTES];
    static char reports[REPORTS];
    run(HEAD "setp.lt.u32 again, lane, 31;\n@again ld.global.b32 x, [g];\n" TAIL, true, 0, result, reports, unread);
    for (int i = 0; i < BYTES; i++)
        ck_assert_int_eq(unread[i], i >= 31 * 4);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_checks");
    TCase *tests = tcase_create("checks");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, found_and_named, 0, sizeof kernels / sizeof kernels[0]);
    tcase_add_test(tests, bytes_that_nobody_read);
    suite_add_tcase(suite, tests);
    return suite;
}

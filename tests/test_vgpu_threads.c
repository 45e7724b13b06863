/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A grid on one, two or five host threads: the same memory, statistics, reports and error. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spread.h>
#include <vgpu.h>

enum { CTAS = 203, LANES = 32, SLOTS = 6, REPORTS = 4096 };

#define HEAD                                                                                                           \
    ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.shared .b32 cell[64];\n"  \
    ".reg .pred p;\n.reg .b32 thread, cta, x, y, i, at;\n.reg .b64 to, offset;\nmov.u32 cta, %ctaid.x;\n"              \
    "mov.u32 thread, %tid.x;\nld.param.u64 to, [out];\nmad.lo.u32 i, cta, 32, thread;\n"                               \
    "mul.wide.u32 offset, i, 4;\nadd.s64 offset, to, offset;\n"
#define TAIL "st.global.b32 [offset], x;\nret;\n}\n"

/* Reads shared memory that nothing wrote, which the checks report; loops as often as its number says. */
static const char independent[] = HEAD "mov.u32 x, %smid;\nmov.b32 at, cell;\nld.shared.b32 y, [at+128];\n"
                                       "LOOP:\nmad.lo.u32 x, x, 3, cta;\nadd.u32 i, i, 977;\nand.b32 y, i, 63;\n"
                                       "setp.ne.u32 p, y, 0;\n@p bra LOOP;\n" TAIL;
/* Some CTAs store beyond the allocation. */
static const char faulty[] = HEAD "rem.u32 x, cta, 41;\nsetp.ne.u32 p, x, 40;\n@p bra GOOD;\n"
                                  "add.s64 offset, offset, 1048576;\nGOOD:\n" TAIL;
/* The order of CTAs decides what each gets: one after the other, as without threads. */
static const char ordered[] = HEAD "mov.u32 x, 1;\natom.global.add.u32 x, [to], x;\nadd.u32 x, x, cta;\n" TAIL;
static const char endless[] = HEAD "LOOP:\nadd.u32 x, x, 1;\nbra LOOP;\n" TAIL;

typedef struct outcome {
    uint32_t memory[CTAS * LANES];
    fpo_vgpu_statistics statistics;
    fpo_status status;
    fpo_error error;
    char reports[REPORTS];
} outcome;

static void collect(void *context, const char *message)
{
    char *reports = context;
    size_t length = strlen(reports);
    snprintf(reports + length, REPORTS - length, "%s\n", message);
}

static void run(const char *ptx, int threads, uint64_t seed, outcome *o)
{
    memset(o, 0, sizeof *o);
    fpo_vgpu_config config = {.capability = 120,
                              .multiprocessors = SLOTS,
                              .threads = threads,
                              .seed = seed,
                              .check = true,
                              .max_instructions = 200000};
    fpo_vgpu *gpu;
    fpo_vgpu_module *module;
    fpo_vgpu_function *function;
    ck_assert_int_eq(fpo_vgpu_new(&config, &gpu, &o->error), FPO_OK);
    ck_assert_msg(fpo_vgpu_load(gpu, ptx, strlen(ptx), &module, &o->error) == FPO_OK, "%s", o->error.message);
    ck_assert_msg(fpo_vgpu_get_function(module, "k", &function, &o->error) == FPO_OK, "%s", o->error.message);
    uint32_t *out = o->memory;
    fpo_vgpu_attach(gpu, out, sizeof o->memory);
    const void *arguments[] = {&out};
    fpo_vgpu_launch launch = {.grid = {CTAS, 1, 1},
                              .block = {LANES, 1, 1},
                              .arguments = arguments,
                              .report = collect,
                              .report_context = o->reports};
    o->status = fpo_vgpu_run(function, &launch, &o->statistics, &o->error);
    fpo_vgpu_free(gpu);
}

/* Addresses differ from run to run: out of the message with them. */
static void strip_addresses(char *message)
{
    for (char *x = strstr(message, "0x"); x != NULL; x = strstr(x, "0x"))
        for (x[1] = '_', x += 2; strchr("0123456789abcdef", *x) != NULL && *x != '\0'; x++)
            *x = '_';
}

static const struct {
    const char *ptx;
    bool ends, reports; /* as it should; with findings of the checks */
    const char *message;
} kernels[] = {
    {independent, true, true, ""},
    {faulty, false, false, "CTA (163,0,0)"}, /* of place 1, the first of 6 that has such a CTA */
    {ordered, true, false, ""},
    {endless, false, false, "did not end"},
};

START_TEST(any_number_of_threads)
{
    static outcome one, other;
    for (uint64_t seed = 0; seed < 3; seed++) {
        run(kernels[_i].ptx, 1, seed, &one);
        ck_assert_int_eq(one.status == FPO_OK, kernels[_i].ends);
        ck_assert_msg(one.status == FPO_OK || strstr(one.error.message, kernels[_i].message) != NULL, "%s",
                      one.error.message);
        ck_assert_int_eq(one.reports[0] != '\0', kernels[_i].reports);
        strip_addresses(one.error.message);
        static const int counts[] = {2, 5};
        for (int i = 0; i < 2; i++) {
            run(kernels[_i].ptx, counts[i], seed, &other);
            strip_addresses(other.error.message);
            ck_assert_str_eq(one.reports, other.reports);
            ck_assert_int_eq(one.status, other.status);
            if (one.status != FPO_OK) {
                ck_assert_str_eq(one.error.message, other.error.message);
                continue;
            }
            ck_assert_mem_eq(one.memory, other.memory, sizeof one.memory);
            ck_assert_mem_eq(&one.statistics, &other.statistics, sizeof one.statistics);
        }
    }
}
END_TEST

/* Which instructions keep a grid on one thread. */
static const struct {
    const char *text;
    bool independent;
} accesses[] = {
    {"ld.global.b32 x, [offset];", true},
    {"prefetch.tensormap [offset];", true},
    {"cp.async.bulk.prefetch.L2.global [offset], 16;", true},
    {"ld.shared.b32 y, [at];", true},
    {"atom.shared.add.u32 x, [at], x;", true},
    {"ld.volatile.global.b32 x, [offset];", false},
    {"ld.acquire.gpu.global.b32 x, [offset];", false},
    {"st.release.gpu.global.b32 [offset], x;", false},
    {"red.global.add.u32 [offset], x;", false},
    {"atom.add.u32 x, [offset], x;", false},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [offset], [at], 128;", false},
};

START_TEST(what_reaches_other_ctas)
{
    char ptx[2048];
    snprintf(ptx, sizeof ptx, "%s%s\n%s", HEAD, accesses[_i].text, TAIL);
    fpo_ptx_module *module;
    fpo_ptx_kernel *kernel;
    fpo_error error;
    ck_assert_msg(fpo_ptx_module_load(ptx, strlen(ptx), &module, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_ptx_kernel_decode(module, "k", &kernel, &error) == FPO_OK, "%s", error.message);
    ck_assert_msg(fpo_ctas_are_independent(kernel) == accesses[_i].independent, "%s", accesses[_i].text);
    fpo_ptx_kernel_free(kernel);
    fpo_ptx_module_free(module);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("vgpu_threads");
    TCase *tests = tcase_create("threads");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, any_number_of_threads, 0, sizeof kernels / sizeof kernels[0]);
    tcase_add_loop_test(tests, what_reaches_other_ctas, 0, sizeof accesses / sizeof accesses[0]);
    suite_add_tcase(suite, tests);
    return suite;
}

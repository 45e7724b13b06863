/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The CPU plug-in, which shares no code with the emulator, against the model that describes it: every pair of operands,
 * every output format, with alpha, beta, C, bias and tensor scales, NaN and infinities included. And its planted
 * faults: each makes a difference. */
#include "gemm_data.h"
#include "runner.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static fpo_runner runner;

static void open_runner(void)
{
    fpo_runner_options options = {
        .plugin = FPO_BINARY_DIR "/lib/cpu_reference.so", .program = FPO_BINARY_DIR "/bin/fp4oracle", .once = true};
    fpo_error error;
    ck_assert_msg(fpo_runner_open(&runner, &options, &error) == FPO_OK, "%s", error.message);
}

static void close_runner(void)
{
    fpo_error error;
    ck_assert_msg(fpo_runner_close(&runner, &error) == FPO_OK, "%s", error.message);
}

/* "cpu/A,B/bf16+fault" to formats. */
static void formats_of(const char *name, fpo_block_format *a, fpo_block_format *b, fpo_format *d)
{
    char text[128];
    snprintf(text, sizeof text, "%s", name + strlen("cpu/"));
    text[strcspn(text, "+")] = '\0';
    char *slash = strchr(text, '/');
    *d = slash != NULL ? fpo_format_by_name(slash + 1) : FPO_F32;
    text[strcspn(text, "/")] = '\0';
    char *comma = strchr(text, ',');
    *b = fpo_block_format_by_name(comma != NULL ? comma + 1 : text);
    text[strcspn(text, ",")] = '\0';
    *a = fpo_block_format_by_name(text);
    ck_assert_msg(*a != FPO_BLOCK_COUNT && *b != FPO_BLOCK_COUNT && *d != FPO_FORMAT_COUNT, "%s", name);
}

static void take_outcome(void *context, const fpo_kernel_info *kernel, const fpo_run_result *result)
{
    fpo_run_result *last = context;
    (void)kernel;
    *last = *result;
}

static fpo_run_result run(const fpo_kernel_info *kernel, const gemm_case *x)
{
    fpo_run_result result = {0};
    fpo_vector vector = {.spec = x->spec, .problem = x->problem, .purpose = "", .data = ""};
    fpo_runner_run(&runner, kernel, &vector, take_outcome, &result);
    return result;
}

static const struct {
    int64_t m, n, k;
    gemm_data data;
    bool epilogue;
} cases[] = {
    {3, 5, 64, DATA_ANY, false},       {19, 9, 75, DATA_FINITE, true}, {130, 3, 131, DATA_FINITE, true},
    {2, 140, 290, DATA_EXTREME, true}, {5, 4, 1, DATA_FINITE, false},  {4, 4, 40, DATA_SPARSE, true},
};

static void check_right(const fpo_kernel_info *kernel, uint64_t stream, size_t i)
{
    fpo_block_format a, b;
    fpo_format d;
    formats_of(kernel->name, &a, &b, &d);
    gemm_random random = {{11 + i, stream}, 0};
    gemm_case *x = gemm_case_new(a, b, cases[i].m, cases[i].n, cases[i].k, d);
    if (cases[i].epilogue) {
        gemm_case_add_c(x, d);
        gemm_case_add_bias(x, FPO_F32, false);
    }
    gemm_data_fill(x, cases[i].data, &random);
    if (cases[i].epilogue) {
        gemm_data_fill_epilogue(x, &random, 4);
    }
    fpo_run_result result = run(kernel, x);
    ck_assert_msg(result.outcome == FPO_OUTCOME_MATCH, "%s %ldx%ldx%ld: %s: %s", kernel->name, (long)cases[i].m,
                  (long)cases[i].n, (long)cases[i].k, fpo_outcome_name(result.outcome), result.text);
    gemm_case_free(x);
}

/* Kernel by kernel, since each gets a process. */
START_TEST(right_kernels)
{
    size_t checked = 0;
    for (size_t i = 0; i < runner.plugin.count; i++) {
        const fpo_kernel_info *kernel = &runner.plugin.kernels[i];
        for (size_t j = 0; kernel->fault == NULL && j < sizeof cases / sizeof cases[0]; j++) {
            check_right(kernel, (uint64_t)i, j);
            checked++;
        }
    }
    ck_assert_uint_ge(checked, 800);
}
END_TEST

START_TEST(faulty_kernels)
{
    size_t faults = 0;
    for (size_t i = 0; i < runner.plugin.count; i++) {
        const fpo_kernel_info *kernel = &runner.plugin.kernels[i];
        fpo_block_format a, b;
        fpo_format d;
        if (kernel->fault == NULL) {
            continue;
        }
        faults++;
        formats_of(kernel->name, &a, &b, &d);
        gemm_random random = {{12, (uint64_t)i}, 0};
        gemm_case *x = gemm_case_new(a, b, 150, 40, 320, d);
        gemm_case_add_c(x, d);
        gemm_data_fill(x, DATA_FINITE, &random);
        gemm_data_fill_epilogue(x, &random, 2);
        fpo_run_result result = run(kernel, x);
        ck_assert_msg(result.outcome == FPO_OUTCOME_MISMATCH, "%s: %s: %s", kernel->name,
                      fpo_outcome_name(result.outcome), result.text);
        gemm_case_free(x);
    }
    ck_assert_uint_ge(faults, 20);
}
END_TEST

/* All launches of one kernel of each kind of scale layout: padding must not be read. */
START_TEST(all_checks)
{
    const char *const names[] = {"cpu/nvfp4", "cpu/mxfp6_e3m2/bf16", "cpu/fp8_1x128,fp8_128x128/f16", "cpu/bf16"};
    runner.options.once = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fpo_block_format a, b;
        fpo_format d;
        const fpo_kernel_info *kernel = fpo_plugin_info_find(&runner.plugin, names[i]);
        formats_of(names[i], &a, &b, &d);
        gemm_random random = {{13, (uint64_t)i}, 0};
        gemm_case *x = gemm_case_new(a, b, 70, 33, 200, d);
        gemm_data_fill(x, DATA_FINITE, &random);
        fpo_run_result result = run(kernel, x);
        ck_assert_msg(result.outcome == FPO_OUTCOME_MATCH, "%s: %s", names[i], result.text);
        ck_assert_int_eq(result.launches,
                         strstr(names[i], "128x128") != NULL || strstr(names[i], "/bf16") == names[i] + 3 ? 8 : 12);
        gemm_case_free(x);
    }
}
END_TEST

/* What a kernel cannot take is said, and with the numbers. */
START_TEST(unsupported)
{
    const fpo_kernel_info *nvfp4 = fpo_plugin_info_find(&runner.plugin, "cpu/nvfp4");
    gemm_case *x = gemm_case_new(FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP4, 4, 4, 64, FPO_F32);
    fpo_run_result result = run(nvfp4, x);
    ck_assert_int_eq(result.outcome, FPO_OUTCOME_UNSUPPORTED);
    ck_assert_str_eq(result.text, "the kernel takes scales of format ue4m3 for A, the vector has ue8m0");
    gemm_case_free(x);
    x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 4, 4, 64, FPO_E4M3);
    result = run(nvfp4, x);
    ck_assert_str_eq(result.text, "the kernel writes f32, the vector's output is e4m3");
    gemm_case_free(x);
    x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 4, 4, 64, FPO_F32);
    gemm_case_add_c(x, FPO_BF16);
    x->problem.beta = 0.5f;
    result = run(nvfp4, x);
    ck_assert_str_eq(result.text, "the vector adds 0.5 * C in bf16, the kernel takes C in f32 with beta");
    x->problem.beta = 0; /* then C is never read */
    ck_assert_int_eq(run(nvfp4, x).outcome, FPO_OUTCOME_MATCH);
    gemm_case_free(x);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("runner_cpu");
    TCase *tests = tcase_create("cpu");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, open_runner, close_runner);
    tcase_add_test(tests, right_kernels);
    tcase_add_test(tests, faulty_kernels);
    tcase_add_test(tests, all_checks);
    tcase_add_test(tests, unsupported);
    suite_add_tcase(suite, tests);
    return suite;
}

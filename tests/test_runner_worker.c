/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The worker process: what a plug-in declares comes across, and every way in which a process can end is told. */
#include "child.h"
#include "info.h"
#include "outcome.h"
#include "suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM FPO_BINARY_DIR "/bin/fp4oracle"
#define MISBEHAVE FPO_BINARY_DIR "/lib/test_plugins/misbehave.so"
#define CPU_REFERENCE FPO_BINARY_DIR "/lib/cpu_reference.so"

static fpo_child start(double time_limit)
{
    fpo_child child;
    fpo_error error;
    fpo_child_options options = {.program = PROGRAM, .time_limit = time_limit};
    ck_assert_msg(fpo_child_start(&child, &options, &error) == FPO_OK, "%s", error.message);
    return child;
}

static fpo_status load(fpo_child *child, const char *path, fpo_plugin_info *info, fpo_error *error)
{
    fpo_worker_request request = {.op = FPO_WORKER_LOAD};
    fpo_worker_reply reply;
    snprintf(request.path, sizeof request.path, "%s", path);
    fpo_status status = fpo_child_ask(child, &request, &reply, error);
    if (status == FPO_OK && reply.status != FPO_PLUGIN_OK) {
        return fpo_fail(error, FPO_ERR_KERNEL, "%s", reply.why);
    }
    if (status == FPO_OK) {
        status = fpo_child_reserve(child, (size_t)reply.value, error);
        status = status == FPO_OK ? fpo_child_ask(child, &request, &reply, error) : status;
    }
    return status == FPO_OK ? fpo_plugin_info_parse((const char *)child->arena, (size_t)reply.value, info, error)
                            : status;
}

START_TEST(declares)
{
    fpo_child child = start(20);
    fpo_plugin_info info;
    fpo_error error;
    ck_assert_msg(load(&child, CPU_REFERENCE, &info, &error) == FPO_OK, "%s", error.message);
    ck_assert_str_eq(info.name, "cpu_reference");
    ck_assert(info.host_memory);
    const fpo_kernel_info *kernel = fpo_plugin_info_find(&info, "cpu/nvfp4/bf16");
    ck_assert_ptr_nonnull(kernel);
    ck_assert_str_eq(kernel->unusable, "");
    ck_assert_ptr_null(kernel->fault);
    ck_assert_int_eq(kernel->a.view.element, FPO_E2M1);
    ck_assert_int_eq(kernel->a.view.scale.format, FPO_UE4M3);
    ck_assert_int_eq(kernel->a.view.scale.block_k, 16);
    ck_assert_int_eq(kernel->a.view.scale.layout, FPO_LAYOUT_128X4);
    ck_assert_int_eq(kernel->d.format, FPO_BF16);
    ck_assert_int_eq(kernel->tensor_scales, FPO_TENSOR_SCALES_HOST);
    ck_assert_str_eq(kernel->order.models, "fma_f32");
    kernel = fpo_plugin_info_find(&info, "cpu/nvfp4+linear_read_as_128x4");
    ck_assert_ptr_nonnull(kernel);
    ck_assert_ptr_nonnull(kernel->fault);
    ck_assert_int_eq(kernel->a.view.scale.layout, FPO_LAYOUT_LINEAR);
    ck_assert_ptr_null(fpo_plugin_info_find(&info, "cpu/nvfp5"));
    for (size_t i = 0; i < info.count; i++) {
        ck_assert_msg(info.kernels[i].unusable[0] == '\0', "%s: %s", info.kernels[i].name, info.kernels[i].unusable);
    }
    fpo_plugin_info_free(&info);
    fpo_child_stop(&child, false);
    ck_assert_int_eq(child.ending.kind, FPO_ENDING_EXIT);
    ck_assert_int_eq(child.ending.number, 0);
}
END_TEST

START_TEST(describes_the_processor)
{
    fpo_child child = start(20);
    fpo_plugin_info info;
    fpo_devices_info devices;
    fpo_error error;
    fpo_worker_reply reply;
    ck_assert(load(&child, CPU_REFERENCE, &info, &error) == FPO_OK);
    fpo_worker_request request = {.op = FPO_WORKER_DEVICES};
    ck_assert(fpo_child_ask(&child, &request, &reply, &error) == FPO_OK);
    ck_assert(fpo_devices_info_parse((const char *)child.arena, (size_t)reply.value, &devices, &error) == FPO_OK);
    ck_assert_uint_eq(devices.count, 1);
    ck_assert(devices.devices[0].usable);
    ck_assert_uint_eq(devices.devices[0].kind, FPO_DEVICE_OTHER);
    ck_assert_str_ne(devices.devices[0].name, "");
    ck_assert_int_gt(devices.devices[0].memory_bytes, 1 << 20);
    fpo_devices_info_free(&devices);
    fpo_plugin_info_free(&info);
    fpo_child_stop(&child, false);
}
END_TEST

static const struct {
    const char *path, *message;
} unloadable[] = {
    {"/nonexistent/plugin.so", "cannot open shared object file"},
    {FPO_SOURCE_DIR "/LICENSE", "is no shared object"},
    {FPO_BINARY_DIR "/lib/libfp4oracle.so", "does not export fpo_plugin_v1"},
    {FPO_BINARY_DIR "/lib/test_plugins/refuses_abi.so", "does not serve plug-in ABI 1"},
    {FPO_BINARY_DIR "/lib/test_plugins/newer_abi.so", "built for plug-in ABI 7, this runner has ABI 1"},
    {FPO_BINARY_DIR "/lib/test_plugins/short_table.so", "its table says it has 16 bytes"},
    {FPO_BINARY_DIR "/lib/test_plugins/short_kernels.so", "its kernel entries have 8 bytes"},
    {FPO_BINARY_DIR "/lib/test_plugins/no_kernels.so", "it has no kernels"},
    {FPO_BINARY_DIR "/lib/test_plugins/no_run.so", "its table has no run function"},
    {FPO_BINARY_DIR "/lib/test_plugins/no_names.so", "kernel 1 of 2 has no name"},
    {FPO_BINARY_DIR "/lib/test_plugins/same_names.so", "kernels 0 and 1 are both called twin"},
    {FPO_BINARY_DIR "/lib/test_plugins/half_memory.so", "lacks a function"},
    {FPO_BINARY_DIR "/lib/test_plugins/crashes_on_load.so", "ended by signal 6 (Aborted)"},
    {FPO_BINARY_DIR "/lib/test_plugins/hangs_on_load.so", "no answer within 1 s, killed"},
};

START_TEST(refuses_what_it_cannot_use)
{
    bool hang = strstr(unloadable[_i].path, "hangs") != NULL;
    fpo_child child = start(hang ? 1 : 20);
    fpo_plugin_info info;
    fpo_error error = {0};
    ck_assert_int_eq(load(&child, unloadable[_i].path, &info, &error), FPO_ERR_KERNEL);
    ck_assert_msg(strstr(error.message, unloadable[_i].message) != NULL, "%s: %s", unloadable[_i].path, error.message);
    fpo_child_stop(&child, false);
}
END_TEST

START_TEST(refuses_nonsense)
{
    const fpo_worker_request requests[] = {
        {.op = FPO_WORKER_DEVICES},
        {.op = FPO_WORKER_LAUNCH, .launches = 1},
        {.op = FPO_WORKER_UPLOAD, .slot = 0, .bytes = 4},
        {.op = FPO_WORKER_OP_COUNT},
        {.op = UINT32_MAX},
    };
    fpo_child child = start(20);
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        fpo_worker_reply reply;
        ck_assert_int_eq(fpo_child_ask(&child, &requests[i], &reply, NULL), FPO_OK);
        ck_assert_int_eq(reply.status, FPO_PLUGIN_FAILED);
    }
    fpo_plugin_info info;
    fpo_error error;
    ck_assert(load(&child, MISBEHAVE, &info, &error) == FPO_OK);
    const fpo_worker_request later[] = {
        {.op = FPO_WORKER_UPLOAD, .slot = 0, .bytes = 4}, /* no such buffer yet */
        {.op = FPO_WORKER_UPLOAD, .slot = 99, .bytes = 4},
        {.op = FPO_WORKER_ALLOCATE, .slot = 99, .bytes = 4},
        {.op = FPO_WORKER_LAUNCH, .launches = 1, .problem = {{.kernel = 100000}}},
    };
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        fpo_worker_reply reply;
        ck_assert_int_eq(fpo_child_ask(&child, &later[i], &reply, NULL), FPO_OK);
        ck_assert_int_eq(reply.status, FPO_PLUGIN_FAILED);
    }
    fpo_worker_request allocate = {.op = FPO_WORKER_ALLOCATE, .slot = 3, .bytes = 100};
    fpo_worker_reply reply;
    ck_assert_int_eq(fpo_child_ask(&child, &allocate, &reply, NULL), FPO_OK);
    ck_assert_int_eq(reply.status, FPO_PLUGIN_OK);
    const fpo_worker_request outside[] = {
        {.op = FPO_WORKER_UPLOAD, .slot = 3, .bytes = 101},
        {.op = FPO_WORKER_UPLOAD, .slot = 3, .offset = 101, .bytes = 0},
        {.op = FPO_WORKER_DOWNLOAD, .slot = 3, .offset = 50, .bytes = 51},
        {.op = FPO_WORKER_DOWNLOAD, .slot = 3, .offset = UINT64_MAX, .bytes = 2},
        {.op = FPO_WORKER_DOWNLOAD, .slot = 3, .arena = UINT64_MAX, .bytes = 2},
    };
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        ck_assert_int_eq(fpo_child_ask(&child, &outside[i], &reply, NULL), FPO_OK);
        ck_assert_int_eq(reply.status, FPO_PLUGIN_FAILED);
    }
    fpo_plugin_info_free(&info);
    fpo_child_stop(&child, false);
    ck_assert_int_eq(child.ending.number, 0);
}
END_TEST

START_TEST(no_program)
{
    fpo_child child;
    fpo_error error;
    fpo_child_options options = {.program = "/nonexistent/program", .time_limit = 1};
    ck_assert_int_eq(fpo_child_start(&child, &options, &error), FPO_ERR_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "No such file"));
    options.program = "/bin/true"; /* ends before it answers */
    ck_assert_int_eq(fpo_child_start(&child, &options, &error), FPO_ERR_KERNEL);
    ck_assert_ptr_nonnull(strstr(error.message, "exit status 0"));
}
END_TEST

START_TEST(environment_reaches_it)
{
    const char *const changes[] = {"FPO_TEST_WORDS=hello", "HOME=/nowhere", NULL};
    fpo_child child;
    fpo_error error;
    char log[64];
    fpo_child_options options = {.program = PROGRAM, .time_limit = 20, .environment = changes};
    ck_assert(fpo_child_start(&child, &options, &error) == FPO_OK);
    fpo_plugin_info info;
    ck_assert(load(&child, FPO_BINARY_DIR "/lib/test_plugins/prints_environment.so", &info, &error) == FPO_OK);
    fpo_child_log(&child, log, sizeof log);
    ck_assert_str_eq(log, "hello /nowhere\n");
    fpo_plugin_info_free(&info);
    fpo_child_stop(&child, false);
}
END_TEST

START_TEST(outcomes_of_endings)
{
    const struct {
        fpo_ending ending;
        fpo_outcome outcome;
    } cases[] = {{{FPO_ENDING_SIGNAL, SIGSEGV}, FPO_OUTCOME_CRASHED},
                 {{FPO_ENDING_SIGNAL, SIGABRT}, FPO_OUTCOME_ABORTED},
                 {{FPO_ENDING_EXIT, 0}, FPO_OUTCOME_EXITED},
                 {{FPO_ENDING_TIME, 0}, FPO_OUTCOME_TIMED_OUT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_int_eq(fpo_outcome_of_ending(&cases[i].ending), cases[i].outcome);
        ck_assert_int_eq(fpo_outcome_exit_status(cases[i].outcome), 3);
    }
    ck_assert_int_eq(fpo_outcome_exit_status(FPO_OUTCOME_MATCH), 0);
    ck_assert_int_eq(fpo_outcome_exit_status(FPO_OUTCOME_NEVER_WRITTEN), 1);
    ck_assert_str_eq(fpo_outcome_name(FPO_OUTCOME_OUT_OF_BOUNDS), "out_of_bounds");
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("runner_worker");
    TCase *tests = tcase_create("worker");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, declares);
    tcase_add_test(tests, describes_the_processor);
    tcase_add_loop_test(tests, refuses_what_it_cannot_use, 0, (int)(sizeof unloadable / sizeof unloadable[0]));
    tcase_add_test(tests, refuses_nonsense);
    tcase_add_test(tests, no_program);
    tcase_add_test(tests, environment_reaches_it);
    tcase_add_test(tests, outcomes_of_endings);
    suite_add_tcase(suite, tests);
    return suite;
}

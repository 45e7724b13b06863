/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Plug-ins that cannot be used (or end badly), one for each reason: compiled once for each, with the reason's macro
 * defined. */
#include <fp4oracle/kernel_plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    (void)kernel;
    (void)problem;
    (void)why;
    return FPO_PLUGIN_OK;
}

#if defined(HALF_MEMORY)
static const fpo_plugin_memory memory = {.size = sizeof memory};
#endif

static const fpo_kernel kernels[] = {
#if defined(SAME_NAMES)
    {.name = "twin"},
    {.name = "twin"},
#elif defined(NO_NAMES)
    {.name = "one"},
    {.name = NULL},
#else
    {.name = "one", .a = {.element = "e4m3"}, .b = {.element = "e4m3"}, .d = "f32"},
#endif
};

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof(fpo_plugin),
        .abi = FPO_PLUGIN_ABI,
        .name = "malformed",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof kernels[0],
        .kernel_size = sizeof(fpo_kernel),
        .run = run,
    };
    (void)abi_wanted;
#if defined(REFUSES_ABI)
    return NULL;
#elif defined(NEWER_ABI)
    plugin.abi = 7;
#elif defined(SHORT_TABLE)
    plugin.size = 16;
#elif defined(SHORT_KERNELS)
    plugin.kernel_size = 8;
#elif defined(NO_KERNELS)
    plugin.kernel_count = 0;
#elif defined(NO_RUN)
    plugin.run = NULL;
#elif defined(HALF_MEMORY)
    plugin.memory = &memory;
#elif defined(CRASHES_ON_LOAD)
    abort();
#elif defined(HANGS_ON_LOAD)
    for (;;) {
        pause();
    }
#elif defined(ABORTS_AT_EXIT)
    atexit(abort);
#elif defined(PRINTS_ENVIRONMENT)
    fprintf(stderr, "%s %s\n", getenv("FPO_TEST_WORDS"), getenv("HOME"));
#endif
    return &plugin;
}

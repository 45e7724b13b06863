/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The reference kernels for SM120 as a plug-in: what each takes, returns and adds up to. */
#include "../common/cuda_memory.h"
#include "launch.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { OUTPUTS = 2 };

static const int32_t geforce[] = {120, 121, 0};

/* One line of kernels.inc. */
typedef struct entry {
    const char *instruction, *a, *b, *scale, *model;
    int32_t block;
    reference_launch launch;
} entry;

static const entry entries[] = {
#define REFERENCE(instruction, a, b, scale, block, ...)                                                                \
    {#instruction, #a, #b, #scale, "sm120_" #instruction, block, reference_##instruction##_##a##_##b},
#include "kernels.inc"
#undef REFERENCE
};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

static fpo_kernel kernels[ENTRIES * OUTPUTS];
static fpo_kernel_order orders[ENTRIES];
static char names[ENTRIES * OUTPUTS][64];

/* 32 elements a step, each in a byte, instead of 64 in half a byte. */
static bool narrow(const entry *e)
{
    return strstr(e->instruction, "f8f6f4") != NULL;
}

/* A 4-bit code that has a byte of its own lies in bits 5:2. */
static fpo_kernel_operand operand(const entry *e, const char *element)
{
    bool scaled = e->block > 0;
    return (fpo_kernel_operand){
        .element = element,
        .packing = narrow(e) && strcmp(element, "e2m1") == 0 ? "fp4_bytes_shifted" : NULL,
        .scale = scaled ? e->scale : NULL,
        .scale_layout = scaled ? "128x4" : NULL,
        .scale_rows = scaled ? 1 : 0,
        .scale_k = e->block,
    };
}

static void make_kernels(void)
{
    for (int i = 0; i < ENTRIES * OUTPUTS; i++) {
        const entry *e = &entries[i / OUTPUTS];
        const char *d = i % OUTPUTS == 0 ? "f32" : "bf16";
        snprintf(names[i], sizeof names[i], "reference/%s/%s,%s/%s", e->instruction, e->a, e->b, d);
        orders[i / OUTPUTS] =
            (fpo_kernel_order){.size = sizeof orders[0], .models = e->model, .instruction_k = narrow(e) ? 32 : 64};
        kernels[i] = (fpo_kernel){
            .name = names[i],
            .summary = "a warp a tile of 16x8, one instruction a step of K",
            .user = e,
            .a = operand(e, e->a),
            .b = operand(e, e->b),
            .d = d,
            .any_line = 1,
            .alpha = FPO_SCALAR_HOST,
            .native = geforce,
            .order = &orders[i / OUTPUTS],
        };
    }
}

static fpo_plugin_status check(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    (void)kernel;
    const int64_t numbers[] = {p->m, p->n, p->k, p->a_line, p->b_line, p->d_line};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i] > INT32_MAX / 2) {
            snprintf(why, FPO_PLUGIN_TEXT, "%lld is too large for this kernel's 32-bit sizes", (long long)numbers[i]);
            return FPO_PLUGIN_UNSUPPORTED;
        }
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    const entry *e = kernel->user;
    reference_problem problem = {
        .a = p->a,
        .b = p->b,
        .a_scale = p->a_scale,
        .b_scale = p->b_scale,
        .d = p->d,
        .m = (int32_t)p->m,
        .n = (int32_t)p->n,
        .k = (int32_t)p->k,
        .a_line = (int32_t)p->a_line,
        .b_line = (int32_t)p->b_line,
        .d_line = (int32_t)p->d_line,
        .alpha = *p->alpha,
        .bf16 = strcmp(kernel->d, "bf16") == 0,
    };
    return fpo_cuda_status((cudaError_t)e->launch(&problem), "the launch", why);
}

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof plugin,
        .abi = FPO_PLUGIN_ABI,
        .name = "reference_sm120",
        .version = "1",
        .kernels = kernels,
        .kernel_count = ENTRIES * OUTPUTS,
        .kernel_size = sizeof kernels[0],
        .check = check,
        .run = run,
    };
    if (abi_wanted != FPO_PLUGIN_ABI)
        return NULL;
    if (plugin.memory == NULL) {
        make_kernels();
        plugin.memory = fpo_cuda_memory("");
    }
    return &plugin;
}

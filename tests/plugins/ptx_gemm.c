/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Kernels in PTX for whatever libcuda.so.1 there is: a GPU's, or the virtual one's. An f32 GEMM, one thread an output,
 * right and with one mistake each. */
#include "../../kernels/plugins/module/driver.h"

#include <stdio.h>

#define GEMM(guard, store)                                                                                             \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                                                                  \
    ".visible .entry gemm(.param .u64 pa, .param .u64 pb, .param .u64 pd, .param .u32 pn, .param .u32 pk,\n"           \
    "                     .param .u32 la, .param .u32 lb, .param .u32 ld)\n"                                           \
    "{\n"                                                                                                              \
    "  .reg .pred %p<4>;\n  .reg .b32 %r<16>;\n  .reg .b64 %rd<16>;\n  .reg .f32 %f<4>;\n"                             \
    "  ld.param.u64 %rd1, [pa];\n  ld.param.u64 %rd2, [pb];\n  ld.param.u64 %rd3, [pd];\n"                             \
    "  ld.param.u32 %r1, [pn];\n  ld.param.u32 %r2, [pk];\n"                                                           \
    "  ld.param.u32 %r3, [la];\n  ld.param.u32 %r4, [lb];\n  ld.param.u32 %r5, [ld];\n"                                \
    "  mov.u32 %r6, %ctaid.x;\n  mov.u32 %r7, %ntid.x;\n  mov.u32 %r8, %tid.x;\n"                                      \
    "  mad.lo.u32 %r9, %r6, %r7, %r8;\n  mov.u32 %r10, %ctaid.y;\n"                                                    \
    "  setp.ge.u32 %p1, %r9, " guard ";\n  @%p1 bra DONE;\n"                                                           \
    "  mul.wide.u32 %rd4, %r10, %r3;\n  add.s64 %rd5, %rd1, %rd4;\n"                                                   \
    "  sub.u32 %r12, %r1, 1;\n  min.u32 %r12, %r9, %r12;\n"                                                            \
    "  mul.wide.u32 %rd6, %r12, %r4;\n  add.s64 %rd7, %rd2, %rd6;\n"                                                   \
    "  mov.f32 %f1, 0f00000000;\n  mov.u32 %r11, 0;\n"                                                                 \
    "LOOP:\n"                                                                                                          \
    "  ld.global.f32 %f2, [%rd5];\n  ld.global.f32 %f3, [%rd7];\n  fma.rn.f32 %f1, %f2, %f3, %f1;\n"                   \
    "  add.s64 %rd5, %rd5, 4;\n  add.s64 %rd7, %rd7, 4;\n  add.u32 %r11, %r11, 1;\n"                                   \
    "  setp.lt.u32 %p2, %r11, %r2;\n  @%p2 bra LOOP;\n"                                                                \
    "  mul.wide.u32 %rd8, %r10, %r5;\n  add.s64 %rd9, %rd3, %rd8;\n"                                                   \
    "  mul.wide.u32 %rd10, %r9, 4;\n  add.s64 %rd11, %rd9, %rd10;\n" store "DONE:\n  ret;\n}\n"

/* One module a kernel; fpo_kernel.user points to its text. */
static const char right[] = GEMM("%r1", "  st.global.f32 [%rd11], %f1;\n");
static const char too_wide[] = GEMM("32", "  st.global.f32 [%rd11], %f1;\n");
static const char astray[] = GEMM("%r1", "  add.s64 %rd12, %rd11, 1099511627776;\n  st.global.f32 [%rd12], %f1;\n");

static const char unknown[] = GEMM("%r1", "  frobnicate.b32 %r12, %r12;\n");

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *p, char *why)
{
    const fpo_driver *cuda = fpo_driver_functions();
    static void *entry; /* each kernel has a process of its own */
    void *module = NULL;
    fpo_plugin_status status = FPO_PLUGIN_OK;
    if (entry == NULL) {
        status = fpo_driver_status(cuda->load(&module, kernel->user), "cuModuleLoadData", why);
        status = status == FPO_PLUGIN_OK
                     ? fpo_driver_status(cuda->function(&entry, module, "gemm"), "cuModuleGetFunction", why)
                     : status;
    }
    uint32_t n = (uint32_t)p->n, k = (uint32_t)p->k, a_line = (uint32_t)p->a_line, b_line = (uint32_t)p->b_line,
             d_line = (uint32_t)p->d_line;
    const void *a = p->a, *b = p->b;
    void *d = p->d;
    void *parameters[] = {&a, &b, &d, &n, &k, &a_line, &b_line, &d_line};
    if (status == FPO_PLUGIN_OK)
        status = fpo_driver_status(
            cuda->launch(entry, (n + 31) / 32, (unsigned)p->m, 1, 32, 1, 1, 0, NULL, parameters, NULL),
            "cuLaunchKernel", why);
    if (status != FPO_PLUGIN_OK && kernel->user == unknown) /* as CUTLASS's host code has it */
        snprintf(why, FPO_PLUGIN_TEXT, "initialize: Error Internal");
    return status;
}

static const fpo_kernel_order in_order = {.size = sizeof in_order, .models = "fma_f32"};
static const int32_t any_recent[] = {80, 86, 89, 90, 100, 103, 120, 121, 0};

#define KERNEL(kernel_name, text, sentence)                                                                            \
    {                                                                                                                  \
        .name = "ptx/" kernel_name, .summary = "f32, one thread an output", .fault = sentence, .user = text,           \
        .a = {.element = "f32"}, .b = {.element = "f32"}, .d = "f32", .any_line = 1,                                   \
        .arithmetic = FPO_ARITHMETIC_PLAIN, .native = any_recent, .order = &in_order                                   \
    }

static const fpo_kernel kernels[] = {
    KERNEL("right", right, NULL),
    KERNEL("too_wide", too_wide, "writes whole warps, beyond the last column"),
    KERNEL("astray", astray, "writes a terabyte away"),
    KERNEL("unknown", unknown, "has an instruction that there is not, and keeps that for itself"),
};

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof plugin,
        .abi = FPO_PLUGIN_ABI,
        .name = "ptx_gemm",
        .version = "1",
        .kernels = kernels,
        .kernel_count = sizeof kernels / sizeof kernels[0],
        .kernel_size = sizeof kernels[0],
        .run = run,
    };
    plugin.memory = fpo_driver_memory();
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The table of kernels: every pair into f32, bf16 and f16, then those with a planted fault. */
#include "cpu_reference.h"

#define CPU_SCALED(e, s, rows, k, layout)                                                                              \
    {                                                                                                                  \
        .element = e, .scale = s, .scale_rows = rows, .scale_k = k, .scale_layout = layout                             \
    }
#define NVFP4(layout) CPU_SCALED("e2m1", "ue4m3", 1, 16, layout)
#define MXFP4(layout) CPU_SCALED("e2m1", "ue8m0", 1, 32, layout)
#define MXFP6_E2M3(layout) CPU_SCALED("e2m3", "ue8m0", 1, 32, layout)
#define MXFP6_E3M2(layout) CPU_SCALED("e3m2", "ue8m0", 1, 32, layout)
#define MXFP8_E4M3(layout) CPU_SCALED("e4m3", "ue8m0", 1, 32, layout)
#define MXFP8_E5M2(layout) CPU_SCALED("e5m2", "ue8m0", 1, 32, layout)
#define E4M3_TENSOR(layout) CPU_SCALED("e4m3", "f32", 0, 0, layout)
#define E4M3_ROW(layout) CPU_SCALED("e4m3", "f32", 1, 0, layout)
#define E4M3_1X128(layout) CPU_SCALED("e4m3", "f32", 1, 128, layout)
#define E4M3_128X128(layout) CPU_SCALED("e4m3", "f32", 128, 128, layout)
#define E5M2_TENSOR(layout) CPU_SCALED("e5m2", "f32", 0, 0, layout)
#define E5M2_ROW(layout) CPU_SCALED("e5m2", "f32", 1, 0, layout)
#define E5M2_1X128(layout) CPU_SCALED("e5m2", "f32", 1, 128, layout)
#define E5M2_128X128(layout) CPU_SCALED("e5m2", "f32", 128, 128, layout)
#define CPU_PLAIN(e)                                                                                                   \
    {                                                                                                                  \
        .element = e                                                                                                   \
    }
#define E2M1(layout) CPU_PLAIN("e2m1")
#define E2M3(layout) CPU_PLAIN("e2m3")
#define E3M2(layout) CPU_PLAIN("e3m2")
#define E4M3(layout) CPU_PLAIN("e4m3")
#define E5M2(layout) CPU_PLAIN("e5m2")
#define F16(layout) CPU_PLAIN("f16")
#define BF16(layout) CPU_PLAIN("bf16")
#define TF32(layout) CPU_PLAIN("tf32")
#define F32(layout) CPU_PLAIN("f32")

static const fpo_kernel_order in_order = {.size = sizeof(fpo_kernel_order), .models = "fma_f32", .instruction_k = 1};

#define CPU_KERNEL(kernel_name, A, B, scales, layout, format, planted, ...)                                            \
    {.name = "cpu/" kernel_name,                                                                                       \
     .summary = "dequantise, then multiply-add in order of k; D in " format,                                           \
     .fault = planted,                                                                                                 \
     .user = &(const cpu_fault){__VA_ARGS__},                                                                          \
     .a = A(layout),                                                                                                   \
     .b = B(layout),                                                                                                   \
     .c = format,                                                                                                      \
     .bias = "f32",                                                                                                    \
     .d = format,                                                                                                      \
     .any_line = 1,                                                                                                    \
     .alpha = FPO_SCALAR_HOST,                                                                                         \
     .beta = FPO_SCALAR_HOST,                                                                                          \
     .tensor_scales = scales,                                                                                          \
     .arithmetic = FPO_ARITHMETIC_PLAIN,                                                                               \
     .order = &in_order},

const fpo_kernel cpu_kernels[] = {
#define CPU_PAIR(name, A, B, scales, layout)                                                                           \
    CPU_KERNEL(name, A, B, scales, layout, "f32", NULL, 0, 0, 0)                                                       \
    CPU_KERNEL(name "/bf16", A, B, scales, layout, "bf16", NULL, 0, 0, 0)                                              \
    CPU_KERNEL(name "/f16", A, B, scales, layout, "f16", NULL, 0, 0, 0)
#include "pairs.inc"
#undef CPU_PAIR
#define CPU_FAULT(name, A, B, scales, layout, d, a_faults, b_faults, all, sentence)                                    \
    CPU_KERNEL(name, A, B, scales, layout, d, sentence, a_faults, b_faults, all)
#include "faults.inc"
#undef CPU_FAULT
};

const uint32_t cpu_kernel_count = sizeof cpu_kernels / sizeof cpu_kernels[0];

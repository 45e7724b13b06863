/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The table of kernels, and what is known of cuDNN's engines. */
#include "cudnn_plugin.h"

#include <stddef.h>

static const int32_t fp8_devices[] = {89, 90, 100, 103, 120, 121, 0};
static const int32_t block_devices[] = {100, 103, 110, 120, 121, 0};

static const dnn_kernel details[] = {
#define DNN_KERNEL(ID, name, a, a_type, b, b_type, d, d_type, scale, layout, scale_type, rows, block, has_alpha,       \
                   devices)                                                                                            \
    {a_type, b_type, d_type, scale_type, block, has_alpha},
#include "kernels.inc"
#undef DNN_KERNEL
};

enum {
#define DNN_KERNEL(ID, name, a, a_type, b, b_type, d, d_type, scale, layout, scale_type, rows, block, has_alpha,       \
                   devices)                                                                                            \
    ID,
#include "kernels.inc"
#undef DNN_KERNEL
};

const fpo_kernel dnn_kernels[] = {
#define DNN_KERNEL(ID, title, a_format, a_type, b_format, b_type, d_format, d_type, scale_format, layout, scale_type,  \
                   rows, block, has_alpha, devices)                                                                    \
    {.name = "cudnn/" title,                                                                                           \
     .summary = "cudnnBackendExecute, one variant for each engine that takes the graph",                               \
     .source = "cuDNN 9, as installed",                                                                                \
     .user = &details[ID],                                                                                             \
     .a = {.element = (a_format),                                                                                      \
           .scale = (scale_format),                                                                                    \
           .scale_layout = (layout),                                                                                   \
           .scale_rows = (rows),                                                                                       \
           .scale_k = (block),                                                                                         \
           .line_multiple = 16},                                                                                       \
     .b = {.element = (b_format),                                                                                      \
           .scale = (scale_format),                                                                                    \
           .scale_layout = (layout),                                                                                   \
           .scale_rows = (rows),                                                                                       \
           .scale_k = (block),                                                                                         \
           .line_multiple = 16},                                                                                       \
     .d = (d_format),                                                                                                  \
     .d_line_multiple = 16,                                                                                            \
     .any_line = 1,                                                                                                    \
     .alpha = (has_alpha) ? FPO_SCALAR_DEVICE : FPO_SCALAR_NONE,                                                       \
     .k_multiple = (block) != 0 ? 32 : 16,                                                                             \
     .n_multiple = 8,                                                                                                  \
     .arithmetic = FPO_ARITHMETIC_DEVICE,                                                                              \
     .native = (devices)},
#include "kernels.inc"
#undef DNN_KERNEL
};
const uint32_t dnn_kernel_count = sizeof dnn_kernels / sizeof *dnn_kernels;

/* facts.md 6.5b, recorded on an H200 with cuDNN 9.19 (tests/test_recorded_cudnn.c). Engine 0 hands the problem to
 * cuBLASLt, whose epilogue adds +0. */
const fpo_kernel_order *dnn_engine_order(const dnn_kernel *kernel, int64_t engine)
{
    static const fpo_kernel_order cublaslt = {.size = sizeof cublaslt,
                                              .models = "sm90_fp8_promote128",
                                              .epilogue = "coef_mul a_scale, coef_mul b_scale, fma_coef_zero"},
                                  four = {.size = sizeof four,
                                          .models = "sm90_fp8_promote128",
                                          .epilogue = "mul a_scale, mul b_scale"},
                                  seven = {.size = sizeof seven,
                                           .models = "sm90_cudnn_fp8_eng7",
                                           .epilogue = "mul a_scale, mul b_scale"};
    if (kernel->block > 0)
        return NULL;
    return engine == 0 ? &cublaslt : engine == 4 ? &four : engine == 7 ? &seven : NULL;
}

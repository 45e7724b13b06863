/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* CUTLASS's FP8 GEMMs for compute capability 9.0 as a plug-in. */
#include "../common/cuda_memory.h"
#include "launcher.h"

static const int32_t hopper[] = {90, 0};

/* D = fma(alpha, acc, RN(beta * C)): nvcc contracts CUTLASS's beta * C + alpha * acc in this way (recorded on an H200).
 * Without a C both factors are zeros, which turns -0 into +0. */
#define EPILOGUE "coef_mul alpha, fma_coef_beta_c"

#define OPERAND(format, scaled, rows)                                                                                  \
    {                                                                                                                  \
        .element = (format), .line_multiple = 16, .scale = (scaled) ? "f32" : NULL,                                    \
        .scale_layout = (scaled) ? "mn_major" : NULL, .scale_rows = (scaled) ? (rows) : 0,                             \
        .scale_k = (scaled) ? 128 : 0                                                                                  \
    }

static const fpo_kernel_order orders[] = {
#define CUTLASS_KERNEL(name, a, scaled, d, launcher, member, model)                                                    \
    {.size = sizeof(fpo_kernel_order),                                                                                 \
     .models = (model),                                                                                                \
     .epilogue = EPILOGUE,                                                                                             \
     .tile_m = 128,                                                                                                    \
     .tile_n = 128,                                                                                                    \
     .tile_k = 128,                                                                                                    \
     .instruction_k = 32},
#include "kernels.inc"
#undef CUTLASS_KERNEL
};
enum { KERNELS = sizeof orders / sizeof *orders };

static const cutlass_functions *const functions[KERNELS] = {
#define CUTLASS_KERNEL(name, a, scaled, d, launcher, member, model) &(launcher).member,
#include "kernels.inc"
#undef CUTLASS_KERNEL
};

enum {
#define CUTLASS_KERNEL(name, a, scaled, d, launcher, member, model) launcher##_##member,
#include "kernels.inc"
#undef CUTLASS_KERNEL
};

static const fpo_kernel kernels[KERNELS] = {
#define CUTLASS_KERNEL(title, a_format, scaled, d_format, launcher, member, model)                                     \
    {.name = "cutlass_sm90/" title,                                                                                    \
     .summary = "CollectiveBuilder, tile 128x128x128, cooperative, no cluster",                                        \
     .source = "CUTLASS 4.2.0, PyPI nvidia-cutlass 4.2.0.0",                                                           \
     .user = &functions[launcher##_##member],                                                                          \
     .a = OPERAND(a_format, scaled, 1),                                                                                \
     .b = OPERAND("e4m3", scaled, 128),                                                                                \
     .c = (d_format),                                                                                                  \
     .d = (d_format),                                                                                                  \
     .c_line_multiple = 16,                                                                                            \
     .d_line_multiple = 16,                                                                                            \
     .any_line = 1,                                                                                                    \
     .alpha = FPO_SCALAR_HOST,                                                                                         \
     .beta = FPO_SCALAR_HOST,                                                                                          \
     .tensor_scales = FPO_TENSOR_SCALES_IN_ALPHA,                                                                      \
     .m_multiple = (scaled) ? 4 : 1,                                                                                   \
     .n_multiple = 8,                                                                                                  \
     .k_multiple = 16,                                                                                                 \
     .arithmetic = FPO_ARITHMETIC_DEVICE,                                                                              \
     .native = hopper,                                                                                                 \
     .order = &orders[launcher##_##member]},
#include "kernels.inc"
#undef CUTLASS_KERNEL
};

static const cutlass_functions *functions_of(const fpo_kernel *kernel)
{
    return *(const cutlass_functions *const *)kernel->user;
}

static fpo_plugin_status check(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    return functions_of(kernel)->check(problem, why);
}

static fpo_plugin_status workspace(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint64_t *bytes,
                                   char *why)
{
    return functions_of(kernel)->workspace(problem, bytes, why);
}

static fpo_plugin_status run(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    return functions_of(kernel)->run(problem, why);
}

const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted)
{
    static fpo_plugin plugin = {
        .size = sizeof(fpo_plugin),
        .abi = FPO_PLUGIN_ABI,
        .name = "cutlass_sm90",
        .version = "CUTLASS 4.2.0",
        .kernels = kernels,
        .kernel_count = KERNELS,
        .kernel_size = sizeof(fpo_kernel),
        .check = check,
        .workspace = workspace,
        .run = run,
    };
    plugin.memory = fpo_cuda_memory(plugin.version);
    return abi_wanted == FPO_PLUGIN_ABI ? &plugin : NULL;
}

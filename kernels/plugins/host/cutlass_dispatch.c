/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* From the plug-in ABI to a compiled CUTLASS kernel, for SM120 and SM100. */
#include "cutlass_dispatch.h"

#include "../common/cuda_memory.h"

#include <stdio.h>

fpo_plugin_status cutlass_failed(const char *call, const char *words, char *why)
{
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        return fpo_cuda_status(error, call, why);
    snprintf(why, FPO_PLUGIN_TEXT, "CUTLASS's %s: %s", call, words);
    return FPO_PLUGIN_FAILED;
}

fpo_plugin_status cutlass_check(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    return ((const cutlass_kernel *)kernel->user)->check(problem, why);
}

fpo_plugin_status cutlass_workspace(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint64_t *bytes,
                                    char *why)
{
    (void)why;
    *bytes = ((const cutlass_kernel *)kernel->user)->workspace(problem);
    return FPO_PLUGIN_OK;
}

fpo_plugin_status cutlass_run(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    return ((const cutlass_kernel *)kernel->user)->run(problem, why);
}

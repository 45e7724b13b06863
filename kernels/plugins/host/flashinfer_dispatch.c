/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* From the plug-in ABI to FlashInfer's compiled launchers, for SM120 and SM100. */
#include "flashinfer_dispatch.h"

#include "../common/cuda_memory.h"

#include <stdio.h>

static fpo_plugin_status started(int result, char *why)
{
    cudaError_t error = cudaGetLastError();
    if (result == 0 && error == cudaSuccess)
        return FPO_PLUGIN_OK;
    if (result == cudaErrorNotSupported && error == cudaSuccess) {
        snprintf(why, FPO_PLUGIN_TEXT, "FlashInfer says that it does not support this shape");
        return FPO_PLUGIN_UNSUPPORTED;
    }
    return error != cudaSuccess ? fpo_cuda_status(error, "the launch", why) : FPO_PLUGIN_FAILED;
}

fpo_plugin_status flashinfer_workspace(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint64_t *bytes,
                                       char *why)
{
    return started(((const flashinfer_kernel *)kernel->user)->call(problem, bytes, why), why);
}

fpo_plugin_status flashinfer_run(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why)
{
    return started(((const flashinfer_kernel *)kernel->user)->call(problem, NULL, why), why);
}

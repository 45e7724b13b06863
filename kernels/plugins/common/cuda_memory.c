/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The CUDA runtime behind the plug-in ABI's memory functions, for plug-ins of several files. */
#include "cuda_memory.h"

#include <fp4oracle/kernel_cuda.h>

const fpo_plugin_memory *fpo_cuda_memory(const char *software)
{
    return fpo_cuda_memory_functions(software);
}

fpo_plugin_status fpo_cuda_status(cudaError_t error, const char *call, char *why)
{
    return fpo_cuda_answer(error, call, why);
}

int32_t fpo_cuda_capability(void)
{
    int device = 0, major = 0, minor = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
        return 0;
    return major * 10 + minor;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The CUDA runtime behind the plug-in ABI's memory functions. */
#include "cuda_memory.h"

#include <stdio.h>
#include <string.h>

static const char *library = "";

static int is_sticky(cudaError_t error)
{
    switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable: return 1;
    default: return 0;
    }
}

fpo_plugin_status fpo_cuda_status(cudaError_t error, const char *call, char *why)
{
    if (error == cudaSuccess)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "%s: %s (%s)", call, cudaGetErrorString(error), cudaGetErrorName(error));
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* not sticky: the next call may work */
        return FPO_PLUGIN_OUT_OF_MEMORY;
    }
    return is_sticky(error) ? FPO_PLUGIN_DEVICE_LOST : FPO_PLUGIN_FAILED;
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

static fpo_plugin_status count_devices(int32_t *devices, char *why)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    *devices = count;
    if (error == cudaSuccess && count > 0)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "no CUDA device: %s",
             error == cudaSuccess ? "none found" : cudaGetErrorString(error));
    *devices = 0;
    return FPO_PLUGIN_UNSUPPORTED;
}

static fpo_plugin_status describe(int32_t device, fpo_plugin_device *description, char *why)
{
    struct cudaDeviceProp properties;
    int driver = 0, runtime = 0;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error != cudaSuccess) {
        snprintf(why, FPO_PLUGIN_TEXT, "CUDA device %d: %s", (int)device, cudaGetErrorString(error));
        return FPO_PLUGIN_UNSUPPORTED;
    }
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    description->kind = FPO_DEVICE_GPU;
    description->compute_capability = properties.major * 10 + properties.minor;
    description->multiprocessors = properties.multiProcessorCount;
    description->memory_bytes = properties.totalGlobalMem;
    snprintf(description->name, sizeof description->name, "%.120s", properties.name);
    snprintf(description->software, sizeof description->software, "CUDA driver %d.%d, runtime %d.%d%s%.200s",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, library[0] != '\0' ? ", " : "",
             library);
    return FPO_PLUGIN_OK;
}

static fpo_plugin_status open_device(int32_t device, char *why)
{
    fpo_plugin_status status = fpo_cuda_status(cudaSetDevice(device), "cudaSetDevice", why);
    return status == FPO_PLUGIN_OK ? fpo_cuda_status(cudaFree(NULL), "creating a context", why) : status;
}

static fpo_plugin_status allocate(uint64_t bytes, void **address, char *why)
{
    return fpo_cuda_status(cudaMalloc(address, bytes), "cudaMalloc", why);
}

static fpo_plugin_status release(void *address, char *why)
{
    return fpo_cuda_status(cudaFree(address), "cudaFree", why);
}

static fpo_plugin_status upload(void *to, const void *from, uint64_t bytes, char *why)
{
    return fpo_cuda_status(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the device", why);
}

static fpo_plugin_status download(void *to, const void *from, uint64_t bytes, char *why)
{
    return fpo_cuda_status(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying from the device", why);
}

static fpo_plugin_status synchronise(char *why)
{
    fpo_plugin_status status = fpo_cuda_status(cudaDeviceSynchronize(), "the kernel", why);
    return status == FPO_PLUGIN_OK ? fpo_cuda_status(cudaGetLastError(), "the launch", why) : status;
}

const fpo_plugin_memory *fpo_cuda_memory(const char *software)
{
    static const fpo_plugin_memory memory = {
        .size = sizeof memory,
        .count = count_devices,
        .describe = describe,
        .open = open_device,
        .allocate = allocate,
        .release = release,
        .upload = upload,
        .download = download,
        .synchronise = synchronise,
    };
    library = software;
    return &memory;
}

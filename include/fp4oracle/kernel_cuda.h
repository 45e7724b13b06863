/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The CUDA runtime behind the plug-in ABI's memory functions, for plug-ins in C or C++ that link libcudart (shared: a
 * virtual GPU can then take its place). Include it in one source file; everything is static.
 *
 *   plugin.memory = fpo_cuda_memory_functions("my library 1.0"); */
#ifndef FP4ORACLE_KERNEL_CUDA_H
#define FP4ORACLE_KERNEL_CUDA_H

#include <cuda_runtime_api.h>
#include <fp4oracle/kernel_plugin.h>
#include <stdio.h>
#include <string.h>

/* Errors that leave the context unusable. */
static inline int fpo_cuda_is_sticky(cudaError_t error)
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

/* The status of a CUDA call, with the call and CUDA's words in `why`. */
static inline fpo_plugin_status fpo_cuda_answer(cudaError_t error, const char *call, char *why)
{
    if (error == cudaSuccess)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "%s: %s (%s)", call, cudaGetErrorString(error), cudaGetErrorName(error));
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* not sticky: the next call may work */
        return FPO_PLUGIN_OUT_OF_MEMORY;
    }
    return fpo_cuda_is_sticky(error) ? FPO_PLUGIN_DEVICE_LOST : FPO_PLUGIN_FAILED;
}

static inline const char **fpo_cuda_software(void)
{
    static const char *software = "";
    return &software;
}

static inline fpo_plugin_status fpo_cuda_count(int32_t *devices, char *why)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    *devices = error == cudaSuccess ? count : 0;
    if (*devices > 0)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "no CUDA device: %s",
             error == cudaSuccess ? "none found" : cudaGetErrorString(error));
    return FPO_PLUGIN_UNSUPPORTED;
}

static inline fpo_plugin_status fpo_cuda_describe(int32_t device, fpo_plugin_device *description, char *why)
{
    struct cudaDeviceProp properties;
    int driver = 0, runtime = 0;
    const char *software = *fpo_cuda_software();
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
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, software[0] != '\0' ? ", " : "",
             software);
    return FPO_PLUGIN_OK;
}

static inline fpo_plugin_status fpo_cuda_open(int32_t device, char *why)
{
    fpo_plugin_status status = fpo_cuda_answer(cudaSetDevice(device), "cudaSetDevice", why);
    return status == FPO_PLUGIN_OK ? fpo_cuda_answer(cudaFree(NULL), "creating a context", why) : status;
}

static inline fpo_plugin_status fpo_cuda_allocate(uint64_t bytes, void **address, char *why)
{
    return fpo_cuda_answer(cudaMalloc(address, bytes), "cudaMalloc", why);
}

static inline fpo_plugin_status fpo_cuda_release(void *address, char *why)
{
    return fpo_cuda_answer(cudaFree(address), "cudaFree", why);
}

static inline fpo_plugin_status fpo_cuda_upload(void *to, const void *from, uint64_t bytes, char *why)
{
    return fpo_cuda_answer(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the device", why);
}

static inline fpo_plugin_status fpo_cuda_download(void *to, const void *from, uint64_t bytes, char *why)
{
    return fpo_cuda_answer(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying from the device", why);
}

static inline fpo_plugin_status fpo_cuda_synchronise(char *why)
{
    fpo_plugin_status status = fpo_cuda_answer(cudaDeviceSynchronize(), "the kernel", why);
    return status == FPO_PLUGIN_OK ? fpo_cuda_answer(cudaGetLastError(), "the launch", why) : status;
}

/* `software` is appended to the driver and runtime versions: the library's own name and version. */
static inline const fpo_plugin_memory *fpo_cuda_memory_functions(const char *software)
{
    static fpo_plugin_memory memory;
    memory.size = sizeof memory;
    memory.count = fpo_cuda_count;
    memory.describe = fpo_cuda_describe;
    memory.open = fpo_cuda_open;
    memory.allocate = fpo_cuda_allocate;
    memory.release = fpo_cuda_release;
    memory.upload = fpo_cuda_upload;
    memory.download = fpo_cuda_download;
    memory.synchronise = fpo_cuda_synchronise;
    *fpo_cuda_software() = software;
    return &memory;
}

#endif

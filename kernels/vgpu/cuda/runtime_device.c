/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The CUDA runtime on the virtual GPU: device, memory, streams, events, errors. */
#include "standin.h"

#include <string.h>

/* CUDA 13.0. */
enum { VERSION = 13000 };

FPO_CUDA_EXPORT int cudaGetDevice(int *device)
{
    *device = 0;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaSetDevice(int device)
{
    return device == 0 ? FPO_CUDA_OK : 101; /* cudaErrorInvalidDevice */
}

FPO_CUDA_EXPORT int cudaGetDeviceCount(int *count)
{
    *count = 1;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    return fpo_cuda_attribute(attribute, value);
}

FPO_CUDA_EXPORT int cudaDriverGetVersion(int *version)
{
    *version = VERSION;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaRuntimeGetVersion(int *version)
{
    *version = VERSION;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaDeviceSynchronize(void)
{
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cudaGetLastError(void)
{
    return fpo_cuda_last(true);
}

FPO_CUDA_EXPORT int cudaPeekAtLastError(void)
{
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT const char *cudaGetErrorString(int code)
{
    return fpo_cuda_message(code);
}

FPO_CUDA_EXPORT const char *cudaGetErrorName(int code)
{
    return code == 0 ? "cudaSuccess" : code == FPO_CUDA_LAUNCH_FAILED ? "cudaErrorLaunchFailure" : "cudaError";
}

FPO_CUDA_EXPORT int cudaMalloc(void **pointer, size_t bytes)
{
    fpo_cuda_lock();
    int code = fpo_cuda_allocate(pointer, bytes);
    fpo_cuda_unlock();
    return code;
}

FPO_CUDA_EXPORT int cudaFree(void *pointer)
{
    fpo_cuda_lock();
    int code = fpo_cuda_release(pointer);
    fpo_cuda_unlock();
    return code;
}

FPO_CUDA_EXPORT int cudaMallocAsync(void **pointer, size_t bytes, void *stream)
{
    (void)stream;
    return cudaMalloc(pointer, bytes);
}

FPO_CUDA_EXPORT int cudaFreeAsync(void *pointer, void *stream)
{
    (void)stream;
    return cudaFree(pointer);
}

FPO_CUDA_EXPORT int cudaMallocHost(void **pointer, size_t bytes)
{
    return cudaMalloc(pointer, bytes);
}

FPO_CUDA_EXPORT int cudaFreeHost(void *pointer)
{
    return cudaFree(pointer);
}

FPO_CUDA_EXPORT int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    (void)kind;
    memmove(to, from, bytes);
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

FPO_CUDA_EXPORT int cudaMemset(void *to, int value, size_t bytes)
{
    memset(to, value, bytes);
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cudaMemsetAsync(void *to, int value, size_t bytes, void *stream)
{
    (void)stream;
    return cudaMemset(to, value, bytes);
}

/* Streams and events are names: work is done at once. */
FPO_CUDA_EXPORT int cudaStreamCreate(void **stream)
{
    *stream = NULL;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
    (void)flags;
    return cudaStreamCreate(stream);
}

FPO_CUDA_EXPORT int cudaStreamDestroy(void *stream)
{
    (void)stream;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaStreamSynchronize(void *stream)
{
    (void)stream;
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cudaStreamIsCapturing(void *stream, int *status)
{
    (void)stream;
    *status = 0;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaEventCreate(void **event)
{
    *event = NULL;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaEventDestroy(void *event)
{
    (void)event;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaEventRecord(void *event, void *stream)
{
    (void)event, (void)stream;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaEventSynchronize(void *event)
{
    (void)event;
    return fpo_cuda_last(false);
}

/* The driver's functions by name; status: cudaDriverEntryPointQueryResult. */
FPO_CUDA_EXPORT int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                                     unsigned long long flags, int *status)
{
    (void)version, (void)flags;
    *function = fpo_cuda_entry_point(name);
    if (status != NULL)
        *status = *function != NULL ? 0 : 1;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *status)
{
    return cudaGetDriverEntryPointByVersion(name, function, VERSION, flags, status);
}

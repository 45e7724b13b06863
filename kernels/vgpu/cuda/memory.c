/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Memory: of the device, of the host and managed are all one here, as unified addresses allow. A copy checks the side
 * that its kind says is the device's. */
#include "standin.h"

#include <stdlib.h>
#include <string.h>

enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3 };

static int allocate(void **pointer, size_t bytes)
{
    fpo_vgpu *gpu = fpo_cuda_gpu();
    if (pointer == NULL)
        return FPO_CUDA_INVALID_VALUE;
    *pointer = NULL;
    if (bytes == 0)
        return FPO_CUDA_OK;
    fpo_cuda_lock();
    *pointer = gpu != NULL ? fpo_vgpu_allocate(gpu, bytes) : NULL;
    fpo_cuda_unlock();
    return *pointer != NULL ? FPO_CUDA_OK : fpo_cuda_fail(FPO_CUDA_MEMORY, "no memory for an allocation");
}

static int release(void *pointer)
{
    fpo_vgpu *gpu = fpo_cuda_gpu();
    fpo_cuda_lock();
    bool ok = pointer == NULL || (gpu != NULL && fpo_vgpu_release(gpu, pointer));
    fpo_cuda_unlock();
    return ok ? FPO_CUDA_OK : fpo_cuda_fail(FPO_CUDA_INVALID_VALUE, "memory to be freed was not allocated");
}

static bool is_device(const void *pointer, size_t bytes)
{
    fpo_vgpu *gpu = fpo_cuda_gpu();
    return gpu != NULL && fpo_vgpu_is_allocated(gpu, pointer, bytes);
}

static int copy(void *to, const void *from, size_t bytes, int kind)
{
    if (bytes != 0 && (((kind == TO_DEVICE || kind == ON_DEVICE) && !is_device(to, bytes)) ||
                       ((kind == TO_HOST || kind == ON_DEVICE) && !is_device(from, bytes))))
        return fpo_cuda_fail(FPO_CUDA_INVALID_VALUE, "a copy beyond memory that was allocated on the device");
    memmove(to, from, bytes);
    return fpo_cuda_last(false);
}

static int copy_rows(uint8_t *to, size_t to_pitch, const uint8_t *from, size_t from_pitch, size_t width, size_t height,
                     int kind)
{
    if (width > to_pitch || width > from_pitch)
        return FPO_CUDA_INVALID_VALUE;
    int code = FPO_CUDA_OK;
    for (size_t row = 0; row < height && code == FPO_CUDA_OK; row++)
        code = copy(to + row * to_pitch, from + row * from_pitch, width, kind);
    return code;
}

static int fill(void *to, uint32_t value, size_t width, size_t count)
{
    if (count != 0 && !is_device(to, width * count))
        return fpo_cuda_fail(FPO_CUDA_INVALID_VALUE, "memory to be set was not allocated");
    for (size_t i = 0; i < count; i++)
        memcpy((uint8_t *)to + i * width, &value, width);
    return fpo_cuda_last(false);
}

/* The runtime. */
FPO_CUDA_EXPORT int cudaMalloc(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes);
}

FPO_CUDA_EXPORT int cudaFree(void *pointer)
{
    return release(pointer);
}

FPO_CUDA_EXPORT int cudaMallocAsync(void **pointer, size_t bytes, void *stream)
{
    return allocate(pointer, bytes);
}

FPO_CUDA_EXPORT int cudaMallocFromPoolAsync(void **pointer, size_t bytes, void *pool, void *stream)
{
    return allocate(pointer, bytes);
}

FPO_CUDA_EXPORT int cudaFreeAsync(void *pointer, void *stream)
{
    return release(pointer);
}

FPO_CUDA_EXPORT int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    return allocate(pointer, bytes);
}

FPO_CUDA_EXPORT int cudaMallocHost(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes);
}

FPO_CUDA_EXPORT int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    return allocate(pointer, bytes);
}

FPO_CUDA_EXPORT int cudaFreeHost(void *pointer)
{
    return release(pointer);
}

FPO_CUDA_EXPORT int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + 511) / 512 * 512;
    return allocate(pointer, *pitch * height);
}

FPO_CUDA_EXPORT int cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    fpo_vgpu *gpu = fpo_cuda_gpu();
    fpo_cuda_lock();
    bool ok = gpu != NULL && fpo_vgpu_attach(gpu, pointer, bytes);
    fpo_cuda_unlock();
    return ok ? FPO_CUDA_OK : FPO_CUDA_MEMORY;
}

FPO_CUDA_EXPORT int cudaHostUnregister(void *pointer)
{
    return release(pointer);
}

FPO_CUDA_EXPORT int cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    *device = host;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaMemGetInfo(size_t *available, size_t *total)
{
    *total = fpo_cuda_total_memory();
    *available = *total / 2;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    return copy(to, from, bytes, kind);
}

FPO_CUDA_EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    return copy(to, from, bytes, kind);
}

FPO_CUDA_EXPORT int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                 size_t height, int kind)
{
    return copy_rows(to, to_pitch, from, from_pitch, width, height, kind);
}

FPO_CUDA_EXPORT int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                      size_t height, int kind, void *stream)
{
    return copy_rows(to, to_pitch, from, from_pitch, width, height, kind);
}

FPO_CUDA_EXPORT int cudaMemset(void *to, int value, size_t bytes)
{
    return fill(to, (uint32_t)value, 1, bytes);
}

FPO_CUDA_EXPORT int cudaMemsetAsync(void *to, int value, size_t bytes, void *stream)
{
    return fill(to, (uint32_t)value, 1, bytes);
}

FPO_CUDA_EXPORT int cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    int code = FPO_CUDA_OK;
    for (size_t row = 0; row < height && code == FPO_CUDA_OK; row++)
        code = fill((uint8_t *)to + row * pitch, (uint32_t)value, 1, width);
    return code;
}

FPO_CUDA_EXPORT int cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream)
{
    return cudaMemset2D(to, pitch, value, width, height);
}

/* The first members of struct cudaPointerAttributes, which CUDA 12 and 13 share. */
typedef struct pointer_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
} pointer_attributes;

FPO_CUDA_EXPORT int cudaPointerGetAttributes(pointer_attributes *attributes, const void *pointer)
{
    bool device = is_device(pointer, 1);
    *attributes = (pointer_attributes){.type = device ? 2 : 0};
    if (device)
        attributes->device_pointer = (void *)(uintptr_t)pointer;
    else
        attributes->host_pointer = (void *)(uintptr_t)pointer;
    return FPO_CUDA_OK;
}

/* Pools, advice and prefetching change nothing. */
FPO_CUDA_EXPORT int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
    *pool = fpo_cuda_gpu();
    return device == 0 ? FPO_CUDA_OK : FPO_CUDA_INVALID_DEVICE;
}

FPO_CUDA_EXPORT int cudaDeviceGetMemPool(void **pool, int device)
{
    return cudaDeviceGetDefaultMemPool(pool, device);
}

FPO_CUDA_EXPORT int cudaMemPoolSetAttribute(void *pool, int attribute, void *value)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaMemPoolTrimTo(void *pool, size_t kept)
{
    return FPO_CUDA_OK;
}

/* The driver: a device pointer is an integer of 64 bits. */
static void *pointer_of(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

FPO_CUDA_EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    void *pointer = NULL;
    if (bytes == 0)
        return FPO_CUDA_INVALID_VALUE;
    int code = allocate(&pointer, bytes);
    *address = (uint64_t)(uintptr_t)pointer;
    return code;
}

FPO_CUDA_EXPORT int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream)
{
    return cuMemAlloc_v2(address, bytes);
}

FPO_CUDA_EXPORT int cuMemAllocManaged(uint64_t *address, size_t bytes, unsigned flags)
{
    return cuMemAlloc_v2(address, bytes);
}

FPO_CUDA_EXPORT int cuMemFree_v2(uint64_t address)
{
    return release(pointer_of(address));
}

FPO_CUDA_EXPORT int cuMemFreeAsync(uint64_t address, void *stream)
{
    return release(pointer_of(address));
}

FPO_CUDA_EXPORT int cuMemAllocHost_v2(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes);
}

FPO_CUDA_EXPORT int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    return allocate(pointer, bytes);
}

FPO_CUDA_EXPORT int cuMemFreeHost(void *pointer)
{
    return release(pointer);
}

FPO_CUDA_EXPORT int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
    return cudaHostRegister(pointer, bytes, flags);
}

FPO_CUDA_EXPORT int cuMemHostUnregister(void *pointer)
{
    return release(pointer);
}

FPO_CUDA_EXPORT int cuMemHostGetDevicePointer_v2(uint64_t *address, void *host, unsigned flags)
{
    *address = (uint64_t)(uintptr_t)host;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuMemGetInfo_v2(size_t *available, size_t *total)
{
    return cudaMemGetInfo(available, total);
}

FPO_CUDA_EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    return copy(pointer_of(to), from, bytes, TO_DEVICE);
}

FPO_CUDA_EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    return copy(to, pointer_of(from), bytes, TO_HOST);
}

FPO_CUDA_EXPORT int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes)
{
    return copy(pointer_of(to), pointer_of(from), bytes, ON_DEVICE);
}

FPO_CUDA_EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    return cuMemcpyHtoD_v2(to, from, bytes);
}

FPO_CUDA_EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    return cuMemcpyDtoH_v2(to, from, bytes);
}

FPO_CUDA_EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    return cuMemcpyDtoD_v2(to, from, bytes);
}

FPO_CUDA_EXPORT int cuMemcpy(uint64_t to, uint64_t from, size_t bytes)
{
    return copy(pointer_of(to), pointer_of(from), bytes, 4);
}

FPO_CUDA_EXPORT int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    return cuMemcpy(to, from, bytes);
}

FPO_CUDA_EXPORT int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t count)
{
    return fill(pointer_of(to), value, 1, count);
}

FPO_CUDA_EXPORT int cuMemsetD16_v2(uint64_t to, unsigned short value, size_t count)
{
    return fill(pointer_of(to), value, 2, count);
}

FPO_CUDA_EXPORT int cuMemsetD32_v2(uint64_t to, unsigned value, size_t count)
{
    return fill(pointer_of(to), value, 4, count);
}

FPO_CUDA_EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, void *stream)
{
    return cuMemsetD8_v2(to, value, count);
}

FPO_CUDA_EXPORT int cuMemsetD16Async(uint64_t to, unsigned short value, size_t count, void *stream)
{
    return cuMemsetD16_v2(to, value, count);
}

FPO_CUDA_EXPORT int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream)
{
    return cuMemsetD32_v2(to, value, count);
}

/* CU_POINTER_ATTRIBUTE_...: 1 context, 2 memory type, 3 and 4 pointers, 9 device. */
FPO_CUDA_EXPORT int cuPointerGetAttribute(void *data, int attribute, uint64_t address)
{
    if (!is_device(pointer_of(address), 1))
        return FPO_CUDA_INVALID_VALUE;
    switch (attribute) {
    case 1: *(void **)data = fpo_cuda_gpu(); return FPO_CUDA_OK;
    case 2: *(unsigned *)data = 2; return FPO_CUDA_OK;
    case 3:
    case 4: *(uint64_t *)data = address; return FPO_CUDA_OK;
    case 9: *(int *)data = 0; return FPO_CUDA_OK;
    default: return FPO_CUDA_NOT_SUPPORTED;
    }
}

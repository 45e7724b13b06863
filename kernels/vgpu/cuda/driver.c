/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The CUDA driver functions that loaders of PTX call (Triton, adapters), on the virtual GPU. A device pointer is an
 * integer of 64 bits; contexts and streams are names. Signatures: CUDA 13.0's cuda.h. */
#include "standin.h"

#include <stdio.h>
#include <string.h>

FPO_CUDA_EXPORT int cuInit(unsigned flags)
{
    (void)flags;
    return fpo_cuda_gpu() != NULL ? FPO_CUDA_OK : 100; /* CUDA_ERROR_NO_DEVICE */
}

FPO_CUDA_EXPORT int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuDeviceGet(int *device, int ordinal)
{
    *device = 0;
    return ordinal == 0 ? FPO_CUDA_OK : 101;
}

FPO_CUDA_EXPORT int cuDeviceGetCount(int *count)
{
    *count = 1;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuDeviceGetName(char *name, int length, int device)
{
    (void)device;
    fpo_vgpu *gpu = fpo_cuda_gpu();
    snprintf(name, length > 0 ? (size_t)length : 0, "fp4oracle VIRTUAL SM%d",
             gpu != NULL ? fpo_vgpu_configuration(gpu)->capability : 0);
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    return fpo_cuda_attribute(attribute, value);
}

FPO_CUDA_EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = fpo_cuda_gpu();
    return device == 0 ? FPO_CUDA_OK : 101;
}

FPO_CUDA_EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuCtxSetCurrent(void *context)
{
    (void)context;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuCtxGetCurrent(void **context)
{
    *context = fpo_cuda_gpu();
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuCtxGetDevice(int *device)
{
    *device = 0;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuCtxSynchronize(void)
{
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cuStreamSynchronize(void *stream)
{
    (void)stream;
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cuModuleLoadData(void **module, const void *image)
{
    fpo_cuda_lock();
    *module = fpo_cuda_module_new(image, false);
    fpo_cuda_unlock();
    return *module != NULL ? FPO_CUDA_OK : FPO_CUDA_INVALID_IMAGE;
}

FPO_CUDA_EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values)
{
    (void)count, (void)options, (void)values;
    return cuModuleLoadData(module, image);
}

FPO_CUDA_EXPORT int cuModuleUnload(void *module)
{
    (void)module; /* modules live as long as the process */
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
    fpo_cuda_lock();
    *function = fpo_cuda_kernel_get(module, name);
    fpo_cuda_unlock();
    return *function != NULL ? FPO_CUDA_OK : FPO_CUDA_NOT_FOUND;
}

FPO_CUDA_EXPORT int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name)
{
    size_t size = 0;
    fpo_cuda_lock();
    void *variable = fpo_cuda_global(module, name, &size);
    fpo_cuda_unlock();
    if (address != NULL)
        *address = (uint64_t)(uintptr_t)variable;
    if (bytes != NULL)
        *bytes = size;
    return variable != NULL ? FPO_CUDA_OK : FPO_CUDA_NOT_FOUND;
}

FPO_CUDA_EXPORT int cuFuncSetAttribute(void *function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return FPO_CUDA_OK;
}

/* `extra` is a list: 1, buffer, 2, size, 0. */
FPO_CUDA_EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
    (void)stream;
    const void *packed = NULL;
    for (; arguments == NULL && extra != NULL && extra[0] != NULL; extra += 2)
        if (extra[0] == (void *)1)
            packed = extra[1];
    if (function == NULL)
        return FPO_CUDA_INVALID_HANDLE;
    fpo_cuda_lock();
    int code = fpo_cuda_launch(function, (fpo_cuda_dim3){gx, gy, gz}, (fpo_cuda_dim3){bx, by, bz}, shared, NULL,
                               arguments, packed);
    fpo_cuda_unlock();
    return code;
}

typedef struct driver_attribute {
    int id;
    char padding[4];
    unsigned value[16];
} driver_attribute;

typedef struct driver_config {
    unsigned gx, gy, gz, bx, by, bz, shared;
    void *stream;
    const driver_attribute *attributes;
    unsigned attribute_count;
} driver_config;

enum { ATTRIBUTE_CLUSTER = 4 };

FPO_CUDA_EXPORT int cuLaunchKernelEx(const driver_config *config, void *function, void **arguments, void **extra)
{
    (void)extra;
    const unsigned *cluster = NULL;
    for (unsigned i = 0; i < config->attribute_count; i++)
        if (config->attributes[i].id == ATTRIBUTE_CLUSTER)
            cluster = config->attributes[i].value;
    if (function == NULL)
        return FPO_CUDA_INVALID_HANDLE;
    fpo_cuda_lock();
    int code =
        fpo_cuda_launch(function, (fpo_cuda_dim3){config->gx, config->gy, config->gz},
                        (fpo_cuda_dim3){config->bx, config->by, config->bz}, config->shared, cluster, arguments, NULL);
    fpo_cuda_unlock();
    return code;
}

FPO_CUDA_EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    void *pointer;
    fpo_cuda_lock();
    int code = fpo_cuda_allocate(&pointer, bytes);
    fpo_cuda_unlock();
    *address = (uint64_t)(uintptr_t)pointer;
    return code;
}

FPO_CUDA_EXPORT int cuMemFree_v2(uint64_t address)
{
    fpo_cuda_lock();
    int code = fpo_cuda_release((void *)(uintptr_t)address);
    fpo_cuda_unlock();
    return code;
}

FPO_CUDA_EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    memmove((void *)(uintptr_t)to, from, bytes);
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    memmove(to, (const void *)(uintptr_t)from, bytes);
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes)
{
    return cuMemcpyHtoD_v2(to, (const void *)(uintptr_t)from, bytes);
}

FPO_CUDA_EXPORT int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes)
{
    memset((void *)(uintptr_t)to, value, bytes);
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cuGetErrorString(int code, const char **text)
{
    *text = fpo_cuda_message(code);
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuGetErrorName(int code, const char **text)
{
    *text = code == 0 ? "CUDA_SUCCESS" : code == FPO_CUDA_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR";
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                                           const unsigned long long *dim, const unsigned long long *stride,
                                           const unsigned *box, const unsigned *element_stride, int interleave,
                                           int swizzle, int l2_promotion, int fill)
{
    return fpo_cuda_encode_tiled(map, type, rank, address, dim, stride, box, element_stride, interleave, swizzle,
                                 l2_promotion, fill);
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The CUDA driver functions that loaders of PTX call (Triton, adapters), on the virtual GPU: devices, contexts,
 * launches. Contexts are names. Signatures: CUDA 13.0's cuda.h. */
#include "standin.h"

#include <stdio.h>
#include <string.h>

FPO_CUDA_EXPORT int cuInit(unsigned flags)
{
    return fpo_cuda_gpu() != NULL ? FPO_CUDA_OK : FPO_CUDA_NO_DEVICE;
}

FPO_CUDA_EXPORT int cuDriverGetVersion(int *version)
{
    *version = FPO_CUDA_VERSION;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuDeviceGet(int *device, int ordinal)
{
    *device = 0;
    return ordinal == 0 ? FPO_CUDA_OK : FPO_CUDA_INVALID_DEVICE;
}

FPO_CUDA_EXPORT int cuDeviceGetCount(int *count)
{
    *count = 1;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuDeviceGetName(char *name, int length, int device)
{
    fpo_cuda_name(name, length > 0 ? (size_t)length : 0);
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = fpo_cuda_total_memory();
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuDeviceGetUuid_v2(void *uuid, int device)
{
    memset(uuid, 0, 16);
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuDeviceGetUuid(void *uuid, int device)
{
    return cuDeviceGetUuid_v2(uuid, device);
}

FPO_CUDA_EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = fpo_cuda_gpu();
    return device == 0 ? FPO_CUDA_OK : FPO_CUDA_INVALID_DEVICE;
}

FPO_CUDA_EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuDevicePrimaryCtxReset_v2(int device)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = 1;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    return cuDevicePrimaryCtxRetain(context, device);
}

FPO_CUDA_EXPORT int cuCtxCreate_v4(void **context, void *parameters, unsigned flags, int device)
{
    return cuDevicePrimaryCtxRetain(context, device);
}

FPO_CUDA_EXPORT int cuCtxDestroy_v2(void *context)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuCtxSetCurrent(void *context)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuCtxPushCurrent_v2(void *context)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuCtxPopCurrent_v2(void **context)
{
    *context = fpo_cuda_gpu();
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

/* `extra` is a list: 1, buffer, 2, size, 0. */
static const void *packed_parameters(void **arguments, void **extra)
{
    for (; arguments == NULL && extra != NULL && extra[0] != NULL; extra += 2)
        if (extra[0] == (void *)1)
            return extra[1];
    return NULL;
}

static int launch(void *function, fpo_cuda_dim3 grid, fpo_cuda_dim3 block, unsigned shared, const unsigned *cluster,
                  void **arguments, void **extra)
{
    if (function == NULL)
        return FPO_CUDA_INVALID_HANDLE;
    fpo_cuda_lock();
    int code = fpo_cuda_launch(function, grid, block, shared, cluster, arguments, packed_parameters(arguments, extra));
    fpo_cuda_unlock();
    return code;
}

FPO_CUDA_EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
    return launch(function, (fpo_cuda_dim3){gx, gy, gz}, (fpo_cuda_dim3){bx, by, bz}, shared, NULL, arguments, extra);
}

FPO_CUDA_EXPORT int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                              unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments)
{
    return launch(function, (fpo_cuda_dim3){gx, gy, gz}, (fpo_cuda_dim3){bx, by, bz}, shared, NULL, arguments, NULL);
}

typedef struct driver_config {
    fpo_cuda_dim3 grid, block;
    unsigned shared;
    void *stream;
    const fpo_cuda_attribute_value *attributes;
    unsigned attribute_count;
} driver_config;

FPO_CUDA_EXPORT int cuLaunchKernelEx(const driver_config *c, void *function, void **arguments, void **extra)
{
    return launch(function, c->grid, c->block, c->shared, fpo_cuda_cluster(c->attributes, c->attribute_count),
                  arguments, extra);
}

FPO_CUDA_EXPORT int cuOccupancyMaxActiveClusters(int *count, void *function, const driver_config *c)
{
    return fpo_cuda_resident_clusters(fpo_cuda_cluster(c->attributes, c->attribute_count), count);
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

FPO_CUDA_EXPORT int cuTensorMapReplaceAddress(void *map, void *address)
{
    memcpy(map, &address, sizeof address); /* the map's first word */
    return FPO_CUDA_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the runtime and the driver say of kernels, and what a launch asks for. */
#include "standin.h"

#include <string.h>

enum { ATTRIBUTE_CLUSTER = 4, LARGEST_CLUSTER = 8 };

const unsigned *fpo_cuda_cluster(const fpo_cuda_attribute_value *attributes, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (attributes[i].id == ATTRIBUTE_CLUSTER)
            return attributes[i].value;
    return NULL;
}

/* One where the CTA fits at all: what is resident together decides which CTAs may wait for each other, and the machine
 * keeps one CTA a multiprocessor. */
int fpo_cuda_resident_ctas(fpo_cuda_kernel *kernel, int threads, size_t shared, int *count)
{
    fpo_vgpu_function_info info;
    int code = kernel != NULL ? fpo_cuda_describe(kernel, &info) : FPO_CUDA_RUNTIME_INVALID_FUNCTION, most = 0;
    if (code != FPO_CUDA_OK)
        return code;
    fpo_cuda_attribute(97, &most);
    bool fits = info.shared_bytes + shared <= (size_t)most && threads <= 1024 &&
                (info.max_threads == 0 || (uint32_t)threads <= info.max_threads);
    *count = fits;
    return FPO_CUDA_OK;
}

int fpo_cuda_resident_clusters(const unsigned *cluster, int *count)
{
    int sms = 0;
    int code = fpo_cuda_attribute(16, &sms);
    unsigned size = cluster != NULL ? cluster[0] * cluster[1] * cluster[2] : 1;
    *count = size == 0 || (unsigned)sms < size ? 1 : sms / (int)size;
    return code;
}

/* CU_FUNC_ATTRIBUTE_...: 0 threads, 1 shared, 2 constant, 3 local bytes, 4 registers, 5 PTX and 6 binary version,
 * 8 dynamic shared bytes, 10 cluster required, 11 to 13 its shape. */
int fpo_cuda_function_attribute(fpo_cuda_kernel *kernel, int attribute, int *value)
{
    fpo_vgpu_function_info info;
    int code = kernel != NULL ? fpo_cuda_describe(kernel, &info) : FPO_CUDA_INVALID_HANDLE;
    if (code != FPO_CUDA_OK)
        return code;
    int most = 0;
    fpo_cuda_attribute(97, &most);
    int capability = fpo_vgpu_configuration(fpo_cuda_gpu())->capability;
    switch (attribute) {
    case 0: *value = info.max_threads != 0 ? (int)info.max_threads : 1024; break;
    case 1: *value = (int)info.shared_bytes; break;
    case 3: *value = (int)info.local_bytes; break;
    case 4: *value = 255; break; /* PTX has no registers of the machine: the most there can be */
    case 5:
    case 6: *value = capability; break;
    case 8: *value = most - (int)info.shared_bytes; break;
    case 10: *value = info.cluster[0] != 0; break;
    case 11:
    case 12:
    case 13: *value = (int)info.cluster[attribute - 11]; break;
    default: *value = 0;
    }
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function)
{
    return fpo_cuda_function_attribute(function, attribute, value);
}

FPO_CUDA_EXPORT int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device)
{
    return fpo_cuda_function_attribute(kernel, attribute, value);
}

FPO_CUDA_EXPORT int _cuKernelGetAttribute(int *value, int attribute, void *kernel, int device)
{
    return fpo_cuda_function_attribute(kernel, attribute, value);
}

/* A launch checks its shared memory itself; nothing else that can be set changes a result. */
FPO_CUDA_EXPORT int cuFuncSetAttribute(void *function, int attribute, int value)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuKernelSetAttribute(int attribute, int value, void *kernel, int device)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int _cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuFuncSetCacheConfig(void *function, int config)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuFuncGetName(const char **name, void *function)
{
    *name = fpo_cuda_is_kernel(function) ? fpo_cuda_kernel_name(function) : NULL;
    return *name != NULL ? FPO_CUDA_OK : FPO_CUDA_INVALID_HANDLE;
}

FPO_CUDA_EXPORT int cuFuncGetModule(void **module, void *function)
{
    *module = fpo_cuda_is_kernel(function) ? fpo_cuda_kernel_module(function) : NULL;
    return *module != NULL ? FPO_CUDA_OK : FPO_CUDA_INVALID_HANDLE;
}

FPO_CUDA_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, void *function, int threads, size_t shared)
{
    return fpo_cuda_resident_ctas(function, threads, shared, count);
}

FPO_CUDA_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, void *function, int threads,
                                                                         size_t shared, unsigned flags)
{
    return fpo_cuda_resident_ctas(function, threads, shared, count);
}

FPO_CUDA_EXPORT int cuOccupancyMaxPotentialClusterSize(int *size, void *function, const void *config)
{
    *size = LARGEST_CLUSTER;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaOccupancyMaxPotentialClusterSize(int *size, const void *host, const void *config)
{
    *size = LARGEST_CLUSTER;
    return FPO_CUDA_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The CUDA runtime functions that host code of kernel libraries calls, on the virtual GPU. Work is done when it is
 * asked for, so that streams have nothing to order. Signatures: CUDA 13.0's cuda_runtime_api.h and crt/host_runtime.h.
 */
#include "standin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Host symbols of kernels and variables, as the compiler's start-up code registers them. */
typedef struct registered {
    struct registered *next;
    const void *host;
    fpo_cuda_module *module;
    char *name;
} registered;

/* One pending <<< >>> configuration a thread. */
typedef struct call_configuration {
    fpo_cuda_dim3 grid, block;
    size_t shared;
    void *stream;
} call_configuration;

typedef struct launch_config {
    fpo_cuda_dim3 grid, block;
    size_t shared;
    void *stream;
    const fpo_cuda_attribute_value *attributes;
    unsigned attribute_count;
} launch_config;

static registered *symbols;
static _Thread_local call_configuration pending;

static void register_symbol(void **handle, const void *host, const char *name)
{
    fpo_cuda_lock();
    registered *r = *handle != NULL ? calloc(1, sizeof *r) : NULL;
    if (r != NULL) {
        *r = (registered){symbols, host, *handle, strdup(name)};
        symbols = r;
    }
    fpo_cuda_unlock();
}

static const registered *find_symbol(const void *host)
{
    for (const registered *r = symbols; r != NULL; r = r->next)
        if (r->host == host && r->name != NULL)
            return r;
    return NULL;
}

/* A kernel by its host function, or by a handle of ours (cudaLibraryGetKernel, __cudaGetKernel). */
static fpo_cuda_kernel *find_kernel(const void *host)
{
    if (fpo_cuda_is_kernel(host))
        return (fpo_cuda_kernel *)(uintptr_t)host;
    const registered *r = find_symbol(host);
    return r != NULL ? fpo_cuda_kernel_get(r->module, r->name) : NULL;
}

/* The wrapper that nvcc makes: magic, version, the container. */
FPO_CUDA_EXPORT void **__cudaRegisterFatBinary(const void *wrapper)
{
    const void *image;
    memcpy(&image, (const char *)wrapper + 8, sizeof image);
    void **handle = calloc(1, sizeof *handle);
    fpo_cuda_lock();
    if (handle != NULL)
        *handle = fpo_cuda_module_new(image, true);
    fpo_cuda_unlock();
    return handle;
}

FPO_CUDA_EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
}

FPO_CUDA_EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle; /* modules live as long as the process */
}

FPO_CUDA_EXPORT char __cudaInitModule(void **handle)
{
    return 1;
}

FPO_CUDA_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                            int threads, void *tid, void *bid, void *block, void *grid, int *warp)
{
    register_symbol(handle, host, name);
}

FPO_CUDA_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                                       size_t size, int constant, int global)
{
    register_symbol(handle, host, name);
}

FPO_CUDA_EXPORT unsigned __cudaPushCallConfiguration(fpo_cuda_dim3 grid, fpo_cuda_dim3 block, size_t shared,
                                                     void *stream)
{
    pending = (call_configuration){grid, block, shared, stream};
    return 0;
}

FPO_CUDA_EXPORT int __cudaPopCallConfiguration(fpo_cuda_dim3 *grid, fpo_cuda_dim3 *block, size_t *shared, void *stream)
{
    *grid = pending.grid;
    *block = pending.block;
    *shared = pending.shared;
    memcpy(stream, &pending.stream, sizeof pending.stream);
    return FPO_CUDA_OK;
}

/* Why a host function has no kernel. */
static int no_kernel(const void *host)
{
    char message[256];
    const registered *r = host != NULL ? find_symbol(host) : NULL;
    if (r != NULL)
        snprintf(message, sizeof message, "a kernel is launched that the PTX which was loaded does not have: %.160s",
                 r->name);
    else
        snprintf(message, sizeof message, "a kernel is launched whose PTX was not loaded");
    return fpo_cuda_fail(FPO_CUDA_RUNTIME_INVALID_FUNCTION, message);
}

FPO_CUDA_EXPORT int __cudaGetKernel(void **kernel, const void *host)
{
    fpo_cuda_lock();
    *kernel = find_kernel(host);
    int code = *kernel != NULL ? FPO_CUDA_OK : no_kernel(host);
    fpo_cuda_unlock();
    return code;
}

static int launch(const void *host, fpo_cuda_kernel *kernel, fpo_cuda_dim3 grid, fpo_cuda_dim3 block, void **arguments,
                  size_t shared, const unsigned *cluster)
{
    fpo_cuda_lock();
    int code = kernel != NULL ? fpo_cuda_launch(kernel, grid, block, (unsigned)shared, cluster, arguments, NULL)
                              : no_kernel(host);
    fpo_cuda_unlock();
    return code;
}

FPO_CUDA_EXPORT int __cudaLaunchKernel(void *kernel, fpo_cuda_dim3 grid, fpo_cuda_dim3 block, void **arguments,
                                       size_t shared, void *stream)
{
    return launch(NULL, kernel, grid, block, arguments, shared, NULL);
}

FPO_CUDA_EXPORT int cudaLaunchKernel(const void *host, fpo_cuda_dim3 grid, fpo_cuda_dim3 block, void **arguments,
                                     size_t shared, void *stream)
{
    return launch(host, find_kernel(host), grid, block, arguments, shared, NULL);
}

FPO_CUDA_EXPORT int cudaLaunchCooperativeKernel(const void *host, fpo_cuda_dim3 grid, fpo_cuda_dim3 block,
                                                void **arguments, size_t shared, void *stream)
{
    return launch(host, find_kernel(host), grid, block, arguments, shared, NULL);
}

FPO_CUDA_EXPORT int cudaLaunchKernelExC(const launch_config *c, const void *host, void **arguments)
{
    return launch(host, find_kernel(host), c->grid, c->block, arguments, c->shared,
                  fpo_cuda_cluster(c->attributes, c->attribute_count));
}

FPO_CUDA_EXPORT int _cudaLaunchKernelEx(const launch_config *c, void *kernel, void **arguments)
{
    return cudaLaunchKernelExC(c, kernel, arguments);
}

FPO_CUDA_EXPORT int cudaFuncSetAttribute(const void *host, int attribute, int value)
{
    return FPO_CUDA_OK; /* a launch checks its shared memory itself */
}

FPO_CUDA_EXPORT int _cudaFuncSetAttribute(const void *host, int attribute, int value)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaFuncSetCacheConfig(const void *host, int config)
{
    return FPO_CUDA_OK;
}

/* struct cudaFuncAttributes, the same in CUDA 12 and 13. */
typedef struct function_attributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic_shared, carveout, must_have_cluster, cluster[3], scheduling,
        non_portable;
    int reserved[16];
} function_attributes;
_Static_assert(sizeof(function_attributes) == 144, "the layout of CUDA 13.0");

FPO_CUDA_EXPORT int cudaFuncGetAttributes(function_attributes *a, const void *host)
{
    fpo_cuda_lock();
    fpo_cuda_kernel *kernel = find_kernel(host);
    *a = (function_attributes){0};
    int shared = 0, local = 0, code = FPO_CUDA_RUNTIME_INVALID_FUNCTION;
    if (kernel != NULL) {
        code = fpo_cuda_function_attribute(kernel, 1, &shared);
        fpo_cuda_function_attribute(kernel, 3, &local);
        fpo_cuda_function_attribute(kernel, 0, &a->threads);
        fpo_cuda_function_attribute(kernel, 4, &a->registers);
        fpo_cuda_function_attribute(kernel, 5, &a->ptx);
        fpo_cuda_function_attribute(kernel, 6, &a->binary);
        fpo_cuda_function_attribute(kernel, 8, &a->dynamic_shared);
        fpo_cuda_function_attribute(kernel, 10, &a->must_have_cluster);
        for (int i = 0; i < 3; i++)
            fpo_cuda_function_attribute(kernel, 11 + i, &a->cluster[i]);
    }
    fpo_cuda_unlock();
    a->shared = (size_t)shared;
    a->local = (size_t)local;
    return code;
}

/* Handles of a kernel. */
FPO_CUDA_EXPORT int cudaGetKernel(void **kernel, const void *host)
{
    return __cudaGetKernel(kernel, host);
}

FPO_CUDA_EXPORT int cudaGetFuncBySymbol(void **function, const void *host)
{
    return __cudaGetKernel(function, host);
}

FPO_CUDA_EXPORT int cudaFuncGetName(const char **name, const void *host)
{
    const fpo_cuda_kernel *kernel = find_kernel(host);
    *name = kernel != NULL ? fpo_cuda_kernel_name(kernel) : NULL;
    return kernel != NULL ? FPO_CUDA_OK : FPO_CUDA_RUNTIME_INVALID_FUNCTION;
}

static void *find_variable(const void *host, size_t *bytes)
{
    fpo_cuda_lock();
    const registered *r = find_symbol(host);
    void *address = r != NULL ? fpo_cuda_global(r->module, r->name, bytes) : NULL;
    fpo_cuda_unlock();
    return address;
}

FPO_CUDA_EXPORT int cudaGetSymbolAddress(void **address, const void *host)
{
    size_t bytes;
    *address = find_variable(host, &bytes);
    return *address != NULL ? FPO_CUDA_OK : FPO_CUDA_INVALID_VALUE;
}

FPO_CUDA_EXPORT int cudaGetSymbolSize(size_t *bytes, const void *host)
{
    return find_variable(host, bytes) != NULL ? FPO_CUDA_OK : FPO_CUDA_INVALID_VALUE;
}

static int copy_symbol(const void *host, size_t offset, size_t bytes, void *to, const void *from)
{
    size_t size = 0;
    uint8_t *variable = find_variable(host, &size);
    if (variable == NULL || offset > size || bytes > size - offset)
        return fpo_cuda_fail(FPO_CUDA_INVALID_VALUE, "a copy beyond a variable of the device");
    memmove(to != NULL ? to : variable + offset, from != NULL ? from : variable + offset, bytes);
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cudaMemcpyToSymbol(const void *host, const void *from, size_t bytes, size_t offset, int kind)
{
    return copy_symbol(host, offset, bytes, NULL, from);
}

FPO_CUDA_EXPORT int cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t bytes, size_t offset, int kind,
                                            void *stream)
{
    return copy_symbol(host, offset, bytes, NULL, from);
}

FPO_CUDA_EXPORT int cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t offset, int kind)
{
    return copy_symbol(host, offset, bytes, to, NULL);
}

FPO_CUDA_EXPORT int cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t bytes, size_t offset, int kind,
                                              void *stream)
{
    return copy_symbol(host, offset, bytes, to, NULL);
}

FPO_CUDA_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *host, int threads,
                                                                  size_t shared)
{
    fpo_cuda_lock();
    int code = fpo_cuda_resident_ctas(find_kernel(host), threads, shared, count);
    fpo_cuda_unlock();
    return code;
}

FPO_CUDA_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, const void *host, int threads,
                                                                           size_t shared, unsigned flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, host, threads, shared);
}

FPO_CUDA_EXPORT int cudaOccupancyMaxActiveClusters(int *count, const void *host, const launch_config *c)
{
    return fpo_cuda_resident_clusters(fpo_cuda_cluster(c->attributes, c->attribute_count), count);
}

FPO_CUDA_EXPORT int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int threads)
{
    function_attributes a;
    int code = cudaFuncGetAttributes(&a, host);
    *bytes = (size_t)a.dynamic_shared;
    return code;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The CUDA runtime functions that host code of kernel libraries calls, on the virtual GPU. Work is done when it is
 * asked for, so that streams have nothing to order. Signatures: CUDA 13.0's cuda_runtime_api.h and crt/host_runtime.h.
 */
#include "standin.h"

#include <pthread.h>
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

typedef struct launch_attribute {
    int id;
    char padding[4];
    unsigned value[16];
} launch_attribute;

typedef struct launch_config {
    fpo_cuda_dim3 grid, block;
    size_t shared;
    void *stream;
    const launch_attribute *attributes;
    unsigned attribute_count;
} launch_config;

enum { ATTRIBUTE_CLUSTER = 4 };

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

/* A kernel by its host function; a handle from __cudaGetKernel is one of our own and is taken as it is. */
static fpo_cuda_kernel *find_kernel(const void *host)
{
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
    (void)handle;
}

FPO_CUDA_EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle; /* modules live as long as the process */
}

FPO_CUDA_EXPORT char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

FPO_CUDA_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                            int threads, void *tid, void *bid, void *block, void *grid, int *warp)
{
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    register_symbol(handle, host, name);
}

FPO_CUDA_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                                       size_t size, int constant, int global)
{
    (void)device, (void)external, (void)size, (void)constant, (void)global;
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

FPO_CUDA_EXPORT int __cudaGetKernel(void **kernel, const void *host)
{
    fpo_cuda_lock();
    *kernel = find_kernel(host);
    fpo_cuda_unlock();
    return *kernel != NULL ? FPO_CUDA_OK : FPO_CUDA_RUNTIME_INVALID_FUNCTION;
}

static int launch(fpo_cuda_kernel *kernel, fpo_cuda_dim3 grid, fpo_cuda_dim3 block, void **arguments, size_t shared,
                  const unsigned *cluster)
{
    fpo_cuda_lock();
    int code = kernel != NULL
                   ? fpo_cuda_launch(kernel, grid, block, (unsigned)shared, cluster, arguments, NULL)
                   : fpo_cuda_fail(FPO_CUDA_RUNTIME_INVALID_FUNCTION, "a kernel is launched whose PTX was not loaded");
    fpo_cuda_unlock();
    return code;
}

FPO_CUDA_EXPORT int __cudaLaunchKernel(void *kernel, fpo_cuda_dim3 grid, fpo_cuda_dim3 block, void **arguments,
                                       size_t shared, void *stream)
{
    (void)stream;
    return launch(kernel, grid, block, arguments, shared, NULL);
}

FPO_CUDA_EXPORT int cudaLaunchKernel(const void *host, fpo_cuda_dim3 grid, fpo_cuda_dim3 block, void **arguments,
                                     size_t shared, void *stream)
{
    (void)stream;
    return launch(find_kernel(host), grid, block, arguments, shared, NULL);
}

FPO_CUDA_EXPORT int cudaLaunchKernelExC(const launch_config *config, const void *host, void **arguments)
{
    const unsigned *cluster = NULL;
    for (unsigned i = 0; i < config->attribute_count; i++)
        if (config->attributes[i].id == ATTRIBUTE_CLUSTER)
            cluster = config->attributes[i].value;
    return launch(find_kernel(host), config->grid, config->block, arguments, config->shared, cluster);
}

FPO_CUDA_EXPORT int cudaFuncSetAttribute(const void *host, int attribute, int value)
{
    (void)host, (void)attribute, (void)value; /* a launch checks its shared memory itself */
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaGetSymbolAddress(void **address, const void *host)
{
    fpo_cuda_lock();
    const registered *r = find_symbol(host);
    size_t bytes;
    *address = r != NULL ? fpo_cuda_global(r->module, r->name, &bytes) : NULL;
    fpo_cuda_unlock();
    return *address != NULL ? FPO_CUDA_OK : FPO_CUDA_INVALID_VALUE;
}

FPO_CUDA_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *host, int threads,
                                                                  size_t shared)
{
    (void)host, (void)threads, (void)shared;
    *count = 1;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, const void *host, int threads,
                                                                           size_t shared, unsigned flags)
{
    (void)flags;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, host, threads, shared);
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Modules and libraries, which are the same here: PTX text or a fat binary. They live as long as the process. */
#include "standin.h"

#include <stdlib.h>

static int load(void **module, const void *image)
{
    if (image == NULL)
        return FPO_CUDA_INVALID_VALUE;
    fpo_cuda_lock();
    *module = fpo_cuda_module_new(image, false);
    fpo_cuda_unlock();
    return *module != NULL ? FPO_CUDA_OK : FPO_CUDA_INVALID_IMAGE;
}

static int find_kernel(void **kernel, void *module, const char *name)
{
    fpo_cuda_lock();
    *kernel = module != NULL ? fpo_cuda_kernel_get(module, name) : NULL;
    fpo_cuda_unlock();
    return *kernel != NULL ? FPO_CUDA_OK : FPO_CUDA_NOT_FOUND;
}

static int find_global(void **address, size_t *bytes, void *module, const char *name)
{
    size_t size = 0;
    fpo_cuda_lock();
    void *variable = fpo_cuda_global(module, name, &size);
    fpo_cuda_unlock();
    if (address != NULL)
        *address = variable;
    if (bytes != NULL)
        *bytes = size;
    return variable != NULL ? FPO_CUDA_OK : FPO_CUDA_NOT_FOUND;
}

static int list_kernels(void **kernels, unsigned most, void *module)
{
    fpo_cuda_lock();
    for (unsigned i = 0; i < most; i++)
        kernels[i] = fpo_cuda_kernel_at(module, i);
    fpo_cuda_unlock();
    return FPO_CUDA_OK;
}

static int count_kernels(unsigned *count, void *module)
{
    fpo_cuda_lock();
    for (*count = 0; fpo_cuda_kernel_at(module, *count) != NULL; ++*count) {
    }
    fpo_cuda_unlock();
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuModuleLoadData(void **module, const void *image)
{
    return load(module, image);
}

FPO_CUDA_EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values)
{
    return load(module, image);
}

FPO_CUDA_EXPORT int cuModuleLoadFatBinary(void **module, const void *image)
{
    return load(module, image);
}

FPO_CUDA_EXPORT int cuModuleUnload(void *module)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuModuleGetLoadingMode(int *mode)
{
    *mode = 2; /* lazy: a kernel is decoded when it is launched first */
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
    return find_kernel(function, module, name);
}

FPO_CUDA_EXPORT int cuModuleGetFunctionCount(unsigned *count, void *module)
{
    return count_kernels(count, module);
}

FPO_CUDA_EXPORT int cuModuleEnumerateFunctions(void **functions, unsigned most, void *module)
{
    return list_kernels(functions, most, module);
}

FPO_CUDA_EXPORT int cuModuleGetGlobal_v2(void **address, size_t *bytes, void *module, const char *name)
{
    return find_global(address, bytes, module, name);
}

FPO_CUDA_EXPORT int cuLibraryLoadData(void **library, const void *image, int *options, void **values, unsigned count,
                                      int *library_options, void **library_values, unsigned library_count)
{
    return load(library, image);
}

FPO_CUDA_EXPORT int cudaLibraryLoadData(void **library, const void *image, int *options, void **values, unsigned count,
                                        int *library_options, void **library_values, unsigned library_count)
{
    return load(library, image);
}

/* The names with `_` are those that objects made by the CuTe DSL call. */
FPO_CUDA_EXPORT int _cudaLibraryLoadData(void **library, const void *image, int *options, void **values, unsigned count,
                                         int *library_options, void **library_values, unsigned library_count)
{
    return load(library, image);
}

FPO_CUDA_EXPORT int cuLibraryUnload(void *library)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaLibraryUnload(void *library)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int _cudaLibraryUnload(void *library)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
    return find_kernel(kernel, library, name);
}

FPO_CUDA_EXPORT int cudaLibraryGetKernel(void **kernel, void *library, const char *name)
{
    return find_kernel(kernel, library, name);
}

FPO_CUDA_EXPORT int _cudaLibraryGetKernel(void **kernel, void *library, const char *name)
{
    return find_kernel(kernel, library, name);
}

FPO_CUDA_EXPORT int cuLibraryGetModule(void **module, void *library)
{
    *module = library;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuLibraryGetKernelCount(unsigned *count, void *library)
{
    return count_kernels(count, library);
}

FPO_CUDA_EXPORT int cudaLibraryGetKernelCount(unsigned *count, void *library)
{
    return count_kernels(count, library);
}

FPO_CUDA_EXPORT int cuLibraryEnumerateKernels(void **kernels, unsigned most, void *library)
{
    return list_kernels(kernels, most, library);
}

FPO_CUDA_EXPORT int cudaLibraryEnumerateKernels(void **kernels, unsigned most, void *library)
{
    return list_kernels(kernels, most, library);
}

FPO_CUDA_EXPORT int cuLibraryGetGlobal(void **address, size_t *bytes, void *library, const char *name)
{
    return find_global(address, bytes, library, name);
}

FPO_CUDA_EXPORT int cudaLibraryGetGlobal(void **address, size_t *bytes, void *library, const char *name)
{
    return find_global(address, bytes, library, name);
}

FPO_CUDA_EXPORT int cuKernelGetFunction(void **function, void *kernel)
{
    *function = kernel;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cuKernelGetName(const char **name, void *kernel)
{
    *name = fpo_cuda_kernel_name(kernel);
    return FPO_CUDA_OK;
}

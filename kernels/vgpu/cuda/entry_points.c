/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Driver functions by name, as cudaGetDriverEntryPoint and cuGetProcAddress give them: those that this library exports,
 * with or without the version in their names. */
#include "standin.h"

#include <dlfcn.h>
#include <stdio.h>

void *fpo_cuda_entry_point(const char *name)
{
    static const char *const forms[] = {"%s_v2", "%s", "%s_v4"};
    Dl_info here;
    if (dladdr((const void *)(uintptr_t)fpo_cuda_entry_point, &here) == 0)
        return NULL;
    void *self = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    void *found = NULL;
    for (int i = 0; self != NULL && found == NULL && i < 3; i++) {
        char symbol[128];
        snprintf(symbol, sizeof symbol, forms[i], name);
        found = dlsym(self, symbol);
    }
    if (self != NULL)
        dlclose(self);
    return found;
}

/* The driver's functions by name; status: cudaDriverEntryPointQueryResult. */
FPO_CUDA_EXPORT int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                                     unsigned long long flags, int *status)
{
    *function = fpo_cuda_entry_point(name);
    if (status != NULL)
        *status = *function != NULL ? 0 : 1;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *status)
{
    return cudaGetDriverEntryPointByVersion(name, function, FPO_CUDA_VERSION, flags, status);
}

FPO_CUDA_EXPORT int cuGetProcAddress(const char *name, void **function, int version, unsigned long long flags)
{
    *function = fpo_cuda_entry_point(name);
    return *function != NULL ? FPO_CUDA_OK : FPO_CUDA_NOT_FOUND;
}

FPO_CUDA_EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags,
                                        int *status)
{
    *function = fpo_cuda_entry_point(name);
    if (status != NULL)
        *status = *function != NULL ? 0 : 1;
    return *function != NULL ? FPO_CUDA_OK : FPO_CUDA_NOT_FOUND;
}

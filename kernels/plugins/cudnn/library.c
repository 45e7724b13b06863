/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Opening libcudnn_graph, and its descriptors. */
#include "cudnn_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static dnn_library library;

dnn_library *dnn_open(void)
{
    if (library.file != NULL || library.missing[0] != '\0')
        return &library;
    library.file = dlopen("libcudnn_graph.so.9", RTLD_NOW | RTLD_LOCAL);
    if (library.file == NULL) {
        snprintf(library.missing, sizeof library.missing, "%s", dlerror());
        return &library;
    }
    /* ISO C has no conversion from void * to a pointer to a function. */
    void *symbol;
#define LIBRARY_FUNCTION(name)                                                                                         \
    symbol = dlsym(library.file, #name);                                                                               \
    memcpy(&library.name, &symbol, sizeof symbol);                                                                     \
    if (symbol == NULL)                                                                                                \
        snprintf(library.missing, sizeof library.missing, "libcudnn_graph.so.9 has no %s", #name);
    LIBRARY_FUNCTIONS
#undef LIBRARY_FUNCTION
    return &library;
}

fpo_plugin_status dnn_status(cudnnStatus_t status, const char *call, char *why)
{
    if (status == CUDNN_STATUS_SUCCESS)
        return FPO_PLUGIN_OK;
    char detail[256] = "";
    library.cudnnGetLastErrorString(detail, sizeof detail);
    detail[sizeof detail - 1] = '\0';
    for (char *c = detail; *c != '\0'; c++)
        *c = *c == '\n' ? ' ' : *c;
    snprintf(why, FPO_PLUGIN_TEXT, "%s: %s%s%s", call, library.cudnnGetErrorString(status),
             detail[0] != '\0' ? ": " : "", detail);
    return (int)status / 1000 == 3 ? FPO_PLUGIN_UNSUPPORTED
                                   : FPO_PLUGIN_FAILED; /* 3xxx: CUDNN_STATUS_NOT_SUPPORTED_... */
}

fpo_plugin_status dnn_handle(char *why)
{
    const dnn_library *lib = dnn_open();
    if (lib->missing[0] != '\0') {
        snprintf(why, FPO_PLUGIN_TEXT, "no cuDNN: %s", lib->missing);
        return FPO_PLUGIN_UNSUPPORTED;
    }
    return lib->handle != NULL ? FPO_PLUGIN_OK : dnn_status(lib->cudnnCreate(&library.handle), "cudnnCreate", why);
}

void dnn_release(dnn_descriptors *all)
{
    while (all->count > 0)
        library.cudnnBackendDestroyDescriptor(all->list[--all->count]);
    memset(all, 0, sizeof *all);
}

static void note(dnn_descriptors *all, cudnnStatus_t status, const char *call)
{
    if (all->status == CUDNN_STATUS_SUCCESS && status != CUDNN_STATUS_SUCCESS) {
        all->status = status;
        all->call = call;
    }
}

cudnnBackendDescriptor_t dnn_new(dnn_descriptors *all, cudnnBackendDescriptorType_t type)
{
    if (all->status != CUDNN_STATUS_SUCCESS)
        return NULL;
    if (all->count == DNN_MAX_DESCRIPTORS) {
        note(all, CUDNN_STATUS_ALLOC_FAILED, "making another descriptor");
        return NULL;
    }
    cudnnBackendDescriptor_t d = NULL;
    note(all, library.cudnnBackendCreateDescriptor(type, &d), "cudnnBackendCreateDescriptor");
    if (all->status == CUDNN_STATUS_SUCCESS)
        all->list[all->count++] = d;
    return d;
}

void dnn_set(dnn_descriptors *all, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
             cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
    if (all->status == CUDNN_STATUS_SUCCESS)
        note(all, library.cudnnBackendSetAttribute(d, name, type, count, values), "cudnnBackendSetAttribute");
}

void dnn_finalize(dnn_descriptors *all, cudnnBackendDescriptor_t d, const char *call)
{
    if (all->status == CUDNN_STATUS_SUCCESS)
        note(all, library.cudnnBackendFinalize(d), call);
}

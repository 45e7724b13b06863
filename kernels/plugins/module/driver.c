/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* libcuda.so.1 behind the plug-in ABI's memory functions. */
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* CUdevice_attribute and CUresult. */
enum { MULTIPROCESSORS = 16, COMPUTE_MAJOR = 75, COMPUTE_MINOR = 76 };
enum { OUT_OF_MEMORY = 2, FIRST_STICKY = 700, LAST_STICKY = 799 };

static fpo_driver cuda;
static int opened;

static int find_driver(void)
{
    cuda.library = cuda.library != NULL ? cuda.library : dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol = NULL;
#define DRIVER(name, text, arguments)                                                                                  \
    symbol = cuda.library != NULL ? dlsym(cuda.library, text) : NULL;                                                  \
    memcpy(&cuda.name, &symbol, sizeof symbol);
#include "driver.inc"
#undef DRIVER
    return cuda.launch != NULL;
}

const fpo_driver *fpo_driver_functions(void)
{
    return &cuda;
}

fpo_plugin_status fpo_driver_status(int error, const char *call, char *why)
{
    const char *words = "?";
    if (error == 0)
        return FPO_PLUGIN_OK;
    cuda.words(error, &words);
    snprintf(why, FPO_PLUGIN_TEXT, "%s: error %d: %s", call, error, words);
    return error == OUT_OF_MEMORY                          ? FPO_PLUGIN_OUT_OF_MEMORY
           : error >= FIRST_STICKY && error <= LAST_STICKY ? FPO_PLUGIN_DEVICE_LOST
                                                           : FPO_PLUGIN_FAILED;
}

static int attribute(int32_t device, int which)
{
    int value = 0;
    cuda.attribute(&value, which, device);
    return value;
}

int fpo_driver_multiprocessors(void)
{
    return attribute(opened, MULTIPROCESSORS);
}

static fpo_plugin_status count(int32_t *devices, char *why)
{
    if (!find_driver() || cuda.init(0) != 0) {
        snprintf(why, FPO_PLUGIN_TEXT,
                 cuda.launch == NULL ? "there is no libcuda.so.1" : "the CUDA driver does not start");
        return FPO_PLUGIN_UNSUPPORTED;
    }
    return fpo_driver_status(cuda.count(devices), "cuDeviceGetCount", why);
}

static fpo_plugin_status describe(int32_t device, fpo_plugin_device *description, char *why)
{
    int version = 0;
    cuda.version(&version);
    description->compute_capability = 10 * attribute(device, COMPUTE_MAJOR) + attribute(device, COMPUTE_MINOR);
    description->multiprocessors = attribute(device, MULTIPROCESSORS);
    snprintf(description->software, sizeof description->software, "CUDA driver API %d.%d (libcuda.so.1)",
             version / 1000, version % 1000 / 10);
    return fpo_driver_status(cuda.name(description->name, (int)sizeof description->name, device), "cuDeviceGetName",
                             why);
}

static fpo_plugin_status open_device(int32_t device, char *why)
{
    void *context = NULL;
    int32_t devices = 0;
    fpo_plugin_status status = count(&devices, why);
    if (status == FPO_PLUGIN_OK)
        status = fpo_driver_status(cuda.retain(&context, device), "cuDevicePrimaryCtxRetain", why);
    if (status == FPO_PLUGIN_OK)
        status = fpo_driver_status(cuda.current(context), "cuCtxSetCurrent", why);
    opened = device;
    return status;
}

static fpo_plugin_status allocate(uint64_t bytes, void **address, char *why)
{
    uint64_t got = 0;
    int error = cuda.allocate(&got, (size_t)bytes);
    *address = (void *)(uintptr_t)got;
    return fpo_driver_status(error, "cuMemAlloc", why);
}

static fpo_plugin_status release(void *address, char *why)
{
    return fpo_driver_status(cuda.release((uint64_t)(uintptr_t)address), "cuMemFree", why);
}

static fpo_plugin_status upload(void *to, const void *from, uint64_t bytes, char *why)
{
    return fpo_driver_status(cuda.upload((uint64_t)(uintptr_t)to, from, (size_t)bytes), "cuMemcpyHtoD", why);
}

static fpo_plugin_status download(void *to, const void *from, uint64_t bytes, char *why)
{
    return fpo_driver_status(cuda.download(to, (uint64_t)(uintptr_t)from, (size_t)bytes), "cuMemcpyDtoH", why);
}

static fpo_plugin_status synchronise(char *why)
{
    return fpo_driver_status(cuda.synchronise(), "cuCtxSynchronize", why);
}

const fpo_plugin_memory *fpo_driver_memory(void)
{
    static const fpo_plugin_memory memory = {
        .size = sizeof memory,
        .count = count,
        .describe = describe,
        .open = open_device,
        .allocate = allocate,
        .release = release,
        .upload = upload,
        .download = download,
        .synchronise = synchronise,
    };
    return &memory;
}

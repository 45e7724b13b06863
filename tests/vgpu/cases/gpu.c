/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Layouts of CUDA 13.0's cuda.h. */
typedef struct attribute {
    int id;
    char padding[4];
    unsigned value[16];
} attribute;

typedef struct configuration {
    unsigned grid[3], block[3], shared;
    void *stream;
    attribute *attributes;
    unsigned attribute_count;
} configuration;

enum { CLUSTER = 4, MOST_SHARED = 8, NON_PORTABLE = 14, OUT = 0xEE };

static struct {
    const char *folder;
    int capability;
    void *module;
    int (*load)(void **module, const void *image);
    int (*function)(void **function, void *module, const char *name);
    int (*set)(void *function, int attribute, int value);
    int (*launch)(const configuration *configuration, void *function, void **arguments, void **extra);
    int (*synchronize)(void);
    int (*allocate)(uint64_t *address, size_t bytes);
    int (*fill)(uint64_t to, unsigned char value, size_t bytes);
    int (*to_device)(uint64_t to, const void *from, size_t bytes);
    int (*to_host)(void *to, uint64_t from, size_t bytes);
    int (*encode)(void *map, int type, unsigned rank, void *address, const unsigned long long *dim,
                  const unsigned long long *stride, const unsigned *box, const unsigned *element_stride, int interleave,
                  int swizzle, int l2_promotion, int fill);
} gpu;

unsigned gpu_compared, gpu_different;

static void need(void *library, const char *name, void *to)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "libcuda has no %s\n", name);
        exit(2);
    }
    memcpy(to, &symbol, sizeof symbol);
}

static void check(int code, const char *what)
{
    if (code == 0)
        return;
    fprintf(stderr, "%s: CUDA error %d\n", what, code);
    exit(1);
}

void gpu_start(const char *folder)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int device, major, minor;
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*current)(void *),
        (*get_attribute)(int *, int, int);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    gpu.folder = folder;
    need(library, "cuInit", &init);
    need(library, "cuDeviceGet", &get);
    need(library, "cuDeviceGetAttribute", &get_attribute);
    need(library, "cuDevicePrimaryCtxRetain", &retain);
    need(library, "cuCtxSetCurrent", &current);
    need(library, "cuModuleLoadData", &gpu.load);
    need(library, "cuModuleGetFunction", &gpu.function);
    need(library, "cuFuncSetAttribute", &gpu.set);
    need(library, "cuLaunchKernelEx", &gpu.launch);
    need(library, "cuCtxSynchronize", &gpu.synchronize);
    need(library, "cuMemAlloc_v2", &gpu.allocate);
    need(library, "cuMemsetD8_v2", &gpu.fill);
    need(library, "cuMemcpyHtoD_v2", &gpu.to_device);
    need(library, "cuMemcpyDtoH_v2", &gpu.to_host);
    need(library, "cuTensorMapEncodeTiled", &gpu.encode);
    check(init(0), "cuInit");
    check(get(&device, 0), "cuDeviceGet");
    check(retain(&context, device), "cuDevicePrimaryCtxRetain");
    check(current(context), "cuCtxSetCurrent");
    check(get_attribute(&major, 75, device) || get_attribute(&minor, 76, device), "compute capability");
    gpu.capability = 10 * major + minor;
}

int gpu_capability(void)
{
    return gpu.capability;
}

void gpu_module(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", gpu.folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    char *text = calloc(1, 1 << 20);
    size_t length = text != NULL ? fread(text, 1, (1 << 20) - 1, file) : 0;
    fclose(file);
    check(length == 0 || gpu.load(&gpu.module, text), path);
    free(text);
}

void gpu_module_text(const char *ptx)
{
    check(gpu.load(&gpu.module, ptx), "a generated module");
}

uint64_t gpu_allocate(size_t bytes)
{
    uint64_t address = 0;
    check(gpu.allocate(&address, bytes) || gpu.fill(address, OUT, bytes), "memory");
    return address;
}

uint64_t gpu_upload(const void *bytes, size_t size)
{
    uint64_t address = gpu_allocate(size);
    check(gpu.to_device(address, bytes, size), "copy to the device");
    return address;
}

void gpu_download(void *to, uint64_t from, size_t bytes)
{
    check(gpu.to_host(to, from, bytes), "copy to the host");
}

int gpu_try(const gpu_launch *l, void **arguments)
{
    void *function;
    int code = gpu.function(&function, gpu.module, l->kernel);
    if (code == 0)
        code = gpu.set(function, MOST_SHARED, (int)l->shared);
    attribute cluster = {.id = CLUSTER, .value = {l->cluster[0], l->cluster[1], l->cluster[2]}};
    configuration c = {.grid = {l->grid[0], l->grid[1], l->grid[2]},
                       .block = {l->block, 1, 1},
                       .shared = l->shared,
                       .attributes = &cluster,
                       .attribute_count = l->cluster[0] != 0};
    if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 8 && code == 0)
        code = gpu.set(function, NON_PORTABLE, 1);
    if (code == 0)
        code = gpu.launch(&c, function, arguments, NULL);
    return code != 0 ? code : gpu.synchronize();
}

void gpu_run(const gpu_launch *launch, void **arguments)
{
    check(gpu_try(launch, arguments), launch->kernel);
}

int gpu_encode(const gpu_map *r, void *map)
{
    static const unsigned ones[5] = {1, 1, 1, 1, 1};
    return gpu.encode(map, r->type, r->rank, (void *)(uintptr_t)r->address, r->dim, r->stride, r->box, ones, 0,
                      r->swizzle, 0, r->fill);
}

void gpu_compare(const char *what, const void *got, const void *expected, size_t bytes)
{
    const uint8_t *g = got, *e = expected;
    size_t different = 0, first = 0;
    for (size_t i = bytes; i-- > 0;) {
        if (g[i] != e[i]) {
            different++;
            first = i;
        }
    }
    gpu_compared++;
    if (different != 0) {
        gpu_different++;
        printf("%s: %zu of %zu bytes differ, the first at %zu: 0x%02x, not 0x%02x\n", what, different, bytes, first,
               g[first], e[first]);
    }
}

void gpu_expect(const char *what, int true_or_not)
{
    gpu_compared++;
    if (!true_or_not) {
        gpu_different++;
        printf("%s: no\n", what);
    }
}

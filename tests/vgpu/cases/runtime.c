/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The CUDA runtimes 12 and 13, where they are installed: what they say of the device agrees with its attributes, copies
 * move what they should, and libraries load PTX. */
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct runtime {
    void *library;
    int version;
} runtime;

/* dlsym gives an object pointer. */
static void *find(const runtime *r, const char *name)
{
    void *symbol = dlsym(r->library, name);
    if (symbol == NULL)
        printf("libcudart.so.%d has no %s\n", r->version, name);
    gpu_expect("a function of the runtime", symbol != NULL);
    return symbol;
}

static int call_attribute(const runtime *r, int attribute)
{
    int (*get)(int *, int, int), value = -1;
    *(void **)&get = find(r, "cudaDeviceGetAttribute");
    gpu_expect("cudaDeviceGetAttribute", get != NULL && get(&value, attribute, 0) == 0);
    return value;
}

/* Offsets from the headers of CUDA 12.8 and 13.0. */
static void properties(const runtime *r)
{
    static const struct {
        int at12, at13, attribute, bytes;
    } fields[] = {{360, 360, 75, 4}, {364, 364, 76, 4}, {388, 384, 16, 4}, {308, 308, 10, 4},
                  {696, 672, 97, 8}, {624, 604, 39, 4}, {640, 624, 81, 8}, {296, 296, 8, 8}};
    int (*get)(void *, int);
    *(void **)&get = find(r, r->version == 12 ? "cudaGetDeviceProperties_v2" : "cudaGetDeviceProperties");
    uint8_t *p = calloc(1, 4096);
    if (p == NULL || get == NULL)
        exit(2);
    gpu_expect("cudaGetDeviceProperties", get(p, 0) == 0);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        uint64_t value = 0;
        memcpy(&value, p + (r->version == 12 ? fields[i].at12 : fields[i].at13), (size_t)fields[i].bytes);
        gpu_expect("a property equals the attribute", value == (uint64_t)call_attribute(r, fields[i].attribute));
    }
    gpu_expect("the device has a name", p[0] != 0);
    free(p);
}

static void copies(const runtime *r)
{
    int (*allocate)(void **, size_t), (*release)(void *), (*copy)(void *, const void *, size_t, int),
        (*rows)(void *, size_t, const void *, size_t, size_t, size_t, int), (*fill)(void *, int, size_t),
        (*host)(void **, size_t, unsigned), (*information)(size_t *, size_t *);
    *(void **)&allocate = find(r, "cudaMalloc");
    *(void **)&release = find(r, "cudaFree");
    *(void **)&copy = find(r, "cudaMemcpy");
    *(void **)&rows = find(r, "cudaMemcpy2D");
    *(void **)&fill = find(r, "cudaMemset");
    *(void **)&host = find(r, "cudaHostAlloc");
    *(void **)&information = find(r, "cudaMemGetInfo");
    void *device = NULL, *pinned = NULL;
    uint8_t in[64], out[256], wanted[256];
    for (int i = 0; i < 64; i++)
        in[i] = (uint8_t)(i * 7);
    memset(wanted, 0x33, sizeof wanted);
    for (int row = 0; row < 4; row++)
        memcpy(wanted + 64 * row, in + 16 * row, 16);
    gpu_expect("cudaMalloc", allocate(&device, 256) == 0 && host(&pinned, 64, 0) == 0);
    gpu_expect("cudaMemset", fill(device, 0x33, 256) == 0);
    gpu_expect("cudaMemcpy2D", rows(device, 64, in, 16, 16, 4, 1) == 0);
    gpu_expect("cudaMemcpy", copy(out, device, 256, 2) == 0);
    gpu_compare("cudaMemcpy2D", out, wanted, sizeof out);
    size_t available = 0, total = 0;
    gpu_expect("cudaMemGetInfo", information(&available, &total) == 0 && available <= total && available > 0);
    gpu_expect("cudaFree", release(device) == 0);
}

static void libraries(void)
{
    static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry one(.param .u64 out) { "
                              ".reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [out]; mov.u32 %r1, 77; "
                              "st.global.u32 [%rd1], %r1; ret; }\n.visible .entry two() { ret; }\n";
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *library = NULL, *kernel = NULL, *function = NULL;
    int (*load)(void **, const void *, void *, void *, unsigned, void *, void *, unsigned),
        (*get)(void **, void *, const char *), (*count)(unsigned *, void *), (*to_function)(void **, void *),
        (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    *(void **)&load = dlsym(driver, "cuLibraryLoadData");
    *(void **)&get = dlsym(driver, "cuLibraryGetKernel");
    *(void **)&count = dlsym(driver, "cuLibraryGetKernelCount");
    *(void **)&to_function = dlsym(driver, "cuKernelGetFunction");
    *(void **)&launch = dlsym(driver, "cuLaunchKernel");
    unsigned kernels = 0;
    uint32_t got = 0;
    gpu_expect("cuLibraryLoadData", load(&library, ptx, NULL, NULL, 0, NULL, NULL, 0) == 0);
    gpu_expect("cuLibraryGetKernelCount", count(&kernels, library) == 0 && kernels == 2);
    gpu_expect("a kernel that is not there", get(&kernel, library, "three") == 500);
    gpu_expect("cuLibraryGetKernel", get(&kernel, library, "one") == 0 && to_function(&function, kernel) == 0);
    uint64_t out = gpu_allocate(4);
    gpu_expect("a launch of a library's kernel",
               launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}, NULL) == 0);
    gpu_download(&got, out, sizeof got);
    gpu_expect("what it wrote", got == 77);
}

void cases_runtime(void)
{
    for (int version = 12; version <= 13; version++) {
        char name[32];
        snprintf(name, sizeof name, "libcudart.so.%d", version);
        runtime r = {dlopen(name, RTLD_NOW), version};
        if (r.library == NULL) {
            printf("%s is not installed\n", name);
            continue;
        }
        properties(&r);
        copies(&r);
    }
    libraries();
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the virtual GPU says of itself: attributes by number, which the runtime and the driver share, and the runtime's
 * structure of properties, whose layout differs between CUDA 12 and 13. */
#include "standin.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Numbers of cudaDeviceAttr and CUdevice_attribute. What is not here is 0, as for a feature that a GPU does not have.
 */
int fpo_cuda_attribute(int attribute, int *value)
{
    fpo_vgpu *gpu = fpo_cuda_gpu();
    if (gpu == NULL || value == NULL)
        return FPO_CUDA_INVALID_VALUE;
    const fpo_vgpu_config *config = fpo_vgpu_configuration(gpu);
    int shared = (int)fpo_vgpu_machine_of(config->capability)->shared;
    bool large = config->capability != 120; /* the data-centre parts */
    const struct {
        int attribute, value;
    } table[] = {{1, 1024}, /* threads a CTA */
                 {2, 1024}, /* CTA dimensions */
                 {3, 1024},
                 {4, 64},
                 {5, 0x7FFFFFFF}, /* grid dimensions */
                 {6, 65535},
                 {7, 65535},
                 {8, 49152}, /* shared memory of a CTA without asking */
                 {9, 65536}, /* constant memory */
                 {10, 32},   /* warp */
                 {11, 0x7FFFFFFF},
                 {12, 65536},   /* registers of a CTA */
                 {13, 1000000}, /* kHz: some programs divide by it */
                 {14, 512},
                 {16, config->multiprocessors},
                 {19, 1}, /* host memory is mapped */
                 {31, 1},
                 {36, 1000000},
                 {37, 512},
                 {38, large ? 52428800 : 33554432}, /* L2 */
                 {39, large ? 2048 : 1536},         /* threads of an SM */
                 {40, 1},
                 {41, 1}, /* unified addresses */
                 {75, config->capability / 10},
                 {76, config->capability % 10},
                 {78, 1},
                 {81, shared + 1024}, /* shared memory of an SM */
                 {82, 65536},                   /* registers of an SM */
                 {83, 1},                       /* managed memory */
                 {91, 1},
                 {95, 1},                   /* cooperative launch */
                 {97, shared}, /* shared memory of a CTA on asking */
                 {99, 1},
                 {106, large ? 32 : 24}, /* CTAs of an SM */
                 {111, 1024},            /* reserved shared memory of a CTA */
                 {115, 1},               /* memory pools */
                 {120, 1}};              /* cluster launch */
    *value = 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].attribute == attribute)
            *value = table[i].value;
    return FPO_CUDA_OK;
}

size_t fpo_cuda_total_memory(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGE_SIZE);
}

void fpo_cuda_name(char *name, size_t size)
{
    fpo_vgpu *gpu = fpo_cuda_gpu();
    snprintf(name, size, "fp4oracle VIRTUAL SM%d", gpu != NULL ? fpo_vgpu_configuration(gpu)->capability : 0);
}

/* Places in struct cudaDeviceProp of CUDA 12.8 and 13.0, `bytes` wide, and the attribute that each shows. */
static const struct {
    uint16_t at12, at13;
    uint8_t bytes;
    uint8_t attribute;
} fields[] = {{296, 296, 8, 8},   {304, 304, 4, 12},  {308, 308, 4, 10}, {312, 312, 8, 11}, {320, 320, 4, 1},
              {324, 324, 4, 2},   {328, 328, 4, 3},   {332, 332, 4, 4},  {336, 336, 4, 5},  {340, 340, 4, 6},
              {344, 344, 4, 7},   {352, 352, 8, 9},   {360, 360, 4, 75}, {364, 364, 4, 76}, {368, 368, 8, 14},
              {388, 384, 4, 16},  {400, 392, 4, 19},  {576, 560, 4, 31}, {600, 584, 4, 40}, {604, 588, 4, 41},
              {612, 592, 4, 37},  {616, 596, 4, 38},  {624, 604, 4, 39}, {628, 608, 4, 78}, {640, 624, 8, 81},
              {648, 632, 4, 82},  {652, 636, 4, 83},  {688, 668, 4, 95}, {696, 672, 8, 97}, {712, 688, 4, 106},
              {720, 696, 8, 111}, {744, 720, 4, 115}, {772, 748, 4, 120}};
enum { SIZE_12 = 1032, SIZE_13 = 1008, AT_MEMORY = 288, NAME_BYTES = 256 };

static int fill(void *properties, bool cuda12)
{
    if (fpo_cuda_gpu() == NULL || properties == NULL)
        return FPO_CUDA_INVALID_VALUE;
    uint8_t *p = properties;
    memset(p, 0, cuda12 ? SIZE_12 : SIZE_13);
    fpo_cuda_name((char *)p, NAME_BYTES);
    size_t memory = fpo_cuda_total_memory();
    memcpy(p + AT_MEMORY, &memory, sizeof memory);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        int value;
        fpo_cuda_attribute(fields[i].attribute, &value);
        uint64_t wide = (uint64_t)value;
        memcpy(p + (cuda12 ? fields[i].at12 : fields[i].at13), &wide, fields[i].bytes);
    }
    return FPO_CUDA_OK;
}

/* CUDA 13 calls the function by its plain name, CUDA 12's headers by that with _v2. */
FPO_CUDA_EXPORT int cudaGetDeviceProperties(void *properties, int device)
{
    return device == 0 ? fill(properties, false) : FPO_CUDA_INVALID_DEVICE;
}

FPO_CUDA_EXPORT int cudaGetDeviceProperties_v2(void *properties, int device)
{
    return device == 0 ? fill(properties, true) : FPO_CUDA_INVALID_DEVICE;
}

FPO_CUDA_EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    return device == 0 ? fpo_cuda_attribute(attribute, value) : FPO_CUDA_INVALID_DEVICE;
}

FPO_CUDA_EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    return cudaDeviceGetAttribute(value, attribute, device);
}

FPO_CUDA_EXPORT int _cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    return cudaDeviceGetAttribute(value, attribute, device);
}

FPO_CUDA_EXPORT int cudaGetDevice(int *device)
{
    *device = 0;
    return fpo_cuda_gpu() != NULL ? FPO_CUDA_OK : FPO_CUDA_NO_DEVICE;
}

FPO_CUDA_EXPORT int _cudaGetDevice(int *device)
{
    return cudaGetDevice(device);
}

FPO_CUDA_EXPORT int cudaSetDevice(int device)
{
    return device == 0 ? FPO_CUDA_OK : FPO_CUDA_INVALID_DEVICE;
}

FPO_CUDA_EXPORT int cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    return cudaSetDevice(device);
}

FPO_CUDA_EXPORT int cudaGetDeviceCount(int *count)
{
    *count = fpo_cuda_gpu() != NULL;
    return *count == 1 ? FPO_CUDA_OK : FPO_CUDA_NO_DEVICE;
}

FPO_CUDA_EXPORT int cudaGetDeviceFlags(unsigned *flags)
{
    *flags = 0;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaSetDeviceFlags(unsigned flags)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaDeviceReset(void)
{
    return FPO_CUDA_OK;
}

/* Limits and cache configurations change no result. */
FPO_CUDA_EXPORT int cudaDeviceSetLimit(int limit, size_t value)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaDeviceSetCacheConfig(int config)
{
    return FPO_CUDA_OK;
}

/* Nothing is profiled. */
FPO_CUDA_EXPORT int cudaProfilerStart(void)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaProfilerStop(void)
{
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaDriverGetVersion(int *version)
{
    *version = FPO_CUDA_VERSION;
    return FPO_CUDA_OK;
}

FPO_CUDA_EXPORT int cudaRuntimeGetVersion(int *version)
{
    return cudaDriverGetVersion(version);
}

FPO_CUDA_EXPORT int cudaDeviceSynchronize(void)
{
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT int cudaGetLastError(void)
{
    return fpo_cuda_last(true);
}

FPO_CUDA_EXPORT int cudaPeekAtLastError(void)
{
    return fpo_cuda_last(false);
}

FPO_CUDA_EXPORT const char *cudaGetErrorString(int code)
{
    return fpo_cuda_message(code);
}

FPO_CUDA_EXPORT const char *cudaGetErrorName(int code)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {{FPO_CUDA_OK, "cudaSuccess"},
                 {FPO_CUDA_INVALID_VALUE, "cudaErrorInvalidValue"},
                 {FPO_CUDA_MEMORY, "cudaErrorMemoryAllocation"},
                 {FPO_CUDA_RUNTIME_INVALID_FUNCTION, "cudaErrorInvalidDeviceFunction"},
                 {FPO_CUDA_NO_DEVICE, "cudaErrorNoDevice"},
                 {FPO_CUDA_INVALID_DEVICE, "cudaErrorInvalidDevice"},
                 {FPO_CUDA_INVALID_IMAGE, "cudaErrorInvalidKernelImage"},
                 {FPO_CUDA_INVALID_HANDLE, "cudaErrorInvalidResourceHandle"},
                 {FPO_CUDA_NOT_FOUND, "cudaErrorSymbolNotFound"},
                 {FPO_CUDA_LAUNCH_FAILED, "cudaErrorLaunchFailure"},
                 {FPO_CUDA_NOT_SUPPORTED, "cudaErrorNotSupported"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].code == code)
            return names[i].name;
    return "cudaErrorUnknown";
}

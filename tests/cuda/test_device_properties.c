/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The stand-in's cudaGetDeviceProperties, read through CUDA's own header: each field is the attribute of that name. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(const char *field, long long value, enum cudaDeviceAttr attribute)
{
    int wanted = -1;
    if (cudaDeviceGetAttribute(&wanted, attribute, 0) != cudaSuccess || value != wanted || wanted == 0) {
        printf("FAILED: %s is %lld, the attribute %d\n", field, value, wanted);
        failures++;
    }
}

#define CHECK(field, attribute) check(#field, (long long)properties.field, cudaDevAttr##attribute)

int main(void)
{
    struct {
        struct cudaDeviceProp properties;
        unsigned char guard[64];
    } memory;
    memset(&memory, 0xA5, sizeof memory);
    setenv("FP4ORACLE_VGPU", "capability=120,sms=7", 1);
    if (cudaGetDeviceProperties(&memory.properties, 0) != cudaSuccess)
        return 1;
    const struct cudaDeviceProp properties = memory.properties;
    CHECK(sharedMemPerBlock, MaxSharedMemoryPerBlock);
    CHECK(regsPerBlock, MaxRegistersPerBlock);
    CHECK(warpSize, WarpSize);
    CHECK(maxThreadsPerBlock, MaxThreadsPerBlock);
    CHECK(maxThreadsDim[0], MaxBlockDimX);
    CHECK(maxThreadsDim[1], MaxBlockDimY);
    CHECK(maxThreadsDim[2], MaxBlockDimZ);
    CHECK(maxGridSize[0], MaxGridDimX);
    CHECK(maxGridSize[1], MaxGridDimY);
    CHECK(maxGridSize[2], MaxGridDimZ);
    CHECK(totalConstMem, TotalConstantMemory);
    CHECK(major, ComputeCapabilityMajor);
    CHECK(multiProcessorCount, MultiProcessorCount);
    CHECK(unifiedAddressing, UnifiedAddressing);
    CHECK(maxThreadsPerMultiProcessor, MaxThreadsPerMultiProcessor);
    CHECK(sharedMemPerMultiprocessor, MaxSharedMemoryPerMultiprocessor);
    CHECK(regsPerMultiprocessor, MaxRegistersPerMultiprocessor);
    CHECK(cooperativeLaunch, CooperativeLaunch);
    CHECK(sharedMemPerBlockOptin, MaxSharedMemoryPerBlockOptin);
    CHECK(reservedSharedMemPerBlock, ReservedSharedMemoryPerBlock);
    CHECK(clusterLaunch, ClusterLaunch);
    int wrong = strcmp(properties.name, "fp4oracle VIRTUAL SM120") != 0 || properties.minor != 0 ||
                properties.totalGlobalMem == 0 || memory.guard[0] != 0xA5;
    if (wrong)
        printf("FAILED: name %s, minor %d, memory %zu, guard %02x\n", properties.name, properties.minor,
               properties.totalGlobalMem, memory.guard[0]);
    return failures + wrong > 0;
}

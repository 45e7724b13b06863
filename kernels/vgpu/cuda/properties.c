/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* cudaGetDeviceProperties: the attributes at their places in CUDA 13's cudaDeviceProp, which tests/cuda compares with
 * the header's. What is not here is 0. */
#include "standin.h"

#include <stdio.h>
#include <string.h>

enum { BYTES = 1008, NAME_BYTES = 256, TOTAL_MEMORY = 288 };

/* Numbers of cudaDeviceAttr, as fpo_cuda_attribute has them; `wide`: a size_t. */
static const struct {
    int offset, attribute, wide;
} places[] = {
    {296, 8, 1},  {304, 12, 0}, {308, 10, 0}, {320, 1, 0},  {324, 2, 0},   {328, 3, 0},   {332, 4, 0},  {336, 5, 0},
    {340, 6, 0},  {344, 7, 0},  {352, 9, 1},  {360, 75, 0}, {364, 76, 0},  {384, 16, 0},  {588, 41, 0}, {604, 39, 0},
    {624, 81, 1}, {632, 82, 0}, {668, 95, 0}, {672, 97, 1}, {696, 111, 1}, {748, 120, 0},
};

FPO_CUDA_EXPORT int cudaGetDeviceProperties(void *properties, int device)
{
    char *bytes = properties;
    fpo_vgpu *gpu = fpo_cuda_gpu();
    if (gpu == NULL || device != 0)
        return 101;                             /* cudaErrorInvalidDevice */
    const uint64_t memory = (uint64_t)16 << 30; /* a number; the memory is the host's */
    memset(bytes, 0, BYTES);
    snprintf(bytes, NAME_BYTES, "fp4oracle VIRTUAL SM%d", fpo_vgpu_configuration(gpu)->capability);
    memcpy(bytes + TOTAL_MEMORY, &memory, sizeof memory);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int value = 0;
        fpo_cuda_attribute(places[i].attribute, &value);
        const uint64_t wide = (uint64_t)value;
        memcpy(bytes + places[i].offset, places[i].wide ? (const void *)&wide : (const void *)&value,
               places[i].wide ? sizeof wide : sizeof value);
    }
    return FPO_CUDA_OK;
}

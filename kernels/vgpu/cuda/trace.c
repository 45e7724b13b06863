/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the runner asks of the virtual GPU beside CUDA: names that CUDA does not have. */
#include "standin.h"

int cufp4oracle_trace(fpo_vgpu_trace *trace);
uint64_t cufp4oracle_unread(const void *memory, uint64_t bytes, uint8_t *unread);

/* Traces the launches that follow; NULL: no more. */
FPO_CUDA_EXPORT int cufp4oracle_trace(fpo_vgpu_trace *trace)
{
    fpo_cuda_lock();
    fpo_vgpu *gpu = fpo_cuda_gpu();
    if (gpu != NULL)
        fpo_vgpu_set_trace(gpu, trace);
    fpo_cuda_unlock();
    return gpu != NULL;
}

FPO_CUDA_EXPORT uint64_t cufp4oracle_unread(const void *memory, uint64_t bytes, uint8_t *unread)
{
    fpo_cuda_lock();
    fpo_vgpu *gpu = fpo_cuda_gpu();
    uint64_t count = gpu != NULL ? fpo_vgpu_unread(gpu, memory, bytes, unread) : 0;
    fpo_cuda_unlock();
    return count;
}

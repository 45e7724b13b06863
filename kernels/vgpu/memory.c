/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Addresses: which bytes of the process an access means. Every access is checked, so that a kernel cannot harm the
 * process: out of bounds and misaligned accesses end the launch, as on the hardware. */
#include "machine.h"

void *fpo_locate_global(fpo_warp *warp, uint64_t address, uint64_t bytes, int lane)
{
    const void *found = fpo_vgpu_find(warp->cta->grid->gpu, address, bytes, warp->last_allocation);
    if (found == NULL) {
        fpo_fault(warp, lane, "global memory at 0x%llx (%llu bytes) is not allocated", (unsigned long long)address,
                  (unsigned long long)bytes);
        return NULL;
    }
    warp->last_allocation = found;
    return (void *)(uintptr_t)address;
}

void *fpo_locate_shared(fpo_warp *warp, uint64_t address, uint64_t bytes, uint32_t align, int lane)
{
    const fpo_cta *cta = warp->cta;
    uint32_t rank = (uint32_t)address >> FPO_SHARED_RANK_SHIFT;
    if (rank != cta->rank) {
        fpo_fault(warp, lane, "shared memory at 0x%x belongs to CTA %u of the cluster, this one is %u",
                  (uint32_t)address, rank, cta->rank);
        return NULL;
    }
    return fpo_locate_in(warp, cta, address, bytes, align, lane);
}

void *fpo_locate_cluster(fpo_warp *warp, uint64_t address, uint64_t bytes, uint32_t align, int lane)
{
    const fpo_cta *cta = fpo_shared_owner(warp, address, lane);
    return cta != NULL ? fpo_locate_in(warp, cta, address, bytes, align, lane) : NULL;
}

fpo_cta *fpo_shared_owner(fpo_warp *warp, uint64_t address, int lane)
{
    const fpo_cluster *cluster = warp->cta->cluster;
    uint32_t rank = (uint32_t)address >> FPO_SHARED_RANK_SHIFT;
    if (rank < cluster->size)
        return cluster->ctas[rank];
    fpo_fault(warp, lane, "shared memory at 0x%x belongs to CTA %u of a cluster that has %u", (uint32_t)address, rank,
              cluster->size);
    return NULL;
}

void *fpo_locate_in(fpo_warp *warp, const fpo_cta *cta, uint64_t address, uint64_t bytes, uint32_t align, int lane)
{
    uint32_t offset = (uint32_t)address & FPO_SHARED_OFFSET;
    if (offset < FPO_SHARED_BASE || offset > cta->shared_end || bytes > cta->shared_end - offset) {
        fpo_fault(warp, lane, "shared memory at %u (%llu bytes) is outside [%u, %u)", offset, (unsigned long long)bytes,
                  FPO_SHARED_BASE, cta->shared_end);
        return NULL;
    }
    if (offset % align != 0) {
        fpo_fault(warp, lane, "shared memory at %u is not aligned to %u bytes", offset, align);
        return NULL;
    }
    if (cta != warp->cta && cta->warps_alive == 0) {
        fpo_fault(warp, lane, "shared memory at %u of CTA %u of the cluster, which has exited", offset, cta->rank);
        return NULL;
    }
    return cta->shared + offset;
}

static void *locate_local(fpo_warp *warp, uint64_t address, uint32_t bytes, int lane)
{
    uint32_t size = warp->cta->grid->kernel->local_bytes;
    if (address > size || bytes > size - address) {
        fpo_fault(warp, lane, "local memory at %llu (%u bytes) is outside its %u bytes", (unsigned long long)address,
                  bytes, size);
        return NULL;
    }
    return warp->local + (uint64_t)(unsigned)lane * warp->cta->grid->local_stride + address;
}

static void *locate_param(fpo_warp *warp, uint64_t address, uint32_t bytes, int lane)
{
    uint32_t size = warp->cta->grid->kernel->param_bytes;
    if (address > size || bytes > size - address) {
        fpo_fault(warp, lane, "parameters at %llu (%u bytes) are outside their %u bytes", (unsigned long long)address,
                  bytes, size);
        return NULL;
    }
    return warp->cta->grid->parameters + address;
}

void *fpo_locate(fpo_warp *warp, fpo_ptx_value space, uint64_t address, uint32_t bytes, uint32_t align, int lane)
{
    if (address % align != 0) {
        fpo_fault(warp, lane, "address 0x%llx is not aligned to %u bytes", (unsigned long long)address, align);
        return NULL;
    }
    uint64_t window = address & FPO_WINDOW_MASK, offset = address & ~FPO_WINDOW_MASK;
    switch (space) {
    case FPO_PTX_V_CLUSTER: return fpo_locate_cluster(warp, address, bytes, align, lane);
    case FPO_PTX_V_SHARED: return fpo_locate_shared(warp, address, bytes, align, lane);
    case FPO_PTX_V_LOCAL: return locate_local(warp, address, bytes, lane);
    /* Parameters of the kernel; what functions are handed is local. */
    case FPO_PTX_V_PARAM:
        return window == FPO_WINDOW_PARAM ? locate_param(warp, offset, bytes, lane)
                                          : locate_local(warp, address, bytes, lane);
    case FPO_PTX_V_GENERIC:
        if (window == FPO_WINDOW_SHARED)
            return fpo_locate_cluster(warp, offset, bytes, align, lane);
        if (window == FPO_WINDOW_LOCAL)
            return locate_local(warp, offset, bytes, lane);
        break;
    default: break;
    }
    /* Parameters may be read through generic, global and constant addresses (cvta.param). */
    if (window == FPO_WINDOW_PARAM)
        return locate_param(warp, offset, bytes, lane);
    return fpo_locate_global(warp, address, bytes, lane);
}

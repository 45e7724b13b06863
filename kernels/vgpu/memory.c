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
    address = (uint32_t)address;
    if (address < FPO_SHARED_BASE || address > cta->shared_end || bytes > cta->shared_end - address) {
        fpo_fault(warp, lane, "shared memory at %llu (%llu bytes) is outside [%u, %u)", (unsigned long long)address,
                  (unsigned long long)bytes, FPO_SHARED_BASE, cta->shared_end);
        return NULL;
    }
    if (address % align != 0) {
        fpo_fault(warp, lane, "shared memory at %llu is not aligned to %u bytes", (unsigned long long)address, align);
        return NULL;
    }
    return cta->shared + address;
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
    case FPO_PTX_V_SHARED:
    case FPO_PTX_V_CLUSTER: return fpo_locate_shared(warp, address, bytes, align, lane);
    case FPO_PTX_V_LOCAL: return locate_local(warp, address, bytes, lane);
    case FPO_PTX_V_PARAM: return locate_param(warp, offset, bytes, lane);
    case FPO_PTX_V_GENERIC:
        if (window == FPO_WINDOW_SHARED)
            return fpo_locate_shared(warp, offset, bytes, align, lane);
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

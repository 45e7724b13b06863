/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Issue and performance of asynchronous copies. Without a seed a copy is performed when it is issued. With one, loads
 * are performed at moments that chance picks, with a pattern in their place until then, and stores as late as the
 * program allows: when a wait asks for them. */
#include "bulk.h"
#include "combine.h"
#include "execute.h"
#include "race.h"
#include "shadow.h"
#include "trace.h"

#include <stdlib.h>

/* Bytes of shared memory from the copy's address on, gaps between the rows of a narrow box left out. */
static void for_bytes(const fpo_pending *copy, void (*visit)(const fpo_pending *copy, uint32_t address, uint32_t bytes))
{
    const fpo_cta *cta = copy->cta;
    if (cta->shadow == NULL)
        return;
    if (copy->tensor)
        fpo_tensor_visit(copy, visit);
    else if (copy->shared <= cta->shared_end && copy->bytes <= cta->shared_end - copy->shared)
        visit(copy, copy->shared, copy->bytes);
}

static void note_issue(const fpo_pending *copy, uint32_t address, uint32_t bytes)
{
    if (copy->load)
        fpo_check_copy_issued(copy->warp, copy->cta, address, bytes, copy->lane);
    else
        fpo_check_store_issued(copy->warp, address, bytes, copy->lane);
}

static void note_performance(const fpo_pending *copy, uint32_t address, uint32_t bytes)
{
    if (copy->load)
        fpo_check_copy_arrived(copy->cta, address, bytes);
    else
        fpo_check_store_read(copy->warp->cta, address, bytes);
}

static uint32_t alignment(const fpo_pending *copy)
{
    return copy->from_registers ? copy->bytes : 16;
}

/* A copy that is no tensor's: between shared memory and global memory, another CTA's or the lane's registers. */
static bool move_bytes(fpo_pending *copy)
{
    fpo_warp *warp = copy->warp;
    uint8_t *shared = fpo_locate_in(warp, copy->cta, copy->shared, copy->bytes, alignment(copy), copy->lane);
    uint8_t *other = copy->value;
    bool global = !copy->between && !copy->from_registers;
    if (shared != NULL && copy->between)
        other = fpo_locate_shared(warp, copy->global, copy->bytes, 16, copy->lane);
    else if (shared != NULL && global)
        other = fpo_locate_global(warp, copy->global, copy->bytes, copy->lane);
    if (shared == NULL || other == NULL)
        return false;
    if (global && copy->load)
        fpo_check_global_read(warp, copy->global, copy->bytes, copy->lane);
    else if (global)
        fpo_check_global_write(warp, copy->global, copy->bytes);
    fpo_combine_array((fpo_ptx_value)copy->op, (fpo_ptx_type)copy->type, copy->load ? shared : other,
                      copy->load ? other : shared, copy->bytes, !copy->load);
    if (global && copy->load)
        fpo_trace_copy(copy->cta, copy->shared & FPO_SHARED_OFFSET, copy->global, copy->bytes);
    return true;
}

static bool perform(fpo_pending *copy)
{
    fpo_warp *warp = copy->warp;
    uint32_t at = warp->at;
    warp->at = copy->at; /* a fault is the issuing instruction's */
    bool ok = copy->tensor ? fpo_tensor_copy(warp, copy) : move_bytes(copy);
    if (ok)
        for_bytes(copy, note_performance);
    if (ok && copy->load)
        ok = fpo_mbarrier_complete(warp, copy->signal, copy->mbarrier, copy->bytes, copy->lane) == FPO_NEXT;
    warp->at = at;
    warp->cta->grid->changes++;
    return ok;
}

static fpo_outcome enqueue(fpo_pending **queue, const fpo_pending *copy)
{
    while (*queue != NULL)
        queue = &(*queue)->next;
    *queue = malloc(sizeof **queue);
    if (*queue == NULL)
        return fpo_fault(copy->warp, copy->lane, "out of memory");
    **queue = *copy;
    (*queue)->next = NULL;
    return FPO_NEXT;
}

static fpo_outcome issue_load(fpo_warp *warp, const fpo_pending *copy)
{
    for_bytes(copy, note_issue);
    if (!fpo_is_late(warp))
        return perform((fpo_pending *)copy) ? FPO_NEXT : FPO_FAULT;
    uint8_t *shared = fpo_locate_in(warp, copy->cta, copy->shared, copy->bytes, alignment(copy), copy->lane);
    if (shared == NULL)
        return FPO_FAULT;
    if (copy->op == FPO_PTX_V_NONE && (!copy->tensor || copy->map.swizzle == 0))
        memset(shared, 0x7F, copy->bytes);
    return enqueue(&copy->cta->loads, copy);
}

static fpo_outcome issue_store(fpo_warp *warp, fpo_pending *copy)
{
    for_bytes(copy, note_issue);
    if (!fpo_is_late(warp))
        return perform(copy) ? FPO_NEXT : FPO_FAULT;
    copy->group = warp->store_groups;
    return enqueue(&warp->stores, copy);
}

bool fpo_cta_perform_loads(fpo_cta *cta, bool all)
{
    bool any = false;
    for (fpo_pending **link = &cta->loads; *link != NULL && cta->grid->status == FPO_OK;) {
        fpo_pending *copy = *link;
        if (!all && fpo_grid_random(cta->grid, 4) != 0) {
            link = &copy->next;
            continue;
        }
        *link = copy->next;
        any |= perform(copy);
        free(copy);
    }
    return any;
}

bool fpo_warp_perform_stores(fpo_warp *warp, uint32_t groups_left)
{
    bool ok = true;
    while (ok && warp->stores != NULL && warp->stores->group + groups_left < warp->store_groups) {
        fpo_pending *copy = warp->stores;
        warp->stores = copy->next;
        ok = perform(copy);
        free(copy);
    }
    return ok;
}

static fpo_pending new_copy(fpo_warp *warp, uint32_t lane, bool load)
{
    return (fpo_pending){.warp = warp, .cta = warp->cta, .at = warp->at, .lane = (int)lane, .load = load};
}

/* A load with a mask of CTAs arrives at the same offset of each, and completes the mbarrier at the same offset there;
 * of a pair of CTAs (cta_group::2) the one of the mbarrier's parity is told. Each arrives at a moment of its own. */
static fpo_outcome issue_multicast(fpo_warp *warp, fpo_pending *copy, uint32_t mask)
{
    fpo_cluster *cluster = warp->cta->cluster;
    if (mask == 0 || mask >> cluster->size != 0)
        return fpo_fault(warp, copy->lane, "a copy to the CTAs 0x%x of a cluster that has %u", mask, cluster->size);
    uint32_t parity = (uint32_t)copy->mbarrier >> FPO_SHARED_RANK_SHIFT & 1;
    bool pair = warp->cta->grid->kernel->code[warp->at].arguments.pair;
    for (FPO_EACH_LANE(rank, mask)) {
        uint32_t told = pair ? (rank & ~1u) | parity : rank;
        if (told >= cluster->size)
            return fpo_fault(warp, copy->lane, "CTA %u has no other in a cluster of %u", rank, cluster->size);
        copy->cta = cluster->ctas[rank];
        copy->signal = cluster->ctas[told];
        if (issue_load(warp, copy) != FPO_NEXT)
            return FPO_FAULT;
    }
    return FPO_NEXT;
}

/* To the CTAs that the operand `mask` names, or to that of the addresses. The mbarrier is in the same CTA, or in the
 * other of its pair where the instruction says so. */
static fpo_outcome issue(fpo_warp *warp, const fpo_ptx_instruction *ins, fpo_pending *copy, uint64_t shared,
                         uint32_t mask)
{
    copy->shared = (uint32_t)shared & FPO_SHARED_OFFSET;
    if (ins->arguments.multicast) {
        const uint16_t *masks = fpo_lanes_of(warp, &ins->operands[mask]);
        return issue_multicast(warp, copy, masks[copy->lane]);
    }
    copy->cta = fpo_shared_owner(warp, shared, copy->lane);
    copy->signal = copy->cta != NULL ? fpo_shared_owner(warp, copy->mbarrier, copy->lane) : NULL;
    if (copy->signal == NULL)
        return FPO_FAULT;
    if (ins->arguments.space == FPO_PTX_V_SHARED && copy->cta != warp->cta)
        return fpo_fault(warp, copy->lane, "a copy to CTA %u of the cluster with .shared::cta", copy->cta->rank);
    uint32_t apart = copy->cta->rank ^ copy->signal->rank;
    if (apart > ins->arguments.pair)
        return fpo_fault(warp, copy->lane, "a copy to CTA %u of the cluster with an mbarrier of CTA %u",
                         copy->cta->rank, copy->signal->rank);
    return issue_load(warp, copy);
}

fpo_outcome fpo_do_bulk_load(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        fpo_pending copy = new_copy(warp, lane, true);
        copy.global = fpo_address(warp, &ins->operands[1], (int)lane);
        copy.between = ins->arguments.a == FPO_PTX_V_SHARED;
        copy.op = ins->arguments.op;
        copy.type = ins->arguments.type;
        copy.bytes = fpo_u32(warp, &ins->operands[2], (int)lane);
        copy.mbarrier = fpo_address(warp, &ins->operands[3], (int)lane);
        if (copy.bytes % 16 != 0 || copy.global % 16 != 0)
            return fpo_fault(warp, (int)lane, "bulk copy of %u bytes from 0x%llx: no multiple of 16", copy.bytes,
                             (unsigned long long)copy.global);
        if (issue(warp, ins, &copy, fpo_address(warp, &ins->operands[0], (int)lane), 4) != FPO_NEXT)
            return FPO_FAULT;
    }
    return FPO_NEXT;
}

/* Stores read the CTA's own shared memory; 0, where none is, after a fault. */
static uint32_t own_offset(fpo_warp *warp, uint64_t address, int lane)
{
    return fpo_locate_shared(warp, address, 0, 1, lane) != NULL ? (uint32_t)address & FPO_SHARED_OFFSET : 0;
}

fpo_outcome fpo_do_bulk_store(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        fpo_pending copy = new_copy(warp, lane, false);
        copy.global = fpo_address(warp, &ins->operands[0], (int)lane);
        copy.shared = own_offset(warp, fpo_address(warp, &ins->operands[1], (int)lane), (int)lane);
        copy.bytes = fpo_u32(warp, &ins->operands[2], (int)lane);
        copy.op = ins->arguments.op;
        copy.type = ins->arguments.type;
        if (copy.shared == 0)
            return FPO_FAULT;
        if (copy.bytes % 16 != 0 || copy.global % 16 != 0)
            return fpo_fault(warp, (int)lane, "bulk copy of %u bytes to 0x%llx: no multiple of 16", copy.bytes,
                             (unsigned long long)copy.global);
        if (issue_store(warp, &copy) != FPO_NEXT)
            return FPO_FAULT;
    }
    return FPO_NEXT;
}

/* The map and the coordinates of a lane; `operand` is the map's place among the operands. */
static bool read_tensor(fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t operand, fpo_pending *copy)
{
    uint64_t address = fpo_address(warp, &ins->operands[operand], copy->lane);
    const uint8_t *map = fpo_locate(warp, FPO_PTX_V_GENERIC, address, FPO_TENSOR_MAP_BYTES, 64, copy->lane);
    if (map == NULL)
        return false;
    const char *problem = fpo_tensor_map_decode(map, &copy->map);
    if (problem == NULL && copy->map.rank != ins->arguments.count)
        problem = "rank";
    if (problem != NULL) {
        fpo_fault(warp, copy->lane, "the tensor map at 0x%llx: its %s is not supported here",
                  (unsigned long long)address, problem);
        return false;
    }
    for (uint32_t i = 0; i < ins->arguments.count; i++)
        copy->coordinate[i] = (int32_t)fpo_u32(warp, &ins->operands[operand + 1 + i], copy->lane);
    copy->bytes = (uint32_t)fpo_tensor_box_bytes(&copy->map);
    copy->tensor = true;
    return true;
}

fpo_outcome fpo_do_tensor_load(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        fpo_pending copy = new_copy(warp, lane, true);
        uint32_t mbarrier = 2u + ins->arguments.count;
        if (!read_tensor(warp, ins, 1, &copy))
            return FPO_FAULT;
        copy.mbarrier = fpo_address(warp, &ins->operands[mbarrier], (int)lane);
        if (issue(warp, ins, &copy, fpo_address(warp, &ins->operands[0], (int)lane), mbarrier + 1) != FPO_NEXT)
            return FPO_FAULT;
    }
    return FPO_NEXT;
}

/* CUTLASS issues one store from all lanes of a warp: equal ones are one (kernels.md 5, pitfall 4). */
static bool is_repeated(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane)
{
    uint32_t earlier = warp->mask & ((1u << lane) - 1);
    for (FPO_EACH_LANE(other, earlier)) {
        uint32_t equal = 0, count = ins->arguments.count;
        for (uint32_t i = 0; i < count; i++)
            equal +=
                fpo_u32(warp, &ins->operands[1 + i], (int)lane) == fpo_u32(warp, &ins->operands[1 + i], (int)other);
        if (equal == count &&
            fpo_address(warp, &ins->operands[0], (int)lane) == fpo_address(warp, &ins->operands[0], (int)other) &&
            fpo_address(warp, &ins->operands[1 + count], (int)lane) ==
                fpo_address(warp, &ins->operands[1 + count], (int)other))
            return true;
    }
    return false;
}

fpo_outcome fpo_do_tensor_store(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        if (is_repeated(warp, ins, lane))
            continue;
        fpo_pending copy = new_copy(warp, lane, false);
        copy.shared =
            own_offset(warp, fpo_address(warp, &ins->operands[1 + ins->arguments.count], (int)lane), (int)lane);
        copy.op = ins->arguments.op;
        if (copy.shared == 0 || !read_tensor(warp, ins, 0, &copy) || issue_store(warp, &copy) != FPO_NEXT)
            return FPO_FAULT;
    }
    return FPO_NEXT;
}

/* st.async and red.async: values to shared memory of the cluster, counted by an mbarrier there. */
fpo_outcome fpo_do_async_store(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t count = ins->arguments.count, bytes = fpo_ptx_type_bytes((fpo_ptx_type)ins->arguments.type);
    for (FPO_EACH_LANE(lane, warp->mask)) {
        fpo_pending copy = new_copy(warp, lane, true);
        copy.from_registers = true;
        copy.op = ins->arguments.op;
        copy.type = ins->arguments.type;
        copy.bytes = count * bytes;
        for (uint32_t i = 0; i < count; i++)
            memcpy(copy.value + i * bytes, (const uint8_t *)fpo_lanes_of(warp, &ins->operands[1 + i]) + lane * bytes,
                   bytes);
        copy.mbarrier = fpo_address(warp, &ins->operands[1 + count], (int)lane);
        if (issue(warp, ins, &copy, fpo_address(warp, &ins->operands[0], (int)lane), 0) != FPO_NEXT)
            return FPO_FAULT;
    }
    return FPO_NEXT;
}

fpo_outcome fpo_do_bulk_commit(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    (void)ins;
    fpo_race_store_commit(warp);
    warp->store_groups++;
    return FPO_NEXT;
}

fpo_outcome fpo_do_bulk_wait(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t left = fpo_u32(warp, &ins->operands[0], fpo_first_lane(warp->mask));
    fpo_race_store_wait(warp, left);
    return fpo_warp_perform_stores(warp, left) ? FPO_NEXT : FPO_FAULT;
}

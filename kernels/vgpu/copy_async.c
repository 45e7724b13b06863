/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* cp.async: groups, waits, and arrivals at mbarriers when the thread's copies are done. Without a seed a copy is
 * performed when it is issued, the earliest moment that is legal. With one, chance picks the moment, in no order, and a
 * wait for its group is the latest; until then its place keeps what it held, as on the hardware. Groups are counted a
 * warp: lanes that have diverged may find more copies done than they waited for, never fewer. */
#include "execute.h"
#include "race.h"
#include "shadow.h"
#include "trace.h"

#include <stdlib.h>

/* One instruction's copies, or its arrivals (`bytes` is 0). */
struct fpo_late_copy {
    fpo_late_copy *next;
    uint32_t at; /* index of the instruction */
    uint32_t mask;
    uint32_t bytes;
    uint32_t group;
    uint8_t kept[FPO_PTX_WARP]; /* bytes that are copied, the rest is zero */
    uint8_t *to[FPO_PTX_WARP];
    const uint8_t *from[FPO_PTX_WARP];
    uint64_t mbarrier[FPO_PTX_WARP];
};

static void copy_lanes(const fpo_warp *warp, const fpo_late_copy *copy)
{
    for (FPO_EACH_LANE(lane, copy->mask)) {
        uint8_t *to = copy->to[lane];
        uint32_t kept = copy->kept[lane], shared = (uint32_t)(to - warp->cta->shared);
        memset(to + kept, 0, copy->bytes - kept);
        if (kept != 0)
            memcpy(to, copy->from[lane], kept);
        fpo_trace_copy(warp->cta, shared, (uint64_t)(uintptr_t)copy->from[lane], kept);
        fpo_trace_copy(warp->cta, shared + kept, 0, copy->bytes - kept);
    }
    warp->cta->grid->changes++;
}

/* Whoever has waited at the barrier has waited for the copies before the arrival. */
static bool arrive_lanes(fpo_warp *warp, const fpo_late_copy *copy)
{
    for (FPO_EACH_LANE(lane, copy->mask))
        if (!fpo_mbarrier_keep_promise(warp, copy->mbarrier[lane], copy->group + 1, (int)lane))
            return false;
    return true;
}

static fpo_outcome perform(fpo_warp *warp, const fpo_late_copy *copy)
{
    uint32_t at = warp->at;
    warp->at = copy->at; /* a fault is the issuing instruction's */
    bool ok = true;
    if (copy->bytes != 0)
        copy_lanes(warp, copy);
    else
        ok = arrive_lanes(warp, copy);
    warp->at = at;
    return ok ? FPO_NEXT : FPO_FAULT;
}

static fpo_outcome issue(fpo_warp *warp, const fpo_late_copy *copy)
{
    if (!fpo_is_late(warp))
        return perform(warp, copy);
    fpo_late_copy **end = &warp->late_copies;
    while (*end != NULL)
        end = &(*end)->next;
    *end = malloc(sizeof **end);
    if (*end == NULL)
        return fpo_fault(warp, fpo_first_lane(warp->mask), "out of memory");
    **end = *copy;
    (*end)->next = NULL;
    return FPO_NEXT;
}

static void unlink_copy(fpo_late_copy **link)
{
    fpo_late_copy *copy = *link;
    *link = copy->next;
    free(copy);
}

/* Copies that chance picks, and arrivals before which no copy is left; the first if there has to be one. */
static bool perform_some(fpo_warp *warp, bool one)
{
    bool any = false;
    for (fpo_late_copy **link = &warp->late_copies; *link != NULL && warp->cta->grid->status == FPO_OK;) {
        bool ready = (*link)->bytes != 0 || link == &warp->late_copies;
        if (!ready || (!(one && !any) && fpo_grid_random(warp->cta->grid, 4) != 0)) {
            link = &(*link)->next;
            continue;
        }
        perform(warp, *link);
        unlink_copy(link);
        any = true;
    }
    return any;
}

bool fpo_cta_perform_copies(fpo_cta *cta, bool one)
{
    bool any = false;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        any |= perform_some(&cta->warps[i], one && !any);
    return any;
}

void fpo_copy_async_free(fpo_warp *warp)
{
    while (warp->late_copies != NULL)
        unlink_copy(&warp->late_copies);
}

/* The addresses of one lane's copy. */
static bool locate(fpo_warp *warp, const fpo_ptx_instruction *ins, fpo_late_copy *copy, int lane)
{
    uint32_t bytes = copy->bytes, kept = bytes;
    /* Then the bytes that are copied, a policy, or the former and the latter. */
    if (ins->operands[3].kind != FPO_PTX_NO_OPERAND && ins->operands[3].bytes == 4)
        kept = fpo_u32(warp, &ins->operands[3], lane);
    if (kept > bytes) {
        fpo_fault(warp, lane, "cp.async takes %u of %u bytes", kept, bytes);
        return false;
    }
    uint8_t *to = fpo_locate_shared(warp, fpo_address(warp, &ins->operands[0], lane), bytes, bytes, lane);
    const uint8_t *from = NULL;
    if (to != NULL && kept != 0)
        from = fpo_locate(warp, FPO_PTX_V_GLOBAL, fpo_address(warp, &ins->operands[1], lane), kept, 1, lane);
    if (to == NULL || (kept != 0 && from == NULL))
        return false;
    if ((uintptr_t)from % bytes != 0) {
        fpo_fault(warp, lane, "cp.async of %u bytes from %p", bytes, (const void *)from);
        return false;
    }
    fpo_check_copy_async(warp, (uint32_t)(to - warp->cta->shared), bytes, lane);
    if (kept != 0)
        fpo_check_global_read(warp, (uint64_t)(uintptr_t)from, kept, lane);
    copy->to[lane] = to;
    copy->from[lane] = from;
    copy->kept[lane] = (uint8_t)kept;
    return true;
}

fpo_outcome fpo_do_copy_async(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_late_copy copy = {
        .at = warp->at, .mask = warp->mask, .bytes = fpo_u32(warp, &ins->operands[2], 0), .group = warp->copy_group};
    if (copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16)
        return fpo_fault(warp, fpo_first_lane(warp->mask), "cp.async of %u bytes", copy.bytes);
    for (FPO_EACH_LANE(lane, warp->mask))
        if (!locate(warp, ins, &copy, (int)lane))
            return FPO_FAULT;
    return issue(warp, &copy);
}

fpo_outcome fpo_do_copy_async_commit(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    (void)ins;
    warp->copy_group++;
    return FPO_NEXT;
}

/* Without a number: all copies, those of the open group too. */
fpo_outcome fpo_do_copy_async_wait(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    bool all = ins->operand_count == 0 || ins->operands[0].kind == FPO_PTX_NO_OPERAND;
    uint32_t left = all ? 0 : fpo_u32(warp, &ins->operands[0], fpo_first_lane(warp->mask));
    if (all)
        warp->copy_group++;
    uint32_t done = left < warp->copy_group ? warp->copy_group - left : 0;
    fpo_race_copy_wait(warp, done);
    for (fpo_late_copy **link = &warp->late_copies; *link != NULL;) {
        if ((*link)->bytes == 0 || (*link)->group >= done) {
            link = &(*link)->next;
            continue;
        }
        perform(warp, *link);
        unlink_copy(link);
    }
    return FPO_NEXT;
}

/* Without .noinc the arrival is one more than the phase expects. */
fpo_outcome fpo_do_copy_async_arrive(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_late_copy arrival = {.at = warp->at, .mask = warp->mask, .group = warp->copy_group++};
    for (FPO_EACH_LANE(lane, warp->mask)) {
        arrival.mbarrier[lane] = fpo_address(warp, &ins->operands[0], (int)lane);
        if ((arrival.mbarrier[lane] & FPO_WINDOW_MASK) == FPO_WINDOW_SHARED)
            arrival.mbarrier[lane] &= ~FPO_WINDOW_MASK;
        if (!fpo_mbarrier_promise(warp, arrival.mbarrier[lane], ins->arguments.noinc, (int)lane))
            return FPO_FAULT;
    }
    return issue(warp, &arrival);
}

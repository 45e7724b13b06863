/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Named barriers of a CTA. A warp arrives as a whole and counts for 32 threads, as on the hardware. */
#include "barrier.h"
#include "execute.h"
#include "race.h"

static uint32_t expected_threads(const fpo_cta *cta, const fpo_barrier *barrier)
{
    return barrier->expected != 0 ? barrier->expected : cta->warps_alive * FPO_PTX_WARP;
}

static bool complete_if_full(fpo_cta *cta, fpo_barrier *barrier)
{
    if (barrier->arrived == 0 || barrier->arrived < expected_threads(cta, barrier))
        return false;
    barrier->arrived = 0;
    barrier->expected = 0;
    barrier->generation++;
    fpo_race_barrier_complete(cta, (uint32_t)(barrier - cta->barriers));
    cta->grid->changes++;
    return true;
}

/* A warp that exits is no longer waited for. */
void fpo_barriers_after_exit(fpo_cta *cta)
{
    for (int i = 0; i < FPO_NAMED_BARRIERS; i++)
        if (cta->barriers[i].expected == 0)
            complete_if_full(cta, &cta->barriers[i]);
}

fpo_outcome fpo_do_barrier(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    int first = fpo_first_lane(warp->mask);
    uint32_t id = fpo_u32(warp, &ins->operands[0], first), count = 0;
    if (id >= FPO_NAMED_BARRIERS)
        return fpo_fault(warp, first, "there is no barrier %u", id);
    if (ins->operands[1].kind != FPO_PTX_NO_OPERAND) {
        count = fpo_u32(warp, &ins->operands[1], first);
        if (count == 0 || count % FPO_PTX_WARP != 0)
            return fpo_fault(warp, first, "barrier %u for %u threads: no multiple of 32", id, count);
    }
    fpo_barrier *barrier = &warp->cta->barriers[id];
    if (warp->at_barrier) {
        if (barrier->generation == warp->barrier_generation)
            return FPO_WAITING;
        warp->at_barrier = false;
        fpo_race_barrier_pass(warp, id);
        return FPO_NEXT;
    }
    if (barrier->arrived != 0 && barrier->expected != count)
        return fpo_fault(warp, first, "barrier %u for %u threads, where others wait for %u", id, count,
                         barrier->expected);
    barrier->expected = count;
    barrier->arrived += FPO_PTX_WARP;
    if (barrier->arrived > expected_threads(warp->cta, barrier))
        return fpo_fault(warp, first, "barrier %u for %u threads has %u arrivals", id,
                         expected_threads(warp->cta, barrier), barrier->arrived);
    uint32_t generation = barrier->generation;
    warp->moved = true;
    fpo_race_barrier_arrive(warp, id);
    bool complete = complete_if_full(warp->cta, barrier);
    if (ins->arguments.op == FPO_PTX_V_ARRIVE)
        return FPO_NEXT;
    if (complete) {
        fpo_race_barrier_pass(warp, id);
        return FPO_NEXT;
    }
    warp->at_barrier = true;
    warp->barrier_generation = generation;
    return FPO_WAITING;
}

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
    barrier->held[barrier->generation % 2] = barrier->holding;
    barrier->of[barrier->generation % 2] = barrier->threads;
    barrier->holding = barrier->threads = 0;
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

/* All lanes are here. `threads`: how many are waited for, where the instruction says so; `holding`: of a reduction, the
 * lanes whose predicate holds. */
static fpo_outcome meet(fpo_warp *warp, const fpo_ptx_instruction *ins, const fpo_ptx_operand *number,
                        const fpo_ptx_operand *threads, uint32_t holding)
{
    int first = fpo_first_lane(warp->mask);
    uint32_t id = fpo_u32(warp, number, first), count = 0;
    if (id >= FPO_NAMED_BARRIERS)
        return fpo_fault(warp, first, "there is no barrier %u", id);
    if (threads != NULL && threads->kind != FPO_PTX_NO_OPERAND) {
        count = fpo_u32(warp, threads, first);
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
    if (ins->semantics == FPO_PTX_BARRIER_REDUCE) {
        barrier->holding += (uint32_t)__builtin_popcount(holding & warp->mask);
        barrier->threads += (uint32_t)__builtin_popcount(warp->mask);
    }
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

fpo_outcome fpo_do_barrier(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    return meet(warp, ins, &ins->operands[0], &ins->operands[1], 0);
}

/* Operands: result, barrier, threads if given, predicate. */
fpo_outcome fpo_do_barrier_reduce(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    const fpo_ptx_operand *d = &ins->operands[0], *c = &ins->operands[ins->operand_count - 1];
    const fpo_barrier *barrier =
        &warp->cta->barriers[fpo_u32(warp, d + 1, fpo_first_lane(warp->mask)) % FPO_NAMED_BARRIERS];
    uint32_t generation = warp->at_barrier ? warp->barrier_generation : barrier->generation;
    fpo_outcome outcome = meet(warp, ins, d + 1, ins->operand_count == 4 ? d + 2 : NULL, fpo_predicate(warp, c));
    if (outcome != FPO_NEXT)
        return outcome;
    uint32_t held = barrier->held[generation % 2], of = barrier->of[generation % 2];
    if (ins->arguments.op == FPO_PTX_V_POPC) {
        for (FPO_EACH_LANE(lane, warp->mask))
            ((uint32_t *)fpo_lanes_of(warp, d))[lane] = held;
    } else {
        bool result = ins->arguments.op == FPO_PTX_V_AND ? held == of : held != 0;
        fpo_set_predicate(warp, d, result ? warp->mask : 0);
    }
    return FPO_NEXT;
}

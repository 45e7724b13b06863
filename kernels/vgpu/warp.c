/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Runs a warp: lanes at the lowest pc go first, together, until they meet others or have to wait. */
#include "warp.h"
#include "barrier.h"
#include "trace.h"
#include "cluster.h"

#include <stdarg.h>
#include <stdio.h>

fpo_outcome fpo_fault(fpo_warp *warp, int lane, const char *format, ...)
{
    fpo_grid *grid = warp->cta->grid;
    if (grid->status != FPO_OK)
        return FPO_FAULT;
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const fpo_ptx_instruction *ins = &grid->kernel->code[warp->at];
    const uint32_t *cta = warp->cta->index;
    grid->status =
        fpo_fail(grid->error, FPO_ERR_KERNEL, "PTX line %u, CTA (%u,%u,%u), warp %u, lane %d, `%s`: %s; kernel %.80s",
                 ins->line, cta[0], cta[1], cta[2], warp->id, lane, ins->opcode, what, grid->kernel->name);
    return FPO_FAULT;
}

/* The lanes at the lowest pc among those that can run. */
static void choose_group(fpo_warp *warp)
{
    uint32_t lowest = UINT32_MAX, other = UINT32_MAX, group = 0;
    for (FPO_EACH_LANE(lane, warp->alive & ~warp->waiting)) {
        uint32_t pc = warp->pc[lane];
        if (pc < lowest) {
            other = lowest;
            lowest = pc;
            group = 0;
        } else if (pc > lowest && pc < other) {
            other = pc;
        }
        if (pc == lowest)
            group |= 1u << lane;
    }
    warp->group = group;
    warp->at = lowest;
    warp->next_other = other;
}

static void park(fpo_warp *warp, uint32_t lanes, uint32_t pc)
{
    for (FPO_EACH_LANE(lane, lanes))
        warp->pc[lane] = pc;
}

static void run_lanes(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    void *operands[FPO_PTX_PURE_OPERANDS];
    uint8_t bytes[FPO_PTX_PURE_OPERANDS];
    uint32_t complement[FPO_PTX_PURE_OPERANDS];
    for (uint32_t i = 0; i < ins->operand_count; i++) {
        const fpo_ptx_operand *o = &ins->operands[i];
        operands[i] = fpo_lanes_of(warp, o);
        bytes[i] = o->bytes;
        if (o->negated) {
            complement[i] = ~*(const uint32_t *)operands[i];
            operands[i] = &complement[i];
        }
    }
    ins->lanes(operands, bytes, warp->mask);
}

static bool end_lanes(fpo_warp *warp)
{
    warp->alive &= ~warp->mask;
    warp->group &= ~warp->mask;
    warp->cta->grid->changes++;
    if (warp->alive == 0) {
        warp->cta->warps_alive--;
        fpo_barriers_after_exit(warp->cta);
        fpo_cluster_barrier_after_exit(warp);
    }
    return warp->group == 0;
}

/* One instruction of the group. False: another group has to be chosen, or the warp has to stop (then *stop is set). */
static bool step(fpo_warp *warp, const fpo_ptx_instruction *code, bool *stop)
{
    const fpo_ptx_instruction *ins = &code[warp->at];
    warp->mask = fpo_guard_mask(warp, ins, warp->group);
    if (warp->mask == 0) {
        warp->at++;
        return true;
    }
    if (warp->sources != NULL)
        fpo_trace(warp, ins);
    if (warp->late_loads != NULL)
        fpo_late_loads_check(warp, ins);
    if (warp->open_wgmmas != NULL)
        fpo_open_wgmmas_check(warp, ins);
    fpo_outcome outcome = FPO_NEXT;
    if (ins->lanes != NULL)
        run_lanes(warp, ins);
    else
        outcome = fpo_executors[ins->semantics](warp, ins);
    uint32_t mask = warp->mask;
    warp->moved |= outcome != FPO_WAITING;
    switch (outcome) {
    case FPO_NEXT: warp->at++; return true;
    case FPO_JUMP:
        if (mask == warp->group) {
            warp->at = ins->target;
            return true;
        }
        park(warp, mask, ins->target);
        park(warp, warp->group & ~mask, warp->at + 1);
        return false;
    case FPO_ENDED:
        if (end_lanes(warp))
            return false;
        warp->at++;
        return true;
    case FPO_WAITING:
        park(warp, mask, warp->at);
        park(warp, warp->group & ~mask, warp->at + 1);
        warp->waiting |= mask;
        return false;
    default:
        park(warp, warp->group, warp->at + 1);
        *stop = true;
        return false;
    }
}

void fpo_warp_run(fpo_warp *warp, uint32_t budget)
{
    fpo_grid *grid = warp->cta->grid;
    const fpo_ptx_instruction *code = grid->kernel->code;
    uint64_t executed = 0;
    bool stop = false;
    warp->waiting = 0;
    while (!stop && (warp->alive & ~warp->waiting) != 0 && grid->status == FPO_OK) {
        choose_group(warp);
        bool same = true;
        while (same && warp->at < warp->next_other) {
            if (executed == budget) {
                stop = true;
                break;
            }
            executed++;
            same = step(warp, code, &stop);
        }
        if (same)
            park(warp, warp->group, warp->at);
    }
    grid->statistics.instructions += executed;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Which function executes which semantics, and the small ones of control. */
#include "execute.h"

#include "recipe.h"

const fpo_execute fpo_executors[FPO_PTX_SEMANTICS_COUNT] = {
    NULL,
#define FPO_PTX_SEMANTICS(ID, name, summary) fpo_do_##name,
#include "semantics.inc"
#undef FPO_PTX_SEMANTICS
};

fpo_outcome fpo_do_nothing(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    (void)warp;
    (void)ins;
    return FPO_NEXT;
}

/* Matters to the checks alone: memory is one here. */
fpo_outcome fpo_do_proxy_fence(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    (void)ins;
    warp->fences++;
    return FPO_NEXT;
}

fpo_outcome fpo_do_cache_policy(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint64_t *d = fpo_lanes_of(warp, &ins->operands[0]);
    for (FPO_EACH_LANE(lane, warp->mask))
        d[lane] = 0;
    return FPO_NEXT;
}

fpo_outcome fpo_do_reciprocal(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    float *d = fpo_lanes_of(warp, &ins->operands[0]);
    const float *a = fpo_lanes_of(warp, &ins->operands[1]);
    for (FPO_EACH_LANE(lane, warp->mask))
        d[lane] = ins->arguments.ftz ? fpo_rcp_approx(a[lane]) : fpo_rcp_approx_subnormal(a[lane]);
    return FPO_NEXT;
}

fpo_outcome fpo_do_quotient(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    float *d = fpo_lanes_of(warp, &ins->operands[0]);
    const float *a = fpo_lanes_of(warp, &ins->operands[1]), *b = fpo_lanes_of(warp, &ins->operands[2]);
    for (FPO_EACH_LANE(lane, warp->mask))
        d[lane] = fpo_div_approx(a[lane], b[lane], ins->arguments.full, ins->arguments.ftz);
    return FPO_NEXT;
}

fpo_outcome fpo_do_branch(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    (void)warp;
    (void)ins;
    return FPO_JUMP;
}

fpo_outcome fpo_do_exit(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    (void)warp;
    (void)ins;
    return FPO_ENDED;
}

fpo_outcome fpo_do_trap(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    (void)ins;
    return fpo_fault(warp, fpo_first_lane(warp->mask), "trap");
}

fpo_outcome fpo_do_yield(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    (void)warp;
    (void)ins;
    return FPO_LEAVE;
}

fpo_outcome fpo_do_aligned(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    return fpo_gather(warp, ins, 0xFFFFFFFF) ? FPO_NEXT : FPO_WAITING;
}

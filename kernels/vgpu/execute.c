/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Which function executes which semantics, and the small ones of control. */
#include "execute.h"

#include "mufu.h"
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

static fpo_mufu_function mufu_function(uint8_t op)
{
    switch ((fpo_ptx_value)op) {
#define FPO_MUFU(ID, name)                                                                                             \
    case FPO_PTX_V_##ID:                                                                                               \
        return FPO_MUFU_##ID;
#include "mufu.inc"
#undef FPO_MUFU
    default: return FPO_MUFU_COUNT;
    }
}

/* One or two numbers of 16 bits. */
static uint32_t mufu_half(fpo_mufu_function function, uint8_t type, uint32_t a)
{
    bool bf16 = type == FPO_PTX_BF16 || type == FPO_PTX_BF16X2, two = type == FPO_PTX_F16X2 || type == FPO_PTX_BF16X2;
    uint16_t (*half)(fpo_mufu_function, uint16_t) = bf16 ? fpo_approx_bf16 : fpo_approx_f16;
    return half(function, (uint16_t)a) | (two ? (uint32_t)half(function, (uint16_t)(a >> 16)) << 16 : 0);
}

fpo_outcome fpo_do_mufu(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_mufu_function function = mufu_function(ins->arguments.op);
    void *d = fpo_lanes_of(warp, &ins->operands[0]);
    const void *a = fpo_lanes_of(warp, &ins->operands[1]);
    uint8_t type = ins->arguments.type;
    for (FPO_EACH_LANE(lane, warp->mask)) {
        if (type == FPO_PTX_F32)
            ((float *)d)[lane] = fpo_approx(function, ((const float *)a)[lane], ins->arguments.ftz);
        else if (fpo_ptx_type_bytes((fpo_ptx_type)type) == 4)
            ((uint32_t *)d)[lane] = mufu_half(function, type, ((const uint32_t *)a)[lane]);
        else
            ((uint16_t *)d)[lane] = (uint16_t)mufu_half(function, type, ((const uint16_t *)a)[lane]);
    }
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

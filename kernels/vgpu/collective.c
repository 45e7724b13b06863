/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Instructions that lanes of a warp execute together, with real participation: the lanes that the membermask names must
 * all arrive (those that have exited excepted) before any goes on. */
#include "execute.h"

uint32_t fpo_guard_mask(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t group)
{
    if (!ins->guarded)
        return group;
    uint32_t guard = *(const uint32_t *)(warp->registers + ins->guard);
    return group & (ins->guard_negated ? ~guard : guard);
}

bool fpo_gather(fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t wanted)
{
    wanted &= warp->alive;
    uint32_t here = warp->group;
    for (FPO_EACH_LANE(lane, warp->waiting))
        if (warp->pc[lane] == warp->at)
            here |= 1u << lane;
    if ((here & wanted) != wanted)
        return false;
    warp->waiting &= ~here;
    warp->group = here;
    warp->mask = fpo_guard_mask(warp, ins, here);
    return true;
}

/* The membermask is the last operand; every executing lane must give the same one, with itself in it. */
static bool gather_members(fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t *members, fpo_outcome *otherwise)
{
    const fpo_ptx_operand *operand = &ins->operands[ins->operand_count - 1];
    int first = fpo_first_lane(warp->mask);
    *members = fpo_u32(warp, operand, first);
    if (!(*members >> first & 1)) {
        *otherwise = fpo_fault(warp, first, "the lane is not in its own membermask 0x%08x", *members);
        return false;
    }
    if (!fpo_gather(warp, ins, *members)) {
        *otherwise = FPO_WAITING;
        return false;
    }
    /* Lanes that wait here with another membermask belong to another call. */
    uint32_t same = 0;
    for (FPO_EACH_LANE(lane, warp->mask))
        if (fpo_u32(warp, operand, (int)lane) == *members)
            same |= 1u << lane;
    uint32_t others = warp->group & ~same;
    for (FPO_EACH_LANE(lane, others))
        warp->pc[lane] = warp->at;
    warp->waiting |= others;
    warp->group = same;
    warp->mask = same;
    return true;
}

fpo_outcome fpo_do_warp_sync(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t members;
    fpo_outcome otherwise;
    return gather_members(warp, ins, &members, &otherwise) ? FPO_NEXT : otherwise;
}

/* c holds the segment mask (bits 8 to 12) and the clamp (bits 0 to 4). */
static bool source_lane(fpo_ptx_value how, uint32_t lane, uint32_t b, uint32_t c, uint32_t *source)
{
    uint32_t segment = c >> 8 & 31, clamp = c & 31, offset = b & 31;
    uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    int wanted;
    bool inside;
    switch (how) {
    case FPO_PTX_V_UP:
        wanted = (int)lane - (int)offset;
        inside = wanted >= (int)most;
        break;
    case FPO_PTX_V_DOWN:
        wanted = (int)(lane + offset);
        inside = wanted <= (int)most;
        break;
    case FPO_PTX_V_BFLY:
        wanted = (int)(lane ^ offset);
        inside = wanted <= (int)most;
        break;
    default: wanted = (int)(least | (offset & ~segment)); inside = wanted <= (int)most;
    }
    *source = inside ? (uint32_t)wanted : lane;
    return inside;
}

fpo_outcome fpo_do_shuffle(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t members, predicate = 0, result[FPO_PTX_WARP];
    fpo_outcome otherwise;
    if (!gather_members(warp, ins, &members, &otherwise))
        return otherwise;
    const uint32_t *a = fpo_lanes_of(warp, &ins->operands[2]);
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint32_t source;
        bool inside = source_lane((fpo_ptx_value)ins->arguments.op, lane, fpo_u32(warp, &ins->operands[3], (int)lane),
                                  fpo_u32(warp, &ins->operands[4], (int)lane), &source);
        predicate |= (uint32_t)inside << lane;
        result[lane] = a[source & 31];
    }
    if (ins->operands[0].kind == FPO_PTX_REGISTER) {
        uint32_t *d = fpo_lanes_of(warp, &ins->operands[0]);
        for (FPO_EACH_LANE(lane, warp->mask))
            d[lane] = result[lane];
    }
    fpo_set_predicate(warp, &ins->operands[1], predicate);
    return FPO_NEXT;
}

static void set_all(fpo_warp *warp, const fpo_ptx_operand *operand, uint32_t value)
{
    if (operand->kind != FPO_PTX_REGISTER)
        return;
    uint32_t *d = fpo_lanes_of(warp, operand);
    for (FPO_EACH_LANE(lane, warp->mask))
        d[lane] = value;
}

fpo_outcome fpo_do_vote(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t members;
    fpo_outcome otherwise;
    if (!gather_members(warp, ins, &members, &otherwise))
        return otherwise;
    uint32_t votes = fpo_predicate(warp, &ins->operands[1]) & warp->mask, mask = warp->mask;
    switch (ins->arguments.op) {
    case FPO_PTX_V_BALLOT: set_all(warp, &ins->operands[0], votes); break;
    case FPO_PTX_V_ANY: fpo_set_predicate(warp, &ins->operands[0], votes != 0 ? mask : 0); break;
    case FPO_PTX_V_ALL: fpo_set_predicate(warp, &ins->operands[0], votes == mask ? mask : 0); break;
    default: fpo_set_predicate(warp, &ins->operands[0], votes == 0 || votes == mask ? mask : 0);
    }
    return FPO_NEXT;
}

fpo_outcome fpo_do_match(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t members, result[FPO_PTX_WARP];
    fpo_outcome otherwise;
    if (!gather_members(warp, ins, &members, &otherwise))
        return otherwise;
    bool all = ins->arguments.op == FPO_PTX_V_ALL;
    const fpo_ptx_operand *a = &ins->operands[all ? 2 : 1];
    unsigned bytes = fpo_ptx_type_bytes((fpo_ptx_type)ins->arguments.type);
    const uint8_t *values = fpo_lanes_of(warp, a);
    for (FPO_EACH_LANE(lane, warp->mask)) {
        result[lane] = 0;
        for (FPO_EACH_LANE(other, warp->mask))
            if (memcmp(values + lane * bytes, values + other * bytes, bytes) == 0)
                result[lane] |= 1u << other;
    }
    uint32_t equal = result[fpo_first_lane(warp->mask)] == warp->mask ? warp->mask : 0;
    if (all) {
        set_all(warp, &ins->operands[0], equal);
        fpo_set_predicate(warp, &ins->operands[1], equal);
        return FPO_NEXT;
    }
    uint32_t *d = fpo_lanes_of(warp, &ins->operands[0]);
    for (FPO_EACH_LANE(lane, warp->mask))
        d[lane] = result[lane];
    return FPO_NEXT;
}

/* NaNs are left out unless one is asked for; -0 is less than +0. */
static uint32_t reduce_f32(const fpo_warp *warp, const fpo_ptx_arguments *how, const uint32_t *a)
{
    uint32_t keep = how->abs ? 0x7FFFFFFF : 0xFFFFFFFF, result = 0x7FFFFFFF;
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint32_t x = a[lane] & keep, nan = 0x7F800000, magnitude = 0x7FFFFFFF;
        bool is_nan = (x & magnitude) > nan;
        if (is_nan && how->nan)
            return magnitude;
        if (is_nan)
            continue;
        /* Bits as numbers that are ordered as the floats are. */
        int32_t order = (int32_t)(x >> 31 != 0 ? x ^ magnitude : x);
        int32_t best = (int32_t)(result >> 31 != 0 ? result ^ magnitude : result);
        bool first = (result & magnitude) > nan;
        if (first || (how->op == FPO_PTX_V_MIN ? order < best : order > best))
            result = x;
    }
    return result;
}

fpo_outcome fpo_do_redux(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t members;
    fpo_outcome otherwise;
    if (!gather_members(warp, ins, &members, &otherwise))
        return otherwise;
    const uint32_t *a = fpo_lanes_of(warp, &ins->operands[1]);
    if (ins->arguments.type == FPO_PTX_F32) {
        set_all(warp, &ins->operands[0], reduce_f32(warp, &ins->arguments, a));
        return FPO_NEXT;
    }
    bool is_signed = ins->arguments.type == FPO_PTX_S32;
    int first = fpo_first_lane(warp->mask);
    uint32_t result = a[first];
    for (FPO_EACH_LANE(lane, warp->mask & ~(1u << first))) {
        uint32_t x = a[lane];
        bool less = is_signed ? (int32_t)x < (int32_t)result : x < result;
        switch (ins->arguments.op) {
        case FPO_PTX_V_ADD: result += x; break;
        case FPO_PTX_V_MIN: result = less ? x : result; break;
        case FPO_PTX_V_MAX: result = less ? result : x; break;
        case FPO_PTX_V_AND: result &= x; break;
        case FPO_PTX_V_OR: result |= x; break;
        default: result ^= x;
        }
    }
    set_all(warp, &ins->operands[0], result);
    return FPO_NEXT;
}

fpo_outcome fpo_do_elect(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t members;
    fpo_outcome otherwise;
    if (!gather_members(warp, ins, &members, &otherwise))
        return otherwise;
    int leader = fpo_first_lane(members & warp->mask);
    set_all(warp, &ins->operands[0], (uint32_t)leader);
    fpo_set_predicate(warp, &ins->operands[1], 1u << leader);
    return FPO_NEXT;
}

fpo_outcome fpo_do_activemask(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    set_all(warp, &ins->operands[0], warp->mask);
    return FPO_NEXT;
}

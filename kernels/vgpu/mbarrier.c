/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* mbarriers: 64 bits in shared memory. PTX keeps their content opaque; here it is
 *   bits 0-19 arrivals still missing in this phase, 20-39 arrivals of a phase, 40-60 bytes still expected (signed:
 * bytes may arrive before they are announced), 61 in use (neither zeros nor the pattern of memory that nothing has
 * written have it), 63 parity of the current phase. A phase ends when no arrival and no byte is missing. */
#include "execute.h"
#include "race.h"
#include "shadow.h"

typedef struct mbarrier {
    uint32_t missing, count;
    int32_t bytes;
    bool valid, parity;
} mbarrier;

enum { MBARRIER_MOST = (1 << 20) - 1 };

static mbarrier unpack(uint64_t word)
{
    mbarrier b = {word & MBARRIER_MOST, word >> 20 & MBARRIER_MOST, (int32_t)(word >> 40 & 0x1FFFFF), word >> 61 & 1,
                  word >> 63};
    if (b.bytes & 0x100000)
        b.bytes -= 0x200000;
    return b;
}

static uint64_t pack(mbarrier b)
{
    return b.missing | (uint64_t)b.count << 20 | (uint64_t)(b.bytes & 0x1FFFFF) << 40 | (uint64_t)b.valid << 61 |
           (uint64_t)b.parity << 63;
}

/* The barrier at an address: shared, or generic when the form without a state space is used. Only forms for
 * .shared::cluster reach another CTA's. */
static uint64_t *locate(fpo_warp *warp, const fpo_ptx_instruction *ins, uint64_t address, int lane)
{
    if ((address & FPO_WINDOW_MASK) == FPO_WINDOW_SHARED)
        address &= ~FPO_WINDOW_MASK;
    return ins->arguments.space == FPO_PTX_V_CLUSTER ? fpo_locate_cluster(warp, address, 8, 8, lane)
                                                     : fpo_locate_shared(warp, address, 8, 8, lane);
}

static bool read_barrier(fpo_warp *warp, uint64_t address, int lane, const uint64_t *at, mbarrier *b)
{
    if (at == NULL)
        return false;
    *b = unpack(*at);
    if (!b->valid)
        fpo_fault(warp, lane, "there is no mbarrier at shared address %u", (uint32_t)address);
    return b->valid;
}

static bool load(fpo_warp *warp, const fpo_ptx_instruction *ins, const fpo_ptx_operand *operand, int lane,
                 uint64_t **at, mbarrier *b)
{
    uint64_t address = fpo_address(warp, operand, lane);
    *at = locate(warp, ins, address, lane);
    if (!read_barrier(warp, address, lane, *at, b))
        return false;
    fpo_check_mbarrier_use(warp, *at, lane);
    return true;
}

static void settle(uint64_t *at, mbarrier b)
{
    if (b.missing == 0 && b.bytes == 0) {
        b.parity = !b.parity;
        b.missing = b.count;
    }
    *at = pack(b);
}

static void settle_by(fpo_warp *warp, uint64_t *at, mbarrier b)
{
    settle(at, b);
    fpo_race_mbarrier_arrive(warp, at);
    warp->cta->grid->changes++;
}

fpo_outcome fpo_do_mbarrier_init(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t *at = locate(warp, ins, fpo_address(warp, &ins->operands[0], (int)lane), (int)lane);
        uint32_t count = fpo_u32(warp, &ins->operands[1], (int)lane);
        if (at == NULL)
            return FPO_FAULT;
        if (count == 0 || count > MBARRIER_MOST)
            return fpo_fault(warp, (int)lane, "an mbarrier for %u arrivals", count);
        fpo_check_mbarrier_init(warp, at, (int)lane);
        *at = pack((mbarrier){count, count, 0, true, false});
    }
    return FPO_NEXT;
}

fpo_outcome fpo_do_mbarrier_inval(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t *at;
        mbarrier b;
        if (!load(warp, ins, &ins->operands[0], (int)lane, &at, &b))
            return FPO_FAULT;
        *at = 0;
    }
    return FPO_NEXT;
}

static fpo_outcome expect(fpo_warp *warp, mbarrier *b, int64_t bytes, int lane)
{
    int64_t sum = b->bytes + bytes;
    if (sum > MBARRIER_MOST || sum < -MBARRIER_MOST)
        return fpo_fault(warp, lane, "an mbarrier that expects %lld bytes", (long long)sum);
    b->bytes = (int32_t)sum;
    return FPO_NEXT;
}

/* An arrival that nobody waits for is a launch failure on the hardware (kernels.md 5.2, rule 9). */
static fpo_outcome arrive(fpo_warp *warp, mbarrier *b, uint32_t count, int lane)
{
    if (count == 0 || count > b->missing)
        return fpo_fault(warp, lane, "%u arrivals at an mbarrier that misses %u (%d bytes outstanding)", count,
                         b->missing, b->bytes);
    b->missing -= count;
    return FPO_NEXT;
}

static fpo_outcome arrive_all(fpo_warp *warp, const fpo_ptx_instruction *ins, bool expecting)
{
    const fpo_ptx_operand *d = &ins->operands[0], *n = &ins->operands[2];
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t *at;
        mbarrier b;
        if (!load(warp, ins, &ins->operands[1], (int)lane, &at, &b))
            return FPO_FAULT;
        uint64_t state = *at;
        uint32_t number = n->kind != FPO_PTX_NO_OPERAND ? fpo_u32(warp, n, (int)lane) : 1;
        if ((expecting && expect(warp, &b, number, (int)lane) != FPO_NEXT) ||
            arrive(warp, &b, expecting ? 1 : number, (int)lane) != FPO_NEXT)
            return FPO_FAULT;
        settle_by(warp, at, b);
        if (d->kind == FPO_PTX_REGISTER)
            ((uint64_t *)fpo_lanes_of(warp, d))[lane] = state;
    }
    return FPO_NEXT;
}

fpo_outcome fpo_do_mbarrier_arrive(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    return arrive_all(warp, ins, false);
}

fpo_outcome fpo_do_mbarrier_arrive_expect(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    return arrive_all(warp, ins, true);
}

fpo_outcome fpo_do_mbarrier_expect(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t *at;
        mbarrier b;
        if (!load(warp, ins, &ins->operands[0], (int)lane, &at, &b) ||
            expect(warp, &b, fpo_u32(warp, &ins->operands[1], (int)lane), (int)lane) != FPO_NEXT)
            return FPO_FAULT;
        *at = pack(b);
    }
    return FPO_NEXT;
}

fpo_outcome fpo_mbarrier_complete(fpo_warp *warp, fpo_cta *cta, uint64_t address, uint64_t bytes, int lane)
{
    uint64_t *at = fpo_locate_in(warp, cta, address, 8, 8, lane);
    mbarrier b;
    if (!read_barrier(warp, address, lane, at, &b) || expect(warp, &b, -(int64_t)bytes, lane) != FPO_NEXT)
        return FPO_FAULT;
    fpo_race_mbarrier_bytes(warp, at);
    settle_by(warp, at, b);
    return FPO_NEXT;
}

fpo_outcome fpo_mbarrier_arrive(fpo_warp *warp, fpo_cta *cta, uint64_t address, int lane)
{
    uint64_t *at = fpo_locate_in(warp, cta, address, 8, 8, lane);
    mbarrier b;
    if (!read_barrier(warp, address, lane, at, &b) || arrive(warp, &b, 1, lane) != FPO_NEXT)
        return FPO_FAULT;
    settle_by(warp, at, b);
    return FPO_NEXT;
}

fpo_outcome fpo_do_mbarrier_complete(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t *at;
        mbarrier b;
        if (!load(warp, ins, &ins->operands[0], (int)lane, &at, &b) ||
            expect(warp, &b, -(int64_t)fpo_u32(warp, &ins->operands[1], (int)lane), (int)lane) != FPO_NEXT)
            return FPO_FAULT;
        settle_by(warp, at, b);
    }
    return FPO_NEXT;
}

/* The phase of parity n is complete when the current phase has the other parity; a state names its phase by the parity
 * it has. try_wait suspends until then, and returns false when the machine finds nothing else to run. */
fpo_outcome fpo_do_mbarrier_wait(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t complete = 0;
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t *at;
        mbarrier b;
        if (!load(warp, ins, &ins->operands[1], (int)lane, &at, &b))
            return FPO_FAULT;
        const void *n = fpo_lanes_of(warp, &ins->operands[2]);
        bool phase = ins->arguments.parity ? ((const uint32_t *)n)[lane] & 1 : ((const uint64_t *)n)[lane] >> 63;
        complete |= (uint32_t)(b.parity != phase) << lane;
        if (b.parity != phase)
            fpo_race_mbarrier_pass(warp, at);
    }
    if (complete != warp->mask && ins->arguments.try_wait && !warp->give_up)
        return FPO_WAITING;
    fpo_set_predicate(warp, &ins->operands[0], complete);
    return complete != warp->mask ? FPO_LEAVE : FPO_NEXT;
}

bool fpo_mbarrier_promise(fpo_warp *warp, uint64_t address, bool counted, int lane)
{
    uint64_t *at = fpo_locate_shared(warp, address, 8, 8, lane);
    mbarrier b;
    if (!read_barrier(warp, address, lane, at, &b))
        return false;
    if (!counted && b.missing == MBARRIER_MOST) {
        fpo_fault(warp, lane, "an mbarrier that misses more than %d arrivals", MBARRIER_MOST);
        return false;
    }
    b.missing += !counted;
    *at = pack(b);
    /* What the thread did before is ordered by this arrival; what it does until the copies are done is not. */
    fpo_race_mbarrier_arrive(warp, at);
    return true;
}

bool fpo_mbarrier_keep_promise(fpo_warp *warp, uint64_t address, uint32_t groups, int lane)
{
    uint64_t *at = fpo_locate_shared(warp, address, 8, 8, lane);
    mbarrier b;
    if (!read_barrier(warp, address, lane, at, &b) || arrive(warp, &b, 1, lane) != FPO_NEXT)
        return false;
    fpo_race_copy_arrive(warp, at, groups);
    settle(at, b);
    warp->cta->grid->changes++;
    return true;
}

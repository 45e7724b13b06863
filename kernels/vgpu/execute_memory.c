/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Loads, stores, atomics, conversions of addresses. */
#include "combine.h"
#include "execute.h"
#include "shadow.h"
#include "spread.h"

/* A write to another CTA's shared memory makes its bytes written. */
static void note_remote(const fpo_cluster *cluster, const uint8_t *at, uint32_t bytes, bool write)
{
    for (uint32_t i = 0; write && i < cluster->size; i++) {
        fpo_cta *cta = cluster->ctas[i];
        if (at >= cta->shared && at < cta->shared + cta->shared_end)
            fpo_check_remote_write(cta, (uint32_t)(at - cta->shared), bytes);
    }
}

static bool is_global(const fpo_warp *warp, const fpo_ptx_instruction *ins, const uint8_t *at)
{
    return (ins->arguments.space == FPO_PTX_V_GLOBAL || ins->arguments.space == FPO_PTX_V_GENERIC) &&
           fpo_vgpu_find(warp->cta->grid->gpu, (uint64_t)(uintptr_t)at, 1, warp->last_allocation) != NULL;
}

/* Tells the checks of an access. `orders`: it is atomic, or has an order of its own. */
static void note(fpo_warp *warp, const fpo_ptx_instruction *ins, const uint8_t *at, uint32_t bytes, bool write,
                 bool orders, int lane)
{
    const fpo_cta *cta = warp->cta;
    fpo_ptx_value space = (fpo_ptx_value)ins->arguments.space;
    if (cta->shadow == NULL)
        return;
    if (at >= cta->shared && at < cta->shared + cta->shared_end) {
        uint32_t address = (uint32_t)(at - cta->shared);
        if (orders)
            fpo_check_synchronise(warp, address, bytes, write, lane);
        else if (write)
            fpo_check_write(warp, address, bytes, lane);
        else
            fpo_check_read(warp, address, bytes, lane);
    } else if (is_global(warp, ins, at)) {
        if (write)
            fpo_check_global_write(warp, (uint64_t)(uintptr_t)at, bytes);
        else
            fpo_check_global_read(warp, (uint64_t)(uintptr_t)at, bytes, lane);
    } else if (space == FPO_PTX_V_CLUSTER || space == FPO_PTX_V_GENERIC) {
        note_remote(cta->cluster, at, bytes, write);
    }
}

/* A value of `type` into a register that may be wider: extended by its sign if the type has one, else by zeros. */
static void extend(void *lanes, unsigned register_bytes, int lane, const void *value, fpo_ptx_type type)
{
    unsigned bytes = fpo_ptx_type_bytes(type);
    uint8_t *to = (uint8_t *)lanes + (size_t)(unsigned)lane * register_bytes;
    memcpy(to, value, bytes);
    if (register_bytes > bytes) {
        bool is_signed = type == FPO_PTX_S8 || type == FPO_PTX_S16 || type == FPO_PTX_S32;
        bool negative = is_signed && ((const uint8_t *)value)[bytes - 1] & 0x80;
        memset(to + bytes, negative ? 0xFF : 0, register_bytes - bytes);
    }
}

/* Where each lane's `bytes` (a power of two) are. False after a fault. */
static bool locate_lanes(fpo_warp *warp, const fpo_ptx_instruction *ins, const fpo_ptx_operand *address, uint32_t bytes,
                         bool write, uint8_t *at[FPO_PTX_WARP])
{
    const fpo_cta *cta = warp->cta;
    fpo_ptx_value space = (fpo_ptx_value)ins->arguments.space;
    bool try_plain = space == FPO_PTX_V_SHARED && cta->shadow == NULL;
    bool orders = cta->shadow != NULL && fpo_is_ordered(ins->opcode);
    uint32_t offsets[FPO_PTX_WARP];
    if (try_plain && warp->mask == 0xFFFFFFFF && fpo_plain_shared_warp(warp, address, bytes, offsets)) {
        for (int lane = 0; lane < FPO_PTX_WARP; lane++)
            at[lane] = cta->shared + offsets[lane];
        return true;
    }
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t where = fpo_address(warp, address, (int)lane);
        at[lane] = try_plain ? fpo_plain_shared(cta, where, bytes) : NULL;
        if (at[lane] != NULL)
            continue;
        at[lane] = fpo_locate(warp, space, where, bytes, bytes, (int)lane);
        if (at[lane] == NULL)
            return false;
        note(warp, ins, at[lane], bytes, write, orders, (int)lane);
    }
    return true;
}

/* FPO_EACH_LANE, which is plain counting where all execute. */
#define EACH_LANE_QUICKLY(lane, mask, statement)                                                                       \
    do {                                                                                                               \
        if ((mask) == 0xFFFFFFFF) {                                                                                    \
            for (uint32_t lane = 0; lane < FPO_PTX_WARP; lane++)                                                       \
                statement;                                                                                             \
        } else {                                                                                                       \
            for (FPO_EACH_LANE(lane, mask))                                                                            \
                statement;                                                                                             \
        }                                                                                                              \
    } while (0)

/* Lanes of one register from memory: the common widths, then any. */
static void read_lanes(const fpo_warp *warp, const fpo_ptx_operand *d, fpo_ptx_type type, uint32_t offset,
                       uint8_t *const at[FPO_PTX_WARP])
{
    void *lanes = fpo_lanes_of(warp, d);
    unsigned bytes = fpo_ptx_type_bytes(type);
    if (bytes == 4 && d->bytes == 4)
        EACH_LANE_QUICKLY(lane, warp->mask, memcpy((uint32_t *)lanes + lane, at[lane] + offset, 4));
    else if (bytes == 8 && d->bytes == 8)
        EACH_LANE_QUICKLY(lane, warp->mask, memcpy((uint64_t *)lanes + lane, at[lane] + offset, 8));
    else if (type == FPO_PTX_U8 && d->bytes == 2)
        EACH_LANE_QUICKLY(lane, warp->mask, ((uint16_t *)lanes)[lane] = at[lane][offset]);
    else if (type == FPO_PTX_U8 && d->bytes == 4)
        EACH_LANE_QUICKLY(lane, warp->mask, ((uint32_t *)lanes)[lane] = at[lane][offset]);
    else
        for (FPO_EACH_LANE(lane, warp->mask))
            extend(lanes, d->bytes, (int)lane, at[lane] + offset, type);
}

/* A byte of shared memory for each lane of a whole warp, which is how scale factors are loaded; false: not this. */
static bool load_bytes(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const fpo_cta *cta = warp->cta;
    const fpo_ptx_operand *d = &ins->operands[0];
    uint32_t offsets[FPO_PTX_WARP];
    if (ins->arguments.type != FPO_PTX_U8 || ins->arguments.count != 1 || ins->arguments.space != FPO_PTX_V_SHARED ||
        d->kind != FPO_PTX_REGISTER || d->bytes != 4 || warp->mask != 0xFFFFFFFF || cta->shadow != NULL ||
        !fpo_plain_shared_warp(warp, &ins->operands[1], 1, offsets))
        return false;
    uint32_t *lanes = fpo_lanes_of(warp, d);
    for (int lane = 0; lane < FPO_PTX_WARP; lane++)
        lanes[lane] = cta->shared[offsets[lane]];
    return true;
}

fpo_outcome fpo_do_load(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_ptx_type type = (fpo_ptx_type)ins->arguments.type;
    unsigned bytes = fpo_ptx_type_bytes(type), count = ins->arguments.count;
    uint8_t *at[FPO_PTX_WARP];
    if (load_bytes(warp, ins))
        return FPO_NEXT;
    if (!locate_lanes(warp, ins, &ins->operands[count], bytes * count, false, at))
        return FPO_FAULT;
    for (unsigned i = 0; i < count; i++)
        if (ins->operands[i].kind == FPO_PTX_REGISTER)
            read_lanes(warp, &ins->operands[i], type, i * bytes, at);
    return FPO_NEXT;
}

static void write_lanes(const fpo_warp *warp, const fpo_ptx_operand *b, unsigned bytes, uint32_t offset,
                        uint8_t *const at[FPO_PTX_WARP])
{
    const uint8_t *lanes = fpo_lanes_of(warp, b);
    if (bytes == 4 && b->bytes == 4)
        EACH_LANE_QUICKLY(lane, warp->mask, memcpy(at[lane] + offset, lanes + 4 * lane, 4));
    else
        for (FPO_EACH_LANE(lane, warp->mask))
            memcpy(at[lane] + offset, lanes + (size_t)lane * b->bytes, bytes);
}

/* Lane after lane where two may write to the same place: the last one's value stays, whole. */
fpo_outcome fpo_do_store(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    unsigned bytes = fpo_ptx_type_bytes((fpo_ptx_type)ins->arguments.type), count = ins->arguments.count;
    uint8_t *at[FPO_PTX_WARP];
    if (!locate_lanes(warp, ins, &ins->operands[0], bytes * count, true, at))
        return FPO_FAULT;
    for (unsigned i = 0; i < count; i++)
        write_lanes(warp, &ins->operands[1 + i], bytes, i * bytes, at);
    warp->cta->grid->changes++;
    return FPO_NEXT;
}

static uint64_t read_register(const fpo_warp *warp, const fpo_ptx_operand *operand, unsigned bytes, int lane)
{
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)fpo_lanes_of(warp, operand) + (size_t)(unsigned)lane * operand->bytes, bytes);
    return value;
}

fpo_outcome fpo_do_atomic(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const fpo_ptx_arguments *how = &ins->arguments;
    unsigned bytes = fpo_ptx_type_bytes((fpo_ptx_type)how->type);
    /* atom has a result before the address, red has none. */
    const fpo_ptx_operand *d =
        ins->operands[0].written || ins->operands[0].kind == FPO_PTX_NO_OPERAND ? ins->operands : NULL;
    const fpo_ptx_operand *address = ins->operands + (d != NULL);
    bool exchange = how->op == FPO_PTX_V_CAS;
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t where = fpo_address(warp, address, (int)lane);
        uint8_t *at = fpo_locate(warp, (fpo_ptx_value)how->space, where, bytes, bytes, (int)lane);
        if (at == NULL)
            return FPO_FAULT;
        bool shared = how->space == FPO_PTX_V_SHARED || how->space == FPO_PTX_V_CLUSTER ||
                      (how->space == FPO_PTX_V_GENERIC && (where & FPO_WINDOW_MASK) == FPO_WINDOW_SHARED);
        note(warp, ins, at, bytes, false, true, (int)lane);
        note(warp, ins, at, bytes, true, true, (int)lane);
        uint64_t old = 0;
        memcpy(&old, at, bytes);
        uint64_t b = read_register(warp, address + 1, bytes, (int)lane);
        uint64_t c = exchange ? read_register(warp, address + 2, bytes, (int)lane) : 0;
        uint64_t result = fpo_combine((fpo_ptx_value)how->op, (fpo_ptx_type)how->type, old, b, c, !shared);
        memcpy(at, &result, bytes);
        if (d != NULL && d->kind == FPO_PTX_REGISTER)
            memcpy((uint8_t *)fpo_lanes_of(warp, d) + (size_t)lane * d->bytes, &old, bytes);
    }
    warp->cta->grid->changes++;
    return FPO_NEXT;
}

static uint64_t window_of(fpo_ptx_value space)
{
    switch (space) {
    case FPO_PTX_V_CLUSTER:
    case FPO_PTX_V_SHARED: return FPO_WINDOW_SHARED;
    case FPO_PTX_V_LOCAL: return FPO_WINDOW_LOCAL;
    case FPO_PTX_V_PARAM: return FPO_WINDOW_PARAM;
    default: return 0;
    }
}

fpo_outcome fpo_do_cvta(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint64_t *d = fpo_lanes_of(warp, &ins->operands[0]);
    const uint64_t *a = fpo_lanes_of(warp, &ins->operands[1]);
    uint64_t window = window_of((fpo_ptx_value)ins->arguments.space);
    for (FPO_EACH_LANE(lane, warp->mask))
        d[lane] = a[lane] | window;
    return FPO_NEXT;
}

fpo_outcome fpo_do_cvta_to(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint64_t *d = fpo_lanes_of(warp, &ins->operands[0]);
    const uint64_t *a = fpo_lanes_of(warp, &ins->operands[1]);
    fpo_ptx_value space = (fpo_ptx_value)ins->arguments.space;
    uint64_t window = window_of(space);
    for (FPO_EACH_LANE(lane, warp->mask)) {
        if (a[lane] != 0 && (a[lane] & FPO_WINDOW_MASK) != window)
            return fpo_fault(warp, (int)lane, "0x%llx is no %s address", (unsigned long long)a[lane],
                             fpo_ptx_value_name(space));
        d[lane] = a[lane] & ~FPO_WINDOW_MASK;
    }
    return FPO_NEXT;
}

fpo_outcome fpo_do_isspacep(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const uint64_t *a = fpo_lanes_of(warp, &ins->operands[1]);
    fpo_ptx_value space = (fpo_ptx_value)ins->arguments.space;
    uint32_t result = 0;
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t window = a[lane] & FPO_WINDOW_MASK;
        bool inside = space == FPO_PTX_V_GLOBAL ? window == 0 : space != FPO_PTX_V_CONST && window == window_of(space);
        if (space == FPO_PTX_V_SHARED)
            inside = inside && (uint32_t)a[lane] >> FPO_SHARED_RANK_SHIFT == warp->cta->rank;
        result |= (uint32_t)inside << lane;
    }
    fpo_set_predicate(warp, &ins->operands[0], result);
    return FPO_NEXT;
}

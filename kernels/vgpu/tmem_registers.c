/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* tcgen05.ld and st: which word of tensor memory is in which register of which lane (PTX 9.7.16.2.3.1). A warp reaches
 * the 32 lanes of its place among four; shapes of 16 lanes take the lower or the upper half of them.
 *
 * Both are asynchronous towards other instructions of the warp until tcgen05.wait. Here they take effect at once, for
 * production kernels use what they loaded before the wait (kernels.md 5.3); `late_loads` makes the registers hold a
 * pattern until then. */
#include "execute.h"
#include "shadow.h"
#include "tmem.h"

#include <stdlib.h>

typedef struct place {
    uint32_t lane, column;
} place;

/* Relative to the warp's lanes and to the address's column, in units of 32 bits, or of 16 where two make a register. */
static place place_of(uint32_t shape, uint32_t half_offset, uint32_t thread, uint32_t r)
{
    switch (shape) {
    case 32: return (place){thread, r};
    case 64: return (place){thread / 4 + 8 * (thread & 1), (thread >> 1 & 1) + 2 * r};
    case 128: return (place){thread / 4 + 8 * (r & 1), thread % 4 + 4 * (r >> 1)};
    case 256: return (place){thread / 4 + 8 * (r >> 1 & 1), 2 * (thread % 4) + (r & 1) + 8 * (r >> 2)};
    default: return (place){thread % 16, r + (thread / 16) * half_offset};
    }
}

typedef struct transfer {
    fpo_tmem *memory;
    uint32_t first_lane, column, shape, count, half_offset;
    bool packed;
    const fpo_ptx_operand *registers;
} transfer;

static uint32_t last_column(const transfer *t)
{
    uint32_t most = 0;
    for (uint32_t thread = 0; thread < FPO_PTX_WARP; thread++) {
        uint32_t column = place_of(t->shape, t->half_offset, thread, t->count - 1).column;
        most = column > most ? column : most;
    }
    return t->packed ? 2 * most + 1 : most;
}

static bool begin(fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t address_operand, uint32_t offset_operand,
                  uint32_t registers, transfer *t)
{
    const fpo_ptx_arguments *how = &ins->arguments;
    uint32_t address = (uint32_t)fpo_address(warp, &ins->operands[address_operand], 0);
    uint32_t own = FPO_TMEM_PARTITION * (warp->id % 4), wanted = fpo_tmem_lane(address);
    *t = (transfer){.shape = how->shape,
                    .count = how->count,
                    .column = fpo_tmem_column(address),
                    .packed = how->trans,
                    .registers = &ins->operands[registers]};
    t->half_offset = how->shape == 2 ? fpo_u32(warp, &ins->operands[offset_operand], 0) : 0;
    /* Lane 0 stands for the warp's own first lane: DeepGEMM gives it in every warp. */
    uint32_t within = wanted % FPO_TMEM_PARTITION, partition = wanted - within;
    if ((partition != 0 && partition != own) || (within != 0 && !(how->shape != 32 && within == 16))) {
        fpo_fault(warp, 0, "lane %u of tensor memory: warp %u reaches lanes %u to %u%s", wanted, warp->id, own,
                  own + FPO_TMEM_PARTITION - 1, how->shape != 32 ? ", from the first or the 16th of them on" : "");
        return false;
    }
    t->first_lane = own + within;
    t->memory = fpo_tmem_columns(warp, warp->cta, t->column, last_column(t) + 1, "access", 0);
    return t->memory != NULL;
}

static void check_flight(fpo_warp *warp, const transfer *t)
{
    for (uint32_t c = 0; c <= last_column(t); c++)
        if (t->memory->in_flight[t->column + c] != 0)
            fpo_check_tmem(warp, FPO_CHECK_TMEM_IN_FLIGHT, t->column + c, FPO_EVERY_LANE, 0);
}

static fpo_tmem_region region_of(const transfer *t)
{
    uint32_t groups = t->shape == 32 ? 3 : 1; /* of 16 lanes */
    return (fpo_tmem_region){t->column, last_column(t) + 1, (uint8_t)(groups << t->first_lane / 16)};
}

static uint32_t read_word(fpo_warp *warp, const transfer *t, uint32_t thread, uint32_t r)
{
    place p = place_of(t->shape, t->half_offset, thread, r);
    uint32_t lane = t->first_lane + p.lane;
    if (!t->packed)
        return fpo_tmem_load(warp, t->memory, t->column + p.column, lane, (int)thread);
    uint32_t low = fpo_tmem_load(warp, t->memory, t->column + 2 * p.column, lane, (int)thread),
             high = fpo_tmem_load(warp, t->memory, t->column + 2 * p.column + 1, lane, (int)thread);
    return (low & 0xFFFF) | high << 16;
}

static bool gather_all(fpo_warp *warp, const fpo_ptx_instruction *ins, fpo_outcome *otherwise)
{
    *otherwise = FPO_WAITING;
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return false;
    *otherwise = FPO_NEXT;
    if (warp->mask == 0)
        return false;
    if (warp->mask == 0xFFFFFFFF)
        return true;
    *otherwise = fpo_fault(warp, fpo_first_lane(warp->mask), "only lanes 0x%08x of the warp take part", warp->mask);
    return false;
}

/* Registers whose values a wait will bring. */
struct fpo_late_load {
    fpo_late_load *next;
    const fpo_ptx_operand *registers;
    uint32_t count, line;
    uint32_t word[]; /* count * 32 */
};

static bool keep_for_later(fpo_warp *warp, const transfer *t, uint32_t line)
{
    fpo_late_load *late = malloc(sizeof *late + (size_t)t->count * FPO_PTX_WARP * sizeof late->word[0]);
    if (late == NULL) {
        fpo_fault(warp, 0, "out of memory");
        return false;
    }
    late->next = warp->late_loads;
    late->registers = t->registers;
    late->count = t->count;
    late->line = line;
    warp->late_loads = late;
    for (uint32_t r = 0; r < t->count; r++) {
        uint32_t *lanes = fpo_lanes_of(warp, &t->registers[r]);
        memcpy(&late->word[r * FPO_PTX_WARP], lanes, FPO_PTX_WARP * sizeof *lanes);
        memset(lanes, FPO_POISON, FPO_PTX_WARP * sizeof *lanes);
    }
    return true;
}

static void check_register(fpo_warp *warp, uint32_t slot)
{
    for (const fpo_late_load *late = warp->late_loads; late != NULL; late = late->next)
        for (uint32_t r = 0; r < late->count; r++)
            if (late->registers[r].slot == slot)
                fpo_check_late_register(warp, r, late->line, fpo_first_lane(warp->mask));
}

void fpo_late_loads_check(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (uint32_t i = 0; i < ins->operand_count; i++)
        if (ins->operands[i].kind == FPO_PTX_REGISTER)
            check_register(warp, ins->operands[i].slot);
}

void fpo_late_loads_end(fpo_warp *warp)
{
    while (warp->late_loads != NULL) {
        fpo_late_load *late = warp->late_loads;
        warp->late_loads = late->next;
        for (uint32_t r = 0; r < late->count; r++)
            memcpy(fpo_lanes_of(warp, &late->registers[r]), &late->word[r * FPO_PTX_WARP],
                   FPO_PTX_WARP * sizeof late->word[0]);
        free(late);
    }
}

fpo_outcome fpo_do_tmem_read(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_outcome otherwise;
    if (!gather_all(warp, ins, &otherwise))
        return otherwise;
    transfer t;
    if (!begin(warp, ins, ins->arguments.count, ins->arguments.count + 1u, 0, &t))
        return FPO_FAULT;
    check_flight(warp, &t);
    fpo_tmem_region region = region_of(&t);
    fpo_check_tmem_read(warp, warp->cta, &region, false, 0);
    for (uint32_t r = 0; r < t.count; r++) {
        uint32_t *lanes = fpo_lanes_of(warp, &t.registers[r]);
        for (uint32_t thread = 0; thread < FPO_PTX_WARP; thread++)
            lanes[thread] = read_word(warp, &t, thread, r);
    }
    if (fpo_vgpu_configuration(warp->cta->grid->gpu)->late_loads && !keep_for_later(warp, &t, ins->line))
        return FPO_FAULT;
    return FPO_NEXT;
}

fpo_outcome fpo_do_tmem_write(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_outcome otherwise;
    if (!gather_all(warp, ins, &otherwise))
        return otherwise;
    transfer t;
    if (!begin(warp, ins, 0, 1, ins->arguments.shape == 2 ? 2 : 1, &t))
        return FPO_FAULT;
    check_flight(warp, &t);
    fpo_tmem_region region = region_of(&t);
    fpo_check_tmem_write(warp, warp->cta, &region, false, 0);
    for (uint32_t r = 0; r < t.count; r++) {
        const uint32_t *lanes = fpo_lanes_of(warp, &t.registers[r]);
        for (uint32_t thread = 0; thread < FPO_PTX_WARP; thread++) {
            place p = place_of(t.shape, t.half_offset, thread, r);
            uint32_t lane = t.first_lane + p.lane, word = lanes[thread];
            if (t.packed) {
                fpo_tmem_store(t.memory, t.column + 2 * p.column, lane, word & 0xFFFF);
                fpo_tmem_store(t.memory, t.column + 2 * p.column + 1, lane, word >> 16);
            } else {
                fpo_tmem_store(t.memory, t.column + p.column, lane, word);
            }
        }
    }
    warp->cta->grid->changes++;
    return FPO_NEXT;
}

fpo_outcome fpo_do_tmem_wait(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    if (ins->arguments.read)
        fpo_late_loads_end(warp);
    return FPO_NEXT;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Constants of a kernel: each is an array of 32 equal lanes, made once, so that every source operand is an array. */
#include "parse.h"

#include <string.h>

typedef struct fpo_ptx_constant {
    struct fpo_ptx_constant *next;
    uint64_t low, high;
    int64_t addend;
    uint32_t slot;
    uint8_t bytes;
    int kind; /* fpo_ptx_symbol_kind, -1: a number */
} fpo_ptx_constant;

static uint32_t take_slot(fpo_ptx_builder *b, unsigned bytes)
{
    uint32_t size = bytes == 0 ? 16 : bytes * FPO_PTX_WARP;
    uint32_t slot = (b->constant_bytes + 15) / 16 * 16;
    if (slot + size > b->constant_room) {
        uint32_t room = 2 * b->constant_room + size + 4096;
        uint8_t *larger = fpo_ptx_take(b->parse, room);
        if (b->constant_bytes != 0)
            memcpy(larger, b->constants, b->constant_bytes);
        b->constants = larger;
        b->constant_room = room;
    }
    b->constant_bytes = slot + size;
    return slot;
}

static fpo_ptx_operand operand_of(const fpo_ptx_constant *c)
{
    return (fpo_ptx_operand){.kind = FPO_PTX_CONSTANT, .bytes = c->bytes, .read = true, .slot = c->slot};
}

static fpo_ptx_operand find_or_make(fpo_ptx_builder *b, fpo_ptx_constant wanted)
{
    for (const fpo_ptx_constant *c = b->constant_list; c != NULL; c = c->next)
        if (c->low == wanted.low && c->high == wanted.high && c->bytes == wanted.bytes && c->kind == wanted.kind &&
            c->addend == wanted.addend)
            return operand_of(c);
    fpo_ptx_constant *c = fpo_ptx_take(b->parse, sizeof *c);
    *c = wanted;
    c->slot = take_slot(b, wanted.bytes);
    c->next = b->constant_list;
    b->constant_list = c;
    if (c->kind >= 0) {
        b->relocations = fpo_ptx_grow(b->parse, b->relocations, b->relocation_count, sizeof *b->relocations);
        b->relocations[b->relocation_count++] =
            (fpo_ptx_relocation){c->slot, c->bytes, (uint8_t)c->kind, c->low, c->addend};
    } else if (c->bytes == 0) {
        uint32_t mask = c->low != 0 ? 0xFFFFFFFF : 0;
        memcpy(b->constants + c->slot, &mask, sizeof mask);
    } else {
        uint64_t value[2] = {c->low, c->high};
        for (unsigned lane = 0; lane < FPO_PTX_WARP; lane++)
            memcpy(b->constants + c->slot + lane * c->bytes, value, c->bytes);
    }
    return operand_of(c);
}

fpo_ptx_operand fpo_ptx_number(fpo_ptx_builder *b, unsigned bytes, uint64_t low, uint64_t high)
{
    if (bytes < 8 && bytes > 0)
        low &= ((uint64_t)1 << (8 * bytes)) - 1;
    return find_or_make(b, (fpo_ptx_constant){.low = low, .high = high, .bytes = (uint8_t)bytes, .kind = -1});
}

fpo_ptx_operand fpo_ptx_symbol_constant(fpo_ptx_builder *b, unsigned bytes, fpo_ptx_symbol_kind kind, uint64_t value,
                                        int64_t addend)
{
    return find_or_make(b,
                        (fpo_ptx_constant){.low = value, .addend = addend, .bytes = (uint8_t)bytes, .kind = (int)kind});
}

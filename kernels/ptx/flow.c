/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Liveness of registers. It tells which may be read before anything defines them, and lets registers that are never
 * live together share a slot, so that a warp's registers stay in the cache. A lane's registers are its own, so that
 * liveness along the program of one thread is enough. */
#include "parse.h"

#include <stdio.h>
#include <string.h>

typedef struct liveness {
    const fpo_ptx_builder *b;
    uint32_t *block_of; /* of each instruction */
    uint32_t *start;    /* of each block, and the end of the last */
    uint32_t block_count;
    size_t words; /* of one set of registers */
    uint64_t *use, *definition, *in, *out;
    uint32_t *first, *last; /* of each register: the instructions between which it is live */
} liveness;

static bool has(const uint64_t *sets, const liveness *f, uint32_t block, uint32_t r)
{
    return sets[block * f->words + r / 64] >> (r % 64) & 1;
}

static void put(uint64_t *sets, const liveness *f, uint32_t block, uint32_t r)
{
    sets[block * f->words + r / 64] |= (uint64_t)1 << (r % 64);
}

static bool ends_block(const fpo_ptx_instruction *i)
{
    return i->semantics == FPO_PTX_BRANCH || i->semantics == FPO_PTX_EXIT;
}

static void find_blocks(liveness *f)
{
    const fpo_ptx_builder *b = f->b;
    fpo_ptx_parse *parse = b->parse;
    uint32_t n = b->code_count;
    uint8_t *leads = fpo_ptx_take(parse, n + 1);
    leads[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (b->code[i].semantics == FPO_PTX_BRANCH)
            leads[b->code[i].target] = 1;
        if (ends_block(&b->code[i]))
            leads[i + 1] = 1;
    }
    f->block_of = fpo_ptx_take(parse, n * sizeof *f->block_of);
    f->start = fpo_ptx_take(parse, (n + 1) * sizeof *f->start);
    for (uint32_t i = 0; i < n; i++) {
        if (leads[i])
            f->start[f->block_count++] = i;
        f->block_of[i] = f->block_count - 1;
    }
    f->start[f->block_count] = n;
}

/* A guarded result keeps its old value in the lanes that the guard leaves out, so it does not end a life. */
static void find_local(liveness *f)
{
    const fpo_ptx_builder *b = f->b;
    for (uint32_t block = 0; block < f->block_count; block++) {
        for (uint32_t i = f->start[block]; i < f->start[block + 1]; i++) {
            const fpo_ptx_instruction *ins = &b->code[i];
            if (ins->guarded && !has(f->definition, f, block, ins->guard))
                put(f->use, f, block, ins->guard);
            for (uint32_t k = 0; k < ins->operand_count; k++) {
                const fpo_ptx_operand *o = &ins->operands[k];
                if (o->kind == FPO_PTX_REGISTER && (o->read || ins->guarded) && !has(f->definition, f, block, o->slot))
                    put(f->use, f, block, o->slot);
            }
            for (uint32_t k = 0; k < ins->operand_count; k++) {
                const fpo_ptx_operand *o = &ins->operands[k];
                if (o->kind == FPO_PTX_REGISTER && o->written && !ins->guarded)
                    put(f->definition, f, block, o->slot);
            }
        }
    }
}

static void solve(liveness *f)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t block = f->block_count; block-- > 0;) {
            const fpo_ptx_instruction *last = &f->b->code[f->start[block + 1] - 1];
            bool jumps = last->semantics == FPO_PTX_BRANCH;
            bool falls = block + 1 < f->block_count && (!ends_block(last) || last->guarded);
            for (size_t w = 0; w < f->words; w++) {
                uint64_t out = 0;
                if (jumps)
                    out |= f->in[f->block_of[last->target] * f->words + w];
                if (falls)
                    out |= f->in[(block + 1) * f->words + w];
                size_t at = block * f->words + w;
                uint64_t in = f->use[at] | (out & ~f->definition[at]);
                changed |= in != f->in[at] || out != f->out[at];
                f->in[at] = in;
                f->out[at] = out;
            }
        }
    }
}

static void touch(liveness *f, uint32_t r, uint32_t i)
{
    if (i < f->first[r])
        f->first[r] = i;
    if (i > f->last[r])
        f->last[r] = i;
}

static void find_intervals(liveness *f)
{
    const fpo_ptx_builder *b = f->b;
    f->first = fpo_ptx_take(b->parse, (b->register_count + 1) * sizeof *f->first);
    f->last = fpo_ptx_take(b->parse, (b->register_count + 1) * sizeof *f->last);
    memset(f->first, 0xFF, b->register_count * sizeof *f->first);
    for (uint32_t i = 0; i < b->code_count; i++) {
        const fpo_ptx_instruction *ins = &b->code[i];
        if (ins->guarded)
            touch(f, ins->guard, i);
        for (uint32_t k = 0; k < ins->operand_count; k++)
            if (ins->operands[k].kind == FPO_PTX_REGISTER)
                touch(f, ins->operands[k].slot, i);
    }
    for (uint32_t block = 0; block < f->block_count; block++) {
        for (uint32_t r = 0; r < b->register_count; r++) {
            if (has(f->in, f, block, r))
                touch(f, r, f->start[block]);
            if (has(f->out, f, block, r))
                touch(f, r, f->start[block + 1]);
        }
    }
    for (uint32_t i = 0; i < b->special_count; i++) {
        touch(f, b->specials[i].slot, 0);
        touch(f, b->specials[i].slot, b->code_count);
    }
}

/* What is live when the kernel starts is read before it is defined. */
static void report_undefined(const liveness *f)
{
    fpo_ptx_builder *b = (fpo_ptx_builder *)f->b;
    fpo_ptx_undefined *list = NULL;
    uint32_t count = 0;
    for (uint32_t r = 0; r < b->register_count; r++) {
        if (!has(f->in, f, 0, r) || b->registers[r].special)
            continue;
        uint32_t line = 0;
        bool never = true;
        for (uint32_t i = 0; i < b->code_count; i++) {
            const fpo_ptx_instruction *ins = &b->code[i];
            if (ins->guarded && ins->guard == r && line == 0)
                line = ins->line;
            for (uint32_t k = 0; k < ins->operand_count; k++) {
                const fpo_ptx_operand *o = &ins->operands[k];
                if (o->kind != FPO_PTX_REGISTER || o->slot != r)
                    continue;
                never = never && !o->written;
                if ((o->read || ins->guarded) && line == 0)
                    line = ins->line;
            }
        }
        const fpo_ptx_register *reg = &b->registers[r];
        char name[80];
        int length = reg->number >= 0 ? snprintf(name, sizeof name, "%.60s%d", reg->name, reg->number)
                                      : snprintf(name, sizeof name, "%.60s", reg->name);
        list = fpo_ptx_grow(b->parse, list, count, sizeof *list);
        list[count++] = (fpo_ptx_undefined){fpo_ptx_copy(b->parse, name, (size_t)length), line, never};
    }
    b->kernel->undefined = list;
    b->kernel->undefined_count = count;
}

/* Linear scan: registers in the order in which they come to life; a slot is free again when its register has died. */
static void give_slots(const liveness *f)
{
    enum { POOLS = 17 };
    fpo_ptx_builder *b = (fpo_ptx_builder *)f->b;
    uint32_t n = b->register_count, end = 0;
    uint32_t *starts_at = fpo_ptx_take(b->parse, (b->code_count + 2) * sizeof *starts_at);
    uint32_t *order = fpo_ptx_take(b->parse, (n + 1) * sizeof *order);
    for (uint32_t r = 0; r < n; r++)
        if (f->first[r] <= b->code_count)
            starts_at[f->first[r] + 1]++;
    for (uint32_t i = 0; i <= b->code_count; i++)
        starts_at[i + 1] += starts_at[i];
    uint32_t live = starts_at[b->code_count + 1];
    for (uint32_t r = 0; r < n; r++)
        if (f->first[r] <= b->code_count)
            order[starts_at[f->first[r]]++] = r;
    struct {
        uint32_t slot, free_from;
    } * pools[POOLS] = {NULL};
    uint32_t counts[POOLS] = {0};
    for (uint32_t k = 0; k < live; k++) {
        uint32_t r = order[k], pool = b->registers[r].bytes, found = counts[pool];
        for (uint32_t i = 0; i < counts[pool] && found == counts[pool]; i++)
            if (pools[pool][i].free_from <= f->first[r])
                found = i;
        if (found == counts[pool]) {
            pools[pool] = fpo_ptx_grow(b->parse, pools[pool], counts[pool], sizeof *pools[pool]);
            pools[pool][found].slot = end;
            counts[pool]++;
            end += pool == 0 ? 16 : pool * FPO_PTX_WARP;
        }
        pools[pool][found].free_from = f->last[r] + 1;
        b->registers[r].slot = pools[pool][found].slot;
    }
    b->kernel->register_bytes = end;
}

static void use_slots(fpo_ptx_builder *b)
{
    for (uint32_t i = 0; i < b->code_count; i++) {
        fpo_ptx_instruction *ins = &b->code[i];
        if (ins->guarded)
            ins->guard = b->registers[ins->guard].slot;
        for (uint32_t k = 0; k < ins->operand_count; k++) {
            fpo_ptx_operand *o = (fpo_ptx_operand *)&ins->operands[k];
            if (o->kind == FPO_PTX_REGISTER)
                o->slot = b->registers[o->slot].slot;
        }
    }
    for (uint32_t i = 0; i < b->special_count; i++)
        b->specials[i].slot = b->registers[b->specials[i].slot].slot;
}

void fpo_ptx_flow(fpo_ptx_builder *b)
{
    liveness f = {.b = b, .words = b->register_count / 64 + 1};
    find_blocks(&f);
    size_t bytes = f.block_count * f.words * sizeof(uint64_t);
    f.use = fpo_ptx_take(b->parse, bytes);
    f.definition = fpo_ptx_take(b->parse, bytes);
    f.in = fpo_ptx_take(b->parse, bytes);
    f.out = fpo_ptx_take(b->parse, bytes);
    find_local(&f);
    solve(&f);
    report_undefined(&f);
    find_intervals(&f);
    give_slots(&f);
    use_slots(b);
}

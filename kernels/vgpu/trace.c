/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Sources through copies: see trace.h. What an instruction computes has no source, unless it moves whole bytes. */
#include "trace.h"

#include <stdlib.h>

enum { MOST_BYTES = 32, WORD = 4 };

bool fpo_trace_start(fpo_cta *cta)
{
    if (fpo_vgpu_traced(cta->grid->gpu) == NULL)
        return true;
    size_t registers = cta->grid->kernel->register_bytes;
    cta->sources = calloc(cta->shared_end + (size_t)cta->warp_count * registers, sizeof *cta->sources);
    for (uint32_t i = 0; cta->sources != NULL && i < cta->warp_count; i++)
        cta->warps[i].sources = cta->sources + cta->shared_end + i * registers;
    return cta->sources != NULL;
}

void fpo_trace_stop(fpo_cta *cta)
{
    free(cta->sources);
}

void fpo_trace_copy(fpo_cta *cta, uint32_t shared, uint64_t global, uint64_t bytes)
{
    for (uint64_t i = 0; cta->sources != NULL && i < bytes && shared + i < cta->shared_end; i++)
        cta->sources[shared + i] = global != 0 ? global + i : FPO_SOURCE_FILL;
}

static bool starts(const char *opcode, const char *with)
{
    return strncmp(opcode, with, strlen(with)) == 0;
}

static void clear_lane(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane)
{
    for (uint32_t i = 0; i < ins->operand_count; i++)
        for (uint32_t b = 0; ins->operands[i].written && b < ins->operands[i].bytes; b++)
            fpo_set_source(warp, &ins->operands[i], lane, b, 0);
}

static void clear_results(const fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask))
        clear_lane(warp, ins, lane);
}

/* ---- instructions that move bytes ---- */

static uint32_t value_of(const fpo_warp *warp, const fpo_ptx_operand *o, uint32_t lane)
{
    uint32_t value = 0;
    memcpy(&value, (const uint8_t *)fpo_lanes_of(warp, o) + (size_t)lane * o->bytes, o->bytes < WORD ? o->bytes : WORD);
    return value;
}

/* All results one after the other get the bytes of all others one after the other. */
static void move_bytes(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane)
{
    uint64_t bytes[MOST_BYTES] = {0};
    uint32_t count = 0, at = 0;
    for (uint32_t i = 0; i < ins->operand_count; i++)
        for (uint32_t b = 0; !ins->operands[i].written && b < ins->operands[i].bytes && count < MOST_BYTES; b++)
            bytes[count++] = fpo_source(warp, &ins->operands[i], lane, b);
    for (uint32_t i = 0; i < ins->operand_count; i++)
        for (uint32_t b = 0; ins->operands[i].written && b < ins->operands[i].bytes; b++, at++)
            fpo_set_source(warp, &ins->operands[i], lane, b, at < MOST_BYTES ? bytes[at] : 0);
}

/* One result; byte b of it comes from byte `from[b]` of operands 1 and 2 (each `width` bytes), -1: from nowhere. */
static void pick(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane, const int *from)
{
    const fpo_ptx_operand *d = &ins->operands[0];
    uint64_t bytes[8] = {0};
    for (uint32_t b = 0; b < d->bytes && b < 8; b++)
        if (from[b] >= 0)
            bytes[b] =
                fpo_source(warp, &ins->operands[1 + (uint32_t)from[b] / d->bytes], lane, (uint32_t)from[b] % d->bytes);
    for (uint32_t b = 0; b < d->bytes && b < 8; b++)
        fpo_set_source(warp, d, lane, b, bytes[b]);
}

static void permute(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane)
{
    uint32_t selector = value_of(warp, &ins->operands[3], lane);
    int from[8] = {0};
    for (int b = 0; b < WORD; b++)
        from[b] = (int)(selector >> (4 * b) & 7);
    pick(warp, ins, lane, from);
}

/* bfi: bits [position, position + length) of operand 2 become the low bits of operand 1. */
static void insert_field(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane)
{
    int position = (int)value_of(warp, &ins->operands[3], lane), length = (int)value_of(warp, &ins->operands[4], lane);
    int from[8], width = ins->operands[0].bytes;
    for (int b = 0; b < width && b < 8; b++) {
        bool inside = 8 * b >= position && 8 * b + 8 <= position + length;
        bool outside = 8 * b + 8 <= position || 8 * b >= position + length;
        from[b] = inside && position % 8 == 0 ? b - position / 8 : outside ? width + b : -1;
    }
    pick(warp, ins, lane, from);
}

/* Shifts by whole bytes; bfe too. */
static void shift(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane, bool left)
{
    int by = (int)value_of(warp, &ins->operands[2], lane), width = ins->operands[0].bytes, from[8];
    for (int b = 0; b < width && b < 8; b++) {
        int source = left ? b - by / 8 : b + by / 8;
        from[b] = by % 8 == 0 && source >= 0 && source < width ? source : -1;
    }
    pick(warp, ins, lane, from);
}

/* mul by 2^8, 2^16 or 2^24, into a wider register perhaps: a shift. */
static void multiply(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane)
{
    const fpo_ptx_operand *d = &ins->operands[0], *a = &ins->operands[1];
    uint32_t by = value_of(warp, &ins->operands[2], lane);
    uint32_t bytes = by == 1u << 8 ? 1 : by == 1u << 16 ? 2 : by == 1u << 24 ? 3 : MOST_BYTES;
    uint64_t source[8] = {0};
    for (uint32_t b = bytes; b < d->bytes && b < 8; b++)
        source[b] = fpo_source(warp, a, lane, b - bytes);
    for (uint32_t b = 0; b < d->bytes && b < 8; b++)
        fpo_set_source(warp, d, lane, b, source[b]);
}

/* A byte that `and` with a constant clears. */
static bool is_masked(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane, int byte)
{
    for (int i = 1; i <= 2 && ins->opcode[0] == 'a' && ins->opcode[1] == 'n'; i++)
        if (ins->operands[i].kind == FPO_PTX_CONSTANT && byte < WORD &&
            (value_of(warp, &ins->operands[i], lane) >> (8 * byte) & 255) == 0)
            return true;
    return false;
}

/* or, and, xor, add: of each byte, the source of the operand that has one; of two, that which is not zero. */
static void merge(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane)
{
    int width = ins->operands[0].bytes, from[8];
    for (int b = 0; b < width && b < 8; b++) {
        bool second = fpo_source(warp, &ins->operands[1], lane, (uint32_t)b) == 0;
        if (!second && fpo_source(warp, &ins->operands[2], lane, (uint32_t)b) != 0)
            second = b < WORD && (value_of(warp, &ins->operands[1], lane) >> (8 * b) & 255) == 0;
        from[b] = is_masked(warp, ins, lane, b) ? -1 : second ? width + b : b;
    }
    pick(warp, ins, lane, from);
}

static void choose(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane)
{
    int width = ins->operands[0].bytes, from[8];
    bool first = fpo_predicate(warp, &ins->operands[3]) >> lane & 1;
    for (int b = 0; b < width && b < 8; b++)
        from[b] = first ? b : width + b;
    pick(warp, ins, lane, from);
}

static void trace_pure(const fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const char *op = ins->opcode;
    bool moves = starts(op, "mov.") || (starts(op, "cvt.") && strstr(op, ".f") == NULL && strstr(op, ".r") == NULL);
    bool merges = starts(op, "or.b") || starts(op, "xor.b") || starts(op, "and.b") || starts(op, "add.");
    for (FPO_EACH_LANE(lane, warp->mask)) {
        if (moves)
            move_bytes(warp, ins, lane);
        else if (strcmp(op, "prmt.b32") == 0)
            permute(warp, ins, lane);
        else if (starts(op, "bfi."))
            insert_field(warp, ins, lane);
        else if (starts(op, "shl.") || starts(op, "shr.") || starts(op, "bfe."))
            shift(warp, ins, lane, op[2] == 'l');
        else if (merges)
            merge(warp, ins, lane);
        else if (starts(op, "selp."))
            choose(warp, ins, lane);
        else if (starts(op, "mul.wide.u") || starts(op, "mul.lo."))
            multiply(warp, ins, lane);
        else
            clear_lane(warp, ins, lane);
    }
}

/* ---- memory ---- */

/* Sources of the CTA's shared memory from an address on; NULL: not there, or not all of it. */
static uint64_t *shared_sources(const fpo_warp *warp, uint64_t address, uint32_t bytes)
{
    const uint8_t *at = fpo_plain_shared(warp->cta, address & ~FPO_WINDOW_MASK, 1);
    uint32_t offset = at != NULL ? (uint32_t)(at - warp->cta->shared) : 0;
    return at != NULL && bytes <= warp->cta->shared_end - offset ? warp->cta->sources + offset : NULL;
}

static bool is_shared(const fpo_ptx_instruction *ins, uint64_t address)
{
    return ins->arguments.space == FPO_PTX_V_SHARED ||
           (ins->arguments.space == FPO_PTX_V_GENERIC && (address & FPO_WINDOW_MASK) == FPO_WINDOW_SHARED);
}

static void trace_load(const fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t bytes = fpo_ptx_type_bytes((fpo_ptx_type)ins->arguments.type), count = ins->arguments.count;
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t address = fpo_address(warp, &ins->operands[count], (int)lane);
        const uint64_t *shared = is_shared(ins, address) ? shared_sources(warp, address, bytes * count) : NULL;
        bool global = ins->arguments.space == FPO_PTX_V_GLOBAL || ins->arguments.space == FPO_PTX_V_GENERIC;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t b = 0; b < ins->operands[i].bytes; b++) {
                uint32_t at = i * bytes + b;
                uint64_t source = shared != NULL ? shared[at] : global ? address + at : 0;
                fpo_set_source(warp, &ins->operands[i], lane, b, b < bytes ? source : 0);
            }
    }
}

static void trace_store(const fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t bytes = fpo_ptx_type_bytes((fpo_ptx_type)ins->arguments.type), count = ins->arguments.count;
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t address = fpo_address(warp, &ins->operands[0], (int)lane);
        uint64_t *shared = is_shared(ins, address) ? shared_sources(warp, address, bytes * count) : NULL;
        for (uint32_t at = 0; shared != NULL && at < bytes * count; at++)
            shared[at] = fpo_source(warp, &ins->operands[1 + at / bytes], lane, at % bytes);
    }
}

/* A lane's word of row line of matrix i: bytes 4 * (lane % 4) and on; of packed elements, each byte's own. */
static void trace_matrix(const fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t packed_bits)
{
    uint32_t count = ins->arguments.count;
    const fpo_ptx_operand *address = &ins->operands[count];
    if (ins->arguments.trans || warp->mask != 0xFFFFFFFF) {
        clear_results(warp, ins);
        return;
    }
    const uint64_t *rows[FPO_PTX_WARP];
    for (uint32_t i = 0; i < 8 * count; i++)
        rows[i] = shared_sources(warp, fpo_address(warp, address, (int)i), 16);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t lane = 0; lane < FPO_PTX_WARP; lane++)
            for (uint32_t b = 0; b < WORD; b++) {
                const uint64_t *row = rows[8 * i + lane / 4];
                uint32_t element = WORD * (lane % 4) + b, at = packed_bits != 0 ? element * packed_bits / 8 : element;
                fpo_set_source(warp, &ins->operands[i], lane, b, row != NULL ? row[at] : 0);
            }
}

/* The way back: stmatrix. */
static void trace_store_matrix(const fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (warp->mask != 0xFFFFFFFF)
        return;
    for (uint32_t i = 0; i < 8u * ins->arguments.count; i++) {
        uint64_t *row = shared_sources(warp, fpo_address(warp, &ins->operands[0], (int)i), 16);
        for (uint32_t b = 0; row != NULL && b < 16; b++)
            row[b] = ins->arguments.trans
                         ? 0
                         : fpo_source(warp, &ins->operands[1 + i / 8], WORD * (i % 8) + b / WORD, b % WORD);
    }
}

void fpo_trace(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    switch (ins->semantics) {
    case FPO_PTX_PURE: trace_pure(warp, ins); break;
    case FPO_PTX_LOAD: trace_load(warp, ins); break;
    case FPO_PTX_STORE: trace_store(warp, ins); break;
    case FPO_PTX_LOAD_MATRIX: trace_matrix(warp, ins, 0); break;
    case FPO_PTX_STORE_MATRIX: trace_store_matrix(warp, ins); break;
    case FPO_PTX_LOAD_MATRIX_PACKED: trace_matrix(warp, ins, ins->arguments.op == FPO_PTX_V_B4 ? 4 : 6); break;
    case FPO_PTX_MMA:
    case FPO_PTX_MMA_SCALED: fpo_trace_mma(warp, ins); break;
    default: clear_results(warp, ins);
    }
}

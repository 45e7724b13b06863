/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Hopper's wgmma, m64: each warp of the warpgroup computes 16 rows. Matrices lie in shared memory behind descriptors:
 * start in bits 0-13, leading and stride offsets in 16-29 and 32-45 (all in units of 16 bytes), swizzle in 62-63
 * (1: 128 bytes, 2: 64, 3: 32). The instruction is performed at once; its waits have nothing left to do. */
#include "execute.h"
#include "mma.h"
#include "shadow.h"

enum { ROW_BYTES = 32, WARP_ROWS = 16 };

/* 32 bytes of K of one row: two granules of 16 bytes. */
static bool fetch_row(fpo_warp *warp, uint64_t descriptor, int row, uint8_t bytes[ROW_BYTES])
{
    uint32_t start = (uint32_t)(descriptor & 0x3FFF) << 4, leading = (uint32_t)(descriptor >> 16 & 0x3FFF) << 4,
             stride = (uint32_t)(descriptor >> 32 & 0x3FFF) << 4, swizzle = (uint32_t)(descriptor >> 62);
    uint32_t span = swizzle == 0 ? 16 : 256u >> swizzle, mask = swizzle == 0 ? 0 : span / 16 - 1;
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t address =
            start + (uint32_t)(row / 8) * stride + (uint32_t)(row % 8) * span + half * (swizzle == 0 ? leading : 16);
        address ^= (address >> 7 & mask) << 4;
        const uint8_t *at = fpo_locate_in(warp, warp->cta, address, 16, 16, 0);
        if (at == NULL)
            return false;
        fpo_check_read(warp, address, 16, 0);
        memcpy(bytes + 16 * half, at, 16);
    }
    return true;
}

static int element_bytes(fpo_format element)
{
    return element == FPO_F32 ? 4 : element == FPO_F16 || element == FPO_BF16 ? 2 : 1;
}

/* Negation flips the sign of every element. */
static void put_row(const fpo_mma_unit *unit, int which, fpo_mma_side *side, int row, int k, const uint8_t *bytes,
                    int count, bool negate)
{
    int width = element_bytes(unit->element[which]);
    for (int i = 0; i < count / width; i++) {
        uint32_t code = 0;
        memcpy(&code, bytes + i * width, (size_t)width);
        fpo_mma_put(unit, which, side, row, k + i, negate ? code ^ 1u << (8 * width - 1) : code);
    }
}

static fpo_vgpu_mma kind_of(const fpo_ptx_arguments *how)
{
    bool f16 = how->op == FPO_PTX_V_F16;
    switch (how->a) {
    case FPO_PTX_V_F16: return f16 ? FPO_VGPU_WGMMA_F16_F16ACC : FPO_VGPU_WGMMA_F16;
    case FPO_PTX_V_BF16: return FPO_VGPU_WGMMA_BF16;
    case FPO_PTX_V_TF32: return FPO_VGPU_WGMMA_TF32;
    default: return f16 ? FPO_VGPU_WGMMA_FP8_F16ACC : FPO_VGPU_WGMMA_FP8;
    }
}

/* D's register r of a lane: f32 has rows g + 8 * (r >> 1 & 1), columns 8 * (r >> 2) + 2q + (r & 1). */
static void move_accumulators(fpo_warp *warp, const fpo_ptx_operand *operands, int n, bool f16, uint32_t *d, bool load)
{
    for (int r = 0; r < n / 2; r++) {
        uint32_t *lanes = fpo_lanes_of(warp, &operands[f16 ? r / 2 : r]);
        for (int lane = 0; lane < FPO_PTX_WARP; lane++) {
            uint32_t *at = &d[(lane / 4 + 8 * (r >> 1 & 1)) * n + 8 * (r >> 2) + 2 * (lane % 4) + (r & 1)];
            if (load)
                *at = f16 ? lanes[lane] >> (16 * (r & 1)) & 0xFFFF : lanes[lane];
            else if (f16)
                lanes[lane] = (lanes[lane] & 0xFFFFu << (16 * (1 - (r & 1)))) | *at << (16 * (r & 1));
            else
                lanes[lane] = *at;
        }
    }
}

fpo_outcome fpo_do_wgmma(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const fpo_ptx_arguments *how = &ins->arguments;
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    if (warp->mask != 0xFFFFFFFF)
        return fpo_fault(warp, fpo_first_lane(warp->mask), "only lanes 0x%08x of the warp take part", warp->mask);
    fpo_format element_a = fpo_mma_format((fpo_ptx_value)how->a), element_b = fpo_mma_format((fpo_ptx_value)how->b);
    const fpo_mma_unit *unit = fpo_mma_prepare(warp, kind_of(how), element_a, element_b, FPO_FORMAT_NONE,
                                               ROW_BYTES / element_bytes(element_a), 0);
    if (unit == NULL)
        return FPO_FAULT;
    bool f16 = how->op == FPO_PTX_V_F16, from_registers = how->count == 4;
    int n = how->shape;
    const fpo_ptx_operand *next = ins->operands + (f16 ? n / 4 : n / 2), *a_operand = next;
    next += from_registers ? 4 : 1;
    uint64_t b_descriptor = ((const uint64_t *)fpo_lanes_of(warp, next))[0];
    bool keep = fpo_predicate(warp, next + 1) & 1;
    int32_t sign_a = (int32_t)fpo_u32(warp, next + 2, 0), sign_b = (int32_t)fpo_u32(warp, next + 3, 0);
    for (const fpo_ptx_operand *t = next + 4; t < ins->operands + ins->operand_count; t++)
        if (fpo_u32(warp, t, 0) != 0)
            return fpo_fault(warp, 0, "transposed operands are not supported");
    if ((sign_a != 1 && sign_a != -1) || (sign_b != 1 && sign_b != -1))
        return fpo_fault(warp, 0, "signs %d and %d", sign_a, sign_b);
    fpo_mma_side *a = &warp->cta->grid->mma->a, *b = &warp->cta->grid->mma->b;
    fpo_mma_start(a, WARP_ROWS);
    fpo_mma_start(b, n);
    uint8_t bytes[ROW_BYTES];
    if (from_registers) {
        int per = 4 / element_bytes(element_a);
        for (int r = 0; r < 4; r++)
            for (int lane = 0; lane < FPO_PTX_WARP; lane++)
                put_row(unit, 0, a, lane / 4 + 8 * (r & 1), per * (lane % 4) + 4 * per * (r >> 1),
                        (const uint8_t *)fpo_lanes_of(warp, &a_operand[r]) + 4 * lane, 4, sign_a < 0);
    } else {
        uint64_t a_descriptor = ((const uint64_t *)fpo_lanes_of(warp, a_operand))[0];
        for (int row = 0; row < WARP_ROWS; row++) {
            if (!fetch_row(warp, a_descriptor, WARP_ROWS * (int)(warp->id % 4) + row, bytes))
                return FPO_FAULT;
            put_row(unit, 0, a, row, 0, bytes, ROW_BYTES, sign_a < 0);
        }
    }
    for (int row = 0; row < n; row++) {
        if (!fetch_row(warp, b_descriptor, row, bytes))
            return FPO_FAULT;
        put_row(unit, 1, b, row, 0, bytes, ROW_BYTES, sign_b < 0);
    }
    uint32_t d[WARP_ROWS * FPO_MMA_ROWS] = {0};
    if (keep)
        move_accumulators(warp, ins->operands, n, f16, d, true);
    fpo_mma_multiply(unit, a, b, d);
    move_accumulators(warp, ins->operands, n, f16, d, false);
    warp->cta->grid->statistics.mmas++;
    return FPO_NEXT;
}

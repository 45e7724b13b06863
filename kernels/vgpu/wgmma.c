/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Hopper's wgmma, m64: each warp of the warpgroup computes 16 rows. Matrices lie in shared memory behind descriptors
 * (matrix_descriptor.h). A warp's part of the instruction is performed at once. It is the warpgroup's, though: what waits
 * for it waits until all four warps have performed theirs, and kernels rely on that when one thread then frees the shared
 * memory of all. */
#include "execute.h"
#include "matrix_descriptor.h"
#include "mma.h"

enum { ROW_BYTES = 32, WARP_ROWS = 16, GRANULE = 16 };

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

/* Rows [first, first + rows) of the matrix become rows from 0 on; `across`: K is not contiguous. */
static bool load_matrix(fpo_warp *warp, const fpo_mma_unit *unit, int which, fpo_mma_side *side, uint64_t descriptor,
                        bool across, bool negate, int first, int rows)
{
    fpo_matrix matrix;
    const char *problem = fpo_matrix_of_wgmma(descriptor, &matrix);
    int width = element_bytes(unit->element[which]), per = GRANULE / width;
    if (problem == NULL && across && width != 2)
        problem = "transposition, which 16-bit elements have";
    if (problem != NULL) {
        fpo_fault(warp, 0, "descriptor 0x%016llx of %c: %s", (unsigned long long)descriptor, 'A' + which, problem);
        return false;
    }
    uint8_t bytes[GRANULE];
    for (int row = 0; !across && row < rows; row++) {
        for (int half = 0; half < ROW_BYTES / GRANULE; half++) {
            if (!fpo_matrix_fetch(warp, warp->cta, &matrix, true, (uint32_t)(first + row), (uint32_t)half, bytes, 0))
                return false;
            put_row(unit, which, side, row, half * per, bytes, GRANULE, negate);
        }
    }
    for (int k = 0; across && k < ROW_BYTES / width; k++) {
        for (int row = 0; row < rows; row += per) {
            if (!fpo_matrix_fetch(warp, warp->cta, &matrix, false, (uint32_t)k, (uint32_t)((first + row) / per), bytes, 0))
                return false;
            for (int e = 0; e < per; e++)
                put_row(unit, which, side, row + e, k, bytes + e * width, width, negate);
        }
    }
    return true;
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
    /* The last operands say which matrices in shared memory are transposed. */
    const fpo_ptx_operand *end = ins->operands + ins->operand_count, *across = next + 4;
    bool across_a = !from_registers && across < end && fpo_u32(warp, across, 0) != 0,
         across_b = across < end && fpo_u32(warp, end - 1, 0) != 0;
    if ((sign_a != 1 && sign_a != -1) || (sign_b != 1 && sign_b != -1))
        return fpo_fault(warp, 0, "signs %d and %d", sign_a, sign_b);
    fpo_mma_side *a = &warp->cta->grid->mma->a, *b = &warp->cta->grid->mma->b;
    fpo_mma_start(a, WARP_ROWS);
    fpo_mma_start(b, n);
    if (from_registers) {
        int per = 4 / element_bytes(element_a);
        for (int r = 0; r < 4; r++)
            for (int lane = 0; lane < FPO_PTX_WARP; lane++)
                put_row(unit, 0, a, lane / 4 + 8 * (r & 1), per * (lane % 4) + 4 * per * (r >> 1),
                        (const uint8_t *)fpo_lanes_of(warp, &a_operand[r]) + 4 * lane, 4, sign_a < 0);
    } else if (!load_matrix(warp, unit, 0, a, ((const uint64_t *)fpo_lanes_of(warp, a_operand))[0], across_a,
                            sign_a < 0, WARP_ROWS * (int)(warp->id % 4), WARP_ROWS)) {
        return FPO_FAULT;
    }
    if (!load_matrix(warp, unit, 1, b, b_descriptor, across_b, sign_b < 0, 0, n))
        return FPO_FAULT;
    uint32_t d[WARP_ROWS * FPO_MMA_ROWS] = {0};
    if (keep)
        move_accumulators(warp, ins->operands, n, f16, d, true);
    fpo_mma_multiply(unit, a, b, d);
    move_accumulators(warp, ins->operands, n, f16, d, false);
    warp->wgmmas++;
    warp->cta->grid->statistics.mmas++;
    return FPO_NEXT;
}

fpo_outcome fpo_do_wgmma_commit(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    warp->wgmma_group_end[warp->wgmma_groups++ % FPO_WGMMA_GROUPS] = warp->wgmmas;
    return FPO_NEXT;
}

fpo_outcome fpo_do_wgmma_wait(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    uint32_t left = fpo_u32(warp, &ins->operands[0], 0);
    if (left >= FPO_WGMMA_GROUPS)
        return fpo_fault(warp, fpo_first_lane(warp->mask), "a wait that leaves %u groups: %d at most", left,
                         FPO_WGMMA_GROUPS - 1);
    if (warp->wgmma_groups <= left)
        return FPO_NEXT;
    uint64_t end = warp->wgmma_group_end[(warp->wgmma_groups - 1 - left) % FPO_WGMMA_GROUPS];
    const fpo_cta *cta = warp->cta;
    for (uint32_t i = warp->id & ~3u; i < cta->warp_count && i < (warp->id | 3u) + 1; i++)
        if (cta->warps[i].alive != 0 && cta->warps[i].wgmmas < end)
            return FPO_WAITING;
    return FPO_NEXT;
}

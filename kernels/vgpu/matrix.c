/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* ldmatrix and stmatrix: lane 8*i + r names row r of matrix i; afterwards lane l has elements 2*(l%4) and 2*(l%4) + 1
 * of row l/4 (of column l/4 with .trans) of each matrix in one register. */
#include "execute.h"
#include "shadow.h"

/* Rows of all matrices, 16 bytes each, of which the first are used; false after a fault. */
static bool find_rows(fpo_warp *warp, const fpo_ptx_operand *address, unsigned count, bool write, unsigned used,
                      uint8_t *rows[FPO_PTX_WARP])
{
    const fpo_cta *cta = warp->cta;
    uint32_t offsets[FPO_PTX_WARP];
    if (cta->shadow == NULL && fpo_plain_shared_warp(warp, address, 16, offsets)) {
        for (unsigned i = 0; i < FPO_PTX_WARP; i++)
            rows[i] = cta->shared + offsets[i];
        return true;
    }
    for (unsigned i = 0; i < 8 * count; i++) {
        rows[i] = cta->shadow == NULL ? fpo_plain_shared(cta, fpo_address(warp, address, (int)i), 16) : NULL;
        if (rows[i] != NULL)
            continue;
        rows[i] = fpo_locate_shared(warp, fpo_address(warp, address, (int)i), 16, 16, (int)i);
        if (rows[i] == NULL)
            return false;
        if (write)
            fpo_check_write(warp, (uint32_t)(rows[i] - warp->cta->shared), used, (int)i);
        else
            fpo_check_read(warp, (uint32_t)(rows[i] - warp->cta->shared), used, (int)i);
    }
    return true;
}

static fpo_outcome gather_warp(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    if (warp->mask != 0xFFFFFFFF)
        return fpo_fault(warp, fpo_first_lane(warp->mask), "only lanes 0x%08x of the warp take part", warp->mask);
    return FPO_NEXT;
}

/* Row r of a transposed matrix: element c goes to half r % 2 of lane 4 * c + r / 2. */
static void spread_column(const uint8_t *row, unsigned r, uint32_t *lanes)
{
    for (unsigned c = 0; c < 8; c++) {
        uint16_t half;
        memcpy(&half, row + 2 * c, 2);
        uint32_t *lane = &lanes[4 * c + r / 2];
        *lane = r % 2 == 0 ? half : *lane | (uint32_t)half << 16;
    }
}

fpo_outcome fpo_do_load_matrix(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_outcome gathered = gather_warp(warp, ins);
    unsigned count = ins->arguments.count;
    uint8_t *rows[FPO_PTX_WARP];
    if (gathered != FPO_NEXT)
        return gathered;
    if (!find_rows(warp, &ins->operands[count], count, false, 16, rows))
        return FPO_FAULT;
    uint32_t unused[FPO_PTX_WARP], *lanes[4];
    for (unsigned i = 0; i < count; i++)
        lanes[i] = ins->operands[i].kind == FPO_PTX_REGISTER ? fpo_lanes_of(warp, &ins->operands[i]) : unused;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned r = 0; r < 8 && ins->arguments.trans; r++)
            spread_column(rows[8 * i + r], r, lanes[i]);
        for (unsigned r = 0; r < 8 && !ins->arguments.trans; r++)
            memcpy(&lanes[i][4 * r], rows[8 * i + r], 16);
    }
    return FPO_NEXT;
}

fpo_outcome fpo_do_transpose_matrix(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_outcome gathered = gather_warp(warp, ins);
    if (gathered != FPO_NEXT)
        return gathered;
    uint32_t rows[FPO_PTX_WARP];
    memcpy(rows, fpo_lanes_of(warp, &ins->operands[1]), sizeof rows);
    for (unsigned r = 0; r < 8; r++)
        spread_column((const uint8_t *)&rows[4 * r], r, fpo_lanes_of(warp, &ins->operands[0]));
    return FPO_NEXT;
}

fpo_outcome fpo_do_store_matrix(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_outcome gathered = gather_warp(warp, ins);
    unsigned count = ins->arguments.count;
    uint8_t *rows[FPO_PTX_WARP];
    if (gathered != FPO_NEXT)
        return gathered;
    if (!find_rows(warp, &ins->operands[0], count, true, 16, rows))
        return FPO_FAULT;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t *b = fpo_lanes_of(warp, &ins->operands[1 + i]);
        for (unsigned lane = 0; lane < FPO_PTX_WARP; lane++) {
            for (unsigned e = 0; e < 2; e++) {
                unsigned line = lane / 4, place = 2 * (lane % 4) + e;
                unsigned row = ins->arguments.trans ? place : line, column = ins->arguments.trans ? line : place;
                uint16_t half = (uint16_t)(b[lane] >> (16 * e));
                memcpy(rows[8 * i + row] + 2 * column, &half, 2);
            }
        }
    }
    warp->cta->grid->changes++;
    return FPO_NEXT;
}

/* b8x16: a row of 16 elements of 4 bits (8 bytes and 8 of padding) or 6 bits (12 and 4), each to a byte, in its low
 * bits. A lane gets 4 consecutive elements of its row. */
fpo_outcome fpo_do_load_matrix_packed(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_outcome gathered = gather_warp(warp, ins);
    unsigned count = ins->arguments.count, bits = ins->arguments.op == FPO_PTX_V_B4 ? 4 : 6;
    uint8_t *rows[FPO_PTX_WARP];
    if (gathered != FPO_NEXT)
        return gathered;
    if (!find_rows(warp, &ins->operands[count], count, false, 2 * bits, rows))
        return FPO_FAULT;
    uint32_t result[4][FPO_PTX_WARP];
    for (unsigned i = 0; i < count; i++) {
        for (unsigned lane = 0; lane < FPO_PTX_WARP; lane++) {
            uint64_t packed[2];
            memcpy(packed, rows[8 * i + lane / 4], sizeof packed);
            uint32_t value = 0;
            for (unsigned e = 0; e < 4; e++) {
                unsigned start = (4 * (lane % 4) + e) * bits;
                uint64_t element = packed[start / 64] >> (start % 64);
                if (start % 64 + bits > 64)
                    element |= packed[1] << (64 - start % 64);
                value |= (uint32_t)(element & ((1u << bits) - 1)) << (8 * e);
            }
            result[i][lane] = value;
        }
    }
    for (unsigned i = 0; i < count; i++)
        if (ins->operands[i].kind == FPO_PTX_REGISTER)
            memcpy(fpo_lanes_of(warp, &ins->operands[i]), result[i], sizeof result[i]);
    return FPO_NEXT;
}

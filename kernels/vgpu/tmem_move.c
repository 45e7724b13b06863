/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* tcgen05.cp, shift and commit. */
#include "execute.h"
#include "matrix_descriptor.h"
#include "race.h"
#include "shadow.h"
#include "tmem.h"

enum { GRANULE = 16, GRANULE_WORDS = 4 };

static fpo_tmem_operation new_operation(fpo_warp *warp, const fpo_ptx_instruction *ins, uint32_t lane)
{
    return (fpo_tmem_operation){.warp = warp, .instruction = ins, .at = warp->at, .lane = (int)lane};
}

fpo_outcome fpo_do_tmem_copy(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        fpo_tmem_operation operation = new_operation(warp, ins, lane);
        operation.target = (uint32_t)fpo_address(warp, &ins->operands[0], (int)lane);
        operation.b = ((const uint64_t *)fpo_lanes_of(warp, &ins->operands[1]))[lane];
        operation.first_column = fpo_tmem_column(operation.target);
        operation.columns = ins->arguments.shape / 32u;
        if (fpo_tmem_issue(&operation) != FPO_NEXT)
            return FPO_FAULT;
    }
    return FPO_NEXT;
}

uint32_t fpo_tmem_packed_bytes(uint8_t packing)
{
    return packing == FPO_PTX_V_B4 ? GRANULE / 2 : packing == FPO_PTX_V_B6 ? 3 * GRANULE / 4 : GRANULE;
}

void fpo_tmem_unpack(uint8_t bytes[GRANULE], uint8_t packing)
{
    uint8_t packed[GRANULE + 1] = {0};
    memcpy(packed, bytes, GRANULE);
    for (unsigned i = 0; i < GRANULE && packing != FPO_PTX_V_NONE; i++) {
        if (packing == FPO_PTX_V_B4) {
            bytes[i] = (uint8_t)((packed[i / 2] >> (4 * (i % 2)) & 15) << 2);
        } else {
            unsigned bit = 6 * i, pair = packed[bit / 8] | (unsigned)packed[bit / 8 + 1] << 8;
            bytes[i] = pair >> (bit % 8) & 63;
        }
    }
}

/* Lanes that row `row` of a copy goes to, `copies` of them. */
static unsigned targets(const fpo_ptx_arguments *how, uint32_t row, uint32_t lanes[4])
{
    switch (how->op) {
    case FPO_PTX_V_WARPX4: /* 32 rows, to every partition */
        for (uint32_t i = 0; i < 4; i++)
            lanes[i] = 32 * i + row;
        return 4;
    case FPO_PTX_V_WARPX2_02_13: /* rows 0-31 to partitions 0 and 2, 32-63 to 1 and 3 */
        lanes[0] = row;
        lanes[1] = row + 64;
        return 2;
    case FPO_PTX_V_WARPX2_01_23: /* rows 0-31 to partitions 0 and 1, 32-63 to 2 and 3 */
        lanes[0] = row / 32 * 64 + row % 32;
        lanes[1] = lanes[0] + 32;
        return 2;
    default: lanes[0] = how->count == 4 ? 32 * row : row; return 1;
    }
}

static fpo_tmem_region region_of_copy(const fpo_tmem_operation *operation)
{
    const fpo_ptx_arguments *how = &operation->instruction->arguments;
    uint8_t groups = how->count != 4 ? 0xFF : fpo_tmem_lane(operation->target) < 16 ? 0x55 : 0xAA;
    return (fpo_tmem_region){fpo_tmem_column(operation->target), how->shape / 32u, groups};
}

static bool copy_in(const fpo_tmem_operation *operation, fpo_cta *cta, const fpo_matrix *matrix)
{
    fpo_warp *warp = operation->warp;
    const fpo_ptx_arguments *how = &operation->instruction->arguments;
    uint32_t column = fpo_tmem_column(operation->target), first_lane = fpo_tmem_lane(operation->target);
    fpo_tmem *memory = fpo_tmem_columns(warp, cta, column, how->shape / 32u, "target of the copy", operation->lane);
    if (memory == NULL)
        return false;
    if (first_lane != 0 && !(how->count == 4 && first_lane < FPO_TMEM_PARTITION)) {
        fpo_fault(warp, operation->lane, "a copy to lane %u", first_lane);
        return false;
    }
    fpo_tmem_region region = region_of_copy(operation);
    fpo_check_tmem_write(warp, cta, &region, true, operation->lane);
    for (uint32_t row = 0; row < how->count; row++) {
        uint32_t lanes[4];
        unsigned copies = targets(how, row, lanes);
        for (uint32_t unit = 0; unit < how->shape / 128u; unit++) {
            uint8_t bytes[GRANULE];
            if (!fpo_matrix_fetch(warp, cta, matrix, true, row, unit, bytes, operation->lane))
                return false;
            fpo_tmem_unpack(bytes, how->b);
            for (uint32_t i = 0; i < GRANULE_WORDS; i++) {
                uint32_t word;
                memcpy(&word, bytes + 4 * i, sizeof word);
                for (unsigned c = 0; c < copies; c++)
                    fpo_tmem_store(memory, column + GRANULE_WORDS * unit + i, first_lane + lanes[c], word);
            }
        }
    }
    return true;
}

/* Each CTA of a pair copies from its own shared memory. */
bool fpo_tmem_perform_copy(const fpo_tmem_operation *operation)
{
    fpo_matrix matrix;
    const char *problem = fpo_matrix_of_tcgen05(operation->b, &matrix);
    if (problem != NULL) {
        fpo_fault(operation->warp, operation->lane, "matrix descriptor 0x%016llx: %s", (unsigned long long)operation->b,
                  problem);
        return false;
    }
    matrix.used = fpo_tmem_packed_bytes(operation->instruction->arguments.b);
    fpo_cta *ctas[2];
    uint32_t count = fpo_tmem_group(operation->warp, operation->instruction->arguments.pair, operation->lane, ctas);
    bool ok = count != 0;
    for (uint32_t c = 0; c < count; c++)
        ok = ok && copy_in(operation, ctas[c], &matrix);
    return ok;
}

fpo_outcome fpo_do_tmem_shift(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        fpo_tmem_operation operation = new_operation(warp, ins, lane);
        operation.target = (uint32_t)fpo_address(warp, &ins->operands[0], (int)lane);
        operation.first_column = fpo_tmem_column(operation.target);
        operation.columns = 8;
        if (fpo_tmem_issue(&operation) != FPO_NEXT)
            return FPO_FAULT;
    }
    return FPO_NEXT;
}

/* 32 bytes of each lane but the last of a partition come from the lane after it. */
static bool shift_in(const fpo_tmem_operation *operation, fpo_cta *cta)
{
    fpo_warp *warp = operation->warp;
    uint32_t column = fpo_tmem_column(operation->target), first = fpo_tmem_lane(operation->target);
    fpo_tmem *memory = fpo_tmem_columns(warp, cta, column, 8, "shift", operation->lane);
    if (memory == NULL)
        return false;
    if (first % FPO_TMEM_PARTITION != 0 || first >= FPO_TMEM_LANES) {
        fpo_fault(warp, operation->lane, "a shift from lane %u: a multiple of 32 is wanted", first);
        return false;
    }
    fpo_tmem_region region = {column, 8, (uint8_t)(3 << first / 16)};
    fpo_check_tmem_read(warp, cta, &region, true, operation->lane);
    fpo_check_tmem_write(warp, cta, &region, true, operation->lane);
    for (uint32_t c = column; c < column + 8; c++)
        for (uint32_t l = first; l + 1 < first + FPO_TMEM_PARTITION; l++)
            fpo_tmem_store(memory, c, l, fpo_tmem_load(warp, memory, c, l + 1, operation->lane));
    return true;
}

bool fpo_tmem_perform_shift(const fpo_tmem_operation *operation)
{
    fpo_cta *ctas[2];
    uint32_t count = fpo_tmem_group(operation->warp, operation->instruction->arguments.pair, operation->lane, ctas);
    bool ok = count != 0;
    for (uint32_t c = 0; c < count; c++)
        ok = ok && shift_in(operation, ctas[c]);
    return ok;
}

fpo_outcome fpo_do_tmem_commit(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    for (FPO_EACH_LANE(lane, warp->mask)) {
        fpo_tmem_operation operation = new_operation(warp, ins, lane);
        operation.a = fpo_address(warp, &ins->operands[0], (int)lane);
        if (ins->arguments.space == FPO_PTX_V_CLUSTER)
            operation.descriptor = ((const uint16_t *)fpo_lanes_of(warp, &ins->operands[1]))[lane];
        if (fpo_tmem_issue(&operation) != FPO_NEXT)
            return FPO_FAULT;
    }
    return FPO_NEXT;
}

static bool arrive(const fpo_tmem_operation *operation, fpo_cta *owner, uint64_t address)
{
    if (fpo_mbarrier_arrive(operation->warp, owner, address, operation->lane) != FPO_NEXT)
        return false;
    fpo_race_mbarrier_commit(owner, (uint32_t)address & FPO_SHARED_OFFSET);
    return true;
}

/* The mbarrier is the one that the address names, or the one at the same place in each CTA of the mask. */
bool fpo_tmem_perform_commit(const fpo_tmem_operation *operation)
{
    fpo_warp *warp = operation->warp;
    uint64_t address = operation->a & ~FPO_WINDOW_MASK;
    if (operation->instruction->arguments.space != FPO_PTX_V_CLUSTER) {
        fpo_cta *owner = fpo_shared_owner(warp, address, operation->lane);
        return owner != NULL && arrive(operation, owner, address);
    }
    const fpo_cluster *cluster = warp->cta->cluster;
    if (operation->descriptor >> cluster->size != 0) {
        fpo_fault(warp, operation->lane, "a commit to CTAs 0x%04x of a cluster of %u", operation->descriptor,
                  cluster->size);
        return false;
    }
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        if (operation->descriptor >> rank & 1 && !arrive(operation, cluster->ctas[rank], address))
            return false;
    return true;
}

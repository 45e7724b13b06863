/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Columns of tensor memory: allocation and access. */
#include "tmem.h"
#include "execute.h"
#include "race.h"
#include "shadow.h"

#include <stdlib.h>

fpo_tmem *fpo_tmem_columns(fpo_warp *warp, fpo_cta *cta, uint32_t column, uint32_t count, const char *what, int lane)
{
    fpo_tmem *memory = cta->tmem;
    if (column >= FPO_TMEM_COLUMNS || count > FPO_TMEM_COLUMNS - column) {
        fpo_fault(warp, lane, "%s: columns %u to %u of tensor memory, which has %d", what, column, column + count - 1,
                  FPO_TMEM_COLUMNS);
        return NULL;
    }
    for (uint32_t c = column; c < column + count; c++) {
        if (memory == NULL || !memory->allocated[c]) {
            fpo_fault(warp, lane, "%s: column %u of tensor memory is not allocated", what, c);
            return NULL;
        }
    }
    return memory;
}

uint32_t fpo_tmem_group(fpo_warp *warp, bool pair, int lane, fpo_cta *ctas[2])
{
    const fpo_cluster *cluster = warp->cta->cluster;
    uint32_t even = warp->cta->rank & ~1u;
    ctas[0] = warp->cta;
    if (!pair)
        return 1;
    if (even + 1 >= cluster->size) {
        fpo_fault(warp, lane, "cta_group::2 in a cluster of %u", cluster->size);
        return 0;
    }
    ctas[0] = cluster->ctas[even];
    ctas[1] = cluster->ctas[even + 1];
    return 2;
}

uint32_t fpo_tmem_load(fpo_warp *warp, const fpo_tmem *memory, uint32_t column, uint32_t tmem_lane, int lane)
{
    if (!(memory->written[column][tmem_lane / 32] >> (tmem_lane % 32) & 1))
        fpo_check_tmem(warp, FPO_CHECK_TMEM_UNWRITTEN, column, (int)tmem_lane, lane);
    return memory->word[column][tmem_lane];
}

void fpo_tmem_store(fpo_tmem *memory, uint32_t column, uint32_t tmem_lane, uint32_t word)
{
    memory->word[column][tmem_lane] = word;
    memory->written[column][tmem_lane / 32] |= 1u << (tmem_lane % 32);
}

static bool is_free(const fpo_tmem *memory, uint32_t first, uint32_t count)
{
    for (uint32_t c = first; c < first + count; c++)
        if (memory->allocated[c])
            return false;
    return true;
}

static void claim(const fpo_warp *warp, uint32_t first, uint32_t count)
{
    fpo_tmem *memory = warp->cta->tmem;
    for (uint32_t c = first; c < first + count; c++) {
        memory->allocated[c] = true;
        memory->allocated_at[c] = warp->at;
        memory->allocated_by[c] = warp->id;
        memset(memory->written[c], 0, sizeof memory->written[c]);
        memset(memory->word[c], FPO_POISON, sizeof memory->word[c]);
    }
}

/* 32 columns or more, a power of two. */
static bool is_size(uint32_t columns)
{
    return columns >= 32 && columns <= FPO_TMEM_COLUMNS && (columns & (columns - 1)) == 0;
}

/* Waits until the columns are free, as the hardware does. */
fpo_outcome fpo_do_tmem_allocate(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    int lane = fpo_first_lane(warp->mask);
    uint32_t columns = fpo_u32(warp, &ins->operands[1], lane);
    if (!is_size(columns))
        return fpo_fault(warp, lane, "an allocation of %u columns: a power of two from 32 to 512 is wanted", columns);
    fpo_cta *cta = warp->cta;
    if (cta->tmem == NULL)
        cta->tmem = calloc(1, sizeof *cta->tmem);
    if (cta->tmem == NULL)
        return fpo_fault(warp, lane, "out of memory");
    if (cta->tmem->relinquished)
        return fpo_fault(warp, lane, "the CTA has given up its right to allocate");
    uint32_t address = (uint32_t)fpo_address(warp, &ins->operands[0], lane);
    for (uint32_t first = 0; first + columns <= FPO_TMEM_COLUMNS; first += columns) {
        if (!is_free(cta->tmem, first, columns))
            continue;
        void *at = fpo_locate_shared(warp, address, 4, 4, lane);
        if (at == NULL)
            return FPO_FAULT;
        claim(warp, first, columns);
        fpo_race_tensor_allocated(cta, first, columns);
        fpo_check_write(warp, (uint32_t)((uint8_t *)at - cta->shared), 4, lane);
        memcpy(at, &first, 4);
        cta->grid->changes++;
        return FPO_NEXT;
    }
    return FPO_WAITING;
}

fpo_outcome fpo_do_tmem_release(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    int lane = fpo_first_lane(warp->mask);
    uint32_t address = fpo_u32(warp, &ins->operands[0], lane), columns = fpo_u32(warp, &ins->operands[1], lane);
    uint32_t first = fpo_tmem_column(address);
    if (!is_size(columns) || fpo_tmem_lane(address) != 0)
        return fpo_fault(warp, lane, "a release of %u columns at 0x%08x", columns, address);
    fpo_tmem *memory = fpo_tmem_columns(warp, warp->cta, first, columns, "release", lane);
    if (memory == NULL)
        return FPO_FAULT;
    for (uint32_t c = first; c < first + columns; c++) {
        if (memory->in_flight[c] != 0)
            fpo_check_tmem(warp, FPO_CHECK_TMEM_IN_FLIGHT, c, FPO_EVERY_LANE, lane);
        memory->allocated[c] = false;
    }
    fpo_tmem_region freed = {first, columns, 0xFF};
    fpo_check_tmem_write(warp, warp->cta, &freed, false, lane);
    warp->cta->grid->changes++;
    return FPO_NEXT;
}

fpo_outcome fpo_do_tmem_relinquish(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    if (warp->cta->tmem != NULL)
        warp->cta->tmem->relinquished = true;
    return FPO_NEXT;
}

void fpo_tmem_check_end(const fpo_cta *cta)
{
    const fpo_tmem *memory = cta->tmem;
    for (uint32_t c = 0; memory != NULL && c < FPO_TMEM_COLUMNS; c++) {
        if (!memory->allocated[c])
            continue;
        fpo_warp *warp = &cta->warps[memory->allocated_by[c]];
        warp->at = memory->allocated_at[c];
        fpo_check_tmem(warp, FPO_CHECK_TMEM_KEPT, c, FPO_EVERY_LANE, 0);
    }
}

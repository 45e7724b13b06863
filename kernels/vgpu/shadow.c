/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The shadow of shared memory: see shadow.h. */
#include "shadow.h"
#include "spread.h"

#include <stdio.h>
#include <stdlib.h>

enum { WRITTEN = 1, IN_FLIGHT = 2, STORE_SOURCE = 4 };

static const char *const texts[FPO_CHECK_COUNT] = {
    "reads shared memory that nothing has written",
    "reads shared memory where a copy has not arrived",
    "writes shared memory where a copy has not arrived",
    "writes shared memory that a store has still to read",
    "stores shared memory that a thread wrote without a proxy fence since",
    "reads tensor memory that nothing has written",
    "uses columns of tensor memory that a tensor core has still to write",
    "takes scales that differ between the four partitions of tensor memory",
};

bool fpo_check_start(fpo_cta *cta)
{
    if (!fpo_vgpu_configuration(cta->grid->gpu)->check)
        return true;
    cta->shadow = calloc(cta->shared_end, sizeof *cta->shadow);
    return cta->shadow != NULL;
}

void fpo_check_stop(fpo_cta *cta)
{
    free(cta->shadow);
}

/* One report for each check and instruction. */
static void report(fpo_warp *warp, fpo_check check, uint32_t address, int lane)
{
    fpo_grid *grid = warp->cta->grid;
    uint32_t *seen = grid->reported != NULL ? &grid->reported[warp->at] : NULL;
    if (seen == NULL || *seen >> check & 1)
        return;
    *seen |= 1u << check;
    const fpo_ptx_instruction *ins = &grid->kernel->code[warp->at];
    const uint32_t *cta = warp->cta->index;
    char message[FPO_MESSAGE_SIZE];
    snprintf(message, sizeof message, "PTX line %u, CTA (%u,%u,%u), warp %u, lane %d, `%s` %s (at %u); kernel %.80s",
             ins->line, cta[0], cta[1], cta[2], warp->id, lane, ins->opcode, texts[check], address, grid->kernel->name);
    fpo_grid_report(grid, warp->at, check, message);
}

void fpo_check_tmem(fpo_warp *warp, fpo_check check, uint32_t address, int lane)
{
    report(warp, check, address, lane);
}

void fpo_check_read(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane)
{
    const fpo_shadow *s = warp->cta->shadow;
    for (uint32_t i = address; s != NULL && i < address + bytes; i++) {
        if (s[i].state & IN_FLIGHT)
            report(warp, FPO_CHECK_READ_IN_FLIGHT, i, lane);
        else if (!(s[i].state & WRITTEN))
            report(warp, FPO_CHECK_UNWRITTEN, i, lane);
    }
}

static void note_conflicts(fpo_warp *warp, const fpo_shadow *s, uint32_t address, int lane)
{
    if (s->state & IN_FLIGHT)
        report(warp, FPO_CHECK_WRITE_IN_FLIGHT, address, lane);
    if (s->state & STORE_SOURCE)
        report(warp, FPO_CHECK_STORE_SOURCE, address, lane);
}

void fpo_check_write(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane)
{
    fpo_shadow *s = warp->cta->shadow;
    for (uint32_t i = address; s != NULL && i < address + bytes; i++) {
        note_conflicts(warp, &s[i], i, lane);
        s[i] = (fpo_shadow){(s[i].state & STORE_SOURCE) | WRITTEN, (uint8_t)(warp->id + 1), warp->fences};
    }
}

void fpo_check_copy_issued(fpo_warp *warp, fpo_cta *cta, uint32_t address, uint32_t bytes, int lane)
{
    fpo_shadow *s = cta->shadow;
    for (uint32_t i = address; s != NULL && i < address + bytes; i++) {
        note_conflicts(warp, &s[i], i, lane);
        s[i] = (fpo_shadow){IN_FLIGHT, 0, 0};
    }
}

void fpo_check_copy_arrived(fpo_cta *cta, uint32_t address, uint32_t bytes)
{
    for (uint32_t i = address; cta->shadow != NULL && i < address + bytes; i++)
        cta->shadow[i] = (fpo_shadow){WRITTEN, 0, 0};
}

void fpo_check_store_issued(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane)
{
    fpo_shadow *s = warp->cta->shadow;
    for (uint32_t i = address; s != NULL && i < address + bytes; i++) {
        if (!(s[i].state & WRITTEN))
            report(warp, FPO_CHECK_UNWRITTEN, i, lane);
        if (s[i].state & IN_FLIGHT)
            report(warp, FPO_CHECK_READ_IN_FLIGHT, i, lane);
        if (s[i].writer != 0 && warp->cta->warps[s[i].writer - 1].fences == s[i].fences)
            report(warp, FPO_CHECK_PROXY, i, lane);
        s[i].state |= STORE_SOURCE;
    }
}

void fpo_check_store_read(fpo_cta *cta, uint32_t address, uint32_t bytes)
{
    for (uint32_t i = address; cta->shadow != NULL && i < address + bytes; i++)
        cta->shadow[i].state &= (uint8_t)~STORE_SOURCE;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The shadow of shared memory: see shadow.h. */
#include "shadow.h"
#include "race.h"
#include "spread.h"
#include "tmem.h"

#include <stdio.h>
#include <stdlib.h>

enum { WRITTEN = 1, IN_FLIGHT = 2, STORE_SOURCE = 4, COPY_ASYNC = 8 };

static const char *const texts[FPO_CHECK_COUNT] = {
    "reads shared memory that nothing has written",
    "reads shared memory where a copy has not arrived",
    "writes shared memory where a copy has not arrived",
    "writes shared memory that a store has still to read",
    "reads, asynchronously, shared memory that a thread wrote without a proxy fence since",
    "reads tensor memory that nothing has written",
    "uses columns of tensor memory that a tensor core has still to write",
    "takes scales that differ between the four partitions of tensor memory",
    "uses shared memory that a cp.async writes, without a wait for its group or at its mbarrier",
    "reads shared memory, with no ordering after a write of",
    "writes shared memory, with no ordering after an access of",
    "copies to shared memory, with no ordering after an access of",
    "copies from shared memory, with no ordering after a write of",
    "reads global memory that nothing has written",
    "reads tensor memory, with no ordering after a write of",
    "writes or frees tensor memory, with no ordering after an access of",
    "uses a register before a tcgen05.wait::ld for the tcgen05.ld that writes it",
    "allocates tensor memory that nothing frees before the CTA ends",
    "uses an mbarrier, with no ordering after its initialisation by",
    "uses a register before a wgmma.wait_group covers the wgmma that writes it",
    "writes a register before a wgmma.wait_group covers the wgmma that reads it",
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

/* True, once for each check and instruction. */
static bool is_new(const fpo_warp *warp, fpo_check check)
{
    uint32_t *seen = warp->cta->grid->reported;
    if (seen == NULL || seen[warp->at] >> check & 1)
        return false;
    seen[warp->at] |= 1u << check;
    return true;
}

/* `whose` and `where` end the sentence. */
static void tell(fpo_warp *warp, fpo_check check, const char *whose, const char *where, int lane)
{
    fpo_grid *grid = warp->cta->grid;
    const fpo_ptx_instruction *ins = &grid->kernel->code[warp->at];
    const uint32_t *cta = warp->cta->index;
    char message[FPO_MESSAGE_SIZE];
    snprintf(message, sizeof message, "PTX line %u, CTA (%u,%u,%u), warp %u, lane %d, `%s` %s%s%s (%s); kernel %.80s",
             ins->line, cta[0], cta[1], cta[2], warp->id, lane, ins->opcode, texts[check], whose[0] != '\0' ? " " : "",
             whose, where, grid->kernel->name);
    fpo_grid_report(grid, warp->at, check, message);
}

static void report(fpo_warp *warp, fpo_check check, uint32_t address, int lane)
{
    if (!is_new(warp, check))
        return;
    char where[32];
    snprintf(where, sizeof where, "at %u", address);
    tell(warp, check, "", where, lane);
}

static void report_race(fpo_warp *warp, fpo_check check, int other, uint32_t address, int lane)
{
    if (other == FPO_RACE_NONE)
        return;
    bool copy = fpo_race_is_copy(warp, other);
    check = copy ? FPO_CHECK_NOT_WAITED : check;
    if (!is_new(warp, check))
        return;
    char where[32];
    snprintf(where, sizeof where, "at %u", address);
    tell(warp, check, copy ? "" : fpo_race_name(warp, other), where, lane);
}

static void tmem_place(char where[48], uint32_t column, int tmem_lane)
{
    if (tmem_lane == FPO_EVERY_LANE)
        snprintf(where, 48, "column %u", column);
    else
        snprintf(where, 48, "lane %d, column %u", tmem_lane, column);
}

void fpo_check_tmem(fpo_warp *warp, fpo_check check, uint32_t column, int tmem_lane, int lane)
{
    char where[48];
    if (!is_new(warp, check))
        return;
    tmem_place(where, column, tmem_lane);
    tell(warp, check, "", where, lane);
}

static void tmem_access(fpo_warp *warp, fpo_cta *cta, const fpo_tmem_region *region, bool core, bool write, int lane)
{
    fpo_check check = write ? FPO_CHECK_TMEM_RACE_WRITE : FPO_CHECK_TMEM_RACE_READ;
    int other = fpo_race_tensor(warp, cta, region, core, write);
    char where[48];
    if (other == FPO_RACE_NONE || !is_new(warp, check))
        return;
    snprintf(where, sizeof where, "columns %u to %u", region->column, region->column + region->columns - 1);
    tell(warp, check, fpo_race_name(warp, other), where, lane);
}

void fpo_check_tmem_read(fpo_warp *warp, fpo_cta *cta, const fpo_tmem_region *region, bool core, int lane)
{
    tmem_access(warp, cta, region, core, false, lane);
}

void fpo_check_tmem_write(fpo_warp *warp, fpo_cta *cta, const fpo_tmem_region *region, bool core, int lane)
{
    tmem_access(warp, cta, region, core, true, lane);
}

static void report_register(fpo_warp *warp, fpo_check check, const char *what, uint32_t number, uint32_t line, int lane)
{
    char where[64];
    if (!is_new(warp, check))
        return;
    snprintf(where, sizeof where, "register %u of %s on line %u", number, what, line);
    tell(warp, check, "", where, lane);
}

void fpo_check_wgmma_register(fpo_warp *warp, fpo_check check, uint32_t number, uint32_t line, int lane)
{
    report_register(warp, check, check == FPO_CHECK_WGMMA_D ? "D of the one" : "A of the one", number, line, lane);
}

void fpo_check_late_register(fpo_warp *warp, uint32_t number, uint32_t line, int lane)
{
    report_register(warp, FPO_CHECK_TMEM_LATE, "the one", number, line, lane);
}

static void check_bytes(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane)
{
    const fpo_shadow *s = warp->cta->shadow;
    for (uint32_t i = address; i < address + bytes; i++) {
        if (s[i].state & IN_FLIGHT)
            report(warp, FPO_CHECK_READ_IN_FLIGHT, i, lane);
        else if (!(s[i].state & WRITTEN))
            report(warp, FPO_CHECK_UNWRITTEN, i, lane);
    }
}

void fpo_check_read(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane)
{
    if (warp->cta->shadow == NULL)
        return;
    check_bytes(warp, address, bytes, lane);
    report_race(warp, FPO_CHECK_RACE_READ, fpo_race_read(warp, address, bytes), address, lane);
}

static void check_proxy(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane)
{
    const fpo_shadow *s = warp->cta->shadow;
    for (uint32_t i = address; i < address + bytes; i++) {
        bool by_thread = s[i].writer != 0 && !(s[i].state & COPY_ASYNC);
        if (by_thread && warp->cta->warps[s[i].writer - 1].fences == s[i].fences)
            report(warp, FPO_CHECK_PROXY, i, lane);
    }
}

void fpo_check_wgmma_read(fpo_warp *warp, uint32_t address, uint32_t bytes)
{
    if (warp->cta->shadow == NULL)
        return;
    check_proxy(warp, address, bytes, 0);
    check_bytes(warp, address, bytes, 0);
    report_race(warp, FPO_CHECK_RACE_READ, fpo_race_wgmma_read(warp, address, bytes), address, 0);
}

void fpo_check_core_read(fpo_warp *warp, const fpo_cta *cta, uint32_t address, uint32_t bytes, int lane)
{
    if (cta->shadow == NULL)
        return;
    if (cta == warp->cta) {
        check_proxy(warp, address, bytes, lane);
        check_bytes(warp, address, bytes, lane);
    }
    report_race(warp, FPO_CHECK_RACE_READ, fpo_race_core_read(warp, cta, address, bytes), address, lane);
}

static void note_conflicts(fpo_warp *warp, const fpo_cta *cta, uint32_t address, int lane)
{
    const fpo_shadow *s = &cta->shadow[address];
    if (s->state & IN_FLIGHT)
        report(warp, FPO_CHECK_WRITE_IN_FLIGHT, address, lane);
    if (s->state & STORE_SOURCE)
        report(warp, FPO_CHECK_STORE_SOURCE, address, lane);
}

static void write_bytes(fpo_warp *warp, uint32_t address, uint32_t bytes, uint8_t extra, uint16_t fences, int lane)
{
    fpo_shadow *s = warp->cta->shadow;
    for (uint32_t i = address; i < address + bytes; i++) {
        note_conflicts(warp, warp->cta, i, lane);
        s[i] = (fpo_shadow){(s[i].state & STORE_SOURCE) | WRITTEN | extra, (uint8_t)(warp->id + 1), fences};
    }
}

void fpo_check_write(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane)
{
    if (warp->cta->shadow == NULL)
        return;
    write_bytes(warp, address, bytes, 0, warp->fences, lane);
    report_race(warp, FPO_CHECK_RACE_WRITE, fpo_race_write(warp, address, bytes), address, lane);
}

void fpo_check_copy_async(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane)
{
    if (warp->cta->shadow == NULL)
        return;
    write_bytes(warp, address, bytes, COPY_ASYNC, warp->fences, lane);
    report_race(warp, FPO_CHECK_RACE_WRITE, fpo_race_copy_write(warp, address, bytes), address, lane);
}

void fpo_check_synchronise(fpo_warp *warp, uint32_t address, uint32_t bytes, bool write, int lane)
{
    if (warp->cta->shadow == NULL)
        return;
    if (write)
        write_bytes(warp, address, bytes, 0, warp->fences, lane);
    else
        check_bytes(warp, address, bytes, lane);
    fpo_race_synchronise(warp, address, bytes);
}

void fpo_check_copy_issued(fpo_warp *warp, fpo_cta *cta, uint32_t address, uint32_t bytes, int lane)
{
    if (cta->shadow == NULL)
        return;
    for (uint32_t i = address; i < address + bytes; i++) {
        note_conflicts(warp, cta, i, lane);
        cta->shadow[i] = (fpo_shadow){IN_FLIGHT, 0, 0};
    }
    report_race(warp, FPO_CHECK_RACE_COPY, fpo_race_load_issued(warp, cta, address, bytes), address, lane);
}

void fpo_check_copy_arrived(fpo_cta *cta, uint32_t address, uint32_t bytes)
{
    for (uint32_t i = address; cta->shadow != NULL && i < address + bytes; i++)
        cta->shadow[i] = (fpo_shadow){WRITTEN, 0, 0};
}

void fpo_check_remote_write(fpo_cta *cta, uint32_t address, uint32_t bytes)
{
    fpo_check_copy_arrived(cta, address, bytes);
    fpo_race_forget(cta, address, bytes);
}

void fpo_check_store_issued(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane)
{
    fpo_shadow *s = warp->cta->shadow;
    if (s == NULL)
        return;
    check_bytes(warp, address, bytes, lane);
    check_proxy(warp, address, bytes, lane);
    for (uint32_t i = address; i < address + bytes; i++)
        s[i].state |= STORE_SOURCE;
    report_race(warp, FPO_CHECK_RACE_STORE, fpo_race_store_issued(warp, address, bytes), address, lane);
}

void fpo_check_store_read(fpo_cta *cta, uint32_t address, uint32_t bytes)
{
    for (uint32_t i = address; cta->shadow != NULL && i < address + bytes; i++)
        cta->shadow[i].state &= (uint8_t)~STORE_SOURCE;
}

void fpo_check_mbarrier_init(fpo_warp *warp, const void *at, int lane)
{
    uint32_t address = (uint32_t)((const uint8_t *)at - warp->cta->shared);
    if (warp->cta->shadow != NULL)
        report_race(warp, FPO_CHECK_RACE_WRITE, fpo_race_write(warp, address, 8), address, lane);
}

void fpo_check_mbarrier_use(fpo_warp *warp, const void *at, int lane)
{
    if (warp->cta->shadow == NULL)
        return;
    uint32_t address;
    int other = fpo_race_mbarrier_use(warp, at, &address);
    report_race(warp, FPO_CHECK_MBARRIER, other, address, lane);
}

void fpo_check_global_read(fpo_warp *warp, uint64_t address, uint64_t bytes, int lane)
{
    uint64_t first;
    if (warp->cta->shadow == NULL || fpo_vgpu_note_read(warp->cta->grid->gpu, address, bytes, &first) ||
        !is_new(warp, FPO_CHECK_GLOBAL_UNWRITTEN))
        return;
    char where[48];
    snprintf(where, sizeof where, "byte %llu of its allocation", (unsigned long long)first);
    tell(warp, FPO_CHECK_GLOBAL_UNWRITTEN, "", where, lane);
}

void fpo_check_global_write(fpo_warp *warp, uint64_t address, uint64_t bytes)
{
    if (warp->cta->shadow != NULL)
        fpo_vgpu_note_write(warp->cta->grid->gpu, (void *)(uintptr_t)address, bytes);
}

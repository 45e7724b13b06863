/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensor core work between issue and performance. mma, cp, shift and commit of a CTA are performed in the order in
 * which they were issued (PTX 9.7.16.6.1); without a seed at once, with one whenever chance says so. */
#include "race.h"
#include "tmem.h"

#include <stdlib.h>

static bool perform(const fpo_tmem_operation *operation)
{
    fpo_warp *warp = operation->warp;
    uint32_t at = warp->at;
    warp->at = operation->at; /* a fault is the issuing instruction's */
    fpo_race_core_ticks(warp->cta);
    bool ok = false;
    switch (operation->instruction->semantics) {
    case FPO_PTX_TMEM_COPY: ok = fpo_tmem_perform_copy(operation); break;
    case FPO_PTX_TMEM_SHIFT: ok = fpo_tmem_perform_shift(operation); break;
    case FPO_PTX_TMEM_COMMIT: ok = fpo_tmem_perform_commit(operation); break;
    default: ok = fpo_tmem_perform_mma(operation); break;
    }
    warp->at = at;
    warp->cta->grid->changes++;
    return ok;
}

static void note_flight(const fpo_tmem_operation *operation, int change)
{
    fpo_cta *cta = operation->warp->cta;
    bool pair = operation->instruction->arguments.pair && cta->cluster->size > 1;
    for (uint32_t c = 0; c < (pair ? 2u : 1u); c++) {
        fpo_tmem *memory = pair ? cta->cluster->ctas[(cta->rank & ~1u) + c]->tmem : cta->tmem;
        for (uint32_t i = operation->first_column; i < operation->first_column + operation->columns; i++)
            if (memory != NULL && i < FPO_TMEM_COLUMNS)
                memory->in_flight[i] = (uint16_t)(memory->in_flight[i] + change);
    }
}

fpo_outcome fpo_tmem_issue(const fpo_tmem_operation *operation)
{
    fpo_warp *warp = operation->warp;
    fpo_cta *cta = warp->cta;
    if (cta->tmem == NULL)
        cta->tmem = calloc(1, sizeof *cta->tmem);
    fpo_tmem_operation *queued = cta->tmem != NULL ? malloc(sizeof *queued) : NULL;
    if (queued == NULL)
        return fpo_fault(warp, operation->lane, "out of memory");
    *queued = *operation;
    queued->next = NULL;
    fpo_tmem_operation **end = &cta->tmem->queue;
    while (*end != NULL)
        end = &(*end)->next;
    *end = queued;
    note_flight(queued, 1);
    if (fpo_vgpu_configuration(cta->grid->gpu)->seed == 0)
        fpo_cta_perform_tmem(cta, true);
    return cta->grid->status == FPO_OK ? FPO_NEXT : FPO_FAULT;
}

bool fpo_cta_perform_tmem(fpo_cta *cta, bool all)
{
    bool any = false;
    while (cta->tmem != NULL && cta->tmem->queue != NULL && cta->grid->status == FPO_OK) {
        if (!all && fpo_grid_random(cta->grid, 2) != 0)
            break;
        fpo_tmem_operation *operation = cta->tmem->queue;
        cta->tmem->queue = operation->next;
        note_flight(operation, -1);
        perform(operation);
        free(operation);
        any = true;
    }
    return any;
}

void fpo_tmem_free(fpo_cta *cta)
{
    while (cta->tmem != NULL && cta->tmem->queue != NULL) {
        fpo_tmem_operation *next = cta->tmem->queue->next;
        free(cta->tmem->queue);
        cta->tmem->queue = next;
    }
    free(cta->tmem);
}

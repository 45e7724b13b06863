/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Races on tensor memory, by the same clocks: see race.h. A clock for each column and group of 16 lanes; the tensor
 * cores' own accesses come in the order of their queue. */
#include "race.h"
#include "race_clocks.h"
#include "tmem.h"

#include <stdlib.h>

enum { READERS = FPO_MAX_WARPS + 1 }; /* warps of the CTA, then the tensor cores */

typedef struct history {
    uint32_t write_clock;
    uint32_t writer; /* number of a clock + 1; 0: nobody */
    uint32_t reads[READERS];
} history;

struct fpo_race_tensor {
    history at[FPO_TMEM_COLUMNS][FPO_TMEM_GROUPS];
};

/* The clock of an access to `h` that is not seen: of a write or, for a write, of a read. */
static int unseen(const fpo_cta *cta, const history *h, const uint32_t *seen, uint32_t me, bool write)
{
    const fpo_clocks *c = cta->cluster->clocks;
    if (h->writer != 0 && h->writer - 1 != me && h->write_clock > seen[h->writer - 1])
        return (int)h->writer - 1;
    for (uint32_t i = 0; write && i <= cta->warp_count; i++) {
        uint32_t number = i < cta->warp_count ? cta->rank * cta->warp_count + i : c->cores;
        if (number != me && h->reads[i < cta->warp_count ? i : READERS - 1] > seen[number])
            return (int)number;
    }
    return FPO_RACE_NONE;
}

int fpo_race_tensor(fpo_warp *warp, fpo_cta *cta, const fpo_tmem_region *region, bool core, bool write)
{
    fpo_race *r = cta->race;
    if (r != NULL && r->tensor == NULL)
        r->tensor = calloc(1, sizeof *r->tensor);
    if (r == NULL || r->tensor == NULL) /* out of memory: it goes unseen */
        return FPO_RACE_NONE;
    const fpo_clocks *c = cta->cluster->clocks;
    const uint32_t *seen = fpo_race_seen(warp);
    uint32_t me = core ? c->cores : fpo_race_number(warp), now = core ? c->done_by_cores : seen[me],
             reader = core ? READERS - 1 : warp->id;
    int other = FPO_RACE_NONE;
    for (uint32_t column = region->column; column < region->column + region->columns; column++) {
        for (uint32_t group = 0; group < FPO_TMEM_GROUPS; group++) {
            history *h = &r->tensor->at[column][group];
            if (!(region->groups >> group & 1))
                continue;
            if (other == FPO_RACE_NONE)
                other = unseen(cta, h, seen, me, write);
            if (write) {
                h->writer = me + 1;
                h->write_clock = now;
            } else {
                h->reads[reader] = now;
            }
        }
    }
    return other;
}

void fpo_race_tensor_allocated(fpo_cta *cta, uint32_t first, uint32_t count)
{
    if (cta->race != NULL && cta->race->tensor != NULL)
        memset(cta->race->tensor->at[first], 0, count * sizeof cta->race->tensor->at[0]);
}

void fpo_race_core_ticks(const fpo_cta *cta)
{
    if (cta->cluster->clocks != NULL)
        cta->cluster->clocks->done_by_cores++;
}

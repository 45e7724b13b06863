/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Vector clocks: see race.h. */
#include "race.h"
#include "race_clocks.h"

#include <stdio.h>
#include <stdlib.h>

static void join(uint32_t *to, const uint32_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

/* What the warp has seen and done goes into `clock`; what it does from now on does not. */
static void release(fpo_warp *warp, uint32_t *clock)
{
    uint32_t *seen = fpo_race_seen(warp);
    join(clock, seen, warp->cta->cluster->clocks->count);
    seen[fpo_race_number(warp)]++;
}

static void acquire(fpo_warp *warp, const uint32_t *clock)
{
    join(fpo_race_seen(warp), clock, warp->cta->cluster->clocks->count);
}

/* Who reads shared memory: the CTA's warps, stores, tensor cores, the wgmmas of its warpgroups. */
static uint32_t reader_count(const fpo_cta *cta)
{
    return cta->warp_count + 2 + fpo_race_warpgroups(cta);
}

/* The number of a reader's clock in the cluster. */
static uint32_t reader_number(const fpo_cta *cta, uint32_t reader)
{
    const fpo_clocks *c = cta->cluster->clocks;
    uint32_t warps = cta->warp_count;
    if (reader < warps)
        return cta->rank * warps + reader;
    if (reader < warps + 2)
        return reader == warps ? c->stores : c->cores;
    return c->wgmmas + cta->rank * fpo_race_warpgroups(cta) + reader - warps - 2;
}

static uint32_t wgmma_reader(const fpo_warp *warp)
{
    return warp->cta->warp_count + 2 + warp->id / FPO_RACE_WARPGROUP;
}

static fpo_race *start_cta(const fpo_cta *cta, uint32_t count)
{
    fpo_race *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->write_clock = calloc(cta->shared_end, sizeof *r->write_clock);
    r->writer = calloc(cta->shared_end, sizeof *r->writer);
    r->reads = calloc(reader_count(cta), sizeof *r->reads);
    r->open = calloc((size_t)FPO_NAMED_BARRIERS * count, sizeof *r->open);
    r->done = calloc((size_t)FPO_NAMED_BARRIERS * count, sizeof *r->done);
    r->words = calloc(cta->shared_end / 8 + 1, sizeof *r->words);
    r->store_ticks = calloc(cta->warp_count, sizeof *r->store_ticks);
    return r;
}

static bool is_whole(const fpo_race *r)
{
    return r != NULL && r->write_clock != NULL && r->writer != NULL && r->reads != NULL && r->open != NULL &&
           r->done != NULL && r->words != NULL && r->store_ticks != NULL;
}

bool fpo_race_start_cluster(fpo_cluster *cluster)
{
    const fpo_cta *first = cluster->ctas[0];
    if (!fpo_vgpu_configuration(first->grid->gpu)->check)
        return true;
    uint32_t warps = cluster->size * first->warp_count;
    fpo_clocks *c = calloc(1, sizeof *c);
    cluster->clocks = c;
    if (c == NULL)
        return false;
    c->loads = warps;
    c->stores = warps + 1;
    c->cores = warps + 2;
    c->wgmmas = warps + 3;
    c->copies = c->wgmmas + cluster->size * fpo_race_warpgroups(first);
    c->count = c->copies + warps;
    c->seen = calloc((size_t)warps * c->count, sizeof *c->seen);
    c->cluster_open = calloc(c->count, sizeof *c->cluster_open);
    c->cluster_done = calloc(c->count, sizeof *c->cluster_done);
    bool ok = c->seen != NULL && c->cluster_open != NULL && c->cluster_done != NULL;
    for (uint32_t i = 0; ok && i < warps; i++)
        c->seen[(size_t)i * c->count + i] = 1;
    for (uint32_t i = 0; i < cluster->size; i++) {
        cluster->ctas[i]->race = start_cta(cluster->ctas[i], c->count);
        ok = ok && is_whole(cluster->ctas[i]->race);
    }
    return ok;
}

static void stop_cta(fpo_cta *cta)
{
    fpo_race *r = cta != NULL ? cta->race : NULL;
    if (r == NULL)
        return;
    for (uint32_t i = 0; r->reads != NULL && i < reader_count(cta); i++)
        free(r->reads[i]);
    for (uint32_t i = 0; r->words != NULL && i <= cta->shared_end / 8; i++)
        free(r->words[i]);
    free(r->write_clock);
    free(r->writer);
    free(r->reads);
    free(r->open);
    free(r->done);
    free(r->words);
    free(r->store_ticks);
    free(r->tensor);
    free(r);
    cta->race = NULL;
}

void fpo_race_stop_cluster(fpo_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->size; i++)
        stop_cta(cluster->ctas[i]);
    fpo_clocks *c = cluster->clocks;
    if (c == NULL)
        return;
    free(c->seen);
    free(c->cluster_open);
    free(c->cluster_done);
    free(c);
    cluster->clocks = NULL;
}

/* ---- accesses ---- */

static uint32_t *plane(const fpo_cta *cta, uint32_t reader)
{
    fpo_race *r = cta->race;
    if (r->reads[reader] == NULL)
        r->reads[reader] = calloc(cta->shared_end, sizeof **r->reads);
    return r->reads[reader]; /* NULL: out of memory, and reads go unseen */
}

/* The clock of a write to [address, address + bytes) that has not been seen. */
static int unseen_write(const fpo_cta *cta, const uint32_t *seen, uint32_t me, uint32_t address, uint32_t bytes)
{
    const fpo_race *r = cta->race;
    for (uint32_t i = address; i < address + bytes; i++) {
        uint32_t writer = r->writer[i];
        if (writer != 0 && writer - 1 != me && r->write_clock[i] > seen[writer - 1])
            return (int)writer - 1;
    }
    return FPO_RACE_NONE;
}

static int unseen_read(const fpo_cta *cta, const uint32_t *seen, uint32_t me, uint32_t address, uint32_t bytes)
{
    const fpo_race *r = cta->race;
    for (uint32_t reader = 0; reader < reader_count(cta); reader++) {
        const uint32_t *clock = r->reads[reader];
        uint32_t number = reader_number(cta, reader);
        if (clock == NULL || number == me)
            continue;
        uint32_t latest = 0;
        for (uint32_t i = address; i < address + bytes; i++)
            latest = clock[i] > latest ? clock[i] : latest;
        if (latest > seen[number])
            return (int)number;
    }
    return FPO_RACE_NONE;
}

static void set_writer(const fpo_cta *cta, uint32_t address, uint32_t bytes, uint32_t number, uint32_t clock)
{
    for (uint32_t i = address; i < address + bytes; i++) {
        cta->race->writer[i] = (uint16_t)(number + 1);
        cta->race->write_clock[i] = clock;
    }
}

int fpo_race_read(fpo_warp *warp, uint32_t address, uint32_t bytes)
{
    const fpo_cta *cta = warp->cta;
    if (cta->race == NULL)
        return FPO_RACE_NONE;
    const uint32_t *seen = fpo_race_seen(warp);
    uint32_t me = fpo_race_number(warp), *mine = plane(cta, warp->id);
    int other = unseen_write(cta, seen, me, address, bytes);
    for (uint32_t i = address; mine != NULL && i < address + bytes; i++)
        mine[i] = seen[me];
    return other;
}

int fpo_race_core_read(fpo_warp *warp, const fpo_cta *cta, uint32_t address, uint32_t bytes)
{
    if (cta->race == NULL)
        return FPO_RACE_NONE;
    uint32_t *reads = plane(cta, cta->warp_count + 1), tick = cta->cluster->clocks->done_by_cores;
    for (uint32_t i = address; reads != NULL && i < address + bytes; i++)
        reads[i] = tick;
    return unseen_write(cta, fpo_race_seen(warp), fpo_race_number(warp), address, bytes);
}

int fpo_race_wgmma_read(fpo_warp *warp, uint32_t address, uint32_t bytes)
{
    const fpo_cta *cta = warp->cta;
    if (cta->race == NULL)
        return FPO_RACE_NONE;
    uint32_t *reads = plane(cta, wgmma_reader(warp)), tick = (uint32_t)warp->wgmmas;
    for (uint32_t i = address; reads != NULL && i < address + bytes; i++) /* another warp of the group may be ahead */
        reads[i] = tick > reads[i] ? tick : reads[i];
    return unseen_write(cta, fpo_race_seen(warp), fpo_race_number(warp), address, bytes);
}

void fpo_race_wgmma_wait(fpo_warp *warp, uint64_t wgmmas)
{
    if (warp->cta->race == NULL)
        return;
    uint32_t *seen = fpo_race_seen(warp) + reader_number(warp->cta, wgmma_reader(warp)), tick = (uint32_t)wgmmas;
    *seen = tick > *seen ? tick : *seen;
}

int fpo_race_write(fpo_warp *warp, uint32_t address, uint32_t bytes)
{
    const fpo_cta *cta = warp->cta;
    if (cta->race == NULL)
        return FPO_RACE_NONE;
    const uint32_t *seen = fpo_race_seen(warp);
    uint32_t me = fpo_race_number(warp);
    int other = unseen_write(cta, seen, me, address, bytes);
    if (other == FPO_RACE_NONE)
        other = unseen_read(cta, seen, me, address, bytes);
    set_writer(cta, address, bytes, me, seen[me]);
    return other;
}

static uint32_t copies_of(const fpo_warp *warp)
{
    return warp->cta->cluster->clocks->copies + fpo_race_number(warp);
}

int fpo_race_copy_write(fpo_warp *warp, uint32_t address, uint32_t bytes)
{
    int other = fpo_race_write(warp, address, bytes);
    if (warp->cta->race != NULL)
        set_writer(warp->cta, address, bytes, copies_of(warp), warp->copy_group + 1);
    return other;
}

void fpo_race_copy_wait(fpo_warp *warp, uint32_t end)
{
    if (warp->cta->race == NULL)
        return;
    uint32_t *seen = fpo_race_seen(warp) + copies_of(warp);
    *seen = end > *seen ? end : *seen;
}

bool fpo_race_is_copy(const fpo_warp *warp, int other)
{
    return (uint32_t)other >= warp->cta->cluster->clocks->copies;
}

int fpo_race_load_issued(fpo_warp *warp, fpo_cta *cta, uint32_t address, uint32_t bytes)
{
    if (cta->race == NULL)
        return FPO_RACE_NONE;
    const uint32_t *seen = fpo_race_seen(warp);
    fpo_clocks *c = cta->cluster->clocks;
    uint32_t me = cta == warp->cta ? fpo_race_number(warp) : c->count; /* the issuer's own accesses come before */
    int other = unseen_write(cta, seen, me, address, bytes);
    if (other == FPO_RACE_NONE)
        other = unseen_read(cta, seen, me, address, bytes);
    set_writer(cta, address, bytes, c->loads, ++c->loaded);
    return other;
}

int fpo_race_store_issued(fpo_warp *warp, uint32_t address, uint32_t bytes)
{
    const fpo_cta *cta = warp->cta;
    if (cta->race == NULL)
        return FPO_RACE_NONE;
    uint32_t *reads = plane(cta, cta->warp_count), tick = ++cta->cluster->clocks->stored;
    for (uint32_t i = address; reads != NULL && i < address + bytes; i++)
        reads[i] = tick;
    return unseen_write(cta, fpo_race_seen(warp), fpo_race_number(warp), address, bytes);
}

void fpo_race_forget(fpo_cta *cta, uint32_t address, uint32_t bytes)
{
    if (cta->race != NULL)
        memset(cta->race->writer + address, 0, bytes * sizeof *cta->race->writer);
}

const char *fpo_race_name(const fpo_warp *warp, int other)
{
    static _Thread_local char name[64];
    const fpo_clocks *c = warp->cta->cluster->clocks;
    uint32_t warps = warp->cta->warp_count, number = (uint32_t)other;
    if (number == c->loads)
        return "a copy to shared memory";
    if (number == c->stores)
        return "a copy from shared memory";
    if (number == c->cores)
        return "a tensor core";
    if (number >= c->wgmmas)
        snprintf(name, sizeof name, "a wgmma of warpgroup %u that no wait covers",
                 (number - c->wgmmas) % fpo_race_warpgroups(warp->cta));
    else if (number / warps == warp->cta->rank)
        snprintf(name, sizeof name, "warp %u", number % warps);
    else
        snprintf(name, sizeof name, "warp %u of CTA %u of the cluster", number % warps, number / warps);
    return name;
}

/* ---- what orders ---- */

static uint32_t *word_clock(fpo_cta *cta, uint32_t address)
{
    uint32_t **word = &cta->race->words[address / 8];
    if (*word == NULL)
        *word = calloc(cta->cluster->clocks->count, sizeof **word);
    return *word;
}

/* The CTA of the cluster in whose shared memory a place in the process is; NULL: no checks. */
static fpo_cta *owner_of(const fpo_warp *warp, const void *at, uint32_t *address)
{
    const uint8_t *place = at;
    const fpo_cluster *cluster = warp->cta->cluster;
    for (uint32_t i = 0; cluster->clocks != NULL && i < cluster->size; i++) {
        fpo_cta *cta = cluster->ctas[i];
        *address = (uint32_t)(place - cta->shared);
        if (place >= cta->shared && place < cta->shared + cta->shared_end)
            return cta;
    }
    return NULL;
}

/* The clock of the word there; NULL: no checks, or no memory. */
static uint32_t *clock_at(const fpo_warp *warp, const void *at)
{
    uint32_t address;
    fpo_cta *cta = owner_of(warp, at, &address);
    return cta != NULL ? word_clock(cta, address) : NULL;
}

int fpo_race_mbarrier_use(const fpo_warp *warp, const void *at, uint32_t *address)
{
    const fpo_cta *cta = owner_of(warp, at, address);
    return cta != NULL ? unseen_write(cta, fpo_race_seen(warp), fpo_race_number(warp), *address, 8) : FPO_RACE_NONE;
}

void fpo_race_mbarrier_arrive(fpo_warp *warp, const void *at)
{
    uint32_t *clock = clock_at(warp, at);
    if (clock != NULL)
        release(warp, clock);
}

void fpo_race_copy_arrive(fpo_warp *warp, const void *at, uint32_t end)
{
    uint32_t *clock = clock_at(warp, at);
    if (clock != NULL && end > clock[copies_of(warp)])
        clock[copies_of(warp)] = end;
}

void fpo_race_mbarrier_bytes(fpo_warp *warp, const void *at)
{
    uint32_t *clock = clock_at(warp, at);
    const fpo_clocks *c = warp->cta->cluster->clocks;
    if (clock != NULL)
        clock[c->loads] = c->loaded;
}

void fpo_race_mbarrier_commit(fpo_cta *cta, uint32_t address)
{
    uint32_t *clock = cta->race != NULL ? word_clock(cta, address) : NULL;
    if (clock != NULL)
        clock[cta->cluster->clocks->cores] = cta->cluster->clocks->done_by_cores;
}

void fpo_race_mbarrier_pass(fpo_warp *warp, const void *at)
{
    const uint32_t *clock = clock_at(warp, at);
    if (clock != NULL)
        acquire(warp, clock);
}

void fpo_race_synchronise(fpo_warp *warp, uint32_t address, uint32_t bytes)
{
    if (warp->cta->race == NULL)
        return;
    uint32_t *clock = word_clock(warp->cta, address);
    if (clock != NULL) {
        acquire(warp, clock);
        release(warp, clock);
    }
    fpo_race_forget(warp->cta, address, bytes);
}

void fpo_race_barrier_arrive(fpo_warp *warp, uint32_t id)
{
    if (warp->cta->race != NULL)
        release(warp, warp->cta->race->open + (size_t)id * warp->cta->cluster->clocks->count);
}

void fpo_race_barrier_complete(fpo_cta *cta, uint32_t id)
{
    if (cta->race == NULL)
        return;
    size_t count = cta->cluster->clocks->count;
    memcpy(cta->race->done + id * count, cta->race->open + id * count, count * sizeof *cta->race->done);
    memset(cta->race->open + id * count, 0, count * sizeof *cta->race->open);
}

void fpo_race_barrier_pass(fpo_warp *warp, uint32_t id)
{
    if (warp->cta->race != NULL)
        acquire(warp, warp->cta->race->done + (size_t)id * warp->cta->cluster->clocks->count);
}

void fpo_race_cluster_arrive(fpo_warp *warp)
{
    if (warp->cta->race != NULL)
        release(warp, warp->cta->cluster->clocks->cluster_open);
}

void fpo_race_cluster_complete(fpo_cluster *cluster)
{
    fpo_clocks *c = cluster->clocks;
    if (c == NULL)
        return;
    memcpy(c->cluster_done, c->cluster_open, c->count * sizeof *c->cluster_done);
    memset(c->cluster_open, 0, c->count * sizeof *c->cluster_open);
}

void fpo_race_cluster_pass(fpo_warp *warp)
{
    if (warp->cta->race != NULL)
        acquire(warp, warp->cta->cluster->clocks->cluster_done);
}

void fpo_race_store_commit(fpo_warp *warp)
{
    if (warp->cta->race != NULL)
        warp->cta->race->store_ticks[warp->id][warp->store_groups % FPO_RACE_RECENT_GROUPS] =
            warp->cta->cluster->clocks->stored;
}

/* warp->store_groups groups have been closed; all but the last `groups_left` have read their bytes. */
void fpo_race_store_wait(fpo_warp *warp, uint32_t groups_left)
{
    if (warp->cta->race == NULL || groups_left >= warp->store_groups || groups_left >= FPO_RACE_RECENT_GROUPS)
        return;
    uint32_t group = warp->store_groups - groups_left - 1;
    uint32_t tick = warp->cta->race->store_ticks[warp->id][group % FPO_RACE_RECENT_GROUPS];
    uint32_t *seen = fpo_race_seen(warp), stores = warp->cta->cluster->clocks->stores;
    seen[stores] = tick > seen[stores] ? tick : seen[stores];
}

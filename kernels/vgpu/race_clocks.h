/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What race.c (shared memory) and race_tensor.c (tensor memory) keep. */
#ifndef FP4ORACLE_KERNELS_VGPU_RACE_CLOCKS_H
#define FP4ORACLE_KERNELS_VGPU_RACE_CLOCKS_H

#include "machine.h"

enum { FPO_RACE_RECENT_GROUPS = 16, FPO_RACE_WARPGROUP = 4 };

/* Of a cluster. Clocks are numbered by warp (rank after rank), then loads, stores and tensor cores, then the wgmmas of
 * each warpgroup (rank after rank), whose clock is the number of those issued, and cp.async of each warp, whose clock
 * counts groups. */
struct fpo_clocks {
    uint32_t count, loads, stores, cores, wgmmas,
        copies;                             /* numbers of the latter; the first warpgroup's, the first warp's */
    uint32_t loaded, stored, done_by_cores; /* their clocks */
    uint32_t *seen;                         /* of each warp: `count` clocks */
    uint32_t *cluster_open, *cluster_done;
};

/* Of a CTA's shared memory, by address. */
struct fpo_race {
    uint32_t *write_clock;
    uint16_t *writer; /* number of a clock + 1; 0: nobody, or it does not matter */
    uint32_t *
        *reads; /* planes of clocks: of each warp of the CTA, of stores, of tensor cores, of each warpgroup's wgmmas */
    uint32_t *open, *done;                           /* clocks of each named barrier */
    uint32_t **words;                                /* of mbarriers and other words that order, by address / 8 */
    uint32_t (*store_ticks)[FPO_RACE_RECENT_GROUPS]; /* of each warp: the stores' clock when it closed a group */
    struct fpo_race_tensor *tensor;                  /* of tensor memory; NULL until it is used */
};

static inline uint32_t fpo_race_warpgroups(const fpo_cta *cta)
{
    return (cta->warp_count + FPO_RACE_WARPGROUP - 1) / FPO_RACE_WARPGROUP;
}

static inline uint32_t fpo_race_number(const fpo_warp *warp)
{
    return warp->cta->rank * warp->cta->warp_count + warp->id;
}

static inline uint32_t *fpo_race_seen(const fpo_warp *warp)
{
    const fpo_clocks *c = warp->cta->cluster->clocks;
    return c->seen + (size_t)fpo_race_number(warp) * c->count;
}

#endif

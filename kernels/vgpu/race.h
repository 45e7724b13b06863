/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Races between warps on shared and on tensor memory: happens-before by vector clocks. Every warp of a cluster has a
 * clock, and knows how much of every other warp's it has seen; bulk and tensor copies have two clocks of their own, for
 * loads and for stores, the tensor cores one, which tcgen05.commit hands to an mbarrier, and the wgmmas of each
 * warpgroup one, which a wait hands to the warp that waits, and so have each warp's cp.async, which an mbarrier can
 * hand on, too. A warp's clock ticks when it arrives at a barrier; who passes the barrier has seen what those that
 * arrived had. Two accesses to a byte, one of them a write, are a race where the later one's warp has not seen the
 * earlier.
 *
 * What orders: bar and barrier (named barriers), barrier.cluster, mbarriers (arrivals, and waits that succeed; bytes
 * that arrive order the copies that brought them), waits for bulk stores, and atomic, volatile, relaxed, acquire and
 * release accesses to the same word. An order that the hardware does not promise may be seen where chance gave one, so
 * that a race may be missed; none is invented. Lanes of one warp are not told apart. */
#ifndef FP4ORACLE_KERNELS_VGPU_RACE_H
#define FP4ORACLE_KERNELS_VGPU_RACE_H

#include "machine.h"

enum { FPO_RACE_NONE = -1 };

bool fpo_race_start_cluster(fpo_cluster *cluster); /* false: out of memory. After its CTAs are there. */
void fpo_race_stop_cluster(fpo_cluster *cluster);

/* Accesses to shared memory of the warp's CTA: who has a conflicting one that this warp has not seen (a warp's number
 * in the CTA, or one of the names of fpo_race_name), or FPO_RACE_NONE. All of these do nothing without checks. */
int fpo_race_read(fpo_warp *warp, uint32_t address, uint32_t bytes);
int fpo_race_write(fpo_warp *warp, uint32_t address, uint32_t bytes);
/* By a tensor core, for that warp: what a later write has to come after is a commit. */
int fpo_race_core_read(fpo_warp *warp, const fpo_cta *cta, uint32_t address, uint32_t bytes);
/* By the wgmma that the warp has issued last: what a later write has to come after is a wait of the warpgroup. */
int fpo_race_wgmma_read(fpo_warp *warp, uint32_t address, uint32_t bytes);
void fpo_race_wgmma_wait(fpo_warp *warp, uint64_t wgmmas); /* the first so many of the warpgroup are complete */
/* A cp.async of the warp, in the open group; a wait of the warp for the groups before `end`; an arrival at an mbarrier
 * that waits for them. */
int fpo_race_copy_write(fpo_warp *warp, uint32_t address, uint32_t bytes);
void fpo_race_copy_wait(fpo_warp *warp, uint32_t end);
void fpo_race_copy_arrive(fpo_warp *warp, const void *at, uint32_t end);
bool fpo_race_is_copy(const fpo_warp *warp, int other); /* whether somebody's cp.async has the conflicting access */
int fpo_race_load_issued(fpo_warp *warp, fpo_cta *cta, uint32_t address, uint32_t bytes);
int fpo_race_store_issued(fpo_warp *warp, uint32_t address, uint32_t bytes);
/* An access that orders. */
void fpo_race_synchronise(fpo_warp *warp, uint32_t address, uint32_t bytes);
/* Bytes that something else wrote: another CTA, an answer of launch control. */
void fpo_race_forget(fpo_cta *cta, uint32_t address, uint32_t bytes);
/* Accesses to tensor memory of a CTA by a warp, or by a tensor core for it. */
struct fpo_tmem_region;
int fpo_race_tensor(fpo_warp *warp, fpo_cta *cta, const struct fpo_tmem_region *region, bool core, bool write);
void fpo_race_tensor_allocated(fpo_cta *cta, uint32_t first, uint32_t count);
void fpo_race_core_ticks(const fpo_cta *cta); /* a tensor core begins another operation */
/* "warp 3", "a copy to shared memory", ...: static until the next call of the thread. */
const char *fpo_race_name(const fpo_warp *warp, int other);

/* Barriers: `id` of the CTA. */
void fpo_race_barrier_arrive(fpo_warp *warp, uint32_t id);
void fpo_race_barrier_complete(fpo_cta *cta, uint32_t id);
void fpo_race_barrier_pass(fpo_warp *warp, uint32_t id);
void fpo_race_cluster_arrive(fpo_warp *warp);
void fpo_race_cluster_complete(fpo_cluster *cluster);
void fpo_race_cluster_pass(fpo_warp *warp);
/* mbarriers, by where they are in the process. Who has initialised one with nothing that orders its use after that, and
 * its address. */
int fpo_race_mbarrier_use(const fpo_warp *warp, const void *at, uint32_t *address);
void fpo_race_mbarrier_arrive(fpo_warp *warp, const void *at);
void fpo_race_mbarrier_bytes(fpo_warp *warp, const void *at);
/* The word at that offset of the CTA's shared memory orders what tensor cores have done so far. */
void fpo_race_mbarrier_commit(fpo_cta *cta, uint32_t address);
void fpo_race_mbarrier_pass(fpo_warp *warp, const void *at);
/* Groups of bulk stores: the one that closes, and those that may still be open after a wait. */
void fpo_race_store_commit(fpo_warp *warp);
void fpo_race_store_wait(fpo_warp *warp, uint32_t groups_left);

#endif

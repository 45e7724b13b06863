/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A launch: its checks, constants and parameters, CTAs as they start, and the scheduler. */
#include "bulk.h"
#include "cluster.h"
#include "machine.h"
#include "mma.h"
#include "race.h"
#include "shadow.h"
#include "spread.h"
#include "tmem.h"
#include "trace.h"
#include "warp.h"

#include <stdio.h>
#include <stdlib.h>

uint32_t fpo_grid_random(fpo_grid *grid, uint32_t bound)
{
    /* Knuth's MMIX generator: its upper bits are good enough to pick an interleaving. */
    grid->random = grid->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(grid->random >> 33) % bound;
}

bool fpo_grid_take(fpo_grid *grid, uint64_t *number)
{
    if (grid->next >= grid->total)
        return false;
    *number = grid->next;
    grid->next += grid->stride;
    return true;
}

static uint32_t cluster_size(const fpo_grid *grid)
{
    return grid->cluster[0] * grid->cluster[1] * grid->cluster[2];
}

/* Constants as CTAs of that rank see them: addresses of shared variables name their CTA. */
static fpo_status set_constants(fpo_grid *grid, uint32_t rank)
{
    const fpo_ptx_kernel *k = grid->kernel;
    uint8_t *constants = aligned_alloc(64, (k->constant_bytes + 127) / 64 * 64);
    grid->constants[rank] = constants;
    if (constants == NULL)
        return fpo_fail(grid->error, FPO_ERR_MEMORY, "out of memory");
    if (k->constant_bytes != 0)
        memcpy(constants, k->constants, k->constant_bytes);
    uint64_t own = (uint64_t)rank << FPO_SHARED_RANK_SHIFT;
    for (uint32_t i = 0; i < k->relocation_count; i++) {
        const fpo_ptx_relocation *r = &k->relocations[i];
        uint64_t value = r->value;
        switch (r->kind) {
        case FPO_PTX_SYM_PARAM: value += FPO_WINDOW_PARAM; break;
        case FPO_PTX_SYM_SHARED: value += FPO_SHARED_BASE | own; break;
        case FPO_PTX_SYM_DYNAMIC_SHARED: value = grid->dynamic_offset | own; break;
        case FPO_PTX_SYM_GLOBAL: value = fpo_vgpu_symbol(grid->function->module, r->value); break;
        default: break;
        }
        value += (uint64_t)r->addend;
        for (uint32_t lane = 0; lane < FPO_PTX_WARP; lane++)
            memcpy(constants + r->slot + lane * r->bytes, &value, r->bytes);
    }
    return FPO_OK;
}

static fpo_status set_up(fpo_grid *grid)
{
    const fpo_ptx_kernel *k = grid->kernel;
    grid->parameters = aligned_alloc(128, (k->param_bytes + 255) / 128 * 128);
    if (grid->parameters == NULL)
        return fpo_fail(grid->error, FPO_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < k->param_count; i++)
        memcpy(grid->parameters + k->params[i].offset, grid->launch->arguments[i], k->params[i].size);
    fpo_status status = FPO_OK;
    for (uint32_t rank = 0; rank < cluster_size(grid) && status == FPO_OK; rank++)
        status = set_constants(grid, rank);
    return status;
}

static fpo_status check_launch(fpo_grid *grid)
{
    const fpo_vgpu_launch *l = grid->launch;
    const fpo_ptx_kernel *k = grid->kernel;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    for (int i = 0; i < 3; i++) {
        if (l->grid[i] == 0 || l->grid[i] > (i == 0 ? 0x7FFFFFFFu : 65535u))
            return fpo_fail(grid->error, FPO_ERR_ARGUMENT, "a grid of %u x %u x %u CTAs", l->grid[0], l->grid[1],
                            l->grid[2]);
        if (k->required_threads[0] != 0 && l->block[i] != k->required_threads[i])
            return fpo_fail(grid->error, FPO_ERR_ARGUMENT, "kernel %.80s wants %u x %u x %u threads", k->name,
                            k->required_threads[0], k->required_threads[1], k->required_threads[2]);
    }
    if (threads == 0 || threads > FPO_MAX_WARPS * FPO_PTX_WARP || (k->max_threads != 0 && threads > k->max_threads))
        return fpo_fail(grid->error, FPO_ERR_ARGUMENT, "kernel %.80s: CTAs of %llu threads", k->name,
                        (unsigned long long)threads);
    uint32_t most = fpo_vgpu_machine_of(fpo_vgpu_configuration(grid->gpu)->capability)->shared;
    if (l->dynamic_shared > most || grid->shared_bytes > most)
        return fpo_fail(grid->error, FPO_ERR_ARGUMENT, "kernel %.80s: %u bytes of shared memory, the GPU has %u",
                        k->name, grid->shared_bytes, most);
    return fpo_cluster_shape(grid);
}

static uint32_t special_value(const fpo_cta *cta, fpo_ptx_special special, uint32_t warp, uint32_t lane)
{
    const fpo_vgpu_launch *l = cta->grid->launch;
    const uint32_t *shape = cta->grid->cluster;
    uint32_t thread = warp * FPO_PTX_WARP + lane, bit = 1u << lane;
    switch (special) {
    case FPO_PTX_SR_TID_X: return thread % l->block[0];
    case FPO_PTX_SR_TID_Y: return thread / l->block[0] % l->block[1];
    case FPO_PTX_SR_TID_Z: return thread / l->block[0] / l->block[1];
    case FPO_PTX_SR_NTID_X: return l->block[0];
    case FPO_PTX_SR_NTID_Y: return l->block[1];
    case FPO_PTX_SR_NTID_Z: return l->block[2];
    case FPO_PTX_SR_CTAID_X: return cta->index[0];
    case FPO_PTX_SR_CTAID_Y: return cta->index[1];
    case FPO_PTX_SR_CTAID_Z: return cta->index[2];
    case FPO_PTX_SR_NCTAID_X: return l->grid[0];
    case FPO_PTX_SR_NCTAID_Y: return l->grid[1];
    case FPO_PTX_SR_NCTAID_Z: return l->grid[2];
    case FPO_PTX_SR_CLUSTERID_X: return cta->index[0] / shape[0];
    case FPO_PTX_SR_CLUSTERID_Y: return cta->index[1] / shape[1];
    case FPO_PTX_SR_CLUSTERID_Z: return cta->index[2] / shape[2];
    case FPO_PTX_SR_NCLUSTERID_X: return l->grid[0] / shape[0];
    case FPO_PTX_SR_NCLUSTERID_Y: return l->grid[1] / shape[1];
    case FPO_PTX_SR_NCLUSTERID_Z: return l->grid[2] / shape[2];
    case FPO_PTX_SR_CLUSTER_CTAID_X: return cta->index[0] % shape[0];
    case FPO_PTX_SR_CLUSTER_CTAID_Y: return cta->index[1] % shape[1];
    case FPO_PTX_SR_CLUSTER_CTAID_Z: return cta->index[2] % shape[2];
    case FPO_PTX_SR_CLUSTER_NCTAID_X: return shape[0];
    case FPO_PTX_SR_CLUSTER_NCTAID_Y: return shape[1];
    case FPO_PTX_SR_CLUSTER_NCTAID_Z: return shape[2];
    case FPO_PTX_SR_CLUSTER_CTARANK: return cta->rank;
    case FPO_PTX_SR_CLUSTER_NCTARANK: return cta->cluster->size;
    case FPO_PTX_SR_IS_EXPLICIT_CLUSTER: return cta->grid->explicit_cluster ? UINT32_MAX : 0;
    case FPO_PTX_SR_LANEID: return lane;
    case FPO_PTX_SR_WARPID: return warp;
    case FPO_PTX_SR_NWARPID: return cta->warp_count;
    case FPO_PTX_SR_SMID: return cta->sm;
    case FPO_PTX_SR_NSMID: return (uint32_t)fpo_vgpu_configuration(cta->grid->gpu)->multiprocessors;
    case FPO_PTX_SR_LANEMASK_EQ: return bit;
    case FPO_PTX_SR_LANEMASK_LE: return bit | (bit - 1);
    case FPO_PTX_SR_LANEMASK_LT: return bit - 1;
    case FPO_PTX_SR_LANEMASK_GE: return ~(bit - 1);
    case FPO_PTX_SR_LANEMASK_GT: return ~(bit | (bit - 1));
    case FPO_PTX_SR_DYNAMIC_SMEM_SIZE: return l->dynamic_shared;
    case FPO_PTX_SR_AGGR_SMEM_SIZE:
    case FPO_PTX_SR_TOTAL_SMEM_SIZE: return cta->grid->shared_bytes;
    default: return 0; /* the grid's number */
    }
}

static void start_warp(fpo_cta *cta, uint32_t id, uint32_t threads)
{
    const fpo_grid *grid = cta->grid;
    const fpo_ptx_kernel *k = grid->kernel;
    fpo_warp *warp = &cta->warps[id];
    uint32_t rest = threads - id * FPO_PTX_WARP;
    warp->cta = cta;
    warp->id = id;
    warp->alive = rest >= FPO_PTX_WARP ? 0xFFFFFFFF : (1u << rest) - 1;
    warp->constants = grid->constants[cta->rank];
    warp->registers = cta->register_memory + (size_t)id * ((k->register_bytes + 63) / 64 * 64);
    warp->local = cta->local_memory + (size_t)id * grid->local_stride * FPO_PTX_WARP;
    for (uint32_t i = 0; i < k->special_count; i++) {
        for (uint32_t lane = 0; lane < FPO_PTX_WARP; lane++) {
            uint64_t value = special_value(cta, (fpo_ptx_special)k->specials[i].special, id, lane);
            /* A predicate is one mask, the same for each lane here. */
            uint8_t *at = warp->registers + k->specials[i].slot;
            if (k->specials[i].bytes == 0)
                memcpy(at, &value, sizeof(uint32_t));
            else
                memcpy(at + lane * k->specials[i].bytes, &value, k->specials[i].bytes);
        }
    }
}

static void free_cta(fpo_cta *cta)
{
    if (cta == NULL)
        return;
    for (uint32_t i = 0; cta->warps != NULL && i < cta->warp_count; i++) {
        while (cta->warps[i].stores != NULL) {
            fpo_pending *next = cta->warps[i].stores->next;
            free(cta->warps[i].stores);
            cta->warps[i].stores = next;
        }
        fpo_copy_async_free(&cta->warps[i]);
        fpo_wgmma_free(&cta->warps[i]);
    }
    while (cta->loads != NULL) {
        fpo_pending *next = cta->loads->next;
        free(cta->loads);
        cta->loads = next;
    }
    fpo_tmem_free(cta);
    fpo_check_stop(cta);
    fpo_trace_stop(cta);
    free(cta->shared);
    free(cta->warps);
    free(cta->register_memory);
    free(cta->local_memory);
    free(cta);
}

/* NULL: out of memory. */
static fpo_cta *start_cta(fpo_grid *grid, fpo_cluster *cluster, const uint32_t first[3], uint32_t rank, uint32_t sm)
{
    const fpo_vgpu_launch *l = grid->launch;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    fpo_cta *cta = calloc(1, sizeof *cta);
    if (cta == NULL)
        return NULL;
    cta->grid = grid;
    cta->sm = sm;
    cta->cluster = cluster;
    cta->rank = rank;
    fpo_cluster_place(grid, rank, cta->index);
    for (int i = 0; i < 3; i++)
        cta->index[i] += first[i];
    cta->warp_count = cta->warps_alive = (threads + FPO_PTX_WARP - 1) / FPO_PTX_WARP;
    cta->shared_end = FPO_SHARED_BASE + grid->shared_bytes;
    size_t shared = ((size_t)cta->shared_end + 1023) / 1024 * 1024;
    size_t registers = (size_t)cta->warp_count * ((grid->kernel->register_bytes + 63) / 64 * 64) + 64;
    size_t local = (size_t)cta->warp_count * FPO_PTX_WARP * grid->local_stride + 64;
    cta->shared = aligned_alloc(1024, shared);
    cta->register_memory = aligned_alloc(64, (registers + 63) / 64 * 64);
    cta->local_memory = malloc(local);
    cta->warps = calloc(cta->warp_count, sizeof *cta->warps);
    if (!fpo_check_start(cta) || cta->shared == NULL || cta->register_memory == NULL || cta->local_memory == NULL ||
        cta->warps == NULL) {
        free_cta(cta);
        return NULL;
    }
    if (!fpo_trace_start(cta)) {
        free_cta(cta);
        return NULL;
    }
    memset(cta->shared, FPO_POISON, shared);
    memset(cta->register_memory, FPO_POISON, registers);
    memset(cta->local_memory, FPO_POISON, local);
    for (uint32_t i = 0; i < cta->warp_count; i++)
        start_warp(cta, i, threads);
    return cta;
}

static void free_cluster(fpo_cluster *cluster)
{
    if (cluster != NULL)
        fpo_race_stop_cluster(cluster);
    for (uint32_t i = 0; cluster != NULL && i < cluster->size; i++)
        free_cta(cluster->ctas[i]);
    free(cluster);
}

/* NULL: out of memory. */
static fpo_cluster *start_cluster(fpo_grid *grid, uint64_t number, uint32_t slot)
{
    fpo_cluster *cluster = calloc(1, sizeof *cluster);
    if (cluster == NULL)
        return NULL;
    cluster->size = cluster_size(grid);
    uint32_t first[3];
    fpo_cluster_origin(grid, number, first);
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        cluster->ctas[rank] = start_cta(grid, cluster, first, rank, slot * cluster->size + rank);
        if (cluster->ctas[rank] == NULL) {
            free_cluster(cluster);
            return NULL;
        }
    }
    if (!fpo_race_start_cluster(cluster)) {
        free_cluster(cluster);
        return NULL;
    }
    fpo_cluster_start(cluster);
    return cluster;
}

/* False if all its warps have exited. */
static bool report_stuck(const fpo_cta *cta)
{
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        fpo_warp *warp = &cta->warps[w];
        if (warp->alive == 0)
            continue;
        int lane = fpo_first_lane(warp->alive);
        warp->at = warp->pc[lane];
        fpo_fault(warp, lane, "deadlock: no warp can go on, this one (lanes 0x%08x) among %u of the CTA", warp->alive,
                  cta->warps_alive);
        return true;
    }
    return false;
}

static void report_deadlock(fpo_cluster *const *resident, int count)
{
    for (int i = 0; i < count; i++)
        for (uint32_t rank = 0; resident[i] != NULL && rank < resident[i]->size; rank++)
            if (report_stuck(resident[i]->ctas[rank]))
                return;
}

/* Asynchronous work that is in flight, as chance picks it; `stuck`: something has to happen if it can. */
static bool perform_late(fpo_cta *cta, bool stuck)
{
    static bool (*const kinds[])(fpo_cta *, bool) = {fpo_cta_perform_loads, fpo_cta_perform_copies,
                                                     fpo_cta_perform_wgmma, fpo_cta_perform_tmem};
    bool any = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && cta->grid->status == FPO_OK; i++)
        any |= kinds[i](cta, stuck && !any);
    return any;
}

/* One round of a CTA: each living warp runs a while. True if anything happened. */
static bool run_cta(fpo_cta *cta, bool give_up)
{
    enum { BUDGET = 20000 };
    fpo_grid *grid = cta->grid;
    bool random = fpo_vgpu_configuration(grid->gpu)->seed != 0, moved = false;
    uint32_t first = random ? fpo_grid_random(grid, cta->warp_count) : 0;
    for (uint32_t i = 0; i < cta->warp_count && grid->status == FPO_OK; i++) {
        fpo_warp *warp = &cta->warps[(first + i) % cta->warp_count];
        if (warp->alive == 0)
            continue;
        warp->moved = false;
        warp->give_up = give_up;
        fpo_warp_run(warp, random ? 1 + fpo_grid_random(grid, BUDGET) : BUDGET);
        moved |= warp->moved;
        if (warp->alive == 0 && grid->status == FPO_OK) {
            warp->store_groups++; /* what was not committed completes too */
            fpo_warp_perform_stores(warp, 0);
        }
    }
    return perform_late(cta, !moved) || moved;
}

static bool run_cluster(fpo_cluster *cluster, bool give_up)
{
    bool moved = false;
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        if (cluster->ctas[rank]->grid->status == FPO_OK)
            moved |= run_cta(cluster->ctas[rank], give_up);
    return moved;
}

/* What nothing waited for completes too. */
static void end_cluster(fpo_cluster *cluster)
{
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        while (perform_late(cluster->ctas[rank], true))
            continue;
        fpo_tmem_check_end(cluster->ctas[rank]);
    }
    cluster->ctas[0]->grid->changes++;
    free_cluster(cluster);
}

fpo_status fpo_fail_endless(fpo_grid *grid)
{
    return fpo_fail(grid->error, FPO_ERR_KERNEL, "kernel %.80s did not end within %llu warp instructions",
                    grid->kernel->name, (unsigned long long)fpo_vgpu_configuration(grid->gpu)->max_instructions);
}

/* Rounds without a change of anything that a wait depends on: spinning threads look busy, so it is these that count. */
enum { DEADLOCK_ROUNDS = 2000 };

static void run_rounds(fpo_grid *grid, fpo_cluster **resident, int slots)
{
    const fpo_vgpu_config *config = fpo_vgpu_configuration(grid->gpu);
    uint64_t seen = 0;
    int idle = 0;
    bool give_up = false;
    while (grid->status == FPO_OK) {
        bool any = false, moved = false;
        for (int i = 0; i < slots && grid->status == FPO_OK; i++) {
            uint64_t number;
            if (resident[i] == NULL && fpo_grid_take(grid, &number)) {
                resident[i] = start_cluster(grid, number, grid->first_slot + (uint32_t)i);
                if (resident[i] == NULL)
                    grid->status = fpo_fail(grid->error, FPO_ERR_MEMORY, "no memory for a CTA");
            }
            if (resident[i] == NULL || grid->status != FPO_OK)
                continue;
            any = true;
            moved |= run_cluster(resident[i], give_up);
            if (fpo_cluster_has_ended(resident[i]) && grid->status == FPO_OK) {
                end_cluster(resident[i]);
                resident[i] = NULL;
            }
        }
        if (!any)
            return;
        grid->statistics.rounds++;
        idle = grid->changes != seen ? 0 : idle + 1;
        seen = grid->changes;
        if (grid->status == FPO_OK && (idle > DEADLOCK_ROUNDS || (!moved && give_up)))
            report_deadlock(resident, slots);
        if (config->max_instructions != 0 && grid->statistics.instructions > config->max_instructions &&
            grid->status == FPO_OK)
            grid->status = fpo_fail_endless(grid);
        give_up = !moved;
    }
}

void fpo_grid_run(fpo_grid *grid, int slots)
{
    fpo_cluster **resident = calloc((size_t)slots, sizeof(fpo_cluster *));
    if (resident == NULL) {
        grid->status = fpo_fail(grid->error, FPO_ERR_MEMORY, "out of memory");
        return;
    }
    run_rounds(grid, resident, slots);
    for (int i = 0; i < slots; i++)
        free_cluster(resident[i]);
    free(resident);
}

/* Registers that no instruction defines: what they hold is chance. */
static void report_undefined(fpo_grid *grid)
{
    const fpo_ptx_kernel *k = grid->kernel;
    for (uint32_t i = 0; i < k->undefined_count; i++) {
        if (!k->undefined[i].never)
            continue;
        char message[FPO_MESSAGE_SIZE];
        snprintf(message, sizeof message, "PTX line %u reads register %.60s, which nothing defines; kernel %.80s",
                 k->undefined[i].line, k->undefined[i].name, k->name);
        grid->statistics.reports++;
        if (grid->launch->report != NULL)
            grid->launch->report(grid->launch->report_context, message);
    }
}

fpo_status fpo_vgpu_run(fpo_vgpu_function *function, const fpo_vgpu_launch *launch, fpo_vgpu_statistics *statistics,
                        fpo_error *error)
{
    const fpo_ptx_kernel *k = function->kernel;
    fpo_vgpu_launch counted = *launch;
    fpo_cluster_grid(k, counted.grid);
    launch = &counted;
    fpo_grid grid = {.gpu = fpo_vgpu_of(function), .function = function, .kernel = k, .launch = launch, .error = error};
    grid.dynamic_offset = (FPO_SHARED_BASE + k->shared_bytes + k->shared_align - 1) / k->shared_align * k->shared_align;
    grid.shared_bytes = grid.dynamic_offset - FPO_SHARED_BASE + launch->dynamic_shared;
    grid.local_stride = (k->local_bytes + 15) / 16 * 16;
    const fpo_vgpu_config *config = fpo_vgpu_configuration(grid.gpu);
    grid.random = config->seed;
    grid.stride = 1;
    int slots = 0;
    grid.status = check_launch(&grid);
    if (grid.status == FPO_OK) {
        /* A cluster is resident as a whole, however few multiprocessors there are. */
        uint32_t size = cluster_size(&grid), most = (uint32_t)config->multiprocessors / size;
        grid.total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] / size;
        slots = grid.total < most ? (int)grid.total : most != 0 ? (int)most : 1;
    }
    if (grid.status == FPO_OK)
        grid.status = set_up(&grid);
    if (grid.status == FPO_OK && config->check) {
        grid.reported = calloc(k->code_count, sizeof *grid.reported);
        if (grid.reported == NULL)
            grid.status = fpo_fail(error, FPO_ERR_MEMORY, "out of memory");
    }
    if (grid.status == FPO_OK && config->check) {
        fpo_vgpu_note_host(grid.gpu);
        report_undefined(&grid);
    }
    if (grid.status == FPO_OK)
        fpo_grid_spread(&grid, slots);
    free(grid.reported);
    fpo_mma_room_free(grid.mma);
    for (int i = 0; i < FPO_CLUSTER_CTAS; i++)
        free(grid.constants[i]);
    free(grid.parameters);
    if (statistics != NULL)
        *statistics = grid.statistics;
    return grid.status;
}

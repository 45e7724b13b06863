/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "cluster.h"
#include "execute.h"
#include "race.h"

fpo_status fpo_cluster_shape(fpo_grid *grid)
{
    const fpo_vgpu_launch *l = grid->launch;
    const fpo_ptx_kernel *k = grid->kernel;
    uint64_t ctas = 1;
    if (k->explicit_cluster && l->cluster[0] == 0 && k->cluster[0] == 0)
        return fpo_fail(grid->error, FPO_ERR_ARGUMENT, "kernel %.80s has to be launched with a size of clusters",
                        k->name);
    for (int i = 0; i < 3; i++) {
        uint32_t asked = l->cluster[i], needed = k->cluster[i];
        grid->cluster[i] = asked != 0 ? asked : needed != 0 ? needed : 1;
        if (asked > 1 && needed != 0 && asked != needed)
            return fpo_fail(grid->error, FPO_ERR_ARGUMENT, "kernel %.80s is for clusters of %u x %u x %u CTAs", k->name,
                            k->cluster[0], k->cluster[1], k->cluster[2]);
        grid->explicit_cluster |= asked != 0 || needed != 0;
        ctas *= grid->cluster[i];
        if (ctas > FPO_CLUSTER_CTAS || l->grid[i] % grid->cluster[i] != 0)
            return fpo_fail(grid->error, FPO_ERR_ARGUMENT,
                            "kernel %.80s: a grid of %u x %u x %u CTAs in clusters of %u x %u x %u (%d at most)",
                            k->name, l->grid[0], l->grid[1], l->grid[2], grid->cluster[0],
                            asked != 0 ? l->cluster[1] : needed, asked != 0 ? l->cluster[2] : needed, FPO_CLUSTER_CTAS);
    }
    if (k->max_cluster != 0 && ctas > k->max_cluster)
        return fpo_fail(grid->error, FPO_ERR_ARGUMENT, "kernel %.80s: clusters of %llu CTAs, it is for %u at most",
                        k->name, (unsigned long long)ctas, k->max_cluster);
    return FPO_OK;
}

void fpo_cluster_grid(const fpo_ptx_kernel *kernel, uint32_t ctas[3])
{
    for (int i = 0; kernel->grid_of_clusters && i < 3; i++) {
        uint64_t count = (uint64_t)ctas[i] * kernel->cluster[i];
        ctas[i] = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
    }
}

void fpo_cluster_origin(const fpo_grid *grid, uint64_t number, uint32_t first[3])
{
    for (int i = 0; i < 3; i++) {
        uint32_t clusters = grid->launch->grid[i] / grid->cluster[i];
        first[i] = (uint32_t)(number % clusters) * grid->cluster[i];
        number /= clusters;
    }
}

void fpo_cluster_place(const fpo_grid *grid, uint32_t rank, uint32_t place[3])
{
    for (int i = 0; i < 3; i++) {
        place[i] = rank % grid->cluster[i];
        rank /= grid->cluster[i];
    }
}

static uint32_t warps_alive(const fpo_cluster *cluster)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cluster->size; i++)
        count += cluster->ctas[i]->warps_alive;
    return count;
}

void fpo_cluster_start(fpo_cluster *cluster)
{
    cluster->barrier_missing = warps_alive(cluster);
}

bool fpo_cluster_has_ended(const fpo_cluster *cluster)
{
    return warps_alive(cluster) == 0;
}

static void arrive(fpo_cluster *cluster, fpo_grid *grid)
{
    if (--cluster->barrier_missing != 0)
        return;
    cluster->barrier_generation++;
    cluster->barrier_missing = warps_alive(cluster);
    fpo_race_cluster_complete(cluster);
    grid->changes++;
}

static bool has_arrived(const fpo_warp *warp)
{
    return warp->at_cluster_barrier && warp->cluster_generation == warp->cta->cluster->barrier_generation;
}

/* A warp that has exited is no longer waited for. */
void fpo_cluster_barrier_after_exit(fpo_warp *warp)
{
    if (!has_arrived(warp))
        arrive(warp->cta->cluster, warp->cta->grid);
}

fpo_outcome fpo_do_cluster_barrier(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    fpo_cluster *cluster = warp->cta->cluster;
    if (ins->arguments.op == FPO_PTX_V_ARRIVE) {
        if (warp->at_cluster_barrier)
            return fpo_fault(warp, fpo_first_lane(warp->mask), "the warp arrives twice without a wait");
        warp->at_cluster_barrier = true;
        warp->cluster_generation = cluster->barrier_generation;
        fpo_race_cluster_arrive(warp);
        arrive(cluster, warp->cta->grid);
        return FPO_NEXT;
    }
    if (!warp->at_cluster_barrier)
        return fpo_fault(warp, fpo_first_lane(warp->mask), "the warp waits without having arrived");
    if (has_arrived(warp))
        return FPO_WAITING;
    warp->at_cluster_barrier = false;
    fpo_race_cluster_pass(warp);
    return FPO_NEXT;
}

/* The same place in the shared memory of the CTA with that rank. A rank that the cluster does not have makes an address
 * that no access can use: kernels compute such addresses in lanes that then do nothing. */
fpo_outcome fpo_do_mapa(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const fpo_ptx_operand *a = &ins->operands[1];
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t rank = (uint64_t)(fpo_u32(warp, &ins->operands[2], (int)lane) & 255) << FPO_SHARED_RANK_SHIFT;
        if (a->bytes == 4) {
            uint32_t *d = fpo_lanes_of(warp, &ins->operands[0]);
            d[lane] = (fpo_u32(warp, a, (int)lane) & FPO_SHARED_OFFSET) | (uint32_t)rank;
        } else {
            uint64_t *d = fpo_lanes_of(warp, &ins->operands[0]);
            d[lane] =
                (((const uint64_t *)fpo_lanes_of(warp, a))[lane] & ~((uint64_t)255 << FPO_SHARED_RANK_SHIFT)) | rank;
        }
    }
    return FPO_NEXT;
}

fpo_outcome fpo_do_cta_rank(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t *d = fpo_lanes_of(warp, &ins->operands[0]);
    const fpo_ptx_operand *a = &ins->operands[1];
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint32_t address =
            a->bytes == 4 ? fpo_u32(warp, a, (int)lane) : (uint32_t)((const uint64_t *)fpo_lanes_of(warp, a))[lane];
        d[lane] = address >> FPO_SHARED_RANK_SHIFT;
    }
    return FPO_NEXT;
}

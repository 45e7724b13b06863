/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* clusterlaunchcontrol: a running cluster takes over one that has not started. The 16 bytes of the answer are opaque;
 * here words 0 to 2 are the coordinates of its first CTA and word 3 says whether there was one. */
#include "cluster.h"
#include "execute.h"
#include "shadow.h"

static void take_next(fpo_grid *grid, uint32_t answer[4])
{
    memset(answer, 0, 4 * sizeof *answer);
    uint64_t number;
    if (fpo_grid_take(grid, &number)) {
        fpo_cluster_origin(grid, number, answer);
        answer[3] = 1;
        grid->statistics.cancelled++;
    }
}

static bool deliver(fpo_warp *warp, fpo_cta *cta, uint64_t address, uint64_t mbarrier, const uint32_t answer[4],
                    int lane)
{
    uint8_t *to = fpo_locate_in(warp, cta, address, 16, 16, lane);
    if (to == NULL)
        return false;
    memcpy(to, answer, 16);
    fpo_check_remote_write(cta, (uint32_t)(to - cta->shared), 16);
    return fpo_mbarrier_complete(warp, cta, mbarrier, 16, lane) == FPO_NEXT;
}

/* The answer goes to the CTA, or to the same place in each CTA of the cluster. */
fpo_outcome fpo_do_try_cancel(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const fpo_cluster *cluster = warp->cta->cluster;
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint64_t address = fpo_address(warp, &ins->operands[0], (int)lane);
        uint64_t mbarrier = fpo_address(warp, &ins->operands[1], (int)lane);
        if (fpo_locate_shared(warp, address, 16, 16, (int)lane) == NULL)
            return FPO_FAULT;
        uint32_t answer[4];
        take_next(warp->cta->grid, answer);
        for (uint32_t rank = 0; rank < cluster->size; rank++)
            if ((ins->arguments.multicast || rank == warp->cta->rank) &&
                !deliver(warp, cluster->ctas[rank], address, mbarrier, answer, (int)lane))
                return FPO_FAULT;
    }
    return FPO_NEXT;
}

fpo_outcome fpo_do_first_ctaid(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const fpo_ptx_b128 *a = fpo_lanes_of(warp, &ins->operands[4]);
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint32_t words[4];
        memcpy(words, &a[lane], sizeof words);
        words[3] = 0;
        for (int i = 0; i < 4; i++)
            if (ins->operands[i].kind == FPO_PTX_REGISTER)
                ((uint32_t *)fpo_lanes_of(warp, &ins->operands[i]))[lane] = words[i];
    }
    return FPO_NEXT;
}

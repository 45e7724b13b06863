/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* clusterlaunchcontrol: a running CTA takes over one that has not started. The 16 bytes of the answer are opaque; here
 * words 0 to 2 are the CTA's coordinates and word 3 says whether there was one. */
#include "execute.h"
#include "shadow.h"

fpo_outcome fpo_do_try_cancel(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    fpo_grid *grid = warp->cta->grid;
    const uint32_t *size = grid->launch->grid;
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint8_t *to = fpo_locate_shared(warp, fpo_address(warp, &ins->operands[0], (int)lane), 16, 16, (int)lane);
        if (to == NULL)
            return FPO_FAULT;
        uint32_t answer[4] = {0};
        if (grid->next < grid->total) {
            uint64_t n = grid->next++;
            answer[0] = (uint32_t)(n % size[0]);
            answer[1] = (uint32_t)(n / size[0] % size[1]);
            answer[2] = (uint32_t)(n / size[0] / size[1]);
            answer[3] = 1;
            grid->statistics.cancelled++;
        }
        memcpy(to, answer, sizeof answer);
        fpo_check_copy_arrived(warp->cta, (uint32_t)(to - warp->cta->shared), sizeof answer);
        if (fpo_mbarrier_complete(warp, fpo_address(warp, &ins->operands[1], (int)lane), 16, (int)lane) != FPO_NEXT)
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

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* cp.async: performed when issued, the earliest moment that is legal; its groups and waits have nothing left to do. */
#include "execute.h"
#include "shadow.h"

fpo_outcome fpo_do_copy_async(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t bytes = fpo_u32(warp, &ins->operands[2], 0);
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return fpo_fault(warp, fpo_first_lane(warp->mask), "cp.async of %u bytes", bytes);
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint32_t kept = bytes;
        if (ins->operands[3].kind != FPO_PTX_NO_OPERAND)
            kept = fpo_u32(warp, &ins->operands[3], (int)lane);
        if (kept > bytes)
            return fpo_fault(warp, (int)lane, "cp.async takes %u of %u bytes", kept, bytes);
        uint8_t *to = fpo_locate_shared(warp, fpo_address(warp, &ins->operands[0], (int)lane), bytes, bytes, (int)lane);
        if (to == NULL)
            return FPO_FAULT;
        const uint8_t *from = NULL;
        if (kept != 0) {
            from =
                fpo_locate(warp, FPO_PTX_V_GLOBAL, fpo_address(warp, &ins->operands[1], (int)lane), kept, 1, (int)lane);
            if (from == NULL)
                return FPO_FAULT;
            if ((uintptr_t)from % bytes != 0)
                return fpo_fault(warp, (int)lane, "cp.async of %u bytes from %p", bytes, (const void *)from);
        }
        fpo_check_copy_async(warp, (uint32_t)(to - warp->cta->shared), bytes, (int)lane);
        if (kept != 0)
            fpo_check_global_read(warp, (uint64_t)(uintptr_t)from, kept, (int)lane);
        memset(to, 0, bytes);
        if (kept != 0)
            memcpy(to, from, kept);
    }
    warp->cta->grid->changes++;
    return FPO_NEXT;
}

fpo_outcome fpo_do_copy_async_commit(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    (void)ins;
    warp->copy_group++;
    return FPO_NEXT;
}

/* Without a number: all copies, those of the open group too. */
fpo_outcome fpo_do_copy_async_wait(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    bool all = ins->operand_count == 0 || ins->operands[0].kind == FPO_PTX_NO_OPERAND;
    uint32_t left = all ? 0 : fpo_u32(warp, &ins->operands[0], fpo_first_lane(warp->mask));
    if (all)
        warp->copy_group++;
    uint16_t done = (uint16_t)(warp->copy_group - left);
    if ((int16_t)(done - warp->copies_done) > 0)
        warp->copies_done = done;
    return FPO_NEXT;
}

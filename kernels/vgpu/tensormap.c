/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensor maps that a kernel changes: grouped kernels make one for each problem. */
#include "execute.h"
#include "shadow.h"
#include "tensor_map.h"

static const char *set_field(uint8_t map[FPO_TENSOR_MAP_BYTES], fpo_ptx_value field, uint32_t dimension, uint64_t value)
{
    static const struct {
        fpo_ptx_value name;
        fpo_tensor_field field;
    } fields[] = {{FPO_PTX_V_GLOBAL_ADDRESS, FPO_TENSOR_SET_ADDRESS},
                  {FPO_PTX_V_RANK, FPO_TENSOR_SET_RANK},
                  {FPO_PTX_V_BOX_DIM, FPO_TENSOR_SET_BOX},
                  {FPO_PTX_V_GLOBAL_DIM, FPO_TENSOR_SET_DIM},
                  {FPO_PTX_V_GLOBAL_STRIDE, FPO_TENSOR_SET_STRIDE},
                  {FPO_PTX_V_ELEMENT_STRIDE, FPO_TENSOR_SET_ELEMENT_STRIDE},
                  {FPO_PTX_V_ELEMTYPE, FPO_TENSOR_SET_TYPE},
                  {FPO_PTX_V_INTERLEAVE_LAYOUT, FPO_TENSOR_SET_INTERLEAVE},
                  {FPO_PTX_V_SWIZZLE_MODE, FPO_TENSOR_SET_SWIZZLE},
                  {FPO_PTX_V_FILL_MODE, FPO_TENSOR_SET_FILL}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].name == field)
            return fpo_tensor_map_set(map, fields[i].field, dimension, value);
    return value == 0 ? NULL : "this field's place in a map is not known"; /* swizzle_atomicity */
}

static uint64_t value_of(const fpo_warp *warp, const fpo_ptx_operand *operand, int lane)
{
    return operand->bytes == 8 ? ((const uint64_t *)fpo_lanes_of(warp, operand))[lane] : fpo_u32(warp, operand, lane);
}

static void note_shared(fpo_warp *warp, const uint8_t *map, bool write, int lane)
{
    const fpo_cta *cta = warp->cta;
    if (map < cta->shared || map >= cta->shared + cta->shared_end)
        return;
    uint32_t offset = (uint32_t)(map - cta->shared);
    if (write)
        fpo_check_write(warp, offset, FPO_TENSOR_MAP_BYTES, lane);
    else
        fpo_check_read(warp, offset, FPO_TENSOR_MAP_BYTES, lane);
}

fpo_outcome fpo_do_tensormap_replace(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    bool has_dimension = ins->operand_count == 3;
    const fpo_ptx_operand *value = &ins->operands[ins->operand_count - 1];
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint8_t *map = fpo_locate(warp, (fpo_ptx_value)ins->arguments.space,
                                  fpo_address(warp, &ins->operands[0], (int)lane), FPO_TENSOR_MAP_BYTES, 64, (int)lane);
        if (map == NULL)
            return FPO_FAULT;
        uint64_t v = value_of(warp, value, (int)lane);
        const char *problem = set_field(map, (fpo_ptx_value)ins->arguments.a,
                                        has_dimension ? fpo_u32(warp, &ins->operands[1], (int)lane) : 0, v);
        if (problem != NULL)
            return fpo_fault(warp, (int)lane, "a tensor map cannot have %s %llu: %s",
                             fpo_ptx_value_name((fpo_ptx_value)ins->arguments.a), (unsigned long long)v, problem);
        note_shared(warp, map, true, (int)lane);
    }
    warp->cta->grid->changes++;
    return FPO_NEXT;
}

/* All lanes copy the same map. */
fpo_outcome fpo_do_tensormap_copy(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    if (fpo_u32(warp, &ins->operands[2], 0) != FPO_TENSOR_MAP_BYTES)
        return fpo_fault(warp, fpo_first_lane(warp->mask), "a tensor map has %d bytes", FPO_TENSOR_MAP_BYTES);
    for (FPO_EACH_LANE(lane, warp->mask)) {
        uint8_t *to = fpo_locate(warp, FPO_PTX_V_GLOBAL, fpo_address(warp, &ins->operands[0], (int)lane),
                                 FPO_TENSOR_MAP_BYTES, 128, (int)lane);
        const uint8_t *from = to != NULL ? fpo_locate_shared(warp, fpo_address(warp, &ins->operands[1], (int)lane),
                                                             FPO_TENSOR_MAP_BYTES, 128, (int)lane)
                                         : NULL;
        if (from == NULL)
            return FPO_FAULT;
        note_shared(warp, from, false, (int)lane);
        memcpy(to, from, FPO_TENSOR_MAP_BYTES);
    }
    warp->cta->grid->changes++;
    return FPO_NEXT;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* One tensor copy between a box in global memory and shared memory. Rules measured on an H200 (kernels.md 5.2, rule 7):
 * with a swizzle rows lie a full span apart even for a narrower box, and the gap is left alone; a store clips dimension
 * 0 in granules of 16 bytes; a first coordinate that is no multiple of 16 bytes traps, and so does a store with a
 * negative coordinate. */
#include "bulk.h"
#include "combine.h"
#include "shadow.h"
#include "trace.h"

enum { GRANULE = 16 };

/* The swizzle exchanges 16-byte granules within a span by bits 7 and up of the address. */
static uint32_t swizzled(uint32_t address, uint32_t swizzle)
{
    uint32_t mask = (1u << swizzle) - 1;
    return address ^ ((address >> 7 & mask) << 4);
}

static void fill(uint8_t *to, uint32_t bytes, bool nan)
{
    if (!nan) {
        memset(to, 0, bytes);
        return;
    }
    for (uint32_t i = 0; i < bytes; i += 2) {
        to[i] = 0xF7;
        to[i + 1] = 0x7F;
    }
}

/* PTX's type of a tensor's elements, and whether the hardware reduces them by the operation (PTX ISA, cp.reduce.async).
 */
static bool reduces(const fpo_tensor_map *m, fpo_ptx_value op, fpo_ptx_type *type)
{
    static const struct {
        uint8_t tensor, type;
        bool add, extreme, bits, count;
    } rules[] = {{FPO_TENSOR_U32, FPO_PTX_U32, true, true, true, true},
                 {FPO_TENSOR_S32, FPO_PTX_S32, true, true, true, false},
                 {FPO_TENSOR_U64, FPO_PTX_U64, true, true, true, false},
                 {FPO_TENSOR_S64, FPO_PTX_S64, false, true, true, false},
                 {FPO_TENSOR_F16, FPO_PTX_F16, true, true, false, false},
                 {FPO_TENSOR_BF16, FPO_PTX_BF16, true, true, false, false},
                 {FPO_TENSOR_F32, FPO_PTX_F32, true, false, false, false},
                 {FPO_TENSOR_F32_FTZ, FPO_PTX_F32, true, false, false, false}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].tensor != m->type)
            continue;
        *type = (fpo_ptx_type)rules[i].type;
        switch (op) {
        case FPO_PTX_V_ADD: return rules[i].add;
        case FPO_PTX_V_MIN:
        case FPO_PTX_V_MAX: return rules[i].extreme;
        case FPO_PTX_V_INC:
        case FPO_PTX_V_DEC: return rules[i].count;
        default: return rules[i].bits;
        }
    }
    return false;
}

/* Bytes [from, to) of a row are inside the tensor; of `global`, which is where the row's byte 0 would be. */
typedef struct row {
    uint8_t *global;
    int64_t from, to;
    uint32_t shared;
} row;

/* Bytes of global memory that 16 bytes of shared memory hold; the rest of them is padding, which is left alone. */
static uint32_t granule_bytes(const fpo_tensor_map *m)
{
    return m->padded ? 2 * m->bits : GRANULE;
}

/* A row that is inside the tensor as a whole, and is not traced. */
static void load_whole_row(const fpo_pending *copy, const row *r, uint32_t row_bytes)
{
    uint8_t *shared = copy->cta->shared;
    for (uint32_t start = 0; start < row_bytes; start += GRANULE)
        memcpy(shared + swizzled(r->shared + start, copy->map.swizzle), r->global + start, GRANULE);
}

static void copy_row(const fpo_pending *copy, const row *r)
{
    uint32_t row_bytes = fpo_tensor_packed_row_bytes(&copy->map), granule = granule_bytes(&copy->map);
    if (copy->load && !copy->map.padded && row_bytes % GRANULE == 0 && r->from == 0 && r->to == row_bytes &&
        copy->cta->sources == NULL) {
        load_whole_row(copy, r, row_bytes);
        return;
    }
    fpo_ptx_type type = FPO_PTX_B8;
    reduces(&copy->map, (fpo_ptx_value)copy->op, &type);
    for (uint32_t start = 0; start < row_bytes; start += granule) {
        uint32_t bytes = row_bytes - start < granule ? row_bytes - start : granule;
        uint32_t place = r->shared + start / granule * GRANULE;
        uint8_t *shared = copy->cta->shared + swizzled(place, copy->map.swizzle);
        int64_t from = r->from > start ? r->from : start, to = r->to < start + bytes ? r->to : start + bytes;
        if (copy->load && (from > start || to < start + bytes))
            fill(shared, bytes, copy->map.nan_fill);
        if (copy->load)
            fpo_trace_copy(copy->cta, (uint32_t)(shared - copy->cta->shared), 0, bytes);
        if (from >= to)
            continue;
        uint8_t *global = r->global + from, *inside = shared + (from - start);
        if (copy->load) {
            memcpy(inside, global, (size_t)(to - from));
            fpo_trace_copy(copy->cta, (uint32_t)(inside - copy->cta->shared), (uint64_t)(uintptr_t)global,
                           (uint64_t)(to - from));
        } else {
            fpo_combine_array((fpo_ptx_value)copy->op, type, global, inside, (uint32_t)(to - from), true);
        }
    }
}

static bool check(fpo_warp *warp, const fpo_pending *copy)
{
    const fpo_tensor_map *m = &copy->map;
    if ((int64_t)copy->coordinate[0] * (int64_t)m->bits / 8 % GRANULE != 0) {
        fpo_fault(warp, copy->lane, "tensor copy from element %d of dimension 0: no multiple of 16 bytes",
                  copy->coordinate[0]);
        return false;
    }
    if (m->padded && copy->coordinate[0] % 128 != 0) {
        fpo_fault(warp, copy->lane, "tensor copy from element %d of dimension 0: no multiple of 128",
                  copy->coordinate[0]);
        return false;
    }
    if (m->type == FPO_TENSOR_U4_PADDED && !copy->load) {
        fpo_fault(warp, copy->lane, "tensor store of a tensor of 4-bit elements that are padded in shared memory");
        return false;
    }
    for (uint32_t d = 0; d < m->rank && !copy->load; d++) {
        if (copy->coordinate[d] < 0) {
            fpo_fault(warp, copy->lane, "tensor store with coordinate %d in dimension %u", copy->coordinate[d], d);
            return false;
        }
    }
    fpo_ptx_type type;
    if (copy->op != FPO_PTX_V_NONE && !reduces(m, (fpo_ptx_value)copy->op, &type)) {
        fpo_fault(warp, copy->lane, "a tensor of type %u is not reduced by %s", m->type,
                  fpo_ptx_value_name((fpo_ptx_value)copy->op));
        return false;
    }
    return true;
}

bool fpo_tensor_copy(fpo_warp *warp, const fpo_pending *copy)
{
    const fpo_tensor_map *m = &copy->map;
    if (!check(warp, copy))
        return false;
    uint32_t row_bytes = fpo_tensor_row_bytes(m), rows = 1;
    for (uint32_t d = 1; d < m->rank; d++)
        rows *= m->box[d];
    uint32_t pitch = m->swizzle != 0 ? 16u << m->swizzle : row_bytes;
    if (fpo_locate_in(warp, copy->cta, copy->shared, (uint64_t)pitch * (rows - 1) + row_bytes, 128, copy->lane) == NULL)
        return false;
    int64_t first = copy->coordinate[0], width = (int64_t)m->dim[0] - first;
    int64_t from = first < 0 ? -first : 0, to = width < m->box[0] ? width : m->box[0];
    from = from * (int64_t)m->bits / 8;
    to = to < 0 ? 0 : to * (int64_t)m->bits / 8;
    if (!copy->load && !m->padded)
        to = (to + GRANULE - 1) / GRANULE * GRANULE;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t rest = i;
        uint64_t address = m->address + (uint64_t)(first * (int64_t)m->bits / 8);
        bool inside = from < to;
        for (uint32_t d = 1; d < m->rank; d++) {
            int64_t x = (int64_t)copy->coordinate[d] + rest % m->box[d];
            rest /= m->box[d];
            inside = inside && x >= 0 && (uint64_t)x < m->dim[d];
            address += (uint64_t)x * m->stride[d];
        }
        row r = {NULL, 0, 0, copy->shared + i * pitch};
        if (inside) {
            uint64_t start = address + (uint64_t)from;
            if (fpo_locate_global(warp, start, (uint64_t)(to - from), copy->lane) == NULL)
                return false;
            if (copy->load)
                fpo_check_global_read(warp, start, (uint64_t)(to - from), copy->lane);
            else
                fpo_check_global_write(warp, start, (uint64_t)(to - from));
            r = (row){(uint8_t *)(uintptr_t)address, from, to, copy->shared + i * pitch};
        }
        copy_row(copy, &r);
    }
    warp->cta->grid->statistics.tensor_copies++;
    return true;
}

void fpo_tensor_visit(const fpo_pending *copy, void (*visit)(const fpo_pending *copy, uint32_t address, uint32_t bytes))
{
    const fpo_tensor_map *m = &copy->map;
    uint32_t row_bytes = fpo_tensor_row_bytes(m), rows = copy->bytes / fpo_tensor_packed_row_bytes(m);
    uint32_t pitch = m->swizzle != 0 ? 16u << m->swizzle : row_bytes;
    uint64_t end = copy->shared + (uint64_t)pitch * rows;
    if (copy->shared < FPO_SHARED_BASE || end > copy->cta->shared_end)
        return;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t start = 0; start < row_bytes; start += GRANULE)
            visit(copy, swizzled(copy->shared + i * pitch + start, m->swizzle),
                  m->padded                     ? granule_bytes(m)
                  : row_bytes - start < GRANULE ? row_bytes - start
                                                : GRANULE);
}

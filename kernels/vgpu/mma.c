/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* mma.sync m16n8: fragments (facts.md 2.3), selectors of scales (2.2), and the emulator's step for each of 16 x 8
 * results. In a lane of group g = lane / 4 and quad position q = lane % 4, register r of A has row g + 8 * (r & 1) and
 * starts at k = per * q + 4 * per * (r >> 1), where `per` elements fill a register; B has column g and 4 * per * r. */
#include "mma.h"

#include "execute.h"
#include "mma_tile.h"

/* Containers: four bits for e2m1 with k = 64; e2m1 in bits 2 to 5 of a byte with k = 32, other 6- and 8-bit formats in
 * the low bits; 16 and 32 bits for the rest. */
static int container_bits(fpo_format element, int k)
{
    if (element == FPO_E2M1 && k == 64)
        return 4;
    return element == FPO_F16 || element == FPO_BF16 ? 16 : element == FPO_F32 ? 32 : 8;
}

static void unpack(const fpo_mma_unit *unit, int which, fpo_mma_side *side, int row, int k, uint32_t word, int bits)
{
    if (unit->nibbles) {
        fpo_mma_put_nibbles(unit, side, row, k, word);
        return;
    }
    bool shifted = unit->element[which] == FPO_E2M1 && bits == 8;
    uint32_t mask = fpo_format_describe(unit->element[which])->code_mask;
    for (int e = 0; e < 32 / bits; e++) {
        uint32_t code = bits == 32 ? word : word >> (bits * e) & ((1u << bits) - 1);
        fpo_mma_put(unit, which, side, row, k + e, shifted ? code >> 2 & 15 : code & mask);
    }
}

static void load_fragments(const fpo_mma_unit *unit, int which, const fpo_warp *warp, const fpo_ptx_operand *operands,
                           int registers, fpo_mma_side *side)
{
    int bits = container_bits(unit->element[which], unit->step->k), per = 32 / bits;
    fpo_mma_start(side, which == 0 ? 16 : 8);
    for (int r = 0; r < registers; r++) {
        const uint32_t *lanes = fpo_lanes_of(warp, &operands[r]);
        for (int lane = 0; lane < FPO_PTX_WARP; lane++) {
            int row = lane / 4 + (which == 0 ? 8 * (r & 1) : 0), part = which == 0 ? r >> 1 : r;
            unpack(unit, which, side, row, per * (lane % 4) + 4 * per * part, lanes[lane], bits);
        }
    }
}

/* C and D: register r has row g + 8 * (r >> 1) and column 2q + (r & 1); f16 accumulators have both columns in one. */
static void load_c(const fpo_warp *warp, const fpo_ptx_operand *operands, bool f16, uint32_t c[16 * 8])
{
    for (int r = 0; r < 4; r++) {
        const uint32_t *lanes = fpo_lanes_of(warp, &operands[f16 ? r >> 1 : r]);
        for (int lane = 0; lane < FPO_PTX_WARP; lane++) {
            int at = (lane / 4 + 8 * (r >> 1)) * 8 + 2 * (lane % 4) + (r & 1);
            c[at] = f16 ? lanes[lane] >> (16 * (r & 1)) & 0xFFFF : lanes[lane];
        }
    }
}

static void store_d(const fpo_warp *warp, const fpo_ptx_operand *operands, bool f16, const uint32_t d[16 * 8])
{
    for (int r = 0; r < (f16 ? 2 : 4); r++) {
        if (operands[r].kind != FPO_PTX_REGISTER)
            continue;
        uint32_t *lanes = fpo_lanes_of(warp, &operands[r]);
        for (int lane = 0; lane < FPO_PTX_WARP; lane++) {
            const uint32_t *row = &d[(lane / 4 + 8 * (f16 ? r : r >> 1)) * 8 + 2 * (lane % 4)];
            lanes[lane] = f16 ? row[0] | row[1] << 16 : row[r & 1];
        }
    }
}

/* The same for a tile, whose rows have the even columns first: four words of a row lie side by side in a register. */
static void store_tile_d(const fpo_warp *warp, const fpo_ptx_operand *operands, const fpo_mma_tile *tile)
{
    for (int r = 0; r < 4; r++) {
        if (operands[r].kind != FPO_PTX_REGISTER)
            continue;
        uint32_t *lanes = fpo_lanes_of(warp, &operands[r]);
        for (int row = 0; row < 8; row++)
            memcpy(lanes + 4 * row, tile->d[8 * (r >> 1) + row] + 4 * (r & 1), 4 * sizeof *lanes);
    }
}

/* Short forms that have no model of their own are the longer one with zeros in the places that are left: an H200's rows
 * show it for f16 m16n8k8 and FP8 m16n8k16 with f16 accumulators and for tf32 m16n8k4. */
static fpo_vgpu_mma kind_of(const fpo_ptx_arguments *how, int capability)
{
    bool f16 = how->op == FPO_PTX_V_F16;
    switch (how->a) {
    case FPO_PTX_V_F16: return f16 ? FPO_VGPU_F16_F16ACC : how->shape == 8 ? FPO_VGPU_F16_K8 : FPO_VGPU_F16;
    case FPO_PTX_V_BF16: return how->shape == 8 ? FPO_VGPU_BF16_K8 : FPO_VGPU_BF16;
    case FPO_PTX_V_TF32: return FPO_VGPU_TF32;
    default:
        if (how->shape == 16 && !(f16 && capability == 90))
            return f16 ? FPO_VGPU_FP8_K16_F16ACC : FPO_VGPU_FP8_K16;
        return f16 ? FPO_VGPU_F8F6F4_F16ACC : FPO_VGPU_F8F6F4;
    }
}

static int step_length(const fpo_ptx_arguments *how, fpo_vgpu_mma kind)
{
    switch (kind) {
    case FPO_VGPU_F16_F16ACC: return 16;
    case FPO_VGPU_TF32: return 8;
    case FPO_VGPU_F8F6F4_F16ACC: return 32;
    default: return how->shape;
    }
}

static void pad(const fpo_mma_unit *unit, int which, fpo_mma_side *side, int from, int to)
{
    for (int row = 0; row < side->rows; row++)
        for (int k = from; k < to; k++)
            fpo_mma_put(unit, which, side, row, k, 0);
}

static bool gather_all(fpo_warp *warp, const fpo_ptx_instruction *ins, fpo_outcome *otherwise)
{
    *otherwise = FPO_WAITING;
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return false;
    if (warp->mask == 0xFFFFFFFF)
        return true;
    *otherwise = fpo_fault(warp, fpo_first_lane(warp->mask), "only lanes 0x%08x of the warp take part", warp->mask);
    return false;
}

static void leave_tile(fpo_mma_tile *tile)
{
    for (int m = 0; m < FPO_TILE_ROWS; m++)
        for (int i = 0; i < FPO_TILE_COLUMNS; i++)
            tile->d[m][i] = tile->c[2 * (m / 8) + i / 4][m % 8 * 4 + i % 4];
    memset(tile->left, 0xFF, sizeof tile->left);
}

/* The outputs that the loops left, by the general step. */
static void finish_tile(const fpo_mma_unit *unit, fpo_warp *warp, const fpo_ptx_operand *a, const fpo_ptx_operand *b,
                        fpo_mma_tile *tile)
{
    fpo_mma_room *room = warp->cta->grid->mma;
    static const uint8_t none[FPO_TILE_ROWS];
    if (memcmp(tile->left, none, sizeof none) == 0)
        return;
    load_fragments(unit, 0, warp, a, 4, &room->a);
    load_fragments(unit, 1, warp, b, 2, &room->b);
    for (int s = 0; s < unit->scales; s++) {
        for (int m = 0; m < FPO_TILE_ROWS; m++)
            fpo_mma_put_scale(unit, &room->a, m, s, fpo_tile_scale_a(tile, m, s));
        for (int i = 0; i < FPO_TILE_COLUMNS; i++)
            fpo_mma_put_scale(unit, &room->b, fpo_tile_column(i), s, fpo_tile_scale_b(tile, i, s));
    }
    for (int m = 0; m < FPO_TILE_ROWS; m++)
        for (int i = 0; i < FPO_TILE_COLUMNS; i++)
            if (tile->left[m] >> i & 1)
                tile->d[m][i] = fpo_mma_general(unit, &room->a, m, &room->b, fpo_tile_column(i), tile->d[m][i]);
}

/* m16n8 with f32 accumulators; the scales are in the tile. D, A, B and C stand in this order. */
static void run_tile(const fpo_mma_unit *unit, fpo_warp *warp, const fpo_ptx_operand *operands, fpo_mma_tile *tile)
{
    for (int i = 0; i < 4; i++)
        tile->a[i] = fpo_lanes_of(warp, &operands[4 + i]);
    for (int i = 0; i < 2; i++)
        tile->b[i] = fpo_lanes_of(warp, &operands[8 + i]);
    for (int i = 0; i < 4; i++)
        tile->c[i] = fpo_lanes_of(warp, &operands[10 + i]);
    if (unit->tile != NULL)
        unit->tile(unit, tile, warp->cta->grid->mma->kept);
    else
        leave_tile(tile);
    finish_tile(unit, warp, operands + 4, operands + 8, tile);
    store_tile_d(warp, operands, tile);
    warp->cta->grid->statistics.mmas++;
}

fpo_outcome fpo_do_mma(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const fpo_ptx_arguments *how = &ins->arguments;
    fpo_outcome otherwise;
    if (!gather_all(warp, ins, &otherwise))
        return otherwise;
    fpo_vgpu_mma kind = kind_of(how, fpo_vgpu_configuration(warp->cta->grid->gpu)->capability);
    int length = step_length(how, kind);
    const fpo_mma_unit *unit = fpo_mma_prepare(warp, kind, fpo_mma_format((fpo_ptx_value)how->a),
                                               fpo_mma_format((fpo_ptx_value)how->b), FPO_FORMAT_NONE, length, 0);
    if (unit == NULL)
        return FPO_FAULT;
    if (unit->tile != NULL && length == how->shape) {
        fpo_mma_tile tile;
        tile.a_scales = tile.b_scales = (fpo_tile_scales){0};
        run_tile(unit, warp, ins->operands, &tile);
        return FPO_NEXT;
    }
    bool f16 = how->op == FPO_PTX_V_F16;
    int accumulators = f16 ? 2 : 4, fragments = ins->operand_count - 2 * accumulators, a_registers = fragments * 2 / 3;
    const fpo_ptx_operand *operands = ins->operands + accumulators;
    fpo_mma_room *room = warp->cta->grid->mma;
    load_fragments(unit, 0, warp, operands, a_registers, &room->a);
    load_fragments(unit, 1, warp, operands + a_registers, fragments - a_registers, &room->b);
    pad(unit, 0, &room->a, how->shape, length);
    pad(unit, 1, &room->b, how->shape, length);
    uint32_t d[16 * 8];
    load_c(warp, operands + fragments, f16, d);
    fpo_mma_multiply(unit, &room->a, &room->b, d);
    store_d(warp, ins->operands, f16, d);
    warp->cta->grid->statistics.mmas++;
    return FPO_NEXT;
}

fpo_outcome fpo_do_mma_scaled(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    enum { SCALES_A = 14, SCALES_B = 17 };
    const fpo_ptx_arguments *how = &ins->arguments;
    fpo_outcome otherwise;
    if (!gather_all(warp, ins, &otherwise))
        return otherwise;
    fpo_vgpu_mma kind = how->shape == 32 ? FPO_VGPU_MXF8F6F4 : how->count == 2 ? FPO_VGPU_MXF4 : FPO_VGPU_MXF4NVF4;
    const fpo_mma_unit *unit =
        fpo_mma_prepare(warp, kind, fpo_mma_format((fpo_ptx_value)how->a), fpo_mma_format((fpo_ptx_value)how->b),
                        fpo_mma_format((fpo_ptx_value)how->op), how->shape, how->count);
    if (unit == NULL)
        return FPO_FAULT;
    uint32_t selector[4]; /* byte and thread of A, of B */
    for (int i = 0; i < 4; i++) {
        const uint16_t *lanes = fpo_lanes_of(warp, &ins->operands[(i < 2 ? SCALES_A : SCALES_B) + 1 + i % 2]);
        selector[i] = lanes[0];
    }
    uint32_t last_byte = how->count == 1 ? 3 : how->count == 2 ? 2 : 0;
    if (selector[0] > last_byte || selector[2] > last_byte || (how->count == 2 && ((selector[0] | selector[2]) & 1)) ||
        selector[1] > 1 || selector[3] > 3)
        return fpo_fault(warp, 0, "scale selectors {%u, %u} {%u, %u}", selector[0], selector[1], selector[2],
                         selector[3]);
    fpo_mma_tile tile;
    tile.a_scales = (fpo_tile_scales){fpo_lanes_of(warp, &ins->operands[SCALES_A]), .thread = selector[1],
                                      .shift = 8 * selector[0]};
    tile.b_scales = (fpo_tile_scales){fpo_lanes_of(warp, &ins->operands[SCALES_B]), .thread = selector[3],
                                      .shift = 8 * selector[2]};
    run_tile(unit, warp, ins->operands, &tile);
    return FPO_NEXT;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Rows of elements for a model's step: see mma.h. */
#include "mma.h"
#include "mma_tile.h"

#include <math.h>
#include <stdlib.h>

fpo_format fpo_mma_format(fpo_ptx_value value)
{
    switch (value) {
    case FPO_PTX_V_E2M1: return FPO_E2M1;
    case FPO_PTX_V_E2M3: return FPO_E2M3;
    case FPO_PTX_V_E3M2: return FPO_E3M2;
    case FPO_PTX_V_E4M3: return FPO_E4M3;
    case FPO_PTX_V_E5M2: return FPO_E5M2;
    case FPO_PTX_V_F16: return FPO_F16;
    case FPO_PTX_V_BF16: return FPO_BF16;
    case FPO_PTX_V_TF32: return FPO_F32; /* the step cuts it */
    case FPO_PTX_V_UE8M0: return FPO_UE8M0;
    case FPO_PTX_V_UE4M3: return FPO_UE4M3;
    default: return FPO_FORMAT_NONE;
    }
}

/* The numbers that a fast path reads: emu/step_fast.h. */
static fpo_mma_number number_of(const fpo_mma_unit *unit, fpo_format element, uint32_t code)
{
    const fpo_step *step = unit->step;
    fpo_format operand = fpo_step_operand_format(step, element);
    int fraction = fpo_step_fraction(operand);
    fpo_mma_number n = {.digits = fpo_step_decode(step, element, code)};
    n.special = n.digits.exponent >= FPO_EXPONENT_INFINITY;
    n.nonzero = !n.special && n.digits.significand != 0;
    n.number = FPO_FAST_ABSENT;
    if (unit->path.kind == FPO_FAST_GROUPS)
        n.number = 0;
    if (!n.nonzero)
        return n;
    switch (unit->path.kind) {
    case FPO_FAST_NARROW:
        n.value = ldexpf((float)n.digits.significand, n.digits.exponent - fraction);
        n.number = n.digits.exponent;
        break;
    case FPO_FAST_WIDE:
        n.value = ldexpf((float)n.digits.significand, -fraction);
        n.number = n.digits.exponent;
        break;
    case FPO_FAST_GROUPS:
        n.number = (int16_t)(n.digits.significand * (1 << (n.digits.exponent - fraction - fpo_fast_lowest(operand))));
        break;
    case FPO_FAST_NONE: break;
    }
    return n;
}

static void fill_tables(fpo_mma_unit *unit)
{
    for (int which = 0; which < 2; which++) {
        unsigned bits = fpo_format_describe(unit->element[which])->bits;
        for (uint32_t code = 0; bits <= 8 && code < 1u << bits; code++)
            unit->table[which][code] = number_of(unit, unit->element[which], code);
    }
    for (uint32_t code = 0; unit->scale != FPO_FORMAT_NONE && code < 256; code++)
        unit->scale_table[code] = fpo_step_decode_scale(unit->step, unit->scale, code);
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int i = 0; i < 2; i++) {
            const fpo_mma_number *n = &unit->table[0][byte >> (4 * i) & 15];
            unit->pair[byte][i] = n->number;
            unit->pair_nonzero[byte] |= (uint8_t)(n->nonzero << i);
        }
    }
    unit->nibbles = unit->path.kind == FPO_FAST_GROUPS && unit->element[0] == FPO_E2M1 &&
                    unit->element[1] == FPO_E2M1 && unit->step->k == FPO_MMA_K;
    for (int position = 0; position < unit->step->k; position++)
        unit->position[fpo_fast_order(unit->step, position)] = (int16_t)position;
}

const fpo_mma_unit *fpo_mma_prepare(fpo_warp *warp, fpo_vgpu_mma mma, fpo_format a, fpo_format b, fpo_format scale,
                                    int k, int scales)
{
    fpo_grid *grid = warp->cta->grid;
    const fpo_model *model = fpo_vgpu_model(grid->gpu, mma);
    int lane = fpo_first_lane(warp->mask);
    if (model == NULL) {
        fpo_fault(warp, lane, "this GPU does not have the instruction");
        return NULL;
    }
    const fpo_step *step = &model->accumulation.step;
    if (step->k != k) {
        fpo_fault(warp, lane, "the step of model %.60s takes %d elements, the instruction %d", model->name, step->k, k);
        return NULL;
    }
    if (grid->mma == NULL)
        grid->mma = calloc(1, sizeof *grid->mma);
    for (fpo_mma_unit *u = grid->mma != NULL ? grid->mma->units : NULL; u != NULL; u = u->next)
        if (u->step == step && u->element[0] == a && u->element[1] == b && u->scale == scale && u->scales == scales)
            return u;
    fpo_mma_unit *unit = grid->mma != NULL ? calloc(1, sizeof *unit) : NULL;
    if (unit == NULL) {
        fpo_fault(warp, lane, "out of memory");
        return NULL;
    }
    *unit = (fpo_mma_unit){.next = grid->mma->units, .step = step, .element = {a, b}, .scale = scale, .scales = scales};
    int block = scales > 0 ? k / scales : 0;
    unit->path = fpo_fast_path_for(step, a, b, scale, scale, block, block);
    fill_tables(unit);
    unit->tile = fpo_mma_tile_for(unit, fpo_isa_resolve(fpo_vgpu_configuration(grid->gpu)->isa));
    fpo_mma_tile_prepare(unit);
    if (unit->tile != NULL && grid->mma->kept == NULL)
        grid->mma->kept = fpo_tile_kept_new();
    if (grid->mma->kept == NULL)
        unit->tile = NULL;
    grid->mma->units = unit;
    return unit;
}

void fpo_mma_room_free(fpo_mma_room *room)
{
    for (fpo_mma_unit *u = room != NULL ? room->units : NULL; u != NULL;) {
        fpo_mma_unit *next = u->next;
        free(u);
        u = next;
    }
    if (room != NULL)
        free(room->kept);
    free(room);
}

void fpo_mma_start(fpo_mma_side *side, int rows)
{
    side->rows = rows;
    memset(side->special, 0, (size_t)rows * sizeof side->special[0]);
    memset(side->nonzero, 0, (size_t)rows * sizeof side->nonzero[0]);
}

void fpo_mma_put(const fpo_mma_unit *unit, int which, fpo_mma_side *side, int row, int k, uint32_t code)
{
    fpo_format element = unit->element[which];
    fpo_mma_number computed;
    const fpo_mma_number *n;
    if (element == FPO_F16 || element == FPO_BF16 || element == FPO_F32) {
        computed = number_of(unit, element, code);
        n = &computed;
    } else {
        n = &unit->table[which][code & 255];
    }
    int at = unit->position[k];
    side->codes[row][k] = code;
    side->value[row][at] = n->value;
    side->number[row][at] = n->number;
    side->nonzero[row][at / FPO_FAST_GROUP] |= (uint16_t)((unsigned)n->nonzero << (at % FPO_FAST_GROUP));
    side->special[row] |= n->special;
}

/* FPO_FAST_GROUPS of E2M1: elements stay in their order, and none is special. */
void fpo_mma_put_nibbles(const fpo_mma_unit *unit, fpo_mma_side *side, int row, int k, uint32_t word)
{
    uint32_t nonzero = 0;
    side->packed[row][k / 8] = word;
    for (int i = 0; i < 4; i++) {
        uint32_t byte = word >> (8 * i) & 255;
        memcpy(&side->number[row][k + 2 * i], unit->pair[byte], sizeof unit->pair[byte]);
        nonzero |= (uint32_t)unit->pair_nonzero[byte] << (2 * i);
    }
    side->nonzero[row][k / FPO_FAST_GROUP] |= (uint16_t)(nonzero << (k % FPO_FAST_GROUP));
}

void fpo_mma_put_scale(const fpo_mma_unit *unit, fpo_mma_side *side, int row, int index, uint32_t code)
{
    fpo_digits factor = unit->scale_table[code & 255];
    side->factors[row][index] = factor;
    side->special[row] |= factor.exponent >= FPO_EXPONENT_INFINITY;
}

static fpo_step_side generic_row(const fpo_mma_unit *unit, int which, const fpo_mma_side *side, int row,
                                 fpo_digits elements[FPO_MMA_K])
{
    bool in_table = fpo_format_describe(unit->element[which])->bits <= 8;
    for (int k = 0; k < unit->step->k; k++) {
        uint32_t code = unit->nibbles ? side->packed[row][k / 8] >> (4 * (k % 8)) & 15 : side->codes[row][k];
        elements[k] =
            in_table ? unit->table[which][code & 255].digits : fpo_step_decode(unit->step, unit->element[which], code);
    }
    const fpo_step *step = unit->step;
    bool scaled = unit->scale != FPO_FORMAT_NONE;
    return (fpo_step_side){.elements = elements,
                           .scales = scaled ? side->factors[row] : NULL,
                           .block_k = scaled ? step->k / unit->scales : 0,
                           .fraction = fpo_step_fraction(fpo_step_operand_format(step, unit->element[which])),
                           .scale_fraction = scaled ? fpo_step_fraction(unit->scale) : 0};
}

static fpo_fast_row fast_row(const fpo_mma_unit *unit, const fpo_mma_side *side, int row)
{
    bool scaled = unit->scale != FPO_FORMAT_NONE;
    return (fpo_fast_row){.value = side->value[row],
                          .exponent = side->number[row],
                          .fixed = side->number[row],
                          .nonzero = side->nonzero[row],
                          .scales = scaled ? side->factors[row] : NULL,
                          .block_k = scaled ? unit->step->k / unit->scales : 0};
}

static bool is_finite(const fpo_step *step, uint32_t c)
{
    return step->accumulator == FPO_F16 ? (c & 0x7C00) != 0x7C00 : (c & 0x7F800000) != 0x7F800000;
}

uint32_t fpo_mma_general(const fpo_mma_unit *unit, const fpo_mma_side *a, int m, const fpo_mma_side *b, int n,
                         uint32_t c)
{
    if (unit->path.kind != FPO_FAST_NONE && !a->special[m] && !b->special[n] && is_finite(unit->step, c)) {
        fpo_fast_row row = fast_row(unit, a, m), column = fast_row(unit, b, n);
        return fpo_fast_step(&unit->path, &row, &column, 0, c);
    }
    fpo_digits first[FPO_MMA_K], second[FPO_MMA_K];
    fpo_step_side x = generic_row(unit, 0, a, m, first), y = generic_row(unit, 1, b, n, second);
    return fpo_step_chain(unit->step, &x, &y, c);
}

void fpo_mma_multiply(const fpo_mma_unit *unit, const fpo_mma_side *a, const fpo_mma_side *b, uint32_t *d)
{
    for (int m = 0; m < a->rows; m++)
        for (int n = 0; n < b->rows; n++)
            d[m * b->rows + n] = fpo_mma_general(unit, a, m, b, n, d[m * b->rows + n]);
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* tcgen05.mma: D += A * B^T in tensor memory, by the emulator's step. A lies in shared or in tensor memory, B in shared
 * memory, scales in tensor memory: row r's word at lane r % 32 of column r / 32, in each of the four partitions. */
#include "execute.h"
#include "matrix_descriptor.h"
#include "mma_tile.h"
#include "shadow.h"
#include "tmem.h"
#include "tmem_instruction.h"

#include <stdlib.h>

enum { GRANULE = 16, ROW_WORDS = 8 }; /* K of every kind fills 32 bytes of a row */

/* Rows as mma.sync has them in registers: with K = 32 a byte an element, e2m1 in bits 2 to 5. */
typedef struct rows_of_side {
    uint32_t count;
    uint32_t words[FPO_MMA_ROWS][ROW_WORDS];
    uint8_t scales[FPO_MMA_ROWS][FPO_MMA_SCALES]; /* codes */
} rows_of_side;

typedef struct multiplication {
    const fpo_tmem_operation *operation;
    const fpo_ptx_arguments *how;
    fpo_tmem_instruction i;
    const fpo_mma_unit *unit;
    rows_of_side a, b;
} multiplication;

static int container_bits(const multiplication *x, fpo_format element)
{
    return x->i.k == 32 ? 8 : fpo_format_describe(element)->bits;
}

static int container_shift(const multiplication *x, fpo_format element)
{
    return x->i.k == 32 && element == FPO_E2M1 ? 2 : 0;
}

static uint8_t packing_of(const multiplication *x, fpo_format element)
{
    int bits = x->i.k == 32 ? fpo_format_describe(element)->bits : 8;
    return bits == 4 ? FPO_PTX_V_B4 : bits == 6 ? FPO_PTX_V_B6 : FPO_PTX_V_NONE;
}

static void negate(const multiplication *x, fpo_format element, rows_of_side *side)
{
    int bits = container_bits(x, element);
    uint32_t signs = 0, sign = 1u << (container_shift(x, element) + fpo_format_describe(element)->bits - 1);
    for (int i = 0; i < 32; i += bits)
        signs |= sign << i;
    for (uint32_t row = 0; row < side->count; row++)
        for (int w = 0; w < ROW_WORDS; w++)
            side->words[row][w] ^= signs;
}

/* Rows [first, first + count) of a side from the shared memory of a CTA, which has them from 0 on. */
static bool load_shared(const multiplication *x, int which, const fpo_cta *cta, uint64_t descriptor, rows_of_side *side,
                        uint32_t first, uint32_t count)
{
    fpo_warp *warp = x->operation->warp;
    int lane = x->operation->lane;
    fpo_format element = which == 0 ? x->i.a : x->i.b;
    bool across = which == 0 ? x->i.across_a : x->i.across_b;
    fpo_matrix matrix;
    const char *problem = fpo_matrix_of_tcgen05(descriptor, &matrix);
    if (problem == NULL && matrix.unit != GRANULE && !(across && element == FPO_F32))
        problem = "swizzle of 32-byte units (bits 61-63), which is for transposed 32-bit elements";
    if (problem != NULL) {
        fpo_fault(warp, lane, "descriptor 0x%016llx of %c: %s", (unsigned long long)descriptor, 'A' + which, problem);
        return false;
    }
    matrix.used = fpo_tmem_packed_bytes(packing_of(x, element));
    uint8_t bytes[GRANULE];
    for (uint32_t row = 0; !across && row < count; row++) {
        for (uint32_t g = 0; g < 4 * ROW_WORDS / GRANULE; g++) {
            if (!fpo_matrix_fetch(warp, cta, &matrix, true, row, g, bytes, lane))
                return false;
            fpo_tmem_unpack(bytes, packing_of(x, element));
            memcpy(&side->words[first + row][4 * g], bytes, GRANULE);
        }
    }
    /* K across: 16 bytes hold rows of one k. */
    uint32_t width = fpo_format_describe(element)->storage_bytes, per = GRANULE / width;
    for (uint32_t k = 0; across && k < x->i.k; k++) {
        for (uint32_t row = 0; row < count; row += per) {
            if (!fpo_matrix_fetch(warp, cta, &matrix, false, k, row / per, bytes, lane))
                return false;
            for (uint32_t e = 0; e < per && row + e < count; e++)
                memcpy((uint8_t *)side->words[first + row + e] + k * width, bytes + e * width, width);
        }
    }
    return true;
}

/* Where row m and column n of D are, relative to its address (PTX 9.7.16.10.5, layouts A, B, D, E, F and G). */
static void place_of(const fpo_ptx_arguments *how, const fpo_tmem_instruction *i, uint32_t m, uint32_t n,
                     uint32_t *lane, uint32_t *column)
{
    uint32_t parts = how->ws ? FPO_TMEM_LANES / i->m : how->pair && i->m == 128 ? 2 : 1;
    uint32_t rows = FPO_TMEM_LANES / parts, width = i->n / parts;
    *column = n % width;
    *lane = m + n / width * rows;
    if (!how->ws && !how->pair && i->m == 64) /* half of each partition */
        *lane = m / 16 * 32 + m % 16;
}

/* Lane of row m of an A in tensor memory. */
static uint32_t lane_of_a(const multiplication *x, uint32_t m)
{
    return !x->how->ws && !x->how->pair && x->i.m == 64 ? m / 16 * 32 + m % 16 : m;
}

/* Groups of 16 lanes that A or D take, from lane `first` on: half of each partition where M is 64. */
static uint8_t groups_of(const multiplication *x, uint32_t first)
{
    return lane_of_a(x, 16) == 16 ? 0xFF : (uint8_t)(0x55 << first / 16);
}

static bool load_tensor_a(const multiplication *x, fpo_cta *cta, rows_of_side *side)
{
    fpo_warp *warp = x->operation->warp;
    int lane = x->operation->lane;
    uint32_t address = (uint32_t)x->operation->a, column = fpo_tmem_column(address), first = fpo_tmem_lane(address);
    fpo_tmem *memory = fpo_tmem_columns(warp, cta, column, ROW_WORDS, "A", lane);
    if (memory == NULL)
        return false;
    if (first != 0 && !(first == 16 && lane_of_a(x, 16) == 32)) {
        fpo_fault(warp, lane, "A at lane %u of tensor memory", first);
        return false;
    }
    fpo_tmem_region region = {column, ROW_WORDS, groups_of(x, first)};
    fpo_check_tmem_read(warp, cta, &region, true, lane);
    for (uint32_t row = 0; row < side->count; row++)
        for (uint32_t c = 0; c < ROW_WORDS; c++)
            side->words[row][c] = fpo_tmem_load(warp, memory, column + c, first + lane_of_a(x, row), lane);
    return true;
}

/* Scales of the rows of one side; `halves`: the second half of the rows has its own lanes (B of a pair with M = 128).
 */
static bool load_scales(const multiplication *x, fpo_cta *cta, uint32_t address, uint32_t id, rows_of_side *side,
                        bool halves, const char *what)
{
    fpo_warp *warp = x->operation->warp;
    int lane = x->operation->lane;
    uint32_t column = fpo_tmem_column(address), part = halves ? side->count / 2 : side->count;
    /* The two upper bits of an address may repeat the id. */
    if ((fpo_tmem_lane(address) & 0x3FFF) != 0 || (address >> 30 != 0 && address >> 30 != id)) {
        fpo_fault(warp, lane, "%s at 0x%08x: a column, and the scale id %u in bits 30-31, are wanted", what, address,
                  id);
        return false;
    }
    fpo_tmem *memory = fpo_tmem_columns(warp, cta, column, (part + 31) / 32, what, lane);
    if (memory == NULL)
        return false;
    fpo_tmem_region region = {column, (part + 31) / 32, part > 16 ? 0xFF : 0x55};
    fpo_check_tmem_read(warp, cta, &region, true, lane);
    for (uint32_t r = 0; r < side->count; r++) {
        uint32_t at = column + r % part / 32, first = halves && r >= part ? 64 : 0, copies = halves ? 2 : 4;
        uint32_t word = fpo_tmem_load(warp, memory, at, first + r % part % 32, lane);
        for (uint32_t c = 1; c < copies; c++)
            if (fpo_tmem_load(warp, memory, at, first + 32 * c + r % part % 32, lane) != word)
                fpo_check_tmem(warp, FPO_CHECK_TMEM_REPLICAS, at, (int)(first + 32 * c + r % part % 32), lane);
        for (uint32_t s = 0; s < x->i.scales; s++)
            side->scales[r][s] = (uint8_t)(word >> (8 * (id + s)));
    }
    return true;
}

/* For the general step. */
static void put_side(const multiplication *x, int which, const rows_of_side *rows, fpo_mma_side *side)
{
    fpo_format element = which == 0 ? x->i.a : x->i.b;
    int bits = container_bits(x, element), shift = container_shift(x, element);
    uint32_t mask = fpo_format_describe(element)->code_mask;
    fpo_mma_start(side, (int)rows->count);
    for (uint32_t row = 0; row < rows->count; row++) {
        for (int w = 0; w < ROW_WORDS; w++) {
            uint32_t word = rows->words[row][w];
            if (x->unit->nibbles)
                fpo_mma_put_nibbles(x->unit, side, (int)row, 8 * w, word);
            for (int e = 0; !x->unit->nibbles && e < 32 / bits; e++)
                fpo_mma_put(x->unit, which, side, (int)row, 32 / bits * w + e, word >> (bits * e + shift) & mask);
        }
        for (uint32_t s = 0; s < x->i.scales; s++)
            fpo_mma_put_scale(x->unit, side, (int)row, (int)s, rows->scales[row][s]);
    }
}

/* Sixteen rows of A as four registers of mma.sync. */
static void fragments_a(const rows_of_side *a, uint32_t first, uint32_t out[4][FPO_PTX_WARP])
{
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t row = 0; row < 8; row++)
            memcpy(&out[r][4 * row], &a->words[first + 8 * (r & 1) + row][4 * (r >> 1)], 4 * sizeof(uint32_t));
}

/* Eight of B as two, so that columns stand in their own order in the tile. */
static void fragments_b(const rows_of_side *b, uint32_t first, uint32_t out[2][FPO_PTX_WARP])
{
    for (uint32_t r = 0; r < 2; r++)
        for (int i = 0; i < FPO_TILE_COLUMNS; i++)
            memcpy(&out[r][4 * fpo_tile_column(i)], &b->words[first + (uint32_t)i][4 * r], 4 * sizeof(uint32_t));
}

/* Their scales as a register of mma.sync, of thread 0 and from bit 0 on. */
static void scales_of_a(const rows_of_side *a, uint32_t first, uint32_t out[FPO_PTX_WARP])
{
    for (uint32_t row = 0; row < FPO_TILE_ROWS; row++)
        memcpy(&out[row % 8 * 4 + row / 8], a->scales[first + row], sizeof *out);
}

static void scales_of_b(const rows_of_side *b, uint32_t first, uint32_t out[FPO_PTX_WARP])
{
    for (int i = 0; i < FPO_TILE_COLUMNS; i++)
        memcpy(&out[4 * fpo_tile_column(i)], b->scales[first + (uint32_t)i], sizeof *out);
}

/* Sixteen rows of D as the four registers of C. */
static void fragments_c(const uint32_t *d, uint32_t pitch, uint32_t out[4][FPO_PTX_WARP])
{
    for (uint32_t row = 0; row < FPO_TILE_ROWS; row++)
        for (uint32_t half = 0; half < 2; half++)
            memcpy(&out[2 * (row / 8) + half][row % 8 * 4], &d[row * pitch + 4 * half], 4 * sizeof *d);
}

/* The vector loops of mma.sync over tiles of 16 x 8; true if they left no output to the general step. room->left gets
 * the bits of those that are. */
static bool multiply_tiles(const multiplication *x, const rows_of_side *a, fpo_mma_room *room)
{
    uint32_t *d = room->d;
    uint8_t *left = room->left;
    uint32_t a_registers[4][FPO_PTX_WARP], b_registers[2][FPO_PTX_WARP], c_registers[4][FPO_PTX_WARP], n = x->i.n;
    uint32_t a_scales[FPO_PTX_WARP] = {0}, b_scales[FPO_PTX_WARP] = {0};
    fpo_mma_tile tile = {.a_scales = {.lanes = x->i.scales != 0 ? a_scales : NULL},
                         .b_scales = {.lanes = x->i.scales != 0 ? b_scales : NULL}};
    uint8_t any = 0;
    for (int r = 0; r < 4; r++) {
        tile.a[r] = a_registers[r];
        tile.c[r] = c_registers[r];
    }
    for (int r = 0; r < 2; r++)
        tile.b[r] = b_registers[r];
    for (uint32_t m = 0; m < a->count; m += FPO_TILE_ROWS) {
        fragments_a(a, m, a_registers);
        scales_of_a(a, m, a_scales);
        for (uint32_t j = 0; j < n; j += FPO_TILE_COLUMNS) {
            fragments_b(&x->b, j, b_registers);
            fragments_c(&d[m * n + j], n, c_registers);
            scales_of_b(&x->b, j, b_scales);
            x->unit->tile(x->unit, &tile, room->kept);
            for (uint32_t row = 0; row < FPO_TILE_ROWS; row++) {
                memcpy(&d[(m + row) * n + j], tile.d[row], sizeof tile.d[row]);
                left[(m + row) * (n / FPO_TILE_COLUMNS) + j / FPO_TILE_COLUMNS] = tile.left[row];
                any |= tile.left[row];
            }
        }
    }
    return any == 0;
}

static void multiply(const multiplication *x, const rows_of_side *rows, fpo_mma_room *room)
{
    uint32_t n = x->i.n;
    if (x->unit->tile != NULL && multiply_tiles(x, rows, room))
        return;
    put_side(x, 0, rows, &room->a);
    put_side(x, 1, &x->b, &room->b);
    for (uint32_t m = 0; m < rows->count; m++) {
        for (uint32_t j = 0; j < n; j++) {
            uint8_t left = room->left[m * (n / FPO_TILE_COLUMNS) + j / FPO_TILE_COLUMNS];
            if (x->unit->tile == NULL || left >> (j % FPO_TILE_COLUMNS) & 1)
                room->d[m * n + j] = fpo_mma_general(x->unit, &room->a, (int)m, &room->b, (int)j, room->d[m * n + j]);
        }
    }
}

/* D of one CTA, read where it is accumulated, and written unless its lane is left out. */
static bool accumulate(const multiplication *x, fpo_cta *cta, const rows_of_side *a)
{
    const fpo_tmem_operation *o = x->operation;
    fpo_warp *warp = o->warp;
    uint32_t column = fpo_tmem_column(o->target), first = fpo_tmem_lane(o->target), n = x->i.n;
    uint32_t last_lane, last_column;
    place_of(x->how, &x->i, 0, n - 1, &last_lane, &last_column);
    if (first != 0 && !(first == 16 && lane_of_a(x, 16) == 32)) {
        fpo_fault(warp, o->lane, "D at lane %u of tensor memory", first);
        return false;
    }
    fpo_tmem *memory = fpo_tmem_columns(warp, cta, column, last_column + 1, "D", o->lane);
    if (memory == NULL)
        return false;
    fpo_tmem_region region = {column, last_column + 1, groups_of(x, first)};
    if (o->accumulate)
        fpo_check_tmem_read(warp, cta, &region, true, o->lane);
    fpo_check_tmem_write(warp, cta, &region, true, o->lane);
    uint32_t *d = warp->cta->grid->mma->d;
    for (uint32_t m = 0; m < a->count; m++) {
        for (uint32_t j = 0; j < n; j++) {
            uint32_t l, c;
            place_of(x->how, &x->i, m, j, &l, &c);
            uint32_t word = o->accumulate ? fpo_tmem_load(warp, memory, column + c, first + l, o->lane) : 0;
            d[m * n + j] = x->i.f16_accumulator ? word & 0xFFFF : word;
        }
    }
    multiply(x, a, warp->cta->grid->mma);
    for (uint32_t m = 0; m < a->count; m++) {
        for (uint32_t j = 0; j < n; j++) {
            uint32_t l, c;
            place_of(x->how, &x->i, m, j, &l, &c);
            if (!(o->left_out[(first + l) / 32] >> ((first + l) % 32) & 1))
                fpo_tmem_store(memory, column + c, first + l, d[m * n + j]);
        }
    }
    return true;
}

/* What every CTA that takes part has of its own: A, its scales and D. B comes from all of them, half from each of a
 * pair; each has all of B's scales. */
static bool perform(multiplication *x, fpo_cta *const *ctas, uint32_t count)
{
    const fpo_tmem_operation *o = x->operation;
    bool halves = x->how->pair && x->i.m == FPO_TMEM_LANES;
    x->b.count = x->i.n;
    for (uint32_t c = 0; c < count; c++)
        if (!load_shared(x, 1, ctas[c], o->b, &x->b, c * (x->i.n / count), x->i.n / count))
            return false;
    if (x->i.negate_b)
        negate(x, x->i.b, &x->b);
    x->a.count = x->i.m / count;
    for (uint32_t c = 0; c < count; c++) {
        if (x->how->tmem ? !load_tensor_a(x, ctas[c], &x->a) : !load_shared(x, 0, ctas[c], o->a, &x->a, 0, x->a.count))
            return false;
        if (x->i.negate_a)
            negate(x, x->i.a, &x->a);
        if (x->i.scales != 0 && (!load_scales(x, ctas[c], o->scale_a, x->i.scale_id_a, &x->a, false, "scales of A") ||
                                 !load_scales(x, ctas[c], o->scale_b, x->i.scale_id_b, &x->b, halves, "scales of B")))
            return false;
        if (!accumulate(x, ctas[c], &x->a))
            return false;
    }
    return true;
}

bool fpo_tmem_perform_mma(const fpo_tmem_operation *operation)
{
    fpo_warp *warp = operation->warp;
    const fpo_ptx_arguments *how = &operation->instruction->arguments;
    fpo_cta *ctas[2];
    uint32_t count = fpo_tmem_group(warp, how->pair, operation->lane, ctas);
    multiplication *x = count != 0 ? calloc(1, sizeof *x) : NULL;
    if (x == NULL) {
        fpo_fault(warp, operation->lane, "out of memory");
        return false;
    }
    x->operation = operation;
    x->how = how;
    const char *problem = fpo_tmem_decode(how, operation->descriptor, &x->i);
    if (problem != NULL)
        fpo_fault(warp, operation->lane, "instruction descriptor 0x%08x: %s", operation->descriptor, problem);
    else if (how->pair && warp->cta != ctas[0])
        problem = fpo_fault(warp, operation->lane, "the odd CTA of a pair issues its mma") == FPO_FAULT ? "" : NULL;
    bool ok = problem == NULL;
    if (ok) {
        uint32_t mask = warp->mask;
        warp->mask = 1u << operation->lane; /* whom a fault blames */
        x->unit = fpo_mma_prepare(warp, x->i.mma, x->i.a, x->i.b, x->i.scale, (int)x->i.k, (int)x->i.scales);
        warp->mask = mask;
        ok = x->unit != NULL && perform(x, ctas, count);
    }
    warp->cta->grid->statistics.mmas += ok;
    free(x);
    return ok;
}

fpo_outcome fpo_do_tmem_mma(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const fpo_ptx_arguments *how = &ins->arguments;
    for (FPO_EACH_LANE(lane, warp->mask)) {
        const fpo_ptx_operand *next = ins->operands;
        fpo_tmem_operation o = {.warp = warp, .instruction = ins, .at = warp->at, .lane = (int)lane};
        o.target = (uint32_t)fpo_address(warp, next++, (int)lane);
        o.a = how->tmem ? fpo_address(warp, next, (int)lane) : ((const uint64_t *)fpo_lanes_of(warp, next))[lane];
        next++;
        o.b = ((const uint64_t *)fpo_lanes_of(warp, next++))[lane];
        o.descriptor = fpo_u32(warp, next++, (int)lane);
        if (how->count != 0) {
            o.scale_a = (uint32_t)fpo_address(warp, next++, (int)lane);
            o.scale_b = (uint32_t)fpo_address(warp, next++, (int)lane);
        }
        for (int i = 0; how->op == FPO_PTX_V_ALL && i < (how->pair ? 8 : 4); i++, next++)
            o.left_out[i % FPO_TMEM_MASK_WORDS] |= fpo_u32(warp, next, (int)lane);
        o.accumulate = fpo_predicate(warp, next) >> lane & 1;
        o.first_column = fpo_tmem_column(o.target);
        o.columns = (o.descriptor >> 17 & 63) * 8;
        if (fpo_tmem_issue(&o) != FPO_NEXT)
            return FPO_FAULT;
    }
    return FPO_NEXT;
}

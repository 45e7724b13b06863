/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of the main loop: elements of K left out, added twice, or taken from the tile before. */
#include "edit_loop.h"
#include "edit_parts.h"

#include <string.h>

/* ---- which ones there are ---- */

/* Ranges of tiles and of parts, which may be the same: each is there once, whether the caller's list has room or not.
 */
typedef struct ranges {
    fpo_edit edits[1024];
    size_t count;
} ranges;

static void add_once(ranges *all, fpo_edit edit)
{
    for (size_t i = 0; i < all->count; i++)
        if (fpo_edit_equal(&all->edits[i], &edit))
            return;
    if (all->count < sizeof all->edits / sizeof *all->edits)
        all->edits[all->count++] = edit;
}

fpo_edit fpo_edit_range_dropped(int64_t k, int64_t k0, int64_t k1)
{
    if (k0 == 0)
        return (fpo_edit){.kind = FPO_EDIT_K_FIRST_DROPPED, .to = (int)k1};
    if (k1 == k)
        return (fpo_edit){.kind = FPO_EDIT_K_LAST_DROPPED, .to = (int)(k - k0)};
    return (fpo_edit){.kind = FPO_EDIT_K_RANGE_DROPPED, .from = (int)k0, .to = (int)k1};
}

static void add_ranges(ranges *all, fpo_edit_kind kind, int64_t k, int64_t each)
{
    int64_t tiles = (k + each - 1) / each;
    for (int64_t t = 0; t < tiles && tiles <= 64; t++) {
        int64_t end = (t + 1) * each < k ? (t + 1) * each : k;
        add_once(all, kind == FPO_EDIT_K_RANGE_DROPPED
                          ? fpo_edit_range_dropped(k, t * each, end)
                          : (fpo_edit){.kind = kind, .from = (int)(t * each), .to = (int)end});
    }
}

static void enumerate_problem(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    static const int tiles[] = {16, 32, 64, 128, 256}, parts[] = {2, 3, 4, 8};
    int64_t k = problem->k;
    ranges all = {.count = 0};
    (void)spec;
    if (k > INT32_MAX)
        return;
    for (int i = 0; i < 5; i++) {
        int64_t tail = k % tiles[i];
        if (tiles[i] < k) {
            add_once(&all, (fpo_edit){.kind = FPO_EDIT_K_LAST_DROPPED, .to = tiles[i]});
            add_once(&all, (fpo_edit){.kind = FPO_EDIT_K_FIRST_DROPPED, .to = tiles[i]});
        }
        if (tail != 0 && tail < k)
            add_once(&all, (fpo_edit){.kind = FPO_EDIT_K_LAST_DROPPED, .to = (int)tail});
        if (tail != 0 && tiles[i] < k)
            add_once(&all, (fpo_edit){.kind = FPO_EDIT_K_TAIL_STALE, .to = tiles[i]});
    }
    for (int i = 0; i < 4; i++)
        if (k >= 32 * parts[i])
            add_ranges(&all, FPO_EDIT_K_RANGE_DROPPED, k, (k + parts[i] - 1) / parts[i]);
    for (int i = 2; i < 4; i++)
        if (tiles[i] < k) {
            add_ranges(&all, FPO_EDIT_K_RANGE_DROPPED, k, tiles[i]);
            add_ranges(&all, FPO_EDIT_K_REPEATED, k, tiles[i]);
            add_ranges(&all, FPO_EDIT_K_STALE, k, tiles[i]);
        }
    for (size_t i = 0; i < all.count; i++)
        fpo_edit_add(list, all.edits[i].kind, 0, all.edits[i].from, all.edits[i].to);
}

/* ---- applying them ---- */

static uint32_t one(fpo_format format)
{
    return fpo_encode(format, fpo_value_from_float(1.0f), fpo_cast_describe(FPO_CAST_IEEE), 0);
}

/* Elements [k0, k1) of an operand are +0, and so is all that they do; scales of whole blocks among them are 1. */
static void drop(fpo_edited *e, int operand, int64_t k0, int64_t k1)
{
    fpo_edit_target target = fpo_edit_target_of(e, operand);
    unsigned char *codes = fpo_codes_copy(&target);
    fpo_code_matrix m = fpo_code_matrix_of(&target);
    for (int64_t r = 0; codes != NULL && r < m.rows; r++)
        for (int64_t k = k0; k < k1 && fpo_code_row_wanted(&target, r); k++)
            fpo_code_set(&m, codes, r, k, 0);
    const fpo_scale_view *view = &target.spec->stored.scale;
    fpo_scale_matrix scales;
    if (codes == NULL || view->format == FPO_FORMAT_NONE || view->block_k == 0 ||
        !fpo_scale_matrix_of(&target, &scales))
        return;
    unsigned char *to = fpo_edited_allocate(e, target.operand->scales_bytes);
    if (to == NULL)
        return;
    memcpy(to, scales.from, target.operand->scales_bytes);
    for (int64_t r = 0; r < scales.rows; r++)
        for (int64_t c = (k0 + view->block_k - 1) / view->block_k; c < scales.columns; c++)
            if (fpo_scale_row_wanted(&scales, r) && ((c + 1) * view->block_k <= k1 || k1 == m.k))
                fpo_store_code(scales.format, to, (size_t)(r * scales.columns + c), one(scales.format));
    target.operand->scales = to;
}

static void drop_range(fpo_edited *e, int64_t k0, int64_t k1)
{
    if (k0 < 0 || k0 >= k1 || k1 > e->problem.k || (k0 == 0 && k1 == e->problem.k)) {
        fpo_edited_refuse(e);
        return;
    }
    drop(e, FPO_OPERAND_A, k0, k1);
    if (e->status == FPO_OK)
        drop(e, FPO_OPERAND_B, k0, k1);
}

/* Column j of the new operand is column source[j] of the old one (-1: zeros), whole scale blocks together. */
static void reorder(fpo_edited *e, int operand, const int64_t *source, int64_t new_k)
{
    fpo_edit_target target = fpo_edit_target_of(e, operand);
    fpo_code_matrix from = fpo_code_matrix_of(&target), to = from;
    to.k = new_k;
    to.row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, from.format, new_k);
    size_t bytes = (size_t)(to.rows * to.row_bytes);
    unsigned char *codes = fpo_edited_allocate_rows(e, bytes);
    for (int64_t r = 0; codes != NULL && r < from.rows; r++) {
        if (!fpo_code_row_wanted(&target, r))
            continue;
        memset(codes + r * to.row_bytes, 0, (size_t)to.row_bytes);
        for (int64_t k = 0; k < new_k; k++)
            if (source[k] >= 0)
                fpo_code_set(&to, codes, r, k, fpo_code_at(&from, r, source[k]));
    }
    target.operand->codes = codes;
    target.operand->codes_bytes = bytes;
    const fpo_scale_view *view = &target.spec->stored.scale;
    fpo_scale_matrix scales;
    if (codes == NULL || view->format == FPO_FORMAT_NONE || view->block_k == 0 ||
        !fpo_scale_matrix_of(&target, &scales))
        return;
    int64_t columns = fpo_scale_columns(view, new_k);
    size_t scale_bytes = (size_t)(scales.rows * columns * scales.bytes);
    unsigned char *numbers = fpo_edited_allocate(e, scale_bytes);
    for (int64_t r = 0; numbers != NULL && r < scales.rows; r++)
        for (int64_t c = 0; c < columns && fpo_scale_row_wanted(&scales, r); c++) {
            int64_t k = source[c * view->block_k];
            uint32_t code =
                k >= 0 ? fpo_scale_code(&scales, r * scales.columns + k / view->block_k) : one(scales.format);
            fpo_store_code(scales.format, numbers, (size_t)(r * columns + c), code);
        }
    target.operand->scales = numbers;
    target.operand->scales_bytes = scale_bytes;
}

/* Elements [k0, k1) of K and the distance to those that take their place. */
typedef struct range {
    int64_t k, k0, k1, distance;
} range;

typedef int64_t (*column_source)(const range *r, int64_t column);

/* Both operands with columns from elsewhere; K becomes new_k. */
static void rearrange(fpo_edited *e, const range *r, int64_t new_k, column_source from)
{
    int64_t *source = fpo_edited_allocate(e, (size_t)new_k * sizeof *source);
    if (source == NULL)
        return;
    for (int64_t j = 0; j < new_k; j++)
        source[j] = from(r, j);
    reorder(e, FPO_OPERAND_A, source, new_k);
    reorder(e, FPO_OPERAND_B, source, new_k);
    e->problem.k = new_k;
}

/* Whether k is a multiple of the blocks of K that have one scale in both operands: what moves is moved with its scales.
 */
static bool is_whole(const fpo_edited *e, int64_t k)
{
    int64_t a = e->spec.a.stored.scale.block_k, b = e->spec.b.stored.scale.block_k, block = a > b ? a : b;
    return block == 0 || k % block == 0;
}

static int64_t repeated(const range *r, int64_t j)
{
    return j < r->k1 ? j : j - r->distance;
}

static int64_t taken_from_before(const range *r, int64_t j)
{
    return j >= r->k0 && j < r->k1 ? j - r->distance : j;
}

static int64_t reversed(const range *r, int64_t j)
{
    return r->k - r->distance - j / r->distance * r->distance + j % r->distance;
}

/* The range comes a second time right after itself. */
static void repeat(fpo_edited *e, int64_t k0, int64_t k1)
{
    const range r = {e->problem.k, k0, k1, k1 - k0};
    if (k0 < 0 || k0 >= k1 || k1 > r.k || !is_whole(e, k0) || !is_whole(e, k1))
        fpo_edited_refuse(e);
    else
        rearrange(e, &r, r.k + r.distance, repeated);
}

/* [k0, k1) has what was `distance` before it: elements and, in whole blocks, scales. K grows where k1 is beyond it. */
static void stale(fpo_edited *e, int64_t k0, int64_t k1, int64_t distance)
{
    const range r = {e->problem.k, k0, k1, distance};
    if (distance < 1 || k0 < distance || k0 >= k1 || !is_whole(e, distance) || !is_whole(e, k0))
        fpo_edited_refuse(e);
    else
        rearrange(e, &r, k1 > r.k ? k1 : r.k, taken_from_before);
}

/* K grows to a whole tile; what is new is what the tile before has there. */
static void fill_tail(fpo_edited *e, int64_t tile)
{
    int64_t k = e->problem.k;
    if (k % tile == 0)
        fpo_edited_refuse(e);
    else
        stale(e, k, (k + tile - 1) / tile * tile, tile);
}

void fpo_edited_reverse_k(fpo_edited *e, int64_t tile)
{
    const range r = {e->problem.k, 0, e->problem.k, tile};
    if (r.k % tile != 0 || !is_whole(e, tile) || r.k == tile)
        fpo_edited_refuse(e);
    else
        rearrange(e, &r, r.k, reversed);
}

/* Elements of K in a tile: the last one may be short, but begins at a multiple of the others. */
static int64_t tile_before(const fpo_edit *edit)
{
    int64_t tile = edit->to - edit->from;
    while (tile > 0 && edit->from % tile != 0)
        tile++;
    return tile;
}

static void apply_to_problem(const fpo_edit *edit, fpo_edited *e)
{
    int64_t k = e->problem.k;
    switch (edit->kind) {
    case FPO_EDIT_K_LAST_DROPPED: drop_range(e, k - edit->to, k); break;
    case FPO_EDIT_K_FIRST_DROPPED: drop_range(e, 0, edit->to); break;
    case FPO_EDIT_K_RANGE_DROPPED: drop_range(e, edit->from, edit->to); break;
    case FPO_EDIT_K_REPEATED: repeat(e, edit->from, edit->to); break;
    case FPO_EDIT_K_STALE: stale(e, edit->from, edit->to < k ? edit->to : k, tile_before(edit)); break;
    default: fill_tail(e, edit->to); break;
    }
}

const fpo_edit_group fpo_edits_loop = {NULL, enumerate_problem, NULL, apply_to_problem};

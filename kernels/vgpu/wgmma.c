/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Hopper's wgmma, m64: each warp of the warpgroup computes 16 rows. Matrices lie in shared memory behind descriptors
 * (matrix_descriptor.h). Without a seed a warp's part of the instruction is performed at once. With one, chance picks
 * the moment, in the order of issue, and a wait for its group is the latest: shared memory and registers are read, and
 * D is written, then. The instruction is the warpgroup's, though: what waits for it waits until all four warps have
 * performed theirs, and kernels rely on that when one thread then frees the shared memory of all. */
#include "execute.h"
#include "matrix_descriptor.h"
#include "mma.h"
#include "race.h"
#include "shadow.h"

#include <stdlib.h>

/* Where rows of a matrix lie, K = 32 bytes of each; `across`: K is not contiguous. */
typedef struct extent {
    fpo_matrix matrix;
    bool k_contiguous;
    uint32_t line, lines, unit, units; /* from `line` and `unit` on */
    int width;                         /* bytes of an element */
} extent;

/* An instruction between issue and performance: what it took from registers when it was issued. */
struct fpo_late_wgmma {
    fpo_late_wgmma *next;
    const fpo_ptx_instruction *instruction;
    uint32_t at;
    extent a, b; /* a is not used where A is in registers */
    bool keep, negate_a, negate_b;
};

/* One that is checked, between issue and the warp's wait for it. */
struct fpo_open_wgmma {
    fpo_open_wgmma *next;
    const fpo_ptx_instruction *instruction;
    uint64_t number; /* `wgmmas` of the warp with it */
};

enum { ROW_BYTES = 32, WARP_ROWS = 16, GRANULE = 16, A_REGISTERS = 4 };

static int element_bytes(fpo_format element)
{
    return element == FPO_F32 ? 4 : element == FPO_F16 || element == FPO_BF16 ? 2 : 1;
}

/* Negation flips the sign of every element. */
static void put_row(const fpo_mma_unit *unit, int which, fpo_mma_side *side, int row, int k, const uint8_t *bytes,
                    int count, bool negate)
{
    int width = element_bytes(unit->element[which]);
    for (int i = 0; i < count / width; i++) {
        uint32_t code = 0;
        memcpy(&code, bytes + i * width, (size_t)width);
        fpo_mma_put(unit, which, side, row, k + i, negate ? code ^ 1u << (8 * width - 1) : code);
    }
}

static fpo_vgpu_mma kind_of(const fpo_ptx_arguments *how)
{
    bool f16 = how->op == FPO_PTX_V_F16;
    switch (how->a) {
    case FPO_PTX_V_F16: return f16 ? FPO_VGPU_WGMMA_F16_F16ACC : FPO_VGPU_WGMMA_F16;
    case FPO_PTX_V_BF16: return FPO_VGPU_WGMMA_BF16;
    case FPO_PTX_V_TF32: return FPO_VGPU_WGMMA_TF32;
    default: return f16 ? FPO_VGPU_WGMMA_FP8_F16ACC : FPO_VGPU_WGMMA_FP8;
    }
}

/* D's register r of a lane: f32 has rows g + 8 * (r >> 1 & 1), columns 8 * (r >> 2) + 2q + (r & 1). */
static void move_accumulators(fpo_warp *warp, const fpo_ptx_operand *operands, int n, bool f16, uint32_t *d, bool load)
{
    for (int r = 0; r < n / 2; r++) {
        uint32_t *lanes = fpo_lanes_of(warp, &operands[f16 ? r / 2 : r]);
        for (int lane = 0; lane < FPO_PTX_WARP; lane++) {
            uint32_t *at = &d[(lane / 4 + 8 * (r >> 1 & 1)) * n + 8 * (r >> 2) + 2 * (lane % 4) + (r & 1)];
            if (load)
                *at = f16 ? lanes[lane] >> (16 * (r & 1)) & 0xFFFF : lanes[lane];
            else if (f16)
                lanes[lane] = (lanes[lane] & 0xFFFFu << (16 * (1 - (r & 1)))) | *at << (16 * (r & 1));
            else
                lanes[lane] = *at;
        }
    }
}

/* Rows [first, first + rows). */
static bool find_matrix(fpo_warp *warp, int which, int width, uint64_t descriptor, bool across, int first, int rows,
                        extent *e)
{
    const char *problem = fpo_matrix_of_wgmma(descriptor, &e->matrix);
    uint32_t per = (uint32_t)(GRANULE / width);
    if (problem == NULL && across && width != 2)
        problem = "transposition, which 16-bit elements have";
    if (problem != NULL) {
        fpo_fault(warp, 0, "descriptor 0x%016llx of %c: %s", (unsigned long long)descriptor, 'A' + which, problem);
        return false;
    }
    e->k_contiguous = !across;
    e->width = width;
    e->line = across ? 0 : (uint32_t)first;
    e->lines = across ? (uint32_t)(ROW_BYTES / width) : (uint32_t)rows;
    e->unit = across ? (uint32_t)first / per : 0;
    e->units = across ? (uint32_t)rows / per : ROW_BYTES / GRANULE;
    return true;
}

static bool load_matrix(fpo_warp *warp, const fpo_mma_unit *unit, int which, fpo_mma_side *side, const extent *e,
                        bool negate)
{
    int per = GRANULE / e->width;
    uint8_t bytes[GRANULE];
    for (uint32_t line = 0; line < e->lines; line++) {
        for (uint32_t u = 0; u < e->units; u++) {
            if (!fpo_matrix_fetch(warp, warp->cta, &e->matrix, e->k_contiguous, e->line + line, e->unit + u, bytes, 0))
                return false;
            if (e->k_contiguous)
                put_row(unit, which, side, (int)line, (int)u * per, bytes, GRANULE, negate);
            for (int row = 0; !e->k_contiguous && row < per; row++)
                put_row(unit, which, side, (int)u * per + row, (int)line, bytes + row * e->width, e->width, negate);
        }
    }
    return true;
}

/* A's registers: two of 8 rows each, K beside them. */
static void load_registers(const fpo_warp *warp, const fpo_mma_unit *unit, fpo_mma_side *a,
                           const fpo_ptx_operand *operands, bool negate)
{
    int per = 4 / element_bytes(unit->element[0]);
    for (int r = 0; r < A_REGISTERS; r++)
        for (int lane = 0; lane < FPO_PTX_WARP; lane++)
            put_row(unit, 0, a, lane / 4 + 8 * (r & 1), per * (lane % 4) + 4 * per * (r >> 1),
                    (const uint8_t *)fpo_lanes_of(warp, &operands[r]) + 4 * lane, 4, negate);
}

static int accumulator_registers(const fpo_ptx_arguments *how)
{
    return how->op == FPO_PTX_V_F16 ? how->shape / 4 : how->shape / 2;
}

static bool has_a_in_registers(const fpo_ptx_instruction *ins)
{
    return ins->arguments.count == A_REGISTERS;
}

static bool multiply(fpo_warp *warp, const fpo_late_wgmma *w)
{
    const fpo_ptx_instruction *ins = w->instruction;
    const fpo_ptx_arguments *how = &ins->arguments;
    fpo_format element_a = fpo_mma_format((fpo_ptx_value)how->a), element_b = fpo_mma_format((fpo_ptx_value)how->b);
    const fpo_mma_unit *unit = fpo_mma_prepare(warp, kind_of(how), element_a, element_b, FPO_FORMAT_NONE,
                                               ROW_BYTES / element_bytes(element_a), 0);
    if (unit == NULL)
        return false;
    int n = how->shape;
    bool f16 = how->op == FPO_PTX_V_F16;
    fpo_mma_side *a = &warp->cta->grid->mma->a, *b = &warp->cta->grid->mma->b;
    fpo_mma_start(a, WARP_ROWS);
    fpo_mma_start(b, n);
    if (has_a_in_registers(ins))
        load_registers(warp, unit, a, ins->operands + accumulator_registers(how), w->negate_a);
    else if (!load_matrix(warp, unit, 0, a, &w->a, w->negate_a))
        return false;
    if (!load_matrix(warp, unit, 1, b, &w->b, w->negate_b))
        return false;
    uint32_t d[WARP_ROWS * FPO_MMA_ROWS] = {0};
    if (w->keep)
        move_accumulators(warp, ins->operands, n, f16, d, true);
    fpo_mma_multiply(unit, a, b, d);
    move_accumulators(warp, ins->operands, n, f16, d, false);
    warp->cta->grid->statistics.mmas++;
    return true;
}

static bool perform(fpo_warp *warp, const fpo_late_wgmma *w)
{
    uint32_t at = warp->at;
    warp->at = w->at; /* a fault is the issuing instruction's */
    bool ok = multiply(warp, w);
    warp->at = at;
    warp->cta->grid->changes++;
    return ok;
}

static uint64_t performed(const fpo_warp *warp)
{
    uint64_t late = 0;
    for (const fpo_late_wgmma *w = warp->late_wgmmas; w != NULL; w = w->next)
        late++;
    return warp->wgmmas - late;
}

static bool perform_first(fpo_warp *warp)
{
    fpo_late_wgmma *w = warp->late_wgmmas;
    bool ok = perform(warp, w);
    warp->late_wgmmas = w->next;
    free(w);
    return ok;
}

static void close_wgmmas(fpo_warp *warp, uint64_t end)
{
    while (warp->open_wgmmas != NULL && warp->open_wgmmas->number <= end) {
        fpo_open_wgmma *next = warp->open_wgmmas->next;
        free(warp->open_wgmmas);
        warp->open_wgmmas = next;
    }
}

void fpo_wgmma_free(fpo_warp *warp)
{
    close_wgmmas(warp, UINT64_MAX);
    while (warp->late_wgmmas != NULL) {
        fpo_late_wgmma *next = warp->late_wgmmas->next;
        free(warp->late_wgmmas);
        warp->late_wgmmas = next;
    }
}

bool fpo_cta_perform_wgmma(fpo_cta *cta, bool one)
{
    bool any = false;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        fpo_warp *warp = &cta->warps[i];
        while (warp->late_wgmmas != NULL && cta->grid->status == FPO_OK &&
               ((one && !any) || fpo_grid_random(cta->grid, 2) == 0))
            any |= perform_first(warp);
    }
    return any;
}

/* What lies outside is a fault when it is fetched. */
static void check_matrix(fpo_warp *warp, const extent *e)
{
    for (uint32_t line = e->line; line < e->line + e->lines; line++) {
        for (uint32_t unit = e->unit; unit < e->unit + e->units; unit++) {
            uint32_t at = fpo_matrix_address(&e->matrix, e->k_contiguous, line, unit);
            if (at >= FPO_SHARED_BASE && at <= warp->cta->shared_end - GRANULE)
                fpo_check_wgmma_read(warp, at, GRANULE);
        }
    }
}

/* The reads are those of the moment of issue, whenever they are performed. */
static bool check(fpo_warp *warp, const fpo_late_wgmma *w)
{
    if (warp->cta->shadow == NULL)
        return true;
    if (!has_a_in_registers(w->instruction))
        check_matrix(warp, &w->a);
    check_matrix(warp, &w->b);
    fpo_open_wgmma **end = &warp->open_wgmmas;
    while (*end != NULL)
        end = &(*end)->next;
    *end = malloc(sizeof **end);
    if (*end == NULL)
        return false;
    **end = (fpo_open_wgmma){NULL, w->instruction, warp->wgmmas};
    return true;
}

static void check_operand(fpo_warp *warp, const fpo_ptx_operand *operand, bool accumulates)
{
    for (const fpo_open_wgmma *open = warp->open_wgmmas; open != NULL; open = open->next) {
        const fpo_ptx_instruction *ins = open->instruction;
        uint32_t d = (uint32_t)accumulator_registers(&ins->arguments);
        uint32_t end = d + (has_a_in_registers(ins) ? A_REGISTERS : 0);
        for (uint32_t r = 0; r < end; r++) {
            const fpo_ptx_operand *held = &ins->operands[r];
            bool hit = held->kind == FPO_PTX_REGISTER && held->slot == operand->slot &&
                       (r < d ? !accumulates : operand->written);
            if (hit)
                fpo_check_wgmma_register(warp, r < d ? FPO_CHECK_WGMMA_D : FPO_CHECK_WGMMA_A, r < d ? r : r - d,
                                         ins->line, fpo_first_lane(warp->mask));
        }
    }
}

/* wgmmas follow each other on one accumulator without a wait. */
void fpo_open_wgmmas_check(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    uint32_t d = ins->semantics == FPO_PTX_WGMMA ? (uint32_t)accumulator_registers(&ins->arguments) : 0;
    for (uint32_t i = 0; i < ins->operand_count; i++)
        if (ins->operands[i].kind == FPO_PTX_REGISTER)
            check_operand(warp, &ins->operands[i], i < d);
}

static fpo_outcome issue(fpo_warp *warp, const fpo_late_wgmma *w)
{
    warp->wgmmas++;
    if (!check(warp, w))
        return fpo_fault(warp, 0, "out of memory");
    if (!fpo_is_late(warp))
        return perform(warp, w) ? FPO_NEXT : FPO_FAULT;
    fpo_late_wgmma **end = &warp->late_wgmmas;
    while (*end != NULL)
        end = &(*end)->next;
    *end = malloc(sizeof **end);
    if (*end == NULL)
        return fpo_fault(warp, 0, "out of memory");
    **end = *w;
    return FPO_NEXT;
}

fpo_outcome fpo_do_wgmma(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const fpo_ptx_arguments *how = &ins->arguments;
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    if (warp->mask != 0xFFFFFFFF)
        return fpo_fault(warp, fpo_first_lane(warp->mask), "only lanes 0x%08x of the warp take part", warp->mask);
    bool from_registers = has_a_in_registers(ins);
    const fpo_ptx_operand *a = ins->operands + accumulator_registers(how), *b = a + (from_registers ? A_REGISTERS : 1);
    int32_t sign_a = (int32_t)fpo_u32(warp, b + 2, 0), sign_b = (int32_t)fpo_u32(warp, b + 3, 0);
    if ((sign_a != 1 && sign_a != -1) || (sign_b != 1 && sign_b != -1))
        return fpo_fault(warp, 0, "signs %d and %d", sign_a, sign_b);
    /* The last operands say which matrices in shared memory are transposed. */
    const fpo_ptx_operand *end = ins->operands + ins->operand_count, *across = b + 4;
    fpo_late_wgmma w = {.instruction = ins,
                        .at = warp->at,
                        .keep = fpo_predicate(warp, b + 1) & 1,
                        .negate_a = sign_a < 0,
                        .negate_b = sign_b < 0};
    int width = element_bytes(fpo_mma_format((fpo_ptx_value)how->a));
    bool across_a = across < end && fpo_u32(warp, across, 0) != 0,
         across_b = across < end && fpo_u32(warp, end - 1, 0) != 0;
    if (!from_registers && !find_matrix(warp, 0, width, ((const uint64_t *)fpo_lanes_of(warp, a))[0], across_a,
                                        WARP_ROWS * (int)(warp->id % 4), WARP_ROWS, &w.a))
        return FPO_FAULT;
    if (!find_matrix(warp, 1, width, ((const uint64_t *)fpo_lanes_of(warp, b))[0], across_b, 0, how->shape, &w.b))
        return FPO_FAULT;
    return issue(warp, &w);
}

fpo_outcome fpo_do_wgmma_commit(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    warp->wgmma_group_end[warp->wgmma_groups++ % FPO_WGMMA_GROUPS] = warp->wgmmas;
    return FPO_NEXT;
}

fpo_outcome fpo_do_wgmma_wait(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    if (!fpo_gather(warp, ins, 0xFFFFFFFF))
        return FPO_WAITING;
    uint32_t left = fpo_u32(warp, &ins->operands[0], 0);
    if (left >= FPO_WGMMA_GROUPS)
        return fpo_fault(warp, fpo_first_lane(warp->mask), "a wait that leaves %u groups: %d at most", left,
                         FPO_WGMMA_GROUPS - 1);
    if (warp->wgmma_groups <= left)
        return FPO_NEXT;
    uint64_t end = warp->wgmma_group_end[(warp->wgmma_groups - 1 - left) % FPO_WGMMA_GROUPS];
    const fpo_cta *cta = warp->cta;
    uint32_t first = warp->id & ~3u, count = cta->warp_count - first < 4 ? cta->warp_count - first : 4;
    for (uint32_t i = first; i < first + count; i++)
        if (cta->warps[i].alive != 0 && cta->warps[i].wgmmas < end)
            return FPO_WAITING;
    for (uint32_t i = first; i < first + count; i++)
        while (cta->warps[i].late_wgmmas != NULL && performed(&cta->warps[i]) < end)
            if (!perform_first(&cta->warps[i]))
                return FPO_FAULT;
    close_wgmmas(warp, end);
    fpo_race_wgmma_wait(warp, end);
    return FPO_NEXT;
}

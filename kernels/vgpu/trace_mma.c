/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The check of one mma: rows of A, columns of B, their scales and the accumulators must belong together. */
#include "mma.h"
#include "trace.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 8, QUAD = 4, MOST_SCALES = 4 };

/* Where a row of a fragment comes from. */
typedef struct place {
    bool known, outside; /* outside: fill, beyond the matrix */
    bool changed;        /* on the way: the bits are others than those in memory */
    int64_t row, k;      /* of element 0 of the instruction */
    uint64_t address;
} place;

typedef struct mma {
    fpo_warp *warp;
    const fpo_ptx_instruction *ins;
    fpo_vgpu_trace *trace;
    int k, scales;
    place a[ROWS], b[COLUMNS];
} mma;

/* One accumulator: the output and the K that it has reached. */
static uint64_t accumulator(int64_t row, int64_t column, int64_t k)
{
    return FPO_SOURCE_ACCUMULATOR | (uint64_t)row << 43 | (uint64_t)column << 23 | (uint64_t)k;
}

static int64_t row_of(uint64_t source)
{
    return (int64_t)(source >> 43 & 0xFFFFF);
}

static int64_t column_of(uint64_t source)
{
    return (int64_t)(source >> 23 & 0xFFFFF);
}

static int64_t k_of(uint64_t source)
{
    return (int64_t)(source & 0x7FFFFF);
}

/* A word of a fragment that is a copy of four bytes of memory has their bits. Elements that are spread over more bits
 * on their way are not looked at. */
static bool is_changed(const mma *x, const fpo_vgpu_operand *o, const fpo_ptx_operand *word, uint32_t lane,
                       uint64_t source)
{
    if (x->k / 8 * o->bits != 8 * (int)sizeof(uint32_t) || source + 4 > (uint64_t)(uintptr_t)o->codes + o->bytes ||
        word->kind != FPO_PTX_REGISTER)
        return false;
    for (uint32_t b = 1; b < 4; b++)
        if (fpo_source(x->warp, word, lane, b) != source + b)
            return false;
    uint32_t bits = fpo_u32(x->warp, word, (int)lane);
    return memcmp(&bits, (const void *)(uintptr_t)source, sizeof bits) != 0;
}

static place find(const mma *x, int which, int row)
{
    const fpo_vgpu_operand *o = which == 0 ? &x->trace->a : &x->trace->b;
    const fpo_ptx_operand *registers = x->ins->operands + (which == 0 ? 4 : 8);
    int per = x->k / 8, parts = 2;
    place p = {.known = true};
    for (int part = 0; part < parts; part++) {
        for (int q = 0; q < QUAD; q++) {
            int r = which == 0 ? row / 8 + 2 * part : part;
            uint64_t source = fpo_source(x->warp, &registers[r], (uint32_t)(QUAD * (row % 8) + q), 0);
            if (source == FPO_SOURCE_FILL) {
                p.outside = true;
                continue;
            }
            uint64_t offset = source - (uint64_t)(uintptr_t)o->codes;
            if (source < (uint64_t)(uintptr_t)o->codes || offset >= o->bytes)
                return (place){.known = false, .address = source};
            int64_t line = (int64_t)(offset / o->line);
            int64_t k = (int64_t)(offset % o->line) * 8 / o->bits - per * q - QUAD * per * part;
            if (p.address != 0 && (p.row != line || p.k != k))
                return (place){.known = false, .address = source};
            p.row = line;
            p.k = k;
            p.address = p.address != 0 ? p.address : source;
            p.changed = p.changed || is_changed(x, o, &registers[r], (uint32_t)(QUAD * (row % 8) + q), source);
        }
    }
    return p;
}

/* "the scale of row 3, K block 5 (byte 517)", for people. */
static void describe_scale(const fpo_vgpu_operand *o, uint64_t source, char *text, size_t size)
{
    uint64_t offset = source - (uint64_t)(uintptr_t)o->scales;
    if (source < (uint64_t)(uintptr_t)o->scales || offset >= o->scale_bytes)
        snprintf(text, size, "no scale of the problem");
    else if (o->scale_places[offset][0] < 0)
        snprintf(text, size, "padding (byte %llu)", (unsigned long long)offset);
    else
        snprintf(text, size, "row %d, K block %d (byte %llu)", o->scale_places[offset][0], o->scale_places[offset][1],
                 (unsigned long long)offset);
}

static void tell(const mma *x, int m, int n, const char *what)
{
    fpo_vgpu_trace *t = x->trace;
    fpo_warp *warp = x->warp;
    const uint32_t *cta = warp->cta->index;
    if (t->finding[0] != '\0')
        return;
    const place *a = &x->a[m], *b = &x->b[n], *known = a->known ? a : b;
    char rows[2][24] = {"unknown", "unknown"};
    for (int i = 0; i < 2; i++)
        if ((i == 0 ? a : b)->known)
            snprintf(rows[i], sizeof rows[i], "%lld", (long long)(i == 0 ? a : b)->row);
    snprintf(t->finding, sizeof t->finding,
             "PTX line %u, CTA (%u,%u,%u), warp %u, `%.24s`: %s; fragment row %d, column %d: A row %s, B row %s, "
             "K %lld (step %lld)",
             x->ins->line, cta[0], cta[1], cta[2], warp->id, x->ins->opcode, what, m, n, rows[0], rows[1],
             (long long)known->k, (long long)(known->k / x->k));
}

/* Scales of a row: `registers` is the place of the scale's operand, followed by the selectors. */
static bool check_scales(const mma *x, int which, int row, int m, int n)
{
    const fpo_vgpu_operand *o = which == 0 ? &x->trace->a : &x->trace->b;
    const fpo_ptx_operand *scale = &x->ins->operands[which == 0 ? 14 : 17];
    const place *p = which == 0 ? &x->a[row] : &x->b[row];
    uint32_t byte = ((const uint16_t *)fpo_lanes_of(x->warp, scale + 1))[0];
    uint32_t thread = ((const uint16_t *)fpo_lanes_of(x->warp, scale + 2))[0];
    uint32_t lane = (uint32_t)(row % 8) * QUAD + (which == 0 ? 2 * thread + (uint32_t)(row / 8) : thread);
    for (int g = 0; g < x->scales; g++) {
        int64_t block = (p->k + g * (x->k / x->scales)) / o->block_k;
        uint64_t source = fpo_source(x->warp, scale, lane & 31, byte + (uint32_t)g);
        uint64_t offset = source - (uint64_t)(uintptr_t)o->scales;
        bool inside = source >= (uint64_t)(uintptr_t)o->scales && offset < o->scale_bytes;
        if (block * o->block_k >= x->trace->k || source == FPO_SOURCE_FILL ||
            (inside && o->scale_places[offset][0] == p->row && o->scale_places[offset][1] == block))
            continue;
        char is[80], what[200];
        describe_scale(o, source, is, sizeof is);
        snprintf(what, sizeof what, "scale %d of %c is %s, where row %lld, K block %lld belongs", g,
                 which == 0 ? 'A' : 'B', is, (long long)p->row, (long long)block);
        tell(x, m, n, what);
        return false;
    }
    return true;
}

/* False after a finding. */
static bool check_output(const mma *x, int m, int n, uint64_t c)
{
    const place *a = &x->a[m], *b = &x->b[n];
    char what[200] = "";
    bool first = !(c & FPO_SOURCE_ACCUMULATOR);
    if (a->k != b->k)
        snprintf(what, sizeof what, "A holds K %lld, B holds K %lld", (long long)a->k, (long long)b->k);
    else if (first && x->trace->interval > 0 && a->k % x->trace->interval != 0)
        snprintf(what, sizeof what, "the accumulator starts here, K %lld and not where a block of %d begins",
                 (long long)a->k, x->trace->interval);
    else if (first && x->trace->interval == 0 && a->k != 0 && !x->trace->split)
        snprintf(what, sizeof what, "the accumulator starts here, K %lld and not 0", (long long)a->k);
    else if (!first && (row_of(c) != a->row || column_of(c) != b->row))
        snprintf(what, sizeof what, "the accumulator is of output (%lld, %lld)", (long long)row_of(c),
                 (long long)column_of(c));
    else if (!first && x->trace->interval > 0 && a->k % x->trace->interval == 0)
        snprintf(what, sizeof what, "the accumulator goes on at K %lld, where another block of %d and its scales begin",
                 (long long)a->k, x->trace->interval);
    else if (!first && k_of(c) != a->k)
        snprintf(what, sizeof what, "the accumulator has K up to %lld, A and B go on at %lld", (long long)k_of(c),
                 (long long)a->k);
    if (what[0] != '\0')
        tell(x, m, n, what);
    return what[0] == '\0';
}

static bool check_sides(const mma *x)
{
    for (int i = 0; i < ROWS + COLUMNS; i++) {
        const place *p = i < ROWS ? &x->a[i] : &x->b[i - ROWS];
        char what[120];
        if (p->known && !p->changed)
            continue;
        int length = snprintf(what, sizeof what, "%s %d of the fragment of %c ", i < ROWS ? "row" : "column",
                              i < ROWS ? i : i - ROWS, i < ROWS ? 'A' : 'B');
        if (p->known)
            snprintf(what + length, sizeof what - (size_t)length, "has other bits than row %lld of it in memory",
                     (long long)p->row);
        else
            snprintf(what + length, sizeof what - (size_t)length, "is no row of it (0x%llx)",
                     (unsigned long long)p->address);
        tell(x, i < ROWS ? i : 0, i < ROWS ? 0 : i - ROWS, what);
        return false;
    }
    return true;
}

/* Bytes of the operands, as they are in memory: the instruction must read them as what they are. */
static bool check_types(const mma *x)
{
    const fpo_ptx_arguments *how = &x->ins->arguments;
    for (int which = 0; which < 2; which++) {
        const fpo_vgpu_operand *o = which == 0 ? &x->trace->a : &x->trace->b;
        fpo_format element = fpo_mma_format((fpo_ptx_value)(which == 0 ? how->a : how->b));
        fpo_format scale = x->scales > 0 ? fpo_mma_format((fpo_ptx_value)how->op) : FPO_FORMAT_NONE;
        bool wrong = o->element != FPO_FORMAT_NONE && element != o->element;
        bool wrong_scale = x->scales > 0 && o->scale != FPO_FORMAT_NONE && scale != o->scale;
        char what[120];
        if (!wrong && !wrong_scale)
            continue;
        snprintf(what, sizeof what, "it reads %s of %c as %s, and they are %s", wrong ? "elements" : "scales",
                 which == 0 ? 'A' : 'B', fpo_format_describe(wrong ? element : scale)->name,
                 fpo_format_describe(wrong ? o->element : o->scale)->name);
        tell(x, 0, 0, what);
        return false;
    }
    return true;
}

static uint64_t of_c(const mma *x, int m, int n)
{
    return fpo_source(x->warp, &x->ins->operands[10 + 2 * (m / 8) + n % 2], (uint32_t)(QUAD * (m % 8) + n / 2), 0);
}

static void check(const mma *x)
{
    bool ok = x->trace->finding[0] == '\0' && check_sides(x) && check_types(x);
    for (int m = 0; m < ROWS && ok; m++)
        for (int n = 0; n < COLUMNS && ok; n++)
            if (!x->a[m].outside && !x->b[n].outside)
                ok = check_output(x, m, n, of_c(x, m, n)) &&
                     (x->scales == 0 || (check_scales(x, 0, m, m, n) && check_scales(x, 1, n, m, n)));
}

void fpo_trace_mma(fpo_warp *warp, const fpo_ptx_instruction *ins)
{
    const fpo_ptx_arguments *how = &ins->arguments;
    mma x = {.warp = warp, .ins = ins, .trace = fpo_vgpu_traced(warp->cta->grid->gpu), .k = how->shape};
    bool scaled = ins->semantics == FPO_PTX_MMA_SCALED;
    x.scales = scaled ? how->count : 0;
    if (warp->mask != 0xFFFFFFFF || how->shape < 32 || how->op == FPO_PTX_V_F16)
        return;
    for (int m = 0; m < ROWS; m++)
        x.a[m] = find(&x, 0, m);
    for (int n = 0; n < COLUMNS; n++)
        x.b[n] = find(&x, 1, n);
    check(&x);
    uint64_t next[ROWS][COLUMNS];
    for (int m = 0; m < ROWS; m++)
        for (int n = 0; n < COLUMNS; n++)
            next[m][n] = accumulator(x.a[m].row, x.b[n].row, x.a[m].k + x.k);
    for (int m = 0; m < ROWS; m++)
        for (int n = 0; n < COLUMNS; n++)
            fpo_set_source(warp, &ins->operands[2 * (m / 8) + n % 2], (uint32_t)(QUAD * (m % 8) + n / 2), 0,
                           next[m][n]);
}

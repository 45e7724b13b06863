/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* See groups.h. */
#include "groups.h"
#include "../common/cuda_memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_GROUPS = 5, ALIGNMENT = 256 };

/* A group: rows of A and of D from `row` on, half of N from `column` on. */
typedef struct piece {
    int64_t row, rows, column;
    int64_t start; /* its first row in the grouped A; grouped by K, its first column */
} piece;

typedef struct plan {
    piece pieces[MOST_GROUPS];
    int groups;
    int64_t half;                   /* of N */
    int64_t rows;                   /* of the grouped A and D */
    int64_t a_words, b_words;       /* of K, for a row's scales */
    int64_t a_line, b_line, d_line; /* bytes */
    int64_t layout_count;
    uint64_t layout, a, a_scale, b, b_scale, d, end; /* places in the workspace */
    deepgemm_operands operands;                      /* without addresses */
} plan;

static int64_t round_up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static void cut(const deepgemm_grouped *g, const fpo_kernel_problem *p, plan *x)
{
    int64_t third = p->m / 3, rest = p->m - third;
    x->half = p->n / 2;
    if (g->grouping == DEEPGEMM_KGroupedContiguous) {
        const piece pieces[] = {{0, p->m, 0, 0}, {0, 0, 0, p->k}, {0, p->m, x->half, p->k}};
        x->groups = DEEPGEMM_K_GROUPS;
        for (int i = 0; i < x->groups; i++)
            x->pieces[i] = pieces[i];
        x->rows = p->m;
        return;
    }
    const piece pieces[] = {
        {0, third, 0, 0}, {third, rest, x->half, 0}, {0, 0, 0, 0}, {0, third, x->half, 0}, {third, rest, 0, 0}};
    bool masked = g->grouping == DEEPGEMM_MGroupedMasked;
    x->groups = DEEPGEMM_M_GROUPS;
    for (int i = 0; i < x->groups; i++) {
        x->pieces[i] = pieces[i];
        x->pieces[i].start = x->rows;
        x->rows += round_up(masked ? rest : pieces[i].rows, g->tile_m);
    }
}

static uint64_t place(plan *x, int64_t bytes)
{
    uint64_t at = x->end;
    x->end += (uint64_t)round_up(bytes, ALIGNMENT);
    return at;
}

static deepgemm_matrix matrix(int64_t rows, int64_t columns, int64_t line, int64_t scale_rows, int64_t scale_lines)
{
    return (deepgemm_matrix){
        .rows = rows, .columns = columns, .line = line, .scale_rows = scale_rows, .scale_lines = scale_lines};
}

static int64_t scale_bytes(const deepgemm_matrix *x)
{
    return round_up(x->scale_rows, 4) * 4 * x->scale_lines;
}

static plan plan_of(const deepgemm_grouped *g, const fpo_kernel_problem *p)
{
    plan x = {.a_words = (p->k + 4 * g->a_scale_k - 1) / (4 * g->a_scale_k),
              .b_words = (p->k + 4 * g->b_scale_k - 1) / (4 * g->b_scale_k)};
    cut(g, p, &x);
    bool by_k = g->grouping == DEEPGEMM_KGroupedContiguous, masked = g->grouping == DEEPGEMM_MGroupedMasked;
    int64_t columns = by_k ? 2 * p->k : p->k, m = masked ? x.rows / x.groups : x.rows;
    x.a_line = round_up(columns * g->a_bits / 8, 32);
    x.b_line = round_up(columns * g->b_bits / 8, 32);
    x.d_line = round_up(x.half * g->d_bytes, 16);
    deepgemm_operands *o = &x.operands;
    *o = (deepgemm_operands){.m = m, .n = x.half, .k = columns, .d_rows = x.rows, .d_line = x.d_line};
    o->a = matrix(x.rows, columns, x.a_line, m, masked ? x.groups * x.a_words : by_k ? 2 * x.a_words : x.a_words);
    o->b = matrix(by_k ? x.half : x.groups * x.half, columns, x.b_line, x.half,
                  by_k ? 2 * x.b_words : x.groups * x.b_words);
    if (by_k) {
        o->d_planes = x.groups;
        o->d_plane = x.rows * x.d_line;
    }
    x.layout_count = g->grouping == DEEPGEMM_MGroupedContiguous ? x.rows : x.groups;
    x.layout = place(&x, x.layout_count * (int64_t)sizeof(int32_t));
    x.a = place(&x, o->a.rows * o->a.line);
    x.a_scale = place(&x, scale_bytes(&o->a));
    x.b = place(&x, o->b.rows * o->b.line);
    x.b_scale = place(&x, scale_bytes(&o->b));
    x.d = place(&x, x.rows * x.d_line * (by_k ? x.groups : 1));
    return x;
}

uint64_t deepgemm_grouped_bytes(const deepgemm_grouped *g, const fpo_kernel_problem *p)
{
    return plan_of(g, p).end;
}

/* Lines of a matrix from one place of the device's memory to another. */
static cudaError_t copy(void *to, int64_t to_line, const void *from, int64_t from_line, int64_t width, int64_t lines)
{
    if (width == 0 || lines == 0)
        return cudaSuccess;
    return cudaMemcpy2DAsync(to, (size_t)to_line, from, (size_t)from_line, (size_t)width, (size_t)lines,
                             cudaMemcpyDeviceToDevice, NULL);
}

static cudaError_t copy_in(const deepgemm_grouped *g, const fpo_kernel_problem *p, const plan *x, const piece *i,
                           int group)
{
    char *base = p->workspace;
    bool by_k = g->grouping == DEEPGEMM_KGroupedContiguous, masked = g->grouping == DEEPGEMM_MGroupedMasked;
    int64_t a_bytes = p->k * g->a_bits / 8, b_bytes = p->k * g->b_bits / 8;
    /* Grouped by K: groups stand side by side, those without K take no place. */
    int64_t order = by_k ? i->start / p->k : group, a_pitch = round_up(x->operands.a.scale_rows, 4) * 4,
            b_pitch = round_up(x->half, 4) * 4;
    char *a = base + x->a + (by_k ? order * a_bytes : i->start * x->a_line),
         *b = base + x->b + (by_k ? order * b_bytes : order * x->half * x->b_line),
         *a_scale = base + x->a_scale + (masked || by_k ? order * x->a_words * a_pitch : i->start * 4),
         *b_scale = base + x->b_scale + order * x->b_words * b_pitch;
    cudaError_t error = copy(a, x->a_line, (const char *)p->a + i->row * p->a_line, p->a_line, a_bytes, i->rows);
    if (error == cudaSuccess)
        error = copy(a_scale, a_pitch, (const char *)p->a_scale + i->row * 4, round_up(p->m, 4) * 4, i->rows * 4,
                     x->a_words);
    if (error == cudaSuccess)
        error = copy(b, x->b_line, (const char *)p->b + i->column * p->b_line, p->b_line, b_bytes, x->half);
    if (error == cudaSuccess)
        error = copy(b_scale, b_pitch, (const char *)p->b_scale + i->column * 4, round_up(p->n, 4) * 4, x->half * 4,
                     x->b_words);
    return error;
}

static cudaError_t copy_out(const deepgemm_grouped *g, const fpo_kernel_problem *p, const plan *x, const piece *i,
                            int group)
{
    int64_t line = g->grouping == DEEPGEMM_KGroupedContiguous ? group * x->rows : i->start;
    return copy((char *)p->d + i->row * p->d_line + i->column * g->d_bytes, p->d_line,
                (const char *)p->workspace + x->d + line * x->d_line, x->d_line, x->half * g->d_bytes, i->rows);
}

/* The kernel's grouped_layout: for each row its group or -1, or of each group its end, its rows or its K. */
static void fill_layout(const deepgemm_grouped *g, const fpo_kernel_problem *p, const plan *x, int32_t *layout)
{
    for (int64_t row = 0; row < x->layout_count; row++)
        layout[row] = -1;
    for (int i = 0; i < x->groups; i++) {
        const piece *it = &x->pieces[i];
        switch (g->grouping) {
        case DEEPGEMM_MGroupedContiguous:
            for (int64_t row = 0; row < it->rows; row++)
                layout[it->start + row] = i;
            break;
        case DEEPGEMM_MGroupedMasked: layout[i] = (int32_t)it->rows; break;
        case DEEPGEMM_KGroupedContiguous: layout[i] = it->rows != 0 ? (int32_t)p->k : 0; break;
        default: layout[i] = (int32_t)(it->start + it->rows); break;
        }
    }
}

static cudaError_t put_layout(const deepgemm_grouped *g, const fpo_kernel_problem *p, const plan *x)
{
    int32_t *layout = malloc((size_t)x->layout_count * sizeof *layout);
    if (layout == NULL)
        return cudaErrorMemoryAllocation;
    fill_layout(g, p, x, layout);
    cudaError_t error = cudaMemcpy((char *)p->workspace + x->layout, layout, (size_t)x->layout_count * sizeof *layout,
                                   cudaMemcpyHostToDevice);
    free(layout);
    return error;
}

fpo_plugin_status deepgemm_run_grouped(const deepgemm_grouped *g, const fpo_kernel_problem *p, char *why)
{
    plan x = plan_of(g, p);
    char *base = p->workspace;
    x.operands.groups = (const int32_t *)(base + x.layout);
    x.operands.a.codes = base + x.a;
    x.operands.a.scales = base + x.a_scale;
    x.operands.b.codes = base + x.b;
    x.operands.b.scales = base + x.b_scale;
    x.operands.d = base + x.d;
    cudaError_t error = cudaMemsetAsync(base, 0, x.d, NULL);
    if (error == cudaSuccess)
        error = put_layout(g, p, &x);
    for (int i = 0; i < x.groups && error == cudaSuccess; i++)
        if (x.pieces[i].rows != 0)
            error = copy_in(g, p, &x, &x.pieces[i], i);
    fpo_plugin_status status = fpo_cuda_status(error, "copying the groups", why);
    if (status == FPO_PLUGIN_OK)
        status = deepgemm_grouped_gemm(g->kernel, &x.operands, why);
    for (int i = 0; i < x.groups && status == FPO_PLUGIN_OK; i++)
        status = fpo_cuda_status(copy_out(g, p, &x, &x.pieces[i], i), "copying the groups' outputs", why);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The twin's modelled accumulators: which instructions follow each other, how partial sums are promoted, and how the
 * parts of a split K are added (model.h). */
#include "twin.h"

#include <stdlib.h>

/* The instructions of one part, by the element of K at which each begins. */
typedef struct twin_part {
    int64_t *starts;
    int64_t count;
} twin_part;

/* The element of D that is being accumulated. */
typedef struct twin_element {
    const fpo_twin_gemm *gemm;
    int64_t m, n;
} twin_element;

static int64_t ceiling(int64_t x, int64_t y)
{
    return x / y + (x % y > 0);
}

static bool takes_tile(const fpo_schedule *s, int64_t k, int64_t tile, int64_t part)
{
    int64_t tiles = s->tile_k > 0 ? ceiling(k, s->tile_k) : 1, quantum = s->quantum > 1 ? s->quantum : 1, run;
    switch (s->split) {
    case FPO_SPLIT_NONE: return true;
    case FPO_SPLIT_CONTIGUOUS: run = ceiling(ceiling(tiles, s->parts), quantum) * quantum; return tile / run == part;
    case FPO_SPLIT_CUBLASLT:
        run = ceiling(k / s->parts, s->tile_k);
        run = ceiling(run > 0 ? run : 1, quantum) * quantum;
        return tile / run == part;
    case FPO_SPLIT_INTERLEAVED: return tile % s->parts == part;
    case FPO_SPLIT_EVEN: {
        int64_t each = tiles / s->parts, longer = tiles % s->parts;
        int64_t first = part * each + (part < longer ? part : longer);
        return tile >= first && tile < first + each + (part < longer ? 1 : 0);
    }
    case FPO_SPLIT_STREAM_K: break;
    }
    return false;
}

static bool list_part(const twin_element *e, int64_t part, twin_part *list)
{
    const fpo_accumulation *how = &e->gemm->spec->accumulation;
    int64_t k = e->gemm->problem->k, step_k = how->step.kind == FPO_STEP_FMA ? 1 : how->step.k;
    list->count = 0;
    list->starts = malloc((size_t)ceiling(k, step_k) * sizeof *list->starts);
    if (list->starts == NULL)
        return false;
    for (int64_t start = 0; start < k; start += step_k) {
        int64_t tile = how->schedule.tile_k > 0 ? start / how->schedule.tile_k : 0;
        if (takes_tile(&how->schedule, k, tile, part))
            list->starts[list->count++] = start;
    }
    return true;
}

/* RN(element * block scale) in f32. */
static void dequantised(const fpo_twin_operand *o, int64_t row, int64_t k, fpo_twin_value *x)
{
    fpo_twin_value scale;
    fpo_twin_decode(o->spec->read.element, fpo_twin_element(o, row, k), x);
    fpo_twin_block_scale(o, row, k, &scale);
    fpo_twin_multiply(x, x, &scale);
    fpo_twin_round(FPO_F32, x);
}

/* x = RN(x * y) and x = RN(x + y) in f32. */
static void times(fpo_twin_value *x, const fpo_twin_value *y)
{
    fpo_twin_multiply(x, x, y);
    fpo_twin_round(FPO_F32, x);
}

static void plus(fpo_twin_value *x, const fpo_twin_value *y)
{
    fpo_twin_add(x, x, y);
    fpo_twin_round(FPO_F32, x);
}

static void instruction(const twin_element *e, int64_t k, fpo_twin_value *acc)
{
    fpo_twin_value a, b;
    if (e->gemm->spec->accumulation.step.kind == FPO_STEP_FUSED) {
        fpo_twin_step(e->gemm, e->m, e->n, k, acc);
        return;
    }
    dequantised(&e->gemm->a, e->m, k, &a);
    dequantised(&e->gemm->b, e->n, k, &b);
    fpo_twin_multiply(&a, &a, &b);
    plus(acc, &a);
}

/* Instructions [first, end) of a part, one after the other from +0. */
static void chain(const twin_element *e, const twin_part *list, int64_t first, int64_t end, fpo_twin_value *acc)
{
    fpo_twin_zero(acc);
    for (int64_t i = first; i < end && i < list->count; i++)
        instruction(e, list->starts[i], acc);
}

static void f32_scale(const fpo_twin_operand *o, int64_t row, int64_t k, fpo_twin_value *scale)
{
    fpo_twin_float(scale, 1.0f);
    if (o->spec->read.scale.format == FPO_F32)
        fpo_twin_block_scale(o, row, k, scale);
}

/* total = total joined by the partial sum p. sa, sb: the scales of the kernel's A and B. */
static void promote(fpo_promotion how, fpo_twin_value *p, fpo_twin_value *sa, fpo_twin_value *sb, fpo_twin_value *total)
{
    switch (how) {
    case FPO_PROMOTE_ADD: break;
    case FPO_PROMOTE_FMA_AB:
        times(sa, sb);
        fpo_twin_multiply(p, p, sa);
        break;
    case FPO_PROMOTE_FMA_B_THEN_A:
        times(p, sb);
        fpo_twin_multiply(p, p, sa);
        break;
    case FPO_PROMOTE_FMA_A_THEN_B:
        times(p, sa);
        fpo_twin_multiply(p, p, sb);
        break;
    case FPO_PROMOTE_MUL_AB_ADD:
        times(sa, sb);
        times(p, sa);
        break;
    case FPO_PROMOTE_MUL_A_B_ADD:
        times(p, sa);
        times(p, sb);
        break;
    case FPO_PROMOTE_MUL_B_A_ADD:
        times(p, sb);
        times(p, sa);
        break;
    }
    plus(total, p);
}

static void part_sum(const twin_element *e, const twin_part *list, fpo_twin_value *total)
{
    const fpo_accumulation *how = &e->gemm->spec->accumulation;
    int64_t step_k = how->step.kind == FPO_STEP_FMA ? 1 : how->step.k;
    int64_t interval = how->schedule.promote_k / step_k, inner = how->schedule.inner_k / step_k;
    fpo_twin_value p, more, sa, sb;
    if (interval == 0) {
        chain(e, list, 0, list->count, total);
        return;
    }
    fpo_twin_zero(total);
    for (int64_t first = 0; first < list->count; first += interval) {
        int64_t end = first + interval < list->count ? first + interval : list->count;
        chain(e, list, first, inner > 0 && first + inner < end ? first + inner : end, &p);
        for (int64_t i = first + inner; inner > 0 && i < end; i += inner) {
            chain(e, list, i, i + inner < end ? i + inner : end, &more);
            plus(&p, &more);
        }
        f32_scale(&e->gemm->a, e->m, list->starts[first], &sa);
        f32_scale(&e->gemm->b, e->n, list->starts[first], &sb);
        if (how->schedule.swap_ab)
            promote(how->schedule.promotion, &p, &sb, &sa, total);
        else
            promote(how->schedule.promotion, &p, &sa, &sb, total);
    }
}

/* A subnormal becomes a zero of its sign. */
static void flush(fpo_twin_value *x)
{
    if (x->kind == FPO_TWIN_NUMBER && x->number.sign != 0 && fpo_twin_leading_power(&x->number) < -126)
        fpo_twin_integer(&x->number, 0, 0);
}

static void reduce(const fpo_schedule *s, fpo_twin_value *parts, int64_t count)
{
    switch (s->reduction) {
    case FPO_REDUCE_SERIAL:
        for (int64_t i = 1; i < count; i++)
            plus(&parts[0], &parts[i]);
        break;
    case FPO_REDUCE_PAIRWISE:
        while (count > 1) {
            for (int64_t i = 0; i + 1 < count; i += 2)
                plus(&parts[i], &parts[i + 1]);
            for (int64_t i = 0; i < count; i += 2)
                parts[i / 2] = parts[i];
            count = ceiling(count, 2);
        }
        break;
    case FPO_REDUCE_HALVES: {
        int64_t half = ceiling(count, 2);
        fpo_twin_value sum = parts[count - 1];
        for (int64_t i = 0; i < half && count > 1; i++) {
            if (i + half < count - 1)
                plus(&parts[i], &parts[i + half]);
            plus(&sum, &parts[i]);
        }
        parts[0] = sum;
        break;
    }
    case FPO_REDUCE_LAST_ADDS:
        for (int64_t i = 1; i < count - 1; i++) {
            if (s->flush_subnormals) {
                flush(&parts[0]);
                flush(&parts[i]);
            }
            plus(&parts[0], &parts[i]);
            if (s->flush_subnormals)
                flush(&parts[0]);
        }
        if (count > 1)
            plus(&parts[0], &parts[count - 1]);
        break;
    }
}

fpo_status fpo_twin_accumulate(const fpo_twin_gemm *gemm, int64_t m, int64_t n, fpo_twin_value *acc, fpo_error *error)
{
    const fpo_schedule *s = &gemm->spec->accumulation.schedule;
    twin_element e = {gemm, m, n};
    int64_t count = s->split == FPO_SPLIT_NONE ? 1 : s->parts;
    fpo_status status = FPO_OK;

    if (s->split == FPO_SPLIT_STREAM_K)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the reference twin has no Stream-K");
    fpo_twin_value *parts = malloc((size_t)count * sizeof *parts);
    if (parts == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %lld parts of K", (long long)count);
    for (int64_t i = 0; i < count && status == FPO_OK; i++) {
        twin_part list;
        if (list_part(&e, i, &list))
            part_sum(&e, &list, &parts[i]);
        else
            status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for the instructions of K = %lld",
                              (long long)gemm->problem->k);
        free(list.starts);
    }
    if (status == FPO_OK) {
        reduce(s, parts, count);
        *acc = parts[0];
    }
    free(parts);
    return status;
}

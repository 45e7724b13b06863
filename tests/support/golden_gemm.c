/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "gemm_data.h"
#include "golden.h"

#include "assertions.h"
#include <math.h>
#include <split.h>
#include <stdlib.h>
#include <twin.h>

enum { MOST_ELEMENTS = 128 };

struct golden_gemm {
    gemm_case *x;
    fpo_element elements[MOST_ELEMENTS];
    size_t count;
};

typedef struct shape {
    int64_t m, n, k, apart; /* an element in each `apart` rows and columns */
} shape;

/* K: no multiple of anything; a tail that cuBLASLt drops with four parts; several promotions. */
static const shape whole[] = {{4, 6, 513, 1}, {4, 6, 700, 1}, {3, 4, 2000, 1}};
/* Stream-K: more K than the units of a wave need, and output tiles for eight groups. */
static const shape streamed[] = {{400, 300, 16380, 128}, {1000, 1000, 2427, 128}};

/* An element whose size depends on its block of 128, so that partial sums are far apart and their order shows. */
static uint32_t element_code(gemm_random *r, fpo_format format, int64_t k)
{
    const fpo_format_info *info = fpo_format_describe(format);
    int low = info->min_exponent < -10 ? -10 : info->min_exponent;
    int high = info->max_exponent > 8 ? 8 : info->max_exponent;
    int exponent = low + (int)(((uint64_t)k / 128 * 5 + gemm_random_below(r, 4)) % (uint64_t)(high - low));
    double x = ldexp(1 + (double)gemm_random_below(r, 4096) / 4096, exponent);
    bool narrow = info->bits <= 8;
    return fpo_encode_double(format, gemm_random_below(r, 2) != 0 ? x : -x,
                             fpo_cast_describe(narrow ? FPO_CAST_PTX : FPO_CAST_IEEE));
}

/* Scales about 2^exponent; ue8m0 and ue4m3 far enough apart that FP4 sums are rounded. */
static uint32_t scale_code(gemm_random *r, fpo_format format, int exponent)
{
    switch (format) {
    case FPO_UE8M0: return (uint32_t)(127 + exponent + (int)gemm_random_below(r, 20) - 10);
    case FPO_UE4M3: return (uint32_t)gemm_random_below(r, 0x7F);
    default: return gemm_random_code(r, format, 3);
    }
}

static void fill_row(gemm_case *x, gemm_side side, int64_t row, int scale_exponent, gemm_random *r)
{
    const fpo_operand_view *view = side == SIDE_A ? &x->spec.a.stored : &x->spec.b.stored;
    for (int64_t k = 0; k < x->problem.k; k++)
        gemm_case_set_element(x, side, row, k, element_code(r, view->element, k));
    if (view->scale.format == FPO_FORMAT_NONE)
        return;
    int64_t scale_row = view->scale.block_rows > 0 ? row / view->scale.block_rows : 0;
    for (int64_t c = 0; c < fpo_scale_columns(&view->scale, x->problem.k); c++)
        gemm_case_set_scale(x, side, scale_row, c, scale_code(r, view->scale.format, scale_exponent));
}

/* Operand pairs: the first and the last that the model takes, scaled along K both or neither. */
static bool pair_at(const fpo_model *model, size_t index, fpo_block_format *a, fpo_block_format *b)
{
    int count = 0;
    for (int i = 0; i < FPO_BLOCK_COUNT * FPO_BLOCK_COUNT; i++) {
        fpo_block_format x = (fpo_block_format)(i / FPO_BLOCK_COUNT), y = (fpo_block_format)(i % FPO_BLOCK_COUNT);
        const fpo_operand_view *v = &fpo_block_format_describe(x)->view, *w = &fpo_block_format_describe(y)->view;
        if (!fpo_model_takes(model, v, w) || (v->scale.block_k > 0) != (w->scale.block_k > 0))
            continue;
        if (count == 0 || index == 1) {
            *a = x;
            *b = y;
        }
        count++;
    }
    ck_assert_msg(count > 0, "no block formats for %s", model->name);
    return index < (count > 1 ? 2u : 1u);
}

golden_gemm *golden_gemm_make(const fpo_model *model, size_t index)
{
    bool stream = model->accumulation.schedule.split == FPO_SPLIT_STREAM_K;
    size_t shapes = stream ? 2 : 3;
    const shape *s = &(stream ? streamed : whole)[index % shapes];
    fpo_block_format a = FPO_BLOCK_COUNT, b = FPO_BLOCK_COUNT;
    if (model->accumulation.step.kind == FPO_STEP_EXACT || !pair_at(model, index / shapes, &a, &b))
        return NULL;
    golden_gemm *g = calloc(1, sizeof *g);
    ck_assert_ptr_nonnull(g);
    g->x = gemm_case_new(a, b, s->m, s->n, s->k, FPO_F32);
    g->x->spec.epilogue.steps[0].op = FPO_EPI_END;
    gemm_random r = {{20261130, index}, 0};
    /* Partial sums of subnormal size, which the additions of Stream-K flush. */
    const fpo_operand_view *view = &g->x->spec.a.read;
    int exponent = !stream || view->scale.format != FPO_UE8M0 ? 0 : view->element == FPO_E2M1 ? -80 : -88;
    for (int64_t row = s->apart / 2; row < s->m; row += s->apart)
        fill_row(g->x, SIDE_A, row, exponent, &r);
    for (int64_t row = s->apart / 2; row < s->n; row += s->apart)
        fill_row(g->x, SIDE_B, row, exponent, &r);
    for (int64_t m = s->apart / 2; m < s->m; m += s->apart)
        for (int64_t n = s->apart / 2; n < s->n; n += s->apart)
            g->elements[g->count++] = (fpo_element){m, n};
    return g;
}

void golden_gemm_free(golden_gemm *gemm)
{
    gemm_case_free(gemm->x);
    free(gemm);
}

bool golden_gemm_takes(const golden_gemm *gemm, const fpo_model *model)
{
    return fpo_model_takes(model, &gemm->x->spec.a.read, &gemm->x->spec.b.read);
}

bool golden_gemm_engine(golden_gemm *gemm, const fpo_accumulation *accumulation, uint64_t *digest)
{
    fpo_gemm_spec spec = gemm->x->spec;
    uint32_t codes[MOST_ELEMENTS];
    spec.accumulation = *accumulation;
    fpo_execution execution = {.threads = 1};
    if (fpo_gemm_elements(&spec, &gemm->x->problem, gemm->elements, gemm->count, codes, &execution, NULL) != FPO_OK)
        return false;
    *digest = GOLDEN_DIGEST_START;
    for (size_t i = 0; i < gemm->count; i++)
        *digest = golden_digest(*digest, codes[i]);
    return true;
}

/* A subnormal as atom.global.add.f32 takes and gives it: zero. */
static void flush(fpo_twin_value *x)
{
    if (x->kind == FPO_TWIN_NUMBER && x->number.sign != 0 && fpo_twin_leading_power(&x->number) < -126)
        fpo_twin_zero(x);
}

static fpo_twin_value add(fpo_twin_value x, fpo_twin_value y, bool flushing)
{
    if (flushing) {
        flush(&x);
        flush(&y);
    }
    fpo_twin_add(&x, &x, &y);
    fpo_twin_round(FPO_F32, &x);
    if (flushing)
        flush(&x);
    return x;
}

/* Stream-K by the twin's steps: the parts, which CUTLASS itself has confirmed, added in their order. */
static void streamed_sum(const fpo_twin_gemm *gemm, fpo_element e, fpo_twin_value *total)
{
    const fpo_accumulation *how = &gemm->spec->accumulation;
    fpo_split split = fpo_split_of(&how->schedule, gemm->problem->m, gemm->problem->n, gemm->problem->k);
    int64_t parts = fpo_split_parts(&split, e.row, e.column);
    for (int64_t i = 0; i < parts; i++) {
        fpo_part part = fpo_split_part(&split, e.row, e.column, i);
        fpo_twin_value sum;
        fpo_twin_zero(&sum);
        int64_t end = (part.first + part.count) * split.tile_k;
        for (int64_t k = part.first * split.tile_k; k < end && k < split.k; k += how->step.k)
            fpo_twin_step(gemm, e.row, e.column, k, &sum);
        *total = i == 0 ? sum : add(*total, sum, how->schedule.flush_subnormals && i + 1 < parts);
    }
}

uint64_t golden_gemm_twin(golden_gemm *gemm, const fpo_accumulation *accumulation)
{
    fpo_gemm_spec spec = gemm->x->spec;
    const fpo_gemm_problem *problem = &gemm->x->problem;
    spec.accumulation = *accumulation;
    fpo_twin_gemm twin = {.spec = &spec, .problem = problem};
    ck_assert_int_eq(fpo_twin_open(&spec.a, &problem->a, problem->m, problem->k, "a", &twin.a, NULL), FPO_OK);
    ck_assert_int_eq(fpo_twin_open(&spec.b, &problem->b, problem->n, problem->k, "b", &twin.b, NULL), FPO_OK);
    uint64_t digest = GOLDEN_DIGEST_START;
    for (size_t i = 0; i < gemm->count; i++) {
        fpo_twin_value sum;
        if (accumulation->schedule.split == FPO_SPLIT_STREAM_K)
            streamed_sum(&twin, gemm->elements[i], &sum);
        else
            ck_assert_int_eq(fpo_twin_accumulate(&twin, gemm->elements[i].row, gemm->elements[i].column, &sum, NULL),
                             FPO_OK);
        digest = golden_digest(digest, fpo_twin_encode(FPO_F32, &sum, fpo_cast_describe(FPO_CAST_IEEE)));
    }
    fpo_twin_close(&twin.a);
    fpo_twin_close(&twin.b);
    return digest;
}

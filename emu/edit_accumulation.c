/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of the order and the precision of the sum. */
#include "edit_parts.h"

#include "edit_loop.h"

#include <string.h>

static int model_index(const fpo_accumulation *accumulation)
{
    for (size_t i = 0; fpo_model_at(i) != NULL; ++i)
        if (memcmp(&fpo_model_at(i)->accumulation, accumulation, sizeof *accumulation) == 0)
            return (int)i;
    return -1;
}

/* ---- which ones there are ---- */

static void enumerate_models(fpo_edit_list *list, const fpo_gemm_spec *spec)
{
    int own = model_index(&spec->accumulation);
    for (size_t i = 0; fpo_model_at(i) != NULL; ++i)
        if ((int)i != own && fpo_model_takes(fpo_model_at(i), &spec->a.read, &spec->b.read))
            fpo_edit_add(list, FPO_EDIT_ACCUMULATION, 0, own, (int)i);
}

/* Elements of K in a tile that suits the instruction. */
static int32_t tile_of(const fpo_step *step)
{
    return 128 % step->k == 0 ? 128 : step->k;
}

static void enumerate_splits(fpo_edit_list *list, const fpo_step *step, const fpo_schedule *schedule, int64_t k)
{
    static const int parts[] = {2, 3, 4, 5, 6, 8, 16},
                     kinds[] = {FPO_SPLIT_CONTIGUOUS, FPO_SPLIT_EVEN, FPO_SPLIT_INTERLEAVED};
    static const int waves[] = {114, 132, 148, 170, 188}, tiles[] = {64, 128, 256};
    int64_t k_tiles = (k + tile_of(step) - 1) / tile_of(step);
    for (int p = 0; p < 7 && parts[p] <= k_tiles && schedule->split == FPO_SPLIT_NONE; p++) {
        for (int kind = 0; kind < 3; kind++)
            fpo_edit_add(list, FPO_EDIT_K_SPLIT, 0, kinds[kind] | FPO_REDUCE_SERIAL << 8, parts[p]);
        for (int reduction = FPO_REDUCE_PAIRWISE; reduction <= FPO_REDUCE_LAST_ADDS && parts[p] > 2; reduction++)
            fpo_edit_add(list, FPO_EDIT_K_SPLIT, 0, FPO_SPLIT_CONTIGUOUS | reduction << 8, parts[p]);
    }
    for (int t = 0; t < 3 && tiles[t] * 8 <= k; t++)
        for (int w = 0; w < 5 && tiles[t] % step->k == 0; w++)
            fpo_edit_add(list, FPO_EDIT_STREAM_K, 0, tiles[t], waves[w]);
}

static void enumerate_schedule(fpo_edit_list *list, const fpo_accumulation *a, int64_t k)
{
    static const int intervals[] = {0, 32, 64, 128, 256, 512, 1024}, tiles[] = {16, 32, 64, 128, 256};
    static const int bits[] = {10, 12, 13, 14, 21, 22, 23, 24, 25};
    const fpo_step *step = &a->step;
    const fpo_schedule *schedule = &a->schedule;
    enumerate_splits(list, step, schedule, k);
    for (int i = 0; i < 5; i++)
        if (tiles[i] % step->k == 0 && k % tiles[i] == 0 && tiles[i] < k)
            fpo_edit_add(list, FPO_EDIT_K_REVERSED, 0, 0, tiles[i]);
    fpo_edit_add(list, FPO_EDIT_SWAP_AB, 0, 0, 0);
    for (int how = 0; how <= FPO_PROMOTE_MUL_B_A_ADD && schedule->promotion != FPO_PROMOTE_ADD; how++)
        if (how != FPO_PROMOTE_ADD && how != (int)schedule->promotion)
            fpo_edit_add(list, FPO_EDIT_PROMOTION, 0, 0, how);
    for (int i = 0; i < 7 && step->kind == FPO_STEP_FUSED && schedule->inner_k == 0; i++)
        if (intervals[i] != schedule->promote_k && intervals[i] < k && (schedule->promote_k > 0 || intervals[i] > 0))
            fpo_edit_add(list, FPO_EDIT_PROMOTE_K, 0, schedule->promote_k, intervals[i]);
    for (int i = 0; i < 9 && step->kind == FPO_STEP_FUSED; i++)
        if (bits[i] != step->fraction_bits)
            fpo_edit_add(list, FPO_EDIT_FRACTION_BITS, 0, step->fraction_bits, bits[i]);
    if (step->kind == FPO_STEP_FUSED && step->accumulator == FPO_F32)
        fpo_edit_add(list, FPO_EDIT_ACCUMULATOR_F16, 0, 0, 0);
}

/* ---- orders of the epilogue ---- */

enum { OPERANDS = FPO_EPI_D_SCALE + 1 };

typedef struct uses {
    int count[OPERANDS];
    bool c, bias;
} uses;

static uses uses_of(const fpo_epilogue_step *steps)
{
    uses u = {0};
    for (int i = 0; i < FPO_EPILOGUE_STEPS && steps[i].op != FPO_EPI_END; i++) {
        fpo_epilogue_op op = steps[i].op;
        u.count[steps[i].operand]++;
        u.c = u.c || op == FPO_EPI_FMA_COEF_BETA_C || op == FPO_EPI_FMA_COEF_BETA_C_UNLESS_ONE ||
              op == FPO_EPI_FMA_BETA_C || op == FPO_EPI_FMA_BETA_C_ALWAYS;
        u.bias = u.bias || op == FPO_EPI_ADD_BIAS || op == FPO_EPI_FMA_BIAS;
    }
    return u;
}

/* Both programs apply every factor that is not 1, once, and C and bias where there are such. */
static bool same_meaning(const fpo_gemm_spec *spec, const fpo_gemm_problem *p, const fpo_epilogue_step *other)
{
    uses x = uses_of(spec->epilogue.steps), y = uses_of(other);
    bool counts[OPERANDS] = {false};
    counts[FPO_EPI_ALPHA] = p->alpha != 1.0f;
    counts[FPO_EPI_A_TENSOR_SCALE] = p->a.tensor_scale != 1.0f;
    counts[FPO_EPI_B_TENSOR_SCALE] = p->b.tensor_scale != 1.0f;
    counts[FPO_EPI_D_SCALE] = p->d_scale != 1.0f;
    counts[FPO_EPI_A_SCALE] = counts[FPO_EPI_B_SCALE] = true;
    for (int i = 1; i < OPERANDS; i++)
        if (counts[i] && x.count[i] != y.count[i])
            return false;
    bool c = spec->epilogue.c != FPO_FORMAT_NONE && p->beta != 0.0f, bias = spec->epilogue.bias != FPO_FORMAT_NONE;
    return (!c || x.c == y.c) && (!bias || x.bias == y.bias);
}

static void enumerate_epilogues(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    for (int preset = 0; preset < FPO_EPILOGUE_COUNT; preset++) {
        const fpo_epilogue_info *info = fpo_epilogue_describe((fpo_epilogue_preset)preset);
        if (same_meaning(spec, problem, info->steps) &&
            memcmp(info->steps, spec->epilogue.steps, sizeof info->steps) != 0)
            fpo_edit_add(list, FPO_EDIT_EPILOGUE_ORDER, 0, 0, preset);
    }
}

static void enumerate_problem(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    enumerate_models(list, spec);
    if (spec->accumulation.step.kind != FPO_STEP_EXACT)
        enumerate_schedule(list, &spec->accumulation, problem->k);
    enumerate_epilogues(list, spec, problem);
}

/* ---- applying them ---- */

static void split(const fpo_edit *edit, fpo_accumulation *a)
{
    a->schedule.split = (fpo_split_kind)(edit->from & 0xFF);
    a->schedule.reduction = (fpo_reduction)(edit->from >> 8);
    a->schedule.parts = edit->to;
    a->schedule.tile_k = tile_of(&a->step);
    a->schedule.quantum = 0;
}

/* As CUTLASS does it: FPO_REDUCE_LAST_ADDS with atomics in between. */
static void stream_k(const fpo_edit *edit, fpo_schedule *schedule)
{
    schedule->split = FPO_SPLIT_STREAM_K;
    schedule->reduction = FPO_REDUCE_LAST_ADDS;
    schedule->flush_subnormals = true;
    schedule->tile_k = edit->from;
    schedule->tile_m = schedule->tile_n = 128;
    schedule->wave = edit->to;
    schedule->min_k_tiles = 8;
    schedule->max_groups = 8;
}

static void make_f16(fpo_step *step)
{
    step->accumulator = FPO_F16;
    step->result_bits = 10;
    step->result_rounding = FPO_NEAREST_EVEN;
    step->result_quantum = -24;
    step->nan = 0x7FFF;
}

static void apply_to_problem(const fpo_edit *edit, fpo_edited *e)
{
    fpo_accumulation *a = &e->spec.accumulation;
    switch (edit->kind) {
    case FPO_EDIT_ACCUMULATION: a[0] = fpo_model_at((size_t)edit->to)->accumulation; break;
    case FPO_EDIT_K_SPLIT: split(edit, a); break;
    case FPO_EDIT_STREAM_K: stream_k(edit, &a->schedule); break;
    case FPO_EDIT_K_REVERSED: fpo_edited_reverse_k(e, edit->to); break;
    case FPO_EDIT_SWAP_AB: a->schedule.swap_ab = !a->schedule.swap_ab; break;
    case FPO_EDIT_PROMOTION: a->schedule.promotion = (fpo_promotion)edit->to; break;
    case FPO_EDIT_PROMOTE_K: a->schedule.promote_k = edit->to; break;
    case FPO_EDIT_EPILOGUE_ORDER:
        memcpy(e->spec.epilogue.steps, fpo_epilogue_describe((fpo_epilogue_preset)edit->to)->steps,
               sizeof e->spec.epilogue.steps);
        break;
    case FPO_EDIT_ACCUMULATOR_F16: make_f16(&a->step); break;
    case FPO_EDIT_FRACTION_BITS: a->step.fraction_bits = (int16_t)edit->to; break;
    default: fpo_edited_refuse(e); break;
    }
}

const fpo_edit_group fpo_edits_accumulation = {NULL, enumerate_problem, NULL, apply_to_problem};

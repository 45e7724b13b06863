/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "mutations.h"

#include <string.h>

/* ---- which models have a number ---- */

static bool fused(const fpo_accumulation *x)
{
    return x->step.kind == FPO_STEP_FUSED;
}

static bool grouped(const fpo_accumulation *x)
{
    return fused(x) && x->step.group > 1;
}

static bool single(const fpo_accumulation *x)
{
    return fused(x) && x->step.group == 1;
}

static bool chained(const fpo_accumulation *x)
{
    return single(x) && x->step.fused < x->step.k;
}

static bool promoted(const fpo_accumulation *x)
{
    return x->schedule.promote_k > 0;
}

static bool split(const fpo_accumulation *x)
{
    return x->schedule.split != FPO_SPLIT_NONE;
}

static bool in_parts(const fpo_accumulation *x)
{
    return split(x) && x->schedule.split != FPO_SPLIT_STREAM_K;
}

static bool in_runs(const fpo_accumulation *x)
{
    return x->schedule.split == FPO_SPLIT_CONTIGUOUS || x->schedule.split == FPO_SPLIT_CUBLASLT;
}

static bool stream_k(const fpo_accumulation *x)
{
    return x->schedule.split == FPO_SPLIT_STREAM_K;
}

static bool any(const fpo_accumulation *x)
{
    return x->step.kind != FPO_STEP_EXACT;
}

static bool zero_enters(const fpo_accumulation *x)
{
    return x->step.zero_product_enters || x->step.zero_group_enters;
}

/* ---- changes that cannot show ---- */

static bool takes(const fpo_model *model, fpo_format format)
{
    return model->operands.elements >> format & 1;
}

static bool takes_only(const fpo_model *model, fpo_format format)
{
    return model->operands.elements == 1u << format;
}

/* FP8, FP6, FP4 and f16 without scales: products of at most 2^32. */
static bool narrow(const fpo_model *model)
{
    const uint32_t wide = 1u << FPO_BF16 | 1u << FPO_TF32 | 1u << FPO_F32;
    bool elements = model->operands.anything ? model->accumulation.step.operand_format == FPO_F16
                                             : (model->operands.elements & wide) == 0;
    return elements && model->operands.scales[0].format == FPO_FORMAT_NONE;
}

static bool f32_result(const fpo_model *model)
{
    return model->accumulation.step.accumulator == FPO_F32;
}

static const char *same_grid(const fpo_model *model, int e_zero)
{
    const fpo_step *s = &model->accumulation.step;
    if (!narrow(model))
        return NULL;
    /* The last place of the smallest product. */
    int least = takes(model, FPO_F16) || model->operands.anything ? -48 : takes(model, FPO_E5M2) ? -32 : -18;
    int grid = e_zero - s->fraction_bits;
    bool c_cut = !s->c_late && f32_result(model) && e_zero > -126 && grid > -149;
    return grid <= least && !c_cut
               ? "every product is a multiple of the grid, and C, where it is not 0, lies above the floor"
               : NULL;
}

static const char *floor_lower(const fpo_model *model)
{
    return same_grid(model, model->accumulation.step.e_zero);
}

static const char *floor_higher(const fpo_model *model)
{
    return same_grid(model, model->accumulation.step.e_zero + 1);
}

static const char *floor_much_higher(const fpo_model *model)
{
    return same_grid(model, model->accumulation.step.e_zero + 8);
}

static const char *is_f16(const fpo_model *model)
{
    return takes_only(model, FPO_F16) ? "the elements are f16" : NULL;
}

static const char *is_bf16(const fpo_model *model)
{
    return takes_only(model, FPO_BF16) ? "the elements are bf16" : NULL;
}

static const char *exact_in_f16(const fpo_model *model)
{
    bool f16 = model->accumulation.step.operand_format == FPO_F16 && takes(model, FPO_E4M3);
    return f16 ? "f16 holds every FP8 number" : NULL;
}

static const char *late_f32(const fpo_model *model)
{
    return model->accumulation.step.c_late && f32_result(model) ? "the f32 addition of C makes the result" : NULL;
}

static const char *fine_quantum(const fpo_model *model)
{
    bool bits_13 = f32_result(model) && model->accumulation.step.result_bits == 13;
    return bits_13 ? "the grid of the terms is no finer where C is subnormal, and products alone are larger" : NULL;
}

static const char *no_overflow(const fpo_model *model)
{
    return f32_result(model) && narrow(model) ? "a finite C and products below 2^37 do not reach 2^128" : NULL;
}

static const char *symmetric(const fpo_model *model)
{
    const fpo_schedule *h = &model->accumulation.schedule;
    bool ordered = h->promote_k > 0 && h->promotion != FPO_PROMOTE_ADD && h->promotion != FPO_PROMOTE_FMA_AB &&
                   h->promotion != FPO_PROMOTE_MUL_AB_ADD;
    return ordered || h->split == FPO_SPLIT_STREAM_K ? NULL : "A and B have the same part in everything";
}

static const char *two_parts(const fpo_model *model)
{
    return model->accumulation.schedule.parts == 2 ? "there is one way to add two parts" : NULL;
}

static const char *last_is_serial(const fpo_model *model)
{
    return model->accumulation.schedule.reduction == FPO_REDUCE_SERIAL ? "f32 addition commutes" : two_parts(model);
}

static const char *halves_of_two(const fpo_model *model)
{
    const fpo_schedule *h = &model->accumulation.schedule;
    return h->parts == 2 && h->split == FPO_SPLIT_CONTIGUOUS ? "the first of two parts takes the odd tile" : NULL;
}

static const char *one_inner(const fpo_model *model)
{
    return model->accumulation.schedule.promote_k == 64 ? "a partial sum of 64 is one chain of 64" : NULL;
}

/* ---- the list ---- */

#define FIELD(name) offsetof(fpo_accumulation, name), sizeof(((fpo_accumulation *)0)->name)

const mutation mutations[] = {
    {"kind exact", FIELD(step.kind), CHANGE_SET, FPO_STEP_EXACT, any, NULL},
    {"operand_format none", FIELD(step.operand_format), CHANGE_SET, FPO_FORMAT_NONE, fused, NULL},
    {"operand_format bf16", FIELD(step.operand_format), CHANGE_SET, FPO_BF16, fused, is_bf16},
    {"operand_format f16", FIELD(step.operand_format), CHANGE_SET, FPO_F16, fused, is_f16},
    {"dequantised", FIELD(step.dequantised), CHANGE_FLIP, 0, any, exact_in_f16},
    {"k * 2", FIELD(step.k), CHANGE_TIMES, 2, any, NULL},
    {"k / 2", FIELD(step.k), CHANGE_DIVIDE, 2, fused, NULL},
    {"fused * 2", FIELD(step.fused), CHANGE_TIMES, 2, chained, NULL},
    {"fused / 2", FIELD(step.fused), CHANGE_DIVIDE, 2, fused, NULL},
    {"group / 2", FIELD(step.group), CHANGE_DIVIDE, 2, grouped, NULL},
    {"group * 2", FIELD(step.group), CHANGE_TIMES, 2, fused, NULL},
    {"fraction_bits - 1", FIELD(step.fraction_bits), CHANGE_ADD, -1, fused, NULL},
    {"fraction_bits + 1", FIELD(step.fraction_bits), CHANGE_ADD, 1, fused, NULL},
    {"term_rounding nearest", FIELD(step.term_rounding), CHANGE_SET, FPO_NEAREST_EVEN, fused, NULL},
    {"term_rounding down", FIELD(step.term_rounding), CHANGE_SET, FPO_DOWN, fused, NULL},
    {"e_zero - 1", FIELD(step.e_zero), CHANGE_ADD, -1, fused, floor_lower},
    {"e_zero + 1", FIELD(step.e_zero), CHANGE_ADD, 1, fused, floor_higher},
    {"e_zero + 8", FIELD(step.e_zero), CHANGE_ADD, 8, fused, floor_much_higher},
    {"zero_exponent", FIELD(step.zero_exponent), CHANGE_ADD, 20, zero_enters, NULL},
    {"zero_product_enters", FIELD(step.zero_product_enters), CHANGE_FLIP, 0, single, NULL},
    {"zero_group_enters", FIELD(step.zero_group_enters), CHANGE_FLIP, 0, grouped, NULL},
    {"cancelled_group_enters", FIELD(step.cancelled_group_enters), CHANGE_FLIP, 0, grouped, NULL},
    {"c_late", FIELD(step.c_late), CHANGE_FLIP, 0, fused, NULL},
    {"interleaved", FIELD(step.interleaved), CHANGE_FLIP, 0, fused, NULL},
    {"accumulator f16", FIELD(step.accumulator), CHANGE_SET, FPO_F16, any, NULL},
    {"accumulator f32", FIELD(step.accumulator), CHANGE_SET, FPO_F32, any, NULL},
    {"result_bits - 1", FIELD(step.result_bits), CHANGE_ADD, -1, fused, NULL},
    {"result_bits + 1", FIELD(step.result_bits), CHANGE_ADD, 1, fused, NULL},
    {"result_rounding toward zero", FIELD(step.result_rounding), CHANGE_SET, FPO_TOWARD_ZERO, fused, NULL},
    {"result_rounding nearest", FIELD(step.result_rounding), CHANGE_SET, FPO_NEAREST_EVEN, fused, NULL},
    {"result_quantum - 1", FIELD(step.result_quantum), CHANGE_ADD, -1, fused, fine_quantum},
    {"result_quantum + 1", FIELD(step.result_quantum), CHANGE_ADD, 1, fused, late_f32},
    {"overflow", FIELD(step.overflow), CHANGE_SET, FPO_SATURATE, fused, no_overflow},
    {"nan", FIELD(step.nan), CHANGE_ADD, -1, fused, late_f32},
    {"promote_k 0", FIELD(schedule.promote_k), CHANGE_SET, 0, promoted, NULL},
    {"promote_k * 2", FIELD(schedule.promote_k), CHANGE_TIMES, 2, promoted, NULL},
    {"promote_k / 2", FIELD(schedule.promote_k), CHANGE_DIVIDE, 2, promoted, NULL},
    {"inner_k 0", FIELD(schedule.inner_k), CHANGE_SET, 0, promoted, NULL},
    {"inner_k 64", FIELD(schedule.inner_k), CHANGE_SET, 64, promoted, one_inner},
    {"promotion add", FIELD(schedule.promotion), CHANGE_SET, FPO_PROMOTE_ADD, promoted, NULL},
    {"promotion fma ab", FIELD(schedule.promotion), CHANGE_SET, FPO_PROMOTE_FMA_AB, promoted, NULL},
    {"promotion fma b then a", FIELD(schedule.promotion), CHANGE_SET, FPO_PROMOTE_FMA_B_THEN_A, promoted, NULL},
    {"promotion fma a then b", FIELD(schedule.promotion), CHANGE_SET, FPO_PROMOTE_FMA_A_THEN_B, promoted, NULL},
    {"promotion mul ab add", FIELD(schedule.promotion), CHANGE_SET, FPO_PROMOTE_MUL_AB_ADD, promoted, NULL},
    {"promotion mul a b add", FIELD(schedule.promotion), CHANGE_SET, FPO_PROMOTE_MUL_A_B_ADD, promoted, NULL},
    {"promotion mul b a add", FIELD(schedule.promotion), CHANGE_SET, FPO_PROMOTE_MUL_B_A_ADD, promoted, NULL},
    {"swap_ab", FIELD(schedule.swap_ab), CHANGE_FLIP, 0, any, symmetric},
    {"split none", FIELD(schedule.split), CHANGE_SET, FPO_SPLIT_NONE, split, NULL},
    {"split contiguous", FIELD(schedule.split), CHANGE_SET, FPO_SPLIT_CONTIGUOUS, in_parts, NULL},
    {"split even", FIELD(schedule.split), CHANGE_SET, FPO_SPLIT_EVEN, in_parts, halves_of_two},
    {"split interleaved", FIELD(schedule.split), CHANGE_SET, FPO_SPLIT_INTERLEAVED, in_parts, NULL},
    {"split cublaslt", FIELD(schedule.split), CHANGE_SET, FPO_SPLIT_CUBLASLT, in_parts, NULL},
    {"parts - 1", FIELD(schedule.parts), CHANGE_ADD, -1, in_parts, NULL},
    {"parts + 1", FIELD(schedule.parts), CHANGE_ADD, 1, in_parts, NULL},
    {"tile_k * 2", FIELD(schedule.tile_k), CHANGE_TIMES, 2, split, NULL},
    {"tile_k / 2", FIELD(schedule.tile_k), CHANGE_DIVIDE, 2, split, NULL},
    {"quantum + 1", FIELD(schedule.quantum), CHANGE_ADD, 1, in_runs, NULL},
    {"reduction serial", FIELD(schedule.reduction), CHANGE_SET, FPO_REDUCE_SERIAL, split, NULL},
    {"reduction pairwise", FIELD(schedule.reduction), CHANGE_SET, FPO_REDUCE_PAIRWISE, split, two_parts},
    {"reduction halves", FIELD(schedule.reduction), CHANGE_SET, FPO_REDUCE_HALVES, split, two_parts},
    {"reduction last adds", FIELD(schedule.reduction), CHANGE_SET, FPO_REDUCE_LAST_ADDS, split, last_is_serial},
    {"flush_subnormals", FIELD(schedule.flush_subnormals), CHANGE_FLIP, 0, stream_k, NULL},
    {"tile_m * 2", FIELD(schedule.tile_m), CHANGE_TIMES, 2, stream_k, NULL},
    {"tile_n * 2", FIELD(schedule.tile_n), CHANGE_TIMES, 2, stream_k, NULL},
    {"wave - 1", FIELD(schedule.wave), CHANGE_ADD, -1, stream_k, NULL},
    {"wave + 1", FIELD(schedule.wave), CHANGE_ADD, 1, stream_k, NULL},
    {"min_k_tiles - 1", FIELD(schedule.min_k_tiles), CHANGE_ADD, -1, stream_k, NULL},
    {"min_k_tiles + 1", FIELD(schedule.min_k_tiles), CHANGE_ADD, 1, stream_k, NULL},
    {"max_groups - 1", FIELD(schedule.max_groups), CHANGE_ADD, -1, stream_k, NULL},
    {"max_groups + 1", FIELD(schedule.max_groups), CHANGE_ADD, 1, stream_k, NULL},
};

const size_t mutation_count = sizeof mutations / sizeof mutations[0];

static int64_t read_field(const unsigned char *at, size_t size)
{
    int16_t narrow;
    int32_t wide;
    switch (size) {
    case 1: return at[0];
    case 2: memcpy(&narrow, at, sizeof narrow); return narrow;
    default: memcpy(&wide, at, sizeof wide); return wide;
    }
}

static void write_field(unsigned char *at, size_t size, int64_t value)
{
    int16_t narrow = (int16_t)value;
    int32_t wide = (int32_t)value;
    switch (size) {
    case 1: at[0] = (unsigned char)value; break;
    case 2: memcpy(at, &narrow, sizeof narrow); break;
    default: memcpy(at, &wide, sizeof wide); break;
    }
}

bool mutate(const mutation *m, fpo_accumulation *accumulation)
{
    unsigned char *at = (unsigned char *)accumulation + m->offset;
    int64_t old = read_field(at, m->size), value = old;
    if (!m->used(accumulation))
        return false;
    switch (m->kind) {
    case CHANGE_ADD: value = old + m->value; break;
    case CHANGE_SET: value = m->value; break;
    case CHANGE_TIMES: value = old * m->value; break;
    case CHANGE_DIVIDE: value = old / m->value; break;
    case CHANGE_FLIP: value = !old; break;
    }
    write_field(at, m->size, value);
    return value != old;
}

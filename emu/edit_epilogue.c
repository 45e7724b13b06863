/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Edits of the epilogue: C, bias, activation, roundings. */
#include "edit_parts.h"

#include <string.h>

/* ---- which ones there are ---- */

static const fpo_format wide_formats[] = {FPO_F32, FPO_BF16, FPO_F16};

static bool has_step(const fpo_epilogue *epilogue, fpo_epilogue_op op)
{
    for (int i = 0; i < FPO_EPILOGUE_STEPS && epilogue->steps[i].op != FPO_EPI_END; i++)
        if (epilogue->steps[i].op == op)
            return true;
    return false;
}

static void enumerate_c(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    if (problem->beta == 0.0f || problem->c == NULL || spec->epilogue.c == FPO_FORMAT_NONE)
        return;
    fpo_edit_add(list, FPO_EDIT_BETA_DROPPED, 0, 0, 0);
    if (problem->beta != 1.0f) {
        fpo_edit_add(list, FPO_EDIT_BETA_TWICE, 0, 0, 0);
        fpo_edit_add(list, FPO_EDIT_BETA_IS_ONE, 0, 0, 0);
    }
    if (problem->m > 1 && problem->n > 1)
        fpo_edit_add(list, FPO_EDIT_C_TRANSPOSED, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        if (wide_formats[i] != spec->epilogue.c)
            fpo_edit_add(list, FPO_EDIT_C_FORMAT, 0, (int)spec->epilogue.c, (int)wide_formats[i]);
}

static void enumerate_bias(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    if (problem->bias == NULL || spec->epilogue.bias == FPO_FORMAT_NONE)
        return;
    fpo_edit_add(list, FPO_EDIT_BIAS_DROPPED, 0, 0, 0);
    fpo_edit_add(list, FPO_EDIT_BIAS_TWICE, 0, 0, 0);
    fpo_edit_add(list, FPO_EDIT_BIAS_SCALED, 0, 0, 0);
    fpo_edit_add(list, FPO_EDIT_BIAS_OTHER_AXIS, 0, 0, 0);
    for (int by = -1; by <= 1; by += 2)
        fpo_edit_add(list, FPO_EDIT_BIAS_OFFSET, 0, 0, by);
    for (int i = 0; i < 3; i++)
        if (wide_formats[i] != spec->epilogue.bias)
            fpo_edit_add(list, FPO_EDIT_BIAS_FORMAT, 0, (int)spec->epilogue.bias, (int)wide_formats[i]);
}

static void enumerate_roundings(fpo_edit_list *list, const fpo_gemm_spec *spec)
{
    const fpo_epilogue *e = &spec->epilogue;
    static const fpo_format narrow[] = {FPO_F16, FPO_BF16};
    for (int i = 0; i < 2; i++) {
        fpo_edit_add(list, FPO_EDIT_NARROWED_FIRST, 0, 0, (int)narrow[i]);
        if (narrow[i] != e->d)
            fpo_edit_add(list, FPO_EDIT_ROUNDED_TWICE, 0, 0, (int)narrow[i]);
    }
    bool rounds = e->d != FPO_F32 || spec->accumulation.step.kind == FPO_STEP_EXACT;
    for (int mode = FPO_NEAREST_EVEN; mode < FPO_STOCHASTIC && rounds; mode++)
        if (mode != (int)e->d_cast.rounding)
            fpo_edit_add(list, FPO_EDIT_OUTPUT_ROUNDING, 0, 0, mode);
    int other = e->d_cast.overflow == FPO_SATURATE ? FPO_NON_FINITE : FPO_SATURATE;
    fpo_edit_add(list, FPO_EDIT_OUTPUT_OVERFLOW, 0, (int)e->d_cast.overflow, other);
    for (int policy = FPO_NAN_CANONICAL; policy <= FPO_NAN_IEEE; policy++)
        if (policy != (int)e->d_cast.nan)
            fpo_edit_add(list, FPO_EDIT_OUTPUT_NAN, 0, 0, policy);
    if (!e->d_cast.drop_negative_zero)
        fpo_edit_add(list, FPO_EDIT_NEGATIVE_ZERO_LOST, 0, 0, 0);
}

static void enumerate_problem(fpo_edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    enumerate_c(list, spec, problem);
    enumerate_bias(list, spec, problem);
    fpo_edit_add(list, has_step(&spec->epilogue, FPO_EPI_RELU) ? FPO_EDIT_RELU_DROPPED : FPO_EDIT_RELU_ADDED, 0, 0, 0);
    enumerate_roundings(list, spec);
}

/* ---- the program ---- */

static void insert_step(fpo_edited *e, int at, fpo_epilogue_op op)
{
    fpo_epilogue_step *steps = e->spec.epilogue.steps;
    if (steps[FPO_EPILOGUE_STEPS - 1].op != FPO_EPI_END) {
        fpo_edited_refuse(e);
        return;
    }
    memmove(steps + at + 1, steps + at, (size_t)(FPO_EPILOGUE_STEPS - 1 - at) * sizeof *steps);
    steps[at] = (fpo_epilogue_step){op, FPO_EPI_NOTHING};
}

static void append_step(fpo_edited *e, fpo_epilogue_op op)
{
    if (!fpo_epilogue_append(&e->spec.epilogue, op, FPO_EPI_NOTHING))
        fpo_edited_refuse(e);
}

/* -1 if there is none. */
static int find_step(const fpo_epilogue *epilogue, fpo_epilogue_op op)
{
    for (int i = 0; i < FPO_EPILOGUE_STEPS && epilogue->steps[i].op != FPO_EPI_END; i++)
        if (epilogue->steps[i].op == op)
            return i;
    return -1;
}

static void remove_step(fpo_edited *e, fpo_epilogue_op op)
{
    fpo_epilogue_step *steps = e->spec.epilogue.steps;
    int at = find_step(&e->spec.epilogue, op);
    if (at < 0) {
        fpo_edited_refuse(e);
        return;
    }
    memmove(steps + at, steps + at + 1, (size_t)(FPO_EPILOGUE_STEPS - 1 - at) * sizeof *steps);
    steps[FPO_EPILOGUE_STEPS - 1] = (fpo_epilogue_step){FPO_EPI_END, FPO_EPI_NOTHING};
}

/* The bias becomes what the accumulator starts with. */
static void add_bias_first(fpo_edited *e)
{
    int fused = find_step(&e->spec.epilogue, FPO_EPI_FMA_BIAS);
    if (fused >= 0)
        e->spec.epilogue.steps[fused].op = FPO_EPI_MUL;
    else
        remove_step(e, FPO_EPI_ADD_BIAS);
    insert_step(e, 0, FPO_EPI_ADD_BIAS);
}

/* ---- C and bias ---- */

static int storage(fpo_format format)
{
    return fpo_format_describe(format)->storage_bytes;
}

static void transpose_c(fpo_edited *e)
{
    int bytes = storage(e->spec.epilogue.c);
    int64_t m = e->problem.m, n = e->problem.n;
    unsigned char *to = fpo_edited_allocate(e, e->problem.c_bytes);
    for (int64_t r = 0; to != NULL && r < m; r++)
        for (int64_t c = 0; c < n; c++)
            memcpy(to + (r * n + c) * bytes, (const unsigned char *)e->problem.c + (c * m + r) * bytes, (size_t)bytes);
    e->problem.c = to;
}

/* `count` numbers of another format over the bytes that there are; zeros beyond. */
static const void *reread(fpo_edited *e, const void *bytes, size_t size, int64_t count, fpo_format format,
                          size_t *new_size)
{
    *new_size = (size_t)count * (size_t)storage(format);
    unsigned char *to = fpo_edited_allocate(e, *new_size);
    if (to != NULL)
        memcpy(to, bytes, size < *new_size ? size : *new_size);
    return to;
}

static void move_bias(fpo_edited *e, int by, int64_t count)
{
    int64_t own = e->spec.epilogue.bias_per_row ? e->problem.m : e->problem.n;
    size_t bytes = (size_t)storage(e->spec.epilogue.bias);
    unsigned char *to = fpo_edited_allocate(e, (size_t)count * bytes);
    for (int64_t i = 0; to != NULL && i < count; i++)
        if (i + by >= 0 && i + by < own)
            memcpy(to + (size_t)i * bytes, (const unsigned char *)e->problem.bias + (size_t)(i + by) * bytes, bytes);
    e->problem.bias = to;
    e->problem.bias_bytes = (size_t)count * bytes;
}

static void apply_to_bias(const fpo_edit *edit, fpo_edited *e)
{
    fpo_epilogue *epilogue = &e->spec.epilogue;
    fpo_gemm_problem *p = &e->problem;
    int64_t count = epilogue->bias_per_row ? p->m : p->n;
    if (epilogue->bias == FPO_FORMAT_NONE || p->bias == NULL) {
        fpo_edited_refuse(e);
        return;
    }
    switch (edit->kind) {
    case FPO_EDIT_BIAS_DROPPED:
        p->bias = NULL;
        epilogue->bias = FPO_FORMAT_NONE;
        break;
    case FPO_EDIT_BIAS_TWICE: {
        int at = find_step(epilogue, FPO_EPI_ADD_BIAS);
        at = at >= 0 ? at : find_step(epilogue, FPO_EPI_FMA_BIAS);
        insert_step(e, at + 1, FPO_EPI_ADD_BIAS);
        break;
    }
    case FPO_EDIT_BIAS_SCALED: add_bias_first(e); break;
    case FPO_EDIT_BIAS_OTHER_AXIS:
        move_bias(e, 0, epilogue->bias_per_row ? p->n : p->m);
        epilogue->bias_per_row = !epilogue->bias_per_row;
        break;
    case FPO_EDIT_BIAS_OFFSET: move_bias(e, edit->to, count); break;
    default:
        p->bias = reread(e, p->bias, p->bias_bytes, count, (fpo_format)edit->to, &p->bias_bytes);
        epilogue->bias = (fpo_format)edit->to;
        break;
    }
}

static void apply_to_problem(const fpo_edit *edit, fpo_edited *e)
{
    fpo_gemm_problem *p = &e->problem;
    fpo_epilogue *epilogue = &e->spec.epilogue;
    bool f16 = edit->to == FPO_F16;
    switch (edit->kind) {
    case FPO_EDIT_BETA_DROPPED: p->beta = 0.0f; break;
    case FPO_EDIT_BETA_TWICE: p->beta *= p->beta; break;
    case FPO_EDIT_BETA_IS_ONE: p->beta = 1.0f; break;
    case FPO_EDIT_C_TRANSPOSED: transpose_c(e); break;
    case FPO_EDIT_C_FORMAT:
        p->c = reread(e, p->c, p->c_bytes, p->m * p->n, (fpo_format)edit->to, &p->c_bytes);
        epilogue->c = (fpo_format)edit->to;
        break;
    case FPO_EDIT_RELU_ADDED: append_step(e, FPO_EPI_RELU); break;
    case FPO_EDIT_RELU_DROPPED: remove_step(e, FPO_EPI_RELU); break;
    case FPO_EDIT_NARROWED_FIRST: insert_step(e, 0, f16 ? FPO_EPI_ROUND_F16 : FPO_EPI_ROUND_BF16); break;
    case FPO_EDIT_ROUNDED_TWICE: append_step(e, f16 ? FPO_EPI_ROUND_F16 : FPO_EPI_ROUND_BF16); break;
    case FPO_EDIT_OUTPUT_ROUNDING: epilogue->d_cast.rounding = (fpo_rounding)edit->to; break;
    case FPO_EDIT_OUTPUT_OVERFLOW:
        epilogue->d_cast.overflow = (fpo_overflow)edit->to;
        epilogue->d_cast.infinity = (fpo_overflow)edit->to;
        break;
    case FPO_EDIT_OUTPUT_NAN: epilogue->d_cast.nan = (fpo_nan_policy)edit->to; break;
    case FPO_EDIT_NEGATIVE_ZERO_LOST: epilogue->d_cast.drop_negative_zero = true; break;
    default: apply_to_bias(edit, e); break;
    }
}

const fpo_edit_group fpo_edits_epilogue = {NULL, enumerate_problem, NULL, apply_to_problem};

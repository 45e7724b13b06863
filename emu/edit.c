/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The catalogue of edits: which ones a spec admits, and what each changes. */
#include <fp4oracle/edit.h>
#include <stdio.h>
#include <string.h>

static const fpo_edit_info catalogue[] = {
#define OPERAND true
#define PROBLEM false
#define FPO_EDIT(ID, name, fault_class, scope, sentence) {name, fault_class, scope, sentence},
#include <fp4oracle/edits.inc>
#undef FPO_EDIT
#undef OPERAND
#undef PROBLEM
};

const fpo_edit_info *fpo_edit_describe(fpo_edit_kind kind)
{
    return (unsigned)kind < FPO_EDIT_COUNT ? &catalogue[kind] : NULL;
}

fpo_edit_kind fpo_edit_by_name(const char *name)
{
    int kind = 0;
    while (kind < FPO_EDIT_COUNT && strcmp(catalogue[kind].name, name) != 0)
        ++kind;
    return (fpo_edit_kind)kind;
}

typedef struct edit_list {
    fpo_edit *edits;
    size_t capacity, count;
} edit_list;

static void add(edit_list *list, fpo_edit_kind kind, int operands, int from, int to)
{
    if (list->count < list->capacity)
        list->edits[list->count] = (fpo_edit){kind, operands, from, to};
    list->count++;
}

/* Block scales that the accumulation uses, one per block of K. */
static bool has_block_scales(const fpo_operand_view *view)
{
    return view->scale.format != FPO_FORMAT_NONE && view->scale.block_k > 0;
}

/* One side of a mix-up is what checkpoints and most kernels have, or what the spec says. */
static bool is_usual(int layout, const fpo_operand_view *view)
{
    return layout == FPO_LAYOUT_LINEAR || layout == FPO_LAYOUT_128X4 || layout == (int)view->scale.layout;
}

static void enumerate_scales(edit_list *list, int operands, const fpo_operand_view *view)
{
    static const fpo_format scale_formats[] = {FPO_UE8M0, FPO_UE4M3, FPO_E4M3, FPO_F32};
    if (view->scale.format == FPO_FORMAT_NONE)
        return;
    add(list, FPO_EDIT_SCALES_IGNORED, operands, 0, 0);
    if (!has_block_scales(view))
        return;
    for (size_t i = 0; i < sizeof scale_formats / sizeof *scale_formats; ++i)
        if (scale_formats[i] != view->scale.format)
            add(list, FPO_EDIT_SCALE_FORMAT, operands, (int)view->scale.format, (int)scale_formats[i]);
    for (int stored = 0; stored < FPO_LAYOUT_COUNT; ++stored)
        for (int read = 0; read < FPO_LAYOUT_COUNT; ++read)
            if (stored != read && (is_usual(stored, view) || is_usual(read, view)))
                add(list, FPO_EDIT_SCALE_LAYOUT, operands, stored, read);
    add(list, FPO_EDIT_SCALE_BLOCK, operands, view->scale.block_k, view->scale.block_k * 2);
    if (view->scale.block_k % 2 == 0)
        add(list, FPO_EDIT_SCALE_BLOCK, operands, view->scale.block_k, view->scale.block_k / 2);
}

static void enumerate_elements(edit_list *list, int operands, const fpo_operand_view *view)
{
    int bits = fpo_format_describe(view->element)->bits;
    if (view->element == FPO_E2M1)
        add(list, FPO_EDIT_NIBBLE_ORDER, operands, 0, 0);
    for (int other = 1; other < FPO_FORMAT_COUNT; ++other) {
        const fpo_format_info *info = fpo_format_describe((fpo_format)other);
        if (other != (int)view->element && info->bits == bits && info->sign_bits == 1)
            add(list, FPO_EDIT_ELEMENT_FORMAT, operands, (int)view->element, other);
    }
}

static void enumerate_tensor_scale(edit_list *list, int operands)
{
    add(list, FPO_EDIT_TENSOR_SCALE_INVERTED, operands, 0, 0);
    add(list, FPO_EDIT_TENSOR_SCALE_DROPPED, operands, 0, 0);
    add(list, FPO_EDIT_TENSOR_SCALE_TWICE, operands, 0, 0);
}

static void enumerate_problem(edit_list *list, const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    if (problem->alpha != 1.0f) {
        add(list, FPO_EDIT_ALPHA_INVERTED, 0, 0, 0);
        add(list, FPO_EDIT_ALPHA_DROPPED, 0, 0, 0);
        add(list, FPO_EDIT_ALPHA_TWICE, 0, 0, 0);
    }
    if (spec->a.read.scale.format != FPO_FORMAT_NONE && spec->a.read.scale.format == spec->b.read.scale.format)
        add(list, FPO_EDIT_SCALES_SWAPPED, 0, 0, 0);
    if (problem->beta != 0.0f && problem->c != NULL)
        add(list, FPO_EDIT_BETA_DROPPED, 0, 0, 0);
    if (problem->bias != NULL)
        add(list, FPO_EDIT_BIAS_DROPPED, 0, 0, 0);
    add(list, FPO_EDIT_NARROWED_FIRST, 0, FPO_F16, 0);
    add(list, FPO_EDIT_NARROWED_FIRST, 0, FPO_BF16, 0);
    if (spec->epilogue.d != FPO_F32) {
        add(list, FPO_EDIT_OUTPUT_TRUNCATED, 0, 0, 0);
        add(list, FPO_EDIT_OUTPUT_OVERFLOW, 0, (int)spec->epilogue.d_cast.overflow,
            spec->epilogue.d_cast.overflow == FPO_SATURATE ? FPO_NON_FINITE : FPO_SATURATE);
    }
}

static int model_index(const fpo_accumulation *accumulation)
{
    for (size_t i = 0; fpo_model_at(i) != NULL; ++i)
        if (memcmp(&fpo_model_at(i)->accumulation, accumulation, sizeof *accumulation) == 0)
            return (int)i;
    return -1;
}

static void enumerate_models(edit_list *list, const fpo_gemm_spec *spec)
{
    int own = model_index(&spec->accumulation);
    for (size_t i = 0; fpo_model_at(i) != NULL; ++i)
        if ((int)i != own && fpo_model_takes(fpo_model_at(i), &spec->a.read, &spec->b.read))
            add(list, FPO_EDIT_ACCUMULATION, 0, own, (int)i);
}

size_t fpo_edit_enumerate(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, fpo_edit *edits, size_t capacity)
{
    edit_list list = {edits, capacity, 0};
    enumerate_models(&list, spec);
    enumerate_problem(&list, spec, problem);
    for (int operands = FPO_OPERAND_A; operands <= (FPO_OPERAND_A | FPO_OPERAND_B); ++operands) {
        bool both = operands == (FPO_OPERAND_A | FPO_OPERAND_B);
        const fpo_operand_view *view = operands == FPO_OPERAND_B ? &spec->b.read : &spec->a.read;
        bool same_elements = spec->a.read.element == spec->b.read.element;
        bool same_scales = spec->a.read.scale.format == spec->b.read.scale.format &&
                           spec->a.read.scale.block_k == spec->b.read.scale.block_k;
        bool scaled_a = problem->a.tensor_scale != 1.0f;
        bool scaled_b = problem->b.tensor_scale != 1.0f;
        if (!both || same_scales)
            enumerate_scales(&list, operands, view);
        if (!both || same_elements)
            enumerate_elements(&list, operands, view);
        if (both ? scaled_a && scaled_b : operands == FPO_OPERAND_A ? scaled_a : scaled_b)
            enumerate_tensor_scale(&list, operands);
    }
    return list.count;
}

static void apply_to_operand(const fpo_edit *edit, fpo_operand_spec *operand)
{
    switch (edit->kind) {
    case FPO_EDIT_TENSOR_SCALE_INVERTED: operand->tensor_scale = FPO_TENSOR_SCALE_DIVIDE; break;
    case FPO_EDIT_TENSOR_SCALE_DROPPED: operand->tensor_scale = FPO_TENSOR_SCALE_IGNORE; break;
    case FPO_EDIT_TENSOR_SCALE_TWICE: operand->tensor_scale = FPO_TENSOR_SCALE_TWICE; break;
    case FPO_EDIT_SCALE_LAYOUT:
        operand->stored.scale.layout = (fpo_layout)edit->from;
        operand->read.scale.layout = (fpo_layout)edit->to;
        break;
    case FPO_EDIT_SCALE_FORMAT: operand->read.scale.format = (fpo_format)edit->to; break;
    case FPO_EDIT_SCALE_BLOCK: operand->read.scale.block_k = edit->to; break;
    case FPO_EDIT_SCALES_IGNORED: operand->read.scale.format = FPO_FORMAT_NONE; break;
    case FPO_EDIT_NIBBLE_ORDER:
        operand->read.packing =
            operand->read.packing == FPO_PACKING_CANONICAL ? FPO_PACKING_NIBBLES_SWAPPED : FPO_PACKING_CANONICAL;
        break;
    case FPO_EDIT_ELEMENT_FORMAT: operand->read.element = (fpo_format)edit->to; break;
    default: break;
    }
}

/* y is rounded to a narrow format before anything else happens to it. */
static void narrow_first(fpo_epilogue *epilogue, fpo_epilogue_op op)
{
    memmove(epilogue->steps + 1, epilogue->steps, sizeof epilogue->steps - sizeof epilogue->steps[0]);
    epilogue->steps[0] = (fpo_epilogue_step){op, FPO_EPI_NOTHING};
}

static void apply_to_problem(const fpo_edit *edit, fpo_gemm_spec *spec, fpo_gemm_problem *problem)
{
    switch (edit->kind) {
    case FPO_EDIT_ALPHA_INVERTED: problem->alpha = 1.0f / problem->alpha; break;
    case FPO_EDIT_ALPHA_DROPPED: problem->alpha = 1.0f; break;
    case FPO_EDIT_ALPHA_TWICE: problem->alpha *= problem->alpha; break;
    case FPO_EDIT_SCALES_SWAPPED: {
        const void *scales = problem->a.scales;
        size_t bytes = problem->a.scales_bytes;
        problem->a.scales = problem->b.scales;
        problem->a.scales_bytes = problem->b.scales_bytes;
        problem->b.scales = scales;
        problem->b.scales_bytes = bytes;
        break;
    }
    case FPO_EDIT_BETA_DROPPED: problem->beta = 0.0f; break;
    case FPO_EDIT_BIAS_DROPPED:
        problem->bias = NULL;
        spec->epilogue.bias = FPO_FORMAT_NONE;
        break;
    case FPO_EDIT_NARROWED_FIRST:
        narrow_first(&spec->epilogue, edit->from == FPO_F16 ? FPO_EPI_ROUND_F16 : FPO_EPI_ROUND_BF16);
        break;
    case FPO_EDIT_OUTPUT_TRUNCATED: spec->epilogue.d_cast.rounding = FPO_TOWARD_ZERO; break;
    case FPO_EDIT_OUTPUT_OVERFLOW:
        spec->epilogue.d_cast.overflow = (fpo_overflow)edit->to;
        spec->epilogue.d_cast.infinity = (fpo_overflow)edit->to;
        break;
    case FPO_EDIT_ACCUMULATION: spec->accumulation = fpo_model_at((size_t)edit->to)->accumulation; break;
    default: break;
    }
}

void fpo_edit_apply(const fpo_edit *edit, fpo_gemm_spec *spec, fpo_gemm_problem *problem)
{
    if (edit->operands & FPO_OPERAND_A)
        apply_to_operand(edit, &spec->a);
    if (edit->operands & FPO_OPERAND_B)
        apply_to_operand(edit, &spec->b);
    if (edit->operands == 0)
        apply_to_problem(edit, spec, problem);
}

static const char *operand_names(int operands)
{
    static const char *const names[] = {"", "A", "B", "A and B"};
    return names[operands & 3];
}

/* The name of a parameter of this edit; numbers are written into `number`. */
static const char *parameter_name(fpo_edit_kind kind, int value, char *number, size_t size)
{
    switch (kind) {
    case FPO_EDIT_SCALE_LAYOUT: return fpo_layout_name((fpo_layout)value);
    case FPO_EDIT_SCALE_FORMAT:
    case FPO_EDIT_ELEMENT_FORMAT:
    case FPO_EDIT_NARROWED_FIRST: return fpo_format_describe((fpo_format)value)->name;
    case FPO_EDIT_OUTPUT_OVERFLOW: return value == FPO_SATURATE ? "the largest number" : "infinity or NaN";
    case FPO_EDIT_ACCUMULATION: return value < 0 ? "the spec's own" : fpo_model_at((size_t)value)->name;
    default: snprintf(number, size, "%d", value); return number;
    }
}

static bool has_parameters(fpo_edit_kind kind)
{
    return strstr(catalogue[kind].sentence, "%1") != NULL;
}

void fpo_edit_sentence(const fpo_edit *edit, char *text, size_t size)
{
    char numbers[2][16];
    size_t used = 0;
    for (const char *p = catalogue[edit->kind].sentence; *p != '\0' && used + 1 < size; ++p) {
        const char *piece = NULL;
        if (p[0] == '%' && p[1] == 's')
            piece = operand_names(edit->operands);
        else if (p[0] == '%' && p[1] == '1')
            piece = parameter_name(edit->kind, edit->from, numbers[0], sizeof numbers[0]);
        else if (p[0] == '%' && p[1] == '2')
            piece = parameter_name(edit->kind, edit->to, numbers[1], sizeof numbers[1]);
        if (piece == NULL) {
            text[used++] = *p;
            continue;
        }
        ++p;
        for (; *piece != '\0' && used + 1 < size; ++piece)
            text[used++] = *piece;
    }
    if (size > 0)
        text[used] = '\0';
}

void fpo_edit_parameters(const fpo_edit *edit, char *text, size_t size)
{
    char numbers[2][16];
    const char *separator = edit->operands != 0 && has_parameters(edit->kind) ? "," : "";
    if (size > 0)
        text[0] = '\0';
    int used = edit->operands != 0 ? snprintf(text, size, "operand=%s%s", operand_names(edit->operands), separator) : 0;
    if (has_parameters(edit->kind) && used >= 0 && (size_t)used < size) {
        const char *from = parameter_name(edit->kind, edit->from, numbers[0], sizeof numbers[0]);
        const char *to = parameter_name(edit->kind, edit->to, numbers[1], sizeof numbers[1]);
        if (strstr(catalogue[edit->kind].sentence, "%2") != NULL)
            snprintf(text + used, size - (size_t)used, "from=%s,to=%s", from, to);
        else
            snprintf(text + used, size - (size_t)used, "to=%s", from);
    }
}

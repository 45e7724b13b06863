/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The catalogue of edits: which ones a spec admits, and applying them. */
#include "edit_parts.h"

#include <stdlib.h>
#include <string.h>

static const fpo_edit_info catalogue[] = {
#define OPERAND true
#define PROBLEM false
#define DEFECT false
#define LEGITIMATE true
#define FPO_EDIT(ID, name, fault_class, scope, standing, group, from, to, sentence, look)                              \
    {name, fault_class, scope, standing, sentence, look},
#include <fp4oracle/edits.inc>
#undef FPO_EDIT
#undef OPERAND
#undef PROBLEM
#undef DEFECT
#undef LEGITIMATE
};

static const fpo_edit_group *const group_of[] = {
#define FPO_EDIT(ID, name, fault_class, scope, standing, group, from, to, sentence, look) &fpo_edits_##group,
#include <fp4oracle/edits.inc>
#undef FPO_EDIT
};

/* In the order in which a search tries them: what is no defect first, then the usual suspects. */
static const fpo_edit_group *const groups[] = {
    &fpo_edits_accumulation, &fpo_edits_scalar,        &fpo_edits_scale_code,   &fpo_edits_scale_place,
    &fpo_edits_element_code, &fpo_edits_element_place, &fpo_edits_quantize,     &fpo_edits_loop,
    &fpo_edits_epilogue,     &fpo_edits_output,        &fpo_edits_output_scale,
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

bool fpo_edit_equal(const fpo_edit *x, const fpo_edit *y)
{
    return x->kind == y->kind && x->operands == y->operands && x->from == y->from && x->to == y->to &&
           memcmp(&x->value, &y->value, sizeof x->value) == 0;
}

/* ---- which ones there are ---- */

static void add(fpo_edit_list *list, fpo_edit edit)
{
    if (list->count < list->capacity)
        list->edits[list->count] = edit;
    list->count++;
}

void fpo_edit_add(fpo_edit_list *list, fpo_edit_kind kind, int operands, int from, int to)
{
    add(list, (fpo_edit){.kind = kind, .operands = operands, .from = from, .to = to});
}

void fpo_edit_add_value(fpo_edit_list *list, fpo_edit_kind kind, int from, float value)
{
    add(list, (fpo_edit){.kind = kind, .from = from, .value = value});
}

static fpo_edit_side side_of(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, int operands)
{
    const fpo_operand_view *a = &spec->a.read, *b = &spec->b.read;
    bool is_b = operands == FPO_OPERAND_B, both = operands == (FPO_OPERAND_A | FPO_OPERAND_B);
    bool scaled_a = problem->a.tensor_scale != 1.0f, scaled_b = problem->b.tensor_scale != 1.0f;
    return (fpo_edit_side){
        .operands = operands,
        .view = is_b ? b : a,
        .operand = is_b ? &problem->b : &problem->a,
        .rows = is_b ? problem->n : problem->m,
        .k = problem->k,
        .same_scales = !both || (a->scale.format == b->scale.format && a->scale.block_k == b->scale.block_k),
        .same_elements = !both || a->element == b->element,
        .tensor_scaled = both   ? scaled_a && scaled_b
                         : is_b ? scaled_b
                                : scaled_a,
    };
}

size_t fpo_edit_enumerate(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, fpo_edit *edits, size_t capacity)
{
    fpo_edit_list list = {edits, capacity, 0};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        if (groups[g]->enumerate_problem != NULL)
            groups[g]->enumerate_problem(&list, spec, problem);
        for (int operands = FPO_OPERAND_A; operands <= (FPO_OPERAND_A | FPO_OPERAND_B); operands++) {
            fpo_edit_side side = side_of(spec, problem, operands);
            if (groups[g]->enumerate_operand != NULL)
                groups[g]->enumerate_operand(&list, &side);
        }
    }
    return list.count;
}

/* ---- applying them ---- */

typedef struct fpo_edited_memory {
    struct fpo_edited_memory *next;
    _Alignas(16) unsigned char bytes[];
} fpo_edited_memory;

void *fpo_edited_allocate(fpo_edited *edited, size_t bytes)
{
    void *zeros = fpo_edited_allocate_rows(edited, bytes);
    if (zeros != NULL)
        memset(zeros, 0, bytes);
    return zeros;
}

void *fpo_edited_allocate_rows(fpo_edited *edited, size_t bytes)
{
    fpo_edited_memory *block = bytes < SIZE_MAX / 2 ? malloc(sizeof *block + bytes + 1) : NULL;
    if (block == NULL) {
        edited->status = FPO_ERR_MEMORY;
        return NULL;
    }
    block->next = edited->memory;
    edited->memory = block;
    return block->bytes;
}

void fpo_edited_refuse(fpo_edited *edited)
{
    if (edited->status == FPO_OK)
        edited->status = FPO_ERR_UNSUPPORTED;
}

fpo_edit_target fpo_edit_target_of(fpo_edited *e, int operand)
{
    bool is_a = operand == FPO_OPERAND_A;
    return (fpo_edit_target){.edited = e,
                             .spec = is_a ? &e->spec.a : &e->spec.b,
                             .operand = is_a ? &e->problem.a : &e->problem.b,
                             .other = is_a ? &e->problem.b : &e->problem.a,
                             .rows = is_a ? e->problem.m : e->problem.n,
                             .k = e->problem.k,
                             .wanted = is_a ? e->wanted_a : e->wanted_b,
                             .is_a = is_a};
}

static void apply(const fpo_edit *edit, fpo_edited *edited)
{
    const fpo_edit_group *group = group_of[edit->kind];
    if (!catalogue[edit->kind].per_operand) {
        group->apply_to_problem(edit, edited);
        return;
    }
    for (int operand = FPO_OPERAND_A; operand <= FPO_OPERAND_B && edited->status == FPO_OK; operand++) {
        fpo_edit_target target = fpo_edit_target_of(edited, operand);
        if (edit->operands & operand)
            group->apply_to_operand(edit, &target);
    }
}

/* Whether a later edit looks at elements or scales of the operand, perhaps in other rows than the ones wanted. */
static bool is_read_again(int operand, const fpo_edit *later, size_t count)
{
    bool again = false;
    for (size_t i = 0; i < count && (unsigned)later[i].kind < FPO_EDIT_COUNT; i++) {
        const fpo_edit_group *group = group_of[later[i].kind];
        bool scalars = group == &fpo_edits_accumulation || group == &fpo_edits_scalar || group == &fpo_edits_epilogue;
        bool elsewhere = catalogue[later[i].kind].per_operand && (later[i].operands & operand) == 0;
        again = again || !(scalars || elsewhere);
    }
    return again;
}

fpo_status fpo_edits_apply(fpo_edited *edited, const fpo_edit *edits, size_t count, const bool *wanted_a,
                           const bool *wanted_b, fpo_error *error)
{
    for (size_t i = 0; i < count && edited->status == FPO_OK; i++) {
        const fpo_edit *later = edits + i + 1;
        edited->wanted_a = is_read_again(FPO_OPERAND_A, later, count - i - 1) ? NULL : wanted_a;
        edited->wanted_b = is_read_again(FPO_OPERAND_B, later, count - i - 1) ? NULL : wanted_b;
        if ((unsigned)edits[i].kind < FPO_EDIT_COUNT)
            apply(&edits[i], edited);
        else
            fpo_edited_refuse(edited);
    }
    if (edited->status == FPO_OK)
        fpo_scales_fit_instruction(edited);
    if (edited->status == FPO_OK)
        return FPO_OK;
    fpo_status status = edited->status;
    fpo_edited_close(edited);
    return fpo_fail(error, status,
                    status == FPO_ERR_MEMORY ? "no memory for the operands of an edit"
                                             : "the edit makes no sense for this problem");
}

fpo_status fpo_edited_open(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_edit *edits,
                           size_t count, fpo_edited *edited, fpo_error *error)
{
    *edited = (fpo_edited){.spec = *spec, .problem = *problem};
    return fpo_edits_apply(edited, edits, count, NULL, NULL, error);
}

void fpo_edited_close(fpo_edited *edited)
{
    while (edited->memory != NULL) {
        fpo_edited_memory *next = edited->memory->next;
        free(edited->memory);
        edited->memory = next;
    }
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What runs and what need not, before a program runs over a tensor: the same for all rows. */
#include "quantizer.h"

/* Marks what `r` depends on. The library's tensor scale has no cause where the caller gives it. */
static void mark(fpo_quantizer *q, int r)
{
    if (r == FPO_NO_REGISTER || q->used[r])
        return;
    q->used[r] = true;
    if (r == q->program->tensor_scale && q->result->given_library_scale)
        return;
    for (int i = 0; i < q->program->step_count; i++) {
        const fpo_recipe_step *step = &q->program->steps[i];
        if (step->to != r)
            continue;
        q->live[i] = true;
        for (int a = 0; a < 3; a++)
            mark(q, step->argument[a]);
    }
}

/* Whether what a step makes can be stored without being a value: a rounding to the element's format, for what stores
 * the codes rounds to nearest; or a step that has codes to begin with, of an element and what is less. */
static bool stores_codes(const fpo_quantizer *q, const fpo_recipe_step *step)
{
    const fpo_register *registers = q->program->registers;
    bool rounds = step->function == FPO_FN_ENCODE && step->format == q->view->element &&
                  step->cast.rounding != FPO_STOCHASTIC && step->cast.rounding != FPO_TOWARD_ZERO;
    bool has_codes = fpo_has_codes(step) && q->view->element == FPO_E2M1;
    bool pair = step->argument[1] != FPO_NO_REGISTER && fpo_per_element(registers[step->argument[1]].scope);
    return fpo_per_element(registers[step->argument[0]].scope) && !pair && (rounds || has_codes);
}

/* Whether anything that runs wants a register's value. */
static bool reads(const fpo_quantizer *q, int r)
{
    for (int i = 0; i < q->program->step_count; i++)
        for (int a = 0; a < 3 && q->live[i]; a++)
            if (q->program->steps[i].argument[a] == r)
                return true;
    return q->program->error == r;
}

/* The step that makes the code, where it is left to what stores it: nothing else wants its value. */
static void find_last(fpo_quantizer *q)
{
    const fpo_program *program = q->program;
    const fpo_cast *cast = fpo_code_cast(q->view->element);
    q->source[0] = program->code;
    q->source[1] = FPO_NO_REGISTER;
    for (int i = 0; i < program->step_count && q->last == NULL; i++) {
        const fpo_recipe_step *step = &program->steps[i];
        if (step->to != program->code || reads(q, program->code) || !stores_codes(q, step))
            continue;
        q->last = step;
        q->live[i] = false;
        q->source[0] = step->argument[0];
        q->source[1] = step->argument[1];
        cast = step->function == FPO_FN_ENCODE ? &step->cast : cast;
    }
    q->codes = fpo_coder_of(q->view->element, cast);
    if (q->view->scale.format != FPO_FORMAT_NONE)
        q->scales = fpo_coder_of(q->view->scale.format, fpo_scale_cast());
}

/* Of a step of elements, whose second argument is less: whether that is taken block by block, and is not spread. */
static bool by_blocks(const fpo_quantizer *q, const fpo_recipe_step *step)
{
    int a = step->argument[0], b = step->argument[1];
    if (b == FPO_NO_REGISTER || step->argument[2] != FPO_NO_REGISTER)
        return false;
    int scope = q->program->registers[b].scope;
    if (!fpo_per_element(q->program->registers[a].scope) || fpo_per_element(scope))
        return false;
    return scope <= FPO_SCOPE_ROW ? fpo_has_constant(step) : q->region_k > 1 && fpo_has_blocks(step);
}

static void reach(fpo_quantizer *q, int r, int64_t count)
{
    if (r != FPO_NO_REGISTER && q->reach[r] < count)
        q->reach[r] = (int)(count < FPO_CHUNK ? count : FPO_CHUNK);
}

static void find_reach(fpo_quantizer *q)
{
    const fpo_program *program = q->program;
    for (int r = 0; r < program->register_count; r++)
        reach(q, r, 1);
    for (int i = 0; i < q->plan.begin[FPO_SCOPE_COUNT]; i++) {
        const fpo_recipe_step *step = q->plan.steps[i].step;
        bool elements = fpo_per_element(step->scope);
        int64_t count = elements ? q->k : step->scope <= FPO_SCOPE_ROW ? 1 : q->regions;
        for (int a = 0; a < 3; a++)
            reach(q, step->argument[a], q->plan.steps[i].by_blocks && a == 1 ? 1 : count);
    }
    reach(q, q->source[0], q->k);
    reach(q, q->source[1], q->k);
    reach(q, program->error, q->k);
    reach(q, program->scale, q->scale_columns);
}

static bool is_input(const fpo_quantizer *q, int r)
{
    return r != FPO_NO_REGISTER && r != q->program->x && q->program->registers[r].scope == FPO_SCOPE_INPUT;
}

/* Whether what follows `input:` reads nothing of it but x. */
static bool x_alone(const fpo_quantizer *q)
{
    bool others = is_input(q, q->source[0]) || is_input(q, q->source[1]);
    for (int i = q->plan.begin[FPO_SCOPE_INPUT + 1]; i < q->plan.begin[FPO_SCOPE_COUNT]; i++)
        for (int a = 0; a < 3; a++)
            others = others || is_input(q, q->plan.steps[i].step->argument[a]);
    return !others;
}

/* `input:` need not run again for the elements of blocks whose amax was taken just before, nor the chosen one of
 * several candidates whose errors were. */
static void plan_kept(fpo_quantizer *q)
{
    const fpo_program *program = q->program;
    bool amax = fpo_uses(q, program->amax) && q->region_rows == 1;
    q->keeps_input =
        program->raw_x != FPO_NO_REGISTER && program->try_count == 0 && amax && q->region_k <= 128 && x_alone(q);
    if (program->try_count > 0)
        q->kept = FPO_CHUNK;
    else if (q->keeps_input)
        q->kept = q->region_k < FPO_CHUNK / FPO_REGIONS ? FPO_CHUNK : FPO_REGIONS * q->region_k;
}

/* The last step of the plan that reads each register; the plan's end: what comes after it does. A register that may
 * stand for the result of a choice is read as long as that. */
static void find_last_reads(const fpo_quantizer *q, int *last)
{
    const fpo_plan *plan = &q->plan;
    int end = plan->begin[FPO_SCOPE_COUNT];
    for (int r = 0; r < FPO_REGISTERS; r++)
        last[r] = -1;
    const int after[] = {q->source[0], q->source[1], q->program->error};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        if (after[i] != FPO_NO_REGISTER)
            last[after[i]] = end;
    for (int i = end - 1; i >= 0; i--) {
        const fpo_recipe_step *step = plan->steps[i].step;
        int until = step->function == FPO_FN_SELECT && last[step->to] > i ? last[step->to] : i;
        for (int a = 0; a < 3; a++)
            if (step->argument[a] != FPO_NO_REGISTER && last[step->argument[a]] < until)
                last[step->argument[a]] = until;
    }
}

/* Memory of registers: each has its own, but those of an element, of which there are many values, take what nothing
 * reads any more: few stay in the cache where many would not. */
static void plan_slots(fpo_quantizer *q)
{
    fpo_plan *plan = &q->plan;
    int last[FPO_REGISTERS], free_slots[FPO_REGISTERS], count = 0;
    bool shares[FPO_REGISTERS] = {false};
    find_last_reads(q, last);
    int begin = plan->begin[FPO_SCOPE_ELEMENT], end = plan->begin[FPO_SCOPE_COUNT];
    for (int i = begin; i < end; i++)
        shares[plan->steps[i].step->to] = true;
    for (int r = 0; r < q->program->register_count; r++)
        if (!shares[r])
            plan->slot[r] = (int16_t)plan->slots++;
    for (int i = begin; i < end; i++) {
        /* A step's result is none of its arguments: these are free after it. */
        plan->slot[plan->steps[i].step->to] = (int16_t)(count > 0 ? free_slots[--count] : plan->slots++);
        for (int r = 0; r < q->program->register_count; r++)
            if (shares[r] && last[r] == i)
                free_slots[count++] = plan->slot[r];
    }
}

static void plan_steps(fpo_quantizer *q)
{
    const fpo_program *program = q->program;
    const int outputs[] = {program->code,       program->scale,     program->error,         program->tensor_scale,
                           program->multiplier, program->row_scale, program->row_multiplier};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        mark(q, outputs[i]);
    if (fpo_uses(q, program->tensor_amax) || fpo_uses(q, program->row_amax) || fpo_uses(q, program->amax))
        mark(q, program->x);
    find_last(q);
    int count = 0;
    for (int scope = 0; scope < FPO_SCOPE_COUNT; scope++) {
        q->plan.begin[scope] = count;
        for (int i = 0; i < program->step_count; i++) {
            const fpo_recipe_step *step = &program->steps[i];
            if (q->live[i] && step->scope == scope)
                q->plan.steps[count++] = (struct fpo_planned){step, fpo_per_element(scope) && by_blocks(q, step)};
        }
    }
    q->plan.begin[FPO_SCOPE_COUNT] = count;
    plan_slots(q);
    find_reach(q);
    plan_kept(q);
}

void fpo_plan_program(fpo_quantizer *q, const fpo_program *program, const fpo_operand_view *view, const float *x,
                      int64_t rows, int64_t k, fpo_quantized *result)
{
    const fpo_scale_view *scale = &view->scale;
    q->program = program;
    q->view = view;
    q->x = x;
    q->rows = rows;
    q->k = k;
    q->block_rows = scale->block_rows > 0 ? scale->block_rows : rows;
    q->block_k = scale->block_k > 0 ? scale->block_k : k;
    q->region_rows = program->amax_rows > 0 ? program->amax_rows : q->block_rows;
    q->region_k = program->amax_k > 0 ? program->amax_k : q->block_k;
    q->regions = (k + q->region_k - 1) / q->region_k;
    q->amax_scope = FPO_SCOPE_BLOCK;
    q->scale_columns = fpo_scale_columns(scale, k);
    q->code_row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, view->element, k);
    q->result = result;
    plan_steps(q);
}

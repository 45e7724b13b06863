/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The scopes of a recipe in their order, over one block, one value at a time. */
#include <fp4oracle/recipe_trace.h>

#include "quantizer.h"
#include "recipe_expression.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEP_TEXT = 160 };

/* Every register holds one value an element of the block; values that do not change are the same in all. */
typedef struct machine {
    const fpo_program *program;
    const float *x; /* the row */
    int64_t k;
    int64_t count; /* elements of the block */
    double *values;
    const float *library_scale; /* given, or NULL */
    fpo_trace_watcher *watch;
    void *context;
} machine;

static double *values_of(const machine *m, int r)
{
    return m->values + (int64_t)r * m->count;
}

static void set_all(const machine *m, int r, double value)
{
    for (int64_t i = 0; r != FPO_NO_REGISTER && i < m->count; i++)
        values_of(m, r)[i] = value;
}

/* 16 elements times the Hadamard matrix over 4 with TransformerEngine's signs, as the vocabulary of recipes has it. */
static void hadamard(const double *x, double *to, int64_t count)
{
    static const char signs[] = "+++-+------+-+--";
    static const float quarter = 0.25f;
    for (int64_t base = 0; base < count; base += 16) {
        for (int j = 0; j < 16 && base + j < count; j++) {
            float sum = 0;
            for (int i = 0; i < 16; i++) {
                float term = quarter * (base + i < count ? (float)x[base + i] : 0); /* zeros follow */
                sum += (__builtin_popcount((unsigned)(i & j)) % 2 != 0) != (signs[i] == '-') ? -term : term;
            }
            to[base + j] = (double)sum;
        }
    }
}

/* What fpo_quantize takes for element i of the row with seed 0. */
static uint32_t random_bits(const machine *m, int64_t i)
{
    return fpo_draw_bits(&(fpo_draws){.rule = m->program->draw_rule, .rows = 1, .k = m->k}, 0, i);
}

static void run_step(const machine *m, const fpo_recipe_step *step)
{
    double *to = values_of(m, step->to);
    if (step->function == FPO_FN_HADAMARD) {
        hadamard(values_of(m, step->argument[0]), to, m->count);
        return;
    }
    if (step->function == FPO_FN_ENCODE && step->cast.rounding == FPO_STOCHASTIC) {
        for (int64_t i = 0; i < m->count; i++) {
            fpo_value x = fpo_value_from_float((float)values_of(m, step->argument[0])[i]);
            to[i] = fpo_decode_double(step->format, fpo_encode(step->format, x, &step->cast, random_bits(m, i)));
        }
        return;
    }
    for (int64_t i = 0; i < m->count; i++) {
        double arguments[3] = {0, 0, 0};
        for (int a = 0; a < 3 && step->argument[a] != FPO_NO_REGISTER; a++)
            arguments[a] = values_of(m, step->argument[a])[i];
        to[i] = fpo_recipe_apply(step, arguments[0], arguments[1], arguments[2]);
    }
}

static bool is_per_element(int scope)
{
    return scope == FPO_SCOPE_INPUT || scope >= FPO_SCOPE_ELEMENT;
}

static fpo_trace_scope event_scope(int scope)
{
    switch (scope) {
    case FPO_SCOPE_TENSOR: return FPO_TRACE_TENSOR;
    case FPO_SCOPE_ROW: return FPO_TRACE_ROW;
    case FPO_SCOPE_INPUT: return FPO_TRACE_INPUT;
    case FPO_SCOPE_BLOCK:
    case FPO_SCOPE_TRY: return FPO_TRACE_BLOCK;
    default: return FPO_TRACE_ELEMENT;
    }
}

/* What is computed, and what comes out; for steps of elements, of each. */
static void report(const machine *m, const char *text, int r, int scope)
{
    fpo_trace_event event = {.scope = event_scope(scope), .text = text, .values = values_of(m, r)};
    event.count = is_per_element(scope) ? m->count : 1;
    m->watch(m->context, &event);
}

static void report_input(const machine *m, int r, int scope)
{
    if (r == FPO_NO_REGISTER)
        return;
    char text[STEP_TEXT];
    const fpo_register *value = &m->program->registers[r];
    snprintf(text, sizeof text, "%.*s", (int)value->name_length, value->name);
    report(m, text, r, scope);
}

static void run_scope(const machine *m, int scope, bool reported)
{
    for (int i = 0; i < m->program->step_count; i++) {
        const fpo_recipe_step *step = &m->program->steps[i];
        if (step->scope != scope)
            continue;
        run_step(m, step);
        bool given = m->library_scale != NULL && step->to == m->program->tensor_scale;
        if (given)
            set_all(m, step->to, (double)*m->library_scale);
        char text[STEP_TEXT];
        fpo_step_text(m->program, step, text, sizeof text);
        if (given)
            snprintf(text, sizeof text, "tensor_scale, given");
        if (reported)
            report(m, text, step->to, scope);
    }
}

static void set_elements(const machine *m, int r, int64_t first)
{
    for (int64_t i = 0; r != FPO_NO_REGISTER && i < m->count; i++)
        values_of(m, r)[i] = first + i < m->k ? (double)m->x[first + i] : 0;
}

/* The elements of [first, first + count) of the row, after the recipe's own transformation of its input, which may
 * leave x as it is. */
static void load_elements(const machine *m, int64_t first)
{
    set_elements(m, m->program->x, first);
    set_elements(m, m->program->raw_x, first);
    run_scope(m, FPO_SCOPE_INPUT, false);
}

/* amax of the row, or of the tensor, which is a row here: with an input part, of what that makes of it, block by
 * block. */
static float row_amax(const machine *m, fpo_scope scope)
{
    fpo_amax_rule rule = m->program->amax_rule[scope];
    if (m->program->raw_x == FPO_NO_REGISTER)
        return fpo_amax_of(rule, m->x, m->k);
    float amax = 0;
    float *part = malloc((size_t)m->count * sizeof *part);
    for (int64_t first = 0; part != NULL && first < m->k; first += m->count) {
        load_elements(m, first);
        int64_t count = m->k - first < m->count ? m->k - first : m->count;
        for (int64_t i = 0; i < count; i++)
            part[i] = (float)values_of(m, m->program->x)[i];
        float next = fpo_amax_of(rule, part, count);
        amax = first == 0 ? next : fpo_amax_join(rule, amax, next);
    }
    free(part);
    return amax;
}

static float block_amax(const machine *m)
{
    float *part = malloc((size_t)m->count * sizeof *part);
    if (part == NULL)
        return 0;
    for (int64_t i = 0; i < m->count; i++)
        part[i] = m->program->x != FPO_NO_REGISTER ? (float)values_of(m, m->program->x)[i] : m->x[i];
    float amax = fpo_amax_of(m->program->amax_rule[FPO_SCOPE_BLOCK], part, m->count);
    free(part);
    return amax;
}

static float error_sum(const machine *m)
{
    const double *errors = values_of(m, m->program->error);
    float *part = malloc((size_t)m->count * sizeof *part);
    if (part == NULL)
        return 0;
    for (int64_t i = 0; i < m->count; i++)
        part[i] = (float)errors[i];
    float sum = fpo_error_sum(m->program, part, (int)m->count);
    free(part);
    return sum;
}

/* A search: every candidate's error; the first smallest wins and is left in the register. */
static void search(const machine *m)
{
    const fpo_program *program = m->program;
    double candidates[FPO_TRIES][2];
    int best = 0;
    for (int i = 0; i < program->try_count; i++) {
        set_all(m, program->attempt, (double)program->tries[i]);
        run_scope(m, FPO_SCOPE_TRY, false);
        run_scope(m, FPO_SCOPE_ELEMENT, false);
        run_scope(m, FPO_SCOPE_ERROR, false);
        candidates[i][0] = (double)program->tries[i];
        candidates[i][1] = (double)error_sum(m);
        if (candidates[i][1] < candidates[best][1])
            best = i;
    }
    set_all(m, program->attempt, (double)program->tries[best]);
    for (int i = 0; i < program->try_count; i++) {
        fpo_trace_event event = {FPO_TRACE_CANDIDATE, "try, error", candidates[i], 2, i == best};
        m->watch(m->context, &event);
    }
}

static void run_program(const machine *m)
{
    const fpo_program *program = m->program;
    for (int r = 0; r < program->register_count; r++) {
        if (program->registers[r].constant)
            set_all(m, r, program->registers[r].number);
    }
    set_all(m, program->tensor_amax, (double)row_amax(m, FPO_SCOPE_TENSOR));
    report_input(m, program->tensor_amax, FPO_SCOPE_TENSOR);
    run_scope(m, FPO_SCOPE_TENSOR, true);
    set_all(m, program->row_amax, (double)row_amax(m, FPO_SCOPE_ROW));
    report_input(m, program->row_amax, FPO_SCOPE_ROW);
    run_scope(m, FPO_SCOPE_ROW, true);
    load_elements(m, 0);
    report_input(m, program->raw_x == FPO_NO_REGISTER ? program->x : program->raw_x, FPO_SCOPE_INPUT);
    run_scope(m, FPO_SCOPE_INPUT, true);
    set_all(m, program->amax, (double)block_amax(m));
    report_input(m, program->amax, FPO_SCOPE_BLOCK);
    run_scope(m, FPO_SCOPE_BLOCK, true);
    for (int64_t i = 0; program->random != FPO_NO_REGISTER && i < m->count; i++)
        values_of(m, program->random)[i] = (double)fpo_draw_number(random_bits(m, i));
    if (program->try_count > 0)
        search(m);
    run_scope(m, FPO_SCOPE_TRY, true);
    report_input(m, program->random, FPO_SCOPE_ELEMENT);
    run_scope(m, FPO_SCOPE_ELEMENT, true);
}

/* What fpo_quantize says, code by code, against the trace. */
static fpo_status compare(const machine *m, const fpo_recipe_info *recipe, const fpo_quantized *data, fpo_error *error)
{
    fpo_format element = recipe->view.element, scale_format = recipe->view.scale.format;
    uint32_t scale = fpo_load_code(scale_format, data->scales, 0);
    double traced = values_of(m, m->program->scale)[0];
    int64_t different = scale != fpo_encode_double(scale_format, (double)(float)traced, fpo_scale_cast());
    double scale_code = (double)scale, *codes = calloc((size_t)m->count + 1, sizeof *codes);
    uint8_t *unpacked = malloc((size_t)m->k * 4);
    if (codes != NULL && unpacked != NULL) {
        fpo_unpack_row(FPO_PACKING_CANONICAL, element, m->k, data->codes, unpacked);
        for (int64_t i = 0; i < m->count; i++) {
            uint32_t code = fpo_load_code(element, unpacked, (size_t)i);
            different += code != fpo_encode_double(element, values_of(m, m->program->code)[i], fpo_code_cast(element));
            codes[i] = (double)code;
        }
        m->watch(m->context, &(fpo_trace_event){FPO_TRACE_SCALE, "scale", &scale_code, 1, false});
        m->watch(m->context, &(fpo_trace_event){FPO_TRACE_CODES, "code", codes, m->count, false});
    }
    bool done = codes != NULL && unpacked != NULL;
    free(codes);
    free(unpacked);
    if (!done)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld codes", (long long)m->k);
    if (different > 0)
        return fpo_fail(
            error, FPO_ERR_UNSUPPORTED,
            "the steps of %s give %lld other codes than fpo_quantize: a defect of fp4oracle, please report it",
            recipe->name, (long long)different);
    return FPO_OK;
}

static fpo_status trace(machine *m, const fpo_recipe_info *recipe, fpo_format dtype, fpo_error *error)
{
    if (m->library_scale != NULL && m->program->tensor_scale == FPO_NO_REGISTER)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s has no tensor scale to be given", recipe->name);
    fpo_quantized data = {.codes_bytes = fpo_operand_codes_bytes(&recipe->view, 1, m->k),
                          .scales_bytes = fpo_operand_scales_bytes(&recipe->view, 1, m->k),
                          .library_scale = m->library_scale != NULL ? *m->library_scale : 0,
                          .given_library_scale = m->library_scale != NULL,
                          .dtype = dtype};
    data.codes = calloc(1, data.codes_bytes + 1);
    data.scales = calloc(1, data.scales_bytes + 1);
    m->values = calloc((size_t)m->program->register_count * (size_t)m->count + 1, sizeof *m->values);
    fpo_status status = FPO_OK;
    if (data.codes == NULL || data.scales == NULL || m->values == NULL)
        status = fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld numbers", (long long)m->k);
    else
        status = fpo_quantize_by(recipe, m->x, 1, m->k, &data, NULL, error);
    if (status == FPO_OK) {
        run_program(m);
        status = compare(m, recipe, &data, error);
    }
    free(data.codes);
    free(data.scales);
    free(m->values);
    return status;
}

fpo_status fpo_recipe_trace(const fpo_recipe_info *recipe, const float *x, int64_t k, fpo_format dtype,
                            const float *library_scale, fpo_trace_watcher *watch, void *context, fpo_error *error)
{
    if (k <= 0)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "a row of %lld numbers has no block", (long long)k);
    fpo_program *program = malloc(sizeof *program);
    if (program == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for the recipe %s", recipe->name);
    fpo_status status = fpo_recipe_compile(recipe->text, &recipe->view, dtype, program, error);
    if (status == FPO_OK) {
        int64_t block = program->amax_k > 0 ? program->amax_k : recipe->view.scale.block_k;
        machine m = {.program = program,
                     .x = x,
                     .k = k,
                     .count = block > 0 && block < k ? block : k,
                     .library_scale = library_scale,
                     .watch = watch,
                     .context = context};
        status = trace(&m, recipe, dtype, error);
    }
    free(program);
    return status;
}

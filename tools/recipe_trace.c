/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The scopes of a recipe in their order, over one block. */
#include "recipe_trace.h"
#include "number.h"
#include "quantizer.h"
#include "recipe_expression.h"
#include "report.h"

#include <fp4oracle/random.h>
#include <stdio.h>
#include <stdlib.h>

/* Every register holds one value an element of the block; values that do not change are the same in all. */
typedef struct machine {
    const fpo_program *program;
    const float *x; /* the row */
    int64_t k;
    int64_t count; /* elements of the block */
    double *values;
    json_t *object;
    const float *library_scale; /* given, or NULL */
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
    for (int64_t base = 0; base + 16 <= count; base += 16) {
        for (int j = 0; j < 16; j++) {
            float sum = 0;
            for (int i = 0; i < 16; i++) {
                float term = quarter * (float)x[base + i];
                sum += (__builtin_popcount((unsigned)(i & j)) % 2 != 0) != (signs[i] == '-') ? -term : term;
            }
            to[base + j] = (double)sum;
        }
    }
}

static void run_step(const machine *m, const fpo_recipe_step *step)
{
    double *to = values_of(m, step->to);
    if (step->function == FPO_FN_HADAMARD) {
        hadamard(values_of(m, step->argument[0]), to, m->count);
        return;
    }
    if (step->function == FPO_FN_ENCODE && step->cast.rounding == FPO_STOCHASTIC) {
        /* The random bits that fpo_quantize takes for these elements with seed 0. */
        for (int64_t i = 0; i < m->count; i++) {
            fpo_value x = fpo_value_from_float((float)values_of(m, step->argument[0])[i]);
            uint32_t bits = (uint32_t)fpo_random_bits((fpo_random){0, 0}, (uint64_t)i);
            to[i] = fpo_decode_double(step->format, fpo_encode(step->format, x, &step->cast, bits));
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

/* Nine digits tell f32 numbers apart. */
static json_t *value_json(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    return json_string(text);
}

static json_t *column_json(const machine *m, int r)
{
    json_t *column = json_array();
    for (int64_t i = 0; i < m->count; i++)
        json_array_append_new(column, value_json(values_of(m, r)[i]));
    return column;
}

/* One line: what is computed, and what comes out; for steps of elements, of each. */
static json_t *step_json(const machine *m, const char *text, int r, int scope)
{
    json_t *step = json_pack("{s:s}", "step", text);
    if (is_per_element(scope)) {
        json_object_set_new(step, "results", column_json(m, r));
        return step;
    }
    double value = values_of(m, r)[0];
    json_object_set_new(step, "result", value_json(value));
    json_object_set_new(
        step, "bits",
        json_string(fpo_hex_text(FPO_F32, fpo_encode_double(FPO_F32, value, fpo_cast_describe(FPO_CAST_IEEE))).text));
    return step;
}

static void record_input(const machine *m, json_t *list, int r, int scope)
{
    if (r == FPO_NO_REGISTER)
        return;
    char text[FPO_STEP_TEXT];
    const fpo_register *value = &m->program->registers[r];
    snprintf(text, sizeof text, "%.*s", (int)value->name_length, value->name);
    json_array_append_new(list, step_json(m, text, r, scope));
}

/* Runs the steps of a scope; `list` NULL: without recording them. */
static void run_scope(const machine *m, int scope, json_t *list)
{
    for (int i = 0; i < m->program->step_count; i++) {
        const fpo_recipe_step *step = &m->program->steps[i];
        if (step->scope != scope)
            continue;
        run_step(m, step);
        bool given = m->library_scale != NULL && step->to == m->program->tensor_scale;
        if (given)
            set_all(m, step->to, (double)*m->library_scale);
        char text[FPO_STEP_TEXT];
        fpo_step_text(m->program, step, text, sizeof text);
        if (given)
            snprintf(text, sizeof text, "tensor_scale, given");
        if (list != NULL)
            json_array_append_new(list, step_json(m, text, step->to, scope));
    }
}

/* The elements of [first, first + count) of the row, after the recipe's own transformation of its input. */
static void load_elements(const machine *m, int64_t first)
{
    const fpo_program *program = m->program;
    int to = program->raw_x == FPO_NO_REGISTER ? program->x : program->raw_x;
    for (int64_t i = 0; to != FPO_NO_REGISTER && i < m->count; i++)
        values_of(m, to)[i] = first + i < m->k ? (double)m->x[first + i] : 0;
    run_scope(m, FPO_SCOPE_INPUT, NULL);
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
    json_t *list = json_array();
    int best = 0;
    float best_error = 0;
    for (int i = 0; i < program->try_count; i++) {
        set_all(m, program->attempt, (double)program->tries[i]);
        run_scope(m, FPO_SCOPE_TRY, NULL);
        run_scope(m, FPO_SCOPE_ELEMENT, NULL);
        run_scope(m, FPO_SCOPE_ERROR, NULL);
        float error = error_sum(m);
        if (i == 0 || error < best_error) {
            best = i;
            best_error = error;
        }
        json_array_append_new(list, json_pack("{s:o, s:o}", "try", value_json((double)program->tries[i]), "error",
                                              value_json((double)error)));
    }
    set_all(m, program->attempt, (double)program->tries[best]);
    json_object_set_new(json_array_get(list, (size_t)best), "chosen", json_true());
    json_object_set_new(m->object, "tries", list);
}

static void run_program(const machine *m)
{
    const fpo_program *program = m->program;
    json_t *tensor = json_array(), *row = json_array(), *block = json_array(), *elements = json_array();
    for (int r = 0; r < program->register_count; r++) {
        if (program->registers[r].constant)
            set_all(m, r, program->registers[r].number);
    }
    set_all(m, program->tensor_amax, (double)row_amax(m, FPO_SCOPE_TENSOR));
    record_input(m, tensor, program->tensor_amax, FPO_SCOPE_TENSOR);
    run_scope(m, FPO_SCOPE_TENSOR, tensor);
    set_all(m, program->row_amax, (double)row_amax(m, FPO_SCOPE_ROW));
    record_input(m, row, program->row_amax, FPO_SCOPE_ROW);
    run_scope(m, FPO_SCOPE_ROW, row);
    load_elements(m, 0);
    record_input(m, elements, program->raw_x == FPO_NO_REGISTER ? program->x : program->raw_x, FPO_SCOPE_ELEMENT);
    run_scope(m, FPO_SCOPE_INPUT, elements);
    set_all(m, program->amax, (double)block_amax(m));
    record_input(m, block, program->amax, FPO_SCOPE_BLOCK);
    run_scope(m, FPO_SCOPE_BLOCK, block);
    if (program->try_count > 0)
        search(m);
    run_scope(m, FPO_SCOPE_TRY, block);
    run_scope(m, FPO_SCOPE_ELEMENT, elements);
    json_object_set_new(m->object, "tensor", tensor);
    json_object_set_new(m->object, "row", row);
    json_object_set_new(m->object, "block", block);
    json_object_set_new(m->object, "elements", elements);
}

/* What fpo_quantize says, code by code, against the trace. */
static fpo_status compare(const machine *m, const fpo_recipe_info *recipe, fpo_quantized *data, fpo_error *error)
{
    fpo_format element = recipe->view.element, scale_format = recipe->view.scale.format;
    uint32_t scale = fpo_load_code(scale_format, data->scales, 0);
    double traced = values_of(m, m->program->scale)[0];
    uint32_t traced_scale = fpo_encode_double(scale_format, (double)(float)traced, fpo_scale_cast());
    json_object_set_new(m->object, "scale",
                        json_pack("{s:s, s:s, s:s}", "format", fpo_format_describe(scale_format)->name, "code",
                                  fpo_hex_text(scale_format, scale).text, "value",
                                  fpo_code_text(scale_format, scale).text));
    json_t *codes = json_array();
    int64_t different = scale != traced_scale;
    uint8_t *unpacked = malloc((size_t)m->k * 4);
    for (int64_t i = 0; unpacked != NULL && i < m->count; i++) {
        if (i == 0)
            fpo_unpack_row(FPO_PACKING_CANONICAL, element, m->k, data->codes, unpacked);
        uint32_t code = fpo_load_code(element, unpacked, (size_t)i);
        different +=
            code != fpo_encode_double(element, values_of(m, m->program->code)[i], fpo_cast_describe(FPO_CAST_PTX));
        json_array_append_new(codes, json_string(fpo_hex_text(element, code).text));
    }
    free(unpacked);
    json_object_set_new(m->object, "codes", codes);
    if (different > 0)
        return fpo_fail(
            error, FPO_ERR_UNSUPPORTED,
            "the steps shown for %s give %lld other codes than the library: a defect of fp4oracle, please report it",
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

fpo_status fpo_trace_recipe(const fpo_recipe_info *recipe, const float *x, int64_t k, fpo_format dtype,
                            const float *library_scale, json_t *object, fpo_error *error)
{
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
                     .object = object,
                     .library_scale = library_scale};
        status = trace(&m, recipe, dtype, error);
    }
    free(program);
    return status;
}

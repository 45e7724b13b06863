/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle explain output: one element of D, from codes to its last bit, and whether the library agrees. */
#include "explain.h"
#include "report.h"
#include "trace.h"
#include "vector_file.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 32 }; /* columns that share a scale of an output */

/* The vector's spec under a model: one of its own, or one of the registry. NULL: exact. */
static fpo_status choose_spec(const fpo_vector *vector, const char *name, fpo_gemm_spec *spec, fpo_error *error)
{
    name = name != NULL ? name : "exact";
    const fpo_expected *expected = fpo_vector_expected(vector, name);
    if (expected != NULL) {
        *spec = fpo_vector_spec(vector, expected);
        return FPO_OK;
    }
    const fpo_model *model = NULL;
    fpo_status status = fpo_parse_model(name, &model, error);
    if (status != FPO_OK)
        return status;
    *spec = vector->spec;
    spec->accumulation = model->accumulation;
    if (!fpo_model_takes(model, &spec->a.read, &spec->b.read))
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "model %s does not take these operands", name);
    return FPO_OK;
}

/* Both operands, of which only one row each is needed. */
static fpo_status prepare(fpo_gemm_context *context, int64_t row, int64_t column, fpo_error *error)
{
    const fpo_gemm_problem *p = context->problem;
    bool *rows = calloc((size_t)p->m, sizeof *rows), *columns = calloc((size_t)p->n, sizeof *columns);
    fpo_status status = FPO_OK;
    if (rows == NULL || columns == NULL) {
        status = fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld x %lld", (long long)p->m, (long long)p->n);
    } else {
        rows[row] = true;
        columns[column] = true;
        status = fpo_prepare(&context->spec->a, &p->a, p->m, p->k, "a", rows, &context->a, error);
        if (status == FPO_OK)
            status = fpo_prepare(&context->spec->b, &p->b, p->n, p->k, "b", columns, &context->b, error);
    }
    free(rows);
    free(columns);
    return status;
}

/* y of the columns that share this one's scale, as f32 codes: what the output quantiser takes. */
static fpo_status group_values(const fpo_trace *t, uint32_t *codes, int *count, fpo_error *error)
{
    const fpo_gemm_problem *p = t->context->problem;
    fpo_gemm_spec spec = *t->context->spec;
    spec.epilogue.d = FPO_F32;
    spec.epilogue.d_scale = FPO_FORMAT_NONE;
    spec.epilogue.d_cast = *fpo_cast_describe(FPO_CAST_IEEE);
    fpo_element elements[MOST];
    int64_t block = fpo_output_block(&t->context->spec->epilogue), first = t->column / block * block;
    *count = 0;
    for (int64_t n = first; n < first + block && n < p->n; n++)
        elements[(*count)++] = (fpo_element){t->row, n};
    return fpo_gemm_elements(&spec, p, elements, (size_t)*count, codes, NULL, error);
}

/* An nvfp4 or mxfp8 output: the scale of the group, and the code of this column under it. */
static fpo_status quantise_output(const fpo_trace *t, json_t *object, mpfr_ptr y, fpo_error *error)
{
    uint32_t codes[MOST];
    int count = 0;
    fpo_status status = group_values(t, codes, &count, error);
    if (status != FPO_OK)
        return status;
    const fpo_epilogue *epilogue = &t->context->spec->epilogue;
    int64_t at = t->column % fpo_output_block(epilogue);
    uint32_t own = fpo_encode(FPO_F32, fpo_value_from_mpfr(y), fpo_cast_describe(FPO_CAST_IEEE), 0);
    if (own != codes[at])
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "the steps end in y = 0x%08X, the library in 0x%08X: a defect of fp4oracle", own, codes[at]);
    json_t *group = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(group, json_string(fpo_code_text(FPO_F32, codes[i]).text));
    uint32_t scale = fpo_quantize_output(epilogue, codes, count);
    float reciprocal = 1.0f / (float)fpo_decode_double(epilogue->d_scale, scale);
    fpo_value_to_mpfr(y, fpo_decode(FPO_F32, own));
    mpfr_mul_d(y, y, fpo_decode(epilogue->d_scale, scale).kind == FPO_ZERO ? 0.0 : (double)reciprocal, MPFR_RNDN);
    uint32_t product = fpo_encode(FPO_F32, fpo_value_from_mpfr(y), fpo_cast_describe(FPO_CAST_IEEE), 0);
    fpo_value_to_mpfr(y, fpo_decode(FPO_F32, product));
    json_object_set_new(object, "output_scale",
                        json_pack("{s:o, s:s, s:s, s:s, s:s}", "group", group, "format",
                                  fpo_format_describe(epilogue->d_scale)->name, "code",
                                  fpo_hex_text(epilogue->d_scale, scale).text, "value",
                                  fpo_code_text(epilogue->d_scale, scale).text, "y_over_scale", fpo_mpfr_text(y).text));
    uint32_t code = fpo_trace_rounding(object, y, epilogue->d, &epilogue->d_cast);
    if (code != codes[at])
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "the steps end in code 0x%X, the library in 0x%X: a defect of fp4oracle", code, codes[at]);
    return FPO_OK;
}

static fpo_status round_output(const fpo_trace *t, json_t *object, mpfr_ptr y, fpo_error *error)
{
    const fpo_gemm_context *c = t->context;
    const fpo_epilogue *epilogue = &c->spec->epilogue;
    if (epilogue->d_scale != FPO_FORMAT_NONE)
        return quantise_output(t, object, y, error);
    uint32_t code = fpo_trace_rounding(object, y, epilogue->d, &epilogue->d_cast), library = 0;
    fpo_element element = {t->row, t->column};
    fpo_status status = fpo_gemm_elements(c->spec, c->problem, &element, 1, &library, NULL, error);
    if (status == FPO_OK && code != library)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "the steps end in %s, the library in %s: a defect of fp4oracle, please report it",
                        fpo_hex_text(epilogue->d, code).text, fpo_hex_text(epilogue->d, library).text);
    return status;
}

static fpo_status trace(const fpo_trace *t, json_t *object, fpo_error *error)
{
    mpfr_t y;
    mpfr_init2(y, FPO_WIDE_BITS);
    fpo_status status = FPO_OK;
    if (t->context->spec->accumulation.step.kind == FPO_STEP_EXACT)
        fpo_trace_exact(t, object, y);
    else
        status = fpo_trace_model(t, object, y, error);
    if (status == FPO_OK) {
        fpo_trace_epilogue(t, object, y);
        status = round_output(t, object, y, error);
    }
    mpfr_clear(y);
    return status;
}

static fpo_status explain(const fpo_explain_options *options, char **arguments, json_t *object, fpo_error *error)
{
    fpo_vector *vector = NULL;
    fpo_status status = fpo_vector_read(arguments[0], &vector, error);
    if (status != FPO_OK)
        return status;
    fpo_gemm_spec spec;
    fpo_gemm_context context = {.spec = &spec, .problem = &vector->problem};
    fpo_trace t = {.context = &context, .detailed = options->blocks};
    const fpo_gemm_problem *p = &vector->problem;
    status = fpo_parse_integer("ROW", arguments[1], 0, p->m - 1, &t.row, error);
    if (status == FPO_OK)
        status = fpo_parse_integer("COL", arguments[2], 0, p->n - 1, &t.column, error);
    if (status == FPO_OK)
        status = choose_spec(vector, options->model, &spec, error);
    if (status == FPO_OK)
        status = prepare(&context, t.row, t.column, error);
    if (status == FPO_OK) {
        json_object_set_new(object, "shape",
                            json_pack("[I, I, I]", (json_int_t)p->m, (json_int_t)p->n, (json_int_t)p->k));
        json_object_set_new(object, "row", json_integer(t.row));
        json_object_set_new(object, "column", json_integer(t.column));
        json_object_set_new(object, "model", json_string(options->model != NULL ? options->model : "exact"));
        status = trace(&t, object, error);
    }
    fpo_prepared_free(&context.a);
    fpo_prepared_free(&context.b);
    fpo_vector_free(vector);
    return status;
}

int fpo_explain_output(const fpo_explain_options *options, int count, char **arguments)
{
    (void)count;
    fpo_error error;
    json_t *object = json_pack("{s:s, s:o}", "explain", "output", "vector", fpo_json_text(arguments[0]));
    if (explain(options, arguments, object, &error) != FPO_OK) {
        json_decref(object);
        return fpo_report_error(options->program, &error);
    }
    if (options->json)
        return fpo_print_json(object);
    const json_t *shape = json_object_get(object, "shape");
    fpo_heading("D[%s, %s] of %s under %s", arguments[1], arguments[2], arguments[0],
                json_string_value(json_object_get(object, "model")));
    printf("  M x N x K = %lld x %lld x %lld\n", (long long)json_integer_value(json_array_get(shape, 0)),
           (long long)json_integer_value(json_array_get(shape, 1)),
           (long long)json_integer_value(json_array_get(shape, 2)));
    fpo_trace_print(object);
    json_decref(object);
    return FPO_EXIT_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Opening a vector or a plain file and an output of it, and the outputs that models require. */
#include "subject.h"
#include "arguments.h"
#include "forms.h"
#include "report.h"
#include "source.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { OPTION_SOURCE_A = 0x200, OPTION_SOURCE_B, OPTION_BETA };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    fpo_subject_arguments *a = state->input;
    fpo_error error;
    switch (key) {
    case 'i': a->output = argument; return 0;
    case 's': a->output_scale = argument; return 0;
    case 'f': a->format = argument; return 0;
    case 'm': a->model = argument; return 0;
    case OPTION_SOURCE_A: a->source[0] = argument; return 0;
    case OPTION_SOURCE_B: a->source[1] = argument; return 0;
    case OPTION_BETA:
        if (fpo_parse_float("--beta", argument, &a->beta, &error) != FPO_OK)
            argp_error(state, "%s", error.message);
        a->has_beta = true;
        return 0;
    case 'k':
        if (fpo_parse_integer("--k", argument, 1, INT32_MAX, &a->k, &error) != FPO_OK)
            argp_error(state, "%s", error.message);
        return 0;
    case ARGP_KEY_ARG:
        if (a->vector != NULL)
            argp_error(state, "one vector at a time");
        a->vector = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->has_beta && a->format == NULL)
            argp_error(state, "--beta belongs to a plain file (--format): a vector says its own");
        if (a->vector == NULL)
            argp_error(state, "which vector: a file of `fp4oracle gen`, or a plain file with --format");
        else if (a->output == NULL)
            argp_error(state, "which output: --output FILE or --output FILE:TENSOR");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {.name = "output",
     .key = 'i',
     .arg = "FILE[:TENSOR]",
     .doc = "the output that somebody computed; TENSOR is needed "
            "where FILE has several, and none of them is `d`"},
    {.name = "output-scale", .key = 's', .arg = "FILE[:TENSOR]", .doc = "the block scales of an nvfp4 or mxfp8 output"},
    {.name = "model",
     .key = 'm',
     .arg = "MODEL",
     .doc = "the accumulation model that is asked for; default: any that the "
            "vector has outputs of, or that the formats of a plain file "
            "allow"},
    {.name = "format",
     .key = 'f',
     .arg = "F or A,B",
     .doc = "VECTOR is a plain file with operands of these formats and no "
            "metadata"},
    {.name = "source-a",
     .key = OPTION_SOURCE_A,
     .arg = "FILE[:TENSOR]",
     .doc = "the numbers that A was quantised from: the search then tries every recipe for its format, too"},
    {.name = "source-b", .key = OPTION_SOURCE_B, .arg = "FILE[:TENSOR]", .doc = "the same for B"},
    {.name = "beta", .key = OPTION_BETA, .arg = "X", .doc = "of a plain file that has C as `c` and no tensor `beta`"},
    {.name = "k", .key = 'k', .arg = "K", .doc = "K of a plain file whose 4-bit codes leave the last half byte unused"},
    {0},
};

const struct argp fpo_subject_argp = {.options = options, .parser = parse};

static bool is_plain_number(fpo_format format)
{
    return format == FPO_F32 || format == FPO_BF16 || format == FPO_F16;
}

static bool is_fp8(fpo_format format)
{
    return format == FPO_E4M3 || format == FPO_E5M2;
}

/* U8 are e2m1 codes; other dtypes without a format of ours (a double of NumPy) are no output. */
static fpo_status check_dtype(const char *argument, const fpo_tensor *tensor, fpo_error *error)
{
    if (fpo_dtype_format(tensor->dtype) != FPO_FORMAT_NONE || tensor->dtype == FPO_DTYPE_U8)
        return FPO_OK;
    return fpo_fail(error, FPO_ERR_SHAPE,
                    "--output %.120s: tensor %s is %s, but an output is F32, BF16, F16, F8_E4M3, F8_E5M2 or U8",
                    argument, fpo_shown(tensor->name).text, fpo_dtype_name(tensor->dtype));
}

/* FILE:TENSOR, FILE with one tensor, or FILE with a tensor of the name `usual`. */
static fpo_status open_tensor(const char *argument, const char *usual, fpo_tensor_source *source, fpo_error *error)
{
    fpo_checkpoint *checkpoint = NULL;
    fpo_error ignored;
    if (fpo_checkpoint_open(argument, &checkpoint, &ignored) != FPO_OK) /* a tensor is named, or it cannot be read */
        return fpo_tensor_open(argument, source, error);
    bool has_usual = fpo_checkpoint_count(checkpoint) > 1 && fpo_checkpoint_has(checkpoint, usual);
    if (!has_usual) {
        fpo_checkpoint_close(checkpoint);
        return fpo_tensor_open(argument, source, error);
    }
    source->checkpoint = checkpoint;
    fpo_status status = fpo_checkpoint_tensor(checkpoint, usual, &source->tensor, error);
    if (status != FPO_OK)
        fpo_tensor_close(source);
    return status;
}

/* Of several files that are not there, the vector is named first. */
static fpo_status check_vector(const fpo_subject_arguments *a, fpo_error *error)
{
    FILE *file = fopen(a->vector, "rb");
    if (file == NULL)
        return fpo_fail(error, FPO_ERR_FILE, "%.300s: %s", a->vector, strerror(errno));
    fclose(file);
    return FPO_OK;
}

static fpo_status load_vector(const fpo_subject_arguments *a, fpo_format observed, fpo_subject *s, fpo_error *error)
{
    if (a->format == NULL)
        return fpo_vector_read(a->vector, &s->vector, error);
    fpo_plain plain = {.d = observed == FPO_FORMAT_NONE ? FPO_E2M1 : observed,
                       .d_scale = s->scaled && is_fp8(observed) ? FPO_UE8M0 : FPO_FORMAT_NONE,
                       .k = a->k,
                       .beta = a->has_beta ? &a->beta : NULL};
    fpo_status status = fpo_parse_block_formats(a->format, &plain.a, &plain.b, error);
    if (status == FPO_OK)
        status = fpo_parse_model(a->model != NULL ? a->model : "exact", &plain.model, error);
    s->is_plain = true;
    return status == FPO_OK ? fpo_vector_from_plain(a->vector, &plain, &s->vector, error) : status;
}

/* The spec with D as the output has it. */
static fpo_status settle_d(fpo_subject *s, fpo_format observed, fpo_error *error)
{
    fpo_epilogue *epilogue = &s->spec.epilogue;
    s->d_differs = observed != FPO_FORMAT_NONE && observed != epilogue->d;
    if (!s->d_differs)
        return FPO_OK;
    if (!is_plain_number(observed) || !is_plain_number(epilogue->d))
        return fpo_fail(error, FPO_ERR_SHAPE, "the output is %s, but D of the vector is %s",
                        fpo_format_describe(observed)->name, fpo_format_describe(epilogue->d)->name);
    epilogue->d = observed;
    epilogue->d_cast = *fpo_cast_describe(FPO_CAST_IEEE);
    return FPO_OK;
}

/* The tensor holds rows x columns codes; the message names it. */
static fpo_status check_form(const char *argument, const fpo_tensor *tensor, fpo_format format, int64_t rows,
                             int64_t columns, fpo_error *error)
{
    fpo_error found;
    if (fpo_form_check(tensor, format, rows, columns, &found) == FPO_OK)
        return FPO_OK;
    return fpo_fail(error, found.status, "--output %.120s: %.300s", argument, found.message);
}

static fpo_status take_output(const fpo_subject_arguments *a, fpo_subject *s, fpo_error *error)
{
    const fpo_gemm_problem *p = &s->vector->problem;
    const fpo_tensor *tensor = s->sources[0].tensor;
    fpo_status status = check_form(a->output, tensor, s->spec.epilogue.d, p->m, p->n, error);
    s->observed = tensor->data;
    s->observed_bytes = tensor->bytes;
    return status;
}

static fpo_status take_output_scale(const fpo_subject_arguments *a, fpo_subject *s, fpo_error *error)
{
    const fpo_gemm_problem *p = &s->vector->problem;
    if (s->spec.epilogue.d_scale == FPO_FORMAT_NONE)
        return a->output_scale == NULL
                   ? FPO_OK
                   : fpo_fail(error, FPO_ERR_ARGUMENT, "--output-scale: D of this vector has no scales");
    const char *argument = a->output_scale != NULL ? a->output_scale : a->output;
    fpo_status status = open_tensor(argument, "d_scale", &s->sources[1], error);
    if (status != FPO_OK)
        return status;
    const fpo_tensor *tensor = s->sources[1].tensor;
    status = check_form(argument, tensor, s->spec.epilogue.d_scale, p->m,
                        fpo_output_scale_columns(&s->spec.epilogue, p->n), error);
    s->observed_scale = tensor->data;
    s->observed_scale_bytes = tensor->bytes;
    return status;
}

static fpo_status asked_accumulation(const fpo_subject_arguments *a, fpo_subject *s, fpo_error *error)
{
    s->spec = s->vector->spec;
    if (a->model == NULL)
        return FPO_OK;
    const fpo_expected *expected = fpo_vector_expected(s->vector, a->model);
    if (expected != NULL) {
        s->spec = fpo_vector_spec(s->vector, expected);
        return FPO_OK;
    }
    const fpo_model *model = NULL;
    fpo_status status = fpo_parse_model(a->model, &model, error);
    if (status == FPO_OK && !fpo_subject_takes(s, model))
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "model %s does not take these operands", model->name);
    if (status == FPO_OK)
        s->spec.accumulation = model->accumulation;
    return status;
}

fpo_status fpo_subject_open(const fpo_subject_arguments *arguments, fpo_subject *subject, fpo_error *error)
{
    memset(subject, 0, sizeof *subject);
    fpo_format observed = FPO_FORMAT_NONE;
    fpo_status status = check_vector(arguments, error);
    if (status == FPO_OK)
        status = open_tensor(arguments->output, "d", &subject->sources[0], error);
    if (status == FPO_OK)
        status = check_dtype(arguments->output, subject->sources[0].tensor, error);
    if (status == FPO_OK) {
        const fpo_tensor_source *output = &subject->sources[0];
        observed = fpo_dtype_format(output->tensor->dtype);
        subject->scaled = arguments->output_scale != NULL ||
                          (strcmp(output->tensor->name, "d") == 0 && fpo_checkpoint_has(output->checkpoint, "d_scale"));
        status = load_vector(arguments, observed, subject, error);
    }
    if (status == FPO_OK)
        status = asked_accumulation(arguments, subject, error);
    if (status == FPO_OK)
        status = settle_d(subject, observed, error);
    if (status == FPO_OK)
        status = take_output(arguments, subject, error);
    if (status == FPO_OK)
        status = take_output_scale(arguments, subject, error);
    if (status == FPO_OK)
        status = fpo_take_sources(arguments->source, subject->vector, error);
    if (status != FPO_OK)
        fpo_subject_close(subject);
    return status;
}

void fpo_subject_close(fpo_subject *subject)
{
    fpo_vector_free(subject->vector);
    for (int i = 0; i < 2; i++) {
        if (subject->sources[i].checkpoint != NULL)
            fpo_tensor_close(&subject->sources[i]);
    }
    memset(subject, 0, sizeof *subject);
}

bool fpo_subject_takes(const fpo_subject *subject, const fpo_model *model)
{
    return fpo_model_takes(model, &subject->vector->spec.a.stored, &subject->vector->spec.b.stored);
}

fpo_status fpo_subject_expected(fpo_subject *subject, const char *model, const fpo_accumulation *accumulation,
                                const void **d, const void **d_scale, fpo_error *error)
{
    const fpo_expected *expected = model != NULL ? fpo_vector_expected(subject->vector, model) : NULL;
    if (expected != NULL && !subject->d_differs && expected->d != NULL &&
        (subject->spec.epilogue.d_scale == FPO_FORMAT_NONE || expected->d_scale != NULL)) {
        *d = expected->d;
        *d_scale = expected->d_scale;
        return FPO_OK;
    }
    const fpo_gemm_problem *p = &subject->vector->problem;
    fpo_gemm_spec spec = subject->spec;
    spec.accumulation = *accumulation;
    fpo_gemm_output output = {.d_bytes = fpo_output_bytes(&spec, p->m, p->n),
                              .d_scale_bytes = fpo_output_scale_bytes(&spec, p->m, p->n)};
    output.d = fpo_vector_allocate(subject->vector, output.d_bytes);
    output.d_scale = output.d_scale_bytes > 0 ? fpo_vector_allocate(subject->vector, output.d_scale_bytes) : NULL;
    if (output.d == NULL || (output.d_scale_bytes > 0 && output.d_scale == NULL))
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for an output of %lld x %lld", (long long)p->m,
                        (long long)p->n);
    fpo_progress_line line = {.label = "computing what must come out"};
    fpo_execution execution = {.progress = fpo_progress, .progress_context = &line};
    fpo_status status = fpo_gemm(&spec, p, &output, &execution, error);
    fpo_progress_end(&line);
    *d = output.d;
    *d_scale = output.d_scale;
    return status;
}

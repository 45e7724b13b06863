/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle coverage: which mistakes a suite, or any vectors, would show. */
#include "arguments.h"
#include "coverage_run.h"
#include "report.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_JSON = 0x100, OPTION_D, OPTION_MATRIX, OPTION_MARKDOWN, OPTION_SOURCE, OPTION_THREADS };

static const struct argp_option options[] = {
    {.name = "suite", .key = 's', .arg = "SUITE", .doc = "the vectors of a suite; `fp4oracle list suites`"},
    {.name = "format",
     .key = 'f',
     .arg = "F or A,B",
     .doc = "of the suite's operands; default: all that suites are tested with"},
    {.name = "d",
     .key = OPTION_D,
     .arg = "F",
     .doc = "format of the suite's D; default: f32, and narrower ones where vectors are about those"},
    {.name = "model", .key = 'm', .arg = "MODEL", .doc = "of a right kernel; default: that of the format on sm120"},
    {.name = "matrix", .key = OPTION_MATRIX, .doc = "every vector on every edit, and the table of them; slower"},
    {.name = "threads", .key = OPTION_THREADS, .arg = "N", .doc = "default: one a processor"},
    {.name = "markdown", .key = OPTION_MARKDOWN, .doc = "the tables of docs/kill-matrix.md"},
    {.name = "source",
     .key = OPTION_SOURCE,
     .doc = "compute nothing; say what a matrix would be computed from, as --markdown does, to see whether one is old"},
    {.name = "json", .key = OPTION_JSON, .doc = "every edit and what kills it, for machines"},
    {0},
};

static const char documentation[] =
    "The kill matrix: which misinterpretations (`fp4oracle list faults`) change at least one byte of the output of at "
    "least one vector, and which would pass unseen.\v"
    "An edit is killed if it changes a sample of an output, or else the whole. Without --matrix one vector that kills "
    "an edit is enough, and the others are not tried on it.\n\n"
    "Exit status: 0 every edit is killed or cannot change any output, 1 some survive.\n\n"
    "Examples:\n"
    "  fp4oracle coverage --suite smoke --format nvfp4\n"
    "  fp4oracle coverage my-test-data.safetensors";

typedef struct parsed {
    const char *suite, *format, *d, *model;
    char **files;
    size_t file_count;
    int64_t threads;
    bool json, matrix, markdown, source;
} parsed;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    parsed *p = state->input;
    fpo_error error = {.status = FPO_OK};
    switch (key) {
    case 's': p->suite = argument; return 0;
    case 'f': p->format = argument; return 0;
    case 'm': p->model = argument; return 0;
    case OPTION_D: p->d = argument; return 0;
    case OPTION_MATRIX: p->matrix = true; return 0;
    case OPTION_MARKDOWN: p->markdown = true; return 0;
    case OPTION_SOURCE: p->source = true; return 0;
    case OPTION_JSON: p->json = true; return 0;
    case OPTION_THREADS:
        if (fpo_parse_integer("--threads", argument, 1, 1024, &p->threads, &error) != FPO_OK)
            argp_error(state, "%s", error.message);
        return 0;
    case ARGP_KEY_ARGS:
        p->files = state->argv + state->next;
        p->file_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if ((p->suite != NULL) == (p->file_count > 0))
            argp_error(state, "what: --suite SUITE, or VECTOR ...");
        if (p->suite == NULL && (p->format != NULL || p->d != NULL))
            argp_error(state, "--format and --d belong to --suite: files say their own");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* What the command knows while it goes on. */
typedef struct covering {
    const parsed *p;
    json_t *runs;
    size_t surviving, smoke; /* smoke: how many vectors of the run at hand are of that suite */
} covering;

static fpo_status add_vector(fpo_coverage_run *run, fpo_vector *vector, const char *name, fpo_error *error)
{
    fpo_vector **vectors = realloc(run->vectors, (run->count + 1) * sizeof *vectors);
    run->vectors = vectors != NULL ? vectors : run->vectors;
    const char **names = realloc(run->names, (run->count + 1) * sizeof *names);
    run->names = names != NULL ? names : run->names;
    if (vectors == NULL || names == NULL) {
        fpo_vector_free(vector);
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu vectors", run->count + 1);
    }
    vectors[run->count] = vector;
    names[run->count++] = name;
    return FPO_OK;
}

static void free_run(fpo_coverage_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        fpo_vector_free(run->vectors[i]);
    free(run->vectors);
    free(run->names);
    fpo_coverage_free(run->coverage);
}

static fpo_status cover(covering *c, fpo_coverage_run *run, fpo_error *error)
{
    char label[128];
    fpo_status status = fpo_coverage_source(run->vectors, run->count, run->model, &run->source, error);
    if (status == FPO_OK && c->p->source)
        fpo_coverage_print_source(run);
    if (status != FPO_OK || c->p->source)
        return status;
    snprintf(label, sizeof label, "%zu vectors under %s", run->count, run->model->name);
    fpo_progress_line line = {.label = label};
    fpo_coverage_options how = {
        .model = run->model,
        .first_only = !c->p->matrix,
        .execution = {.threads = (int)c->p->threads, .progress = fpo_progress, .progress_context = &line}};
    status = fpo_coverage_compute(run->vectors, run->count, &how, &run->coverage, error);
    fpo_progress_end(&line);
    if (status != FPO_OK)
        return status;
    const fpo_coverage *found = run->coverage;
    c->surviving += found->edit_count - found->killed - found->otherwise - found->equivalent;
    if (c->p->json)
        json_array_append_new(c->runs, fpo_coverage_json(run));
    else if (c->p->markdown)
        fpo_coverage_print_markdown(run, c->smoke);
    else
        fpo_coverage_print(run);
    if (c->p->matrix && !c->p->json && !c->p->markdown)
        fpo_coverage_print_matrix(run);
    fflush(stdout);
    return FPO_OK;
}

static fpo_status model_for(const parsed *p, const fpo_operand_view *a, const fpo_operand_view *b,
                            const fpo_model *usual, const fpo_model **model, fpo_error *error)
{
    *model = usual;
    if (p->model == NULL)
        return FPO_OK;
    fpo_status status = fpo_parse_model(p->model, model, error);
    if (status == FPO_OK && !fpo_model_takes(*model, a, b))
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "model %s does not take these operands", p->model);
    return status;
}

static fpo_status cover_suite_for(covering *c, fpo_vector_suite suite, const fpo_suite_target *target, fpo_error *error)
{
    fpo_coverage_run run = {0};
    const fpo_suite_vector *entry;
    fpo_status status =
        model_for(c->p, &fpo_block_format_describe(target->a)->view, &fpo_block_format_describe(target->b)->view,
                  fpo_suite_model(target->a, target->b), &run.model, error);
    c->smoke = 0;
    for (size_t i = 0; status == FPO_OK && (entry = fpo_suite_vector_at(i)) != NULL; i++) {
        fpo_vector *vector = NULL;
        if (!fpo_suite_has(suite, entry) || !fpo_suite_applies(entry, target))
            continue;
        status = fpo_suite_generate(entry, target, &vector, error);
        if (status == FPO_OK) {
            status = add_vector(&run, vector, entry->name, error);
            c->smoke += fpo_suite_has(FPO_SUITE_SMOKE, entry);
        } else if (status == FPO_ERR_UNSUPPORTED) {
            status = FPO_OK; /* these formats cannot have it */
        }
    }
    if (status == FPO_OK && run.count == 0)
        status =
            fpo_fail(error, FPO_ERR_UNSUPPORTED, "the suite %s has no vector for these formats", fpo_suite_name(suite));
    if (status == FPO_OK)
        status = cover(c, &run, error);
    free_run(&run);
    return status;
}

static const char *suite_name_at(size_t index)
{
    return fpo_suite_name((fpo_vector_suite)index);
}

static fpo_status cover_suite(covering *c, fpo_error *error)
{
    const parsed *p = c->p;
    fpo_suite_target target = {.d = FPO_FORMAT_NONE};
    fpo_vector_suite suite = fpo_suite_by_name(p->suite);
    fpo_status status = FPO_OK;
    if (suite == FPO_SUITE_COUNT)
        return fpo_no_such_name("suite", p->suite, suite_name_at, "suites", error);
    if (p->d != NULL)
        status = fpo_parse_format(p->d, &target.d, error);
    if (status != FPO_OK)
        return status;
    if (p->format != NULL) {
        status = fpo_parse_block_formats(p->format, &target.a, &target.b, error);
        return status == FPO_OK ? cover_suite_for(c, suite, &target, error) : status;
    }
    const fpo_suite_format *format;
    for (size_t i = 0; status == FPO_OK && (format = fpo_suite_format_at(i)) != NULL; i++) {
        target.a = format->a;
        target.b = format->b;
        status = cover_suite_for(c, suite, &target, error);
    }
    return status;
}

/* The registered model with these numbers; NULL if they are the file's own. */
static const fpo_model *registered(const fpo_vector *vector)
{
    const fpo_expected *last = &vector->expected[vector->expected_count - 1];
    return fpo_model_by_name(last->model);
}

static fpo_status cover_files(covering *c, fpo_error *error)
{
    fpo_coverage_run run = {0};
    fpo_status status = FPO_OK;
    for (size_t i = 0; i < c->p->file_count && status == FPO_OK; i++) {
        fpo_vector *vector = NULL;
        status = fpo_vector_read(c->p->files[i], &vector, error);
        if (status == FPO_OK)
            status = add_vector(&run, vector, c->p->files[i], error);
    }
    if (status == FPO_OK) {
        const fpo_vector *first = run.vectors[0];
        const fpo_model *usual = registered(first);
        status = model_for(c->p, &first->spec.a.read, &first->spec.b.read,
                           usual != NULL ? usual : fpo_model_by_name("exact"), &run.model, error);
    }
    if (status == FPO_OK)
        status = cover(c, &run, error);
    free_run(&run);
    return status;
}

int fpo_cmd_coverage(int argc, char **argv)
{
    static const struct argp parser = {
        .options = options, .parser = parse, .args_doc = "[VECTOR...]", .doc = documentation};
    parsed p = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &p);
    covering c = {.p = &p, .runs = json_array()};
    fpo_error error;
    fpo_status status = p.suite != NULL ? cover_suite(&c, &error) : cover_files(&c, &error);
    int result = status != FPO_OK ? fpo_report_error(argv[0], &error)
                 : p.json         ? fpo_print_json(json_pack("{s:O}", "coverage", c.runs))
                                  : FPO_EXIT_OK;
    json_decref(c.runs);
    return result == FPO_EXIT_OK && c.surviving > 0 ? FPO_EXIT_DIVERGENCE : result;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle steps: recorded rows of single instructions, how many each model reproduces, and which model made them. */
#include "arguments.h"
#include "report.h"
#include "steps_report.h"

#include <argp.h>
#include <stdlib.h>
#include <text.h>

enum { OPTION_JSON = 0x100 };

static const struct argp_option options[] = {
    {.name = "model", .key = 'm', .arg = "MODEL", .doc = "under this model alone; shorter instructions are chained"},
    {.name = "json", .key = OPTION_JSON, .doc = "the same facts for machines (docs/steps-format.md)"},
    {0},
};

static const char documentation[] =
    "Compares recorded results of single tensor-core instructions with the models: how many rows each reproduces, "
    "which "
    "rows differ (the first ten), and which models made them if none is named.\v"
    "FILE is a safetensors file of rows as docs/steps-format.md describes it; with it the owner of a GPU can find out "
    "what that GPU does.\n\n"
    "Exit status: 0 if the named model (or any) reproduces every row of every result, 1 if not, 2 if a file is "
    "unusable "
    "or no model is for such rows.\n\n"
    "Examples:\n"
    "  fp4oracle steps rows.safetensors\n"
    "  fp4oracle steps rows.safetensors --model sm120_mxf4nvf4";

typedef struct parsed {
    const char *model;
    bool json;
    char **files;
    int count;
} parsed;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    parsed *result = state->input;
    switch (key) {
    case 'm': result->model = argument; return 0;
    case OPTION_JSON: result->json = true; return 0;
    case ARGP_KEY_ARG: result->files[result->count++] = argument; return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which FILE of recorded rows?"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* What the JSON says: of the results that were judged, and of the files that could not be. */
typedef struct report {
    json_t *results, *unusable;
} report;

static int unusable_file(const char *program, const char *path, const fpo_error *error, report *out)
{
    json_array_append_new(out->unusable,
                          json_pack("{s:s, s:s}", "file", fpo_shown(path).text, "error", error->message));
    return fpo_report_error(program, error);
}

/* One file: its part of the JSON, or printed. */
static int run_file(const char *program, const parsed *p, const fpo_model *model, const char *path, report *out)
{
    fpo_error error = {0};
    fpo_steps *steps = NULL;
    if (fpo_steps_open(path, &steps, &error) != FPO_OK)
        return unusable_file(program, path, &error, out);
    int status = FPO_EXIT_OK;
    size_t judged = 0;
    for (size_t i = 0; i < fpo_steps_count(steps); i++) {
        fpo_steps_verdict verdict;
        if (fpo_steps_judge(fpo_steps_at(steps, i), model, &verdict, &error) != FPO_OK)
            continue; /* a model is for one of the results of a file */
        judged++;
        if (p->json)
            json_array_append_new(out->results, fpo_steps_verdict_json(path, &verdict));
        else
            fpo_steps_verdict_print(path, &verdict);
        if (verdict.reproducing == 0)
            status = FPO_EXIT_DIVERGENCE;
        fpo_steps_verdict_free(&verdict);
    }
    if (judged == 0)
        status = unusable_file(program, path, &error, out);
    fpo_steps_close(steps);
    return status;
}

int fpo_cmd_steps(int argc, char **argv)
{
    static const struct argp parser = {
        .options = options, .parser = parse, .args_doc = "FILE...", .doc = documentation};
    parsed p = {.files = calloc((size_t)argc, sizeof *p.files)};
    if (p.files == NULL)
        return fpo_report_unusable(argv[0], "out of memory");
    argp_parse(&parser, argc, argv, 0, NULL, &p);
    fpo_error error = {0};
    const fpo_model *model = NULL;
    if (p.model != NULL && fpo_parse_model(p.model, &model, &error) != FPO_OK) {
        free(p.files);
        return fpo_report_error(argv[0], &error);
    }
    /* A file that is unusable does not hide what the others say. */
    report out = {json_array(), json_array()};
    int status = FPO_EXIT_OK;
    for (int i = 0; i < p.count; i++) {
        int file_status = run_file(argv[0], &p, model, p.files[i], &out);
        status = file_status > status ? file_status : status;
    }
    if (p.json) {
        int printed = fpo_print_json(json_pack("{s:o, s:o}", "results", out.results, "unusable", out.unusable));
        status = printed != FPO_EXIT_OK ? printed : status;
    } else {
        json_decref(out.results);
        json_decref(out.unusable);
    }
    free(p.files);
    return status;
}

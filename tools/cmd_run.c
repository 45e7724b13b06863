/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle run: the kernels of a plug-in over vectors. */
#include "arguments.h"
#include "report.h"
#include "run_record.h"
#include "run_records.h"
#include "run_text.h"
#include "run_vectors.h"

#include <argp.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "fp4oracle run"

enum {
    OPTION_DEVICE = 0x100,
    OPTION_LIMIT,
    OPTION_JSON,
    OPTION_JUNIT,
    OPTION_LIST,
    OPTION_ONCE,
    OPTION_NO_DIAGNOSIS,
    OPTION_RECORD
};

typedef struct parsed {
    const char *kernel, *device, *junit, *record;
    const fpo_model *model;
    const char *suite;
    char **vectors;
    size_t vector_count;
    float time_limit;
    bool json, list, once, no_diagnosis;
} parsed;

static const struct argp_option options[] = {
    {.name = "kernel",
     .key = 'k',
     .arg = "PLUGIN[:NAME]",
     .doc =
         "a shared object, or its name in the folders of FPO_PLUGINS and of this program; NAME: one kernel of it, or "
         "a pattern with * and ?; all that mean to be right if there is none"},
    {.name = "device",
     .key = OPTION_DEVICE,
     .arg = "D",
     .doc =
         "cpu, gpu:N, virtual:sm120 or virtual:sm90 (then a comma and what `fp4oracle vgpu -c` takes); default: what "
         "the plug-in has first"},
    {.name = "suite", .key = 's', .arg = "SUITE", .doc = "the vectors of a suite: a folder of them"},
    {.name = "model",
     .key = 'm',
     .arg = "MODEL",
     .doc = "what must come out; default: the model that the kernel names"},
    {.name = "time-limit", .key = OPTION_LIMIT, .arg = "SECONDS", .doc = "for each launch; default 60"},
    {.name = "once", .key = OPTION_ONCE, .doc = "one launch a vector, without the checks that need more"},
    {.name = "no-diagnosis", .key = OPTION_NO_DIAGNOSIS, .doc = "does not search for the cause where bits differ"},
    {.name = "list", .key = OPTION_LIST, .doc = "the kernels of the plug-in, and run nothing"},
    {.name = "json", .key = OPTION_JSON, .doc = "the results for machines"},
    {.name = "record",
     .key = OPTION_RECORD,
     .arg = "FOLDER",
     .doc = "keeps every output there as a vector file, with the model that reproduces it; made if it is not there"},
    {.name = "junit", .key = OPTION_JUNIT, .arg = "FILE", .doc = "writes the results for a CI system, too"},
    {0},
};

static const char documentation[] =
    "Runs kernels over golden vectors, each in a process of its own, and says whether every bit is right.\v"
    "A kernel is launched several times with what must not matter changed: what D held before, what surrounds the "
    "buffers, padding of the scales, the data of the launch before. A crash or a hang is a verdict, and the run goes "
    "on. Where bits differ, the cause is searched for.\n\n"
    "Exit status: 0 all bits right, 1 a divergence, 2 unusable input or nothing to compare, 3 a kernel or device "
    "failed.\n\n"
    "Example:\n"
    "  fp4oracle run --kernel cpu_reference:cpu/nvfp4 vector.safetensors";

static error_t parse(int key, char *argument, struct argp_state *state)
{
    parsed *p = state->input;
    fpo_error error = {.status = FPO_OK};
    fpo_status status = FPO_OK;
    switch (key) {
    case 'k': p->kernel = argument; break;
    case 's': p->suite = argument; break;
    case 'm': status = fpo_parse_model(argument, &p->model, &error); break;
    case OPTION_DEVICE: p->device = argument; break;
    case OPTION_LIMIT:
        status = fpo_parse_float("--time-limit", argument, &p->time_limit, &error);
        if (status == FPO_OK && !(p->time_limit > 0 && p->time_limit < 1e6f)) {
            argp_error(state, "--time-limit: seconds, more than 0 and less than a million");
        }
        break;
    case OPTION_ONCE: p->once = true; break;
    case OPTION_NO_DIAGNOSIS: p->no_diagnosis = true; break;
    case OPTION_LIST: p->list = true; break;
    case OPTION_JSON: p->json = true; break;
    case OPTION_JUNIT: p->junit = argument; break;
    case OPTION_RECORD: p->record = argument; break;
    case ARGP_KEY_ARGS:
        p->vectors = state->argv + state->next;
        p->vector_count = (size_t)(state->argc - state->next);
        break;
    case ARGP_KEY_END:
        if (p->kernel == NULL) {
            argp_error(state, "which kernel: --kernel PLUGIN[:NAME]");
        } else if (!p->list && p->suite == NULL && p->vector_count == 0) {
            argp_error(state, "which vectors: --suite SUITE, or VECTOR ...");
        }
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    if (status != FPO_OK) {
        argp_error(state, "%s", error.message);
    }
    return 0;
}

/* What the run knows while it goes on. */
typedef struct run {
    const parsed *p;
    fpo_runner runner;
    char *plugin;      /* path */
    char *plugin_name; /* as on the command line */
    const char *pattern;
    bool one_kernel; /* the pattern is a name: what is unsupported is said for each vector */
    json_t *kernels, *results;
    size_t left_out;
    /* The kernel and the vector at work. */
    const fpo_kernel_info *kernel;
    const fpo_run_vector *vector;
    bool announced;
    size_t variants;        /* of that kernel and vector, so far */
    fpo_error record_error; /* the first record that could not be written */
} run;

static char *reproduce_line(const run *r)
{
    char kernel[1024], limit[32];
    char program[] = "fp4oracle", command[] = "run", kernel_option[] = "--kernel", device_option[] = "--device",
         model_option[] = "--model", limit_option[] = "--time-limit", once_option[] = "--once";
    char *arguments[16] = {program, command, kernel_option, kernel};
    int count = 4;
    snprintf(kernel, sizeof kernel, "%s:%s", r->plugin_name, r->kernel->name);
    if (r->p->device != NULL) {
        arguments[count++] = device_option;
        memcpy(&arguments[count++], &r->p->device, sizeof arguments[0]);
    }
    if (r->p->model != NULL) {
        arguments[count++] = model_option;
        memcpy(&arguments[count++], &r->p->model->name, sizeof arguments[0]);
    }
    if (r->p->time_limit > 0) {
        snprintf(limit, sizeof limit, "%g", (double)r->p->time_limit);
        arguments[count++] = limit_option;
        arguments[count++] = limit;
    }
    if (r->p->once) {
        arguments[count++] = once_option;
    }
    arguments[count++] = r->vector->path;
    return fpo_command_line(count, arguments);
}

static void announce(run *r)
{
    if (!r->announced) {
        r->announced = true;
        json_array_append_new(r->kernels, fpo_kernel_json(&r->runner, r->kernel, true));
        if (!r->p->json) {
            fpo_run_print_kernel(&r->runner, r->kernel);
        }
    }
}

static void take(void *context, const fpo_kernel_info *kernel, const fpo_run_result *result)
{
    run *r = context;
    if (result->c == NULL && result->outcome == FPO_OUTCOME_UNSUPPORTED && !r->one_kernel) {
        return; /* it takes no such vector, and nobody asked for this kernel by name */
    }
    announce(r);
    char *line = reproduce_line(r);
    json_array_append_new(r->results, fpo_run_result_json(kernel, result, r->vector->path, line != NULL ? line : ""));
    if (!r->p->json) {
        fpo_run_print_result(result, r->vector->path, line != NULL ? line : "");
        fflush(stdout);
    }
    free(line);
    if (r->p->record != NULL && r->record_error.status == FPO_OK) {
        fpo_run_record(r->p->record, &r->runner, kernel, result, r->vector->path, r->variants, &r->record_error);
    }
    r->variants++;
}

static void run_kernel(run *r, const fpo_run_vectors *vectors)
{
    r->announced = false;
    for (size_t i = 0; i < vectors->count; i++) {
        fpo_vector *vector = NULL;
        fpo_error error;
        r->vector = &vectors->list[i];
        r->variants = 0;
        if (fpo_vector_read(r->vector->path, &vector, &error) != FPO_OK) {
            fpo_run_result result = {.variant = "", .outcome = FPO_OUTCOME_UNUSABLE};
            snprintf(result.text, sizeof result.text, "%s", error.message);
            take(r, r->kernel, &result);
        } else {
            fpo_runner_run(&r->runner, r->kernel, vector, take, r);
            fpo_vector_free(vector);
        }
    }
    r->left_out += r->announced ? 0 : 1;
}

static bool is_wanted(const run *r, const fpo_kernel_info *kernel)
{
    if (r->pattern == NULL) {
        return kernel->fault == NULL;
    }
    return r->one_kernel ? strcmp(kernel->name, r->pattern) == 0 : fnmatch(r->pattern, kernel->name, 0) == 0;
}

static fpo_status run_all(run *r, const fpo_run_vectors *vectors, fpo_error *error)
{
    size_t wanted = 0;
    for (size_t i = 0; i < r->runner.plugin.count; i++) {
        r->kernel = &r->runner.plugin.kernels[i];
        if (is_wanted(r, r->kernel)) {
            wanted++;
            run_kernel(r, vectors);
        }
    }
    if (wanted == 0) {
        return fpo_fail(
            error, FPO_ERR_ARGUMENT, "%s has no kernel %s; `fp4oracle run --kernel %s --list` shows its kernels",
            r->runner.plugin.name, r->pattern != NULL ? r->pattern : "that means to be right", r->plugin_name);
    }
    return FPO_OK;
}

/* "PLUGIN:NAME": the last colon parts them, for a kernel's name has none. */
static fpo_status split_kernel(run *r, fpo_error *error)
{
    r->plugin_name = strdup(r->p->kernel);
    if (r->plugin_name == NULL) {
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory");
    }
    char *colon = strrchr(r->plugin_name, ':');
    if (colon != NULL) {
        *colon = '\0';
        r->pattern = colon + 1;
        r->one_kernel = strpbrk(r->pattern, "*?[") == NULL;
    }
    return fpo_plugin_find(r->plugin_name, &r->plugin, error);
}

static int finish(run *r, json_t *header)
{
    fpo_error error;
    json_object_set(header, "kernels", r->kernels);
    json_object_set(header, "results", r->results);
    json_object_set_new(header, "summary", fpo_run_summary_json(r->results));
    int status = fpo_run_exit_status(r->results);
    if (r->record_error.status != FPO_OK) {
        status = fpo_report_error(PROGRAM, &r->record_error);
    }
    if (r->p->junit != NULL && fpo_run_write_junit(r->p->junit, header, &error) != FPO_OK) {
        status = fpo_report_error(PROGRAM, &error);
    }
    if (r->p->json) {
        int printed = fpo_print_json(json_incref(header));
        return printed != FPO_EXIT_OK ? printed : status;
    }
    fpo_run_print_summary(json_object_get(header, "summary"), r->left_out);
    return status;
}

static int list_kernels(run *r, const fpo_runner_options *settings)
{
    fpo_error error;
    int status = FPO_EXIT_OK;
    if (fpo_runner_look(&r->runner, settings, &error) != FPO_OK) {
        return fpo_report_error(PROGRAM, &error);
    }
    if (r->p->json) {
        json_t *kernels = json_array();
        for (size_t i = 0; i < r->runner.plugin.count; i++) {
            json_array_append_new(kernels, fpo_kernel_json(&r->runner, &r->runner.plugin.kernels[i], false));
        }
        status = fpo_print_json(json_pack("{s:s, s:o}", "plugin", r->runner.plugin.name, "kernels", kernels));
    } else {
        fpo_run_print_list(&r->runner);
    }
    fpo_runner_close(&r->runner, NULL);
    return status;
}

static int run_kernels(run *r, const fpo_runner_options *settings)
{
    const parsed *p = r->p;
    fpo_error error;
    fpo_run_vectors vectors = {0};
    fpo_status status = fpo_run_vectors_find(p->suite, p->vectors, p->vector_count, &vectors, &error);
    if (status == FPO_OK && p->record != NULL) { /* now, not after hours of kernels */
        status = fpo_run_record_folder(p->record, &error);
    }
    status = status == FPO_OK ? fpo_runner_open(&r->runner, settings, &error) : status;
    if (status != FPO_OK) {
        fpo_run_vectors_free(&vectors);
        return fpo_report_error(PROGRAM, &error);
    }
    json_t *header = fpo_run_header_json(&r->runner);
    r->kernels = json_array();
    r->results = json_array();
    if (!p->json) {
        fpo_run_print_header(&r->runner);
    }
    status = run_all(r, &vectors, &error);
    int exit_status = status == FPO_OK ? finish(r, header) : fpo_report_error(PROGRAM, &error);
    if (fpo_runner_close(&r->runner, &error) != FPO_OK) {
        exit_status = fpo_report_error(PROGRAM, &error);
    }
    json_decref(header);
    json_decref(r->kernels);
    json_decref(r->results);
    fpo_run_vectors_free(&vectors);
    return exit_status;
}

int fpo_cmd_run(int argc, char **argv)
{
    static const struct argp parser = {
        .options = options, .parser = parse, .args_doc = "[VECTOR...]", .doc = documentation};
    parsed p = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &p);
    run r = {.p = &p};
    fpo_error error;
    if (split_kernel(&r, &error) != FPO_OK) {
        free(r.plugin_name);
        return fpo_report_error(PROGRAM, &error);
    }
    const fpo_runner_options settings = {.plugin = r.plugin,
                                         .device = p.device,
                                         .time_limit = p.time_limit > 0 ? (double)p.time_limit : 60,
                                         .once = p.once,
                                         .judge = {.model = p.model, .diagnose = !p.no_diagnosis}};
    int status = p.list ? list_kernels(&r, &settings) : run_kernels(&r, &settings);
    free(r.plugin);
    free(r.plugin_name);
    return status;
}

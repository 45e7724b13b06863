/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle run: the kernels of a plug-in over vectors. */
#include "report.h"
#include "run_arguments.h"
#include "run_record.h"
#include "run_records.h"
#include "run_text.h"
#include "run_vectors.h"
#include "source.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "fp4oracle run"

/* What the run knows while it goes on. */
typedef struct run {
    const fpo_run_arguments *p;
    fpo_runner runner;
    char *plugin;      /* path */
    char *plugin_name; /* as on the command line */
    const char *pattern;
    bool one_kernel; /* the pattern is a name: what is unsupported is said for each vector */
    json_t *kernels, *results;
    size_t left_out;
    /* The kernel and the vector at work. */
    const fpo_kernel_info *kernel;
    fpo_run_vector *vector;
    bool announced;
    size_t variants;        /* of that kernel and vector, so far */
    fpo_error record_error; /* the first record that could not be written */
} run;

static char *reproduce_line(const run *r)
{
    char kernel[1024], limit[32];
    char program[] = "fp4oracle", command[] = "run", kernel_option[] = "--kernel", device_option[] = "--device",
         model_option[] = "--model", limit_option[] = "--time-limit", once_option[] = "--once";
    char source_option[2][16] = {"--source-a", "--source-b"};
    char vector_text[2][128];
    char *arguments[24] = {program, command, kernel_option, kernel};
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
    for (int i = 0; i < 2; i++) {
        if (r->p->source[i] != NULL) {
            arguments[count++] = source_option[i];
            memcpy(&arguments[count++], &r->p->source[i], sizeof arguments[0]);
        }
    }
    count += fpo_run_vector_arguments(r->vector, vector_text, arguments + count);
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
        if (!fpo_run_vector_suits(r->vector, r->kernel)) {
            continue;
        }
        r->variants = 0;
        fpo_status status = fpo_run_vector_open(r->vector, r->kernel, &vector, &error);
        if (status == FPO_OK && r->vector->entry == NULL) {
            status = fpo_take_sources(r->p->source, vector, &error);
            if (status != FPO_OK) {
                fpo_run_vector_close(r->vector, vector);
            }
        }
        if (status != FPO_OK) {
            bool other = r->vector->entry != NULL && status == FPO_ERR_UNSUPPORTED; /* for other kernels than this */
            fpo_run_result result = {.variant = "", .outcome = other ? FPO_OUTCOME_UNSUPPORTED : FPO_OUTCOME_UNUSABLE};
            snprintf(result.text, sizeof result.text, "%s", error.message);
            take(r, r->kernel, &result);
        } else {
            fpo_runner_run(&r->runner, r->kernel, vector, take, r);
            fpo_run_vector_close(r->vector, vector);
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
    const fpo_run_arguments *p = r->p;
    fpo_error error;
    fpo_run_vectors vectors = {0};
    fpo_status status = fpo_run_vectors_find(p->suite, p->format, p->vectors, p->vector_count, &vectors, &error);
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
    fpo_run_arguments p;
    fpo_run_arguments_parse(argc, argv, &p);
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

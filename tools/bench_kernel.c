/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* bench --kernel: a plug-in's kernel on its device, the virtual GPU above all. */
#include "bench_kernel.h"

#include "generate.h"
#include "report.h"
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 99 };

typedef struct measurement {
    const fpo_bench_kernel *wanted;
    const fpo_kernel_info *kernel;
    double seconds[MOST_REPEATS];
    int count;
    fpo_outcome outcome;
    char text[FPO_MESSAGE_SIZE];
} measurement;

static void take(void *context, const fpo_kernel_info *kernel, const fpo_run_result *result)
{
    measurement *m = context;
    (void)kernel;
    if (m->count < MOST_REPEATS)
        m->seconds[m->count++] = result->launch_seconds;
    if (result->outcome > m->outcome) {
        m->outcome = result->outcome;
        snprintf(m->text, sizeof m->text, "%s", result->text);
    }
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static fpo_status find_kernel(const fpo_runner *runner, const char *name, const fpo_kernel_info **kernel,
                              fpo_error *error)
{
    for (size_t i = 0; i < runner->plugin.count; i++) {
        *kernel = &runner->plugin.kernels[i];
        if (strcmp((*kernel)->name, name) == 0)
            return FPO_OK;
    }
    return fpo_fail(error, FPO_ERR_ARGUMENT, "%s has no kernel %s", runner->plugin.name, name);
}

static fpo_status measure(fpo_runner *runner, measurement *m, fpo_error *error)
{
    const fpo_bench_kernel *w = m->wanted;
    fpo_generate generate = {.a = w->format,
                             .b = w->format,
                             .d = m->kernel->d.format,
                             .m = w->m,
                             .n = w->n,
                             .k = w->k,
                             .kind = FPO_DATA_GAUSSIAN,
                             .seed = 20261130};
    fpo_vector *vector = NULL;
    fpo_status status = fpo_generate_vector(&generate, &vector, error);
    for (int64_t i = 0; i < w->repeat && status == FPO_OK && m->outcome == FPO_OUTCOME_MATCH; i++)
        fpo_runner_run(runner, m->kernel, vector, take, m);
    fpo_vector_free(vector);
    return status;
}

static int print(const fpo_runner *runner, measurement *m)
{
    const fpo_bench_kernel *w = m->wanted;
    qsort(m->seconds, (size_t)m->count, sizeof m->seconds[0], compare);
    double seconds = m->seconds[m->count / 2], gmacs = (double)w->m * (double)w->n * (double)w->k / seconds * 1e-9;
    const char *format = fpo_block_format_describe(w->format)->name;
    const char *device = runner->devices.devices[runner->device].name;
    if (w->json)
        return fpo_print_json(json_pack("{s:s, s:s, s:s, s:[I,I,I], s:I, s:I, s:f, s:f, s:f}", "kernel",
                                        m->kernel->name, "device", device, "format", format, "shape", (json_int_t)w->m,
                                        (json_int_t)w->n, (json_int_t)w->k, "threads", (json_int_t)w->threads, "repeat",
                                        (json_int_t)m->count, "seconds", seconds, "fastest_seconds", m->seconds[0],
                                        "gmac_per_s", gmacs));
    fpo_heading("%s on %s: %s, %lld x %lld x %lld, %lld threads, %d launches", m->kernel->name, device, format,
                (long long)w->m, (long long)w->n, (long long)w->k, (long long)w->threads, m->count);
    printf("%.4f s (median; fastest %.4f s), %.2f GMAC/s, all bits right\n", seconds, m->seconds[0], gmacs);
    return FPO_EXIT_OK;
}

/* On a virtual GPU the threads are a setting of the device. */
static char *device_of(const fpo_bench_kernel *w)
{
    size_t size = (w->device != NULL ? strlen(w->device) : 0) + 32;
    char *device = w->device != NULL ? malloc(size) : NULL;
    if (device != NULL && strncmp(w->device, "virtual:", 8) == 0)
        snprintf(device, size, "%s,threads=%lld", w->device, (long long)w->threads);
    else if (device != NULL)
        snprintf(device, size, "%s", w->device);
    return device;
}

static int run(const char *program, const char *path, const char *name, const fpo_bench_kernel *w)
{
    fpo_error error;
    char *device = device_of(w);
    const fpo_runner_options options = {.plugin = path, .device = device, .time_limit = 600, .once = true};
    fpo_runner runner;
    fpo_status status = fpo_runner_open(&runner, &options, &error);
    if (status != FPO_OK) {
        free(device);
        return fpo_report_error(program, &error);
    }
    measurement m = {.wanted = w};
    status = find_kernel(&runner, name, &m.kernel, &error);
    status = status == FPO_OK ? measure(&runner, &m, &error) : status;
    int result;
    if (status != FPO_OK) {
        result = fpo_report_error(program, &error);
    } else if (m.outcome != FPO_OUTCOME_MATCH) {
        fprintf(stderr, "%s: %s: %s\n", program, m.kernel->name, m.text);
        result = fpo_outcome_exit_status(m.outcome);
    } else {
        result = print(&runner, &m);
    }
    fpo_runner_close(&runner, NULL);
    free(device);
    return result;
}

int fpo_bench_run_kernel(const char *program, const fpo_bench_kernel *wanted)
{
    fpo_error error = {FPO_OK, ""};
    char *plugin = strdup(wanted->kernel), *colon = plugin != NULL ? strrchr(plugin, ':') : NULL, *path = NULL;
    int result;
    if (colon == NULL) {
        result = fpo_report_unusable(program, "--kernel %s: one kernel is timed, PLUGIN:NAME", wanted->kernel);
    } else {
        *colon = '\0';
        fpo_status status = fpo_plugin_find(plugin, &path, &error);
        result = status == FPO_OK ? run(program, path, colon + 1, wanted) : fpo_report_error(program, &error);
    }
    free(path);
    free(plugin);
    return result;
}

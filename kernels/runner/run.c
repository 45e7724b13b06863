/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* From a kernel and a vector to a result. */
#include "runner.h"

#include "runner_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A process for the next vector: a new one for another kernel, and if the last vector took its own along. */
static fpo_status revive(fpo_runner *runner, uint32_t kernel, fpo_error *error)
{
    if (runner->running && !runner->fresh && runner->kernel != kernel) {
        fpo_runner_stop(runner, false);
    }
    runner->kernel = kernel;
    if (runner->running) {
        return FPO_OK;
    }
    fpo_status status = fpo_runner_load(runner, error);
    return status == FPO_OK ? fpo_runner_open_device(runner, error) : status;
}

static void note(fpo_run_result *result, fpo_outcome outcome, const char *text)
{
    if (result->finding_count < FPO_FINDINGS) {
        fpo_run_finding *finding = &result->findings[result->finding_count++];
        finding->outcome = outcome;
        snprintf(finding->text, sizeof finding->text, "%s", text);
    }
    if (outcome > result->outcome) {
        result->outcome = outcome;
        snprintf(result->text, sizeof result->text, "%s", text);
    }
}

/* The worker's own words belong to a failure. What it left behind may be damaged: the next vector gets a new one. */
static void end_badly(fpo_runner *runner, fpo_run_result *result)
{
    bool fatal = runner->child.pid <= 0 || result->outcome == FPO_OUTCOME_DEVICE_LOST ||
                 result->outcome == FPO_OUTCOME_OUT_OF_BOUNDS;
    if (fpo_outcome_exit_status(result->outcome) == 3) {
        fpo_child_log(&runner->child, result->log, sizeof result->log);
    }
    if (fatal) {
        fpo_runner_stop(runner, true);
    }
}

static fpo_outcome outcome_of_error(const fpo_error *error)
{
    switch (error->status) {
    case FPO_ERR_UNSUPPORTED: return FPO_OUTCOME_UNSUPPORTED;
    case FPO_ERR_MEMORY: return FPO_OUTCOME_OUT_OF_MEMORY;
    case FPO_ERR_KERNEL: return FPO_OUTCOME_FAILED;
    default: return FPO_OUTCOME_UNUSABLE;
    }
}

/* A note of what differs beyond elements that were never written: those have their finding already. */
static void note_mismatch(const fpo_checks *checks, const fpo_judgement *judgement, fpo_run_result *result)
{
    const fpo_comparison *comparison = &judgement->comparison;
    bool scales = comparison->different == 0;
    int64_t unwritten = scales ? 0 : checks->unwritten, elements = comparison->elements - unwritten,
            different = comparison->different - unwritten;
    char text[FPO_MESSAGE_SIZE];
    if (scales) {
        elements = judgement->scale_comparison.elements;
        different = judgement->scale_comparison.different;
    }
    if (different > 0) {
        snprintf(text, sizeof text, "%" PRId64 " of %" PRId64 " %s differ from %s", different, elements,
                 scales          ? "scales of D"
                 : unwritten > 0 ? "elements that it wrote"
                                 : "elements",
                 judgement->model);
        note(result, FPO_OUTCOME_MISMATCH, text);
    }
}

/* What the other data give when they are the first thing that a process sees. */
static fpo_status run_other_alone(const fpo_runner *runner, const fpo_kernel_info *kernel, const fpo_case *c,
                                  const fpo_stage *stage, const fpo_checks *checks, void *d, fpo_error *error)
{
    fpo_runner other = {.options = runner->options,
                        .plugin = runner->plugin,
                        .devices = runner->devices,
                        .device = runner->device,
                        .virtual_gpu = runner->virtual_gpu};
    fpo_stage alone;
    fpo_variant_info variant;
    fpo_status status = fpo_runner_load(&other, error);
    status = status == FPO_OK ? fpo_runner_open_device(&other, error) : status;
    if (status == FPO_OK) {
        status = fpo_stage_open(&alone, &other.child, kernel, &c->problem, error);
        status = status == FPO_OK ? fpo_stage_choose(&alone, stage->wire.variant, &variant, error) : status;
        if (status == FPO_OK) {
            status = fpo_check_other(&alone, checks, d, error);
            fpo_variant_info_free(&variant);
        }
        fpo_stage_close(&alone);
    }
    fpo_runner_stop(&other, true);
    return status;
}

/* The launch with other data must be right, too. If it is not, these data alone in another process tell whether
 * something was kept (the verdict) or whether the kernel cannot do them (which nobody has asked). */
static void judge_other(const fpo_runner *runner, const fpo_kernel_info *kernel, const fpo_stage *stage,
                        const fpo_checks *checks, const fpo_judgement *judgement, fpo_run_result *result)
{
    fpo_gemm_problem other = fpo_stage_other_problem(stage);
    bool match = true;
    fpo_status status = fpo_judge_other(judgement, &other, checks, &runner->options.judge, &match, NULL);
    void *d = status == FPO_OK && !match ? malloc(checks->d_bytes + 1) : NULL;
    if (d != NULL && run_other_alone(runner, kernel, result->c, stage, checks, d, NULL) == FPO_OK &&
        memcmp(d, checks->other_d, checks->d_bytes) != 0) {
        note(result, FPO_OUTCOME_STALE_DATA,
             "with other data it returns something else than in a process of its own: it keeps what it saw first");
    }
    free(d);
}

/* Launches, then the judgement. */
static void judge(const fpo_runner *runner, const fpo_kernel_info *kernel, const fpo_stage *stage,
                  const fpo_kernel_order *order, const fpo_checks *checks, fpo_judgement *judgement,
                  fpo_run_result *result)
{
    fpo_error error = {0};
    fpo_judge_options options = runner->options.judge;
    options.diagnose = options.diagnose && result->outcome == FPO_OUTCOME_MATCH; /* else the cause is known */
    fpo_status status = fpo_judge(result->c, order, checks, &options, judgement, &error);
    if (status != FPO_OK) {
        note(result, outcome_of_error(&error), error.message);
        return;
    }
    result->judged = true;
    result->observed = checks;
    result->judgement = judgement;
    if (!judgement->match) {
        note_mismatch(checks, judgement, result);
    } else if (checks->other_d != NULL && result->outcome == FPO_OUTCOME_MATCH) {
        judge_other(runner, kernel, stage, checks, judgement, result);
    }
}

static bool is_checked(const fpo_runner *runner)
{
    return runner->virtual_gpu.capability != 0 && strstr(runner->options.device, "check=1") != NULL;
}

/* On a virtual GPU, where a divergence begins; with check=1, scales that were never read. */
static void locate(const fpo_runner *runner, fpo_stage *stage, fpo_run_result *result)
{
    char text[FPO_MESSAGE_SIZE];
    fpo_error error;
    bool wrong = result->outcome == FPO_OUTCOME_MISMATCH;
    if (runner->virtual_gpu.capability != 120 || !result->judged || (!wrong && !is_checked(runner)) ||
        fpo_stage_trace(stage, text, sizeof text, &error) != FPO_OK) {
        return;
    }
    char *unread = strchr(text, '\n');
    if (unread != NULL) {
        *unread++ = '\0';
    }
    if (wrong) {
        note(result, FPO_OUTCOME_MISMATCH,
             text[0] != '\0' ? text
                             : "every mma gets rows, columns, scales and accumulators that belong together: look at "
                               "what follows, or at the arithmetic");
    }
    if (unread != NULL && unread[0] != '\0') {
        note(result, FPO_OUTCOME_CHECK_FAILED, unread);
    }
}

static bool is_noted(const fpo_run_result *result, const char *text)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        if (strcmp(result->findings[i].text, text) == 0) {
            return true;
        }
    }
    return false;
}

/* What the checks of the virtual GPU printed, each finding once. */
static void note_checks(const fpo_runner *runner, fpo_run_result *result)
{
    static const char mark[] = "VIRTUAL GPU: check: ";
    static char log[1 << 15];
    if (!is_checked(runner) || runner->child.pid <= 0) {
        return;
    }
    fpo_child_log(&runner->child, log, sizeof log);
    for (char *line = strtok(log, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        const char *found = strstr(line, mark);
        if (found != NULL && !is_noted(result, found + sizeof mark - 1)) {
            note(result, FPO_OUTCOME_CHECK_FAILED, found + sizeof mark - 1);
        }
    }
}

/* The first error that the virtual GPU printed from a place of the log on, or NULL. */
static char *virtual_error(const fpo_child *child, off_t from)
{
    static const char mark[] = "VIRTUAL GPU: ", check[] = "check: ";
    static char log[1 << 15];
    fpo_child begun = *child;
    begun.log_mark = from;
    fpo_child_log(&begun, log, sizeof log);
    for (char *line = strtok(log, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *text = strstr(line, mark);
        if (text != NULL && strncmp(text + sizeof mark - 1, check, sizeof check - 1) != 0) {
            return text + sizeof mark - 1;
        }
    }
    return NULL;
}

/* Host code between a kernel and the virtual GPU may keep the reason for itself: CUTLASS says "Error Internal" where a
 * module was not loaded, which may have been long before this launch. */
static void add_reason(const fpo_runner *runner, const char *text, char *whole, size_t size)
{
    enum { ENOUGH = 48 }; /* characters that tell a reason from another; a plug-in may have cut it */
    snprintf(whole, size, "%s", text);
    if (runner->virtual_gpu.capability == 0 || runner->child.pid <= 0) {
        return;
    }
    char *reason = virtual_error(&runner->child, runner->child.log_mark);
    if (reason == NULL || strstr(reason, "not loaded") != NULL) {
        reason = virtual_error(&runner->child, 0);
    }
    char begin[ENOUGH + 1];
    snprintf(begin, sizeof begin, "%s", reason != NULL ? reason : "");
    if (reason != NULL && strstr(text, begin) == NULL) {
        snprintf(whole, size, "%s; the virtual GPU: %s", text, reason);
    }
}

/* A set stage, one variant. True: try it again in a fresh process; there was no report. */
static bool run_variant(fpo_runner *runner, fpo_stage *stage, const fpo_case *c, const fpo_kernel_info *kernel,
                        const fpo_variant_info *variant, fpo_run_report report, void *context)
{
    fpo_case own = *c;
    fpo_run_result result = {.variant = variant->name, .c = &own};
    fpo_checks checks = {0};
    fpo_judgement judgement = {0};
    fpo_error error = {0};
    bool fresh = runner->fresh;
    double begin = now();
    runner->fresh = false;
    fpo_child_mark_log(&runner->child);
    fpo_status status = fpo_adapt_epilogue(&variant->order, &own, &error);
    stage->outcome = status != FPO_OK ? outcome_of_error(&error) : stage->outcome;
    status = status == FPO_OK ? fpo_check_launches(stage, runner->options.once, &checks, &error) : status;
    result.seconds = now() - begin;
    result.launches = checks.launches;
    result.launch_seconds = stage->launch_seconds;
    for (size_t i = 0; i < checks.count; i++) {
        note(&result, checks.findings[i].outcome, checks.findings[i].text);
    }
    if (status != FPO_OK) {
        char text[2 * FPO_MESSAGE_SIZE];
        add_reason(runner, error.message, text, sizeof text);
        note(&result, stage->outcome, text);
    } else {
        judge(runner, kernel, stage, &variant->order, &checks, &judgement, &result);
        locate(runner, stage, &result);
        note_checks(runner, &result);
    }
    bool again = result.outcome == FPO_OUTCOME_MISMATCH && !fresh;
    if (!again && runner->retrying && result.outcome == FPO_OUTCOME_MATCH) {
        note(&result, FPO_OUTCOME_STALE_DATA,
             "right in a process of its own, but wrong in one that had run other problems before");
    }
    runner->retrying = again;
    if (again) {
        fpo_runner_stop(runner, true);
    } else {
        end_badly(runner, &result);
        report(context, kernel, &result);
    }
    fpo_judgement_free(&judgement);
    fpo_checks_free(&checks);
    return again;
}

static void fail(fpo_runner *runner, const fpo_kernel_info *kernel, const fpo_case *c, fpo_outcome outcome,
                 const char *text, fpo_run_report report, void *context)
{
    fpo_run_result result = {.variant = "", .c = c};
    char whole[2 * FPO_MESSAGE_SIZE];
    add_reason(runner, text, whole, sizeof whole);
    note(&result, outcome, whole);
    end_badly(runner, &result);
    report(context, kernel, &result);
}

/* All variants from `first` on, with one stage; returns the next one that is left, which needs a new process. */
static uint32_t run_stage(fpo_runner *runner, const fpo_kernel_info *kernel, const fpo_case *c, uint32_t first,
                          uint32_t *count, fpo_run_report report, void *context)
{
    fpo_stage stage;
    fpo_error error = {0};
    uint32_t variant = first;
    fpo_status status = fpo_stage_open(&stage, &runner->child, kernel, &c->problem, &error);
    status = status == FPO_OK ? fpo_stage_check(&stage, count, &error) : status;
    while (status == FPO_OK && runner->running && variant < *count) {
        fpo_variant_info info;
        fpo_status chosen = fpo_stage_choose(&stage, variant, &info, &error);
        if (chosen == FPO_OK) {
            variant += run_variant(runner, &stage, c, kernel, &info, report, context) ? 0 : 1;
            fpo_variant_info_free(&info);
        } else {
            fail(runner, kernel, c, stage.outcome, error.message, report, context);
            variant++;
        }
    }
    if (status != FPO_OK) {
        fail(runner, kernel, c, stage.outcome, error.message, report, context);
        variant = UINT32_MAX;
    }
    fpo_stage_close(&stage);
    return variant;
}

void fpo_runner_run(fpo_runner *runner, const fpo_kernel_info *kernel, const fpo_vector *vector, fpo_run_report report,
                    void *context)
{
    fpo_case c;
    fpo_error error = {0};
    fpo_status status = fpo_runner_supports(runner, kernel, &error);
    status = status == FPO_OK ? fpo_adapt(kernel, vector, &c, &error) : status;
    if (status != FPO_OK) {
        fpo_run_result result = {.variant = ""};
        note(&result, outcome_of_error(&error), error.message);
        report(context, kernel, &result);
        return;
    }
    uint32_t count = 1;
    for (uint32_t next = 0; next < count;) {
        status = revive(runner, kernel->index, &error);
        if (status != FPO_OK) {
            fail(runner, kernel, &c, FPO_OUTCOME_FAILED, error.message, report, context);
            return;
        }
        next = run_stage(runner, kernel, &c, next, &count, report, context);
    }
}

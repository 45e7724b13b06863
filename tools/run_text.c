/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Verdicts for people. */
#include "run_text.h"

#include "causes.h"
#include "differences.h"
#include "report.h"
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void fpo_run_print_header(const fpo_runner *runner)
{
    const fpo_device_info *device = &runner->devices.devices[runner->device];
    printf("plug-in  %s %s (%s)\n", runner->plugin.name, runner->plugin.version, runner->options.plugin);
    if (runner->plugin.host_memory) {
        printf("device   cpu: %s", device->name);
    } else {
        int virtual_sm = runner->virtual_gpu.capability;
        printf(virtual_sm != 0 ? "device   virtual:sm%d" : "device   gpu:%d",
               virtual_sm != 0 ? virtual_sm : device->index);
        printf(": %s, compute capability %d.%d, %d multiprocessors", device->name, device->compute_capability / 10,
               device->compute_capability % 10, device->multiprocessors);
    }
    if (device->memory_bytes > 0) {
        printf(", %.1f GiB", (double)device->memory_bytes / (1 << 30));
    }
    printf("; %s\n", device->software);
}

static const char *provenance_of(const char *model)
{
    const fpo_model *found = fpo_model_by_name(model);
    return found != NULL ? fpo_provenance_name(found->provenance) : "not in the registry";
}

void fpo_run_print_kernel(const fpo_runner *runner, const fpo_kernel_info *kernel)
{
    fpo_section("kernel %s", kernel->name);
    printf("  %s", kernel->summary);
    if (kernel->source != NULL) {
        printf("; from %s", kernel->source);
    }
    printf("\n  computes with %s\n", fpo_runner_arithmetic(runner, kernel));
    if (kernel->fault != NULL) {
        printf("  %sbroken on purpose: it %s%s\n", fpo_style(stdout, FPO_WARN), kernel->fault,
               fpo_style(stdout, FPO_PLAIN));
    }
}

static void print_judgement(const fpo_run_result *result)
{
    const fpo_judgement *judgement = result->judgement;
    if (judgement->diagnosed) {
        fpo_causes_print(&judgement->diagnosis, NULL);
    } else if (judgement->no_diagnosis[0] != '\0') {
        printf("  %-16s %s\n", "no diagnosis", judgement->no_diagnosis);
    }
    if (judgement->comparison.different > 0) {
        fpo_differences differences;
        fpo_find_differences(judgement->spec.epilogue.d, result->c->problem.m, result->c->problem.n,
                             judgement->expected, result->observed->d, &differences);
        fpo_differences_print(&differences);
    }
    puts("");
}

static fpo_style_kind style_of(fpo_outcome outcome)
{
    if (outcome == FPO_OUTCOME_MATCH) {
        return FPO_GOOD;
    }
    return outcome == FPO_OUTCOME_UNSUPPORTED ? FPO_DIM : FPO_BAD;
}

static void print_log(const char *log)
{
    while (*log != '\0') {
        int length = (int)strcspn(log, "\n");
        printf("  %-16s %.*s\n", "it printed", length, log);
        log += length + (log[length] == '\n');
    }
}

static bool has_mismatch(const fpo_run_result *result)
{
    bool found = false;
    for (size_t i = 0; i < result->finding_count; i++) {
        found = found || result->findings[i].outcome == FPO_OUTCOME_MISMATCH;
    }
    return found;
}

void fpo_run_print_result(const fpo_run_result *result, const char *vector, const char *reproduce)
{
    printf("%s%-16s%s %s", fpo_style(stdout, style_of(result->outcome)), fpo_outcome_name(result->outcome),
           fpo_style(stdout, FPO_PLAIN), vector);
    if (result->c != NULL) {
        const fpo_gemm_problem *p = &result->c->problem;
        printf("  %" PRId64 "x%" PRId64 "x%" PRId64, p->m, p->n, p->k);
    }
    if (result->variant[0] != '\0') {
        printf("  [%s]", result->variant);
    }
    if (result->outcome == FPO_OUTCOME_MATCH) {
        const fpo_judgement *judgement = result->judgement;
        printf("  all bits as %s (%s), %s; %d launch%s, %.3g s\n", judgement->model, provenance_of(judgement->model),
               judgement->golden ? "golden" : "computed", result->launches, result->launches == 1 ? "" : "es",
               result->seconds);
        return;
    }
    if (result->outcome == FPO_OUTCOME_UNSUPPORTED) {
        printf("  %s\n", result->text);
        return;
    }
    printf("  %s; reproduce: %s\n", result->text, reproduce);
    for (size_t i = 0; i < result->finding_count; i++) {
        if (strcmp(result->findings[i].text, result->text) != 0) {
            printf("  %-16s %s\n", fpo_outcome_name(result->findings[i].outcome), result->findings[i].text);
        }
    }
    print_log(result->log);
    if (result->judged && has_mismatch(result)) {
        print_judgement(result);
    }
}

void fpo_run_print_summary(const json_t *summary, size_t kernels_left_out)
{
    static const char *const names[] = {"matched", "diverged", "failed", "unusable", "unsupported"};
    fputs("\n", stdout);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int number = (int)json_integer_value(json_object_get(summary, names[i]));
        if (number > 0 || i < 3) {
            printf("%s%d %s", i > 0 ? ", " : "", number, names[i]);
        }
    }
    if (kernels_left_out > 0) {
        printf("; %zu kernels take none of these vectors", kernels_left_out);
    }
    fputs("\n", stdout);
}

/* "e2m1 ue4m3/16 128x4" */
static void operand_text(const fpo_operand_want *want, char *text, size_t size)
{
    const fpo_scale_view *scale = &want->view.scale;
    int used = snprintf(text, size, "%s", fpo_format_describe(want->view.element)->name);
    if (want->view.packing != FPO_PACKING_CANONICAL) {
        used += snprintf(text + used, size - (size_t)used, " %s", fpo_packing_name(want->view.packing));
    }
    if (want->mn_major) {
        used += snprintf(text + used, size - (size_t)used, " MN-major");
    }
    if (scale->format == FPO_FORMAT_NONE) {
        return;
    }
    const char *format = fpo_format_describe(scale->format)->name;
    if (scale->block_k == 0) {
        snprintf(text + used, size - (size_t)used, " %s/%s", format, scale->block_rows == 0 ? "tensor" : "row");
    } else if (scale->block_rows == 1) {
        snprintf(text + used, size - (size_t)used, " %s/%d %s", format, scale->block_k, fpo_layout_name(scale->layout));
    } else {
        snprintf(text + used, size - (size_t)used, " %s/%dx%d %s", format, scale->block_rows, scale->block_k,
                 fpo_layout_name(scale->layout));
    }
}

void fpo_run_print_list(const fpo_runner *runner)
{
    static const char *const headings[] = {"kernel", "A", "B", "D", "models", ""};
    fpo_table *table = fpo_table_new(6);
    for (size_t i = 0; i < 6; i++) {
        fpo_table_add(table, "%s", headings[i]);
    }
    for (size_t i = 0; i < runner->plugin.count; i++) {
        const fpo_kernel_info *kernel = &runner->plugin.kernels[i];
        char a[128], b[128];
        operand_text(&kernel->a, a, sizeof a);
        operand_text(&kernel->b, b, sizeof b);
        fpo_table_add(table, "%s", kernel->name);
        fpo_table_add(table, "%s", a);
        fpo_table_add(table, "%s", b);
        fpo_table_add(table, "%s", fpo_format_describe(kernel->d.format)->name);
        fpo_table_add(table, "%s", kernel->order.models != NULL ? kernel->order.models : "unknown");
        if (kernel->unusable[0] != '\0') {
            fpo_table_add(table, "unusable: %s", kernel->unusable);
        } else {
            fpo_table_add(table, "%s%s", kernel->fault != NULL ? "broken: " : "",
                          kernel->fault != NULL ? kernel->fault : "");
        }
    }
    fpo_table_print(table, 0);
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Results as JSON objects. */
#include "run_records.h"

#include "causes.h"
#include "command.h"
#include "differences.h"
#include "digest.h"

#include <fp4oracle/fp4oracle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text that need not be UTF-8: a file's name, a message that was cut. What is none is made readable, not dropped. */
static json_t *text_json(const char *text)
{
    json_t *json = json_string(text);
    char *copy = json == NULL ? strdup(text) : NULL;
    for (char *c = copy; c != NULL && *c != '\0'; c++) {
        *c = (unsigned char)*c >= 0x80 ? '?' : *c;
    }
    json = json != NULL ? json : json_string(copy != NULL ? copy : "?");
    free(copy);
    return json;
}

static json_t *text_or_null(const char *text)
{
    return text != NULL ? text_json(text) : json_null();
}

static const char *device_name(const fpo_runner *runner, const fpo_device_info *device, char *name, size_t size)
{
    snprintf(name, size, runner->virtual_gpu.capability != 0 ? "virtual:sm%d" : "gpu:%d",
             runner->virtual_gpu.capability != 0 ? runner->virtual_gpu.capability : device->index);
    return runner->plugin.host_memory ? "cpu" : name;
}

json_t *fpo_device_json(const fpo_runner *runner, const fpo_device_info *device)
{
    static const char *const kinds[] = {"gpu", "virtual", "other"};
    char name[32];
    const char *kind = runner->virtual_gpu.capability != 0 ? "virtual"
                       : device->kind < 3                  ? kinds[device->kind]
                                                           : "unknown";
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:b}", "device", device_name(runner, device, name, sizeof name), "name",
                  device->name, "software", device->software, "kind", kind, "usable", device->usable);
    json_object_set_new(json, "why", json_string(device->why));
    if (device->compute_capability > 0) {
        char capability[32];
        snprintf(capability, sizeof capability, "%d.%d", device->compute_capability / 10,
                 device->compute_capability % 10);
        json_object_set_new(json, "compute_capability", json_string(capability));
        json_object_set_new(json, "multiprocessors", json_integer(device->multiprocessors));
    }
    json_object_set_new(json, "memory_bytes", json_integer((json_int_t)device->memory_bytes));
    return json;
}

json_t *fpo_run_header_json(const fpo_runner *runner)
{
    return json_pack("{s:s, s:o, s:o}", "program", fpo_version(), "plugin",
                     json_pack("{s:s, s:s, s:o}", "name", runner->plugin.name, "version", runner->plugin.version,
                               "path", text_json(runner->options.plugin)),
                     "device", fpo_device_json(runner, &runner->devices.devices[runner->device]));
}

static json_t *operand_json(const fpo_operand_want *want)
{
    const fpo_scale_view *scale = &want->view.scale;
    json_t *json = json_pack("{s:s, s:s, s:s}", "element", fpo_format_describe(want->view.element)->name, "packing",
                             fpo_packing_name(want->view.packing), "major", want->mn_major ? "mn" : "k");
    if (scale->format != FPO_FORMAT_NONE) {
        json_object_set_new(json, "scale",
                            json_pack("{s:s, s:s, s:i, s:i}", "format", fpo_format_describe(scale->format)->name,
                                      "layout", fpo_layout_name(scale->layout), "rows", (int)scale->block_rows, "k",
                                      (int)scale->block_k));
    }
    return json;
}

json_t *fpo_kernel_json(const fpo_runner *runner, const fpo_kernel_info *kernel, bool device_open)
{
    json_t *json = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:o}", "name", kernel->name, "summary",
                             kernel->summary, "source", text_or_null(kernel->source), "fault",
                             text_or_null(kernel->fault), "a", operand_json(&kernel->a), "b", operand_json(&kernel->b),
                             "c", fpo_format_describe(kernel->c.format)->name, "d",
                             fpo_format_describe(kernel->d.format)->name, "models", text_or_null(kernel->order.models));
    if (kernel->unusable[0] != '\0') {
        json_object_set_new(json, "unusable", text_json(kernel->unusable));
    }
    if (device_open) {
        json_object_set_new(json, "arithmetic", json_string(fpo_runner_arithmetic(runner, kernel)));
    }
    return json;
}

static void add_judgement(json_t *json, const fpo_run_result *result)
{
    const fpo_judgement *judgement = result->judgement;
    const fpo_model *model = fpo_model_by_name(judgement->model);
    json_object_set_new(json, "model", json_string(judgement->model));
    json_object_set_new(json, "provenance",
                        model != NULL ? json_string(fpo_provenance_name(model->provenance)) : json_null());
    json_object_set_new(json, "golden", json_boolean(judgement->golden));
    const fpo_gemm_problem *problem = &result->c->problem;
    fpo_digest digest =
        fpo_digest_of(result->observed->d, fpo_output_bytes(&judgement->spec, problem->m, problem->n));
    json_object_set_new(json, "digest", json_string(digest.hex));
    json_object_set_new(json, "models_tried", json_integer((json_int_t)judgement->models_tried));
    if (judgement->match) {
        return;
    }
    fpo_differences differences;
    fpo_find_differences(judgement->spec.epilogue.d, result->c->problem.m, result->c->problem.n, judgement->expected,
                         result->observed->d, &differences);
    json_object_set_new(json, "differences", fpo_differences_json(&differences));
    json_object_set_new(json, "scales_different", json_integer((json_int_t)judgement->scale_comparison.different));
    if (judgement->diagnosed) {
        json_object_set_new(json, "verdict", json_string(fpo_verdict_name(judgement->diagnosis.verdict)));
        json_object_set_new(json, "causes", fpo_diagnosis_causes_json(&judgement->diagnosis));
        fpo_diagnosis_add_json(json, &judgement->diagnosis);
    } else if (judgement->no_diagnosis[0] != '\0') {
        json_object_set_new(json, "no_diagnosis", text_json(judgement->no_diagnosis));
    }
}

json_t *fpo_run_result_json(const fpo_kernel_info *kernel, const fpo_run_result *result, const char *vector,
                            const char *reproduce)
{
    json_t *findings = json_array();
    for (size_t i = 0; i < result->finding_count; i++) {
        json_array_append_new(findings,
                              json_pack("{s:s, s:o}", "outcome", fpo_outcome_name(result->findings[i].outcome), "text",
                                        text_json(result->findings[i].text)));
    }
    json_t *json = json_pack("{s:s, s:s, s:o, s:s, s:i, s:o, s:o, s:i, s:f}", "kernel", kernel->name, "variant",
                             result->variant, "vector", text_json(vector), "outcome", fpo_outcome_name(result->outcome),
                             "status", fpo_outcome_exit_status(result->outcome), "text", text_json(result->text),
                             "findings", findings, "launches", result->launches, "seconds", result->seconds);
    if (result->c != NULL) {
        const fpo_gemm_problem *p = &result->c->problem;
        json_object_set_new(json, "shape",
                            json_pack("[I, I, I]", (json_int_t)p->m, (json_int_t)p->n, (json_int_t)p->k));
    }
    if (result->judged) {
        add_judgement(json, result);
    }
    if (result->log[0] != '\0') {
        json_object_set_new(json, "log", text_json(result->log));
    }
    json_object_set_new(json, "reproduce", text_json(reproduce));
    return json;
}

typedef struct counts {
    int matched, diverged, failed, unusable, unsupported;
} counts;

static counts count(const json_t *results)
{
    counts c = {0};
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        const char *outcome = json_string_value(json_object_get(result, "outcome"));
        bool match = strcmp(outcome, fpo_outcome_name(FPO_OUTCOME_MATCH)) == 0;
        switch (json_integer_value(json_object_get(result, "status"))) {
        case FPO_EXIT_OK: *(match ? &c.matched : &c.unsupported) += 1; break;
        case FPO_EXIT_DIVERGENCE: c.diverged++; break;
        case FPO_EXIT_UNUSABLE: c.unusable++; break;
        default: c.failed++; break;
        }
    }
    return c;
}

json_t *fpo_run_summary_json(const json_t *results)
{
    counts c = count(results);
    return json_pack("{s:i, s:i, s:i, s:i, s:i}", "matched", c.matched, "diverged", c.diverged, "failed", c.failed,
                     "unusable", c.unusable, "unsupported", c.unsupported);
}

int fpo_run_exit_status(const json_t *results)
{
    counts c = count(results);
    if (c.failed > 0) {
        return FPO_EXIT_KERNEL;
    }
    if (c.unusable > 0) {
        return FPO_EXIT_UNUSABLE;
    }
    if (c.diverged > 0) {
        return FPO_EXIT_DIVERGENCE;
    }
    return c.matched > 0 ? FPO_EXIT_OK : FPO_EXIT_UNUSABLE; /* nothing compared is no success */
}

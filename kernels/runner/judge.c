/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The models that may describe a kernel, tried one after the other. */
#include "judge.h"

#include "spec_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A model by what is known of it: numbers from the registry, or from the vector. */
typedef struct candidate {
    const char *name;
    fpo_accumulation accumulation;
    const fpo_expected *stored; /* NULL: must be computed */
} candidate;

typedef struct candidates {
    size_t count, capacity;
    candidate *list;
} candidates;

static fpo_status add(candidates *all, const fpo_case *c, const char *name, const fpo_accumulation *accumulation,
                      fpo_error *error)
{
    for (size_t i = 0; i < all->count; i++) {
        if (fpo_record_equal(&fpo_record_accumulation, &all->list[i].accumulation, accumulation)) {
            return FPO_OK;
        }
    }
    if (all->count == all->capacity) {
        all->capacity = all->capacity * 2 + 8;
        candidate *grown = realloc(all->list, all->capacity * sizeof *grown);
        if (grown == NULL) {
            return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu models", all->capacity);
        }
        all->list = grown;
    }
    candidate next = {.name = name, .accumulation = *accumulation};
    for (size_t i = 0; c->golden && i < c->vector->expected_count; i++) {
        const fpo_expected *expected = &c->vector->expected[i];
        bool same = fpo_record_equal(&fpo_record_accumulation, &expected->accumulation, accumulation);
        next.stored = same ? expected : next.stored;
    }
    all->list[all->count++] = next;
    return FPO_OK;
}

static fpo_status add_model(candidates *all, const fpo_case *c, const fpo_model *model, const fpo_kernel_order *order,
                            fpo_error *error)
{
    fpo_accumulation accumulation;
    fpo_status status = fpo_accumulation_of(&model->accumulation, order, &accumulation, error);
    return status == FPO_OK ? add(all, c, model->name, &accumulation, error) : status;
}

static fpo_status add_named(candidates *all, const fpo_case *c, const fpo_kernel_order *order, fpo_error *error)
{
    const char *rest = order->models;
    while (*rest != '\0') {
        char name[128];
        size_t length = strcspn(rest, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, rest);
        rest += length + (rest[length] == ',');
        rest += strspn(rest, " ");
        const fpo_model *model = fpo_model_by_name(name);
        if (model == NULL) {
            return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the kernel's model is '%s', which this runner does not know",
                            name);
        }
        fpo_status status = add_model(all, c, model, order, error);
        if (status != FPO_OK) {
            return status;
        }
    }
    return FPO_OK;
}

/* Nothing is known of the kernel: what the vector has, then all that take such operands. */
static fpo_status add_all(candidates *all, const fpo_case *c, const fpo_kernel_order *order, fpo_error *error)
{
    fpo_status status = FPO_OK;
    for (size_t i = 0; i < c->vector->expected_count && status == FPO_OK; i++) {
        const fpo_expected *expected = &c->vector->expected[i];
        status = add(all, c, expected->model, &expected->accumulation, error);
    }
    const fpo_model *model;
    for (size_t i = 0; status == FPO_OK && (model = fpo_model_at(i)) != NULL; i++) {
        if (fpo_model_takes(model, &c->spec.a.read, &c->spec.b.read)) {
            status = add_model(all, c, model, order, error);
        }
    }
    return status;
}

/* A vector may have the digest of an output alone. */
static bool has_digest_of(const fpo_expected *stored, const fpo_checks *observed)
{
    fpo_digest d = fpo_digest_of(observed->d, observed->d_bytes);
    fpo_digest d_scale = fpo_digest_of(observed->d_scale, observed->d_scale_bytes);
    return fpo_digest_equal(&d, &stored->d_digest) &&
           (observed->d_scale == NULL || fpo_digest_equal(&d_scale, &stored->d_scale_digest));
}

static fpo_status expect(const fpo_case *c, const candidate *model, const fpo_checks *observed,
                         const fpo_judge_options *options, fpo_judgement *judgement, fpo_error *error)
{
    const fpo_expected *stored = model->stored;
    judgement->model = model->name;
    judgement->spec = c->spec;
    judgement->spec.accumulation = model->accumulation;
    judgement->golden = stored != NULL && (stored->d != NULL || has_digest_of(stored, observed));
    if (judgement->golden && stored->d == NULL) {
        memcpy(judgement->expected, observed->d, observed->d_bytes);
        if (judgement->expected_scale != NULL) {
            memcpy(judgement->expected_scale, observed->d_scale, observed->d_scale_bytes);
        }
        return FPO_OK;
    }
    if (judgement->golden) {
        memcpy(judgement->expected, stored->d, observed->d_bytes);
        if (judgement->expected_scale != NULL) {
            memcpy(judgement->expected_scale, stored->d_scale, observed->d_scale_bytes);
        }
        return FPO_OK;
    }
    fpo_gemm_output output = {judgement->expected, observed->d_bytes, judgement->expected_scale,
                              observed->d_scale_bytes};
    return fpo_gemm(&judgement->spec, &c->problem, &output, options->execution, error);
}

static bool equal(const fpo_judgement *judgement, const fpo_checks *observed)
{
    return memcmp(judgement->expected, observed->d, observed->d_bytes) == 0 &&
           (judgement->expected_scale == NULL ||
            memcmp(judgement->expected_scale, observed->d_scale, observed->d_scale_bytes) == 0);
}

static void compare(const fpo_case *c, const fpo_checks *observed, const fpo_judge_options *options,
                    fpo_judgement *judgement)
{
    const fpo_gemm_problem *p = &c->problem;
    fpo_error error = {0};
    fpo_compare(judgement->spec.epilogue.d, p->m, p->n, judgement->expected, observed->d, &judgement->comparison);
    if (judgement->expected_scale != NULL) {
        const fpo_epilogue *e = &judgement->spec.epilogue;
        fpo_compare(e->d_scale, p->m, fpo_output_scale_columns(e, p->n), judgement->expected_scale, observed->d_scale,
                    &judgement->scale_comparison);
    }
    if (options->diagnose) {
        fpo_observed output = {observed->d, observed->d_bytes, observed->d_scale,
                               observed->d_scale != NULL ? observed->d_scale_bytes : 0};
        judgement->diagnosed = fpo_diagnose_output(&judgement->spec, p, &output, options->execution,
                                                   &judgement->diagnosis, &error) == FPO_OK;
        snprintf(judgement->no_diagnosis, sizeof judgement->no_diagnosis, "%s", error.message);
    }
}

/* A wrong output is as far from one model as from the other: where the first does not explain it, another may. */
static fpo_status explain(const fpo_case *c, const candidates *all, const fpo_checks *observed,
                          const fpo_judge_options *options, fpo_judgement *judgement, fpo_error *error)
{
    enum { MOST = 3 }; /* each takes a search */
    fpo_judgement first = {0};
    for (size_t i = 0; i < all->count && i < MOST; i++) {
        fpo_status status = expect(c, &all->list[i], observed, options, judgement, error);
        if (status != FPO_OK) {
            return status;
        }
        compare(c, observed, options, judgement);
        if (!judgement->diagnosed || judgement->diagnosis.verdict != FPO_VERDICT_UNEXPLAINED) {
            return FPO_OK;
        }
        first = i == 0 ? *judgement : first;
    }
    fpo_status status = all->count > 1 ? expect(c, &all->list[0], observed, options, judgement, error) : FPO_OK;
    judgement->comparison = first.comparison;
    judgement->diagnosis = first.diagnosis;
    return status;
}

/* Every candidate until one matches; if none does, the comparison is with the first that explains the output. */
static fpo_status try_all(const fpo_case *c, const candidates *all, const fpo_checks *observed,
                          const fpo_judge_options *options, fpo_judgement *judgement, fpo_error *error)
{
    for (size_t i = 0; i < all->count; i++) {
        fpo_status status = expect(c, &all->list[i], observed, options, judgement, error);
        if (status != FPO_OK) {
            return status;
        }
        judgement->models_tried++;
        judgement->match = equal(judgement, observed);
        if (judgement->match) {
            return FPO_OK;
        }
    }
    return explain(c, all, observed, options, judgement, error);
}

fpo_status fpo_judge(const fpo_case *c, const fpo_kernel_order *order, const fpo_checks *observed,
                     const fpo_judge_options *options, fpo_judgement *judgement, fpo_error *error)
{
    candidates all = {0};
    *judgement = (fpo_judgement){0};
    fpo_status status;
    if (options->model != NULL) {
        const fpo_expected *stored = fpo_vector_expected(c->vector, options->model->name);
        status = stored != NULL && order->split == NULL ? add(&all, c, stored->model, &stored->accumulation, error)
                                                        : add_model(&all, c, options->model, order, error);
    } else {
        status = order->models != NULL ? add_named(&all, c, order, error) : add_all(&all, c, order, error);
    }
    if (status == FPO_OK) {
        judgement->expected = malloc(observed->d_bytes + 1);
        judgement->expected_scale = observed->d_scale != NULL ? malloc(observed->d_scale_bytes) : NULL;
        bool failed = judgement->expected == NULL || (observed->d_scale != NULL && judgement->expected_scale == NULL);
        status = failed ? fpo_fail(error, FPO_ERR_MEMORY, "no memory for an output of %zu bytes", observed->d_bytes)
                        : try_all(c, &all, observed, options, judgement, error);
    }
    free(all.list);
    if (status != FPO_OK || judgement->match) {
        fpo_judgement_free(judgement);
    }
    return status;
}

fpo_status fpo_judge_other(const fpo_judgement *judgement, const fpo_gemm_problem *other, const fpo_checks *observed,
                           const fpo_judge_options *options, bool *match, fpo_error *error)
{
    fpo_gemm_output output = {malloc(observed->d_bytes + 1), observed->d_bytes, malloc(observed->d_scale_bytes + 1),
                              observed->d_scale_bytes};
    fpo_status status = FPO_OK;
    if (output.d == NULL || output.d_scale == NULL) {
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for an output of %zu bytes", observed->d_bytes);
    } else {
        void *d_scale = output.d_scale;
        output.d_scale = observed->d_scale != NULL ? d_scale : NULL;
        status = fpo_gemm(&judgement->spec, other, &output, options->execution, error);
        *match = status == FPO_OK && memcmp(output.d, observed->other_d, observed->d_bytes) == 0;
        output.d_scale = d_scale;
    }
    free(output.d);
    free(output.d_scale);
    return status;
}

void fpo_judgement_free(fpo_judgement *judgement)
{
    free(judgement->expected);
    free(judgement->expected_scale);
    judgement->expected = judgement->expected_scale = NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Comparing an output with every model that may have made it. */
#include "verdict.h"
#include "model_choice.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLE = 64 };

/* An expected output and where the observed one differs from it. */
static fpo_status compare(fpo_subject *s, const char *model, const fpo_accumulation *accumulation,
                          fpo_differences *differences, int64_t *scales_different, fpo_error *error)
{
    const fpo_gemm_problem *p = &s->vector->problem;
    const void *d = NULL, *d_scale = NULL;
    fpo_status status = fpo_subject_expected(s, model, accumulation, &d, &d_scale, error);
    if (status != FPO_OK)
        return status;
    fpo_find_differences(s->spec.epilogue.d, p->m, p->n, d, s->observed, differences);
    *scales_different = 0;
    for (size_t i = 0; d_scale != NULL && i < s->observed_scale_bytes; i++)
        *scales_different += ((const uint8_t *)d_scale)[i] != ((const uint8_t *)s->observed_scale)[i];
    return FPO_OK;
}

static void note(const char *names[FPO_MATCHES], size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(names[i], name) == 0)
            return;
    }
    if (*count < FPO_MATCHES)
        names[(*count)++] = name;
}

/* One model that is asked for: does it match, and is it the closest so far. */
static fpo_status try_asked(fpo_subject *s, const char *model, const fpo_accumulation *accumulation, fpo_finding *f,
                            fpo_error *error)
{
    fpo_differences differences;
    int64_t scales_different = 0;
    fpo_status status = compare(s, model, accumulation, &differences, &scales_different, error);
    if (status != FPO_OK)
        return status;
    int64_t different = differences.comparison.different + scales_different;
    note(f->asked, &f->asked_count, model);
    if (different == 0)
        note(f->matches, &f->match_count, model);
    if (f->closest == NULL || different < f->differences.comparison.different + f->scales_different) {
        f->closest = model;
        f->differences = differences;
        f->scales_different = scales_different;
        s->spec.accumulation = *accumulation;
    }
    return FPO_OK;
}

static fpo_status try_all_asked(fpo_subject *s, const char *model, fpo_finding *f, fpo_error *error)
{
    fpo_status status = FPO_OK;
    if (model != NULL)
        return try_asked(s, model, &s->spec.accumulation, f, error);
    for (size_t i = 0; i < s->vector->expected_count && status == FPO_OK; i++) {
        const fpo_expected *expected = &s->vector->expected[i];
        status = try_asked(s, expected->model, &expected->accumulation, f, error);
    }
    if (s->vector->expected_count > 0)
        return status;
    fpo_model_list list = {0}; /* a plain file: what its formats allow */
    status = fpo_model_list_add(&list, "default", &s->spec.a.stored, &s->spec.b.stored, error);
    for (size_t i = 0; i < list.count && status == FPO_OK; i++)
        status = try_asked(s, list.models[i]->name, &list.models[i]->accumulation, f, error);
    fpo_model_list_free(&list);
    return status;
}

/* Elements to try a model on before its whole output is computed: where the asked model fails, and some others. */
static size_t choose_sample(const fpo_subject *s, const fpo_finding *f, fpo_element sample[SAMPLE])
{
    const fpo_gemm_problem *p = &s->vector->problem;
    size_t count = 0;
    for (size_t i = 0; i < f->differences.comparison.first_count; i++)
        sample[count++] =
            (fpo_element){f->differences.comparison.first[i].row, f->differences.comparison.first[i].column};
    int64_t all = p->m * p->n, step = all / (SAMPLE - (int64_t)count) + 1;
    for (int64_t i = 0; i < all && count < SAMPLE; i += step)
        sample[count++] = (fpo_element){i / p->n, i % p->n};
    return count;
}

/* Whole blocks about elements of the sample: an element means nothing without the scale that it shares. */
static fpo_status agrees_on_blocks(const fpo_subject *s, const fpo_gemm_spec *spec, const fpo_element *sample,
                                   size_t count, bool *agrees, fpo_error *error)
{
    enum { BLOCKS = 8, LONGEST = 32 };
    const fpo_gemm_problem *p = &s->vector->problem;
    const fpo_epilogue *e = &spec->epilogue;
    int64_t block = fpo_output_block(e), columns = fpo_output_scale_columns(e, p->n);
    fpo_element blocks[BLOCKS];
    uint32_t words[BLOCKS * LONGEST];
    size_t step = count / BLOCKS + 1, found = 0;
    for (size_t i = 0; i < count && found < BLOCKS; i += step)
        blocks[found++] = (fpo_element){sample[i].row, sample[i].column / block};
    fpo_edited as_is;
    fpo_status status = fpo_edited_open(spec, p, NULL, 0, &as_is, error);
    if (status == FPO_OK) {
        status = fpo_edited_blocks(&as_is, blocks, found, words, NULL, error);
        fpo_edited_close(&as_is);
    }
    for (size_t i = 0; i < found && status == FPO_OK && *agrees; i++) {
        uint32_t scale = ((const uint8_t *)s->observed_scale)[blocks[i].row * columns + blocks[i].column];
        for (int64_t c = 0; c < block && blocks[i].column * block + c < p->n && *agrees; c++)
            *agrees =
                words[(int64_t)i * block + c] ==
                (scale << 8 | fpo_load_element(e->d, s->observed, p->n, blocks[i].row, blocks[i].column * block + c));
    }
    return status;
}

static fpo_status agrees_on_sample(fpo_subject *s, const fpo_model *model, const fpo_element *sample, size_t count,
                                   bool *agrees, fpo_error *error)
{
    fpo_gemm_spec spec = s->spec;
    spec.accumulation = model->accumulation;
    uint32_t codes[SAMPLE];
    *agrees = true;
    if (spec.epilogue.d_scale != FPO_FORMAT_NONE)
        return agrees_on_blocks(s, &spec, sample, count, agrees, error);
    fpo_status status = fpo_gemm_elements(&spec, &s->vector->problem, sample, count, codes, NULL, error);
    for (size_t i = 0; i < count && status == FPO_OK && *agrees; i++) {
        size_t index = (size_t)(sample[i].row * s->vector->problem.n + sample[i].column);
        *agrees = codes[i] == fpo_load_code(spec.epilogue.d, s->observed, index);
    }
    return status;
}

/* The name under which the vector has the output of this accumulation; NULL if it has not. */
static const char *recorded_name(const fpo_vector *vector, const fpo_accumulation *accumulation)
{
    for (size_t i = 0; i < vector->expected_count; i++) {
        if (fpo_same_accumulation(&vector->expected[i].accumulation, accumulation))
            return vector->expected[i].model;
    }
    return NULL;
}

/* Whether a model's numbers are those of one that is known to match: the whole output need not be compared again. */
static bool is_known_match(const fpo_finding *f, const fpo_model *model)
{
    for (size_t i = 0; i < f->match_count; i++) {
        const fpo_model *match = fpo_model_by_name(f->matches[i]);
        if (match != NULL && fpo_same_accumulation(&match->accumulation, &model->accumulation))
            return true;
    }
    return false;
}

/* Whether another whole output may be computed: one match is enough for a verdict, all of them are a courtesy that must
 * not take minutes. */
static bool is_affordable(const fpo_subject *s, const fpo_finding *f)
{
    static const double most_products = 1e8;
    const fpo_gemm_problem *p = &s->vector->problem;
    return f->match_count == 0 || (double)p->m * (double)p->n * (double)p->k <= most_products;
}

static fpo_status try_other(fpo_subject *s, const fpo_model *model, const fpo_element *sample, size_t count,
                            fpo_finding *f, fpo_error *error)
{
    bool agrees = is_known_match(f, model);
    if (agrees) {
        note(f->matches, &f->match_count, model->name);
        return FPO_OK;
    }
    fpo_status status = agrees_on_sample(s, model, sample, count, &agrees, error);
    if (status != FPO_OK || !agrees)
        return status;
    const char *recorded = s->d_differs ? NULL : recorded_name(s->vector, &model->accumulation);
    if (recorded == NULL && !is_affordable(s, f)) {
        f->untried++;
        return FPO_OK;
    }
    fpo_differences differences;
    int64_t scales_different = 0;
    status = compare(s, recorded, &model->accumulation, &differences, &scales_different, error);
    if (status == FPO_OK && differences.comparison.different == 0 && scales_different == 0)
        note(f->matches, &f->match_count, model->name);
    return status;
}

/* Models that nobody asked for, but that are documented and give these bits: first those that nobody contests. */
static fpo_status try_others(fpo_subject *s, bool usual, fpo_finding *f, fpo_error *error)
{
    fpo_element sample[SAMPLE];
    size_t count = choose_sample(s, f, sample);
    fpo_status status = FPO_OK;
    const fpo_model *model;
    for (size_t i = 0; status == FPO_OK && (model = fpo_model_at(i)) != NULL; i++) {
        if (fpo_subject_takes(s, model) && fpo_is_usual_model(model) == usual)
            status = try_other(s, model, sample, count, f, error);
    }
    return status;
}

static const fpo_accumulation *accumulation_of(const fpo_subject *s, const char *model)
{
    const fpo_expected *expected = fpo_vector_expected(s->vector, model);
    return expected != NULL ? &expected->accumulation : &fpo_model_by_name(model)->accumulation;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static fpo_status diagnose_as(fpo_subject *s, const char *model, fpo_diagnosis *diagnosis, fpo_error *error)
{
    fpo_progress_line line = {.label = "looking for the cause", .searching = true};
    fpo_execution execution = {.progress = fpo_progress, .progress_context = &line};
    s->spec.accumulation = *accumulation_of(s, model);
    fpo_observed observed = {s->observed, s->observed_bytes, s->observed_scale, s->observed_scale_bytes};
    fpo_status status = fpo_diagnose_output(&s->spec, &s->vector->problem, &observed, &execution, diagnosis, error);
    fpo_progress_end(&line);
    return status;
}

static fpo_status count_singles(const fpo_subject *s, fpo_finding *f, fpo_error *error)
{
    size_t count = fpo_edit_enumerate(&s->spec, &s->vector->problem, NULL, 0);
    fpo_edit *edits = malloc((count + 1) * sizeof *edits);
    if (edits == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu hypotheses", count);
    fpo_edit_enumerate(&s->spec, &s->vector->problem, edits, count);
    for (size_t i = 0; i < count; i++) {
        int fault_class = fpo_edit_describe(edits[i].kind)->fault_class;
        f->singles[fault_class < FPO_FAULT_CLASSES ? fault_class : 0]++;
    }
    free(edits);
    return FPO_OK;
}

/* Under the closest model first. A wrong output is as far from one as from the other, so that where the closest does
 * not explain it, another may. */
static fpo_status diagnose(fpo_subject *s, fpo_finding *f, fpo_error *error)
{
    double started = seconds();
    const char *closest = f->closest;
    fpo_status status = diagnose_as(s, closest, &f->diagnosis, error);
    for (size_t i = 0; i < f->asked_count && status == FPO_OK && f->diagnosis.verdict == FPO_VERDICT_UNEXPLAINED; i++) {
        fpo_diagnosis other;
        if (f->asked[i] == closest)
            continue;
        status = diagnose_as(s, f->asked[i], &other, error);
        if (status != FPO_OK || other.verdict == FPO_VERDICT_UNEXPLAINED)
            continue;
        f->diagnosis = other;
        f->closest = f->asked[i];
        status = compare(s, f->closest, accumulation_of(s, f->closest), &f->differences, &f->scales_different, error);
    }
    s->spec.accumulation = *accumulation_of(s, f->closest);
    f->seconds = seconds() - started;
    if (status == FPO_OK)
        status = count_singles(s, f, error);
    f->diagnosed = status == FPO_OK;
    if (status == FPO_OK)
        f->verdict = f->diagnosis.verdict;
    return status;
}

fpo_status fpo_find(fpo_subject *subject, const char *model, bool search, fpo_finding *finding, fpo_error *error)
{
    memset(finding, 0, sizeof *finding);
    fpo_status status = try_all_asked(subject, model, finding, error);
    if (status != FPO_OK)
        return status;
    finding->verdict = FPO_VERDICT_MATCH;
    if (finding->match_count > 0)
        return FPO_OK;
    finding->verdict = FPO_VERDICT_LEGITIMATE;
    status = try_others(subject, true, finding, error);
    if (status == FPO_OK)
        status = try_others(subject, false, finding, error);
    if (status != FPO_OK || finding->match_count > 0)
        return status;
    finding->verdict = FPO_VERDICT_UNEXPLAINED;
    if (search)
        status = diagnose(subject, finding, error);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The search for the edit that explains an output: hypotheses are scored on a sample of elements, and what explains
 * the sample is confirmed on every byte. */
#include <fp4oracle/diagnose.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_WRONG = 40, SAMPLE_RIGHT = 24, SAMPLE = SAMPLE_WRONG + SAMPLE_RIGHT, FEW = 4 };

/* Everything that stays the same while hypotheses come and go. */
typedef struct search {
    const fpo_gemm_spec *spec;
    const fpo_gemm_problem *problem;
    const void *observed;
    size_t bytes;
    const fpo_execution *execution;
    fpo_element elements[SAMPLE];
    uint32_t codes[SAMPLE]; /* observed */
    size_t sample;
    size_t wrong;        /* the first so many of the sample are wrong outputs */
    fpo_execution each;  /* for the sample: one thread */
    fpo_execution whole; /* for whole outputs: the caller's, without its progress */
    void *scratch;       /* one output */
    fpo_diagnosis *diagnosis;
} search;

const char *fpo_verdict_name(fpo_verdict verdict)
{
    static const char *const names[] = {"match", "legitimate", "fault", "unexplained"};
    return (unsigned)verdict < 4 ? names[verdict] : "unknown";
}

/* Elements spread evenly over those that differ from `expected`, and over those that do not; the wrong ones first. */
static void choose_sample(search *s, const void *expected)
{
    fpo_format format = s->spec->epilogue.d;
    int64_t n = s->problem->n;
    int64_t total = s->problem->m * n;
    int64_t all[2] = {total - s->diagnosis->comparison.different, s->diagnosis->comparison.different};
    static const int64_t wanted[2] = {SAMPLE_RIGHT, SAMPLE_WRONG};
    for (int wrong = 1; wrong >= 0; --wrong) {
        int64_t seen = 0;
        int64_t taken = 0;
        for (int64_t i = 0; i < total && taken < wanted[wrong]; ++i) {
            uint32_t observed = fpo_load_code(format, s->observed, (size_t)i);
            if ((observed != fpo_load_code(format, expected, (size_t)i)) != (wrong == 1))
                continue;
            if (seen * wanted[wrong] >= taken * all[wrong]) {
                s->elements[s->sample] = (fpo_element){i / n, i % n};
                s->codes[s->sample++] = observed;
                ++taken;
            }
            ++seen;
        }
        if (wrong == 1)
            s->wrong = s->sample;
    }
    s->diagnosis->sample = s->sample;
    s->diagnosis->closest_equal = s->sample - s->wrong; /* what no edit at all gets right */
}

static bool is_legitimate(const fpo_cause *cause)
{
    for (size_t i = 0; i < cause->edit_count; ++i)
        if (cause->edits[i].kind != FPO_EDIT_ACCUMULATION)
            return false;
    return true;
}

static void edited(const search *s, const fpo_cause *cause, fpo_gemm_spec *spec, fpo_gemm_problem *problem)
{
    *spec = *s->spec;
    *problem = *s->problem;
    for (size_t i = 0; i < cause->edit_count; ++i)
        fpo_edit_apply(&cause->edits[i], spec, problem);
}

/* How many of `count` elements of the sample from `first` on the hypothesis gives. One that makes no sense for this
 * spec (fpo_gemm refuses it) gives none. */
static size_t equal_elements(search *s, const fpo_cause *cause, size_t first, size_t count)
{
    fpo_gemm_spec spec;
    fpo_gemm_problem problem;
    uint32_t codes[SAMPLE];
    size_t equal = 0;
    edited(s, cause, &spec, &problem);
    if (fpo_gemm_elements(&spec, &problem, s->elements + first, count, codes, &s->each, NULL) != FPO_OK)
        return 0;
    for (size_t i = 0; i < count; ++i)
        equal += codes[i] == s->codes[first + i];
    return equal;
}

/* Whether the hypothesis explains the sample; keeps the one that comes closest. Of pairs there are many: they have to
 * get a few wrong outputs right before the rest is looked at. */
static bool explains_sample(search *s, const fpo_cause *cause)
{
    size_t few = s->wrong < FEW ? s->wrong : FEW;
    s->diagnosis->hypotheses++;
    if (cause->edit_count > 1 && equal_elements(s, cause, 0, few) < few)
        return false;
    size_t equal = equal_elements(s, cause, 0, s->sample);
    if (equal > s->diagnosis->closest_equal) {
        s->diagnosis->closest_equal = equal;
        s->diagnosis->closest = *cause;
    }
    return equal == s->sample;
}

static bool explains_everything(search *s, const fpo_cause *cause)
{
    fpo_gemm_spec spec;
    fpo_gemm_problem problem;
    edited(s, cause, &spec, &problem);
    fpo_gemm_output output = {.d = s->scratch, .d_bytes = s->bytes};
    return fpo_gemm(&spec, &problem, &output, &s->whole, NULL) == FPO_OK &&
           memcmp(s->scratch, s->observed, s->bytes) == 0;
}

static void try_hypothesis(search *s, fpo_cause cause)
{
    fpo_diagnosis *d = s->diagnosis;
    if (d->cause_count == FPO_CAUSES || !explains_sample(s, &cause) || !explains_everything(s, &cause))
        return;
    cause.legitimate = is_legitimate(&cause);
    d->causes[d->cause_count++] = cause;
}

/* Two edits of one kind on overlapping operands would undo or repeat each other. */
static bool independent(const fpo_edit *x, const fpo_edit *y)
{
    return x->kind != y->kind || (x->operands & y->operands) == 0;
}

static void report(const search *s, size_t done, size_t all)
{
    if (s->execution != NULL && s->execution->progress != NULL)
        s->execution->progress(s->execution->progress_context, (double)done / (double)all);
}

/* Edits that are worth trying together with another. Every layout read as every other makes most of the catalogue and,
 * in pairs, nearly all of the work: only those that frameworks and kernels hand to one another stay. */
static bool worth_pairing(const fpo_edit *edit)
{
    bool common[2];
    const int layouts[2] = {edit->from, edit->to};
    for (int i = 0; i < 2; ++i)
        common[i] = layouts[i] == FPO_LAYOUT_LINEAR || layouts[i] == FPO_LAYOUT_128X4 || layouts[i] == FPO_LAYOUT_8X4;
    return edit->kind != FPO_EDIT_SCALE_LAYOUT || (common[0] && common[1]);
}

/* How many pairs are tried at most: all of them on small problems, those of the first edits on large ones, where the
 * scales of both operands are read anew for each. */
static size_t pair_limit(const search *s)
{
    static const double effort = 2e9; /* about a nanosecond each */
    double scales = (double)(s->problem->m + s->problem->n) * (double)s->problem->k / 16;
    double limit = effort / (scales + 8.0 * FEW * (double)s->problem->k + 10000);
    return limit < 1e6 ? (size_t)limit : 1000000;
}

static void search_pairs(search *s, const fpo_edit *edits, size_t count)
{
    size_t tried = 0;
    size_t limit = pair_limit(s);
    for (size_t i = 0; i < count; ++i) {
        report(s, i, count);
        for (size_t j = i + 1; j < count && worth_pairing(&edits[i]); ++j)
            if (worth_pairing(&edits[j]) && independent(&edits[i], &edits[j]) &&
                edits[i].operands + edits[j].operands != 0 && tried++ < limit)
                try_hypothesis(s, (fpo_cause){2, {edits[i], edits[j]}, false});
    }
}

static void search_edits(search *s, const fpo_edit *edits, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        report(s, i, count);
        try_hypothesis(s, (fpo_cause){1, {edits[i]}, false});
    }
    if (s->diagnosis->cause_count == 0)
        search_pairs(s, edits, count);
}

static void conclude(fpo_diagnosis *d)
{
    d->verdict = d->cause_count > 0 ? FPO_VERDICT_FAULT : FPO_VERDICT_UNEXPLAINED;
    for (size_t i = 0; i < d->cause_count; ++i)
        if (d->causes[i].legitimate)
            d->verdict = FPO_VERDICT_LEGITIMATE;
}

static fpo_status compare_with_spec(search *s, fpo_error *error)
{
    fpo_gemm_output output = {.d = s->scratch, .d_bytes = s->bytes};
    fpo_status status = fpo_gemm(s->spec, s->problem, &output, &s->whole, error);
    if (status == FPO_OK)
        fpo_compare(s->spec->epilogue.d, s->problem->m, s->problem->n, s->scratch, s->observed,
                    &s->diagnosis->comparison);
    return status;
}

fpo_status fpo_diagnose(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const void *observed,
                        size_t observed_bytes, const fpo_execution *execution, fpo_diagnosis *diagnosis,
                        fpo_error *error)
{
    size_t bytes = fpo_output_bytes(spec, problem->m, problem->n);
    if (spec->epilogue.d_scale != FPO_FORMAT_NONE)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "diagnosis of block-scaled outputs is not supported");
    if (bytes != observed_bytes)
        return fpo_fail(error, FPO_ERR_SHAPE, "the observed output has %zu bytes, %lld x %lld of %s takes %zu",
                        observed_bytes, (long long)problem->m, (long long)problem->n,
                        fpo_format_describe(spec->epilogue.d)->name, bytes);
    *diagnosis = (fpo_diagnosis){.verdict = FPO_VERDICT_MATCH};
    search s = {.spec = spec,
                .problem = problem,
                .observed = observed,
                .bytes = bytes,
                .execution = execution,
                .diagnosis = diagnosis,
                .whole = {.threads = execution != NULL ? execution->threads : 0,
                          .isa = execution != NULL ? execution->isa : FPO_ISA_BEST},
                .each = {.threads = 1, .isa = execution != NULL ? execution->isa : FPO_ISA_BEST},
                .scratch = malloc(bytes)};
    if (s.scratch == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for an output of %zu bytes", bytes);

    fpo_status status = compare_with_spec(&s, error);
    if (status == FPO_OK && diagnosis->comparison.different > 0) {
        choose_sample(&s, s.scratch);
        size_t count = fpo_edit_enumerate(spec, problem, NULL, 0);
        fpo_edit *edits = malloc((count + 1) * sizeof *edits);
        if (edits == NULL) {
            status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu hypotheses", count);
        } else {
            fpo_edit_enumerate(spec, problem, edits, count);
            search_edits(&s, edits, count);
            conclude(diagnosis);
        }
        free(edits);
    }
    free(s.scratch);
    return status;
}

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
    size_t wrong;                  /* the first so many of the sample are wrong outputs */
    fpo_execution each;            /* for the sample: one thread */
    fpo_execution whole;           /* for whole outputs: the caller's, without its progress */
    void *expected, *scratch;      /* an output each */
    fpo_cause in_part[FPO_CAUSES]; /* single edits that explain the sampled elements of the wrong part */
    size_t in_part_count;
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
        if (!fpo_edit_describe(cause->edits[i].kind)->legitimate)
            return false;
    return true;
}

/* How many of `count` elements of the sample from `first` on the hypothesis gives. One that makes no sense for this
 * spec (fpo_gemm refuses it) gives none. *part_explained: whether those that belong to the wrong part are among them.
 */
static size_t equal_elements(search *s, const fpo_cause *cause, size_t first, size_t count, bool *part_explained)
{
    fpo_edited edited;
    uint32_t codes[SAMPLE];
    size_t equal = 0;
    *part_explained = false;
    if (fpo_edited_open(s->spec, s->problem, cause->edits, cause->edit_count, &edited, NULL) != FPO_OK)
        return 0;
    fpo_status status = fpo_edited_elements(&edited, s->elements + first, count, codes, &s->each, NULL);
    fpo_edited_close(&edited);
    if (status != FPO_OK)
        return 0;
    *part_explained = true;
    for (size_t i = first; i < first + count; ++i) {
        const fpo_element *e = &s->elements[i];
        bool is_equal = codes[i - first] == s->codes[i];
        equal += is_equal;
        if (!is_equal && fpo_part_has(&s->diagnosis->part, e->row, e->column, i < s->wrong))
            *part_explained = false;
    }
    return equal;
}

/* Whether the hypothesis explains the sample; keeps the one that comes closest. It has to get one of a few wrong
 * outputs right before the rest is looked at; of pairs there are many, they have to get all of them right. */
static bool explains_sample(search *s, const fpo_cause *cause)
{
    bool part_explained;
    size_t few = s->wrong < FEW ? s->wrong : FEW;
    s->diagnosis->hypotheses++;
    size_t equal_few = equal_elements(s, cause, 0, few, &part_explained);
    if (equal_few < (cause->edit_count > 1 ? few : 1))
        return false;
    size_t equal = equal_elements(s, cause, 0, s->sample, &part_explained);
    if (equal > s->diagnosis->closest_equal) {
        s->diagnosis->closest_equal = equal;
        s->diagnosis->closest = *cause;
    }
    if (part_explained && s->diagnosis->part.kind != FPO_PART_ALL && cause->edit_count == 1 &&
        s->in_part_count < FPO_CAUSES)
        s->in_part[s->in_part_count++] = *cause;
    return equal == s->sample;
}

/* Where the cause is confined to the wrong part, the rest need not follow it: it is right as it is. */
static bool is_explained(const search *s, const fpo_cause *cause)
{
    const fpo_part *part = &s->diagnosis->part;
    fpo_format format = s->spec->epilogue.d;
    if (!cause->in_part)
        return memcmp(s->scratch, s->observed, s->bytes) == 0;
    for (int64_t i = 0; i < part->m * part->n; ++i) {
        uint32_t observed = fpo_load_code(format, s->observed, (size_t)i);
        bool differs = observed != fpo_load_code(format, s->expected, (size_t)i);
        if (fpo_part_has(part, i / part->n, i % part->n, differs) &&
            observed != fpo_load_code(format, s->scratch, (size_t)i))
            return false;
    }
    return true;
}

static bool explains_everything(search *s, const fpo_cause *cause)
{
    fpo_edited edited;
    fpo_gemm_output output = {.d = s->scratch, .d_bytes = s->bytes};
    if (fpo_edited_open(s->spec, s->problem, cause->edits, cause->edit_count, &edited, NULL) != FPO_OK)
        return false;
    bool explained = fpo_edited_gemm(&edited, &output, &s->whole, NULL) == FPO_OK && is_explained(s, cause);
    fpo_edited_close(&edited);
    return explained;
}

static void try_hypothesis(search *s, fpo_cause cause)
{
    fpo_diagnosis *d = s->diagnosis;
    if (d->cause_count == FPO_CAUSES || !explains_sample(s, &cause) || !explains_everything(s, &cause))
        return;
    cause.legitimate = is_legitimate(&cause);
    d->causes[d->cause_count++] = cause;
}

/* What explains the wrong part, although it would change what is right if it held everywhere. */
static void try_in_part(search *s)
{
    fpo_diagnosis *d = s->diagnosis;
    for (size_t i = 0; i < s->in_part_count && d->cause_count < FPO_CAUSES; ++i) {
        fpo_cause cause = s->in_part[i];
        cause.in_part = true;
        cause.legitimate = is_legitimate(&cause);
        if (explains_everything(s, &cause))
            d->causes[d->cause_count++] = cause;
    }
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

/* Layouts that frameworks and kernels hand to one another. */
static bool is_common_layout(int layout)
{
    return layout == FPO_LAYOUT_LINEAR || layout == FPO_LAYOUT_128X4 || layout == FPO_LAYOUT_8X4;
}

/* Edits that are worth trying together with another: of every kind and operand those with the most usual parameters. A
 * difference that is no defect is tried alone. */
static size_t choose_for_pairs(fpo_edit *edits, size_t count)
{
    enum { ALIKE = 2 };
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
        const fpo_edit edit = edits[i];
        int alike = 0;
        for (size_t j = 0; j < kept; ++j)
            alike += edits[j].kind == edit.kind && edits[j].operands == edit.operands;
        bool usual = edit.kind == FPO_EDIT_SCALE_LAYOUT ? is_common_layout(edit.from) && is_common_layout(edit.to)
                                                        : alike < ALIKE;
        if (usual && !fpo_edit_describe(edit.kind)->legitimate && edit.kind != FPO_EDIT_OUTPUT_CONSTANT)
            edits[kept++] = edit;
    }
    return kept;
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

static void search_pairs(search *s, fpo_edit *edits, size_t count)
{
    size_t tried = 0;
    count = choose_for_pairs(edits, count);
    size_t limit = pair_limit(s);
    for (size_t i = 0; i < count; ++i) {
        report(s, i, count);
        for (size_t j = i + 1; j < count; ++j)
            if (independent(&edits[i], &edits[j]) && edits[i].operands + edits[j].operands != 0 && tried++ < limit)
                try_hypothesis(s, (fpo_cause){.edit_count = 2, .edits = {edits[i], edits[j]}});
    }
}

static void search_edits(search *s, fpo_edit *edits, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        report(s, i, count);
        try_hypothesis(s, (fpo_cause){.edit_count = 1, .edits = {edits[i]}});
    }
    if (s->diagnosis->cause_count == 0)
        try_in_part(s);
    /* Of so many pairs some explain what proves little. */
    if (s->diagnosis->cause_count == 0 && s->diagnosis->evidence.bits >= fpo_evidence_needed(count * count / 2))
        search_pairs(s, edits, count);
}

/* An accusation takes evidence; that the whole output is another documented model's takes none. */
static void conclude(fpo_diagnosis *d)
{
    const fpo_sign_info *sign = fpo_sign_describe(d->sign);
    bool convincing = d->evidence.bits >= d->needed;
    d->verdict = (d->cause_count > 0 && convincing) || (sign != NULL && sign->explains) ? FPO_VERDICT_FAULT
                                                                                        : FPO_VERDICT_UNEXPLAINED;
    for (size_t i = 0; i < d->cause_count; ++i)
        if (d->causes[i].legitimate && (convincing || !d->causes[i].in_part))
            d->verdict = FPO_VERDICT_LEGITIMATE;
}

/* Signs that leave nothing to search for. */
static bool is_final(fpo_sign_kind sign)
{
    return sign == FPO_SIGN_POISON || sign == FPO_SIGN_COPY_OF_C || sign == FPO_SIGN_TRANSPOSED;
}

static fpo_status search_all(search *s, fpo_error *error)
{
    size_t count = fpo_edit_enumerate(s->spec, s->problem, NULL, 0);
    fpo_edit *edits = malloc((count + 1) * sizeof *edits);
    if (edits == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu hypotheses", count);
    fpo_edit_enumerate(s->spec, s->problem, edits, count);
    choose_sample(s, s->expected);
    search_edits(s, edits, count);
    free(edits);
    return FPO_OK;
}

/* Where it is wrong, what it plainly is there, and what edits give it. */
static fpo_status explain(search *s, fpo_error *error)
{
    fpo_diagnosis *d = s->diagnosis;
    fpo_wrong_output wrong = {.format = s->spec->epilogue.d, .expected = s->expected, .observed = s->observed};
    fpo_status status =
        fpo_part_find(wrong.format, s->problem->m, s->problem->n, s->expected, s->observed, &d->part, error);
    if (status != FPO_OK)
        return status;
    wrong.part = d->part;
    d->sign = fpo_sign_find(s->spec, s->problem, &wrong);
    d->evidence = fpo_evidence_weigh(&wrong);
    if (!is_final(d->sign))
        status = search_all(s, error);
    d->needed = fpo_evidence_needed(d->hypotheses);
    conclude(d);
    return status;
}

static fpo_status compare_with_spec(search *s, fpo_error *error)
{
    fpo_gemm_output output = {.d = s->expected, .d_bytes = s->bytes};
    fpo_status status = fpo_gemm(s->spec, s->problem, &output, &s->whole, error);
    if (status == FPO_OK)
        fpo_compare(s->spec->epilogue.d, s->problem->m, s->problem->n, s->expected, s->observed,
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
    *diagnosis = (fpo_diagnosis){.verdict = FPO_VERDICT_MATCH, .sign = FPO_SIGN_NONE};
    search s = {.spec = spec,
                .problem = problem,
                .observed = observed,
                .bytes = bytes,
                .execution = execution,
                .diagnosis = diagnosis,
                .whole = {.threads = execution != NULL ? execution->threads : 0,
                          .isa = execution != NULL ? execution->isa : FPO_ISA_BEST},
                .each = {.threads = 1, .isa = execution != NULL ? execution->isa : FPO_ISA_BEST},
                .expected = malloc(bytes),
                .scratch = malloc(bytes)};
    fpo_status status = s.expected == NULL || s.scratch == NULL
                            ? fpo_fail(error, FPO_ERR_MEMORY, "no memory for two outputs of %zu bytes", bytes)
                            : compare_with_spec(&s, error);
    if (status == FPO_OK && diagnosis->comparison.different > 0)
        status = explain(&s, error);
    free(s.expected);
    free(s.scratch);
    return status;
}

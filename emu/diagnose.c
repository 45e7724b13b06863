/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The diagnosis of an output: where it is wrong, what it plainly is there, and the edits that explain it. */
#include <fp4oracle/diagnose.h>

#include "diagnose_search.h"
#include "diagnose_solve.h"

#include <stdlib.h>
#include <string.h>

const char *fpo_verdict_name(fpo_verdict verdict)
{
    static const char *const names[] = {"match", "legitimate", "fault", "unexplained"};
    return (unsigned)verdict < 4 ? names[verdict] : "unknown";
}

/* ---- the order of the search ---- */

enum { CONSTANTS = 96, PLACES = 8192 };

static void try_in_part(fpo_search *s)
{
    if (s->diagnosis->cause_count == 0)
        fpo_search_in_part(s);
}

/* Whether the output could prove one of so many hypotheses. */
static bool could_prove(const fpo_search *s, double hypotheses)
{
    return s->diagnosis->evidence.bits >= fpo_evidence_needed((size_t)hypotheses);
}

/* The registry's edits with their usual parameters and what is found directly; then, unless something explains it, all
 * small offsets, strides and ranges; then pairs. */
static void search_edits(fpo_search *s, fpo_edit *edits, size_t count)
{
    const fpo_diagnosis *d = s->diagnosis;
    fpo_solve_input input = {.spec = s->spec,
                             .problem = s->problem,
                             .part = &d->part,
                             .expected = s->expected,
                             .observed = s->observed,
                             .execution = &s->each};
    fpo_search_singles(s, edits, count);
    fpo_search_scaled_instructions(s, edits, count);
    size_t found = fpo_solve_constants(&input, edits + count, CONSTANTS);
    fpo_search_singles(s, edits + count, found);
    try_in_part(s);
    if (d->cause_count == 0 && could_prove(s, (double)count + PLACES / 4)) {
        s->in_part_count = 0;
        found = fpo_solve_places(&input, edits + count, PLACES);
        fpo_search_singles(s, edits + count, found);
        try_in_part(s);
    }
    /* Of so many pairs some explain what proves little. */
    if (d->cause_count == 0 && could_prove(s, (double)count * (double)count / 2))
        fpo_search_pairs(s, edits, count);
}

static fpo_status search_all(fpo_search *s, fpo_error *error)
{
    size_t count = fpo_edit_enumerate(s->spec, s->problem, NULL, 0);
    fpo_edit *edits = malloc((count + PLACES + CONSTANTS) * sizeof *edits);
    if (edits == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu hypotheses", count);
    fpo_edit_enumerate(s->spec, s->problem, edits, count);
    fpo_status status = fpo_search_sample(s, error);
    if (status == FPO_OK)
        search_edits(s, edits, count);
    fpo_search_free(s);
    free(edits);
    return status;
}

/* ---- what it comes to ---- */

/* A number that was found in the output proves that much less. */
static double cause_bits(const fpo_cause *cause)
{
    double bits = 0;
    for (size_t i = 0; i < cause->edit_count; ++i)
        bits += fpo_edit_found_bits(&cause->edits[i]);
    return bits;
}

static double found_bits(const fpo_diagnosis *d)
{
    double least = d->cause_count > 0 ? 64 : 0;
    for (size_t i = 0; i < d->cause_count; ++i) {
        double bits = cause_bits(&d->causes[i]);
        least = bits < least ? bits : least;
    }
    return least;
}

/* Beside a cause that the evidence bears out, one that takes more than there is (one number, and "every output is that
 * number") is no finding. */
static void drop_unproved(fpo_diagnosis *d)
{
    double without = fpo_evidence_needed(d->hypotheses);
    size_t count = 0;
    for (size_t i = 0; i < d->cause_count; ++i)
        if (d->evidence.bits >= without + cause_bits(&d->causes[i]))
            d->causes[count++] = d->causes[i];
    d->cause_count = count > 0 ? count : d->cause_count;
}

/* Where all is zero, NaN or one number, that is what can be said; where only a part is, and an edit says which part,
 * the edit says more. */
static bool is_plain(const fpo_diagnosis *d)
{
    const fpo_sign_info *sign = fpo_sign_describe(d->sign);
    if (sign == NULL || !sign->explains)
        return false;
    return d->cause_count == 0 ||
           (d->sign != FPO_SIGN_SIGNED_ZERO && (d->causes[0].in_part || d->part.kind == FPO_PART_ALL));
}

/* An accusation takes evidence; that the whole output is another documented model's takes none. */
static void conclude(fpo_diagnosis *d)
{
    const fpo_sign_info *sign = fpo_sign_describe(d->sign);
    bool convincing = d->evidence.bits >= d->needed;
    d->plain = is_plain(d);
    d->verdict = (d->cause_count > 0 && convincing) || (sign != NULL && sign->explains) ? FPO_VERDICT_FAULT
                                                                                        : FPO_VERDICT_UNEXPLAINED;
    for (size_t i = 0; i < d->cause_count; ++i)
        if (d->causes[i].legitimate && (convincing || !d->causes[i].in_part))
            d->verdict = FPO_VERDICT_LEGITIMATE;
}

static bool has_found_number(const fpo_cause *cause)
{
    for (size_t i = 0; i < cause->edit_count; ++i)
        if (cause->edits[i].value != 0)
            return true;
    return false;
}

/* "Everything is 2 times too large" says less than "alpha, which is 0.5, is never applied". */
static void put_descriptions_last(fpo_diagnosis *d)
{
    fpo_cause ordered[FPO_CAUSES];
    size_t count = 0;
    for (int found = 0; found < 2; ++found)
        for (size_t i = 0; i < d->cause_count; ++i)
            if (has_found_number(&d->causes[i]) == (found == 1))
                ordered[count++] = d->causes[i];
    memcpy(d->causes, ordered, count * sizeof *ordered);
}

/* Signs that leave nothing to search for. */
static bool is_final(fpo_sign_kind sign)
{
    return sign == FPO_SIGN_POISON || sign == FPO_SIGN_COPY_OF_C || sign == FPO_SIGN_TRANSPOSED;
}

/* Where it is wrong, what it plainly is there, and what edits give it. */
static fpo_status explain(fpo_search *s, fpo_error *error)
{
    fpo_diagnosis *d = s->diagnosis;
    fpo_wrong_output wrong = {.format = s->spec->epilogue.d, .expected = s->expected, .observed = s->observed};
    fpo_status status =
        fpo_part_find(wrong.format, s->problem->m, s->problem->n, s->expected, s->observed, &d->part, error);
    if (status == FPO_OK)
        status = fpo_part_find_nan(wrong.format, s->problem->m, s->problem->n, s->observed, &d->nan, error);
    if (status != FPO_OK)
        return status;
    wrong.part = d->part;
    d->sign = fpo_sign_find(s->spec, s->problem, &wrong);
    d->evidence = fpo_evidence_weigh(&wrong);
    if (!is_final(d->sign))
        status = search_all(s, error);
    put_descriptions_last(d);
    d->needed = fpo_evidence_needed(d->hypotheses) + found_bits(d);
    drop_unproved(d);
    conclude(d);
    return status;
}

static fpo_status compare_with_spec(fpo_search *s, fpo_error *error)
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
    fpo_search s = {.spec = spec,
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

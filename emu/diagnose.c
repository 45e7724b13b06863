/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The diagnosis of an output: where it is wrong, what it plainly is there, and the edits that explain it. */
#include <fp4oracle/diagnose.h>

#include "diagnose_output.h"
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
                             .expected = {s->expected.d, s->expected.d_scale},
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
    fpo_findings found = {.sign = FPO_SIGN_NONE};
    fpo_status status = fpo_output_look(s->spec, s->problem, (fpo_output_view){s->expected.d, s->expected.d_scale},
                                        s->observed, &found, error);
    if (status != FPO_OK)
        return status;
    d->part = found.part;
    d->nan = found.nan;
    d->sign = found.sign;
    d->evidence = found.evidence;
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
    fpo_status status = fpo_gemm(s->spec, s->problem, &s->expected, &s->whole, error);
    if (status != FPO_OK)
        return status;
    return fpo_output_compare(&s->spec->epilogue, s->problem->m, s->problem->n,
                              (fpo_output_view){s->expected.d, s->expected.d_scale}, s->observed,
                              &s->diagnosis->comparison, error);
}

static fpo_status check_sizes(const fpo_gemm_spec *spec, const fpo_gemm_problem *p, const fpo_observed *observed,
                              fpo_error *error)
{
    size_t bytes = fpo_output_bytes(spec, p->m, p->n), scales = fpo_output_scale_bytes(spec, p->m, p->n);
    if (bytes != observed->d_bytes)
        return fpo_fail(error, FPO_ERR_SHAPE, "the observed output has %zu bytes, %lld x %lld of %s takes %zu",
                        observed->d_bytes, (long long)p->m, (long long)p->n,
                        fpo_format_describe(spec->epilogue.d)->name, bytes);
    if (scales != observed->d_scale_bytes || (scales > 0 && observed->d_scale == NULL))
        return fpo_fail(error, FPO_ERR_SHAPE, "the observed output has %zu bytes of scales, %lld x %lld takes %zu",
                        observed->d_scale_bytes, (long long)p->m, (long long)p->n, scales);
    return FPO_OK;
}

static fpo_gemm_output new_output(size_t bytes, size_t scale_bytes)
{
    return (fpo_gemm_output){malloc(bytes), bytes, scale_bytes > 0 ? malloc(scale_bytes) : NULL, scale_bytes};
}

static bool is_complete(const fpo_gemm_output *output)
{
    return output->d != NULL && (output->d_scale_bytes == 0 || output->d_scale != NULL);
}

static void free_output(fpo_gemm_output *output)
{
    free(output->d);
    free(output->d_scale);
}

fpo_status fpo_diagnose_output(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_observed *observed,
                               const fpo_execution *execution, fpo_diagnosis *diagnosis, fpo_error *error)
{
    fpo_status status = check_sizes(spec, problem, observed, error);
    if (status != FPO_OK)
        return status;
    *diagnosis = (fpo_diagnosis){.verdict = FPO_VERDICT_MATCH, .sign = FPO_SIGN_NONE};
    fpo_search s = {.spec = spec,
                    .problem = problem,
                    .observed = {observed->d, observed->d_scale},
                    .bytes = observed->d_bytes,
                    .scale_bytes = observed->d_scale_bytes,
                    .block = fpo_output_block(&spec->epilogue),
                    .execution = execution,
                    .diagnosis = diagnosis,
                    .whole = {.threads = execution != NULL ? execution->threads : 0,
                              .isa = execution != NULL ? execution->isa : FPO_ISA_BEST},
                    .each = {.threads = 1, .isa = execution != NULL ? execution->isa : FPO_ISA_BEST},
                    .expected = new_output(observed->d_bytes, observed->d_scale_bytes),
                    .scratch = new_output(observed->d_bytes, observed->d_scale_bytes)};
    status = is_complete(&s.expected) && is_complete(&s.scratch)
                 ? compare_with_spec(&s, error)
                 : fpo_fail(error, FPO_ERR_MEMORY, "no memory for two outputs of %zu bytes", observed->d_bytes);
    if (status == FPO_OK && diagnosis->comparison.different > 0)
        status = explain(&s, error);
    free_output(&s.expected);
    free_output(&s.scratch);
    return status;
}

fpo_status fpo_diagnose(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const void *observed,
                        size_t observed_bytes, const fpo_execution *execution, fpo_diagnosis *diagnosis,
                        fpo_error *error)
{
    fpo_observed output = {.d = observed, .d_bytes = observed_bytes};
    return fpo_diagnose_output(spec, problem, &output, execution, diagnosis, error);
}

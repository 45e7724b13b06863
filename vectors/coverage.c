/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The kill matrix, computed: each edit on a sample of each output first, and on all of it where the sample shows no
 * difference. */
#include "coverage.h"

#include <omp.h>

#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 96, FEWEST = 16, SAMPLE_PRODUCTS = 1 << 16 };

typedef struct subject {
    const fpo_vector *vector;
    fpo_gemm_spec spec;
    fpo_element elements[SAMPLE];
    uint32_t codes[SAMPLE]; /* right */
    size_t sample;          /* 0: outputs with block scales, which have no single elements */
    fpo_gemm_output right;
} subject;

typedef struct work {
    const fpo_coverage_options *options;
    subject *subjects;
    fpo_coverage *coverage;
    size_t done;
} work;

static const fpo_execution one_thread = {.threads = 1};

static fpo_gemm_output new_output(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem)
{
    fpo_gemm_output output = {.d_bytes = fpo_output_bytes(spec, problem->m, problem->n),
                              .d_scale_bytes = fpo_output_scale_bytes(spec, problem->m, problem->n)};
    output.d = calloc(1, output.d_bytes + 1);
    output.d_scale = output.d_scale_bytes > 0 ? calloc(1, output.d_scale_bytes) : NULL;
    return output;
}

static void free_output(fpo_gemm_output *output)
{
    free(output->d);
    free(output->d_scale);
}

/* Elements along diagonals: few of them meet every row and every column of a small output. */
static void choose_sample(subject *s)
{
    const fpo_gemm_problem *p = &s->vector->problem;
    int64_t total = p->m * p->n;
    if (s->spec.epilogue.d_scale != FPO_FORMAT_NONE)
        return;
    int64_t affordable = SAMPLE_PRODUCTS / p->k > FEWEST ? SAMPLE_PRODUCTS / p->k : FEWEST;
    affordable = affordable < SAMPLE ? affordable : SAMPLE;
    s->sample = (size_t)(total < affordable ? total : affordable);
    for (size_t i = 0; i < s->sample; i++) {
        int64_t number = (int64_t)i;
        s->elements[i] = total <= affordable ? (fpo_element){number / p->n, number % p->n}
                                             : (fpo_element){number * 37 % p->m, (number * 53 + number / 7) % p->n};
        s->codes[i] =
            fpo_load_code(s->spec.epilogue.d, s->right.d, (size_t)(s->elements[i].row * p->n + s->elements[i].column));
    }
}

static fpo_status prepare(subject *s, const fpo_vector *vector, const fpo_coverage_options *options, fpo_error *error)
{
    s->vector = vector;
    s->spec = vector->spec;
    s->spec.accumulation = options->model->accumulation;
    s->right = new_output(&s->spec, &vector->problem);
    if (s->right.d == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu bytes of D", s->right.d_bytes);
    fpo_status status = fpo_gemm(&s->spec, &vector->problem, &s->right, &options->execution, error);
    if (status == FPO_OK)
        choose_sample(s);
    return status;
}

/* The place of an edit in the list, where it is added if it is new. */
static fpo_status place_of(fpo_coverage *c, const fpo_edit *edit, const fpo_gemm_spec *spec, size_t *place,
                           fpo_error *error)
{
    fpo_coverage_edit entry = {.edit = *edit};
    for (*place = 0; *place < c->edit_count; ++*place)
        if (fpo_edit_equal(&c->edits[*place].edit, edit))
            return FPO_OK;
    fpo_coverage_edit *grown = realloc(c->edits, (c->edit_count + 1) * sizeof *grown);
    if (grown == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu edits", c->edit_count + 1);
    entry.equivalent = fpo_equivalent_edit(spec, edit);
    c->edits = grown;
    c->edits[c->edit_count++] = entry;
    return FPO_OK;
}

/* The edits that a vector admits, by their places. */
typedef struct admitted {
    size_t *places;
    fpo_edit *edits;
    size_t count;
} admitted;

static fpo_status admit(fpo_coverage *c, const subject *s, admitted *a, fpo_error *error)
{
    size_t count = fpo_edit_enumerate(&s->spec, &s->vector->problem, NULL, 0);
    a->edits = calloc(count + 1, sizeof *a->edits);
    a->places = calloc(count + 1, sizeof *a->places);
    if (a->edits == NULL || a->places == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu edits", count);
    a->count = fpo_edit_enumerate(&s->spec, &s->vector->problem, a->edits, count);
    fpo_status status = FPO_OK;
    for (size_t i = 0; i < a->count && status == FPO_OK; i++)
        status = place_of(c, &a->edits[i], &s->spec, &a->places[i], error);
    return status;
}

static int by_catalogue(const void *x, const void *y)
{
    const fpo_coverage_edit *a = x, *b = y;
    int order = (a->edit.kind > b->edit.kind) - (a->edit.kind < b->edit.kind);
    if (order == 0)
        order = (a->edit.operands > b->edit.operands) - (a->edit.operands < b->edit.operands);
    if (order == 0)
        order = (a->edit.from > b->edit.from) - (a->edit.from < b->edit.from);
    if (order == 0)
        order = (a->edit.to > b->edit.to) - (a->edit.to < b->edit.to);
    return order != 0 ? order : (a->edit.value > b->edit.value) - (a->edit.value < b->edit.value);
}

/* All edits, in the order of the catalogue, and a cell for each with each vector. */
static fpo_status list_edits(work *w, admitted *lists, fpo_error *error)
{
    fpo_coverage *c = w->coverage;
    fpo_status status = FPO_OK;
    for (size_t v = 0; v < c->vector_count && status == FPO_OK; v++)
        status = admit(c, &w->subjects[v], &lists[v], error);
    if (status != FPO_OK)
        return status;
    if (c->edit_count > 0)
        qsort(c->edits, c->edit_count, sizeof *c->edits, by_catalogue);
    c->cells = calloc(c->edit_count * c->vector_count + 1, 1);
    if (c->cells == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for a matrix of %zu x %zu", c->edit_count,
                        c->vector_count);
    for (size_t v = 0; v < c->vector_count; v++)
        for (size_t i = 0; i < lists[v].count; i++) {
            size_t place;
            status = place_of(c, &lists[v].edits[i], &w->subjects[v].spec, &place, error);
            c->cells[place * c->vector_count + v] = FPO_KILL_UNTRIED;
        }
    return status;
}

static fpo_kill try_sample(const subject *s, const fpo_edited *edited)
{
    uint32_t codes[SAMPLE];
    if (s->sample == 0)
        return FPO_KILL_SAMPLE;
    if (fpo_edited_elements(edited, s->elements, s->sample, codes, &one_thread, NULL) != FPO_OK)
        return FPO_KILL_NONE;
    return memcmp(codes, s->codes, s->sample * sizeof *codes) == 0 ? FPO_KILL_SAMPLE : FPO_KILL_KILLS;
}

static bool same_output(const fpo_gemm_output *x, const fpo_gemm_output *y)
{
    return memcmp(x->d, y->d, x->d_bytes) == 0 &&
           (x->d_scale_bytes == 0 || memcmp(x->d_scale, y->d_scale, x->d_scale_bytes) == 0);
}

static fpo_kill try_whole(const subject *s, const fpo_edited *edited)
{
    fpo_gemm_output output = new_output(&s->spec, &s->vector->problem);
    fpo_kill kill = FPO_KILL_NONE;
    if (output.d != NULL && fpo_edited_gemm(edited, &output, &one_thread, NULL) == FPO_OK)
        kill = same_output(&output, &s->right) ? FPO_KILL_SURVIVES : FPO_KILL_KILLS;
    free_output(&output);
    return kill;
}

static fpo_kill try_edit_on(const subject *s, const fpo_edit *edit,
                            fpo_kill (*how)(const subject *, const fpo_edited *))
{
    fpo_edited edited;
    if (fpo_edited_open(&s->spec, &s->vector->problem, edit, 1, &edited, NULL) != FPO_OK)
        return FPO_KILL_NONE;
    fpo_kill kill = how(s, &edited);
    fpo_edited_close(&edited);
    return kill;
}

static bool is_killed(const work *w, size_t e)
{
    const fpo_coverage *c = w->coverage;
    return memchr(c->cells + e * c->vector_count, FPO_KILL_KILLS, c->vector_count) != NULL;
}

/* One edit on samples of all vectors. */
static void try_samples(work *w, size_t e)
{
    fpo_coverage *c = w->coverage;
    uint8_t *row = c->cells + e * c->vector_count;
    for (size_t v = 0; v < c->vector_count && !(w->options->first_only && is_killed(w, e)); v++)
        if (row[v] == FPO_KILL_UNTRIED)
            row[v] = (uint8_t)try_edit_on(&w->subjects[v], &c->edits[e].edit, try_sample);
}

/* What no sample shows, on whole outputs until one does. */
static void try_wholes(work *w, size_t e)
{
    fpo_coverage *c = w->coverage;
    uint8_t *row = c->cells + e * c->vector_count;
    if (c->edits[e].equivalent != NULL || c->edits[e].otherwise)
        return;
    for (size_t v = 0; v < c->vector_count && !is_killed(w, e); v++)
        if (row[v] == FPO_KILL_SAMPLE)
            row[v] = (uint8_t)try_edit_on(&w->subjects[v], &c->edits[e].edit, try_whole);
}

static void report(work *w, double fraction)
{
    const fpo_execution *execution = &w->options->execution;
    if (execution->progress != NULL)
        execution->progress(execution->progress_context, fraction);
}

static void for_each_edit(work *w, void (*what)(work *, size_t))
{
    size_t count = w->coverage->edit_count;
    int threads = w->options->execution.threads > 0 ? w->options->execution.threads : omp_get_max_threads();
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t e = 0; e < count; e++) {
        size_t done;
        what(w, e);
#pragma omp atomic capture
        done = ++w->done;
        if (omp_get_thread_num() == 0)
            report(w, (double)done / (double)(2 * count));
    }
}

/* An edit whose numbers come from a vector's shape, and that another vector kills with the numbers of its own shape. */
static void find_siblings(work *w)
{
    fpo_coverage *c = w->coverage;
    for (size_t e = 0; e < c->edit_count; e++)
        for (size_t other = 0; other < c->edit_count && fpo_edit_depends_on_shape(&c->edits[e].edit); other++) {
            const fpo_edit *x = &c->edits[e].edit, *y = &c->edits[other].edit;
            if (x->kind == y->kind && x->operands == y->operands && is_killed(w, other) && !is_killed(w, e))
                c->edits[e].otherwise = true;
        }
}

static void try_all(work *w)
{
    for_each_edit(w, try_samples);
    find_siblings(w);
    if (!w->options->samples_only)
        for_each_edit(w, try_wholes);
    find_siblings(w);
}

static void count(fpo_coverage *c)
{
    for (size_t e = 0; e < c->edit_count; e++) {
        fpo_coverage_edit *edit = &c->edits[e];
        for (size_t v = 0; v < c->vector_count; v++)
            edit->killers += c->cells[e * c->vector_count + v] == FPO_KILL_KILLS;
        edit->otherwise = edit->otherwise && edit->killers == 0;
        if (edit->killers > 0)
            c->killed++;
        else if (edit->equivalent != NULL)
            c->equivalent++;
        else if (edit->otherwise)
            c->otherwise++;
    }
}

/* Rows that no vector admits in the end (fpo_gemm refuses the result everywhere) are none. */
static void drop_refused(fpo_coverage *c)
{
    size_t kept = 0;
    for (size_t e = 0; e < c->edit_count; e++) {
        const uint8_t *row = c->cells + e * c->vector_count;
        bool admitted_somewhere = false;
        for (size_t v = 0; v < c->vector_count; v++)
            admitted_somewhere = admitted_somewhere || row[v] != FPO_KILL_NONE;
        if (!admitted_somewhere)
            continue;
        memmove(c->cells + kept * c->vector_count, row, c->vector_count);
        c->edits[kept++] = c->edits[e];
    }
    c->edit_count = kept;
}

fpo_status fpo_coverage_compute(fpo_vector *const *vectors, size_t vector_count, const fpo_coverage_options *options,
                                fpo_coverage **coverage, fpo_error *error)
{
    work w = {.options = options,
              .subjects = calloc(vector_count + 1, sizeof(subject)),
              .coverage = calloc(1, sizeof(fpo_coverage))};
    admitted *lists = calloc(vector_count + 1, sizeof *lists);
    fpo_status status = FPO_OK;
    *coverage = w.coverage;
    if (w.subjects == NULL || w.coverage == NULL || lists == NULL)
        status = fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu vectors", vector_count);
    else
        w.coverage->vector_count = vector_count;
    for (size_t v = 0; v < vector_count && status == FPO_OK; v++)
        status = prepare(&w.subjects[v], vectors[v], options, error);
    if (status == FPO_OK)
        status = list_edits(&w, lists, error);
    if (status == FPO_OK) {
        try_all(&w);
        drop_refused(w.coverage);
        count(w.coverage);
    }
    for (size_t v = 0; v < vector_count && w.subjects != NULL && lists != NULL; v++) {
        free_output(&w.subjects[v].right);
        free(lists[v].edits);
        free(lists[v].places);
    }
    free(lists);
    free(w.subjects);
    if (status != FPO_OK) {
        fpo_coverage_free(w.coverage);
        *coverage = NULL;
    }
    return status;
}

void fpo_coverage_free(fpo_coverage *coverage)
{
    if (coverage == NULL)
        return;
    free(coverage->edits);
    free(coverage->cells);
    free(coverage);
}

fpo_kill fpo_coverage_cell(const fpo_coverage *coverage, size_t edit, size_t vector)
{
    return (fpo_kill)coverage->cells[edit * coverage->vector_count + vector];
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Hypotheses are scored on a sample of elements, and what explains the sample is confirmed on every byte. */
#include "diagnose_search.h"

#include "edit_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 4, PROBES = 2, PAIR_PROBES = 16, CONFIRMED_AT_MOST = 4 };

/* ---- the sample ---- */

static fpo_output_view view_of(const fpo_gemm_output *output)
{
    return (fpo_output_view){output->d, output->d_scale};
}

static uint32_t word_of(const fpo_search *s, fpo_output_view output, int64_t row, int64_t column)
{
    return fpo_output_word(&s->spec->epilogue, s->problem->n, output, row, column);
}

/* Columns of a unit of the sample: one, or those of a block. */
static int64_t first_column(const fpo_search *s, const fpo_element *e)
{
    return s->block > 0 ? e->column * s->block : e->column;
}

static int64_t end_column(const fpo_search *s, const fpo_element *e)
{
    int64_t end = first_column(s, e) + (s->block > 0 ? s->block : 1);
    return end < s->problem->n ? end : s->problem->n;
}

static bool is_wrong(const fpo_search *s, const fpo_element *e)
{
    for (int64_t c = first_column(s, e); c < end_column(s, e); ++c)
        if (word_of(s, s->observed, e->row, c) != word_of(s, view_of(&s->expected), e->row, c))
            return true;
    return false;
}

/* Rows of A and of B that the first `count` units need. */
static bool want_rows(const fpo_search *s, size_t count, bool *wanted[2])
{
    wanted[0] = calloc((size_t)s->problem->m, sizeof(bool));
    wanted[1] = calloc((size_t)s->problem->n, sizeof(bool));
    for (size_t i = 0; i < count && wanted[0] != NULL && wanted[1] != NULL; i++) {
        wanted[0][s->elements[i].row] = true;
        for (int64_t c = first_column(s, &s->elements[i]); c < end_column(s, &s->elements[i]); ++c)
            wanted[1][c] = true;
    }
    return wanted[0] != NULL && wanted[1] != NULL;
}

/* How many units are wrong. */
static int64_t count_wrong(const fpo_search *s, int64_t columns)
{
    int64_t wrong = 0;
    if (s->block == 0)
        return s->diagnosis->comparison.different;
    for (int64_t i = 0; i < s->problem->m * columns; ++i)
        wrong += is_wrong(s, &(fpo_element){i / columns, i % columns});
    return wrong;
}

fpo_status fpo_search_sample(fpo_search *s, fpo_error *error)
{
    int64_t columns = s->block > 0 ? fpo_output_scale_columns(&s->spec->epilogue, s->problem->n) : s->problem->n;
    int64_t total = s->problem->m * columns, different = count_wrong(s, columns);
    int64_t all[2] = {total - different, different};
    int64_t wanted[2] = {FPO_SAMPLE_RIGHT, FPO_SAMPLE_WRONG};
    if (s->block > 0) {
        wanted[0] = FPO_SAMPLE_RIGHT_BLOCKS;
        wanted[1] = FPO_SAMPLE_WRONG_BLOCKS;
    }
    for (int wrong = 1; wrong >= 0; --wrong) {
        int64_t seen = 0;
        int64_t taken = 0;
        for (int64_t i = 0; i < total && taken < wanted[wrong]; ++i) {
            fpo_element unit = {i / columns, i % columns};
            if (is_wrong(s, &unit) != (wrong == 1))
                continue;
            if (seen * wanted[wrong] >= taken * all[wrong]) {
                s->elements[s->sample++] = unit;
                ++taken;
            }
            ++seen;
        }
        if (wrong == 1)
            s->wrong = s->sample;
    }
    s->diagnosis->sample = s->sample;
    s->diagnosis->sample_of_blocks = s->block > 0;
    s->diagnosis->closest_equal = s->sample - s->wrong; /* what no edit at all gets right */
    return want_rows(s, s->sample, s->wanted) && want_rows(s, 1, s->first)
               ? FPO_OK
               : fpo_fail(error, FPO_ERR_MEMORY, "no memory for the rows of a sample");
}

void fpo_search_free(fpo_search *s)
{
    for (int i = 0; i < 2; i++) {
        free(s->wanted[i]);
        free(s->first[i]);
    }
}

/* ---- one hypothesis ---- */

static bool is_legitimate(const fpo_cause *cause)
{
    for (size_t i = 0; i < cause->edit_count; ++i)
        if (!fpo_edit_describe(cause->edits[i].kind)->legitimate)
            return false;
    return true;
}

/* Outputs that end up elsewhere come from other rows. */
static bool moves_outputs(const fpo_cause *cause)
{
    for (size_t i = 0; i < cause->edit_count; ++i)
        if (cause->edits[i].kind >= FPO_EDIT_OUTPUT_FORMAT)
            return true;
    return false;
}

/* The hypothesis, with what the sample needs of it. */
static bool open_for_rows(const fpo_search *s, const fpo_cause *cause, bool *const wanted[2], fpo_edited *edited)
{
    bool all = moves_outputs(cause);
    *edited = (fpo_edited){.spec = *s->spec, .problem = *s->problem};
    return fpo_edits_apply(edited, cause->edits, cause->edit_count, all ? NULL : wanted[0], all ? NULL : wanted[1],
                           NULL) == FPO_OK;
}

static bool open_for_sample(const fpo_search *s, const fpo_cause *cause, fpo_edited *edited)
{
    return open_for_rows(s, cause, s->wanted, edited);
}

/* Whether a unit of the sample is as the words say. *part_explained becomes false where an element of the wrong part is
 * not. */
static bool is_equal_unit(const fpo_search *s, const fpo_element *e, const uint32_t *words, bool *part_explained)
{
    bool equal = true;
    for (int64_t c = first_column(s, e); c < end_column(s, e); ++c) {
        uint32_t observed = word_of(s, s->observed, e->row, c);
        if (words[c - first_column(s, e)] == observed)
            continue;
        equal = false;
        bool differs = observed != word_of(s, view_of(&s->expected), e->row, c);
        if (fpo_part_has(&s->diagnosis->part, e->row, c, differs))
            *part_explained = false;
    }
    return equal;
}

/* How many of `count` units of the sample from `first` on the hypothesis gives. */
static size_t equal_units(const fpo_search *s, const fpo_edited *edited, size_t first, size_t count,
                          bool *part_explained)
{
    uint32_t words[FPO_SAMPLE > (FPO_SAMPLE_WRONG_BLOCKS + FPO_SAMPLE_RIGHT_BLOCKS) * FPO_LONGEST_BLOCK
                       ? FPO_SAMPLE
                       : (FPO_SAMPLE_WRONG_BLOCKS + FPO_SAMPLE_RIGHT_BLOCKS) * FPO_LONGEST_BLOCK];
    size_t equal = 0, width = s->block > 0 ? (size_t)s->block : 1;
    fpo_status status = s->block > 0 ? fpo_edited_blocks(edited, s->elements + first, count, words, &s->each, NULL)
                                     : fpo_edited_elements(edited, s->elements + first, count, words, &s->each, NULL);
    if (status != FPO_OK) {
        *part_explained = false;
        return 0;
    }
    for (size_t i = 0; i < count; ++i)
        equal += is_equal_unit(s, &s->elements[first + i], words + i * width, part_explained);
    return equal;
}

/* Of the sample, all that the hypothesis gives: it has to get one of two wrong outputs right before the rest is looked
 * at, and a pair, of which there are many, the first of them; of blocks, which are more work, the first. */
static size_t score(const fpo_search *s, const fpo_cause *cause, const fpo_edited *edited, bool *part_explained)
{
    size_t probes = s->wrong < PROBES ? s->wrong : PROBES;
    probes = cause->edit_count > 1 || s->block > 0 ? 1 : probes;
    size_t equal = equal_units(s, edited, 0, probes, part_explained);
    if (equal == 0)
        return 0;
    return equal + equal_units(s, edited, probes, s->sample - probes, part_explained);
}

/* A sample of blocks needs many rows of B, which edits copy: most hypotheses are refuted by the first block. */
static bool survives_first_block(const fpo_search *s, const fpo_cause *cause)
{
    bool ignored = true;
    fpo_edited edited;
    if (s->block == 0)
        return true;
    if (!open_for_rows(s, cause, s->first, &edited))
        return false;
    size_t equal = equal_units(s, &edited, 0, 1, &ignored);
    fpo_edited_close(&edited);
    return equal > 0;
}

/* Whether the hypothesis explains the sample; keeps the one that comes closest. */
static bool explains_sample(fpo_search *s, const fpo_cause *cause)
{
    fpo_diagnosis *d = s->diagnosis;
    bool part_explained = true;
    fpo_edited edited;
    d->hypotheses++;
    if (!survives_first_block(s, cause) || !open_for_sample(s, cause, &edited))
        return false;
    size_t equal = score(s, cause, &edited, &part_explained);
    fpo_edited_close(&edited);
    if (equal > d->closest_equal) {
        d->closest_equal = equal;
        d->closest = *cause;
    }
    if (equal > 0 && part_explained && d->part.kind != FPO_PART_ALL && cause->edit_count == 1 &&
        s->in_part_count < FPO_CAUSES)
        s->in_part[s->in_part_count++] = *cause;
    return equal == s->sample;
}

/* Where the cause is confined to the wrong part, the rest need not follow it: it is right as it is. */
static bool is_explained(const fpo_search *s, const fpo_cause *cause)
{
    const fpo_part *part = &s->diagnosis->part;
    if (!cause->in_part)
        return memcmp(s->scratch.d, s->observed.d, s->bytes) == 0 &&
               (s->scale_bytes == 0 || memcmp(s->scratch.d_scale, s->observed.d_scale, s->scale_bytes) == 0);
    for (int64_t i = 0; i < part->m * part->n; ++i) {
        int64_t row = i / part->n, column = i % part->n;
        uint32_t observed = word_of(s, s->observed, row, column);
        bool differs = observed != word_of(s, view_of(&s->expected), row, column);
        if (fpo_part_has(part, row, column, differs) && observed != word_of(s, view_of(&s->scratch), row, column))
            return false;
    }
    return true;
}

static bool explains_everything(fpo_search *s, const fpo_cause *cause)
{
    fpo_edited edited;
    if (fpo_edited_open(s->spec, s->problem, cause->edits, cause->edit_count, &edited, NULL) != FPO_OK)
        return false;
    bool explained = fpo_edited_gemm(&edited, &s->scratch, &s->whole, NULL) == FPO_OK && is_explained(s, cause);
    fpo_edited_close(&edited);
    return explained;
}

/* A whole output that takes seconds is not computed for every one of many explanations. */
static bool is_affordable(const fpo_search *s)
{
    static const double most_products = 2e9;
    const fpo_gemm_problem *p = s->problem;
    return (double)p->m * (double)p->n * (double)p->k <= most_products || s->diagnosis->cause_count < CONFIRMED_AT_MOST;
}

/* Whether an explanation that is confirmed gives the kernel the very same numbers: what comes out is the same, too. */
static bool is_known(const fpo_search *s, const fpo_cause *cause)
{
    const fpo_diagnosis *d = s->diagnosis;
    bool known = false;
    fpo_edited own, other;
    if (fpo_edited_open(s->spec, s->problem, cause->edits, cause->edit_count, &own, NULL) != FPO_OK)
        return false;
    for (size_t i = 0; i < d->cause_count && !known; ++i) {
        const fpo_cause *c = &d->causes[i];
        if (c->in_part != cause->in_part ||
            fpo_edited_open(s->spec, s->problem, c->edits, c->edit_count, &other, NULL) != FPO_OK)
            continue;
        known = fpo_edited_same(&own, &other);
        fpo_edited_close(&other);
    }
    fpo_edited_close(&own);
    return known;
}

/* What the output suggests may be in the registry's list, too. */
static bool is_listed(const fpo_diagnosis *d, const fpo_cause *cause)
{
    for (size_t i = 0; i < d->cause_count; ++i) {
        const fpo_cause *c = &d->causes[i];
        bool same = c->edit_count == cause->edit_count && c->in_part == cause->in_part;
        for (size_t j = 0; j < c->edit_count && same; ++j)
            same = fpo_edit_equal(&c->edits[j], &cause->edits[j]);
        if (same)
            return true;
    }
    return false;
}

static void keep_if_everything(fpo_search *s, fpo_cause cause)
{
    fpo_diagnosis *d = s->diagnosis;
    if (is_listed(d, &cause))
        return;
    cause.legitimate = is_legitimate(&cause);
    bool known = d->cause_count < FPO_CAUSES && is_known(s, &cause);
    if (d->cause_count == FPO_CAUSES || (!known && !is_affordable(s)))
        d->unconfirmed++;
    else if (known || explains_everything(s, &cause))
        d->causes[d->cause_count++] = cause;
}

static void try_hypothesis(fpo_search *s, fpo_cause cause)
{
    if (explains_sample(s, &cause))
        keep_if_everything(s, cause);
}

void fpo_search_in_part(fpo_search *s)
{
    for (size_t i = 0; i < s->in_part_count; ++i) {
        fpo_cause cause = s->in_part[i];
        cause.in_part = true;
        keep_if_everything(s, cause);
    }
}

/* ---- all of them ---- */

static void report(fpo_search *s, size_t done, size_t all)
{
    if (s->execution != NULL && s->execution->progress != NULL && done % 8 == 0)
        s->execution->progress(s->execution->progress_context, (double)done / (double)all);
}

void fpo_search_singles(fpo_search *s, const fpo_edit *edits, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        report(s, i, count);
        try_hypothesis(s, (fpo_cause){.edit_count = 1, .edits = {edits[i]}});
    }
}

static bool makes_powers_of_two(fpo_edit_kind kind)
{
    return kind == FPO_EDIT_F32_RAW_BYTES || kind == FPO_EDIT_F32_MANTISSA_DROPPED || kind == FPO_EDIT_F32_ROUNDED_UP ||
           kind == FPO_EDIT_F32_NEAREST_POWER || kind == FPO_EDIT_F32_PACKED_UNMASKED;
}

static bool explained_by(const fpo_diagnosis *diagnosis, fpo_edit_kind kind)
{
    for (size_t i = 0; i < diagnosis->cause_count; ++i)
        if (diagnosis->causes[i].edit_count == 1 && diagnosis->causes[i].edits[0].kind == kind)
            return true;
    return false;
}

void fpo_search_scaled_instructions(fpo_search *s, const fpo_edit *edits, size_t count)
{
    fpo_operand_view a = s->spec->a.read, b = s->spec->b.read;
    a.scale.format = b.scale.format = FPO_UE8M0;
    for (size_t i = 0; i < count; ++i) {
        if (!makes_powers_of_two(edits[i].kind) || edits[i].operands != (FPO_OPERAND_A | FPO_OPERAND_B) ||
            explained_by(s->diagnosis, edits[i].kind))
            continue;
        for (size_t m = 0; fpo_model_at(m) != NULL; ++m) {
            const fpo_model *model = fpo_model_at(m);
            if (model->operands.scales[0].format == FPO_FORMAT_NONE || !fpo_model_takes(model, &a, &b))
                continue;
            fpo_edit accumulation = {.kind = FPO_EDIT_ACCUMULATION, .from = -1, .to = (int)m};
            size_t before = s->diagnosis->cause_count;
            try_hypothesis(s, (fpo_cause){.edit_count = 2, .edits = {edits[i], accumulation}});
            if (s->diagnosis->cause_count > before)
                break; /* which of the instructions with these bits it is accuses nobody */
        }
    }
}

/* Two edits of one kind on overlapping operands would undo or repeat each other. */
static bool independent(const fpo_edit *x, const fpo_edit *y)
{
    return x->kind != y->kind || (x->operands & y->operands) == 0;
}

/* ---- which ones are worth pairs ---- */

/* One edit of a pair, and how far from the observed numbers it comes by itself. */
typedef struct partner {
    fpo_edit edit;
    size_t index; /* in the registry's order, in which two are applied */
    double spread;
} partner;

static double number_of(const fpo_search *s, uint32_t word)
{
    const fpo_epilogue *e = &s->spec->epilogue;
    return s->block > 0 ? fpo_decode_double(e->d_scale, word >> 8) * fpo_decode_double(e->d, word & 255)
                        : fpo_decode_double(e->d, word);
}

static int by_value(const void *x, const void *y)
{
    const double *p = x, *q = y;
    return (*p > *q) - (*p < *q);
}

/* How much the ratio of observed numbers to those of a hypothesis varies, in powers of two: nothing where only a factor
 * is missing, next to nothing where a rounding is. An element that has no such ratio counts as far off. */
static double spread_of(const fpo_search *s, const uint32_t *words, size_t units)
{
    enum { FAR = 4 };
    double ratios[PAIR_PROBES * FPO_LONGEST_BLOCK], sum = 0;
    size_t count = 0, without = 0, width = s->block > 0 ? (size_t)s->block : 1;
    for (size_t i = 0; i < units; ++i) {
        const fpo_element *e = &s->elements[i];
        for (int64_t c = first_column(s, e); c < end_column(s, e); ++c) {
            double observed = number_of(s, word_of(s, s->observed, e->row, c));
            double ratio = observed / number_of(s, words[i * width + (size_t)(c - first_column(s, e))]);
            if (ratio > 0 && isfinite(ratio))
                ratios[count++] = log2(ratio);
            else
                without++;
        }
    }
    qsort(ratios, count, sizeof *ratios, by_value);
    for (size_t i = 0; i < count; ++i)
        sum += fabs(ratios[i] - ratios[count / 2]);
    return (sum + FAR * (double)without) / (double)(count + without);
}

static double spread_under(const fpo_search *s, const fpo_edit *edit)
{
    uint32_t words[PAIR_PROBES * FPO_LONGEST_BLOCK];
    const fpo_cause cause = {.edit_count = edit != NULL, .edits = {edit != NULL ? *edit : (fpo_edit){0}}};
    size_t most = s->block > 0 ? 2 : PAIR_PROBES, units = s->wrong < most ? s->wrong : most;
    fpo_edited edited;
    double spread = INFINITY;
    if (!open_for_sample(s, &cause, &edited))
        return spread;
    if ((s->block > 0 ? fpo_edited_blocks(&edited, s->elements, units, words, &s->each, NULL)
                      : fpo_edited_elements(&edited, s->elements, units, words, &s->each, NULL)) == FPO_OK)
        spread = spread_of(s, words, units);
    fpo_edited_close(&edited);
    return spread;
}

/* What conversions of kernels do: bits cut off, or ties away. Layouts that frameworks and kernels hand to one another.
 * Of other kinds the parameters that come first, `alike` of which there were. */
static bool is_usual(const fpo_edit *edit, int alike)
{
    static const bool common[FPO_LAYOUT_COUNT] = {
        [FPO_LAYOUT_LINEAR] = true, [FPO_LAYOUT_128X4] = true, [FPO_LAYOUT_8X4] = true};
    switch (edit->kind) {
    case FPO_EDIT_SCALE_LAYOUT: return common[edit->from] && common[edit->to];
    case FPO_EDIT_OUTPUT_ROUNDING: return edit->to == FPO_TOWARD_ZERO || edit->to == FPO_NEAREST_AWAY;
    default: return alike < 2;
    }
}

static int by_spread(const void *x, const void *y)
{
    const partner *p = x, *q = y;
    if (p->spread != q->spread)
        return p->spread < q->spread ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* Edits that are worth trying together with another: of every kind and operand the usual parameters, and those that
 * come closest by themselves, closer than no edit. The closest ones first. A difference that is no defect is tried
 * alone. */
static size_t choose_for_pairs(const fpo_search *s, const fpo_edit *edits, size_t count, partner *kept)
{
    enum { CLOSEST = 2 };
    size_t chosen = 0;
    double without = spread_under(s, NULL);
    for (size_t i = 0; i < count; ++i) {
        if (!fpo_edit_describe(edits[i].kind)->legitimate && edits[i].kind != FPO_EDIT_OUTPUT_CONSTANT)
            kept[chosen++] = (partner){edits[i], i, spread_under(s, &edits[i])};
    }
    partner *all = malloc((chosen + 1) * sizeof *all);
    if (all == NULL)
        return 0;
    memcpy(all, kept, chosen * sizeof *all);
    size_t found = 0;
    for (size_t i = 0; i < chosen; ++i) {
        int before = 0, closer = 0;
        for (size_t j = 0; j < chosen; ++j) {
            bool alike = all[j].edit.kind == all[i].edit.kind && all[j].edit.operands == all[i].edit.operands;
            before += alike && j < i;
            closer += alike && by_spread(&all[j], &all[i]) < 0;
        }
        if (is_usual(&all[i].edit, before) || (closer < CLOSEST && all[i].spread < without))
            kept[found++] = all[i];
    }
    free(all);
    qsort(kept, found, sizeof *kept, by_spread);
    return found;
}

/* How many pairs are tried at most: all of them on small problems, those of the closest edits on large ones. */
static size_t pair_limit(const fpo_search *s)
{
    static const double effort = 2e9; /* about a nanosecond each */
    double scales = (double)(s->problem->m + s->problem->n) * (double)s->problem->k / 16;
    double probe = s->block > 0 ? (double)s->block : FEW; /* elements */
    double limit = effort / (scales + 8.0 * probe * (double)s->problem->k + 10000);
    return limit < 1e6 ? (size_t)limit : 1000000;
}

/* In the registry's order. False where the two are no pair. */
static bool try_pair(fpo_search *s, const partner *first, const partner *second)
{
    bool some_operand = first->edit.operands + second->edit.operands != 0;
    if (!some_operand || !independent(&first->edit, &second->edit))
        return false;
    bool in_order = first->index < second->index;
    try_hypothesis(
        s, (fpo_cause){.edit_count = 2,
                       .edits = {in_order ? first->edit : second->edit, in_order ? second->edit : first->edit}});
    return true;
}

/* An edit that leaves next to nothing to explain but a factor, a rounding or a few elements is tried with every other,
 * those included that are not worth all pairs. */
static size_t try_nearly(fpo_search *s, const partner *partners, size_t count, const fpo_edit *edits, size_t all,
                         size_t limit)
{
    enum { MOST = 12 };
    static const double near = 1.0 / 16;
    size_t tried = 0;
    bool *is_partner = calloc(all + 1, sizeof *is_partner);
    for (size_t i = 0; i < count && is_partner != NULL; ++i)
        is_partner[partners[i].index] = true;
    for (size_t i = 0; i < count && i < MOST && partners[i].spread < near && is_partner != NULL; ++i)
        for (size_t j = 0; j < all && tried < limit; ++j)
            if (!is_partner[j] && !fpo_edit_describe(edits[j].kind)->legitimate &&
                edits[j].kind != FPO_EDIT_OUTPUT_CONSTANT)
                tried += try_pair(s, &partners[i], &(partner){edits[j], j, 0});
    free(is_partner);
    return tried;
}

void fpo_search_pairs(fpo_search *s, const fpo_edit *edits, size_t all)
{
    size_t limit = pair_limit(s);
    partner *partners = malloc((all + 1) * sizeof *partners);
    if (partners == NULL)
        return;
    size_t count = choose_for_pairs(s, edits, all, partners);
    size_t tried = try_nearly(s, partners, count, edits, all, limit);
    for (size_t i = 0; i < count; ++i) {
        report(s, i, count);
        for (size_t j = i + 1; j < count && tried < limit; ++j)
            tried += try_pair(s, &partners[i], &partners[j]);
    }
    free(partners);
}

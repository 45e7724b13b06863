/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A diagnosis in words: what is right, what is wrong and where, why, and how sure that is. */
#include "causes.h"

#include "report.h"
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TEXT = 512, VALUE_COLUMN = 19, SHOWN = 6 };

typedef struct words {
    char edit[TEXT], parameters[TEXT], sentence[TEXT], look[TEXT];
} words;

static void append(char *text, const char *joint, const char *part)
{
    size_t used = strlen(text);
    snprintf(text + used, TEXT - used, "%s%s", used > 0 ? joint : "", part);
}

static words words_of(const fpo_cause *cause)
{
    words w = {"", "", "", ""};
    for (size_t i = 0; i < cause->edit_count; i++) {
        char part[TEXT / 2];
        append(w.edit, " + ", fpo_edit_describe(cause->edits[i].kind)->name);
        fpo_edit_parameters(&cause->edits[i], part, sizeof part);
        append(w.parameters, "; ", part);
        fpo_edit_sentence(&cause->edits[i], part, sizeof part);
        append(w.sentence, ", and ", part);
        append(w.look, "; ", fpo_edit_describe(cause->edits[i].kind)->look);
    }
    if (cause->in_part)
        append(w.sentence, ", ", "in the wrong part alone");
    return w;
}

/* "label            text", the text wrapped at the terminal's width. */
static void print_labelled(const char *label, const char *text)
{
    printf("  %-16s ", label);
    fpo_print_wrapped(VALUE_COLUMN, text);
}

static void print_cause(const char *label, const fpo_cause *cause)
{
    words w = words_of(cause);
    printf("  %-16s %s", label, fpo_style(stdout, FPO_BOLD));
    fpo_print_wrapped(VALUE_COLUMN, w.sentence);
    printf("%s%*s%s%s%s%s\n", fpo_style(stdout, FPO_PLAIN), VALUE_COLUMN, "", w.edit,
           w.parameters[0] != '\0' ? " (" : "", w.parameters, w.parameters[0] != '\0' ? ")" : "");
    if (!cause->legitimate)
        print_labelled("look at", w.look);
}

static void print_place(const fpo_diagnosis *d)
{
    const fpo_part *part = &d->part;
    char where[TEXT], line[TEXT + 64];
    if (part->kind == FPO_PART_NONE)
        return;
    fpo_part_text(part, where, sizeof where);
    printf("  %-16s %" PRId64 " of %" PRId64 " elements, bit for bit%s\n", "right",
           d->comparison.elements - d->comparison.different, d->comparison.elements,
           part->kind == FPO_PART_ALL ? "" : ", all outside of what is wrong");
    snprintf(line, sizeof line, "%s", where);
    if (part->kind != FPO_PART_SCATTERED && part->wrong == part->elements && part->wrong > 1)
        snprintf(line, sizeof line, "%s, every element there", where);
    else if (part->kind != FPO_PART_SCATTERED && part->wrong > 1)
        snprintf(line, sizeof line, "%s (%" PRId64 " of %" PRId64 " elements there)", where, part->wrong,
                 part->elements);
    print_labelled("wrong", line);
    if (d->comparison.nan_observed > d->comparison.nan_expected) {
        fpo_part_text(&d->nan, where, sizeof where);
        char expected[24] = "none";
        if (d->comparison.nan_expected > 0)
            snprintf(expected, sizeof expected, "%" PRId64, d->comparison.nan_expected);
        snprintf(line, sizeof line, "%" PRId64 " elements, where %s should be: %s", d->comparison.nan_observed,
                 expected, where);
        print_labelled("NaN", line);
    }
}

static bool has_found_number(const fpo_cause *cause)
{
    for (size_t i = 0; i < cause->edit_count; i++) {
        if (cause->edits[i].value != 0)
            return true;
    }
    return false;
}

/* The same but for the number, of which neighbours give the same bytes, too. */
static bool is_repetition(const fpo_cause *x, const fpo_cause *y)
{
    return x->edit_count == 1 && y->edit_count == 1 && x->edits[0].kind == y->edits[0].kind &&
           x->edits[0].operands == y->edits[0].operands && x->edits[0].from == y->edits[0].from &&
           x->edits[0].to == y->edits[0].to;
}

bool fpo_cause_is_finding(const fpo_diagnosis *d, size_t index)
{
    const fpo_cause *cause = &d->causes[index];
    if (d->verdict == FPO_VERDICT_LEGITIMATE && !cause->legitimate)
        return false;
    if (index == 0 || !has_found_number(cause))
        return true;
    return has_found_number(&d->causes[0]) && !is_repetition(cause, &d->causes[index - 1]);
}

static size_t count_findings(const fpo_diagnosis *d)
{
    size_t count = 0;
    for (size_t i = 0; i < d->cause_count; i++)
        count += fpo_cause_is_finding(d, i);
    return count;
}

static void print_list(const char *first, const fpo_diagnosis *d)
{
    size_t shown = 0, findings = count_findings(d);
    for (size_t i = 0; i < d->cause_count && shown < SHOWN; i++) {
        if (fpo_cause_is_finding(d, i))
            print_cause(shown++ > 0 ? "or" : first, &d->causes[i]);
    }
    if (findings > shown)
        printf("  %-16s %zu more; --json has all\n", "or", findings - shown);
}

static void print_evidence(const fpo_diagnosis *d, const char *distinguish)
{
    char line[TEXT], worth[TEXT / 2];
    bool whole = !d->causes[0].in_part, enough = d->evidence.bits >= d->needed;
    snprintf(worth, sizeof worth,
             enough
                 ? "%.0f bits of evidence where %.0f would do (%zu hypotheses tried)"
                 : "worth %.0f bits of evidence, where %.0f would make sure (%zu hypotheses tried): other mistakes may "
                   "end in the same",
             d->evidence.bits, d->needed, d->hypotheses);
    snprintf(
        line, sizeof line, "%s all %" PRId64 " elements%s are as observed, the %" PRId64 " wrong ones included: %s",
        count_findings(d) > 1 ? "with each of these" : "with this change",
        whole ? d->comparison.elements : d->part.elements, whole ? "" : " of the part", d->evidence.elements, worth);
    print_labelled("how sure", line);
    if (count_findings(d) > 1) {
        snprintf(line, sizeof line, "these operands cannot tell the %zu explanations apart%s%s", count_findings(d),
                 distinguish != NULL ? "; a vector that does: " : "", distinguish != NULL ? distinguish : "");
        print_labelled("", line);
    }
}

/* Edits explain everything, but so would chance. */
static void print_too_little(const fpo_diagnosis *d)
{
    char line[TEXT];
    snprintf(line, sizeof line,
             "unexplained: too little is wrong to accuse. %" PRId64 " wrong elements are worth %.1f bits of evidence, "
             "and to name one of %zu hypotheses takes %.0f",
             d->evidence.elements, d->evidence.bits, d->hypotheses, d->needed);
    print_labelled("cause", line);
    print_list("candidate", d);
}

static void print_unexplained(const fpo_diagnosis *d)
{
    printf("  %-16s unexplained: none of %zu hypotheses gives every byte\n", "cause", d->hypotheses);
    char line[TEXT * 2];
    const char *units = d->sample_of_blocks ? "blocks" : "elements";
    if (d->closest.edit_count == 0) {
        snprintf(line, sizeof line,
                 "no hypothesis comes closer than none at all does: %zu of %zu sampled %s are as the model has them",
                 d->closest_equal, d->sample, units);
        print_labelled("closest", line);
        return;
    }
    words w = words_of(&d->closest);
    snprintf(line, sizeof line, "%s, but only %zu of %zu sampled %s are then as observed", w.sentence, d->closest_equal,
             d->sample, units);
    print_labelled("closest", line);
}

static void print_sign(const fpo_sign_info *sign)
{
    if (sign->explains)
        printf("  %-16s %s", "cause", fpo_style(stdout, FPO_BOLD));
    else
        printf("  %-16s ", "sign");
    fpo_print_wrapped(VALUE_COLUMN, sign->sentence);
    printf("%s%*s%s\n", sign->explains ? fpo_style(stdout, FPO_PLAIN) : "", VALUE_COLUMN, "", sign->name);
}

void fpo_causes_print(const fpo_diagnosis *d, const char *distinguish)
{
    const fpo_sign_info *sign = fpo_sign_describe(d->sign);
    print_place(d);
    if (sign != NULL && (d->plain || d->cause_count == 0))
        print_sign(sign);
    if (d->plain) {
        if (d->cause_count > 0)
            print_list("as would", d);
    } else if (d->cause_count == 0) {
        print_unexplained(d);
    } else if (d->verdict == FPO_VERDICT_UNEXPLAINED) {
        print_too_little(d);
    } else {
        print_list(d->verdict == FPO_VERDICT_LEGITIMATE ? "not a defect" : "cause", d);
        print_evidence(d, distinguish);
    }
}

static json_t *cause_json(const fpo_cause *cause)
{
    words w = words_of(cause);
    return json_pack("{s:s, s:s, s:s, s:s}", "edit", w.edit, "parameters", w.parameters, "sentence", w.sentence, "look",
                     w.look);
}

static json_t *list_json(const fpo_diagnosis *d, bool findings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->cause_count; i++) {
        if (fpo_cause_is_finding(d, i) == findings)
            json_array_append_new(list, cause_json(&d->causes[i]));
    }
    return list;
}

static bool has_findings(const fpo_diagnosis *d)
{
    return d->verdict != FPO_VERDICT_UNEXPLAINED && !d->plain;
}

json_t *fpo_diagnosis_causes_json(const fpo_diagnosis *d)
{
    const fpo_sign_info *sign = fpo_sign_describe(d->sign);
    if (d->plain)
        return json_pack("[{s:s, s:s, s:s, s:s}]", "edit", sign->name, "parameters", "", "sentence", sign->sentence,
                         "look", "");
    return has_findings(d) ? list_json(d, true) : json_array();
}

static json_t *set_json(const fpo_index_set *set)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "first", (json_int_t)set->first, "last", (json_int_t)set->last, "period",
                     (json_int_t)set->period, "width", (json_int_t)set->width);
}

static json_t *part_json(const fpo_part *part)
{
    char text[TEXT];
    fpo_part_text(part, text, sizeof text);
    return json_pack("{s:s, s:s, s:o, s:o, s:I, s:I}", "kind", fpo_part_kind_name(part->kind), "text", text, "rows",
                     set_json(&part->rows), "columns", set_json(&part->columns), "elements", (json_int_t)part->elements,
                     "wrong", (json_int_t)part->wrong);
}

static double tenths(double x)
{
    return round(10 * x) / 10;
}

void fpo_diagnosis_add_json(json_t *object, const fpo_diagnosis *d)
{
    const fpo_sign_info *sign = fpo_sign_describe(d->sign);
    json_object_set_new(object, "part", part_json(&d->part));
    json_object_set_new(object, "nan", d->nan.wrong > 0 ? part_json(&d->nan) : json_null());
    json_object_set_new(object, "sign", sign != NULL ? json_string(sign->name) : json_null());
    json_object_set_new(object, "candidates", list_json(d, !has_findings(d)));
    json_object_set_new(object, "evidence",
                        json_pack("{s:I, s:I, s:f, s:f}", "elements", (json_int_t)d->evidence.elements, "pairs",
                                  (json_int_t)d->evidence.pairs, "bits", tenths(d->evidence.bits), "needed",
                                  tenths(d->needed)));
    json_object_set_new(object, "hypotheses", json_integer((json_int_t)d->hypotheses));
    json_object_set_new(object, "sample", json_integer((json_int_t)d->sample));
    json_object_set_new(object, "closest", d->closest.edit_count > 0 ? cause_json(&d->closest) : json_null());
    json_object_set_new(object, "closest_equal", json_integer((json_int_t)d->closest_equal));
}

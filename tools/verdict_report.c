/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A finding as text and as JSON. */
#include "report.h"
#include "table.h"
#include "verdict.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT = 512, NAMES = 6, VALUE_COLUMN = 19 };

static void print_names(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count && i < NAMES; i++)
        printf("%s%s", i > 0 ? ", " : "", names[i]);
    if (count > NAMES)
        printf(" and %zu more", count - NAMES);
}

/* The word that the whole report hangs on, in its colour. */
static void print_verdict(const fpo_finding *f, const fpo_subject_arguments *a)
{
    fpo_style_kind style = f->verdict == FPO_VERDICT_MATCH        ? FPO_GOOD
                           : f->verdict == FPO_VERDICT_LEGITIMATE ? FPO_WARN
                                                                  : FPO_BAD;
    printf("%s%s%s  %s against %s", fpo_style(stdout, style), fpo_verdict_name(f->verdict),
           fpo_style(stdout, FPO_PLAIN), a->output, a->vector);
    printf("\n  %-16s ", "asked for");
    print_names(f->asked, f->asked_count);
    printf("\n");
    if (f->match_count > 0) {
        printf("  %-16s ", f->verdict == FPO_VERDICT_MATCH ? "all bits as" : "all bits are of");
        print_names(f->matches, f->match_count);
        puts("");
    }
    if (f->verdict == FPO_VERDICT_LEGITIMATE && f->match_count > 0)
        puts("  not a defect: another documented accumulation than the one asked for makes exactly these bits");
}

static void cause_text(const fpo_cause *cause, char *edit, char *parameters, char *sentence)
{
    size_t lengths[3] = {0, 0, 0};
    char *texts[3] = {edit, parameters, sentence};
    edit[0] = parameters[0] = sentence[0] = '\0';
    for (size_t i = 0; i < cause->edit_count; i++) {
        char parts[3][TEXT];
        snprintf(parts[0], TEXT, "%s", fpo_edit_describe(cause->edits[i].kind)->name);
        fpo_edit_parameters(&cause->edits[i], parts[1], TEXT);
        fpo_edit_sentence(&cause->edits[i], parts[2], TEXT);
        static const char *const joints[3] = {" + ", "; ", ", and "};
        for (int t = 0; t < 3; t++) {
            if (lengths[t] < TEXT)
                lengths[t] += (size_t)snprintf(texts[t] + lengths[t], TEXT - lengths[t], "%s%s", i > 0 ? joints[t] : "",
                                               parts[t]);
        }
    }
}

static void print_causes(const fpo_finding *f)
{
    char edit[TEXT], parameters[TEXT], sentence[TEXT];
    const fpo_diagnosis *d = &f->diagnosis;
    if (d->cause_count > 1)
        printf("  %zu causes give exactly these bytes; the operands of this vector cannot tell them apart\n",
               d->cause_count);
    for (size_t i = 0; i < d->cause_count; i++) {
        cause_text(&d->causes[i], edit, parameters, sentence);
        printf("  %-16s %s", i == 0 ? "cause" : "or", fpo_style(stdout, FPO_BOLD));
        fpo_print_wrapped(VALUE_COLUMN, sentence);
        printf("%s%*s%s%s%s%s: with this change all %" PRId64 " elements are as observed\n",
               fpo_style(stdout, FPO_PLAIN), VALUE_COLUMN, "", edit, parameters[0] != '\0' ? " (" : "", parameters,
               parameters[0] != '\0' ? ")" : "", f->differences.comparison.elements);
    }
    if (d->cause_count == 0)
        printf("  %-16s none of %zu hypotheses explains every byte\n", "cause", d->hypotheses);
    if (d->cause_count == 0 && d->closest.edit_count > 0) {
        cause_text(&d->closest, edit, parameters, sentence);
        printf("  %-16s %s, but only %zu of %zu sampled elements are then as observed\n", "closest", sentence,
               d->closest_equal, d->sample);
    }
}

int fpo_finding_print(const fpo_finding *f, const fpo_subject_arguments *a, const char *line)
{
    print_verdict(f, a);
    if (f->verdict == FPO_VERDICT_MATCH)
        return FPO_EXIT_OK;
    if (f->diagnosed)
        print_causes(f);
    fpo_section("against %s", f->closest);
    if (f->scales_different > 0)
        printf("  %-16s %" PRId64 " of the output's block scales\n", "different", f->scales_different);
    if (f->differences.comparison.different > 0)
        fpo_differences_print(&f->differences);
    printf("\nreproduce: %s\n", line);
    return FPO_EXIT_DIVERGENCE;
}

static json_t *names_json(const char *const *names, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_string(names[i]));
    return array;
}

json_t *fpo_causes_json(const fpo_finding *f)
{
    json_t *causes = json_array();
    char edit[TEXT], parameters[TEXT], sentence[TEXT];
    for (size_t i = 0; f->diagnosed && i < f->diagnosis.cause_count; i++) {
        cause_text(&f->diagnosis.causes[i], edit, parameters, sentence);
        json_array_append_new(
            causes, json_pack("{s:s, s:s, s:s}", "edit", edit, "parameters", parameters, "sentence", sentence));
    }
    for (size_t i = 0; f->verdict == FPO_VERDICT_LEGITIMATE && !f->diagnosed && i < f->match_count; i++) {
        const fpo_edit_info *info = fpo_edit_describe(FPO_EDIT_ACCUMULATION);
        snprintf(parameters, sizeof parameters, "from=%s,to=%s", f->closest, f->matches[i]);
        snprintf(sentence, sizeof sentence, "the sum is accumulated as in the model %s instead of %s", f->matches[i],
                 f->closest);
        json_array_append_new(
            causes, json_pack("{s:s, s:s, s:s}", "edit", info->name, "parameters", parameters, "sentence", sentence));
    }
    return causes;
}

int fpo_finding_print_json(const fpo_finding *f, const fpo_subject_arguments *a, const char *line)
{
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:I, s:o, s:s}", "verdict", fpo_verdict_name(f->verdict),
                  "vector", a->vector, "output", a->output, "asked", names_json(f->asked, f->asked_count), "matches",
                  names_json(f->matches, f->match_count), "compared_with", f->closest, "differences",
                  fpo_differences_json(&f->differences), "scales_different", (json_int_t)f->scales_different, "causes",
                  fpo_causes_json(f), "reproduce", line);
    if (f->diagnosed) {
        json_object_set_new(object, "hypotheses", json_integer((json_int_t)f->diagnosis.hypotheses));
        json_object_set_new(object, "sample", json_integer((json_int_t)f->diagnosis.sample));
    }
    int status = fpo_print_json(object);
    return status != FPO_EXIT_OK ? status : f->verdict == FPO_VERDICT_MATCH ? FPO_EXIT_OK : FPO_EXIT_DIVERGENCE;
}

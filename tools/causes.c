/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The explanations of a diagnosis in words. */
#include "causes.h"

#include "report.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT = 512, VALUE_COLUMN = 19 };

typedef struct words {
    char edit[TEXT], parameters[TEXT], sentence[TEXT];
} words;

static void append(char *text, const char *joint, const char *part)
{
    size_t used = strlen(text);
    snprintf(text + used, TEXT - used, "%s%s", used > 0 ? joint : "", part);
}

static words words_of(const fpo_cause *cause)
{
    words w = {"", "", ""};
    for (size_t i = 0; i < cause->edit_count; i++) {
        char part[TEXT / 2];
        append(w.edit, " + ", fpo_edit_describe(cause->edits[i].kind)->name);
        fpo_edit_parameters(&cause->edits[i], part, sizeof part);
        append(w.parameters, "; ", part);
        fpo_edit_sentence(&cause->edits[i], part, sizeof part);
        append(w.sentence, ", and ", part);
    }
    return w;
}

static void print_cause(const char *label, const fpo_cause *cause)
{
    words w = words_of(cause);
    printf("  %-16s %s", label, fpo_style(stdout, FPO_BOLD));
    fpo_print_wrapped(VALUE_COLUMN, w.sentence);
    printf("%s%*s%s%s%s%s\n", fpo_style(stdout, FPO_PLAIN), VALUE_COLUMN, "", w.edit,
           w.parameters[0] != '\0' ? " (" : "", w.parameters, w.parameters[0] != '\0' ? ")" : "");
}

void fpo_causes_print(const fpo_diagnosis *d)
{
    bool legitimate = d->verdict == FPO_VERDICT_LEGITIMATE;
    for (size_t i = 0; i < d->cause_count; i++) {
        print_cause(i > 0 ? "or" : legitimate ? "not a defect" : "cause", &d->causes[i]);
    }
    if (d->cause_count > 0) {
        printf("  %-16s with this change all %" PRId64 " elements are as observed (%zu hypotheses tried)\n", "proof",
               d->comparison.elements, d->hypotheses);
    }
    if (d->cause_count > 1) {
        printf("  %-16s these operands cannot tell the %zu explanations apart\n", "", d->cause_count);
    }
    if (d->cause_count == 0) {
        printf("  %-16s unexplained: none of %zu hypotheses gives every byte\n", "cause", d->hypotheses);
    }
    if (d->cause_count == 0 && d->closest.edit_count > 0) {
        words w = words_of(&d->closest);
        printf("  %-16s %s, but only %zu of %zu sampled elements are then as observed\n", "closest", w.sentence,
               d->closest_equal, d->sample);
    }
}

json_t *fpo_diagnosis_causes_json(const fpo_diagnosis *d)
{
    json_t *causes = json_array();
    for (size_t i = 0; i < d->cause_count; i++) {
        words w = words_of(&d->causes[i]);
        json_array_append_new(
            causes, json_pack("{s:s, s:s, s:s}", "edit", w.edit, "parameters", w.parameters, "sentence", w.sentence));
    }
    return causes;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A finding as text and as JSON. */
#include "causes.h"
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
        if (f->untried > 0)
            printf("; %zu more agree on a sample", f->untried);
        puts("");
    }
    if (f->verdict == FPO_VERDICT_LEGITIMATE && f->match_count > 0)
        puts("  not a defect: another documented accumulation than the one asked for makes exactly these bits");
}

/* Those that were tried are the single edits, and pairs of them where no single one explains the output. */
static size_t count_pairs(const fpo_finding *f)
{
    size_t singles = 0;
    for (int i = 0; i < FPO_FAULT_CLASSES; i++)
        singles += f->singles[i];
    return f->diagnosis.hypotheses > singles ? f->diagnosis.hypotheses - singles : 0;
}

static void print_by_class(const fpo_finding *f)
{
    char line[TEXT] = "";
    for (int i = 0; i < FPO_FAULT_CLASSES; i++) {
        size_t used = strlen(line);
        if (f->singles[i] > 0)
            snprintf(line + used, sizeof line - used, "%s%zu of class %d", used > 0 ? ", " : "", f->singles[i], i);
    }
    size_t used = strlen(line);
    snprintf(line + used, sizeof line - used, "; %zu pairs", count_pairs(f));
    printf("  %-16s ", "of these");
    fpo_print_wrapped(VALUE_COLUMN, line);
}

static json_t *by_class_json(const fpo_finding *f)
{
    json_t *object = json_object();
    for (int i = 0; i < FPO_FAULT_CLASSES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        if (f->singles[i] > 0)
            json_object_set_new(object, name, json_integer((json_int_t)f->singles[i]));
    }
    return object;
}

static void print_search(const fpo_finding *f)
{
    fpo_section("the search");
    printf("  %-16s %zu in %.2f s, under the model %s\n", "hypotheses", f->diagnosis.hypotheses, f->seconds,
           f->closest);
    print_by_class(f);
    printf("  %-16s %zu %s at first\n", "sample", f->diagnosis.sample,
           f->diagnosis.sample_of_blocks ? "blocks" : "elements");
    printf("  %-16s %zu\n", "explanations", f->diagnosis.cause_count);
    printf("  %-16s %" PRId64 " wrong elements, %.1f bits, of which an accusation takes %.1f\n", "evidence",
           f->diagnosis.evidence.elements, f->diagnosis.evidence.bits, f->diagnosis.needed);
}

int fpo_finding_print(const fpo_finding *f, const fpo_telling *t)
{
    char distinguish[TEXT * 2];
    snprintf(distinguish, sizeof distinguish, "%s --distinguish FILE", t->line);
    print_verdict(f, t->arguments);
    if (f->verdict == FPO_VERDICT_MATCH)
        return FPO_EXIT_OK;
    if (f->diagnosed)
        fpo_causes_print(&f->diagnosis, distinguish);
    if (f->diagnosed && t->search)
        print_search(f);
    fpo_section("against %s", f->closest);
    if (f->scales_different > 0)
        printf("  %-16s %" PRId64 " of the output's block scales\n", "different", f->scales_different);
    if (f->differences.comparison.different > 0)
        fpo_differences_print(&f->differences);
    printf("\nreproduce: %s\n", t->line);
    return FPO_EXIT_DIVERGENCE;
}

static json_t *names_json(const char *const *names, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_string(names[i]));
    return array;
}

/* {edit, parameters, sentence} of each explanation. */
static json_t *causes_json(const fpo_finding *f)
{
    if (f->diagnosed)
        return fpo_diagnosis_causes_json(&f->diagnosis);
    json_t *causes = json_array();
    for (size_t i = 0; f->verdict == FPO_VERDICT_LEGITIMATE && i < f->match_count; i++) {
        const fpo_edit_info *info = fpo_edit_describe(FPO_EDIT_ACCUMULATION);
        char parameters[TEXT], sentence[TEXT];
        snprintf(parameters, sizeof parameters, "from=%s,to=%s", f->closest, f->matches[i]);
        snprintf(sentence, sizeof sentence, "the sum is accumulated as in the model %s instead of %s", f->matches[i],
                 f->closest);
        json_array_append_new(causes, json_pack("{s:s, s:s, s:s, s:s}", "edit", info->name, "parameters", parameters,
                                                "sentence", sentence, "look", info->look));
    }
    return causes;
}

int fpo_finding_print_json(const fpo_finding *f, const fpo_telling *t)
{
    const fpo_subject_arguments *a = t->arguments;
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:I, s:o, s:o}", "verdict", fpo_verdict_name(f->verdict),
                  "vector", fpo_json_text(a->vector), "output", fpo_json_text(a->output), "asked",
                  names_json(f->asked, f->asked_count), "matches", names_json(f->matches, f->match_count),
                  "compared_with", f->closest, "differences", fpo_differences_json(&f->differences), "scales_different",
                  (json_int_t)f->scales_different, "causes", causes_json(f), "reproduce", fpo_json_text(t->line));
    if (f->diagnosed)
        fpo_diagnosis_add_json(object, &f->diagnosis);
    if (f->diagnosed && t->search)
        json_object_update_new(object, json_pack("{s:f, s:o, s:I}", "seconds", f->seconds, "singles_by_class",
                                                 by_class_json(f), "pairs", (json_int_t)count_pairs(f)));
    int status = fpo_print_json(object);
    return status != FPO_EXIT_OK ? status : f->verdict == FPO_VERDICT_MATCH ? FPO_EXIT_OK : FPO_EXIT_DIVERGENCE;
}

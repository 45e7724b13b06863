/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The command line of verify and diagnose. */
#include "verdict_command.h"
#include "distinguish.h"
#include "report.h"
#include "verdict.h"

#include <stdlib.h>

typedef struct parsed {
    fpo_subject_arguments subject;
    const char *distinguish;
    bool json;
} parsed;

enum { OPTION_JSON = 0x100, OPTION_DISTINGUISH };

static const struct argp_option options[] = {
    {.name = "distinguish",
     .key = OPTION_DISTINGUISH,
     .arg = "FILE",
     .doc = "where several explanations give this output: write a vector whose output tells them apart"},
    {.name = "json", .key = OPTION_JSON, .doc = "verdict, differences and causes for machines"},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    parsed *p = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &p->subject; return 0;
    case OPTION_DISTINGUISH: p->distinguish = argument; return 0;
    case OPTION_JSON: p->json = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The report comes first, then the vector. */
static int distinguish(const char *program, const parsed *p, const fpo_subject *subject, const fpo_finding *finding)
{
    fpo_distinction distinction;
    fpo_error error;
    fpo_status status = fpo_distinguish(subject, finding->closest, &finding->diagnosis, &distinction, &error);
    if (status == FPO_OK)
        status = fpo_vector_write(p->distinguish, distinction.vector, false, &error);
    if (status == FPO_OK && !p->json)
        fpo_distinction_print(&distinction, p->distinguish);
    fpo_vector_free(distinction.vector);
    return status == FPO_OK ? FPO_EXIT_DIVERGENCE : fpo_report_error(program, &error);
}

static int find_and_tell(const char *program, const parsed *p, const fpo_telling *telling)
{
    fpo_subject subject;
    fpo_finding finding;
    fpo_error error;
    if (fpo_subject_open(&p->subject, &subject, &error) != FPO_OK)
        return fpo_report_error(program, &error);
    int status = FPO_EXIT_OK;
    if (fpo_find(&subject, p->subject.model, true, &finding, &error) != FPO_OK)
        status = fpo_report_error(program, &error);
    else
        status = p->json ? fpo_finding_print_json(&finding, telling) : fpo_finding_print(&finding, telling);
    if (p->distinguish != NULL && (status == FPO_EXIT_OK || status == FPO_EXIT_DIVERGENCE))
        status = distinguish(program, p, &subject, &finding);
    fpo_subject_close(&subject);
    return status;
}

int fpo_verdict_command(int argc, char **argv, const char *documentation, bool search)
{
    static const struct argp_child children[] = {{.argp = &fpo_subject_argp}, {0}};
    const struct argp parser = {
        .options = options, .parser = parse, .args_doc = "VECTOR", .doc = documentation, .children = children};
    parsed p = {.json = false};
    char *line = fpo_command_line(argc, argv); /* before argp moves the arguments about */
    const char *program = argv[0];
    if (line == NULL)
        return fpo_report_unusable(program, "out of memory");
    argp_parse(&parser, argc, argv, 0, NULL, &p);
    fpo_telling telling = {.arguments = &p.subject, .line = line, .search = search};
    int status = find_and_tell(program, &p, &telling);
    free(line);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle verify: an output that someone else computed, against a vector. */
#include "report.h"
#include "verdict.h"

#include <stdlib.h>

typedef struct parsed {
    fpo_subject_arguments subject;
    bool json;
} parsed;

enum { OPTION_JSON = 0x100 };

static const struct argp_option options[] = {
    {.name = "json", .key = OPTION_JSON, .doc = "verdict, differences and causes for machines"},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    parsed *p = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &p->subject; return 0;
    case OPTION_JSON: p->json = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Says whether an output has the bits that a vector requires, and if not, where they differ and why.\v"
    "VECTOR is a file of `fp4oracle gen`. With --format it is any safetensors file that has the operands `a` and `b`, "
    "and "
    "`a_scale`, `b_scale`, `a_tensor_scale`, `b_tensor_scale`, `alpha`, `beta`, `c` and `bias` where there are "
    "such.\n\n"
    "The verdict is `match`, `legitimate` (the bits of another documented accumulation than the one asked for), "
    "`fault` "
    "(the cause is named) or `unexplained`.\n\n"
    "Examples:\n"
    "  fp4oracle verify vector.safetensors --output d.safetensors:d\n"
    "  fp4oracle verify dump.safetensors --format nvfp4 --output dump.safetensors:y";

static int verify(int argc, char **argv, const parsed *p)
{
    fpo_subject subject;
    fpo_finding finding;
    fpo_error error;
    if (fpo_subject_open(&p->subject, &subject, &error) != FPO_OK)
        return fpo_report_error(argv[0], &error);
    int status = FPO_EXIT_OK;
    char *line = fpo_command_line(argc, argv);
    if (fpo_find(&subject, p->subject.model, true, &finding, &error) != FPO_OK)
        status = fpo_report_error(argv[0], &error);
    else if (p->json)
        status = fpo_finding_print_json(&finding, &p->subject, line != NULL ? line : argv[0]);
    else
        status = fpo_finding_print(&finding, &p->subject, line != NULL ? line : argv[0]);
    free(line);
    fpo_subject_close(&subject);
    return status;
}

int fpo_cmd_verify(int argc, char **argv)
{
    static const struct argp_child children[] = {{.argp = &fpo_subject_argp}, {0}};
    static const struct argp parser = {
        .options = options, .parser = parse, .args_doc = "VECTOR", .doc = documentation, .children = children};
    parsed p = {.json = false};
    char **original = malloc((size_t)(argc + 1) * sizeof *original); /* argp moves the arguments about */
    if (original == NULL)
        return fpo_report_unusable(argv[0], "out of memory");
    for (int i = 0; i <= argc; i++)
        original[i] = argv[i];
    argp_parse(&parser, argc, argv, 0, NULL, &p);
    int status = verify(argc, original, &p);
    free(original);
    return status;
}

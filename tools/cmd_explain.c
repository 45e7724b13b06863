/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle explain: which of its topics is asked for, and their options. */
#include "explain.h"
#include "report.h"
#include "suggest.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

typedef struct topic {
    const char *name;
    const char *arguments;
    int least, most; /* number of arguments; most < 0: any number */
    int (*run)(const fpo_explain_options *options, int count, char **arguments);
} topic;

static const topic topics[] = {
    {"code", "FORMAT BYTE", 2, 2, fpo_explain_code},
    {"scale", "FORMAT BYTE", 2, 2, fpo_explain_scale},
    {"output", "VECTOR ROW COL", 3, 3, fpo_explain_output},
    {"recipe", "NAME [VALUE...]", 1, -1, fpo_explain_recipe},
    {"layout", "NAME [ROWSxSCALES]", 1, 2, fpo_explain_layout},
    {"packing", "NAME", 1, 1, fpo_explain_packing},
};
enum { TOPICS = sizeof topics / sizeof topics[0] };

static const char *topic_name(size_t index)
{
    return index < TOPICS ? topics[index].name : NULL;
}

enum { OPTION_JSON = 0x100, OPTION_LIBRARY_SCALE, OPTION_GROUPS };

static const struct argp_option options[] = {
    {.name = "model", .key = 'm', .arg = "MODEL", .doc = "explain output: under this model; default exact"},
    {.name = "blocks",
     .key = 'b',
     .arg = "N",
     .doc = "explain output: show at most N blocks of K in detail; default 8"},
    {.name = "dtype",
     .key = 't',
     .arg = "TYPE",
     .doc = "explain recipe: what the library is fed, f32 (default), bf16 or f16"},
    {.name = "library-scale",
     .key = OPTION_LIBRARY_SCALE,
     .arg = "X",
     .doc = "explain recipe: the tensor scale as the library keeps it, instead of what the values give"},
    {.name = "groups",
     .key = OPTION_GROUPS,
     .arg = "ROWS,ROWS,...",
     .doc = "explain layout: where the scales of groups (experts) of so many rows begin"},
    {.name = "json", .key = OPTION_JSON, .doc = "the same facts for machines"},
    {0},
};

static const char documentation[] =
    "Shows a code, a scale, one output element or a quantisation recipe, every step down to the last bit; or where a "
    "scale "
    "layout puts scales and a packing codes.\v"
    "BYTE is a code as it stands in memory: 0x3A, 58 or 0b111010; for f16, bf16, tf32 and f32 the whole word. A byte "
    "of "
    "e2m1 holds two codes.\n\n"
    "`explain recipe` quantises the VALUEs as one row; without any, an example. Values that begin with a minus follow "
    "`--`.\n\n"
    "Examples:\n"
    "  fp4oracle explain code e4m3 0x3A\n"
    "  fp4oracle explain scale ue8m0 0x7F\n"
    "  fp4oracle explain output vector.safetensors 3 17 --model exact\n"
    "  fp4oracle explain recipe nvfp4_divide -- 0.1 -0.25 3\n"
    "  fp4oracle explain layout 128x4 130x6\n"
    "  fp4oracle explain layout 128x4 127x6 --groups 100,0,27";

typedef struct parsed {
    fpo_explain_options options;
    float library_scale;
    char **words; /* topic and its arguments */
    int count;
} parsed;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    parsed *result = state->input;
    switch (key) {
    case 'm': result->options.model = argument; return 0;
    case 'b': {
        fpo_error error;
        if (fpo_parse_integer("--blocks", argument, 0, INT64_MAX, &result->options.blocks, &error) != FPO_OK)
            argp_error(state, "%s", error.message);
        return 0;
    }
    case 't': result->options.dtype = argument; return 0;
    case OPTION_LIBRARY_SCALE: {
        fpo_error error;
        if (fpo_parse_float("--library-scale", argument, &result->library_scale, &error) != FPO_OK)
            argp_error(state, "%s", error.message);
        result->options.library_scale = &result->library_scale;
        return 0;
    }
    case OPTION_GROUPS: result->options.groups = argument; return 0;
    case OPTION_JSON: result->options.json = true; return 0;
    case ARGP_KEY_ARG: result->words[result->count++] = argument; return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "what is to be explained: code, scale, output, recipe, layout or packing");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int run(const parsed *p)
{
    const topic *found = NULL;
    for (size_t i = 0; i < TOPICS; i++) {
        if (strcmp(topics[i].name, p->words[0]) == 0)
            found = &topics[i];
    }
    if (found == NULL) {
        const char *nearest = fpo_suggest(p->words[0], topic_name);
        return fpo_report_unusable(
            p->options.program,
            "nothing explains '%.80s'%s%s%s; there are code, scale, output, recipe, layout, packing", p->words[0],
            nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    }
    int count = p->count - 1;
    if (count < found->least || (found->most >= 0 && count > found->most))
        return fpo_report_unusable(p->options.program, "`explain %s` takes %s, but got %d argument%s", found->name,
                                   found->arguments, count, count == 1 ? "" : "s");
    return found->run(&p->options, count, p->words + 1);
}

int fpo_cmd_explain(int argc, char **argv)
{
    static const struct argp parser = {
        .options = options,
        .parser = parse,
        .args_doc = "code FORMAT BYTE\nscale FORMAT BYTE\noutput VECTOR ROW COL\nrecipe NAME [VALUE...]\nlayout NAME "
                    "[ROWSxSCALES]\npacking NAME",
        .doc = documentation,
    };
    parsed result = {.options = {.program = argv[0], .blocks = 8, .argc = argc, .argv = argv}};
    result.words = calloc((size_t)argc, sizeof *result.words);
    if (result.words == NULL)
        return fpo_report_unusable(argv[0], "out of memory");
    argp_parse(&parser, argc, argv, 0, NULL, &result);
    int status = run(&result);
    free(result.words);
    return status;
}

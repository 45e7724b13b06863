/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The arguments of `fp4oracle run`. */
#include "run_arguments.h"

#include "arguments.h"

#include "report.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_DEVICE = 0x100,
    OPTION_LIMIT,
    OPTION_JSON,
    OPTION_JUNIT,
    OPTION_LIST,
    OPTION_ONCE,
    OPTION_NO_DIAGNOSIS,
    OPTION_CHECK,
    OPTION_RECORD,
    OPTION_SOURCE_A,
    OPTION_SOURCE_B
};

static const struct argp_option options[] = {
    {.name = "kernel",
     .key = 'k',
     .arg = "PLUGIN[:NAME]",
     .doc =
         "a shared object, or its name in the folders of FPO_PLUGINS and of this program; NAME: one kernel of it, or "
         "a pattern with * and ?; all that mean to be right if there is none"},
    {.name = "device",
     .key = OPTION_DEVICE,
     .arg = "D",
     .doc =
         "cpu, gpu:N, virtual:sm120, :sm100 or :sm90 (then a comma and what `fp4oracle vgpu -c` takes); default: what "
         "the plug-in has first"},
    {.name = "suite",
     .key = 's',
     .arg = "SUITE",
     .doc = "the vectors of a suite (`fp4oracle list suites`), one of them (SUITE/VECTOR), or those of a folder"},
    {.name = "format",
     .key = 'f',
     .arg = "F or A,B",
     .doc = "of the suite's operands; default: all that suites are tested with, of which a kernel runs what it takes"},
    {.name = "model",
     .key = 'm',
     .arg = "MODEL",
     .doc = "what must come out; default: the model that the kernel names"},
    {.name = "source-a",
     .key = OPTION_SOURCE_A,
     .arg = "FILE[:TENSOR]",
     .doc =
         "the numbers that A of the one vector was quantised from: where bits differ, every recipe for its format is "
         "tried, too"},
    {.name = "source-b", .key = OPTION_SOURCE_B, .arg = "FILE[:TENSOR]", .doc = "the same for B"},
    {.name = "time-limit", .key = OPTION_LIMIT, .arg = "SECONDS", .doc = "for each launch; default 60"},
    {.name = "once", .key = OPTION_ONCE, .doc = "one launch a vector, without the checks that need more"},
    {.name = "no-diagnosis", .key = OPTION_NO_DIAGNOSIS, .doc = "does not search for the cause where bits differ"},
    {.name = "check",
     .key = OPTION_CHECK,
     .doc = "on a virtual GPU: looks at every access for races, missing waits and fences, and bytes that were never "
            "written or read; up to 4 times as long"},
    {.name = "list", .key = OPTION_LIST, .doc = "the kernels of the plug-in, and run nothing"},
    {.name = "json", .key = OPTION_JSON, .doc = "the results for machines"},
    {.name = "record",
     .key = OPTION_RECORD,
     .arg = "FOLDER",
     .doc = "keeps every output there as a vector file, with the model that reproduces it; made if it is not there"},
    {.name = "junit", .key = OPTION_JUNIT, .arg = "FILE", .doc = "writes the results for a CI system, too"},
    {0},
};

static const char documentation[] =
    "Runs kernels over golden vectors, each in a process of its own, and says whether every bit is right.\v"
    "A kernel is launched several times with what must not matter changed: what D held before, what surrounds the "
    "buffers, padding of the scales, the data of the launch before. A crash or a hang is a verdict, and the run goes "
    "on. Where bits differ, the cause is searched for.\n\n"
    "Exit status: 0 all bits right, 1 a divergence, 2 unusable input or nothing to compare, 3 a kernel or device "
    "failed.\n\n"
    "Example:\n"
    "  fp4oracle run --kernel cpu_reference:cpu/nvfp4 --suite smoke";

static error_t parse(int key, char *argument, struct argp_state *state)
{
    fpo_run_arguments *p = state->input;
    fpo_error error = {.status = FPO_OK};
    fpo_status status = FPO_OK;
    switch (key) {
    case 'k': p->kernel = argument; break;
    case 's': p->suite = argument; break;
    case 'f': p->format = argument; break;
    case 'm': status = fpo_parse_model(argument, &p->model, &error); break;
    case OPTION_DEVICE: p->device = argument; break;
    case OPTION_LIMIT:
        status = fpo_parse_float("--time-limit", argument, &p->time_limit, &error);
        if (status == FPO_OK && !(p->time_limit > 0 && p->time_limit < 1e6f)) {
            argp_error(state, "--time-limit: seconds, more than 0 and less than a million");
        }
        break;
    case OPTION_ONCE: p->once = true; break;
    case OPTION_CHECK: p->check = true; break;
    case OPTION_NO_DIAGNOSIS: p->no_diagnosis = true; break;
    case OPTION_LIST: p->list = true; break;
    case OPTION_JSON: p->json = true; break;
    case OPTION_JUNIT: p->junit = argument; break;
    case OPTION_RECORD: p->record = argument; break;
    case OPTION_SOURCE_A: p->source[0] = argument; break;
    case OPTION_SOURCE_B: p->source[1] = argument; break;
    case ARGP_KEY_ARGS:
        p->vectors = state->argv + state->next;
        p->vector_count = (size_t)(state->argc - state->next);
        break;
    case ARGP_KEY_END:
        if (p->kernel == NULL) {
            argp_error(state, "which kernel: --kernel PLUGIN[:NAME]");
        } else if (!p->list && p->suite == NULL && p->vector_count == 0) {
            argp_error(state, "which vectors: --suite SUITE, or VECTOR ...");
        } else if ((p->source[0] != NULL || p->source[1] != NULL) && (p->suite != NULL || p->vector_count != 1)) {
            argp_error(state, "--source-a and --source-b are about the operands of one vector: name it, and no other");
        }
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    if (status != FPO_OK) {
        argp_error(state, "%s", error.message);
    }
    return 0;
}

/* A setting of the device. */
static void add_check(const char *program, fpo_run_arguments *arguments)
{
    static char device[4096];
    if (arguments->device == NULL || strncmp(arguments->device, "virtual:", 8) != 0) {
        exit(fpo_report_unusable(program, "--check looks into a virtual GPU: --device virtual:sm120"));
    }
    snprintf(device, sizeof device, "%s,check=1", arguments->device);
    arguments->device = device;
}

void fpo_run_arguments_parse(int argc, char **argv, fpo_run_arguments *arguments)
{
    static const struct argp parser = {
        .options = options, .parser = parse, .args_doc = "[VECTOR...]", .doc = documentation};
    *arguments = (fpo_run_arguments){0};
    argp_parse(&parser, argc, argv, 0, NULL, arguments);
    if (arguments->check) {
        add_check(argv[0], arguments);
    }
}

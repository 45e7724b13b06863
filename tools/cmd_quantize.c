/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle quantize: a tensor of a file to codes, block scales and tensor scale, by a named recipe. */
#include "arguments.h"
#include "checkpoint.h"
#include "quantize_all.h"
#include "report.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

typedef struct parsed {
    const char *input, *output;
    fpo_recipe recipe;
    fpo_layout layout;
    float library_scale;
    uint64_t seed;
    bool has_recipe, has_library_scale, all, has_layout, json;
} parsed;

enum { OPTION_JSON = 0x100, OPTION_SEED };

static const struct argp_option options[] = {
    {.name = "recipe",
     .key = 'r',
     .arg = "NAME",
     .doc = "how codes and scales are found; `fp4oracle list recipes`. `all`: where the recipes of a format disagree"},
    {.name = "layout", .key = 'l', .arg = "NAME", .doc = "how the scales are written; default linear"},
    {.name = "library-scale",
     .key = 't',
     .arg = "X",
     .doc =
         "the tensor scale as the library keeps it (multiplier, inverse or amax), instead of the one that the recipe "
         "computes"},
    {.name = "seed", .key = OPTION_SEED, .arg = "N", .doc = "of recipes that round stochastically; default 0"},
    {.name = "output", .key = 'o', .arg = "FILE", .doc = "the safetensors file to write"},
    {.name = "json", .key = OPTION_JSON, .doc = "the summary for machines"},
    {0},
};

static const char documentation[] =
    "Quantises a tensor of f32, f16 or bf16, bit for bit as the named library does it.\v"
    "The last dimension of the tensor is K, all others are rows. The output has the tensors `codes`, `scale` and, "
    "where "
    "the recipe has one, `tensor_scale`; a scale layout other than linear is written flat, with its padding.\n\n"
    "Examples:\n"
    "  fp4oracle quantize m.safetensors:w --recipe nvfp4_divide -o w.safetensors\n"
    "  fp4oracle quantize m.safetensors:w --recipe all";

static error_t parse(int key, char *argument, struct argp_state *state)
{
    parsed *p = state->input;
    fpo_error error = {.status = FPO_OK};
    fpo_status status = FPO_OK;
    switch (key) {
    case 'r':
        p->all = strcmp(argument, "all") == 0;
        status = p->all ? FPO_OK : fpo_parse_recipe(argument, &p->recipe, &error);
        p->has_recipe = true;
        break;
    case 'l':
        status = fpo_parse_layout(argument, &p->layout, &error);
        p->has_layout = true;
        break;
    case 't':
        status = fpo_parse_float("--library-scale", argument, &p->library_scale, &error);
        p->has_library_scale = true;
        break;
    case OPTION_SEED: status = fpo_parse_seed(argument, &p->seed, &error); break;
    case 'o': p->output = argument; break;
    case OPTION_JSON: p->json = true; break;
    case ARGP_KEY_ARG:
        if (p->input != NULL)
            argp_error(state, "one tensor at a time");
        p->input = argument;
        break;
    case ARGP_KEY_END:
        if (p->input == NULL)
            argp_error(state, "which tensor: FILE or FILE:TENSOR");
        else if (!p->has_recipe)
            argp_error(state, "which recipe: --recipe NAME");
        else if (p->all && (p->output != NULL || p->has_layout || p->has_library_scale))
            argp_error(state, "--recipe all compares and writes no file: without -o, --layout and --library-scale");
        else if (!p->all && p->output == NULL)
            argp_error(state, "where to: -o FILE");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    if (status != FPO_OK)
        argp_error(state, "%s", error.message);
    return 0;
}

static fpo_status quantize(const parsed *p, fpo_tensor_numbers *numbers, fpo_quantized_tensor *result, fpo_error *error)
{
    fpo_status status = fpo_tensor_numbers_read(p->input, numbers, error);
    if (status == FPO_OK)
        status = fpo_quantize_tensor(p->recipe, numbers, p->has_library_scale ? &p->library_scale : NULL, p->seed,
                                     result, error);
    if (status == FPO_OK)
        status = fpo_quantized_write(p->output, result, p->layout, p->input, error);
    return status;
}

static int compare_all(const char *program, const parsed *p)
{
    fpo_tensor_numbers numbers = {0};
    fpo_error error;
    fpo_recipe_outcomes *all = NULL;
    if (fpo_tensor_numbers_read(p->input, &numbers, &error) == FPO_OK)
        all = fpo_quantize_by_all(&numbers, &error);
    int status = FPO_EXIT_OK;
    if (all == NULL)
        status = fpo_report_error(program, &error);
    else if (p->json)
        status = fpo_print_json(fpo_recipe_outcomes_json(all, &numbers, p->input));
    else
        fpo_recipe_outcomes_print(all, &numbers, p->input);
    free(all);
    fpo_tensor_numbers_free(&numbers);
    return status;
}

int fpo_cmd_quantize(int argc, char **argv)
{
    static const struct argp parser = {
        .options = options, .parser = parse, .args_doc = "FILE[:TENSOR]", .doc = documentation};
    parsed p = {.layout = FPO_LAYOUT_LINEAR};
    argp_parse(&parser, argc, argv, 0, NULL, &p);
    if (p.all)
        return compare_all(argv[0], &p);
    fpo_tensor_numbers numbers = {0};
    fpo_quantized_tensor result = {0};
    fpo_error error;
    int status = FPO_EXIT_OK;
    if (quantize(&p, &numbers, &result, &error) != FPO_OK) {
        status = fpo_report_error(argv[0], &error);
    } else {
        fpo_quantized_summary summary = fpo_quantized_summarise(&result, &numbers);
        status = p.json ? fpo_print_json(fpo_quantized_summary_json(&result, &summary, p.output))
                        : fpo_quantized_summary_print(&result, &summary, p.input, p.output);
    }
    fpo_quantized_tensor_free(&result);
    fpo_tensor_numbers_free(&numbers);
    return status;
}

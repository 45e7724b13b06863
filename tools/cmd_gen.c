/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle gen: golden vectors from tensors or from a seed. */
#include "arguments.h"
#include "gen.h"
#include "gen_report.h"
#include "gen_suite.h"
#include "report.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_JSON = 0x100,
    OPTION_A,
    OPTION_B,
    OPTION_C,
    OPTION_BIAS,
    OPTION_D,
    OPTION_C_FORMAT,
    OPTION_BIAS_FORMAT,
    OPTION_ALPHA,
    OPTION_BETA,
    OPTION_NORM,
    OPTION_SEED,
    OPTION_PURPOSE,
    OPTION_DIGESTS,
    OPTION_CHECKPOINT,
    OPTION_LAYER,
    OPTION_FUSE,
    OPTION_ROWS,
    OPTION_SUITE,
    OPTION_SEPARATES
};

static const struct argp_option options[] = {
    {.name = "format", .key = 'f', .arg = "F or A,B", .doc = "formats of the operands; `fp4oracle list blocks`"},
    {.doc = "Operands from tensors:", .group = 1},
    {.name = "a",
     .key = OPTION_A,
     .arg = "FILE[:TENSOR]",
     .doc = "A, M x K, of f32, bf16 or f16; or a file of `fp4oracle quantize`"},
    {.name = "b", .key = OPTION_B, .arg = "FILE[:TENSOR]", .doc = "B, N x K (as weights are stored)"},
    {.name = "recipe",
     .key = 'r',
     .arg = "R or A,B",
     .doc = "how they are quantised; default: the format's own recipe"},
    {.name = "c",
     .key = OPTION_C,
     .arg = "FILE[:TENSOR]",
     .doc = "C, M x N; beta is then 1 unless --beta says otherwise"},
    {.name = "bias", .key = OPTION_BIAS, .arg = "FILE[:TENSOR]", .doc = "a bias of N numbers"},
    {.doc = "Operands from a seed:", .group = 2},
    {.name = "data", .key = 'k', .arg = "KIND", .doc = "what they are for; `fp4oracle list data`"},
    {.name = "shape", .key = 's', .arg = "MxNxK", .doc = "sizes, each at least 1"},
    {.name = "seed", .key = OPTION_SEED, .arg = "N", .doc = "default 0"},
    {.name = "c-format", .key = OPTION_C_FORMAT, .arg = "F", .doc = "with a C of f32, bf16 or f16; beta is then 0.5"},
    {.name = "bias-format", .key = OPTION_BIAS_FORMAT, .arg = "F", .doc = "with a bias of f32, bf16 or f16"},
    {.doc = "B from a quantised checkpoint, A its activations (--a, or normal numbers from --seed):", .group = 3},
    {.name = "checkpoint", .key = OPTION_CHECKPOINT, .arg = "DIR", .doc = "a Hugging Face folder with config.json"},
    {.name = "layer", .key = OPTION_LAYER, .arg = "NAME", .doc = "a quantised layer of it; without, they are listed"},
    {.name = "fuse",
     .key = OPTION_FUSE,
     .arg = "PART,PART,...",
     .doc = "the layers NAME.PART as one, as servers fuse q_proj,k_proj,v_proj and gate_proj,up_proj"},
    {.name = "rows", .key = OPTION_ROWS, .arg = "M", .doc = "of generated activations; default 16"},
    {.doc = "Vectors that are made to tell mistakes apart, a folder of them:", .group = 4},
    {.name = "suite", .key = OPTION_SUITE, .arg = "SUITE", .doc = "all vectors of it; `fp4oracle list suites`"},
    {.name = "separates",
     .key = OPTION_SEPARATES,
     .doc = "writes into each which mistakes it was seen to show; some seconds a vector"},
    {.doc = "The product:", .group = 5},
    {.name = "model",
     .key = 'm',
     .arg = "MODEL",
     .doc = "outputs under this model, `all` or `default`; may be repeated"},
    {.name = "d",
     .key = OPTION_D,
     .arg = "F",
     .doc = "format of D: f32 (default), bf16, f16, e4m3, e5m2, nvfp4, mxfp8_e4m3, mxfp8_e5m2"},
    {.name = "alpha", .key = OPTION_ALPHA, .arg = "X", .doc = "default 1"},
    {.name = "beta", .key = OPTION_BETA, .arg = "X", .doc = "factor of C"},
    {.name = "d-scale",
     .key = OPTION_NORM,
     .arg = "X",
     .doc = "what multiplies a narrow D before it is rounded (cuBLASLt's scaleD, CUTLASS's norm constant); default 1"},
    {.doc = "The file:", .group = 6},
    {.name = "output", .key = 'o', .arg = "FILE", .doc = "the vector to write; with --suite a folder"},
    {.name = "digests-only", .key = OPTION_DIGESTS, .doc = "leave out the outputs, keep their digests"},
    {.name = "purpose", .key = OPTION_PURPOSE, .arg = "TEXT", .doc = "what the vector is for, one line"},
    {.name = "json", .key = OPTION_JSON, .doc = "the summary for machines"},
    {0},
};

static const char documentation[] =
    "Writes a golden vector: operands, and the output that each model requires.\v"
    "Without --model a vector has `exact` and every hardware model whose instruction takes the operands, with an f32 "
    "accumulator, in one pass over K, whose numbers are measured, reproduced or published; of models with the same "
    "numbers only the last of `fp4oracle list models`.\n\n"
    "Examples:\n"
    "  fp4oracle gen --data gaussian --shape 64x64x256 --format nvfp4 -o v.st\n"
    "  fp4oracle gen --a x.st:act --b x.st:weight --format nvfp4 --d bf16 -o v.st\n"
    "  fp4oracle gen --checkpoint Llama-NVFP4 --layer model.layers.0.mlp.down_proj -o v.st\n"
    "  fp4oracle gen --suite smoke --format nvfp4 --d bf16 -o smoke-nvfp4";

static fpo_status parse_d(const char *text, fpo_format *d, fpo_format *d_scale, fpo_error *error)
{
    *d_scale = FPO_FORMAT_NONE;
    if (strcmp(text, "nvfp4") == 0) {
        *d = FPO_E2M1;
        return FPO_OK;
    }
    if (strcmp(text, "mxfp8_e4m3") == 0 || strcmp(text, "mxfp8_e5m2") == 0) {
        *d = strcmp(text, "mxfp8_e4m3") == 0 ? FPO_E4M3 : FPO_E5M2;
        *d_scale = FPO_UE8M0;
        return FPO_OK;
    }
    fpo_status status = fpo_parse_format(text, d, error);
    if (status != FPO_OK || *d == FPO_F32 || *d == FPO_BF16 || *d == FPO_F16 || *d == FPO_E4M3 || *d == FPO_E5M2)
        return status;
    return fpo_fail(error, FPO_ERR_ARGUMENT, "--d %s: D is f32, bf16, f16, e4m3, e5m2, nvfp4, mxfp8_e4m3 or mxfp8_e5m2",
                    text);
}

static fpo_status parse_addend(const char *what, const char *text, fpo_format *format, fpo_error *error)
{
    fpo_status status = fpo_parse_format(text, format, error);
    if (status != FPO_OK || *format == FPO_F32 || *format == FPO_BF16 || *format == FPO_F16)
        return status;
    return fpo_fail(error, FPO_ERR_ARGUMENT, "%s %s: f32, bf16 or f16", what, text);
}

static fpo_status parse_kind(const char *text, fpo_data_kind *kind, fpo_error *error)
{
    *kind = fpo_data_kind_by_name(text);
    return *kind != FPO_DATA_COUNT ? FPO_OK
                                   : fpo_no_such_name("kind of data", text, fpo_data_kind_name_at, "data", error);
}

/* Options with a value; ARGP_ERR_UNKNOWN for keys that are none. *status is that of the value. */
static error_t parse_value(int key, const char *text, fpo_gen_arguments *a, fpo_status *status, fpo_error *error)
{
    switch (key) {
    case 'f':
        *status = fpo_parse_block_formats(text, &a->generate.a, &a->generate.b, error);
        a->has_format = true;
        return 0;
    case 'k':
        *status = parse_kind(text, &a->generate.kind, error);
        a->has_data = true;
        return 0;
    case 's':
        *status = fpo_parse_shape(text, &a->generate.m, &a->generate.n, &a->generate.k, error);
        a->has_shape = true;
        return 0;
    case OPTION_SEED: *status = fpo_parse_seed(text, &a->generate.seed, error); return 0;
    case OPTION_C_FORMAT: *status = parse_addend("--c-format", text, &a->generate.c, error); return 0;
    case OPTION_BIAS_FORMAT: *status = parse_addend("--bias-format", text, &a->generate.bias, error); return 0;
    case OPTION_D:
        *status = parse_d(text, &a->generate.d, &a->d_scale, error);
        a->has_d = true;
        return 0;
    case OPTION_ALPHA:
        *status = fpo_parse_float("--alpha", text, &a->alpha, error);
        a->has_alpha = true;
        return 0;
    case OPTION_NORM:
        *status = fpo_parse_float("--d-scale", text, &a->norm, error);
        a->has_norm = true;
        return 0;
    case OPTION_ROWS:
        *status = fpo_parse_integer("--rows", text, 1, INT32_MAX, &a->rows, error);
        a->has_rows = true;
        return 0;
    case OPTION_BETA:
        *status = fpo_parse_float("--beta", text, &a->beta, error);
        a->has_beta = true;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* With --checkpoint. */
static const char *checkpoint_complaint(const fpo_gen_arguments *a)
{
    if (a->has_data || a->has_shape || a->b != NULL)
        return "--data, --shape and --b: with --checkpoint, B is the layer, and A has --rows or comes from --a";
    if (a->a != NULL && a->has_rows)
        return "--rows: the tensor of --a says it";
    if (a->generate.c != FPO_FORMAT_NONE || a->generate.bias != FPO_FORMAT_NONE)
        return "--c-format and --bias-format belong to --data";
    if (a->has_beta && a->c == NULL)
        return "--beta: there is no C (--c FILE:TENSOR)";
    if (a->fuse != NULL && a->layer == NULL)
        return "--fuse names parts of --layer: --layer model.layers.0.self_attn --fuse q_proj,k_proj,v_proj";
    return a->output == NULL && a->layer != NULL ? "where to: -o FILE" : NULL;
}

/* What has to be there, and what cannot be together. */
static const char *complaint(const fpo_gen_arguments *a)
{
    bool tensors = a->a != NULL || a->b != NULL;
    bool has_c = a->c != NULL || a->generate.c != FPO_FORMAT_NONE;
    if (a->suite != NULL)
        return fpo_gen_suite_complaint(a);
    if (a->separates)
        return "--separates belongs to --suite; `fp4oracle coverage` says it of any vector";
    if (a->checkpoint != NULL)
        return checkpoint_complaint(a);
    if (a->layer != NULL || a->fuse != NULL || a->has_rows)
        return "--layer, --fuse and --rows belong to --checkpoint";
    if (!a->has_format)
        return "which format: --format F or --format A,B";
    if (!tensors && !a->has_data)
        return "where from: --data KIND --shape MxNxK, or --a FILE:TENSOR --b FILE:TENSOR, or --checkpoint DIR, or "
               "--suite S";
    if (tensors && a->has_data)
        return "--data and --a/--b: operands are generated or read, not both";
    if (tensors && (a->a == NULL || a->b == NULL))
        return "--a and --b belong together";
    if (a->has_data && !a->has_shape)
        return "which shape: --shape MxNxK";
    if (tensors && a->has_shape)
        return "--shape: the tensors say it";
    if (tensors && (a->generate.c != FPO_FORMAT_NONE || a->generate.bias != FPO_FORMAT_NONE))
        return "--c-format and --bias-format belong to --data; tensors have --c and --bias";
    if (!tensors && (a->c != NULL || a->bias != NULL || a->recipe != NULL))
        return "--c, --bias and --recipe belong to --a and --b";
    if (a->has_beta && !has_c)
        return "--beta: there is no C (--c FILE:TENSOR, or --c-format F with --data)";
    if (a->has_norm && (a->generate.d == FPO_F32 || a->generate.d == FPO_BF16 || a->generate.d == FPO_F16))
        return "--d-scale multiplies a narrow D: --d e4m3, e5m2, nvfp4, mxfp8_e4m3 or mxfp8_e5m2";
    return a->output == NULL ? "where to: -o FILE" : NULL;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    fpo_gen_arguments *a = state->input;
    fpo_error error = {.status = FPO_OK};
    fpo_status status = FPO_OK;
    switch (key) {
    case OPTION_A: a->a = argument; return 0;
    case OPTION_B: a->b = argument; return 0;
    case OPTION_CHECKPOINT: a->checkpoint = argument; return 0;
    case OPTION_LAYER: a->layer = argument; return 0;
    case OPTION_FUSE: a->fuse = argument; return 0;
    case OPTION_SUITE: a->suite = argument; return 0;
    case OPTION_SEPARATES: a->separates = true; return 0;
    case OPTION_C: a->c = argument; return 0;
    case OPTION_BIAS: a->bias = argument; return 0;
    case OPTION_PURPOSE: a->purpose = argument; return 0;
    case OPTION_DIGESTS: a->digests_only = true; return 0;
    case OPTION_JSON: a->json = true; return 0;
    case 'r': a->recipe = argument; return 0;
    case 'm': a->models[a->model_count++] = argument; return 0;
    case 'o': a->output = argument; return 0;
    case ARGP_KEY_ARG: argp_error(state, "what is '%s'? Tensors come with --a and --b", argument); return 0;
    case ARGP_KEY_END:
        if (complaint(a) != NULL)
            argp_error(state, "%s", complaint(a));
        return 0;
    default: break;
    }
    error_t known = parse_value(key, argument, a, &status, &error);
    if (status != FPO_OK)
        argp_error(state, "%s", error.message);
    return known;
}

static int generate(const char *program, const fpo_gen_arguments *a)
{
    fpo_vector *vector = NULL;
    fpo_error error;
    fpo_status status = fpo_gen_vector(a, &vector, &error);
    if (status == FPO_OK)
        status = fpo_vector_write(a->output, vector, a->digests_only, &error);
    int result = FPO_EXIT_OK;
    if (status != FPO_OK)
        result = fpo_report_error(program, &error);
    else if (a->json)
        result = fpo_print_json(fpo_gen_report_json(vector, a->output));
    else
        fpo_gen_report_print(vector, a->output);
    fpo_vector_free(vector);
    return result;
}

int fpo_cmd_gen(int argc, char **argv)
{
    static const struct argp parser = {.options = options, .parser = parse, .doc = documentation};
    fpo_gen_arguments a = {.generate = {.d = FPO_F32}, .rows = 16};
    a.models = calloc((size_t)argc, sizeof *a.models);
    if (a.models == NULL)
        return fpo_report_unusable(argv[0], "out of memory");
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    int status = a.suite != NULL ? fpo_gen_suite(argv[0], &a) : generate(argv[0], &a);
    free(a.models);
    return status;
}

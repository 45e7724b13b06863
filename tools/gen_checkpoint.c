/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A vector of a checkpoint's layer: B as the folder has it, A activations quantised as its scheme says. */
#include "arguments.h"
#include "gen.h"
#include "hf_activations.h"
#include "quantized.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Format and recipe of the activations: the command line's, else the scheme's. */
static fpo_status choose(const fpo_gen_arguments *a, const fpo_hf *hf, fpo_hf_activations *wanted, fpo_error *error)
{
    const fpo_scheme_info *scheme = fpo_scheme_describe(fpo_hf_scheme(hf));
    wanted->format = a->has_format ? a->generate.a : scheme->activations;
    wanted->recipe = FPO_RECIPE_COUNT;
    if (a->has_format && a->generate.b != a->generate.a && a->generate.b != scheme->weight)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "--format: B is %s in this checkpoint, not %s",
                        fpo_block_format_describe(scheme->weight)->name,
                        fpo_block_format_describe(a->generate.b)->name);
    if (a->recipe == NULL)
        return FPO_OK;
    fpo_status status = fpo_parse_recipe(a->recipe, &wanted->recipe, error);
    if (status != FPO_OK || fpo_recipe_describe(wanted->recipe)->format == wanted->format)
        return status;
    const fpo_recipe_info *info = fpo_recipe_describe(wanted->recipe);
    return fpo_fail(error, FPO_ERR_ARGUMENT, "recipe %s makes %s, but the activations are to be %s", info->name,
                    fpo_recipe_format_text(info).text, fpo_block_format_describe(wanted->format)->name);
}

static fpo_status load_activations(const fpo_gen_arguments *a, int64_t k, fpo_tensor_numbers *numbers, fpo_error *error)
{
    if (a->a == NULL) {
        numbers->rows = a->rows;
        numbers->k = k;
        numbers->dtype = FPO_BF16;
        return fpo_hf_normal_activations(a->generate.seed, a->rows, k, &numbers->values, error);
    }
    fpo_status status = fpo_tensor_numbers_read(a->a, numbers, error);
    if (status == FPO_OK && numbers->k != k)
        return fpo_fail(error, FPO_ERR_SHAPE, "K differs: a is %lld x %lld, the layer takes %lld",
                        (long long)numbers->rows, (long long)numbers->k, (long long)k);
    return status;
}

static fpo_status describe(const fpo_gen_arguments *a, const fpo_hf *hf, const fpo_hf_layer *layer,
                           const fpo_hf_activations *wanted, fpo_vector *vector, fpo_error *error)
{
    char data[1024], input[48] = "";
    if (wanted->is_static)
        snprintf(input, sizeof input, " with input scale %.9g", (double)layer->input_scale);
    char fused[256] = "";
    if (a->fuse != NULL)
        snprintf(fused, sizeof fused, ".{%.200s} fused", a->fuse);
    snprintf(data, sizeof data, "a %s%s by %s%s, b %s%s of %s (%s)", a->a != NULL ? "from " : "normal numbers in bf16",
             a->a != NULL ? a->a : "",
             wanted->recipe != FPO_RECIPE_COUNT ? fpo_recipe_describe(wanted->recipe)->name : "rounding to nearest",
             input, a->layer, fused, a->checkpoint, fpo_scheme_describe(fpo_hf_scheme(hf))->name);
    json_t *valid = fpo_json_text(data);
    vector->data = fpo_vector_text(vector, json_string_value(valid));
    json_decref(valid);
    vector->seed = a->generate.seed;
    return vector->data != NULL ? FPO_OK
                                : fpo_fail(error, FPO_ERR_MEMORY, "out of memory for the vector's description");
}

static fpo_status make(const fpo_gen_arguments *a, fpo_hf *hf, fpo_hf_layer *layer, fpo_tensor_numbers *numbers,
                       fpo_vector *vector, fpo_error *error)
{
    fpo_hf_activations wanted = {.is_static = false};
    fpo_gemm_problem *p = &vector->problem;
    const char *name = a->layer != NULL ? a->layer : "";
    fpo_status status = a->fuse != NULL ? fpo_hf_fused_read(hf, name, a->fuse, layer, error)
                                        : fpo_hf_layer_read(hf, name, layer, error);
    if (status == FPO_OK)
        status = choose(a, hf, &wanted, error);
    if (status == FPO_OK)
        status = fpo_spec_init(&vector->spec, wanted.format, layer->format, fpo_model_by_name("exact"), a->generate.d,
                               error);
    if (status == FPO_OK)
        status = load_activations(a, layer->k, numbers, error);
    if (status != FPO_OK)
        return status;
    p->m = numbers->rows;
    p->n = layer->rows;
    p->k = layer->k;
    fpo_float_matrix matrix = {numbers->values, numbers->rows, numbers->k, numbers->dtype};
    status = fpo_hf_quantise_activations(vector, fpo_scheme_describe(fpo_hf_scheme(hf)), layer, &matrix, &wanted, &p->a,
                                         error);
    if (status == FPO_OK)
        status = fpo_hf_weight_operand(vector, layer, &p->b, error);
    if (status == FPO_OK)
        status = fpo_gen_load_addends(a, vector, error);
    return status == FPO_OK ? describe(a, hf, layer, &wanted, vector, error) : status;
}

fpo_status fpo_gen_from_checkpoint(const fpo_gen_arguments *a, fpo_vector *vector, fpo_error *error)
{
    fpo_hf *hf = NULL;
    fpo_hf_layer layer = {0};
    fpo_tensor_numbers numbers = {0};
    fpo_status status = fpo_hf_open(a->checkpoint, &hf, error);
    if (status == FPO_OK)
        status = make(a, hf, &layer, &numbers, vector, error);
    fpo_tensor_numbers_free(&numbers);
    fpo_hf_layer_free(&layer);
    fpo_hf_close(hf);
    return status;
}

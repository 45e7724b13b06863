/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Which scheme a folder has, and its quantised layers. */
#include "hf_checkpoint.h"
#include "hf_config.h"
#include "hf_layer.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NOTHING "", FPO_STORED_NOTHING
#define STATIC(suffix, recipe) suffix, FPO_RECIPE_##recipe
#define DYNAMIC "", FPO_RECIPE_COUNT
#define TAKE(suffix) suffix, FPO_STORED_MULTIPLIER
#define DIVIDE(suffix) suffix, FPO_STORED_DIVISOR
/* A second expansion, so that a list which is one argument in schemes.inc comes apart. */
#define SCHEME(...) SCHEME_ENTRY(__VA_ARGS__)
#define SCHEME_ENTRY(id, scheme, config_method, config_key, format, codes_suffix, scale_suffix, tensor_suffix, means,  \
                     input_suffix, static_one, input_format, input_recipe, one_line)                                   \
    [FPO_SCHEME_##id] = {.name = scheme,                                                                               \
                         .summary = one_line,                                                                          \
                         .method = config_method,                                                                      \
                         .key = config_key,                                                                            \
                         .weight = FPO_BLOCK_##format,                                                                 \
                         .codes = codes_suffix,                                                                        \
                         .scale = scale_suffix,                                                                        \
                         .tensor_scale = tensor_suffix,                                                                \
                         .input_scale = input_suffix,                                                                  \
                         .static_recipe = static_one,                                                                  \
                         .meaning = means,                                                                             \
                         .activations = FPO_BLOCK_##input_format,                                                      \
                         .recipe = FPO_RECIPE_##input_recipe},

static const fpo_scheme_info schemes[FPO_SCHEME_COUNT] = {
#define FPO_SCHEME(...) SCHEME(__VA_ARGS__)
#include "schemes.inc"
#undef FPO_SCHEME
};

const fpo_scheme_info *fpo_scheme_describe(fpo_scheme scheme)
{
    return (unsigned)scheme < FPO_SCHEME_COUNT ? &schemes[scheme] : NULL;
}

/* Length of the layer's name if `tensor` holds codes of this scheme, and its scales are there too; else 0. */
static size_t layer_length(const fpo_checkpoint *tensors, const fpo_scheme_info *scheme, const char *tensor)
{
    size_t length = strlen(tensor), suffix = strlen(scheme->codes), size = length + strlen(scheme->scale) + 1;
    if (length <= suffix || strcmp(tensor + length - suffix, scheme->codes) != 0)
        return 0;
    char *scale = malloc(size);
    if (scale == NULL)
        return 0;
    snprintf(scale, size, "%.*s%s", (int)(length - suffix), tensor, scheme->scale);
    bool found = fpo_checkpoint_has(tensors, scale);
    free(scale);
    return found ? length - suffix : 0;
}

static bool has_layers(const fpo_checkpoint *tensors, const fpo_scheme_info *scheme)
{
    for (size_t i = 0; i < fpo_checkpoint_count(tensors); i++)
        if (layer_length(tensors, scheme, fpo_checkpoint_name(tensors, i)) > 0)
            return true;
    return false;
}

/* Without a declaration: torchao's and OpenAI's names are nobody else's. */
static fpo_status scheme_by_names(fpo_hf *hf, fpo_error *error)
{
    static const fpo_scheme by_name[] = {FPO_SCHEME_TORCHAO_NVFP4, FPO_SCHEME_GPT_OSS_ORIGINAL};
    for (size_t i = 0; i < sizeof by_name / sizeof *by_name; i++)
        if (has_layers(hf->tensors, &schemes[by_name[i]])) {
            hf->scheme = by_name[i];
            return FPO_OK;
        }
    return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                    "%s: config.json has no quantization_config, there is no hf_quant_config.json, and no tensor has a "
                    "name that only a quantised one has: is it quantised?",
                    hf->folder);
}

static fpo_status find_scheme(fpo_hf *hf, fpo_error *error)
{
    fpo_hf_key key;
    fpo_status status = fpo_hf_config_read(hf->folder, &key, error);
    if (status != FPO_OK)
        return status;
    if (key.method[0] == 0)
        return scheme_by_names(hf, error);
    char known[256] = "";
    for (int i = 0; i < FPO_SCHEME_COUNT; i++) {
        if (strcmp(schemes[i].method, key.method) != 0)
            continue;
        if (strcmp(schemes[i].key, key.key) == 0) {
            hf->scheme = (fpo_scheme)i;
            return FPO_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? "; " : "", schemes[i].key);
    }
    if (known[0] == 0)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s: quant_method %s is not read here", hf->folder, key.method);
    return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s: %s \"%s\" is not read here, but: %s", hf->folder, key.method,
                    key.key, known);
}

static fpo_status add_layer(fpo_hf *hf, const char *name, size_t length, int64_t expert, fpo_error *error)
{
    char **grown = realloc(hf->layers, (hf->layer_count + 1) * sizeof *grown);
    char *text = malloc(length + 24);
    if (grown != NULL)
        hf->layers = grown;
    if (grown == NULL || text == NULL) {
        free(text);
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", hf->folder);
    }
    int end = snprintf(text, length + 1, "%.*s", (int)length, name);
    if (expert >= 0)
        snprintf(text + end, 24, ".%lld", (long long)expert);
    grown[hf->layer_count++] = text;
    return FPO_OK;
}

static fpo_status list_layers(fpo_hf *hf, fpo_error *error)
{
    fpo_status status = FPO_OK;
    for (size_t i = 0; i < fpo_checkpoint_count(hf->tensors) && status == FPO_OK; i++) {
        const char *name = fpo_checkpoint_name(hf->tensors, i);
        size_t length = layer_length(hf->tensors, &schemes[hf->scheme], name);
        if (length == 0)
            continue;
        const fpo_tensor *codes = NULL;
        bool experts = fpo_hf_has_experts(hf->scheme);
        if (!experts) {
            status = add_layer(hf, name, length, -1, error);
            continue;
        }
        status = fpo_checkpoint_tensor(hf->tensors, name, &codes, error);
        if (status == FPO_OK && codes->rank != 4)
            status = fpo_fail(error, FPO_ERR_SHAPE, "tensor %s has %zu dimensions, not experts, rows, blocks, 16",
                              fpo_shown(name).text, codes->rank);
        for (int64_t e = 0; status == FPO_OK && e < codes->shape[0]; e++)
            status = codes->elements > 0 ? add_layer(hf, name, length, e, error)
                                         : fpo_fail(error, FPO_ERR_SHAPE, "tensor %s is empty", fpo_shown(name).text);
    }
    return status;
}

fpo_status fpo_hf_open(const char *folder, fpo_hf **result, fpo_error *error)
{
    *result = NULL;
    fpo_hf *hf = calloc(1, sizeof *hf);
    if (hf == NULL || (hf->folder = strdup(folder)) == NULL) {
        free(hf);
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", folder);
    }
    fpo_status status = fpo_checkpoint_open(folder, &hf->tensors, error);
    if (status == FPO_OK)
        status = find_scheme(hf, error);
    if (status == FPO_OK)
        status = list_layers(hf, error);
    if (status == FPO_OK && hf->layer_count == 0)
        status = fpo_fail(error, FPO_ERR_FILE, "%s: %s, but no layer has both NAME%s and NAME%s", folder,
                          schemes[hf->scheme].name, schemes[hf->scheme].codes, schemes[hf->scheme].scale);
    if (status != FPO_OK) {
        fpo_hf_close(hf);
        return status;
    }
    *result = hf;
    return FPO_OK;
}

void fpo_hf_close(fpo_hf *hf)
{
    if (hf == NULL)
        return;
    for (size_t i = 0; i < hf->layer_count; i++)
        free(hf->layers[i]);
    free(hf->layers);
    fpo_checkpoint_close(hf->tensors);
    free(hf->folder);
    free(hf);
}

bool fpo_hf_is(const char *folder)
{
    struct stat info;
    size_t size = strlen(folder) + sizeof "/config.json";
    char *path = malloc(size);
    if (path == NULL)
        return false;
    snprintf(path, size, "%s/config.json", folder);
    bool there = stat(folder, &info) == 0 && S_ISDIR(info.st_mode) && stat(path, &info) == 0;
    free(path);
    return there;
}

fpo_scheme fpo_hf_scheme(const fpo_hf *hf)
{
    return hf->scheme;
}

size_t fpo_hf_layer_count(const fpo_hf *hf)
{
    return hf->layer_count;
}

const char *fpo_hf_layer_name(const fpo_hf *hf, size_t index)
{
    return index < hf->layer_count ? hf->layers[index] : NULL;
}

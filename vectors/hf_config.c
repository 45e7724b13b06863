/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* config.json and hf_quant_config.json. Sources, vLLM 0.33.0 model_executor/layers/quantization: modelopt.py:239-330,
 * compressed_tensors/compressed_tensors.py:404-460, fp8.py:90-180; DeepSeek-V3 inference/configs/config_v3.1.json. */
#include "hf_config.h"
#include "json_file.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *string_at(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* quant_algo: at the top or under "quantization". */
static fpo_status modelopt_key(const json_t *config, fpo_hf_key *key, const char *path, fpo_error *error)
{
    const char *algorithm = string_at(config, "quant_algo");
    if (algorithm == NULL)
        algorithm = string_at(json_object_get(config, "quantization"), "quant_algo");
    if (algorithm == NULL)
        return fpo_fail(error, FPO_ERR_FILE, "%s: modelopt without quant_algo", path);
    snprintf(key->method, sizeof key->method, "modelopt");
    snprintf(key->key, sizeof key->key, "%s", fpo_shown(algorithm).text);
    return FPO_OK;
}

/* "4 tensor_group 16", "8 block 128x128", "8 token", "none". */
static void arguments_text(const json_t *arguments, char *text, size_t size)
{
    if (!json_is_object(arguments)) {
        snprintf(text, size, "none");
        return;
    }
    const char *type = string_at(arguments, "type"), *strategy = string_at(arguments, "strategy");
    const json_t *block = json_object_get(arguments, "block_structure");
    const json_t *group = json_object_get(arguments, "group_size");
    char sizes[48] = "";
    if (json_is_array(block))
        snprintf(sizes, sizeof sizes, " %lldx%lld", (long long)json_integer_value(json_array_get(block, 0)),
                 (long long)json_integer_value(json_array_get(block, 1)));
    else if (json_is_integer(group) && json_integer_value(group) > 0)
        snprintf(sizes, sizeof sizes, " %lld", (long long)json_integer_value(group));
    snprintf(text, size, "%s%lld %.16s%s", type != NULL && strcmp(type, "float") == 0 ? "" : "int ",
             (long long)json_integer_value(json_object_get(arguments, "num_bits")),
             strategy != NULL ? fpo_shown(strategy).text : "tensor", sizes);
}

static fpo_status compressed_tensors_key(const json_t *config, fpo_hf_key *key, const char *path, fpo_error *error)
{
    json_t *groups = json_object_get(config, "config_groups"), *group;
    const char *name;
    if (json_object_size(groups) == 0)
        return fpo_fail(error, FPO_ERR_FILE, "%s: compressed-tensors without config_groups", path);
    snprintf(key->method, sizeof key->method, "compressed-tensors");
    key->key[0] = 0;
    json_object_foreach(groups, name, group)
    {
        char weights[40], activations[40], text[sizeof key->key];
        arguments_text(json_object_get(group, "weights"), weights, sizeof weights);
        arguments_text(json_object_get(group, "input_activations"), activations, sizeof activations);
        snprintf(text, sizeof text, "%s -> %s", weights, activations);
        if (key->key[0] != 0 && strcmp(key->key, text) != 0)
            return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s: config_groups of several schemes: %s, and %s is %s", path,
                            key->key, fpo_shown(name).text, text);
        snprintf(key->key, sizeof key->key, "%s", text);
    }
    return FPO_OK;
}

static fpo_status fp8_key(const json_t *config, fpo_hf_key *key, const char *path, fpo_error *error)
{
    const json_t *block = json_object_get(config, "weight_block_size");
    const char *scale = string_at(config, "scale_fmt"), *activations = string_at(config, "activation_scheme");
    snprintf(key->method, sizeof key->method, "fp8");
    snprintf(key->key, sizeof key->key, "tensor");
    if (block == NULL || json_is_null(block))
        return FPO_OK;
    if (json_array_size(block) != 2)
        return fpo_fail(error, FPO_ERR_FILE, "%s: weight_block_size is no list of two numbers", path);
    if (activations != NULL && strcmp(activations, "dynamic") != 0)
        return fpo_fail(error, FPO_ERR_FILE, "%s: weight_block_size with activation_scheme %s: must be dynamic", path,
                        fpo_shown(activations).text);
    snprintf(key->key, sizeof key->key, "block %lldx%lld%s", (long long)json_integer_value(json_array_get(block, 0)),
             (long long)json_integer_value(json_array_get(block, 1)),
             scale != NULL && strcmp(scale, "ue8m0") == 0 ? " ue8m0" : "");
    return FPO_OK;
}

static fpo_status declared(const json_t *config, fpo_hf_key *key, const char *path, fpo_error *error)
{
    const char *method = string_at(config, "quant_method");
    if (method == NULL)
        return fpo_fail(error, FPO_ERR_FILE, "%s: quantization_config without quant_method", path);
    if (strncmp(method, "modelopt", strlen("modelopt")) == 0)
        return modelopt_key(config, key, path, error);
    if (strcmp(method, "compressed-tensors") == 0)
        return compressed_tensors_key(config, key, path, error);
    if (strstr(method, "fp8") != NULL)
        return fp8_key(config, key, path, error);
    snprintf(key->method, sizeof key->method, "%.31s", fpo_shown(method).text);
    snprintf(key->key, sizeof key->key, "experts");
    return FPO_OK;
}

/* NULL where there is no such file. */
static fpo_status read_file(const char *folder, const char *name, char **path, json_t **document, fpo_error *error)
{
    struct stat info;
    size_t size = strlen(folder) + strlen(name) + 2;
    *document = NULL;
    *path = malloc(size);
    if (*path == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", folder);
    snprintf(*path, size, "%s/%s", folder, name);
    return stat(*path, &info) == 0 ? fpo_json_read(*path, document, error) : FPO_OK;
}

fpo_status fpo_hf_config_read(const char *folder, fpo_hf_key *key, fpo_error *error)
{
    char *path = NULL;
    json_t *document = NULL;
    memset(key, 0, sizeof *key);
    fpo_status status = read_file(folder, "config.json", &path, &document, error);
    if (status == FPO_OK && document == NULL)
        status = fpo_fail(error, FPO_ERR_IO, "%s: no config.json", folder);
    const json_t *config = json_object_get(document, "quantization_config");
    bool found = json_is_object(config);
    if (status == FPO_OK && found)
        status = declared(config, key, path, error);
    free(path);
    json_decref(document);
    path = NULL;
    document = NULL;
    if (status == FPO_OK && !found)
        status = read_file(folder, "hf_quant_config.json", &path, &document, error);
    if (status == FPO_OK && document != NULL)
        status = modelopt_key(document, key, path, error);
    free(path);
    json_decref(document);
    return status;
}

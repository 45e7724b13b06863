/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Writing vector files. */
#include "forms.h"
#include "spec_json.h"
#include "text.h"
#include "vector_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERAND_TENSORS = 6 + FPO_SCALARS, NAME_SIZE = 80 };

/* The tensors of the file, and the digests of all outputs, those left out included. */
typedef struct contents {
    fpo_tensor *tensors;
    size_t count;
    char (*names)[NAME_SIZE]; /* of outputs */
    json_t *digests;
} contents;

static fpo_status out_of_memory(fpo_error *error)
{
    return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for a vector");
}

static fpo_status record_digest(contents *all, const char *name, const fpo_digest *digest, fpo_error *error)
{
    return json_object_set_new(all->digests, name, json_string(digest->hex)) == 0 ? FPO_OK : out_of_memory(error);
}

static fpo_status add(contents *all, const char *name, fpo_format format, int64_t rows, int64_t columns,
                      const void *data, size_t bytes, fpo_error *error)
{
    fpo_tensor *tensor = &all->tensors[all->count];
    tensor->name = name;
    tensor->data = data;
    if (!fpo_form_of(format, rows, columns, tensor) || tensor->bytes != bytes || !data)
        return fpo_fail(error, FPO_ERR_SHAPE, "%s: %zu bytes, but %lld x %lld codes of %s take %zu", name,
                        data ? bytes : 0, (long long)rows, (long long)columns, fpo_format_describe(format)->name,
                        tensor->bytes);
    fpo_digest digest = fpo_digest_of(data, bytes);
    all->count++;
    return record_digest(all, name, &digest, error);
}

static fpo_status add_operand(contents *all, const char *codes, const char *scales, const fpo_operand_view *view,
                              int64_t rows, int64_t k, const fpo_operand *operand, fpo_error *error)
{
    fpo_status status = add(all, codes, view->element, rows, k, operand->codes, operand->codes_bytes, error);
    if (status == FPO_OK && view->scale.format != FPO_FORMAT_NONE)
        status = add(all, scales, view->scale.format, fpo_scale_rows(&view->scale, rows),
                     fpo_scale_columns(&view->scale, k), operand->scales, operand->scales_bytes, error);
    return status;
}

/* Only those that are not what a file without them means. */
static fpo_status add_scalars(contents *all, const fpo_gemm_problem *problem, fpo_error *error)
{
    for (int i = 0; i < FPO_SCALARS; i++) {
        const char *number = (const char *)problem + fpo_scalars[i].offset;
        if (memcmp(number, &fpo_scalars[i].absent, sizeof(float)) == 0)
            continue;
        fpo_status status = add(all, fpo_scalars[i].name, FPO_F32, 1, 1, number, sizeof(float), error);
        if (status != FPO_OK)
            return status;
        fpo_tensor *tensor = &all->tensors[all->count - 1];
        tensor->rank = 1;
    }
    return FPO_OK;
}

static fpo_status add_addends(contents *all, const fpo_vector *vector, fpo_error *error)
{
    const fpo_gemm_problem *problem = &vector->problem;
    const fpo_epilogue *epilogue = &vector->spec.epilogue;
    fpo_status status = FPO_OK;
    if (epilogue->c != FPO_FORMAT_NONE && (problem->c || problem->beta != 0))
        status = add(all, "c", epilogue->c, problem->m, problem->n, problem->c, problem->c_bytes, error);
    if (status != FPO_OK || epilogue->bias == FPO_FORMAT_NONE)
        return status;
    int64_t length = epilogue->bias_per_row ? problem->m : problem->n;
    status = add(all, "bias", epilogue->bias, length, 1, problem->bias, problem->bias_bytes, error);
    if (status == FPO_OK)
        all->tensors[all->count - 1].rank = 1;
    return status;
}

static fpo_status add_output(contents *all, const char *name, fpo_format format, int64_t rows, int64_t columns,
                             const void *data, size_t bytes, const fpo_digest *digest, bool digest_only,
                             fpo_error *error)
{
    return data && !digest_only ? add(all, name, format, rows, columns, data, bytes, error)
                                : record_digest(all, name, digest, error);
}

static fpo_status add_outputs(contents *all, const fpo_vector *vector, bool digests_only, fpo_error *error)
{
    const fpo_epilogue *epilogue = &vector->spec.epilogue;
    int64_t m = vector->problem.m, n = vector->problem.n;
    fpo_status status = FPO_OK;
    for (size_t i = 0; i < vector->expected_count && status == FPO_OK; i++) {
        const fpo_expected *expected = &vector->expected[i];
        char *d = all->names[2 * i], *d_scale = all->names[2 * i + 1];
        snprintf(d, NAME_SIZE, "d.%.64s", expected->model);
        snprintf(d_scale, NAME_SIZE, "d_scale.%.64s", expected->model);
        status = add_output(all, d, epilogue->d, m, n, expected->d, expected->d_bytes, &expected->d_digest,
                            digests_only, error);
        if (status == FPO_OK && epilogue->d_scale != FPO_FORMAT_NONE)
            status =
                add_output(all, d_scale, epilogue->d_scale, m, fpo_output_scale_columns(epilogue, n), expected->d_scale,
                           expected->d_scale_bytes, &expected->d_scale_digest, digests_only, error);
    }
    return status;
}

static fpo_status add_all(contents *all, const fpo_vector *vector, bool digests_only, fpo_error *error)
{
    const fpo_gemm_problem *problem = &vector->problem;
    const fpo_gemm_spec *spec = &vector->spec;
    fpo_status status = add_operand(all, "a", "a_scale", &spec->a.stored, problem->m, problem->k, &problem->a, error);
    if (status == FPO_OK)
        status = add_operand(all, "b", "b_scale", &spec->b.stored, problem->n, problem->k, &problem->b, error);
    if (status == FPO_OK)
        status = add_scalars(all, problem, error);
    if (status == FPO_OK)
        status = add_addends(all, vector, error);
    return status == FPO_OK ? add_outputs(all, vector, digests_only, error) : status;
}

static fpo_status models_to_json(const fpo_vector *vector, json_t *list, fpo_error *error)
{
    for (size_t i = 0; i < vector->expected_count; i++) {
        const fpo_expected *expected = &vector->expected[i];
        json_t *numbers;
        fpo_status status =
            fpo_record_to_json(&fpo_record_accumulation, &expected->accumulation, expected->model, &numbers, error);
        if (status != FPO_OK)
            return status;
        if (json_array_append_new(list, json_pack("{s:s, s:o}", "model", expected->model, "accumulation", numbers)) !=
            0)
            return out_of_memory(error);
    }
    return FPO_OK;
}

/* Takes the digests. */
static fpo_status describe(const fpo_vector *vector, json_t *digests, char **text, fpo_error *error)
{
    json_t *spec = NULL, *models = json_array();
    char seed[24];
    *text = NULL;
    snprintf(seed, sizeof(seed), "%llu", (unsigned long long)vector->seed);
    fpo_status status = fpo_record_to_json(&fpo_record_gemm_spec, &vector->spec, "spec", &spec, error);
    if (status == FPO_OK)
        status = models_to_json(vector, models, error);
    if (status != FPO_OK) {
        json_decref(spec);
        json_decref(models);
        json_decref(digests);
        return status;
    }
    json_object_del(spec, "accumulation"); /* each model has its own */
    json_t *document =
        json_pack("{s:i, s:s, s:s, s:s, s:s, s:{s:I, s:I, s:I}, s:o, s:o, s:o}", "version", FPO_VECTOR_VERSION,
                  "program", vector->program, "purpose", vector->purpose, "data", vector->data, "seed", seed, "shape",
                  "m", (json_int_t)vector->problem.m, "n", (json_int_t)vector->problem.n, "k",
                  (json_int_t)vector->problem.k, "spec", spec, "expected", models, "digests", digests);
    if (document)
        *text = json_dumps(document, JSON_COMPACT);
    json_decref(document);
    return *text ? FPO_OK
                 : fpo_fail(error, FPO_ERR_ARGUMENT, "out of memory, or purpose, data or program are no valid UTF-8");
}

static fpo_status write_contents(const char *path, const fpo_vector *vector, contents *all, bool digests_only,
                                 fpo_error *error)
{
    char *text = NULL;
    fpo_error cause;
    fpo_status status = add_all(all, vector, digests_only, &cause);
    if (status == FPO_OK)
        status = describe(vector, json_incref(all->digests), &text, &cause);
    if (status != FPO_OK)
        return fpo_fail(error, status, "%s: %s", path, cause.message);
    fpo_metadata metadata[] = {{FPO_VECTOR_KEY, text}, {FPO_SEPARATES_KEY, vector->separates}};
    status = fpo_safetensors_write(path, all->tensors, all->count, metadata, vector->separates != NULL ? 2 : 1, error);
    free(text);
    return status;
}

fpo_status fpo_vector_write(const char *path, const fpo_vector *vector, bool digests_only, fpo_error *error)
{
    size_t models = vector->expected_count;
    if (models == 0)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "%s: a vector without expected outputs", path);
    contents all = {.tensors = calloc(OPERAND_TENSORS + 2 * models, sizeof(fpo_tensor)),
                    .names = calloc(2 * models, NAME_SIZE),
                    .digests = json_object()};
    fpo_status status = all.tensors && all.names && all.digests
                            ? write_contents(path, vector, &all, digests_only, error)
                            : fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", path);
    json_decref(all.digests);
    free(all.names);
    free(all.tensors);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Vectors in memory. */
#include "vector_memory.h"

#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const fpo_scalar_field fpo_scalars[FPO_SCALARS] = {
    {"a_tensor_scale", offsetof(fpo_gemm_problem, a.tensor_scale), 1},
    {"b_tensor_scale", offsetof(fpo_gemm_problem, b.tensor_scale), 1},
    {"alpha", offsetof(fpo_gemm_problem, alpha), 1},
    {"beta", offsetof(fpo_gemm_problem, beta), 0},
    {"d_scale", offsetof(fpo_gemm_problem, d_scale), 1},
};

fpo_status fpo_vector_create(fpo_vector **result, fpo_error *error)
{
    fpo_vector *vector = calloc(1, sizeof(*vector));
    *result = vector;
    if (!vector || !(vector->memory = calloc(1, sizeof(*vector->memory)))) {
        free(vector);
        *result = NULL;
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for a vector");
    }
    vector->purpose = vector->data = "";
    vector->program = FPO_VERSION;
    for (int i = 0; i < FPO_SCALARS; i++)
        memcpy((char *)&vector->problem + fpo_scalars[i].offset, &fpo_scalars[i].absent, sizeof(float));
    return FPO_OK;
}

void fpo_vector_free(fpo_vector *vector)
{
    if (!vector)
        return;
    fpo_memory *memory = vector->memory;
    for (size_t i = 0; i < memory->count; i++)
        free(memory->blocks[i]);
    free(memory->blocks);
    free(memory->taken);
    fpo_safetensors_close(memory->file);
    free(memory);
    free(vector->expected);
    free(vector);
}

void *fpo_vector_allocate(fpo_vector *vector, size_t size)
{
    enum { ALIGNMENT = 64 };
    fpo_memory *memory = vector->memory;
    if (size > SIZE_MAX - ALIGNMENT)
        return NULL;
    size_t padded = (size / ALIGNMENT + 1) * ALIGNMENT;
    void **grown = realloc(memory->blocks, (memory->count + 1) * sizeof(void *));
    if (!grown)
        return NULL;
    memory->blocks = grown;
    void *block = aligned_alloc(ALIGNMENT, padded);
    if (!block)
        return NULL;
    memset(block, 0, padded);
    memory->blocks[memory->count++] = block;
    return block;
}

const char *fpo_vector_text(fpo_vector *vector, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = fpo_vector_allocate(vector, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

bool fpo_model_name_valid(const char *name)
{
    enum { NAME_MAX_LENGTH = 64 };
    size_t length = strlen(name);
    return length >= 1 && length <= NAME_MAX_LENGTH &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-") == length;
}

const char *fpo_vector_output_name(fpo_vector *vector, const char *prefix, const char *model)
{
    size_t size = strlen(prefix) + strlen(model) + 1;
    char *name = fpo_vector_allocate(vector, size);
    if (name)
        snprintf(name, size, "%s%s", prefix, model);
    return name;
}

const fpo_expected *fpo_vector_expected(const fpo_vector *vector, const char *model)
{
    for (size_t i = 0; i < vector->expected_count; i++)
        if (strcmp(vector->expected[i].model, model) == 0)
            return &vector->expected[i];
    return NULL;
}

fpo_gemm_spec fpo_vector_spec(const fpo_vector *vector, const fpo_expected *expected)
{
    fpo_gemm_spec spec = vector->spec;
    spec.accumulation = expected->accumulation;
    return spec;
}

fpo_status fpo_vector_add(fpo_vector *vector, const char *model, const fpo_accumulation *accumulation, const void *d,
                          const void *d_scale, fpo_error *error)
{
    if (!fpo_model_name_valid(model))
        return fpo_fail(error, FPO_ERR_ARGUMENT, "no name for a model: %s", fpo_shown(model).text);
    if (fpo_vector_expected(vector, model))
        return fpo_fail(error, FPO_ERR_ARGUMENT, "the vector has an output for %s already", model);
    fpo_expected added = {.accumulation = *accumulation, .d = d, .d_scale = d_scale};
    added.d_bytes = fpo_output_bytes(&vector->spec, vector->problem.m, vector->problem.n);
    added.d_digest = fpo_digest_of(d, added.d_bytes);
    if (vector->spec.epilogue.d_scale != FPO_FORMAT_NONE) {
        added.d_scale_bytes = fpo_output_scale_bytes(&vector->spec, vector->problem.m, vector->problem.n);
        added.d_scale_digest = fpo_digest_of(d_scale, added.d_scale_bytes);
    }
    added.model = fpo_vector_text(vector, model);
    fpo_expected *grown = realloc(vector->expected, (vector->expected_count + 1) * sizeof(fpo_expected));
    if (grown)
        vector->expected = grown;
    if (!grown || !added.model)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for a vector");
    if (vector->expected_count == 0)
        vector->spec.accumulation = *accumulation;
    vector->expected[vector->expected_count++] = added;
    return FPO_OK;
}

fpo_status fpo_vector_compute(fpo_vector *vector, const fpo_model *model, const fpo_execution *execution,
                              fpo_error *error)
{
    fpo_gemm_spec spec = vector->spec;
    spec.accumulation = model->accumulation;
    fpo_gemm_output output = {.d_bytes = fpo_output_bytes(&spec, vector->problem.m, vector->problem.n),
                              .d_scale_bytes = fpo_output_scale_bytes(&spec, vector->problem.m, vector->problem.n)};
    output.d = fpo_vector_allocate(vector, output.d_bytes);
    output.d_scale = output.d_scale_bytes ? fpo_vector_allocate(vector, output.d_scale_bytes) : NULL;
    if (!output.d || (output.d_scale_bytes && !output.d_scale))
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu bytes of D", output.d_bytes);
    fpo_status status = fpo_gemm(&spec, &vector->problem, &output, execution, error);
    if (status == FPO_OK)
        status = fpo_vector_add(vector, model->name, &model->accumulation, output.d, output.d_scale, error);
    return status;
}

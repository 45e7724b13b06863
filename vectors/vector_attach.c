/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensors of a file as the operands and outputs of a vector: found, checked against the spec, aligned. */
#include "forms.h"
#include "text.h"
#include "vector_memory.h"

#include <stdlib.h>
#include <string.h>

fpo_status fpo_vector_map(fpo_vector *vector, const char *path, const void *bytes, size_t size, fpo_error *error)
{
    fpo_memory *memory = vector->memory;
    fpo_status status = bytes ? fpo_safetensors_parse(bytes, size, path, &memory->file, error)
                              : fpo_safetensors_open(path, &memory->file, error);
    if (status != FPO_OK)
        return status;
    memory->taken = calloc(fpo_safetensors_count(memory->file) + 1, sizeof(bool));
    return memory->taken ? FPO_OK : fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", path);
}

/* NULL if the file has no such tensor; marks it as part of the vector. */
static const fpo_tensor *take(fpo_memory *memory, const char *name)
{
    const fpo_tensor *tensor = fpo_safetensors_find(memory->file, name);
    if (tensor)
        memory->taken[tensor - fpo_safetensors_at(memory->file, 0)] = true;
    return tensor;
}

/* A matrix of codes, in place if it is aligned. */
static fpo_status attach(fpo_vector *vector, const fpo_tensor *tensor, fpo_format format, int64_t rows, int64_t columns,
                         const void **data, size_t *bytes, fpo_error *error)
{
    fpo_status status = fpo_form_check(tensor, format, rows, columns, error);
    if (status != FPO_OK)
        return status;
    *data = tensor->data;
    *bytes = tensor->bytes;
    if ((uintptr_t)tensor->data % fpo_format_describe(format)->storage_bytes == 0)
        return FPO_OK;
    void *copy = fpo_vector_allocate(vector, tensor->bytes);
    if (!copy)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu bytes", tensor->bytes);
    *data = memcpy(copy, tensor->data, tensor->bytes);
    return FPO_OK;
}

static fpo_status attach_required(fpo_vector *vector, const char *name, fpo_format format, int64_t rows,
                                  int64_t columns, const void **data, size_t *bytes, fpo_error *error)
{
    const fpo_tensor *tensor = take(vector->memory, name);
    if (!tensor)
        return fpo_fail(error, FPO_ERR_FILE, "no tensor %s, which must hold %lld x %lld codes of %s", name,
                        (long long)rows, (long long)columns, fpo_format_describe(format)->name);
    return attach(vector, tensor, format, rows, columns, data, bytes, error);
}

static fpo_status attach_operand(fpo_vector *vector, const char *codes, const char *scales,
                                 const fpo_operand_view *view, int64_t rows, fpo_operand *operand, fpo_error *error)
{
    int64_t k = vector->problem.k;
    fpo_status status =
        attach_required(vector, codes, view->element, rows, k, &operand->codes, &operand->codes_bytes, error);
    if (status == FPO_OK && view->scale.format != FPO_FORMAT_NONE)
        status = attach_required(vector, scales, view->scale.format, fpo_scale_rows(&view->scale, rows),
                                 fpo_scale_columns(&view->scale, k), &operand->scales, &operand->scales_bytes, error);
    return status;
}

static fpo_status attach_scalars(fpo_vector *vector, fpo_error *error)
{
    for (int i = 0; i < FPO_SCALARS; i++) {
        const fpo_tensor *tensor = take(vector->memory, fpo_scalars[i].name);
        if (tensor && (tensor->dtype != FPO_DTYPE_F32 || tensor->elements != 1))
            return fpo_fail(error, FPO_ERR_SHAPE, "tensor %s: %lld elements of %s, but it is one number in F32",
                            tensor->name, (long long)tensor->elements, fpo_dtype_name(tensor->dtype));
        if (tensor)
            memcpy((char *)&vector->problem + fpo_scalars[i].offset, tensor->data, sizeof(float));
    }
    return FPO_OK;
}

static fpo_status attach_addends(fpo_vector *vector, fpo_error *error)
{
    fpo_gemm_problem *problem = &vector->problem;
    const fpo_epilogue *epilogue = &vector->spec.epilogue;
    fpo_status status = FPO_OK;
    /* With beta = 0 C is not read, and the file need not have it. */
    if (epilogue->c != FPO_FORMAT_NONE && (problem->beta != 0 || fpo_safetensors_find(vector->memory->file, "c")))
        status =
            attach_required(vector, "c", epilogue->c, problem->m, problem->n, &problem->c, &problem->c_bytes, error);
    if (status == FPO_OK && epilogue->bias != FPO_FORMAT_NONE)
        status = attach_required(vector, "bias", epilogue->bias, 1, epilogue->bias_per_row ? problem->m : problem->n,
                                 &problem->bias, &problem->bias_bytes, error);
    return status;
}

fpo_status fpo_vector_attach(fpo_vector *vector, fpo_error *error)
{
    fpo_gemm_problem *problem = &vector->problem;
    fpo_status status = attach_operand(vector, "a", "a_scale", &vector->spec.a.stored, problem->m, &problem->a, error);
    if (status == FPO_OK)
        status = attach_operand(vector, "b", "b_scale", &vector->spec.b.stored, problem->n, &problem->b, error);
    if (status == FPO_OK)
        status = attach_scalars(vector, error);
    if (status == FPO_OK)
        status = attach_addends(vector, error);
    return status;
}

static fpo_status attach_output(fpo_vector *vector, const char *prefix, const char *model, fpo_format format,
                                int64_t columns, const void **data, size_t *bytes, fpo_error *error)
{
    const char *name = fpo_vector_output_name(vector, prefix, model);
    if (!name)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for a vector");
    const fpo_tensor *tensor = take(vector->memory, name);
    return tensor ? attach(vector, tensor, format, vector->problem.m, columns, data, bytes, error) : FPO_OK;
}

fpo_status fpo_vector_attach_expected(fpo_vector *vector, fpo_expected *expected, fpo_error *error)
{
    const fpo_epilogue *epilogue = &vector->spec.epilogue;
    int64_t n = vector->problem.n;
    expected->d_bytes = fpo_output_bytes(&vector->spec, vector->problem.m, n);
    expected->d_scale_bytes = fpo_output_scale_bytes(&vector->spec, vector->problem.m, n);
    if (expected->d_bytes == 0 || (expected->d_scale_bytes == 0) != (epilogue->d_scale == FPO_FORMAT_NONE))
        return fpo_fail(error, FPO_ERR_SHAPE, "an output of %lld x %lld is too large", (long long)vector->problem.m,
                        (long long)n);
    fpo_status status =
        attach_output(vector, "d.", expected->model, epilogue->d, n, &expected->d, &expected->d_bytes, error);
    if (status == FPO_OK && epilogue->d_scale != FPO_FORMAT_NONE)
        status =
            attach_output(vector, "d_scale.", expected->model, epilogue->d_scale, fpo_output_scale_columns(epilogue, n),
                          &expected->d_scale, &expected->d_scale_bytes, error);
    return status;
}

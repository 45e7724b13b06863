/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Plain files: operands as somebody dumped them, without our metadata. */
#include "text.h"
#include "vector_memory.h"

#include <stdlib.h>
#include <string.h>

/* The matrix a or b: its rows, and K as far as its shape tells. */
static fpo_status measure(const fpo_vector *vector, const char *name, fpo_format element, int64_t *rows, int64_t *k,
                          fpo_error *error)
{
    const fpo_tensor *tensor = fpo_safetensors_find(vector->memory->file, name);
    if (!tensor)
        return fpo_fail(error, FPO_ERR_FILE,
                        "no tensor %s (the tensors of a plain file are a, b, a_scale, b_scale, "
                        "a_tensor_scale, b_tensor_scale, alpha, beta, c, bias)",
                        name);
    if (tensor->rank != 2 || tensor->elements == 0)
        return fpo_fail(error, FPO_ERR_SHAPE, "tensor %s: no matrix with rows and K", name);
    bool two_a_byte = fpo_format_describe(element)->bits == 4 && tensor->dtype != FPO_DTYPE_F4;
    *rows = tensor->shape[0];
    if (__builtin_mul_overflow(tensor->shape[1], (int64_t)(two_a_byte ? 2 : 1), k))
        return fpo_fail(error, FPO_ERR_SHAPE, "tensor %s: too large", name);
    return FPO_OK;
}

/* Number format of an addend, by its dtype. */
static fpo_status addend_format(const fpo_vector *vector, const char *name, fpo_format *format, fpo_error *error)
{
    const fpo_tensor *tensor = fpo_safetensors_find(vector->memory->file, name);
    *format = tensor ? fpo_dtype_format(tensor->dtype) : FPO_FORMAT_NONE;
    if (tensor && *format != FPO_F32 && *format != FPO_F16 && *format != FPO_BF16)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "tensor %s is %s, but F32, F16 or BF16 is wanted", name,
                        fpo_dtype_name(tensor->dtype));
    return FPO_OK;
}

/* How much of C is added is no number to guess: a framework that dumps C may mean 1, and cuBLAS's default is 0. */
static fpo_status settle_beta(fpo_vector *vector, const fpo_plain *plain, fpo_error *error)
{
    bool has_c = fpo_safetensors_find(vector->memory->file, "c") != NULL;
    bool has_beta = fpo_safetensors_find(vector->memory->file, "beta") != NULL;
    if (plain->beta != NULL && has_beta)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "beta is given twice: it is also a tensor of the file");
    if (plain->beta != NULL && !has_c)
        return fpo_fail(error, FPO_ERR_ARGUMENT, "beta is given, but the file has no tensor c that it would multiply");
    if (has_c && !has_beta && plain->beta == NULL)
        return fpo_fail(error, FPO_ERR_ARGUMENT,
                        "there is a tensor c, but no beta, and D = alpha*A*B + beta*C: give it as --beta (1: C is "
                        "added, 0: it is not read) or as a tensor `beta` (F32, one number)");
    if (plain->beta != NULL)
        vector->problem.beta = *plain->beta;
    return FPO_OK;
}

/* K of both operands: what the unpacked one says, or the caller where both are packed and K is odd. */
static fpo_status choose_k(const fpo_vector *vector, const fpo_plain *plain, int64_t a_k, int64_t b_k, int64_t *k,
                           fpo_error *error)
{
    bool a_packed = fpo_format_describe(vector->spec.a.stored.element)->bits == 4;
    bool b_packed = fpo_format_describe(vector->spec.b.stored.element)->bits == 4;
    *k = plain->k ? plain->k : a_packed ? b_k : a_k;
    if ((a_k != *k && !(a_packed && a_k == *k + 1)) || (b_k != *k && !(b_packed && b_k == *k + 1)))
        return fpo_fail(error, FPO_ERR_SHAPE, "a has K = %lld and b has K = %lld%s", (long long)a_k, (long long)b_k,
                        plain->k ? ", which is not the K that was asked for" : "");
    return FPO_OK;
}

static fpo_status read_plain(fpo_vector *vector, const fpo_plain *plain, fpo_error *error)
{
    fpo_gemm_problem *problem = &vector->problem;
    int64_t a_k, b_k;
    fpo_status status = fpo_spec_init(&vector->spec, plain->a, plain->b, plain->model, plain->d, error);
    if (status == FPO_OK && plain->d_scale != FPO_FORMAT_NONE)
        vector->spec.epilogue.d_scale = plain->d_scale;
    if (status == FPO_OK)
        status = measure(vector, "a", vector->spec.a.stored.element, &problem->m, &a_k, error);
    if (status == FPO_OK)
        status = measure(vector, "b", vector->spec.b.stored.element, &problem->n, &b_k, error);
    if (status == FPO_OK)
        status = choose_k(vector, plain, a_k, b_k, &problem->k, error);
    if (status == FPO_OK)
        status = addend_format(vector, "c", &vector->spec.epilogue.c, error);
    if (status == FPO_OK)
        status = settle_beta(vector, plain, error);
    if (status == FPO_OK)
        status = addend_format(vector, "bias", &vector->spec.epilogue.bias, error);
    if (status != FPO_OK)
        return status;
    /* A bias per row where its length is M and not N. */
    const fpo_tensor *bias = fpo_safetensors_find(vector->memory->file, "bias");
    vector->spec.epilogue.bias_per_row = bias && bias->elements == problem->m && problem->m != problem->n;
    return fpo_vector_attach(vector, error);
}

fpo_status fpo_vector_from_plain(const char *path, const fpo_plain *plain, fpo_vector **vector, fpo_error *error)
{
    fpo_error cause;
    fpo_status status = fpo_vector_create(vector, error);
    if (status != FPO_OK)
        return status;
    status = fpo_vector_map(*vector, path, NULL, 0, error);
    if (status == FPO_OK) {
        status = read_plain(*vector, plain, &cause);
        if (status != FPO_OK)
            fpo_fail(error, status, "%s: %s", path, cause.message);
    }
    const char *data = status == FPO_OK ? fpo_vector_text(*vector, path) : NULL;
    if (status == FPO_OK && !data)
        status = fpo_fail(error, FPO_ERR_MEMORY, "%s: out of memory", path);
    if (status != FPO_OK) {
        fpo_vector_free(*vector);
        *vector = NULL;
        return status;
    }
    (*vector)->data = data;
    return FPO_OK;
}

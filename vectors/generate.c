/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The registry of generated data, and what all kinds share. */
#include "generate.h"

#include "operand_fill.h"

#include <fp4oracle/random.h>
#include <string.h>

typedef struct data_kind {
    const char *name;
    const char *summary;
} data_kind;

static const data_kind kinds[FPO_DATA_COUNT] = {
#define FPO_DATA_KIND(ID, name, summary) {name, summary},
#include "data_kinds.inc"
#undef FPO_DATA_KIND
};

const char *fpo_data_kind_name(fpo_data_kind kind)
{
    return (unsigned)kind < FPO_DATA_COUNT ? kinds[kind].name : NULL;
}

const char *fpo_data_kind_summary(fpo_data_kind kind)
{
    return (unsigned)kind < FPO_DATA_COUNT ? kinds[kind].summary : NULL;
}

fpo_data_kind fpo_data_kind_by_name(const char *name)
{
    int kind = 0;
    while (kind < FPO_DATA_COUNT && strcmp(kinds[kind].name, name) != 0)
        kind++;
    return (fpo_data_kind)kind;
}

static fpo_status fill(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    switch (wanted->kind) {
    case FPO_DATA_UNIFORM: return fpo_generate_uniform(vector, wanted, error);
    case FPO_DATA_GAUSSIAN: return fpo_generate_gaussian(vector, wanted, error);
    case FPO_DATA_CODES: return fpo_generate_codes(vector, wanted, error);
    case FPO_DATA_TIES: return fpo_generate_ties(vector, wanted, error);
    case FPO_DATA_POWERS: return fpo_generate_powers(vector, wanted, error);
    case FPO_DATA_LADDER: return fpo_generate_ladder(vector, wanted, error);
    case FPO_DATA_ONE_HOT: return fpo_generate_one_hot(vector, wanted, error);
    case FPO_DATA_UNIQUE: return fpo_generate_unique(vector, wanted, error);
    case FPO_DATA_SCALE_CODES: return fpo_generate_scale_codes(vector, wanted, error);
    case FPO_DATA_CANCELLATION: return fpo_generate_cancellation(vector, wanted, error);
    case FPO_DATA_STEP: return fpo_generate_step(vector, wanted, error);
    case FPO_DATA_ZEROS: return fpo_generate_zeros(vector, wanted, error);
    case FPO_DATA_FLOOR: return fpo_generate_floor(vector, wanted, error);
    case FPO_DATA_SPECIAL: return fpo_generate_special(vector, wanted, error);
    case FPO_DATA_COUNT: break;
    }
    return fpo_fail(error, FPO_ERR_ARGUMENT, "no kind of data has the number %d", (int)wanted->kind);
}

/* Multiples of 1/4 within +-2: exact in every format that C and bias can have. */
static fpo_status addend(fpo_vector *vector, fpo_format format, int64_t count, uint64_t stream, const void **data,
                         size_t *bytes, fpo_error *error)
{
    *bytes = (size_t)count * fpo_format_describe(format)->storage_bytes;
    void *codes = fpo_vector_allocate(vector, *bytes);
    if (!codes)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu bytes", *bytes);
    for (int64_t i = 0; i < count; i++) {
        double value = (double)fpo_random_below((fpo_random){vector->seed, stream}, (uint64_t)i, 17) / 4 - 2;
        fpo_store_code(format, codes, (size_t)i, fpo_encode_double(format, value, fpo_cast_describe(FPO_CAST_IEEE)));
    }
    *data = codes;
    return FPO_OK;
}

static fpo_status addends(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_gemm_problem *problem = &vector->problem;
    int64_t count;
    fpo_status status = FPO_OK;
    vector->spec.epilogue.c = wanted->c;
    vector->spec.epilogue.bias = wanted->bias;
    if (wanted->c != FPO_FORMAT_NONE) {
        if (__builtin_mul_overflow(wanted->m, wanted->n, &count) || count > INT64_MAX / 4)
            return fpo_fail(error, FPO_ERR_SHAPE, "C of %lld x %lld is too large", (long long)wanted->m,
                            (long long)wanted->n);
        problem->beta = 0.5f;
        status = addend(vector, wanted->c, count, FPO_STREAM_C, &problem->c, &problem->c_bytes, error);
    }
    if (status == FPO_OK && wanted->bias != FPO_FORMAT_NONE)
        status = addend(vector, wanted->bias, wanted->n, FPO_STREAM_BIAS, &problem->bias, &problem->bias_bytes, error);
    return status;
}

static fpo_status generate(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    const fpo_model *exact = fpo_model_by_name("exact");
    if (wanted->m < 1 || wanted->n < 1 || wanted->k < 1)
        return fpo_fail(error, FPO_ERR_SHAPE, "M, N and K are at least 1, not %lld, %lld and %lld",
                        (long long)wanted->m, (long long)wanted->n, (long long)wanted->k);
    fpo_status status = fpo_spec_init(&vector->spec, wanted->a, wanted->b, exact, wanted->d, error);
    if (status != FPO_OK)
        return status;
    vector->problem.m = wanted->m;
    vector->problem.n = wanted->n;
    vector->problem.k = wanted->k;
    vector->seed = wanted->seed;
    vector->data = fpo_data_kind_name(wanted->kind);
    status = fill(vector, wanted, error);
    return status == FPO_OK ? addends(vector, wanted, error) : status;
}

fpo_status fpo_generate_vector(const fpo_generate *wanted, fpo_vector **vector, fpo_error *error)
{
    fpo_status status = fpo_vector_create(vector, error);
    if (status != FPO_OK)
        return status;
    status = generate(*vector, wanted, error);
    if (status != FPO_OK) {
        fpo_vector_free(*vector);
        *vector = NULL;
    }
    return status;
}

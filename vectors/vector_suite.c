/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The registry of suites and its vectors. */
#include "vector_suite.h"

#include <math.h>
#include <string.h>

typedef struct suite_info {
    const char *name;
    const char *summary;
} suite_info;

static const suite_info suites[FPO_SUITE_COUNT] = {
#define FPO_SUITE(ID, name, summary) {name, summary},
#include "suites.inc"
#undef FPO_SUITE
};

enum {
#define FPO_SUITE(ID, name, summary) ID = 1 << FPO_SUITE_##ID,
#include "suites.inc"
#undef FPO_SUITE
};

static const fpo_suite_vector vectors[] = {
#define FPO_SUITE_VECTOR(name_, suites_, purpose_, ...)                                                                \
    {.name = (name_), .suites = (suites_) | FULL, .purpose = (purpose_), __VA_ARGS__},
#include "suite_vectors.inc"
#undef FPO_SUITE_VECTOR
};
enum { VECTORS = sizeof vectors / sizeof vectors[0] };

static const fpo_suite_format formats[] = {
#define FPO_SUITE_FORMAT(A, B, model) {FPO_BLOCK_##A, FPO_BLOCK_##B, model},
#include "suite_formats.inc"
#undef FPO_SUITE_FORMAT
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

const char *fpo_suite_name(fpo_vector_suite suite)
{
    return (unsigned)suite < FPO_SUITE_COUNT ? suites[suite].name : NULL;
}

const char *fpo_suite_summary(fpo_vector_suite suite)
{
    return (unsigned)suite < FPO_SUITE_COUNT ? suites[suite].summary : NULL;
}

fpo_vector_suite fpo_suite_by_name(const char *name)
{
    int suite = 0;
    while (suite < FPO_SUITE_COUNT && strcmp(suites[suite].name, name) != 0)
        suite++;
    return (fpo_vector_suite)suite;
}

const fpo_suite_vector *fpo_suite_vector_at(size_t index)
{
    return index < VECTORS ? &vectors[index] : NULL;
}

const fpo_suite_vector *fpo_suite_vector_by_name(const char *name)
{
    for (size_t i = 0; i < VECTORS; i++)
        if (strcmp(vectors[i].name, name) == 0)
            return &vectors[i];
    return NULL;
}

bool fpo_suite_has(fpo_vector_suite suite, const fpo_suite_vector *vector)
{
    return (vector->suites >> suite & 1) != 0;
}

bool fpo_suite_applies(const fpo_suite_vector *vector, const fpo_suite_target *target)
{
    return vector->d == FPO_FORMAT_NONE || target->d == FPO_FORMAT_NONE;
}

const fpo_suite_format *fpo_suite_format_at(size_t index)
{
    return index < FORMATS ? &formats[index] : NULL;
}

const fpo_model *fpo_suite_model(fpo_block_format a, fpo_block_format b)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].a == a && formats[i].b == b)
            return fpo_model_by_name(formats[i].model);
    const fpo_model *model, *found = fpo_model_by_name("exact");
    for (size_t i = 0; (model = fpo_model_at(i)) != NULL; i++)
        if (model->accumulation.step.kind == FPO_STEP_FUSED && model->provenance <= FPO_PUBLISHED &&
            fpo_model_takes(model, &fpo_block_format_describe(a)->view, &fpo_block_format_describe(b)->view))
            found = model;
    return found;
}

static void set_scalars(const fpo_suite_vector *entry, const fpo_suite_target *target, fpo_vector *vector)
{
    fpo_gemm_problem *problem = &vector->problem;
    const fpo_format_info *d = fpo_format_describe(vector->spec.epilogue.d);
    if (entry->alpha != 0)
        problem->alpha = entry->alpha;
    if (entry->overflows) /* sums are about 2^9: some stay below the largest number, some do not */
        problem->alpha = ldexpf(1.5f, d->max_exponent - 9);
    if (entry->underflows)
        problem->alpha = ldexpf(1.5f, d->min_exponent - 9);
    if (entry->beta != 0 && vector->spec.epilogue.c != FPO_FORMAT_NONE)
        problem->beta = entry->beta;
    if (entry->alpha_is_zero)
        problem->alpha = 0;
    if (entry->beta_is_zero)
        problem->beta = 0;
    if (entry->a_tensor_scale != 0 && fpo_block_format_describe(target->a)->tensor_scale)
        problem->a.tensor_scale = entry->a_tensor_scale;
    if (entry->b_tensor_scale != 0 && fpo_block_format_describe(target->b)->tensor_scale)
        problem->b.tensor_scale = entry->b_tensor_scale;
}

/* C becomes minus the exact D. */
static fpo_status make_residual(fpo_vector *vector, fpo_error *error)
{
    fpo_gemm_problem *problem = &vector->problem;
    fpo_format format = vector->spec.epilogue.c;
    fpo_gemm_spec spec = vector->spec;
    spec.epilogue.d = format;
    spec.epilogue.d_cast = *fpo_cast_describe(FPO_CAST_IEEE);
    spec.epilogue.c = spec.epilogue.bias = FPO_FORMAT_NONE;
    void *c = fpo_vector_allocate(vector, problem->c_bytes);
    if (c == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %zu bytes", problem->c_bytes);
    fpo_gemm_output output = {.d = c, .d_bytes = problem->c_bytes};
    fpo_status status = fpo_gemm(&spec, problem, &output, NULL, error);
    uint32_t sign = 1u << (fpo_format_describe(format)->bits - 1);
    for (int64_t i = 0; i < problem->m * problem->n && status == FPO_OK; i++)
        fpo_store_code(format, c, (size_t)i, fpo_load_code(format, c, (size_t)i) ^ sign);
    problem->c = c;
    problem->beta = 1;
    return status;
}

fpo_status fpo_suite_generate(const fpo_suite_vector *entry, const fpo_suite_target *target, fpo_vector **vector,
                              fpo_error *error)
{
    fpo_format d = entry->d != FPO_FORMAT_NONE ? entry->d : target->d != FPO_FORMAT_NONE ? target->d : FPO_F32;
    fpo_format addend = d == FPO_F32 || entry->residual ? FPO_F32 : d == FPO_F16 ? d : FPO_BF16;
    fpo_format c = target->has_addends ? target->c : addend, bias = target->has_addends ? target->bias : addend;
    fpo_generate wanted = {.a = target->a,
                           .b = target->b,
                           .d = d,
                           .c = entry->c ? c : FPO_FORMAT_NONE,
                           .bias = entry->bias ? bias : FPO_FORMAT_NONE,
                           .m = entry->m,
                           .n = entry->n,
                           .k = entry->k,
                           .kind = entry->kind,
                           .seed = target->seed};
    if (entry->residual && wanted.c == FPO_FORMAT_NONE)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s needs a C, and the kernel has none", entry->name);
    fpo_status status = fpo_generate_vector(&wanted, vector, error);
    if (status != FPO_OK)
        return status;
    set_scalars(entry, target, *vector);
    (*vector)->purpose = entry->purpose;
    if (entry->residual)
        status = make_residual(*vector, error);
    if (status != FPO_OK) {
        fpo_vector_free(*vector);
        *vector = NULL;
    }
    return status;
}

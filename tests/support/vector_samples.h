/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Vectors for the tests of vector files: uniform bytes, whatever they mean. */
#ifndef FP4ORACLE_TESTS_VECTOR_SAMPLES_H
#define FP4ORACLE_TESTS_VECTOR_SAMPLES_H

#include "vector_file.h"

#include "assertions.h"
#include <fp4oracle/random.h>
#include <string.h>

typedef struct fpo_sample {
    fpo_block_format a, b;
    fpo_format d, c, bias;
    bool bias_per_row;
    int64_t m, n, k;
} fpo_sample;

static inline void *fpo_sample_bytes(fpo_vector *vector, size_t size, uint64_t stream)
{
    uint8_t *bytes = fpo_vector_allocate(vector, size);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)fpo_random_bits((fpo_random){7, stream}, i);
    return bytes;
}

static inline void fpo_sample_operand(fpo_vector *vector, const fpo_operand_view *view, int64_t rows, uint64_t stream,
                                      fpo_operand *operand)
{
    int64_t k = vector->problem.k;
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, view->element, k);
    operand->codes_bytes = (size_t)(rows * row_bytes);
    uint8_t *codes = fpo_sample_bytes(vector, operand->codes_bytes, stream);
    for (int64_t r = 0; r < rows && k % 2 != 0 && view->element == FPO_E2M1; r++)
        codes[(r + 1) * row_bytes - 1] &= 0x0F;
    operand->codes = codes;
    if (view->scale.format == FPO_FORMAT_NONE)
        return;
    operand->scales_bytes = (size_t)(fpo_scale_rows(&view->scale, rows) * fpo_scale_columns(&view->scale, k)) *
                            fpo_format_describe(view->scale.format)->storage_bytes;
    operand->scales = fpo_sample_bytes(vector, operand->scales_bytes, stream + 1);
}

/* Spec and operands, without expected outputs. */
static inline fpo_vector *fpo_sample_vector(const fpo_sample *sample)
{
    fpo_vector *vector;
    fpo_error error;
    ck_assert_int_eq(fpo_vector_create(&vector, &error), FPO_OK);
    ck_assert_msg(fpo_spec_init(&vector->spec, sample->a, sample->b, fpo_model_by_name("exact"), sample->d, &error) ==
                      FPO_OK,
                  "%s", error.message);
    fpo_gemm_problem *p = &vector->problem;
    p->m = sample->m, p->n = sample->n, p->k = sample->k;
    fpo_sample_operand(vector, &vector->spec.a.stored, p->m, 10, &p->a);
    fpo_sample_operand(vector, &vector->spec.b.stored, p->n, 20, &p->b);
    p->a.tensor_scale = 0.75f;
    p->alpha = -1.25f;
    if (sample->c != FPO_FORMAT_NONE) {
        vector->spec.epilogue.c = sample->c;
        p->beta = 0.5f;
        p->c_bytes = (size_t)(p->m * p->n) * fpo_format_describe(sample->c)->storage_bytes;
        p->c = fpo_sample_bytes(vector, p->c_bytes, 30);
    }
    if (sample->bias != FPO_FORMAT_NONE) {
        vector->spec.epilogue.bias = sample->bias;
        vector->spec.epilogue.bias_per_row = sample->bias_per_row;
        p->bias_bytes = (size_t)(sample->bias_per_row ? p->m : p->n) * fpo_format_describe(sample->bias)->storage_bytes;
        p->bias = fpo_sample_bytes(vector, p->bias_bytes, 40);
    }
    vector->purpose = "a test";
    vector->data = "bytes";
    vector->seed = UINT64_MAX;
    return vector;
}

static inline void fpo_sample_compute(fpo_vector *vector, const char *model)
{
    fpo_error error;
    ck_assert_msg(fpo_vector_compute(vector, fpo_model_by_name(model), NULL, &error) == FPO_OK, "%s", error.message);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Taking the numbers that operands were quantised from. */
#include "source.h"

#include "quantized.h"

#include <string.h>

static fpo_status take_source(const char *option, const char *argument, fpo_vector *vector, int64_t rows,
                              fpo_operand *operand, fpo_error *error)
{
    fpo_tensor_numbers numbers = {0};
    if (argument == NULL)
        return FPO_OK;
    fpo_status status = fpo_tensor_numbers_read(argument, &numbers, error);
    if (status != FPO_OK)
        return status;
    int64_t k = vector->problem.k;
    size_t bytes = (size_t)rows * (size_t)k * sizeof(float);
    float *values = NULL;
    if (numbers.rows != rows || numbers.k != k)
        status =
            fpo_fail(error, FPO_ERR_SHAPE, "%s %.200s: %lld x %lld numbers, but the operand is %lld x %lld", option,
                     argument, (long long)numbers.rows, (long long)numbers.k, (long long)rows, (long long)k);
    else if ((values = fpo_vector_allocate(vector, bytes)) == NULL)
        status =
            fpo_fail(error, FPO_ERR_MEMORY, "out of memory for %lld x %lld numbers", (long long)rows, (long long)k);
    else
        memcpy(values, numbers.values, bytes);
    operand->source = values;
    operand->source_dtype = numbers.dtype;
    fpo_tensor_numbers_free(&numbers);
    return status;
}

fpo_status fpo_take_sources(const char *const arguments[2], fpo_vector *vector, fpo_error *error)
{
    fpo_gemm_problem *p = &vector->problem;
    fpo_status status = take_source("--source-a", arguments[0], vector, p->m, &p->a, error);
    return status == FPO_OK ? take_source("--source-b", arguments[1], vector, p->n, &p->b, error) : status;
}

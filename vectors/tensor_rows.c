/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensors as matrices of floats. */
#include "checkpoint.h"
#include "text.h"
#include "widen.h"

#include <stdlib.h>

fpo_status fpo_tensor_rows(const fpo_tensor *tensor, int64_t *rows, int64_t *k, float **values, fpo_error *error)
{
    *values = NULL;
    fpo_format format = fpo_dtype_format(tensor->dtype);
    if (format != FPO_F32 && format != FPO_F16 && format != FPO_BF16)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "tensor %s is %s: only F32, F16 and BF16 are taken as numbers (convert it first)",
                        fpo_shown(tensor->name).text, fpo_dtype_name(tensor->dtype));
    if (tensor->elements == 0)
        return fpo_fail(error, FPO_ERR_SHAPE, "tensor %s has no elements", fpo_shown(tensor->name).text);
    *k = tensor->rank ? tensor->shape[tensor->rank - 1] : 1;
    *rows = tensor->elements / *k;
    /* No overflow: the bytes are mapped, so they are fewer than 2^47. */
    float *to = malloc((size_t)tensor->elements * sizeof(float));
    if (!to)
        return fpo_fail(error, FPO_ERR_MEMORY, "tensor %s: out of memory for %lld floats", fpo_shown(tensor->name).text,
                        (long long)tensor->elements);
    fpo_widen(format, tensor->data, tensor->elements, to);
    *values = to;
    return FPO_OK;
}

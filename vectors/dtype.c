/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The dtypes of safetensors and their sizes. */
#include "dtype.h"

#include <string.h>

typedef struct dtype_row {
    const char *name;
    int bits;
    fpo_format format;
} dtype_row;

static const dtype_row rows[FPO_DTYPE_COUNT] = {
#define FPO_DTYPE(ID, bits, format) {#ID, bits, FPO_##format},
#include "dtypes.inc"
#undef FPO_DTYPE
};

const char *fpo_dtype_name(fpo_dtype dtype)
{
    return (unsigned)dtype < FPO_DTYPE_COUNT ? rows[dtype].name : "?";
}

fpo_dtype fpo_dtype_by_name(const char *name)
{
    for (int i = 0; i < FPO_DTYPE_COUNT; i++)
        if (strcmp(name, rows[i].name) == 0)
            return (fpo_dtype)i;
    return FPO_DTYPE_COUNT;
}

int fpo_dtype_bits(fpo_dtype dtype)
{
    return (unsigned)dtype < FPO_DTYPE_COUNT ? rows[dtype].bits : 0;
}

fpo_format fpo_dtype_format(fpo_dtype dtype)
{
    return (unsigned)dtype < FPO_DTYPE_COUNT ? rows[dtype].format : FPO_FORMAT_NONE;
}

bool fpo_shape_size(fpo_dtype dtype, size_t rank, const int64_t *shape, int64_t *elements, int64_t *bytes)
{
    int64_t count = 1, bits;
    for (size_t i = 0; i < rank; i++)
        if (shape[i] < 0 || __builtin_mul_overflow(count, shape[i], &count))
            return false;
    if (__builtin_mul_overflow(count, (int64_t)fpo_dtype_bits(dtype), &bits) || bits % 8 != 0)
        return false;
    *elements = count;
    *bytes = bits / 8;
    return true;
}

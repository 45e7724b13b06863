/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The dtypes of safetensors and their sizes. */
#ifndef FP4ORACLE_VECTORS_DTYPE_H
#define FP4ORACLE_VECTORS_DTYPE_H

#include <fp4oracle/format.h>

typedef enum fpo_dtype {
#define FPO_DTYPE(ID, bits, format) FPO_DTYPE_##ID,
#include "dtypes.inc"
#undef FPO_DTYPE
    FPO_DTYPE_COUNT
} fpo_dtype;

const char *fpo_dtype_name(fpo_dtype dtype);   /* "F8_E4M3"; never NULL */
fpo_dtype fpo_dtype_by_name(const char *name); /* FPO_DTYPE_COUNT if there is none */
int fpo_dtype_bits(fpo_dtype dtype);           /* of one element */
fpo_format fpo_dtype_format(fpo_dtype dtype);  /* FPO_FORMAT_NONE for integers and what the library does not have */

/* Number of elements and of bytes of a shape. False where either does not fit 63 bits, a dimension is negative, or the
 * elements of a sub-byte type do not fill whole bytes (safetensors has no such tensors). */
bool fpo_shape_size(fpo_dtype dtype, size_t rank, const int64_t *shape, int64_t *elements, int64_t *bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Stored numbers as floats: tensors have millions. */
#ifndef FP4ORACLE_VECTORS_WIDEN_H
#define FP4ORACLE_VECTORS_WIDEN_H

#include <fp4oracle/format.h>

/* Exact. `format` is F32, F16, BF16 or of at most a byte; `from` has `count` codes as fpo_load_code reads them. A NaN
 * is the one that fpo_decode_double gives, but for F32, which is copied. */
void fpo_widen(fpo_format format, const void *from, int64_t count, float *to);

#endif

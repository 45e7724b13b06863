/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What the tests of a recipe's loops have in common: the tables of instruction sets, and numbers to put into them. */
#ifndef FP4ORACLE_TESTS_LOOPS_H
#define FP4ORACLE_TESTS_LOOPS_H

#include "quantizer.h"

#include <math.h>

#ifdef __x86_64__
enum { TABLES = 3 };
#else
enum { TABLES = 1 };
#endif

extern const fpo_quantize_kernels *const tables[TABLES];
extern const fpo_isa isas[TABLES];

/* Whether this processor has the instructions of a table. */
bool runs(int table);

/* By fpo_function. */
extern const struct fpo_function_name {
    const char *name;
    int arity;
} functions[FPO_FN_COUNT];

/* That are rounded to. */
enum { FORMATS = 9 };
extern const fpo_format formats[FORMATS];

/* Under the sanitizers memory is looked at, for which fewer numbers do; that all bits are equal is seen without them.
 */
#ifdef __SANITIZE_ADDRESS__
enum { ROUNDS = 6, RECIPE_ROWS = 7, RECIPE_DTYPES = 1 };
#else
enum { ROUNDS = 40, RECIPE_ROWS = 37, RECIPE_DTYPES = 3 };
#endif

/* Halfway cases and neighbours of many formats, signed zeros, subnormals, infinities, quiet NaN, and noise. */
float value(uint64_t index);

static inline bool same(float a, float b)
{
    return fpo_bits_of(a) == fpo_bits_of(b) || (isnan(a) && isnan(b));
}

#endif

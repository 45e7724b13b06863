/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Formats and rounding a second time, slowly and by another way: values come from the definition in the standards' text
 * with MPFR, and a number is rounded by finding its two neighbours on that grid. Shares nothing with emu/ but enums. */
#ifndef FP4ORACLE_TESTS_FORMAT_ORACLE_H
#define FP4ORACLE_TESTS_FORMAT_ORACLE_H

#include <fp4oracle/cast.h>
#include <mpfr.h>

/* Enough for exact sums and differences of any two doubles or grid values. */
enum { FPO_ORACLE_BITS = 2400 };

typedef struct fpo_oracle {
    fpo_format format;
    const char *name;
    int sign_bits, exponent_bits, mantissa_bits, bias;
    uint32_t last;     /* magnitude code of the largest finite number */
    uint32_t infinity; /* magnitude code, 0 if there is none */
    uint32_t nan;      /* canonical NaN (mantissa all ones), 0 if there is none */
    mpfr_t low, high, x;
} fpo_oracle;

void fpo_oracle_init(fpo_oracle *oracle, fpo_format format);
void fpo_oracle_clear(fpo_oracle *oracle);

/* The number of a magnitude code, from the definition. Codes beyond `last` continue the grid. */
void fpo_oracle_number(const fpo_oracle *oracle, mpfr_t out, uint32_t magnitude);
/* What `code` (sign included) is. */
fpo_class fpo_oracle_class(const fpo_oracle *oracle, uint32_t code);

/* Where a finite magnitude lies. */
typedef struct fpo_bracket {
    bool zero;
    bool beyond;    /* at or above the second number after the largest */
    bool under;     /* below the smallest number of a format without zero */
    uint32_t below; /* code of the largest grid number that is not greater, last + 1 included */
    int half;       /* the distance to it against half a step: -1, 0, 1 */
    bool exact;
    uint64_t fraction; /* floor(2^32 * distance / step) */
} fpo_bracket;

/* Of |x|, x finite. */
fpo_bracket fpo_oracle_bracket(fpo_oracle *oracle, mpfr_srcptr x);
fpo_bracket fpo_oracle_bracket_double(fpo_oracle *oracle, double x);

/* The code by the policy's text, given where a number lies. */
uint32_t fpo_oracle_round(const fpo_oracle *oracle, fpo_bracket bracket, bool negative, const fpo_cast *policy,
                          uint32_t random_bits);
/* The same for any double; `bracket` is of x if it is finite. */
uint32_t fpo_oracle_encode(const fpo_oracle *oracle, double x, fpo_bracket bracket, const fpo_cast *policy,
                           uint32_t random_bits);

#endif

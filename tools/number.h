/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Numbers as people read them: exact decimals, powers of two, binary fields of a code. MPFR does the arithmetic, at a
 * precision in which nothing here is ever rounded. */
#ifndef FP4ORACLE_TOOLS_NUMBER_H
#define FP4ORACLE_TOOLS_NUMBER_H

#include <fp4oracle/format.h>
#include <mpfr.h>

/* Bits that hold any sum of products of two f32 operands, four f32 scales, alpha, beta and a bias exactly: exponents
 * lie between -149*7 and 128*7, and a sum of 2^63 terms carries 63 bits more. */
enum { FPO_WIDE_BITS = 4096 };

enum { FPO_NUMBER_SIZE = 96 };

/* A text in a struct of its own, so that it can stand in the arguments of printf. */
typedef struct fpo_number_text {
    char text[FPO_NUMBER_SIZE];
} fpo_number_text;

/* "1.25", "-0", "inf", "NaN". Every digit where there are no more than 30; beyond that "1.1754943508222875...e-38". */
fpo_number_text fpo_decimal_text(mpfr_srcptr x);
/* The same, but "3*2^-128" where that is much shorter. */
fpo_number_text fpo_mpfr_text(mpfr_srcptr x);
fpo_number_text fpo_value_text(fpo_value value);
fpo_number_text fpo_code_text(fpo_format format, uint32_t code); /* the value of a code */
/* "5 * 2^-2": an odd integer times a power of two, which is what the number is. */
fpo_number_text fpo_dyadic_text(mpfr_srcptr x);
/* "0x3A", as many digits as the format has. */
fpo_number_text fpo_hex_text(fpo_format format, uint32_t code);
/* "0 0111 010": the bits of sign, exponent and mantissa. */
fpo_number_text fpo_fields_text(fpo_format format, uint32_t code);

/* x has FPO_WIDE_BITS bits or enough for the value. */
void fpo_value_to_mpfr(mpfr_ptr x, fpo_value value);
/* The exact value; where x has more than 64 significant bits, the upper 64 and `sticky`. */
fpo_value fpo_value_from_mpfr(mpfr_srcptr x);

#endif

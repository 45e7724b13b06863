/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Wide integers with a binary exponent: what exact sums and exact epilogues are made of. Nothing here rounds. */
#ifndef FP4ORACLE_EMU_WIDE_H
#define FP4ORACLE_EMU_WIDE_H

#include <fp4oracle/format.h>

__extension__ typedef unsigned __int128 fpo_u128;

/* Limbs of the largest number that an epilogue can make. The accumulator spans 2^-596 (four f32 factors of 2^-149) to
 * 2^575 (four of 2^128, times K < 2^63), and beta*C and the bias lie within. Twelve steps multiply by at most 36 f32
 * numbers (c factors in the coefficient, used 12 - c times), each of which widens the range by 149 + 128 bits; sums add
 * a bit each. 1171 + 36*277 + 12 bits are 175 limbs. */
enum { FPO_WIDE_LIMBS = 192 };

/* (-1)^negative * limbs * 2^exponent, limbs[0] lowest. Zero has length 0; otherwise the lowest and the highest limb are
 * not 0. */
typedef struct fpo_wide {
    int32_t exponent;
    int32_t length;
    bool negative;
    uint64_t limbs[FPO_WIDE_LIMBS];
} fpo_wide;

void fpo_wide_set(fpo_wide *x, bool negative, fpo_u128 magnitude, int32_t exponent);
/* `value` is FPO_ZERO or FPO_FINITE, and not sticky. */
void fpo_wide_set_value(fpo_wide *x, fpo_value value);
void fpo_wide_copy(fpo_wide *to, const fpo_wide *from);
/* x *= (-1)^negative * significand * 2^exponent. */
void fpo_wide_scale(fpo_wide *x, bool negative, uint32_t significand, int32_t exponent);
/* x *= y and x += y; x and y differ. */
void fpo_wide_multiply(fpo_wide *x, const fpo_wide *y);
void fpo_wide_add(fpo_wide *x, const fpo_wide *y);
/* The value with its 64 leading bits and the rest as sticky. Zero is +0. */
fpo_value fpo_wide_value(const fpo_wide *x);

/* A fixed-point accumulator as wide as the terms need (Kulisch): positive and negative terms are kept apart, so that
 * adding never borrows and carries rarely travel. */
enum { FPO_SUM_LIMBS = 22 };

typedef struct fpo_sum {
    int32_t exponent;                 /* of bit 0 */
    int32_t length;                   /* limbs used */
    uint64_t limbs[2][FPO_SUM_LIMBS]; /* [negative] */
} fpo_sum;

/* Terms are multiples of 2^lowest and their sum stays below 2^highest. false if that is wider than FPO_SUM_LIMBS. */
bool fpo_sum_open(fpo_sum *sum, int32_t lowest, int32_t highest);
void fpo_sum_reset(fpo_sum *sum);
void fpo_sum_add(fpo_sum *sum, bool negative, fpo_u128 magnitude, int32_t exponent);
void fpo_sum_total(const fpo_sum *sum, fpo_wide *total);

#endif

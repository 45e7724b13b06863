/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The reference twin: fpo_gemm again, in the order of the specification and slowly. It shares no arithmetic with the
 * engine: numbers are digits of their own kind, formats are decoded from a table of its own, and a result is rounded by
 * comparing it with the two numbers of the format around it. */
#ifndef FP4ORACLE_EMU_TWIN_H
#define FP4ORACLE_EMU_TWIN_H

#include <fp4oracle/gemm.h>

/* Digits of the longest number: see FPO_WIDE_LIMBS in wide.h for the range, 12,288 bits, and room for a product. */
enum { FPO_TWIN_DIGITS = 800 };

/* sign * sum of digit[i] * 65536^(low + i); sign 0 is zero. */
typedef struct fpo_twin_number {
    int sign, low, count;
    uint16_t digit[FPO_TWIN_DIGITS];
} fpo_twin_number;

void fpo_twin_integer(fpo_twin_number *x, int64_t integer, int power_of_two);
void fpo_twin_sum(fpo_twin_number *sum, const fpo_twin_number *x, const fpo_twin_number *y);
void fpo_twin_product(fpo_twin_number *product, const fpo_twin_number *x, const fpo_twin_number *y);
int fpo_twin_compare(const fpo_twin_number *x, const fpo_twin_number *y); /* -1, 0, 1 */
/* The power of two of the leading digit: 2^p <= |x| < 2^(p+1). x is not zero. */
int fpo_twin_leading_power(const fpo_twin_number *x);
/* x without what lies below 2^power; and the digit 2^power of |x|. */
void fpo_twin_truncate(fpo_twin_number *kept, const fpo_twin_number *x, int power);
bool fpo_twin_bit(const fpo_twin_number *x, int power);

/* A number, an infinity or NaN; a zero has a sign too. */
typedef struct fpo_twin_value {
    enum { FPO_TWIN_NUMBER, FPO_TWIN_INFINITY, FPO_TWIN_NAN } kind;
    bool negative;
    fpo_twin_number number; /* its sign agrees with `negative` unless it is zero */
} fpo_twin_value;

void fpo_twin_nan(fpo_twin_value *x);
void fpo_twin_zero(fpo_twin_value *x);
void fpo_twin_float(fpo_twin_value *x, float value);
bool fpo_twin_is_zero(const fpo_twin_value *x);
/* IEEE 754 without rounding. The result may be one of the arguments. */
void fpo_twin_multiply(fpo_twin_value *result, const fpo_twin_value *x, const fpo_twin_value *y);
void fpo_twin_add(fpo_twin_value *result, const fpo_twin_value *x, const fpo_twin_value *y);

/* What a format's code stands for. false if the twin does not know the format. */
bool fpo_twin_decode(fpo_format format, uint32_t code, fpo_twin_value *value);
int fpo_twin_smallest_exponent(fpo_format format); /* of the normal numbers */
uint32_t fpo_twin_encode(fpo_format format, const fpo_twin_value *value, const fpo_cast *cast);
/* value = RN(value) in f32, f16, bf16, ...: overflow to infinity. */
void fpo_twin_round(fpo_format format, fpo_twin_value *value);

/* An operand as the kernel reads it: codes by place. */
typedef struct fpo_twin_operand {
    const fpo_operand_spec *spec;
    int64_t rows, k;
    const uint8_t *codes, *scales; /* as they are stored */
    int64_t codes_size, scales_size;
    bool plain_codes, plain_scales;  /* stored as they are read: the caller's canonical bytes will do */
    uint8_t *own_codes, *own_scales; /* NULL where the caller's bytes are as stored */
    fpo_twin_value tensor_scale;
} fpo_twin_operand;

fpo_status fpo_twin_open(const fpo_operand_spec *spec, const fpo_operand *operand, int64_t rows, int64_t k,
                         const char *name, fpo_twin_operand *opened, fpo_error *error);
void fpo_twin_close(fpo_twin_operand *operand);
uint32_t fpo_twin_element(const fpo_twin_operand *operand, int64_t row, int64_t k);
/* `column`: number of the K block. */
uint32_t fpo_twin_scale(const fpo_twin_operand *operand, int64_t row, int64_t column);
/* Whether there are scales that belong to the accumulation; the value for element k of a row, 1 where there are none.
 */
bool fpo_twin_has_block_scale(const fpo_twin_operand *operand);
void fpo_twin_block_scale(const fpo_twin_operand *operand, int64_t row, int64_t k, fpo_twin_value *scale);

/* Everything that one element of D depends on. */
typedef struct fpo_twin_gemm {
    const fpo_gemm_spec *spec;
    const fpo_gemm_problem *problem;
    fpo_twin_operand a, b;
} fpo_twin_gemm;

/* The accumulator of D[m,n]: exact, or modelled (an f32 number then). */
fpo_status fpo_twin_accumulate(const fpo_twin_gemm *gemm, int64_t m, int64_t n, fpo_twin_value *acc, fpo_error *error);
/* One instruction on elements k0 .. k0 + step.k - 1 (zeros beyond K): acc = instruction(acc). */
void fpo_twin_step(const fpo_twin_gemm *gemm, int64_t m, int64_t n, int64_t k0, fpo_twin_value *acc);
/* The epilogue's program: acc becomes y. */
void fpo_twin_epilogue(const fpo_twin_gemm *gemm, int64_t m, int64_t n, fpo_twin_value *y);

#endif

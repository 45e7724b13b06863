/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Inside the tensor-core step: operands as the multiplier sees them, the fused sum of terms, and its one rounding. */
#ifndef FP4ORACLE_EMU_STEP_H
#define FP4ORACLE_EMU_STEP_H

#include "engine.h"

enum {
    FPO_STEP_MAX_K = 128,                 /* elements that one instruction may take */
    FPO_EXPONENT_NAN = INT16_MAX,         /* stands for the exponent of a NaN operand, ... */
    FPO_EXPONENT_INFINITY = INT16_MAX - 1 /* ... and of an infinite one; its significand is +1 or -1 */
};

/* A number as the multiplier sees it: significand * 2^(exponent - fraction), where `fraction` (the mantissa bits of its
 * format) is common to all numbers of an operand. The significand is signed and has at most fraction + 1 bits; a
 * subnormal keeps the smallest exponent of its format. */
typedef struct fpo_digits {
    int16_t significand;
    int16_t exponent;
} fpo_digits;

/* The format that the multiplier works in for elements of `element`. */
fpo_format fpo_step_operand_format(const fpo_step *step, fpo_format element);
int fpo_step_fraction(fpo_format format);
/* False: this step cannot take such elements: more bits than the multiplier has, or a group's sum has room for. */
bool fpo_step_takes_element(const fpo_step *step, fpo_format element);

/* One element code as the step's operand. */
fpo_digits fpo_step_decode(const fpo_step *step, fpo_format element, uint32_t code);
fpo_digits fpo_step_decode_scale(const fpo_step *step, fpo_format scale, uint32_t code);
/* Of `count` codes as fpo_load_code finds them, from number `first` on. */
void fpo_step_decode_codes(const fpo_step *step, fpo_format element, const void *codes, int64_t first, int64_t count,
                           fpo_digits *digits);
void fpo_step_decode_scales(const fpo_step *step, fpo_format scale, const void *codes, int64_t count,
                            fpo_digits *digits);
/* element * scale, rounded to nearest in the step's operand format: the code in that format. `scale` is
 * FPO_FORMAT_NONE where there is none. */
uint32_t fpo_step_dequantise(const fpo_step *step, fpo_format element, uint32_t code, fpo_format scale,
                             uint32_t scale_code);

/* One side of an instruction: step->k digits, which are elements first_k ... of their row. */
typedef struct fpo_step_side {
    const fpo_digits *elements;
    const fpo_digits *scales; /* of the row, one for each block_k elements; NULL: no scales */
    int64_t first_k;
    int block_k;
    int fraction;       /* of the elements */
    int scale_fraction; /* 0 without scales */
} fpo_step_side;

/* The instruction: all chained sums, and C where it joins. c and the result are bits of the accumulator format. */
uint32_t fpo_step_chain(const fpo_step *step, const fpo_step_side *a, const fpo_step_side *b, uint32_t c);

/* sum * 2^unit as bits of the accumulator: the one rounding of a step. |sum| < 2^62. */
uint32_t fpo_step_round(const fpo_step *step, int64_t sum, int unit);

/* x + y in the accumulator's format, to nearest, NaN canonical: a promotion, or C joining late. */
uint32_t fpo_step_add(const fpo_step *step, uint32_t x, uint32_t y);

/* Bits to value and back for a f32 or f16 accumulator, which the float holds exactly. */
float fpo_accumulator_value(const fpo_step *step, uint32_t bits);

static inline float fpo_float_of_bits(uint32_t bits)
{
    union {
        uint32_t u;
        float f;
    } pun = {.u = bits};
    return pun.f;
}

static inline uint32_t fpo_bits_of_float(float value)
{
    union {
        float f;
        uint32_t u;
    } pun = {.f = value};
    return pun.u;
}

/* Infinite or NaN. */
static inline bool fpo_accumulator_overflowed(const fpo_step *step, uint32_t bits)
{
    uint32_t infinity = step->accumulator == FPO_F32 ? 0x7F800000u : 0x7C00u;
    return (bits & infinity) == infinity;
}

/* NVIDIA's arithmetic has one NaN (kernels.md 5.2 rule 5). */
static inline float fpo_canonical(float value)
{
    return value != value ? fpo_float_of_bits(0x7FFFFFFFu) : value;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Element and scale codes as the multiplier of a step sees them. */
#include "step.h"

#include <math.h>
#include <pthread.h>

fpo_format fpo_step_operand_format(const fpo_step *step, fpo_format element)
{
    return step->operand_format != FPO_FORMAT_NONE ? step->operand_format : element;
}

int fpo_step_fraction(fpo_format format)
{
    return format == FPO_FORMAT_NONE ? 0 : fpo_format_describe(format)->mantissa_bits;
}

bool fpo_step_takes_element(const fpo_step *step, fpo_format element)
{
    const fpo_format_info *info = fpo_format_describe(fpo_step_operand_format(step, element));
    if (info == NULL || info->bits == 0 || info->mantissa_bits > 10 || info->specials == FPO_SPECIALS_UE8M0)
        return false;
    /* The exact sum of a group, and the aligned sum of groups, have 62 bits: 7 for the number of products, 8 for the
     * scales' significands, 5 for their value above their exponents and the number of groups. */
    if (step->group > 1 && (2 * (info->max_exponent + 1 - info->quantum) + 7 + 8 > 62 ||
                            step->fraction_bits + 2 * (info->max_exponent + 1) + 7 + 5 > 62))
        return false;
    /* A conversion is exact, or the cut of an f32; a dequantising kernel rounds. */
    const fpo_format_info *from = fpo_format_describe(element);
    return step->dequantised || element == FPO_F32 ||
           (from->mantissa_bits <= info->mantissa_bits && from->quantum >= info->quantum &&
            from->max_exponent <= info->max_exponent);
}

enum { SMALL_CODES = 256, EXPONENT_ZERO = INT16_MIN }; /* stands for the exponent of a zero, which the step decides */

/* The digits of a code of `format` in units of the last place of `info`, which has at most 11 significant bits. */
static fpo_digits digits_in(const fpo_format_info *info, fpo_format format, uint32_t code)
{
    fpo_value value = fpo_decode(format, code);
    switch (value.kind) {
    case FPO_NAN: return (fpo_digits){0, FPO_EXPONENT_NAN};
    case FPO_INFINITE: return (fpo_digits){value.negative ? -1 : 1, FPO_EXPONENT_INFINITY};
    case FPO_ZERO: return (fpo_digits){0, EXPONENT_ZERO};
    case FPO_FINITE: break;
    }
    int64_t significand = (int64_t)value.significand;
    int exponent = value.exponent + info->mantissa_bits;
    while (significand >= (int64_t)2 << info->mantissa_bits) {
        significand >>= 1; /* trailing zeros: fpo_decode need not normalise */
        exponent++;
    }
    while (significand < (int64_t)1 << info->mantissa_bits && exponent > info->min_exponent) {
        significand <<= 1;
        exponent--;
    }
    return (fpo_digits){(int16_t)(value.negative ? -significand : significand), (int16_t)exponent};
}

static fpo_digits small_digits[FPO_FORMAT_COUNT][SMALL_CODES];
static pthread_once_t small_digits_filled = PTHREAD_ONCE_INIT;

static bool is_small(const fpo_format_info *info)
{
    return info->bits > 0 && info->bits <= 8;
}

static void fill_small_digits(void)
{
    for (int format = 0; format < FPO_FORMAT_COUNT; format++) {
        const fpo_format_info *info = fpo_format_describe((fpo_format)format);
        for (uint32_t code = 0; is_small(info) && code < SMALL_CODES; code++)
            small_digits[format][code] = digits_in(info, (fpo_format)format, code);
    }
}

/* The digits of all codes of a format of a byte, in units of its own last place; NULL for others. */
static const fpo_digits *small_table(const fpo_format_info *info, fpo_format format)
{
    if (!is_small(info) || info != fpo_format_describe(format))
        return NULL;
    pthread_once(&small_digits_filled, fill_small_digits);
    return small_digits[format];
}

static int16_t zero_exponent(const fpo_step *step, const fpo_format_info *info)
{
    return (int16_t)(step->zero_exponent != 0 ? step->zero_exponent : info->min_exponent);
}

static fpo_digits digits_of_code(const fpo_step *step, const fpo_format_info *info, fpo_format format, uint32_t code)
{
    fpo_digits digits = digits_in(info, format, code);
    if (digits.exponent == EXPONENT_ZERO)
        digits.exponent = zero_exponent(step, info);
    return digits;
}

/* The bits of f32 that tf32 or bf16 keeps: cut, not rounded. */
static uint32_t cut_f32(fpo_format to, uint32_t code)
{
    return code >> (fpo_format_describe(FPO_F32)->mantissa_bits - fpo_format_describe(to)->mantissa_bits);
}

fpo_digits fpo_step_decode(const fpo_step *step, fpo_format element, uint32_t code)
{
    fpo_format to = fpo_step_operand_format(step, element);
    const fpo_format_info *info = fpo_format_describe(to);
    if (element == FPO_F32 && to != FPO_F32)
        return digits_of_code(step, info, to, cut_f32(to, code));
    /* Exact: the digits are those of the wider format, which decides what is subnormal. */
    return digits_of_code(step, info, element, code);
}

fpo_digits fpo_step_decode_scale(const fpo_step *step, fpo_format scale, uint32_t code)
{
    const fpo_format_info *info = fpo_format_describe(scale);
    if (scale != FPO_BF16)
        return digits_of_code(step, info, scale, code);
    /* No instruction takes such scales: they are ue8m0 scales of which an edit made something that ue8m0 has not, an
     * infinity or zero. 2^-127 is no subnormal among them. */
    fpo_format_info powers = *info;
    powers.min_exponent = fpo_format_describe(FPO_UE8M0)->min_exponent;
    return digits_of_code(step, &powers, scale, code);
}

/* Models that leave the fast path decode every operand of every step: bytes are looked up. */
static void decode_bytes(const fpo_step *step, const fpo_format_info *info, const fpo_digits *table, const void *codes,
                         int64_t count, fpo_digits *digits)
{
    const uint8_t *bytes = codes;
    int16_t zero = zero_exponent(step, info);
    for (int64_t i = 0; i < count; i++) {
        digits[i] = table[bytes[i]];
        if (digits[i].exponent == EXPONENT_ZERO)
            digits[i].exponent = zero;
    }
}

void fpo_step_decode_codes(const fpo_step *step, fpo_format element, const void *codes, int64_t first, int64_t count,
                           fpo_digits *digits)
{
    const fpo_format_info *info = fpo_format_describe(fpo_step_operand_format(step, element));
    const fpo_digits *table = small_table(info, element);
    if (table != NULL)
        decode_bytes(step, info, table, (const uint8_t *)codes + first, count, digits);
    for (int64_t i = 0; table == NULL && i < count; i++)
        digits[i] = fpo_step_decode(step, element, fpo_load_code(element, codes, (size_t)(first + i)));
}

void fpo_step_decode_scales(const fpo_step *step, fpo_format scale, const void *codes, int64_t count,
                            fpo_digits *digits)
{
    const fpo_format_info *info = fpo_format_describe(scale);
    const fpo_digits *table = small_table(info, scale);
    if (table != NULL)
        decode_bytes(step, info, table, codes, count, digits);
    for (int64_t i = 0; table == NULL && i < count; i++)
        digits[i] = fpo_step_decode_scale(step, scale, fpo_load_code(scale, codes, (size_t)i));
}

uint32_t fpo_step_dequantise(const fpo_step *step, fpo_format element, uint32_t code, fpo_format scale,
                             uint32_t scale_code)
{
    if (step->operand_format == FPO_F32) { /* a double holds the product of any two, so that it is rounded once */
        double value = fpo_decode_double(element, code);
        value *= scale != FPO_FORMAT_NONE ? fpo_decode_double(scale, scale_code) : 1;
        if (!isnan(value))
            return fpo_bits_of_float((float)value);
    }
    fpo_value value = fpo_decode(element, code);
    if (scale != FPO_FORMAT_NONE)
        value = fpo_value_multiply(value, fpo_decode(scale, scale_code));
    return fpo_encode(step->operand_format, value, fpo_cast_describe(FPO_CAST_IEEE), 0);
}

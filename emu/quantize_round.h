/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Rounding an f32 to a small format in integer operations that a compiler can do for many at once. It repeats what
 * fpo_encode says of the policies that recipes use; tests/test_quantize_kernels.c compares the two. */
#ifndef FP4ORACLE_EMU_QUANTIZE_ROUND_H
#define FP4ORACLE_EMU_QUANTIZE_ROUND_H

#include <fp4oracle/cast.h>
#include <string.h>

static inline uint32_t fpo_bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float fpo_float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef struct fpo_round {
    int32_t mantissa_bits;
    int32_t least_field; /* f32 exponent field of the smallest normal number, or of ue8m0's 2^-126 */
    uint32_t largest, overflow, infinity, nan; /* magnitudes */
    uint32_t true_infinity, true_nan;          /* the magnitudes that are no numbers; UINT32_MAX where there is none */
    uint32_t half_minus,
        odd; /* nearest: added to half a place; even: half - 1 + lowest bit; away: half; down: half - 1 */
    uint32_t sign_mask;
    int32_t sign_shift; /* of the f32's sign bit, to the right */
    uint32_t zero_sign; /* all ones if a zero keeps its sign */
    bool ue8m0;
    bool even;        /* to nearest even: fpo_round_even_code and fpo_round_even_value will do */
    int32_t places;   /* of the f32's significand that are rounded away from a normal number */
    uint32_t normal;  /* the f32's bits of the smallest normal number; 0: the format's subnormals are the f32's */
    float magic;      /* added to a smaller number, it leaves whole quanta in the lowest bits */
    uint32_t largest_value, overflow_value, infinity_value, nan_value; /* f32 bits */
    uint32_t inexact; /* ue8m0: added to the mantissa, 0 cuts, 0x7FFFFF goes up */
    float quantum;
} fpo_round;

/* The f32's bits of a code; of NaN those that f32 arithmetic has here. */
static inline uint32_t fpo_round_bits(fpo_format format, uint32_t code)
{
    float x = (float)fpo_decode_double(format, code);
    return x == x ? fpo_bits_of(x) : 0x7FFFFFFFu;
}

/* False for a policy or format that the loops do not have. */
static inline bool fpo_round_init(fpo_round *r, fpo_format format, const fpo_cast *cast)
{
    const fpo_format_info *f = fpo_format_describe(format);
    *r = (fpo_round){.mantissa_bits = f->mantissa_bits, .largest = f->max_finite};
    uint32_t beyond = f->specials == FPO_SPECIALS_NONE ? f->max_finite : f->max_finite + 1;
    r->overflow = cast->overflow == FPO_SATURATE ? f->max_finite : beyond;
    r->infinity = cast->infinity == FPO_SATURATE ? f->max_finite : beyond;
    uint32_t no_nan = cast->no_nan == FPO_NO_NAN_ZERO ? 0 : f->max_finite;
    r->nan = f->specials == FPO_SPECIALS_NONE ? no_nan : (1u << (f->exponent_bits + f->mantissa_bits)) - 1;
    r->true_infinity = f->specials == FPO_SPECIALS_IEEE ? f->max_finite + 1 : UINT32_MAX;
    r->true_nan = f->specials == FPO_SPECIALS_NONE ? UINT32_MAX : r->nan;
    bool one_nan = cast->no_nan == FPO_NO_NAN_LARGEST || cast->no_nan == FPO_NO_NAN_ZERO;
    if (cast->nan != FPO_NAN_CANONICAL || !one_nan || f->mantissa_bits > 10)
        return false;
    if (f->specials == FPO_SPECIALS_UE8M0) {
        r->ue8m0 = true;
        r->inexact = cast->rounding == FPO_AWAY_FROM_ZERO ? 0x7FFFFF : 0;
        return (cast->rounding == FPO_AWAY_FROM_ZERO || cast->rounding == FPO_TOWARD_ZERO) &&
               cast->negative == FPO_NEGATIVE_ABSOLUTE && cast->no_zero == FPO_NO_ZERO_SMALLEST;
    }
    r->least_field = f->min_exponent + 127;
    r->half_minus = cast->rounding != FPO_NEAREST_AWAY;
    r->odd = cast->rounding == FPO_NEAREST_EVEN;
    r->zero_sign = cast->drop_negative_zero ? 0 : UINT32_MAX;
    r->quantum =
        fpo_float_of(f->quantum + 127 > 0 ? (uint32_t)(f->quantum + 127) << 23 : 0x400000u >> -(f->quantum + 127));
    bool bit7 = format == FPO_UE4M3 && cast->negative == FPO_NEGATIVE_KEEP_BIT7;
    r->sign_mask = bit7 ? 0x80 : f->sign_bits != 0 ? 1u << (f->bits - 1) : 0;
    r->sign_shift = bit7 ? 24 : 32 - f->bits;
    r->even = cast->rounding == FPO_NEAREST_EVEN;
    r->places = 23 - f->mantissa_bits;
    r->normal = r->least_field > 1 ? (uint32_t)r->least_field << 23 : 0;
    r->magic = r->quantum * 0x1p23f;
    return (cast->rounding == FPO_NEAREST_EVEN || cast->rounding == FPO_NEAREST_AWAY ||
            cast->rounding == FPO_NEAREST_TOWARD_ZERO) &&
           (f->sign_bits != 0 || bit7);
}

/* Also what fpo_round_even_value needs, which takes as long as rounding a hundred numbers. */
static inline bool fpo_round_init_values(fpo_round *r, fpo_format format, const fpo_cast *cast)
{
    if (!fpo_round_init(r, format, cast))
        return false;
    r->largest_value = fpo_round_bits(format, r->largest);
    r->overflow_value = fpo_round_bits(format, r->overflow);
    r->infinity_value = fpo_round_bits(format, r->infinity);
    r->nan_value = fpo_round_bits(format, r->nan);
    return true;
}

/* ue8m0 */
static inline uint32_t fpo_round_power(const fpo_round *r, float x)
{
    uint32_t magnitude = fpo_bits_of(x) & 0x7FFFFFFFu;
    /* Below 2^-126 the field is 0 for 2^-127 and what lies below it. */
    uint32_t up = magnitude >> 23 != 0                       ? magnitude + r->inexact
                  : magnitude > 0x400000u && r->inexact != 0 ? 1u << 23
                                                             : 0;
    uint32_t code = up >> 23 > 254 ? r->overflow : up >> 23;
    code = magnitude == 0x7F800000u ? r->infinity : code;
    return magnitude > 0x7F800000u ? 255 : code;
}

/* The usual case, to nearest even: a normal number's significand in integers, a smaller one by the addition of a float
 * whose last place is the quantum. */
static inline uint32_t fpo_round_even_code(const fpo_round *r, float x)
{
    uint32_t bits = fpo_bits_of(x), magnitude = bits & 0x7FFFFFFFu;
    uint32_t up = (1u << (r->places - 1)) - 1 + (magnitude >> r->places & 1);
    uint32_t code = ((magnitude + up) >> r->places) - ((uint32_t)(r->least_field - 1) << r->mantissa_bits);
    uint32_t small = fpo_bits_of(fpo_float_of(magnitude) + r->magic) - fpo_bits_of(r->magic);
    code = magnitude < r->normal ? small : code;
    code = code > r->largest ? r->overflow : code;
    code = magnitude == 0x7F800000u ? r->infinity : code;
    uint32_t sign = (bits >> r->sign_shift) & r->sign_mask;
    sign &= code != 0 ? UINT32_MAX : r->zero_sign;
    return magnitude > 0x7F800000u ? r->nan : code | sign;
}

/* The same for a format that saturates and keeps the sign of zero. */
static inline uint32_t fpo_round_plain_code(const fpo_round *r, float x)
{
    uint32_t bits = fpo_bits_of(x), magnitude = bits & 0x7FFFFFFFu;
    uint32_t up = (1u << (r->places - 1)) - 1 + (magnitude >> r->places & 1);
    uint32_t code = ((magnitude + up) >> r->places) - ((uint32_t)(r->least_field - 1) << r->mantissa_bits);
    uint32_t small = fpo_bits_of(fpo_float_of(magnitude) + r->magic) - fpo_bits_of(r->magic);
    code = magnitude < r->normal ? small : code;
    code = code < r->largest ? code : r->largest;
    code |= (bits >> r->sign_shift) & r->sign_mask;
    return magnitude > 0x7F800000u ? r->nan : code;
}

static inline bool fpo_round_is_plain(const fpo_round *r)
{
    return r->even && r->overflow == r->largest && r->infinity == r->largest && r->zero_sign != 0;
}

/* The value that the code stands for. */
static inline float fpo_round_even_value(const fpo_round *r, float x)
{
    uint32_t bits = fpo_bits_of(x), magnitude = bits & 0x7FFFFFFFu;
    uint32_t up = (1u << (r->places - 1)) - 1 + (magnitude >> r->places & 1);
    uint32_t value = (magnitude + up) >> r->places << r->places;
    uint32_t small = fpo_bits_of(fpo_float_of(magnitude) + r->magic - r->magic);
    value = magnitude < r->normal ? small : value;
    value = value > r->largest_value ? r->overflow_value : value;
    value = magnitude == 0x7F800000u ? r->infinity_value : value;
    uint32_t sign = r->sign_mask != 0 ? bits & 0x80000000u : 0;
    sign &= value != 0 ? UINT32_MAX : r->zero_sign;
    return fpo_float_of(magnitude > 0x7F800000u ? r->nan_value : value | sign);
}

/* All others. */
static inline uint32_t fpo_round_code(const fpo_round *r, float x)
{
    uint32_t bits = fpo_bits_of(x), magnitude = bits & 0x7FFFFFFFu;
    int32_t field = (int32_t)(magnitude >> 23);
    uint32_t significand = (magnitude & 0x7FFFFFu) | (field != 0 ? 0x800000u : 0);
    field = field != 0 ? field : 1;
    int32_t base = field > r->least_field ? field : r->least_field;
    int32_t shift = 23 - r->mantissa_bits + base - field;
    shift = shift < 31 ? shift : 31;
    uint32_t half = 1u << (shift - 1), low = significand >> shift & r->odd;
    uint32_t kept = (significand + half - r->half_minus + low) >> shift;
    uint32_t code = ((uint32_t)(base - r->least_field) << r->mantissa_bits) + kept;
    code = code > r->largest ? r->overflow : code;
    code = magnitude == 0x7F800000u ? r->infinity : code;
    uint32_t sign = (bits >> r->sign_shift) & r->sign_mask;
    sign &= code != 0 ? UINT32_MAX : r->zero_sign;
    return magnitude > 0x7F800000u ? r->nan : code | sign;
}

static inline float fpo_power_decode(uint32_t code)
{
    uint32_t bits = code == 0 ? 0x400000u : code << 23;
    return fpo_float_of(code == 255 ? 0x7FFFFFFFu : bits);
}

/* The value of a code that fpo_round_code returned. */
static inline float fpo_round_decode(const fpo_round *r, uint32_t code)
{
    uint32_t magnitude = code & ~r->sign_mask, sign = code & r->sign_mask;
    float small = (float)(int32_t)magnitude * r->quantum;
    uint32_t normal = (magnitude << (23 - r->mantissa_bits)) + ((uint32_t)(r->least_field - 1) << 23);
    uint32_t bits = magnitude >> r->mantissa_bits == 0 ? fpo_bits_of(small) : normal;
    bits = magnitude == r->true_infinity ? 0x7F800000u : bits;
    bits = magnitude == r->true_nan ? 0x7FFFFFFFu : bits;
    return fpo_float_of(bits | sign << r->sign_shift);
}

#endif

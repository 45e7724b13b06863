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
    /* Ties away or toward zero: half a place less half_minus is added before the cut; to a small number that lies half a
     * quantum from the even one, `tie`, a quantum is added or subtracted. f32 bits. */
    uint32_t half_minus, tie, tie_adds;
    uint32_t sign_mask, nan_sign_mask; /* of a code; the latter of a NaN's */
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
    bool carries; /* fpo_round_carry_value will do */
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
    bool none = cast->no_nan == FPO_NO_NAN_ZERO || cast->no_nan == FPO_NO_NAN_ZERO_SIGNED;
    uint32_t no_nan = none ? 0 : f->max_finite;
    r->nan = f->specials == FPO_SPECIALS_NONE ? no_nan : (1u << (f->exponent_bits + f->mantissa_bits)) - 1;
    if (cast->nan != FPO_NAN_CANONICAL || cast->no_nan == FPO_NO_NAN_ZERO_OPPOSITE || f->mantissa_bits > 10)
        return false;
    if (f->specials == FPO_SPECIALS_UE8M0) {
        r->ue8m0 = true;
        r->inexact = cast->rounding == FPO_AWAY_FROM_ZERO ? 0x7FFFFF : 0;
        return (cast->rounding == FPO_AWAY_FROM_ZERO || cast->rounding == FPO_TOWARD_ZERO) &&
               cast->negative == FPO_NEGATIVE_ABSOLUTE && cast->no_zero == FPO_NO_ZERO_SMALLEST;
    }
    r->least_field = f->min_exponent + 127;
    r->half_minus = cast->rounding != FPO_NEAREST_AWAY;
    r->zero_sign = cast->drop_negative_zero ? 0 : UINT32_MAX;
    r->quantum =
        fpo_float_of(f->quantum + 127 > 0 ? (uint32_t)(f->quantum + 127) << 23 : 0x400000u >> -(f->quantum + 127));
    bool bit7 = format == FPO_UE4M3 && cast->negative == FPO_NEGATIVE_KEEP_BIT7;
    r->sign_mask = bit7 ? 0x80 : f->sign_bits != 0 ? 1u << (f->bits - 1) : 0;
    r->sign_shift = bit7 ? 24 : 32 - f->bits;
    bool signed_nan = cast->no_nan == FPO_NO_NAN_LARGEST_SIGNED || cast->no_nan == FPO_NO_NAN_ZERO_SIGNED;
    r->nan_sign_mask = signed_nan && f->specials == FPO_SPECIALS_NONE ? r->sign_mask : 0;
    r->even = cast->rounding == FPO_NEAREST_EVEN;
    r->places = 23 - f->mantissa_bits;
    r->normal = r->least_field > 1 ? (uint32_t)r->least_field << 23 : 0;
    r->magic = r->quantum * 0x1p23f;
    float away = cast->rounding == FPO_NEAREST_AWAY ? r->quantum : -r->quantum;
    r->tie = fpo_bits_of(away / 2);
    r->tie_adds = fpo_bits_of(away);
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
    r->carries = r->even && r->normal == 0 && r->sign_mask != 0 && r->zero_sign != 0 &&
                 r->overflow_value == 0x7F800000u && r->infinity_value == 0x7F800000u;
    return true;
}

/* What fpo_round_random_value needs; false for a format without a sign or with the f32's subnormals. */
static inline bool fpo_round_init_random(fpo_round *r, fpo_format format, const fpo_cast *cast)
{
    fpo_cast nearest = *cast;
    nearest.rounding = FPO_NEAREST_EVEN;
    return fpo_round_init_values(r, format, &nearest) && r->sign_mask != 0 && r->normal != 0;
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
    uint32_t nan = r->nan | ((bits >> r->sign_shift) & r->nan_sign_mask);
    return magnitude > 0x7F800000u ? nan : code | sign;
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
    code = magnitude > 0x7F800000u ? r->nan : code;
    return code | ((bits >> r->sign_shift) & (magnitude > 0x7F800000u ? r->nan_sign_mask : r->sign_mask));
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
    uint32_t nan = r->nan_value | (r->nan_sign_mask != 0 ? bits & 0x80000000u : 0);
    return fpo_float_of(magnitude > 0x7F800000u ? nan : value | sign);
}

/* A cut f32 (bf16) to nearest even: what goes beyond the largest number carries into infinity by itself. */
static inline float fpo_round_carry_value(const fpo_round *r, float x)
{
    uint32_t bits = fpo_bits_of(x);
    uint32_t up = (1u << (r->places - 1)) - 1 + (bits >> r->places & 1);
    uint32_t value = (bits + up) >> r->places << r->places;
    return x == x ? fpo_float_of(value) : fpo_float_of(r->nan_value);
}

/* A number below the smallest normal one in whole quanta: to nearest even by an addition, and a tie corrected. */
static inline float fpo_round_small(const fpo_round *r, float magnitude)
{
    float even = magnitude + r->magic - r->magic, left = magnitude - even;
    return even + fpo_float_of(fpo_bits_of(left) == r->tie ? r->tie_adds : 0);
}

/* To nearest, ties away from zero or toward it. */
static inline uint32_t fpo_round_tie_code(const fpo_round *r, float x)
{
    uint32_t bits = fpo_bits_of(x), magnitude = bits & 0x7FFFFFFFu;
    uint32_t up = (1u << (r->places - 1)) - r->half_minus;
    uint32_t code = ((magnitude + up) >> r->places) - ((uint32_t)(r->least_field - 1) << r->mantissa_bits);
    uint32_t small = fpo_bits_of(fpo_round_small(r, fpo_float_of(magnitude)) + r->magic) - fpo_bits_of(r->magic);
    code = magnitude < r->normal ? small : code;
    code = code > r->largest ? r->overflow : code;
    code = magnitude == 0x7F800000u ? r->infinity : code;
    uint32_t sign = (bits >> r->sign_shift) & r->sign_mask;
    sign &= code != 0 ? UINT32_MAX : r->zero_sign;
    uint32_t nan = r->nan | ((bits >> r->sign_shift) & r->nan_sign_mask);
    return magnitude > 0x7F800000u ? nan : code | sign;
}

static inline float fpo_round_tie_value(const fpo_round *r, float x)
{
    uint32_t bits = fpo_bits_of(x), magnitude = bits & 0x7FFFFFFFu;
    uint32_t up = (1u << (r->places - 1)) - r->half_minus;
    uint32_t value = (magnitude + up) >> r->places << r->places;
    uint32_t small = fpo_bits_of(fpo_round_small(r, fpo_float_of(magnitude)));
    value = magnitude < r->normal ? small : value;
    value = value > r->largest_value ? r->overflow_value : value;
    value = magnitude == 0x7F800000u ? r->infinity_value : value;
    uint32_t sign = r->sign_mask != 0 ? bits & 0x80000000u : 0;
    sign &= value != 0 ? UINT32_MAX : r->zero_sign;
    uint32_t nan = r->nan_value | (r->nan_sign_mask != 0 ? bits & 0x80000000u : 0);
    return fpo_float_of(magnitude > 0x7F800000u ? nan : value | sign);
}

/* Stochastic: random / 2^32 is added to what is cut off, of which the leading 32 bits count. */
static inline float fpo_round_random_value(const fpo_round *r, float x, uint32_t random)
{
    uint32_t bits = fpo_bits_of(x), magnitude = bits & 0x7FFFFFFFu;
    int32_t field = (int32_t)(magnitude >> 23);
    uint32_t significand = (magnitude & 0x7FFFFFu) | (field != 0 ? 0x800000u : 0);
    field = field != 0 ? field : 1;
    int32_t base = field > r->least_field ? field : r->least_field, shift = r->places + base - field;
    int32_t left = shift < 32 ? 32 - shift : 0, right = shift > 32 ? shift - 32 : 0;
    uint32_t kept = shift < 24 ? significand >> (shift & 31) : 0;
    uint32_t cut = (significand << left) >> (right < 31 ? right : 31);
    kept += cut + random < cut;
    /* A multiple of the last place, which is the quantum or a power of two above it: exact. */
    float place = fpo_float_of((uint32_t)(base - r->mantissa_bits) << 23);
    uint32_t value = fpo_bits_of((float)(int32_t)kept * place);
    value = value > r->largest_value ? r->overflow_value : value;
    value = magnitude == 0x7F800000u ? r->infinity_value : value;
    uint32_t sign = bits & 0x80000000u;
    sign &= value != 0 ? UINT32_MAX : r->zero_sign;
    uint32_t nan = r->nan_value | (r->nan_sign_mask != 0 ? bits & 0x80000000u : 0);
    return fpo_float_of(magnitude > 0x7F800000u ? nan : value | sign);
}

static inline float fpo_power_decode(uint32_t code)
{
    uint32_t bits = code == 0 ? 0x400000u : code << 23;
    return fpo_float_of(code == 255 ? 0x7FFFFFFFu : bits);
}

#endif

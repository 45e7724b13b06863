/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Rounding an f32 to a small format in operations that a compiler can do for many at once. It repeats what fpo_encode
 * says of the policies that recipes use; tests/test_quantize_codes.c compares the two.
 *
 * A magnitude is rounded to a multiple of its unit in the last place, u, by adding 2^23 u, which is `magic`: that sum
 * is an f32 whose lowest bits count units. Below the smallest normal number u stays what it is there. */
#ifndef FP4ORACLE_EMU_QUANTIZE_ROUND_H
#define FP4ORACLE_EMU_QUANTIZE_ROUND_H

#include <fp4oracle/cast.h>
#include <string.h>

#define FPO_LANE static inline __attribute__((always_inline))

FPO_LANE uint32_t fpo_bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

FPO_LANE float fpo_float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Magnitudes and codes are below 2^31 and compared as signed numbers, for which processors have more instructions. */
typedef struct fpo_round {
    bool ue8m0;
    bool even;       /* to nearest even; else ties go away from zero or toward it */
    bool saturates;  /* keeps the sign of zero, and has no overflow and no infinity of its own */
    bool ieee;       /* to nearest even, overflows to infinity, and a zero keeps its sign */
    bool carries;    /* that in a cut f32, bf16: fpo_round_carry_value alone will do */
    int32_t places;  /* of the f32's significand that are rounded away from a normal number */
    int32_t least;   /* the f32 exponent field of the smallest normal number, in place */
    int32_t beyond;  /* f32 bits: larger numbers round as this one does */
    int32_t largest; /* code; largest_value: its f32 bits; so for those below */
    uint32_t overflow, infinity, nan;
    int32_t largest_value;
    uint32_t overflow_value, infinity_value, nan_value;
    uint32_t tie_sign,
        tie_adds; /* where the even number is half a unit away, with this sign of what is left: to its code */
    uint32_t sign_mask, nan_sign_mask; /* of a code; the latter of a NaN's */
    int32_t sign_shift;                /* of the f32's sign bit, to the right */
    uint32_t zero_sign;                /* all ones if a zero keeps its sign */
    uint32_t inexact;                  /* ue8m0: added to the mantissa, 0 cuts, 0x7FFFFF goes up */
} fpo_round;

/* The f32's bits of a magnitude that is 0, normal, infinite or NaN; of NaN those that f32 arithmetic has here. */
static inline uint32_t fpo_round_bits(const fpo_round *r, const fpo_format_info *f, uint32_t code)
{
    if (code == 0)
        return 0;
    if (code <= f->max_finite)
        return (code << r->places) + (uint32_t)(r->least - (1 << 23));
    return code == f->max_finite + 1 && f->specials == FPO_SPECIALS_IEEE ? 0x7F800000u : 0x7FFFFFFFu;
}

static inline bool fpo_round_init_power(fpo_round *r, const fpo_cast *cast)
{
    r->ue8m0 = true;
    r->inexact = cast->rounding == FPO_AWAY_FROM_ZERO ? 0x7FFFFF : 0;
    return (cast->rounding == FPO_AWAY_FROM_ZERO || cast->rounding == FPO_TOWARD_ZERO) &&
           cast->negative == FPO_NEGATIVE_ABSOLUTE && cast->no_zero == FPO_NO_ZERO_SMALLEST;
}

static inline void fpo_round_init_nan(fpo_round *r, const fpo_format_info *f, const fpo_cast *cast)
{
    bool none = f->specials == FPO_SPECIALS_NONE;
    bool zero = cast->no_nan == FPO_NO_NAN_ZERO || cast->no_nan == FPO_NO_NAN_ZERO_SIGNED;
    bool keeps = cast->no_nan == FPO_NO_NAN_LARGEST_SIGNED || cast->no_nan == FPO_NO_NAN_ZERO_SIGNED;
    uint32_t all_ones = (1u << (f->exponent_bits + f->mantissa_bits)) - 1;
    r->nan = !none ? all_ones : zero ? 0 : f->max_finite;
    r->nan_sign_mask = none && keeps ? r->sign_mask : 0;
}

/* False for a policy or format that the loops do not have. */
static inline bool fpo_round_init(fpo_round *r, fpo_format format, const fpo_cast *cast)
{
    const fpo_format_info *f = fpo_format_describe(format);
    *r = (fpo_round){.largest = (int32_t)f->max_finite};
    uint32_t after = f->specials == FPO_SPECIALS_NONE ? f->max_finite : f->max_finite + 1;
    r->overflow = cast->overflow == FPO_SATURATE ? f->max_finite : after;
    r->infinity = cast->infinity == FPO_SATURATE ? f->max_finite : after;
    if (cast->nan != FPO_NAN_CANONICAL || cast->no_nan == FPO_NO_NAN_ZERO_OPPOSITE || f->mantissa_bits > 10)
        return false;
    if (f->specials == FPO_SPECIALS_UE8M0) {
        fpo_round_init_nan(r, f, cast);
        return fpo_round_init_power(r, cast);
    }
    bool bit7 = format == FPO_UE4M3 && cast->negative == FPO_NEGATIVE_KEEP_BIT7;
    r->sign_mask = bit7 ? 0x80 : f->sign_bits != 0 ? 1u << (f->bits - 1) : 0;
    r->sign_shift = bit7 ? 24 : 32 - f->bits;
    fpo_round_init_nan(r, f, cast);
    r->zero_sign = cast->drop_negative_zero ? 0 : UINT32_MAX;
    r->even = cast->rounding == FPO_NEAREST_EVEN;
    r->tie_sign = cast->rounding == FPO_NEAREST_AWAY ? 0 : 0x80000000u;
    r->tie_adds = cast->rounding == FPO_NEAREST_AWAY ? 1 : UINT32_MAX;
    r->places = 23 - f->mantissa_bits;
    r->least = (f->min_exponent + 127) << 23;
    r->largest_value = (int32_t)fpo_round_bits(r, f, f->max_finite);
    bool overflows = cast->overflow != FPO_SATURATE && f->specials != FPO_SPECIALS_NONE;
    r->beyond = overflows ? (r->largest_value & 0x7F800000) + (1 << 23) : r->largest_value;
    r->saturates = r->overflow == f->max_finite && r->infinity == f->max_finite && r->zero_sign != 0;
    bool subnormal = r->least == 1 << 23; /* the f32's own: there is no sum for these */
    r->ieee = r->even && r->sign_mask != 0 && r->zero_sign != 0 && r->overflow == after && r->infinity == after &&
              f->specials == FPO_SPECIALS_IEEE;
    r->carries = subnormal && r->ieee;
    return (cast->rounding == FPO_NEAREST_EVEN || cast->rounding == FPO_NEAREST_AWAY ||
            cast->rounding == FPO_NEAREST_TOWARD_ZERO) &&
           r->sign_mask != 0 && !subnormal;
}

/* The same for the loops that make values of values. */
static inline bool fpo_round_init_values(fpo_round *r, fpo_format format, const fpo_cast *cast)
{
    if (!fpo_round_init(r, format, cast) && !r->carries)
        return false;
    const fpo_format_info *f = fpo_format_describe(format);
    r->overflow_value = fpo_round_bits(r, f, r->overflow);
    r->infinity_value = fpo_round_bits(r, f, r->infinity);
    r->nan_value = fpo_round_bits(r, f, r->nan);
    return true;
}

/* What fpo_round_random_value needs. */
static inline bool fpo_round_init_random(fpo_round *r, fpo_format format, const fpo_cast *cast)
{
    fpo_cast nearest = *cast;
    nearest.rounding = FPO_NEAREST_EVEN;
    return fpo_round_init_values(r, format, &nearest) && !r->carries && !r->ue8m0;
}

/* How codes are made of values: prepared once, for many chunks. */
typedef struct fpo_coder {
    fpo_format format;
    const fpo_cast *cast; /* the caller's */
    bool nibbles;         /* two codes a byte */
    bool has_loop;        /* `round` is all that it takes */
    fpo_round round;
} fpo_coder;

static inline fpo_coder fpo_coder_of(fpo_format format, const fpo_cast *cast)
{
    fpo_coder coder = {.format = format, .cast = cast, .nibbles = fpo_format_describe(format)->bits == 4};
    coder.has_loop = fpo_round_init(&coder.round, format, cast);
    return coder;
}

/* ue8m0 */
FPO_LANE uint32_t fpo_round_power(const fpo_round *r, float x)
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

FPO_LANE float fpo_power_decode(uint32_t code)
{
    uint32_t bits = code == 0 ? 0x400000u : code << 23;
    return fpo_float_of(code == 255 ? 0x7FFFFFFFu : bits);
}

/* 2^23 units in the last place of a number. */
FPO_LANE uint32_t fpo_round_magic(const fpo_round *r, int32_t magnitude)
{
    int32_t field = magnitude & 0x7F800000;
    return (uint32_t)(field > r->least ? field : r->least) + ((uint32_t)r->places << 23);
}

/* Whether a number is a tie that went the other way: half a unit is left of it. */
FPO_LANE bool fpo_round_is_tie(const fpo_round *r, uint32_t magic, float left)
{
    return fpo_bits_of(left) == ((magic - (24u << 23)) | r->tie_sign);
}

/* even, saturates: r->even and r->saturates, as constants. */
FPO_LANE uint32_t fpo_round_code(const fpo_round *r, float x, bool even, bool saturates)
{
    uint32_t bits = fpo_bits_of(x);
    int32_t magnitude = (int32_t)(bits & 0x7FFFFFFFu), cut = magnitude < r->beyond ? magnitude : r->beyond;
    uint32_t magic = fpo_round_magic(r, cut), least = (uint32_t)r->least + ((uint32_t)r->places << 23);
    float sum = fpo_float_of((uint32_t)cut) + fpo_float_of(magic);
    uint32_t code = fpo_bits_of(sum) - magic + ((magic - least) >> r->places);
    if (!even) {
        float left = fpo_float_of((uint32_t)cut) - (sum - fpo_float_of(magic));
        code += fpo_round_is_tie(r, magic, left) ? r->tie_adds : 0;
    }
    uint32_t sign = bits >> r->sign_shift;
    if (!saturates) {
        code = (int32_t)code > r->largest ? r->overflow : code;
        code = magnitude == 0x7F800000 ? r->infinity : code;
        sign &= code != 0 ? UINT32_MAX : r->zero_sign;
    }
    code = magnitude > 0x7F800000 ? r->nan : code;
    return code | (sign & (magnitude > 0x7F800000 ? r->nan_sign_mask : r->sign_mask));
}

/* The value that the code stands for. */
FPO_LANE float fpo_round_value(const fpo_round *r, float x, bool even, bool saturates)
{
    uint32_t bits = fpo_bits_of(x);
    int32_t magnitude = (int32_t)(bits & 0x7FFFFFFFu), cut = magnitude < r->beyond ? magnitude : r->beyond;
    uint32_t magic = fpo_round_magic(r, cut);
    float rounded = fpo_float_of((uint32_t)cut) + fpo_float_of(magic) - fpo_float_of(magic);
    if (!even) {
        bool tie = fpo_round_is_tie(r, magic, fpo_float_of((uint32_t)cut) - rounded);
        rounded += fpo_float_of(tie ? (magic - (23u << 23)) | r->tie_sign : 0);
    }
    uint32_t value = fpo_bits_of(rounded), sign = bits & 0x80000000u;
    if (!saturates) {
        value = (int32_t)value > r->largest_value ? r->overflow_value : value;
        value = magnitude == 0x7F800000 ? r->infinity_value : value;
        sign &= value != 0 ? UINT32_MAX : r->zero_sign;
    }
    value = magnitude > 0x7F800000 ? r->nan_value : value;
    uint32_t kept = r->nan_sign_mask != 0 ? 0x80000000u : 0;
    return fpo_float_of(value | (sign & (magnitude > 0x7F800000 ? kept : 0x80000000u)));
}

/* What goes beyond the largest number carries into infinity by itself. */
FPO_LANE float fpo_round_carry_value(const fpo_round *r, float x)
{
    uint32_t bits = fpo_bits_of(x);
    uint32_t up = (1u << (r->places - 1)) - 1 + (bits >> r->places & 1);
    uint32_t value = (bits + up) >> r->places << r->places;
    return x == x ? fpo_float_of(value) : fpo_float_of(r->nan_value);
}

/* Stochastic: random / 2^32 is added to what is cut off, of which the leading 32 bits count. */
FPO_LANE float fpo_round_random_value(const fpo_round *r, float x, uint32_t random)
{
    uint32_t bits = fpo_bits_of(x), magnitude = bits & 0x7FFFFFFFu;
    int32_t field = (int32_t)(magnitude >> 23), least = r->least >> 23;
    uint32_t significand = (magnitude & 0x7FFFFFu) | (field != 0 ? 0x800000u : 0);
    field = field != 0 ? field : 1;
    int32_t base = field > least ? field : least, shift = r->places + base - field;
    int32_t left = shift < 32 ? 32 - shift : 0, right = shift > 32 ? shift - 32 : 0;
    uint32_t kept = shift < 24 ? significand >> (shift & 31) : 0;
    uint32_t cut = (significand << left) >> (right < 31 ? right : 31);
    kept += cut + random < cut;
    /* A multiple of the last place: exact. */
    float place = fpo_float_of((uint32_t)(base - (23 - r->places)) << 23);
    uint32_t value = fpo_bits_of((float)(int32_t)kept * place);
    value = (int32_t)value > r->largest_value ? r->overflow_value : value;
    value = magnitude == 0x7F800000u ? r->infinity_value : value;
    uint32_t sign = bits & 0x80000000u;
    sign &= value != 0 ? UINT32_MAX : r->zero_sign;
    uint32_t nan = r->nan_value | (r->nan_sign_mask != 0 ? bits & 0x80000000u : 0);
    return fpo_float_of(magnitude > 0x7F800000u ? nan : value | sign);
}

#endif

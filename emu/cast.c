/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The one place where the library rounds to a format. */
#include <fp4oracle/cast.h>
#include <string.h>

/* What is left of a magnitude when it is cut to the format: the code below it, and how far above that code it lies, as
 * a fraction of the distance to the next code, cut to 64 bits; `sticky` for what is beyond them. */
typedef struct cut {
    uint32_t code;
    uint64_t fraction;
    bool sticky;
} cut;

/* The caller has seen to exponents beyond the largest number. */
static cut cut_magnitude(const fpo_format_info *f, uint64_t significand, int64_t exponent, bool sticky)
{
    /* Only a sticky value has no significand: nonzero, and below all that rounding can tell apart. */
    if (significand == 0)
        return (cut){0, 0, f->specials != FPO_SPECIALS_UE8M0};
    int zeros = __builtin_clzll(significand);
    significand <<= zeros; /* the top bit now weighs 2^top */
    int64_t top = exponent + 63 - zeros;
    int64_t last = top - f->mantissa_bits; /* exponent of the last place kept */
    if (last < f->quantum)
        last = f->quantum;
    int64_t drop = last - (top - 63); /* bits to drop, at least 63 - 23 */
    cut c = {0, 0, sticky};
    uint64_t kept = 0;
    if (drop < 64) {
        kept = significand >> drop;
        c.fraction = significand << (64 - drop);
    } else if (drop < 128) {
        /* Below half a place, and not 0 whatever is lost: no rounding needs to know more. */
        c.fraction = significand >> (drop - 64);
    } else {
        c.sticky = true;
    }
    /* Codes count places: each step of the exponent adds 2^mantissa_bits of them. A normal number's leading one in
     * `kept` is the 1 of the exponent field. */
    c.code = (uint32_t)((uint64_t)(last - f->quantum) << f->mantissa_bits) + (uint32_t)kept;
    if (f->specials == FPO_SPECIALS_UE8M0) {
        /* No zero: the leading one is not part of the code, and what is below the smallest number becomes it. */
        if (kept == 0)
            return (cut){0, 0, false};
        c.code -= 1;
    }
    return c;
}

static bool goes_up(cut c, fpo_rounding rounding, bool negative, uint32_t random_bits)
{
    const uint64_t half = UINT64_C(1) << 63;
    bool exact = c.fraction == 0 && !c.sticky;
    switch (rounding) {
    case FPO_NEAREST_EVEN: return c.fraction > half || (c.fraction == half && (c.sticky || (c.code & 1) != 0));
    case FPO_NEAREST_AWAY: return c.fraction >= half;
    case FPO_NEAREST_TOWARD_ZERO: return c.fraction > half || (c.fraction == half && c.sticky);
    case FPO_TOWARD_ZERO: return false;
    case FPO_AWAY_FROM_ZERO: return !exact;
    case FPO_UP: return !exact && !negative;
    case FPO_DOWN: return !exact && negative;
    case FPO_STOCHASTIC: return (c.fraction >> 32) + random_bits >= UINT64_C(1) << 32;
    }
    return false;
}

static bool never_overflows(fpo_rounding rounding, bool negative)
{
    return rounding == FPO_TOWARD_ZERO || (rounding == FPO_UP && negative) || (rounding == FPO_DOWN && !negative);
}

/* Magnitude of what lies beyond the largest number. max_finite + 1 is infinity (IEEE) or NaN (the others that have). */
static uint32_t overflow_magnitude(const fpo_format_info *f, fpo_overflow overflow)
{
    return f->max_finite + (overflow != FPO_SATURATE && f->specials != FPO_SPECIALS_NONE ? 1 : 0);
}

static uint32_t all_ones(const fpo_format_info *f)
{
    return (1u << (f->exponent_bits + f->mantissa_bits)) - 1;
}

static uint32_t encode_finite(const fpo_format_info *f, fpo_value value, bool negative, const fpo_cast *policy,
                              uint32_t random_bits)
{
    fpo_rounding rounding = policy->rounding;
    int zeros = value.significand == 0 ? 64 : __builtin_clzll(value.significand);
    uint32_t unchecked = f->max_finite + 1; /* what FPO_UNCHECKED makes of an overflow */
    if ((int64_t)value.exponent + 63 - zeros <= f->max_exponent) {
        cut c = cut_magnitude(f, value.significand, value.exponent, value.sticky);
        bool nearest = rounding <= FPO_NEAREST_TOWARD_ZERO, inexact = c.fraction != 0 || c.sticky;
        bool up = goes_up(c, rounding, negative, random_bits);
        if (policy->lowest_up && f->specials == FPO_SPECIALS_UE8M0 && nearest && c.code == 0)
            up = inexact;
        if (c.code + up <= f->max_finite)
            return c.code + up;
        unchecked = up ? all_ones(f) : f->max_finite;
    }
    if (never_overflows(rounding, negative))
        return f->max_finite;
    return policy->overflow == FPO_UNCHECKED && f->specials != FPO_SPECIALS_NONE
               ? unchecked
               : overflow_magnitude(f, policy->overflow);
}

static uint32_t sign_bit(const fpo_format_info *f, bool negative)
{
    return negative && f->sign_bits != 0 ? 1u << (f->bits - 1) : 0;
}

static uint32_t encode_nan(const fpo_format_info *f, bool negative, const fpo_cast *policy)
{
    if (f->specials == FPO_SPECIALS_NONE) {
        switch (policy->no_nan) {
        case FPO_NO_NAN_LARGEST: return f->max_finite;
        case FPO_NO_NAN_LARGEST_SIGNED: return f->max_finite | sign_bit(f, negative);
        case FPO_NO_NAN_ZERO: return 0;
        case FPO_NO_NAN_ZERO_SIGNED: return sign_bit(f, negative);
        case FPO_NO_NAN_ZERO_OPPOSITE: return sign_bit(f, !negative);
        }
    }
    uint32_t nan = all_ones(f);
    switch (policy->nan) {
    case FPO_NAN_CANONICAL: return nan;
    case FPO_NAN_SIGNED: return nan | sign_bit(f, negative);
    case FPO_NAN_IEEE:
        if (f->specials == FPO_SPECIALS_IEEE) /* the others have one NaN only */
            nan &= ~((1u << (f->mantissa_bits - 1)) - 1);
        return nan | sign_bit(f, negative);
    }
    return nan;
}

uint32_t fpo_encode(fpo_format format, fpo_value value, const fpo_cast *policy, uint32_t random_bits)
{
    if (format == FPO_UE4M3 && policy->negative == FPO_NEGATIVE_KEEP_BIT7)
        format = FPO_E4M3;
    const fpo_format_info *f = fpo_format_describe(format);
    if (f == NULL || f->bits == 0)
        return 0;
    if (value.kind == FPO_NAN)
        return encode_nan(f, value.negative, policy);

    bool negative = value.negative && f->sign_bits != 0;
    if (value.negative && !negative && value.kind != FPO_ZERO) {
        if (policy->negative == FPO_NEGATIVE_ZERO)
            return 0;
        if (policy->negative == FPO_NEGATIVE_NAN)
            return encode_nan(f, false, policy);
    }

    uint32_t magnitude = 0;
    if (value.kind == FPO_FINITE)
        magnitude = encode_finite(f, value, negative, policy, random_bits);
    else if (value.kind == FPO_INFINITE)
        magnitude = overflow_magnitude(f, policy->infinity);
    else if (f->specials == FPO_SPECIALS_UE8M0 && policy->no_zero == FPO_NO_ZERO_NAN)
        magnitude = all_ones(f);
    return magnitude == 0 && policy->drop_negative_zero ? 0 : magnitude | sign_bit(f, negative);
}

uint32_t fpo_encode_double(fpo_format format, double x, const fpo_cast *policy)
{
    return fpo_encode(format, fpo_value_from_double(x), policy, 0);
}

float fpo_round_to_float(fpo_value value, fpo_rounding rounding)
{
    fpo_cast policy = *fpo_cast_describe(FPO_CAST_IEEE);
    policy.rounding = rounding;
    uint32_t bits = fpo_encode(FPO_F32, value, &policy, 0);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Cast policies, read out one after the other. */
#include "format_oracle.h"

#include <math.h>

static bool chooses_upper(fpo_bracket b, fpo_rounding rounding, bool negative, uint32_t random_bits)
{
    bool even = b.below % 2 == 0;
    if (b.exact)
        return false;
    switch (rounding) {
    case FPO_NEAREST_EVEN: return b.half == 0 ? !even : b.half > 0;
    case FPO_NEAREST_AWAY: return b.half >= 0;
    case FPO_NEAREST_TOWARD_ZERO: return b.half > 0;
    case FPO_TOWARD_ZERO: return false;
    case FPO_AWAY_FROM_ZERO: return true;
    case FPO_UP: return !negative;
    case FPO_DOWN: return negative;
    case FPO_STOCHASTIC: return b.fraction + random_bits > UINT32_MAX; /* a carry out of 32 bits */
    }
    return false;
}

static uint32_t sign_of(const fpo_oracle *oracle, bool negative)
{
    return negative && oracle->sign_bits == 1 ? 1u << (oracle->exponent_bits + oracle->mantissa_bits) : 0;
}

static uint32_t nan_code(const fpo_oracle *oracle, bool negative, const fpo_cast *policy)
{
    uint32_t plus = sign_of(oracle, negative), minus = sign_of(oracle, !negative);
    if (oracle->nan == 0) {
        switch (policy->no_nan) {
        case FPO_NO_NAN_LARGEST: return oracle->last;
        case FPO_NO_NAN_LARGEST_SIGNED: return oracle->last + plus;
        case FPO_NO_NAN_ZERO: return 0;
        case FPO_NO_NAN_ZERO_SIGNED: return plus;
        case FPO_NO_NAN_ZERO_OPPOSITE: return minus;
        }
    }
    if (policy->nan == FPO_NAN_IEEE && oracle->infinity != 0)
        return oracle->infinity + (1u << (oracle->mantissa_bits - 1)) + plus;
    return oracle->nan + (policy->nan == FPO_NAN_CANONICAL ? 0 : plus);
}

static uint32_t non_finite_code(const fpo_oracle *oracle)
{
    return oracle->infinity != 0 ? oracle->infinity : oracle->nan != 0 ? oracle->nan : oracle->last;
}

/* A finite number, before its sign. */
static uint32_t finite_code(const fpo_oracle *oracle, fpo_bracket b, bool negative, const fpo_cast *policy,
                            uint32_t random_bits)
{
    if (b.under)
        return 0;
    bool toward_zero = policy->rounding == FPO_TOWARD_ZERO || (policy->rounding == FPO_UP && negative) ||
                       (policy->rounding == FPO_DOWN && !negative);
    bool upper = chooses_upper(b, policy->rounding, negative, random_bits);
    if (b.below > oracle->last || (b.below == oracle->last && upper)) {
        if (toward_zero || policy->overflow == FPO_SATURATE)
            return oracle->last;
        if (policy->overflow == FPO_NON_FINITE || oracle->nan == 0)
            return non_finite_code(oracle);
        /* FPO_UNCHECKED: the code 0x7F of e4m3 is taken for one more number (480), which is then made 448; a carry
         * past the largest number makes NaN; what lies beyond does not. */
        bool taken_for_number = b.below == oracle->last + 1 && !b.beyond && oracle->mantissa_bits == 3;
        if (taken_for_number)
            return upper ? oracle->nan : oracle->last;
        return b.below > oracle->last ? non_finite_code(oracle) : oracle->nan;
    }
    bool nearest = policy->rounding == FPO_NEAREST_EVEN || policy->rounding == FPO_NEAREST_AWAY ||
                   policy->rounding == FPO_NEAREST_TOWARD_ZERO;
    if (oracle->format == FPO_UE8M0 && policy->lowest_up && nearest && b.below == 0)
        return b.exact ? 0 : 1;
    return b.below + (upper ? 1 : 0);
}

uint32_t fpo_oracle_round(const fpo_oracle *oracle, fpo_bracket bracket, bool negative, const fpo_cast *policy,
                          uint32_t random_bits)
{
    if (bracket.zero && oracle->format == FPO_UE8M0)
        return policy->no_zero == FPO_NO_ZERO_NAN ? oracle->nan : 0;
    uint32_t sign = sign_of(oracle, negative);
    if (oracle->sign_bits == 0 && negative) {
        negative = false;
        if (policy->negative == FPO_NEGATIVE_KEEP_BIT7 && oracle->format == FPO_UE4M3) {
            sign = 0x80;
            negative = true;
        } else if (policy->negative == FPO_NEGATIVE_ZERO && !bracket.zero) {
            return 0;
        } else if (policy->negative == FPO_NEGATIVE_NAN && !bracket.zero) {
            return oracle->nan;
        }
    }
    uint32_t magnitude = bracket.zero ? 0 : finite_code(oracle, bracket, negative, policy, random_bits);
    return magnitude == 0 && policy->drop_negative_zero ? 0 : magnitude + sign;
}

uint32_t fpo_oracle_encode(const fpo_oracle *oracle, double x, fpo_bracket bracket, const fpo_cast *policy,
                           uint32_t random_bits)
{
    bool negative = signbit(x) != 0;
    bool keeps_sign = oracle->format == FPO_UE4M3 && policy->negative == FPO_NEGATIVE_KEEP_BIT7;
    if (isnan(x))
        return nan_code(oracle, negative, policy) |
               (keeps_sign && negative && policy->nan != FPO_NAN_CANONICAL ? 0x80u : 0u);
    if (!isinf(x))
        return fpo_oracle_round(oracle, bracket, negative, policy, random_bits);
    if (negative && oracle->sign_bits == 0 && policy->negative == FPO_NEGATIVE_ZERO)
        return 0;
    if (negative && oracle->sign_bits == 0 && policy->negative == FPO_NEGATIVE_NAN)
        return oracle->nan;
    uint32_t magnitude = policy->infinity == FPO_SATURATE ? oracle->last : non_finite_code(oracle);
    return magnitude + sign_of(oracle, negative) + (keeps_sign && negative ? 0x80u : 0u);
}

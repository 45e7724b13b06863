/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Formats as the standards define them: OCP MX v1.0 sections 5.3 and 5.4, OCP OFP8, IEEE 754, PTX ISA 9.1 5.2.3. */
#include "format_oracle.h"

#include <math.h>
#include <stdlib.h>

/* Typed from the standards, not made from formats.inc. */
static const fpo_oracle definitions[] = {
    {.format = FPO_E2M1, .name = "e2m1", .sign_bits = 1, .exponent_bits = 2, .mantissa_bits = 1, .bias = 1, .last = 7},
    {.format = FPO_E2M3, .name = "e2m3", .sign_bits = 1, .exponent_bits = 2, .mantissa_bits = 3, .bias = 1, .last = 31},
    {.format = FPO_E3M2, .name = "e3m2", .sign_bits = 1, .exponent_bits = 3, .mantissa_bits = 2, .bias = 3, .last = 31},
    {.format = FPO_E4M3,
     .name = "e4m3",
     .sign_bits = 1,
     .exponent_bits = 4,
     .mantissa_bits = 3,
     .bias = 7,
     .last = 0x7E,
     .nan = 0x7F},
    {.format = FPO_E5M2,
     .name = "e5m2",
     .sign_bits = 1,
     .exponent_bits = 5,
     .mantissa_bits = 2,
     .bias = 15,
     .last = 0x7B,
     .infinity = 0x7C,
     .nan = 0x7F},
    {.format = FPO_UE8M0,
     .name = "ue8m0",
     .sign_bits = 0,
     .exponent_bits = 8,
     .mantissa_bits = 0,
     .bias = 127,
     .last = 0xFE,
     .nan = 0xFF},
    {.format = FPO_UE4M3,
     .name = "ue4m3",
     .sign_bits = 0,
     .exponent_bits = 4,
     .mantissa_bits = 3,
     .bias = 7,
     .last = 0x7E,
     .nan = 0x7F},
    {.format = FPO_F16,
     .name = "f16",
     .sign_bits = 1,
     .exponent_bits = 5,
     .mantissa_bits = 10,
     .bias = 15,
     .last = 0x7BFF,
     .infinity = 0x7C00,
     .nan = 0x7FFF},
    {.format = FPO_BF16,
     .name = "bf16",
     .sign_bits = 1,
     .exponent_bits = 8,
     .mantissa_bits = 7,
     .bias = 127,
     .last = 0x7F7F,
     .infinity = 0x7F80,
     .nan = 0x7FFF},
    {.format = FPO_TF32,
     .name = "tf32",
     .sign_bits = 1,
     .exponent_bits = 8,
     .mantissa_bits = 10,
     .bias = 127,
     .last = 0x3FBFF,
     .infinity = 0x3FC00,
     .nan = 0x3FFFF},
    {.format = FPO_F32,
     .name = "f32",
     .sign_bits = 1,
     .exponent_bits = 8,
     .mantissa_bits = 23,
     .bias = 127,
     .last = 0x7F7FFFFF,
     .infinity = 0x7F800000,
     .nan = 0x7FFFFFFF},
};

void fpo_oracle_init(fpo_oracle *oracle, fpo_format format)
{
    for (size_t i = 0; i < sizeof definitions / sizeof definitions[0]; i++) {
        if (definitions[i].format != format)
            continue;
        *oracle = definitions[i];
        mpfr_inits2(FPO_ORACLE_BITS, oracle->low, oracle->high, oracle->x, (mpfr_ptr)0);
        return;
    }
    abort(); /* a format that nobody defined here */
}

void fpo_oracle_clear(fpo_oracle *oracle)
{
    mpfr_clears(oracle->low, oracle->high, oracle->x, (mpfr_ptr)0);
}

/* Every operation here must be exact. */
static void exactly(int ternary)
{
    if (ternary != 0)
        abort();
}

void fpo_oracle_number(const fpo_oracle *oracle, mpfr_t out, uint32_t magnitude)
{
    uint64_t mantissa = magnitude % (1u << oracle->mantissa_bits);
    int exponent = (int)(magnitude / (1u << oracle->mantissa_bits));
    if (oracle->format == FPO_UE8M0) {
        exactly(mpfr_set_ui_2exp(out, 1, exponent - oracle->bias, MPFR_RNDN));
    } else if (exponent == 0) {
        exactly(mpfr_set_ui_2exp(out, mantissa, 1 - oracle->bias - oracle->mantissa_bits, MPFR_RNDN));
    } else {
        mantissa += UINT64_C(1) << oracle->mantissa_bits;
        exactly(mpfr_set_ui_2exp(out, mantissa, exponent - oracle->bias - oracle->mantissa_bits, MPFR_RNDN));
    }
}

fpo_class fpo_oracle_class(const fpo_oracle *oracle, uint32_t code)
{
    uint32_t magnitude = code & ((1u << (oracle->exponent_bits + oracle->mantissa_bits)) - 1);
    if (oracle->infinity != 0 && magnitude == oracle->infinity)
        return FPO_INFINITE;
    if (magnitude > oracle->last)
        return FPO_NAN;
    return magnitude == 0 && oracle->format != FPO_UE8M0 ? FPO_ZERO : FPO_FINITE;
}

fpo_bracket fpo_oracle_bracket(fpo_oracle *oracle, mpfr_srcptr x)
{
    fpo_bracket bracket = {.zero = mpfr_zero_p(x) != 0};
    if (bracket.zero)
        return bracket;
    uint32_t first = 0, end = oracle->last + 2; /* number(first) <= |x| < number(end) */
    fpo_oracle_number(oracle, oracle->low, end);
    if (mpfr_cmpabs(x, oracle->low) >= 0) {
        bracket.beyond = true;
        bracket.below = end;
        return bracket;
    }
    fpo_oracle_number(oracle, oracle->low, first);
    if (mpfr_cmpabs(x, oracle->low) < 0) {
        bracket.under = true;
        return bracket;
    }
    while (end - first > 1) {
        uint32_t middle = first + (end - first) / 2;
        fpo_oracle_number(oracle, oracle->low, middle);
        if (mpfr_cmpabs(x, oracle->low) >= 0)
            first = middle;
        else
            end = middle;
    }
    bracket.below = first;
    fpo_oracle_number(oracle, oracle->low, first);
    fpo_oracle_number(oracle, oracle->high, end);
    exactly(mpfr_sub(oracle->high, oracle->high, oracle->low, MPFR_RNDN)); /* the step, a power of two */
    exactly(mpfr_abs(oracle->x, x, MPFR_RNDN));
    exactly(mpfr_sub(oracle->x, oracle->x, oracle->low, MPFR_RNDN));
    exactly(mpfr_div(oracle->x, oracle->x, oracle->high, MPFR_RNDN)); /* the distance in steps */
    bracket.exact = mpfr_zero_p(oracle->x) != 0;
    exactly(mpfr_mul_2ui(oracle->low, oracle->x, 1, MPFR_RNDN));
    bracket.half = mpfr_cmp_ui(oracle->low, 1);
    bracket.half = (bracket.half > 0) - (bracket.half < 0);
    exactly(mpfr_mul_2ui(oracle->low, oracle->x, 32, MPFR_RNDN));
    bracket.fraction = mpfr_get_ui(oracle->low, MPFR_RNDD);
    return bracket;
}

fpo_bracket fpo_oracle_bracket_double(fpo_oracle *oracle, double x)
{
    if (!isfinite(x))
        return (fpo_bracket){0};
    mpfr_t exact;
    mpfr_init2(exact, 53);
    exactly(mpfr_set_d(exact, x, MPFR_RNDN));
    fpo_bracket bracket = fpo_oracle_bracket(oracle, exact);
    mpfr_clear(exact);
    return bracket;
}

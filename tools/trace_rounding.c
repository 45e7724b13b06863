/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The last step: an exact number to a code, with the bits that are dropped. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_BITS = 48 };

static const char *rounding_name(fpo_rounding rounding)
{
    switch (rounding) {
    case FPO_NEAREST_EVEN: return "to nearest, ties to even";
    case FPO_NEAREST_AWAY: return "to nearest, ties away from zero";
    case FPO_NEAREST_TOWARD_ZERO: return "to nearest, ties toward zero";
    case FPO_TOWARD_ZERO: return "toward zero";
    case FPO_AWAY_FROM_ZERO: return "away from zero";
    case FPO_UP: return "up";
    case FPO_DOWN: return "down";
    case FPO_STOCHASTIC: return "stochastic";
    }
    return "?";
}

/* The exponent of the last place that `format` keeps of x. */
static long quantum_of(mpfr_srcptr x, const fpo_format_info *info)
{
    long exponent = (long)mpfr_get_exp(x) - 1; /* of the leading bit */
    long least = info->min_exponent;
    return (exponent > least ? exponent : least) - info->mantissa_bits;
}

static json_t *code_json(fpo_format format, uint32_t code)
{
    return json_pack("{s:s, s:s}", "code", fpo_hex_text(format, code).text, "value", fpo_code_text(format, code).text);
}

/* |x| / 2^quantum in binary: the bits that stay, and those behind the point. */
static void add_bits(json_t *rounding, mpfr_srcptr x, long quantum)
{
    mpfr_t scaled, fraction;
    mpfr_inits2(FPO_WIDE_BITS, scaled, fraction, (mpfr_ptr)0);
    mpfr_abs(scaled, x, MPFR_RNDN);
    mpfr_mul_2si(scaled, scaled, -quantum, MPFR_RNDN);
    mpz_t kept;
    mpz_init(kept);
    mpfr_get_z(kept, scaled, MPFR_RNDZ);
    char *text = malloc(mpz_sizeinbase(kept, 2) + 2);
    if (text != NULL)
        json_object_set_new(rounding, "kept_bits", json_string(mpz_get_str(text, 2, kept)));
    free(text);
    mpfr_frac(fraction, scaled, MPFR_RNDN);
    char discarded[SHOWN_BITS + 4] = "";
    size_t length = 0;
    while (mpfr_zero_p(fraction) == 0 && length < SHOWN_BITS) {
        mpfr_mul_2ui(fraction, fraction, 1, MPFR_RNDN);
        bool one = mpfr_cmp_ui(fraction, 1) >= 0;
        discarded[length++] = one ? '1' : '0';
        if (one)
            mpfr_sub_ui(fraction, fraction, 1, MPFR_RNDN);
    }
    strcpy(discarded + length, mpfr_zero_p(fraction) == 0 ? "..." : "");
    json_object_set_new(rounding, "discarded_bits", json_string(discarded));
    mpfr_frac(fraction, scaled, MPFR_RNDN);
    int half = mpfr_cmp_d(fraction, 0.5);
    json_object_set_new(rounding, "discarded",
                        json_string(mpfr_zero_p(fraction) != 0 ? "nothing"
                                    : half < 0                 ? "less than half"
                                    : half > 0                 ? "more than half"
                                                               : "exactly half: a tie"));
    mpz_clear(kept);
    mpfr_clears(scaled, fraction, (mpfr_ptr)0);
}

uint32_t fpo_trace_rounding(json_t *object, mpfr_srcptr y, fpo_format format, const fpo_cast *cast)
{
    const fpo_format_info *info = fpo_format_describe(format);
    fpo_value value = fpo_value_from_mpfr(y);
    uint32_t code = fpo_encode(format, value, cast, 0);
    json_t *rounding = json_pack("{s:s, s:s, s:s, s:s}", "format", info->name, "mode", rounding_name(cast->rounding),
                                 "y", fpo_mpfr_text(y).text, "y_exact", fpo_dyadic_text(y).text);
    if (value.kind == FPO_FINITE) {
        fpo_cast inward = *cast, outward = *cast;
        inward.rounding = FPO_TOWARD_ZERO;
        outward.rounding = FPO_AWAY_FROM_ZERO;
        long quantum = quantum_of(y, info);
        json_object_set_new(rounding, "last_place", json_integer(quantum));
        add_bits(rounding, y, quantum);
        json_object_set_new(rounding, "toward_zero", code_json(format, fpo_encode(format, value, &inward, 0)));
        json_object_set_new(rounding, "away_from_zero", code_json(format, fpo_encode(format, value, &outward, 0)));
    }
    json_object_set_new(rounding, "code", json_string(fpo_hex_text(format, code).text));
    json_object_set_new(rounding, "value", json_string(fpo_code_text(format, code).text));
    json_object_set_new(object, "rounding", rounding);
    return code;
}

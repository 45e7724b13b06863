/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Exact decimal texts. A dyadic number m * 2^-n is m * 5^n / 10^n, so that its decimal expansion ends. */
#include "number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_DIGITS = 30,  /* written out in full up to here */
    POWER_DIGITS = 12, /* beyond that "3*2^57" where the odd part is below ODD_PART */
    ODD_PART = 4096,
    CUT_DIGITS = 17,     /* otherwise so many of them */
    LARGEST_PLAIN = 20,  /* digits before the point without an exponent */
    SMALLEST_PLAIN = -12 /* zeros after the point without an exponent */
};

/* digits * 10^exponent, no zero at the end; NULL without memory. */
static char *decimal_digits(mpfr_srcptr x, long *exponent)
{
    mpz_t integer;
    mpz_init(integer);
    mpfr_exp_t binary = mpfr_get_z_2exp(integer, x);
    mpz_abs(integer, integer);
    *exponent = 0;
    if (mpz_sgn(integer) != 0) {
        mp_bitcnt_t zeros = mpz_scan1(integer, 0);
        mpz_tdiv_q_2exp(integer, integer, zeros);
        binary += (mpfr_exp_t)zeros;
    }
    if (binary >= 0) {
        mpz_mul_2exp(integer, integer, (mp_bitcnt_t)binary);
    } else {
        mpz_t power;
        mpz_init(power);
        mpz_ui_pow_ui(power, 5, (unsigned long)-binary);
        mpz_mul(integer, integer, power);
        mpz_clear(power);
        *exponent = binary;
    }
    char *digits = malloc(mpz_sizeinbase(integer, 10) + 2);
    if (digits != NULL) {
        mpz_get_str(digits, 10, integer);
        size_t length = strlen(digits);
        while (length > 1 && digits[length - 1] == '0') {
            digits[--length] = '\0';
            (*exponent)++;
        }
    }
    mpz_clear(integer);
    return digits;
}

static void write_decimal(char *out, size_t size, const char *digits, long exponent, const char *sign)
{
    int length = (int)strlen(digits);
    bool cut = length > MOST_DIGITS;
    int shown = cut ? CUT_DIGITS : length;
    long point = length + exponent; /* digits before the decimal point */
    if (!cut && point > 0 && point <= LARGEST_PLAIN) {
        if (point >= length)
            snprintf(out, size, "%s%s%.*s", sign, digits, (int)(point - length), "00000000000000000000");
        else
            snprintf(out, size, "%s%.*s.%s", sign, (int)point, digits, digits + point);
    } else if (!cut && point <= 0 && point > SMALLEST_PLAIN) {
        snprintf(out, size, "%s0.%.*s%s", sign, (int)-point, "000000000000", digits);
    } else if (cut && point > 0 && point < shown) {
        snprintf(out, size, "%s%.*s.%.*s...", sign, (int)point, digits, shown - (int)point, digits + point);
    } else if (cut && point <= 0 && point > SMALLEST_PLAIN / 2) {
        snprintf(out, size, "%s0.%.*s%.*s...", sign, (int)-point, "000000000000", shown, digits);
    } else {
        snprintf(out, size, "%s%c%s%.*s%se%+ld", sign, digits[0], shown > 1 ? "." : "", shown - 1, digits + 1,
                 cut ? "..." : "", point - 1);
    }
}

fpo_number_text fpo_decimal_text(mpfr_srcptr x)
{
    fpo_number_text result = {"?"};
    const char *sign = mpfr_signbit(x) != 0 ? "-" : "";
    if (mpfr_nan_p(x) != 0) {
        strcpy(result.text, "NaN");
    } else if (mpfr_inf_p(x) != 0 || mpfr_zero_p(x) != 0) {
        snprintf(result.text, sizeof result.text, "%s%s", sign, mpfr_inf_p(x) != 0 ? "inf" : "0");
    } else {
        long exponent = 0;
        char *digits = decimal_digits(x, &exponent);
        if (digits != NULL)
            write_decimal(result.text, sizeof result.text, digits, exponent, sign);
        free(digits);
    }
    return result;
}

/* "2^57", "-3*2^-18" for an odd part below ODD_PART; false for others. */
static bool power_text(mpfr_srcptr x, char *out, size_t size)
{
    mpz_t integer;
    mpz_init(integer);
    mpfr_exp_t exponent = mpfr_get_z_2exp(integer, x);
    mp_bitcnt_t zeros = mpz_scan1(integer, 0);
    mpz_tdiv_q_2exp(integer, integer, zeros);
    exponent += (mpfr_exp_t)zeros;
    bool small = mpz_cmpabs_ui(integer, ODD_PART) < 0;
    long odd = small ? mpz_get_si(integer) : 0;
    mpz_clear(integer);
    if (odd == 1 || odd == -1)
        snprintf(out, size, "%s2^%ld", odd < 0 ? "-" : "", (long)exponent);
    else if (small)
        snprintf(out, size, "%ld*2^%ld", odd, (long)exponent);
    return small;
}

fpo_number_text fpo_mpfr_text(mpfr_srcptr x)
{
    fpo_number_text result = fpo_decimal_text(x);
    if (mpfr_regular_p(x) != 0 && strspn(result.text, "-0123456789.") == strlen(result.text)) {
        size_t digits = 0;
        for (const char *c = result.text; *c != '\0'; c++)
            digits += *c >= '0' && *c <= '9' && (digits > 0 || *c != '0');
        if (digits <= POWER_DIGITS)
            return result;
    }
    if (mpfr_regular_p(x) != 0)
        power_text(x, result.text, sizeof result.text);
    return result;
}

fpo_number_text fpo_value_text(fpo_value value)
{
    mpfr_t x;
    mpfr_init2(x, 64);
    fpo_value_to_mpfr(x, value);
    fpo_number_text result = fpo_mpfr_text(x);
    mpfr_clear(x);
    return result;
}

fpo_number_text fpo_code_text(fpo_format format, uint32_t code)
{
    return fpo_value_text(fpo_decode(format, code));
}

fpo_number_text fpo_dyadic_text(mpfr_srcptr x)
{
    if (mpfr_regular_p(x) == 0)
        return fpo_mpfr_text(x);
    fpo_number_text result = {"?"};
    mpz_t integer;
    mpz_init(integer);
    mpfr_exp_t exponent = mpfr_get_z_2exp(integer, x);
    mp_bitcnt_t zeros = mpz_scan1(integer, 0);
    mpz_tdiv_q_2exp(integer, integer, zeros);
    exponent += (mpfr_exp_t)zeros;
    char *digits = mpz_get_str(NULL, 10, integer);
    if (digits != NULL && strlen(digits) > FPO_NUMBER_SIZE - 16)
        snprintf(result.text, sizeof result.text, "a %zu-bit integer * 2^%ld", mpz_sizeinbase(integer, 2),
                 (long)exponent);
    else if (digits != NULL)
        snprintf(result.text, sizeof result.text, "%s * 2^%ld", digits, (long)exponent);
    void (*release)(void *, size_t) = NULL;
    mp_get_memory_functions(NULL, NULL, &release);
    if (digits != NULL)
        release(digits, strlen(digits) + 1);
    mpz_clear(integer);
    return result;
}

fpo_number_text fpo_hex_text(fpo_format format, uint32_t code)
{
    const fpo_format_info *info = fpo_format_describe(format);
    fpo_number_text result;
    snprintf(result.text, sizeof result.text, "0x%0*X", (info->bits + 3) / 4, code);
    return result;
}

fpo_number_text fpo_fields_text(fpo_format format, uint32_t code)
{
    const fpo_format_info *info = fpo_format_describe(format);
    fpo_number_text result;
    size_t length = 0;
    for (int bit = info->bits - 1; bit >= 0; bit--) {
        result.text[length++] = (code >> bit & 1) != 0 ? '1' : '0';
        bool after_sign = info->sign_bits != 0 && bit == info->bits - 1;
        bool after_exponent = bit == info->mantissa_bits;
        if (bit > 0 && (after_sign || after_exponent))
            result.text[length++] = ' ';
    }
    result.text[length] = '\0';
    return result;
}

void fpo_value_to_mpfr(mpfr_ptr x, fpo_value value)
{
    switch (value.kind) {
    case FPO_NAN: mpfr_set_nan(x); return;
    case FPO_INFINITE: mpfr_set_inf(x, value.negative ? -1 : 1); return;
    case FPO_ZERO: mpfr_set_zero(x, value.negative ? -1 : 1); return;
    case FPO_FINITE: break;
    }
    mpfr_set_uj_2exp(x, value.significand, value.exponent, MPFR_RNDN);
    if (value.negative)
        mpfr_neg(x, x, MPFR_RNDN);
}

fpo_value fpo_value_from_mpfr(mpfr_srcptr x)
{
    fpo_value value = {.kind = FPO_FINITE, .negative = mpfr_signbit(x) != 0};
    if (mpfr_nan_p(x) != 0)
        value.kind = FPO_NAN;
    else if (mpfr_inf_p(x) != 0)
        value.kind = FPO_INFINITE;
    else if (mpfr_zero_p(x) != 0)
        value.kind = FPO_ZERO;
    if (value.kind != FPO_FINITE)
        return value;
    mpz_t integer;
    mpz_init(integer);
    value.exponent = (int32_t)mpfr_get_z_2exp(integer, x);
    mpz_abs(integer, integer);
    size_t bits = mpz_sizeinbase(integer, 2);
    if (bits > 64) {
        value.sticky = mpz_scan1(integer, 0) < bits - 64;
        mpz_tdiv_q_2exp(integer, integer, bits - 64);
        value.exponent += (int32_t)(bits - 64);
    }
    mpz_export(&value.significand, NULL, -1, sizeof value.significand, 0, 0, integer);
    mpz_clear(integer);
    return value;
}

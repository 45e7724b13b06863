/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A code taken apart: sign, exponent, mantissa, the formula with its numbers, the exact value. */
#include "explain.h"
#include "number.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

typedef struct fields {
    uint32_t sign, exponent, mantissa;
} fields;

static fields split(const fpo_format_info *info, uint32_t code)
{
    fields f;
    f.mantissa = code & ((1u << info->mantissa_bits) - 1);
    f.exponent = code >> info->mantissa_bits & ((1u << info->exponent_bits) - 1);
    f.sign = info->sign_bits != 0 ? code >> (info->bits - 1) & 1 : 0;
    return f;
}

static const char *class_name(fpo_value value)
{
    switch (value.kind) {
    case FPO_ZERO: return "zero";
    case FPO_INFINITE: return "infinity";
    case FPO_NAN: return "nan";
    case FPO_FINITE: break;
    }
    return "finite";
}

/* The columns after the bits stand under each other: `width` is the widest field. */
static void print_bits(const char *name, uint32_t value, int bits, int width, const char *note)
{
    printf("  %-9s", name);
    for (int bit = bits - 1; bit >= 0; bit--)
        putchar((value >> bit & 1) != 0 ? '1' : '0');
    printf("%*s = %u%s%s\n", width - bits, "", value, note[0] != '\0' ? "   " : "", note);
}

static void print_formula(const fpo_format_info *info, fields f, fpo_value value)
{
    const char *sign = f.sign != 0 ? "-" : "";
    switch (value.kind) {
    case FPO_NAN:
        printf("  formula  none: %s\n", info->specials == FPO_SPECIALS_UE8M0 ? "0xFF is NaN"
                                        : info->specials == FPO_SPECIALS_NAN_ONLY
                                            ? "exponent and mantissa all ones are NaN"
                                            : "exponent all ones, mantissa not zero: NaN");
        return;
    case FPO_INFINITE: puts("  formula  none: exponent all ones, mantissa zero: infinity"); return;
    case FPO_ZERO:
    case FPO_FINITE: break;
    }
    if (info->specials == FPO_SPECIALS_UE8M0) {
        printf("  formula  2^(exponent - bias) = 2^(%u - %d) = 2^%d\n", f.exponent, info->bias,
               (int)f.exponent - info->bias);
        return;
    }
    uint32_t one = 1u << info->mantissa_bits;
    if (f.exponent == 0)
        printf("  formula  %s2^(1 - bias) * mantissa/%u = %s2^(1 - %d) * %u/%u = %s%u * 2^%d   (%s)\n", sign, one, sign,
               info->bias, f.mantissa, one, sign, f.mantissa, info->quantum, f.mantissa == 0 ? "zero" : "subnormal");
    else
        printf("  formula  %s2^(exponent - bias) * (1 + mantissa/%u) = %s2^(%u - %d) * (1 + %u/%u) = %s%u * 2^%d\n",
               sign, one, sign, f.exponent, info->bias, f.mantissa, one, sign, one + f.mantissa,
               (int)f.exponent - info->bias - info->mantissa_bits);
}

void fpo_explain_fields(fpo_format format, uint32_t code)
{
    const fpo_format_info *info = fpo_format_describe(format);
    fields f = split(info, code);
    fpo_value value = fpo_decode(format, code);
    fpo_heading("%s %s = %s", info->name, fpo_hex_text(format, code).text, fpo_value_text(value).text);
    printf("  %s\n", info->summary);
    printf("  bits     %s\n", fpo_fields_text(format, code).text);
    int width = info->exponent_bits > info->mantissa_bits ? info->exponent_bits : info->mantissa_bits;
    char note[64] = "";
    if (info->sign_bits != 0)
        print_bits("sign", f.sign, 1, width, f.sign != 0 ? "negative" : "positive");
    snprintf(note, sizeof note, "bias %d", info->bias);
    print_bits("exponent", f.exponent, info->exponent_bits, width, note);
    if (info->mantissa_bits != 0)
        print_bits("mantissa", f.mantissa, info->mantissa_bits, width, "");
    print_formula(info, f, value);
    if (value.kind == FPO_FINITE) {
        mpfr_t x;
        mpfr_init2(x, 64);
        fpo_value_to_mpfr(x, value);
        printf("  exactly  %s = %s\n", fpo_dyadic_text(x).text, fpo_decimal_text(x).text);
        mpfr_clear(x);
    }
}

json_t *fpo_explain_fields_json(fpo_format format, uint32_t code)
{
    const fpo_format_info *info = fpo_format_describe(format);
    fields f = split(info, code);
    fpo_value value = fpo_decode(format, code);
    json_t *object = json_pack("{s:s, s:s, s:i, s:i, s:i, s:s, s:s, s:o}", "format", info->name, "code",
                               fpo_hex_text(format, code).text, "sign", (int)f.sign, "exponent_field", (int)f.exponent,
                               "mantissa_field", (int)f.mantissa, "class", class_name(value), "decimal",
                               fpo_value_text(value).text, "value", fpo_json_number(fpo_decode_double(format, code)));
    if (value.kind == FPO_FINITE) {
        mpfr_t x;
        mpfr_init2(x, 64);
        fpo_value_to_mpfr(x, value);
        json_object_set_new(object, "exact", json_string(fpo_dyadic_text(x).text));
        mpfr_clear(x);
    }
    return object;
}

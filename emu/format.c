/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Number formats: their parameters, derived from the registry, and exact decoding. */
#include <fp4oracle/format.h>
#include <string.h>

/* How many of the largest magnitudes are not finite numbers. */
#define TAKEN(specials, mantissa)                                                                                      \
    (FPO_SPECIALS_##specials == FPO_SPECIALS_NONE   ? 0u                                                               \
     : FPO_SPECIALS_##specials == FPO_SPECIALS_IEEE ? 1u << (mantissa)                                                 \
                                                    : 1u)
/* Whether the exponent field of all ones holds no finite number. */
#define TOP_TAKEN(specials)                                                                                            \
    (FPO_SPECIALS_##specials == FPO_SPECIALS_IEEE || FPO_SPECIALS_##specials == FPO_SPECIALS_UE8M0 ? 1 : 0)
/* ue8m0 uses the exponent field 0 for one more power of two instead of for subnormals. */
#define MIN_EXPONENT(specials, bias) ((FPO_SPECIALS_##specials == FPO_SPECIALS_UE8M0 ? 0 : 1) - (bias))

static const fpo_format_info formats[FPO_FORMAT_COUNT] = {
    [FPO_FORMAT_NONE] = {.name = "none", .summary = "no number"},
#define FPO_FORMAT(ID, name_, bits_, sign_, exponent_, mantissa_, bias_, specials_, summary_)                          \
    [FPO_##ID] = {                                                                                                     \
        .name = name_,                                                                                                 \
        .summary = summary_,                                                                                           \
        .bits = bits_,                                                                                                 \
        .sign_bits = sign_,                                                                                            \
        .exponent_bits = exponent_,                                                                                    \
        .mantissa_bits = mantissa_,                                                                                    \
        .bias = bias_,                                                                                                 \
        .specials = FPO_SPECIALS_##specials_,                                                                          \
        .code_mask = 0xFFFFFFFFu >> (32 - (bits_)),                                                                    \
        .max_finite = (1u << ((exponent_) + (mantissa_))) - 1 - TAKEN(specials_, mantissa_),                           \
        .min_exponent = MIN_EXPONENT(specials_, bias_),                                                                \
        .max_exponent = (1 << (exponent_)) - 1 - TOP_TAKEN(specials_) - (bias_),                                       \
        .quantum = MIN_EXPONENT(specials_, bias_) - (mantissa_),                                                       \
        .storage_bytes = (bits_) <= 8    ? 1                                                                           \
                         : (bits_) <= 16 ? 2                                                                           \
                                         : 4,                                                                          \
    },
#include <fp4oracle/formats.inc>
#undef FPO_FORMAT
};

const fpo_format_info *fpo_format_describe(fpo_format format)
{
    return (unsigned)format < FPO_FORMAT_COUNT ? &formats[format] : NULL;
}

fpo_format fpo_format_by_name(const char *name)
{
    if (name == NULL)
        return FPO_FORMAT_COUNT;
    unsigned format = 0;
    while (format < FPO_FORMAT_COUNT && strcmp(formats[format].name, name) != 0)
        format++;
    return (fpo_format)format;
}

/* A code taken apart: value = (-1)^negative * significand * 2^exponent if finite. */
typedef struct parts {
    uint32_t significand;
    int exponent;
    fpo_class kind;
    bool negative;
} parts;

static inline parts take_apart(const fpo_format_info *f, uint32_t code)
{
    unsigned magnitude_bits = (unsigned)f->exponent_bits + f->mantissa_bits;
    uint32_t magnitude = code & ((1u << magnitude_bits) - 1);
    uint32_t field = magnitude >> f->mantissa_bits;
    uint32_t mantissa = magnitude & ((1u << f->mantissa_bits) - 1);
    parts p = {.kind = FPO_FINITE, .negative = f->sign_bits != 0 && (code >> magnitude_bits & 1) != 0};
    if (magnitude > f->max_finite) {
        p.kind = f->specials == FPO_SPECIALS_IEEE && mantissa == 0 ? FPO_INFINITE : FPO_NAN;
    } else if (f->specials == FPO_SPECIALS_UE8M0) {
        p.significand = 1;
        p.exponent = (int)field - f->bias;
    } else if (field == 0) {
        p.significand = mantissa;
        p.exponent = f->quantum;
        p.kind = mantissa == 0 ? FPO_ZERO : FPO_FINITE;
    } else {
        p.significand = mantissa | 1u << f->mantissa_bits;
        p.exponent = (int)field - 1 + f->quantum;
    }
    return p;
}

fpo_value fpo_decode(fpo_format format, uint32_t code)
{
    if (format == FPO_FORMAT_NONE || (unsigned)format >= FPO_FORMAT_COUNT)
        return (fpo_value){.kind = FPO_ZERO};
    parts p = take_apart(&formats[format], code);
    return (fpo_value){
        .significand = p.significand, .exponent = p.exponent, .kind = p.kind, .negative = p.negative, .sticky = false};
}

static double double_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double fpo_decode_double(fpo_format format, uint32_t code)
{
    if (format == FPO_FORMAT_NONE || (unsigned)format >= FPO_FORMAT_COUNT)
        return 0.0;
    parts p = take_apart(&formats[format], code);
    uint64_t sign = (uint64_t)p.negative << 63;
    if (p.kind > FPO_FINITE)
        return double_from_bits(sign | (p.kind == FPO_NAN ? UINT64_C(0x7FF8) << 48 : UINT64_C(0x7FF0) << 48));
    /* Both factors are exact and no format reaches the subnormal doubles. */
    double magnitude = (double)p.significand * double_from_bits((uint64_t)(p.exponent + 1023) << 52);
    return p.negative ? -magnitude : magnitude;
}

uint32_t fpo_load_code(fpo_format format, const void *codes, size_t index)
{
    const uint8_t *bytes = codes;
    switch (formats[format].storage_bytes) {
    case 1: return bytes[index];
    case 2: return bytes[2 * index] | (uint32_t)bytes[2 * index + 1] << 8;
    case 4:
        bytes += 4 * index;
        return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    }
    return 0;
}

void fpo_store_code(fpo_format format, void *codes, size_t index, uint32_t code)
{
    size_t size = formats[format].storage_bytes;
    uint8_t *bytes = (uint8_t *)codes + size * index;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(code >> 8 * i);
}

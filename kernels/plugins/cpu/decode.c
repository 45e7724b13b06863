/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Codes to numbers, from the format definitions (OCP MX v1.0, IEEE 754). */
#include "cpu_reference.h"

#include <math.h>
#include <string.h>

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Sign, `exponent_bits`, `mantissa_bits`; no special codes. */
static float small_float(uint32_t code, int exponent_bits, int mantissa_bits, int bias)
{
    uint32_t mantissa = code & ((1u << mantissa_bits) - 1);
    int exponent = (int)(code >> mantissa_bits & ((1u << exponent_bits) - 1));
    float magnitude = exponent == 0 ? ldexpf((float)mantissa, 1 - bias - mantissa_bits)
                                    : ldexpf((float)(mantissa | 1u << mantissa_bits), exponent - bias - mantissa_bits);
    return code >> (exponent_bits + mantissa_bits) & 1 ? -magnitude : magnitude;
}

static float e2m1(uint32_t code)
{
    static const float magnitudes[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    return code & 8 ? -magnitudes[code & 7] : magnitudes[code & 7];
}

static float e2m3(uint32_t code)
{
    return small_float(code & 63, 2, 3, 1);
}

static float e3m2(uint32_t code)
{
    return small_float(code & 63, 3, 2, 3);
}

static float e4m3(uint32_t code)
{
    return (code & 0x7F) == 0x7F ? NAN : small_float(code, 4, 3, 7);
}

static float ue4m3(uint32_t code)
{
    return e4m3(code & 0x7F);
}

static float e5m2(uint32_t code)
{
    if ((code & 0x7C) == 0x7C) {
        return (code & 3) != 0 ? NAN : (code & 0x80) != 0 ? -INFINITY : INFINITY;
    }
    return small_float(code, 5, 2, 15);
}

static float ue8m0(uint32_t code)
{
    return code == 0xFF ? NAN : ldexpf(1.0f, (int)code - 127);
}

static float f16(uint32_t code)
{
    if ((code & 0x7C00) == 0x7C00) {
        return (code & 0x3FF) != 0 ? NAN : (code & 0x8000) != 0 ? -INFINITY : INFINITY;
    }
    return small_float(code, 5, 10, 15);
}

static float bf16(uint32_t code)
{
    return from_bits(code << 16);
}

static float tf32(uint32_t code)
{
    return from_bits(code << 13);
}

static float f32(uint32_t code)
{
    return from_bits(code);
}

cpu_decode cpu_decode_of(const char *format, int *bits)
{
    static const struct {
        const char *name;
        int bits;
        cpu_decode decode;
    } formats[] = {
        {"e2m1", 4, e2m1}, {"e2m3", 8, e2m3},   {"e3m2", 8, e3m2},   {"e4m3", 8, e4m3},
        {"e5m2", 8, e5m2}, {"f16", 16, f16},    {"bf16", 16, bf16},  {"tf32", 32, tf32},
        {"f32", 32, f32},  {"ue4m3", 8, ue4m3}, {"ue8m0", 8, ue8m0},
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, format) == 0) {
            *bits = formats[i].bits;
            return formats[i].decode;
        }
    }
    return NULL;
}

static uint32_t to_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Drops `count` low bits, to nearest even or toward zero. */
static uint32_t drop_bits(uint32_t bits, int count, int toward_zero)
{
    uint32_t kept = bits >> count, rest = bits & ((1u << count) - 1), half = 1u << (count - 1);
    return kept + (!toward_zero && (rest > half || (rest == half && (kept & 1) != 0)));
}

uint32_t cpu_to_bf16(float x, int toward_zero)
{
    return isnan(x) ? 0x7FFF : drop_bits(to_bits(x), 16, toward_zero);
}

uint32_t cpu_to_f16(float x, int toward_zero)
{
    uint32_t bits = to_bits(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
    if (isnan(x)) {
        return 0x7FFF;
    }
    if (isinf(x)) {
        return sign | 0x7C00;
    }
    if (magnitude >= 0x47800000) { /* 65536 and more; what rounds up to it comes out right below */
        return sign | (toward_zero ? 0x7BFFu : 0x7C00u);
    }
    if (magnitude >= 0x38800000) { /* 2^-14: normal in f16; the exponents differ by 112 */
        return sign | drop_bits(magnitude - (112u << 23), 13, toward_zero);
    }
    int shift = 126 - (int)(magnitude >> 23); /* units of 2^-24 */
    if (shift > 25) {
        return sign;
    }
    return sign | drop_bits((magnitude & 0x7FFFFF) | 0x800000, shift, toward_zero);
}

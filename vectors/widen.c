/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "widen.h"

#include <stdbool.h>
#include <string.h>

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The f32's bits of a code, but for NaN. The exponent's bias is corrected by a product with a power of two, which is
 * exact, of subnormals too. */
static uint32_t widen_f16(uint32_t code)
{
    float x = from_bits((code & 0x7FFFu) << 13) * 0x1p112f;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits |= (code & 0x7C00u) == 0x7C00u ? 0x7F800000u : 0;
    return bits | (code & 0x8000u) << 16;
}

static void widen_halves(bool f16, const uint8_t *from, int64_t count, float *to)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t code = from[2 * i] | (uint32_t)from[2 * i + 1] << 8;
        uint32_t bits = f16 ? widen_f16(code) : code << 16;
        bool is_nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
        to[i] = from_bits(is_nan ? (bits & 0x80000000u) | 0x7FC00000u : bits);
    }
}

static void widen_bytes(fpo_format format, const uint8_t *from, int64_t count, float *to)
{
    float values[256];
    for (uint32_t code = 0; code < 256; code++)
        values[code] = (float)fpo_decode_double(format, code);
    for (int64_t i = 0; i < count; i++)
        to[i] = values[from[i]];
}

void fpo_widen(fpo_format format, const void *from, int64_t count, float *to)
{
    if (format == FPO_F32)
        memcpy(to, from, (size_t)count * sizeof *to);
    else if (format == FPO_F16)
        widen_halves(true, from, count, to);
    else if (format == FPO_BF16)
        widen_halves(false, from, count, to);
    else
        widen_bytes(format, from, count, to);
}

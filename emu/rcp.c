/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* rcp.approx.ftz.f32 as an H200 computes it, from the measured table. */
#include "recipe.h"

#include <math.h>
#include <string.h>

/* Two bits a mantissa: 0, 1, 2 for one unit below, at, above the correctly rounded reciprocal. rcp_table.S. */
extern const uint8_t fpo_rcp_table[1 << 21];

float fpo_rcp_approx(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t sign = bits & 0x80000000u, mantissa = bits & 0x7FFFFFu;
    int exponent = (int)(bits >> 23 & 0xFF);
    uint32_t result;
    if (exponent == 0xFF) {
        result = mantissa != 0 ? 0x7FFFFFFFu : sign;
    } else if (exponent == 0) {
        result = sign | 0x7F800000u; /* subnormal arguments count as zero */
    } else {
        uint32_t one_bits = 127u << 23 | mantissa;
        float one;
        memcpy(&one, &one_bits, sizeof one);
        float rounded = 1 / one;
        memcpy(&result, &rounded, sizeof result);
        result += (fpo_rcp_table[mantissa >> 2] >> (mantissa & 3) * 2 & 3u) - 1;
        int field = (int)(result >> 23) + 127 - exponent;
        result = field <= 0 ? sign : sign | (uint32_t)field << 23 | (result & 0x7FFFFFu);
    }
    memcpy(&x, &result, sizeof x);
    return x;
}

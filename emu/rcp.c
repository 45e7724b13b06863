/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* rcp.approx and the divisions made of it as an H200 computes them, from the measured table. */
#include "recipe.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Two bits a mantissa: 0, 1, 2 for one unit below, at, above the correctly rounded reciprocal. rcp_table.S. */
extern const uint8_t fpo_rcp_table[1 << 21];

float fpo_flush(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & 0x7F800000u) == 0 ? bits & 0x80000000u : bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

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

static float canonical(float x)
{
    const uint32_t bits = 0x7FFFFFFFu;
    if (x != x)
        memcpy(&x, &bits, sizeof x);
    return x;
}

/* A product whose exponent is too small counts as zero: what is looked at is its value rounded to 24 bits. */
static float multiply(float a, float b, bool ftz)
{
    if (!ftz)
        return a * b;
    a = fpo_flush(a);
    b = fpo_flush(b);
    float product = a * b;
    if (fabsf(product) > FLT_MIN)
        return product;
    double unbounded = (double)((float)((double)a * 0x1p64 * (double)b)) * 0x1p-64;
    return product != product || fabs(unbounded) >= 0x1p-126 ? product : copysignf(0, product);
}

float fpo_rcp_approx_subnormal(float x)
{
    float magnitude = fabsf(x), scale = magnitude < FLT_MIN ? 0x1p24f : magnitude > 0x1p126f ? 0.25f : 1;
    return canonical(scale * fpo_rcp_approx(x * scale));
}

/* Divisors without a normal reciprocal are scaled together with the dividend; of div.approx none is that is large. The
 * order of operations is that of ptxas 13.0's code for sm_90 and sm_120, and tools/approx_on_gpu.cu compares. */
float fpo_div_approx(float a, float b, bool full, bool ftz)
{
    float magnitude = fabsf(b);
    float scale = full && magnitude > 0x1p126f ? 0.25f : !ftz && magnitude < FLT_MIN ? 0x1p24f : 1;
    if (scale != 1) {
        a = multiply(a, scale, ftz);
        b = multiply(b, scale, ftz);
    }
    return canonical(multiply(fpo_rcp_approx(b), a, ftz));
}

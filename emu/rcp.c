/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The divisions that an H200 makes of rcp.approx. */
#include "mufu.h"
#include "recipe.h"
#include "step.h"

#include <float.h>
#include <math.h>
#include <string.h>

float fpo_flush(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & 0x7F800000u) == 0 ? bits & 0x80000000u : bits;
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

/* Divisors without a normal reciprocal are scaled together with the dividend; of div.approx none is that is large. The
 * order of operations is the one that an H200's results have (tools/approx_on_gpu.cu, billions of quotients). */
float fpo_div_approx(float a, float b, bool full, bool ftz)
{
    float magnitude = fabsf(b);
    float scale = full && magnitude > 0x1p126f ? 0.25f : !ftz && magnitude < FLT_MIN ? 0x1p24f : 1;
    if (scale != 1) {
        a = multiply(a, scale, ftz);
        b = multiply(b, scale, ftz);
    }
    return fpo_canonical(multiply(fpo_mufu(FPO_MUFU_RCP, b), a, ftz));
}

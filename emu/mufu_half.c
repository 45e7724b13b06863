/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* ex2.approx and tanh.approx of f16 and bf16, for all codes as an H200 has them: the f32 result, cut. */
#include "mufu.h"

#include "step.h"

#include <math.h>

/* Beyond the largest number is infinity. */
static uint16_t narrowed(float x)
{
    uint32_t bits = fpo_bits_of_float(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
    if (magnitude > 0x7F800000)
        return 0x7FFF;
    if (magnitude >= 0x47800000) /* 2^16 */
        return (uint16_t)(sign | 0x7C00);
    if (magnitude >= 0x38800000) /* 2^-14 */
        return (uint16_t)(sign | ((magnitude - (112u << 23)) >> 13));
    return (uint16_t)(sign | (uint32_t)(fabsf(x) * 0x1p24f));
}

uint16_t fpo_approx_f16(fpo_mufu_function function, uint16_t code)
{
    return narrowed(fpo_approx(function, (float)fpo_decode_double(FPO_F16, code), false));
}

uint16_t fpo_approx_bf16(fpo_mufu_function function, uint16_t code)
{
    float result = fpo_approx(function, fpo_float_of_bits((uint32_t)code << 16), true);
    return (uint16_t)(fpo_bits_of_float(result) >> 16);
}

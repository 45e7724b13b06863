/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The output quantiser: the numbers of a row of D that share a scale to their codes and that scale, by the steps in
 * spec.h. */
#include "engine.h"

#include <math.h>
#include <string.h>

int64_t fpo_output_block(const fpo_epilogue *epilogue)
{
    switch (epilogue->d_scale) {
    case FPO_FORMAT_NONE: return 0;
    case FPO_UE8M0: return 32;
    default: return 16;
    }
}

int64_t fpo_output_scale_columns(const fpo_epilogue *epilogue, int64_t n)
{
    int64_t block = fpo_output_block(epilogue);
    return block == 0 ? 0 : n / block + (n % block != 0);
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint32_t fpo_quantize_output(const fpo_epilogue *epilogue, uint32_t *y, int count)
{
    float amax = 0.0f;
    for (int i = 0; i < count; i++) {
        float magnitude = fabsf(float_of(y[i]));
        if (magnitude > amax || magnitude != magnitude)
            amax = magnitude;
        if (amax != amax)
            break;
    }

    float largest = (float)fpo_decode_double(epilogue->d, fpo_format_describe(epilogue->d)->max_finite);
    const fpo_cast *cast = fpo_cast_describe(epilogue->d_scale == FPO_UE8M0 ? FPO_CAST_PTX_RP : FPO_CAST_PTX);
    uint32_t code = fpo_encode(epilogue->d_scale, fpo_value_from_float(amax / largest), cast, 0);
    float scale = (float)fpo_decode_double(epilogue->d_scale, code);
    float reciprocal = scale == 0 ? 0.0f : 1.0f / scale;
    for (int i = 0; i < count; i++)
        y[i] = fpo_encode(epilogue->d, fpo_value_from_float(float_of(y[i]) * reciprocal), &epilogue->d_cast, 0);
    return code;
}

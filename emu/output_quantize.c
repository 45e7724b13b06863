/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The output quantiser: 16 numbers of a row of D to e2m1 codes and their ue4m3 scale, by the steps in spec.h. */
#include "engine.h"

#include <math.h>
#include <string.h>

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

    uint32_t code =
        fpo_encode(epilogue->d_scale, fpo_value_from_float(amax / 6.0f), fpo_cast_describe(FPO_CAST_PTX), 0);
    float scale = (float)fpo_decode_double(epilogue->d_scale, code);
    float reciprocal = scale == 0 ? 0.0f : 1.0f / scale;
    for (int i = 0; i < count; i++)
        y[i] = fpo_encode(epilogue->d, fpo_value_from_float(float_of(y[i]) * reciprocal), &epilogue->d_cast, 0);
    return code;
}

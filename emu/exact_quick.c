/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The exact epilogue where it is one product: a double with a bound on its error decides nearly every rounding. */
#include "exact.h"

#include <math.h>
#include <string.h>

enum { MAX_FACTORS = 6 }; /* of f32 each: far from the ends of the double's range */

fpo_quick_epilogue fpo_quick_epilogue_of(const fpo_gemm_context *context)
{
    const fpo_epilogue *epilogue = &context->spec->epilogue;
    fpo_scaling scaling = fpo_epilogue_scaling(context);
    bool ieee = memcmp(&epilogue->d_cast, fpo_cast_describe(FPO_CAST_IEEE), sizeof epilogue->d_cast) == 0;
    bool to_float = epilogue->d == FPO_F32 || epilogue->d == FPO_F16 || epilogue->d == FPO_BF16;
    return (fpo_quick_epilogue){
        .usable = ieee && to_float && epilogue->d_scale == FPO_FORMAT_NONE && scaling.applies &&
                  scaling.scalars <= MAX_FACTORS && isfinite(scaling.product) && scaling.product != 0,
        .coefficient = ldexp(scaling.product, FPO_FIXED64_EXPONENT),
    };
}

static uint32_t code_of(fpo_format d, double y)
{
    if (d != FPO_F32)
        return fpo_encode_double(d, y, fpo_cast_describe(FPO_CAST_IEEE));
    float rounded = (float)y;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

bool fpo_quick_code(const fpo_quick_epilogue *quick, fpo_format d, int64_t sum, uint32_t *code)
{
    /* Relative: 2^-53 for each rounding: of the sum, the factors, the product, and the two below. */
    static const double error = 0x1p-49;
    if (!quick->usable || sum == 0)
        return false;
    double y = (double)sum * quick->coefficient;
    uint32_t low = code_of(d, y * (1 - error));
    *code = code_of(d, y * (1 + error));
    return low == *code;
}

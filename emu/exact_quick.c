/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The exact epilogue where it is one product: a double with a bound on its error decides nearly every rounding. */
#include "exact.h"

#include <math.h>
#include <string.h>

enum { MAX_FACTORS = 6 }; /* of f32 each: far from the ends of the double's range */

/* The product of the program's factors. False if the program does more than multiply by scalars. */
static bool product_of_factors(const fpo_gemm_context *context, double *product)
{
    const fpo_epilogue *epilogue = &context->spec->epilogue;
    double coef = 1;
    double y = 1;
    int factors = 0;
    for (int i = 0; i < FPO_EPILOGUE_STEPS && epilogue->steps[i].op != FPO_EPI_END; i++) {
        fpo_epilogue_step step = epilogue->steps[i];
        bool scalar = step.operand == FPO_EPI_ALPHA || step.operand == FPO_EPI_A_TENSOR_SCALE ||
                      step.operand == FPO_EPI_B_TENSOR_SCALE;
        if (step.op == FPO_EPI_MUL_COEF)
            y *= coef;
        else if (step.op == FPO_EPI_COEF_MUL && scalar)
            coef *= fpo_epilogue_operand_value(context, step.operand, 0, 0);
        else if (step.op == FPO_EPI_MUL && scalar)
            y *= fpo_epilogue_operand_value(context, step.operand, 0, 0);
        else
            return false;
        factors += scalar;
    }
    *product = y;
    return factors <= MAX_FACTORS && isfinite(y) && y != 0;
}

fpo_quick_epilogue fpo_quick_epilogue_of(const fpo_gemm_context *context)
{
    const fpo_epilogue *epilogue = &context->spec->epilogue;
    fpo_quick_epilogue quick = {false, 0};
    bool ieee = memcmp(&epilogue->d_cast, fpo_cast_describe(FPO_CAST_IEEE), sizeof epilogue->d_cast) == 0;
    if (ieee && epilogue->d_scale == FPO_FORMAT_NONE &&
        (epilogue->d == FPO_F32 || epilogue->d == FPO_F16 || epilogue->d == FPO_BF16)) {
        quick.usable = product_of_factors(context, &quick.coefficient);
        quick.coefficient = ldexp(quick.coefficient, FPO_FIXED64_EXPONENT);
    }
    return quick;
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

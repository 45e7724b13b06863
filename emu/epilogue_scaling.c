/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Most epilogues are a few scalar factors, the same for every element: found once, not for each. */
#include "engine.h"

static bool is_scalar(fpo_epilogue_operand operand)
{
    return operand == FPO_EPI_ALPHA || operand == FPO_EPI_A_TENSOR_SCALE || operand == FPO_EPI_B_TENSOR_SCALE ||
           operand == FPO_EPI_D_SCALE;
}

/* Operations that do nothing where the problem has no C that counts and no bias. */
static bool is_idle(const fpo_gemm_context *context, fpo_epilogue_op op)
{
    return (op == FPO_EPI_FMA_BETA_C && !fpo_epilogue_reads_c(context)) ||
           (op == FPO_EPI_ADD_BIAS && context->spec->epilogue.bias == FPO_FORMAT_NONE);
}

fpo_scaling fpo_epilogue_scaling(const fpo_gemm_context *context)
{
    const fpo_epilogue *epilogue = &context->spec->epilogue;
    fpo_scaling s = {.applies = true, .product = 1};
    float coef = 1;
    double exact_coef = 1;
    for (int i = 0; i < FPO_EPILOGUE_STEPS && epilogue->steps[i].op != FPO_EPI_END && s.applies; i++) {
        fpo_epilogue_step step = epilogue->steps[i];
        bool scalar = is_scalar(step.operand);
        float x = scalar ? fpo_epilogue_operand_value(context, step.operand, 0, 0) : 1;
        if (step.op == FPO_EPI_COEF_MUL && scalar) {
            coef *= x;
            exact_coef *= x;
        } else if (step.op == FPO_EPI_MUL && scalar) {
            s.factors[s.count++] = x;
            s.product *= x;
        } else if (step.op == FPO_EPI_MUL_COEF) {
            s.factors[s.count++] = coef;
            s.product *= exact_coef;
        } else {
            s.applies = is_idle(context, step.op);
        }
        s.scalars += scalar;
    }
    return s;
}

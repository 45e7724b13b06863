/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The twin's epilogue: the program of spec.h, one operation after the other. For a modelled accumulator every operation
 * is rounded to f32; for the exact one none is but those that say so. */
#include "twin.h"

typedef struct twin_run {
    const fpo_twin_gemm *gemm;
    int64_t m, n;
    bool rounds;
    fpo_twin_value y, coef, beta;
} twin_run;

static void rounded(const twin_run *run, fpo_twin_value *x)
{
    if (run->rounds)
        fpo_twin_round(FPO_F32, x);
}

static void operand_value(const twin_run *run, fpo_epilogue_operand operand, fpo_twin_value *x)
{
    const fpo_twin_gemm *gemm = run->gemm;
    switch (operand) {
    case FPO_EPI_NOTHING: fpo_twin_float(x, 1.0f); break;
    case FPO_EPI_ALPHA: fpo_twin_float(x, gemm->problem->alpha); break;
    case FPO_EPI_D_SCALE: fpo_twin_float(x, gemm->problem->d_scale); break;
    case FPO_EPI_A_TENSOR_SCALE: *x = gemm->a.tensor_scale; break;
    case FPO_EPI_B_TENSOR_SCALE: *x = gemm->b.tensor_scale; break;
    case FPO_EPI_A_SCALE:
        fpo_twin_decode(gemm->spec->a.read.scale.format, fpo_twin_scale(&gemm->a, run->m, 0), x);
        break;
    case FPO_EPI_B_SCALE:
        fpo_twin_decode(gemm->spec->b.read.scale.format, fpo_twin_scale(&gemm->b, run->n, 0), x);
        break;
    }
}

/* Number `index` of a matrix or vector of f32, bf16 or f16. */
static void memory_value(fpo_format format, const void *memory, int64_t index, fpo_twin_value *x)
{
    const uint8_t *bytes = memory;
    uint32_t code;
    if (format == FPO_F32)
        code = bytes[4 * index] + 256u * bytes[4 * index + 1] + 65536u * bytes[4 * index + 2] +
               16777216u * bytes[4 * index + 3];
    else
        code = bytes[2 * index] + 256u * bytes[2 * index + 1];
    fpo_twin_decode(format, code, x);
}

static bool c_counts(const twin_run *run)
{
    return run->gemm->spec->epilogue.c != FPO_FORMAT_NONE && !fpo_twin_is_zero(&run->beta);
}

static void c_value(const twin_run *run, fpo_twin_value *c)
{
    memory_value(run->gemm->spec->epilogue.c, run->gemm->problem->c, run->m * run->gemm->problem->n + run->n, c);
}

static void bias_value(const twin_run *run, fpo_twin_value *bias)
{
    const fpo_epilogue *e = &run->gemm->spec->epilogue;
    memory_value(e->bias, run->gemm->problem->bias, e->bias_per_row ? run->m : run->n, bias);
}

/* y = fma(y, factor, addend) */
static void multiply_add(twin_run *run, const fpo_twin_value *factor, const fpo_twin_value *addend)
{
    fpo_twin_multiply(&run->y, &run->y, factor);
    fpo_twin_add(&run->y, &run->y, addend);
    rounded(run, &run->y);
}

static void coef_beta_c(twin_run *run)
{
    fpo_twin_value addend;
    fpo_twin_zero(&addend);
    if (c_counts(run)) {
        c_value(run, &addend);
        fpo_twin_multiply(&addend, &run->beta, &addend);
        rounded(run, &addend);
    }
    multiply_add(run, &run->coef, &addend);
}

static void beta_c(twin_run *run, bool always)
{
    fpo_twin_value product;
    fpo_twin_zero(&product);
    if (c_counts(run))
        c_value(run, &product);
    else if (!always || run->gemm->spec->epilogue.c == FPO_FORMAT_NONE)
        return;
    fpo_twin_multiply(&product, &run->beta, &product);
    fpo_twin_add(&run->y, &product, &run->y);
    rounded(run, &run->y);
}

static bool coef_is_one(const twin_run *run)
{
    fpo_twin_value one;
    fpo_twin_float(&one, 1.0f);
    return run->coef.kind == FPO_TWIN_NUMBER && fpo_twin_compare(&run->coef.number, &one.number) == 0;
}

static void operation(twin_run *run, fpo_epilogue_step step)
{
    bool has_bias = run->gemm->spec->epilogue.bias != FPO_FORMAT_NONE;
    fpo_twin_value x, zero, bias;
    operand_value(run, step.operand, &x);
    fpo_twin_zero(&zero);
    if (has_bias && (step.op == FPO_EPI_ADD_BIAS || step.op == FPO_EPI_FMA_BIAS))
        bias_value(run, &bias);

    switch (step.op) {
    case FPO_EPI_END: break;
    case FPO_EPI_COEF_MUL:
        fpo_twin_multiply(&run->coef, &run->coef, &x);
        rounded(run, &run->coef);
        break;
    case FPO_EPI_COEF_ROUND_F16: fpo_twin_round(FPO_F16, &run->coef); break;
    case FPO_EPI_COEF_ROUND_BF16: fpo_twin_round(FPO_BF16, &run->coef); break;
    case FPO_EPI_MUL:
        fpo_twin_multiply(&run->y, &run->y, &x);
        rounded(run, &run->y);
        break;
    case FPO_EPI_MUL_COEF_OR_ZERO:
    case FPO_EPI_MUL_COEF:
        fpo_twin_multiply(&run->y, &run->y, &run->coef);
        rounded(run, &run->y);
        if (step.op == FPO_EPI_MUL_COEF_OR_ZERO && fpo_twin_is_zero(&run->coef))
            fpo_twin_zero(&run->y);
        break;
    case FPO_EPI_FMA_ZERO: multiply_add(run, &x, &zero); break;
    case FPO_EPI_FMA_COEF_ZERO: multiply_add(run, &run->coef, &zero); break;
    case FPO_EPI_FMA_COEF_BETA_C: coef_beta_c(run); break;
    case FPO_EPI_FMA_COEF_BETA_C_UNLESS_ONE:
        if (c_counts(run) || !coef_is_one(run))
            coef_beta_c(run);
        break;
    case FPO_EPI_FMA_BETA_C: beta_c(run, false); break;
    case FPO_EPI_FMA_BETA_C_ALWAYS: beta_c(run, true); break;
    case FPO_EPI_ADD_BIAS:
        if (has_bias) {
            fpo_twin_add(&run->y, &run->y, &bias);
            rounded(run, &run->y);
        }
        break;
    case FPO_EPI_FMA_BIAS:
        if (has_bias) {
            multiply_add(run, &x, &bias);
        } else {
            fpo_twin_multiply(&run->y, &run->y, &x);
            rounded(run, &run->y);
        }
        break;
    case FPO_EPI_RELU:
        if (run->y.kind != FPO_TWIN_NAN && run->y.negative)
            fpo_twin_zero(&run->y);
        break;
    case FPO_EPI_ROUND_F16: fpo_twin_round(FPO_F16, &run->y); break;
    case FPO_EPI_ROUND_BF16: fpo_twin_round(FPO_BF16, &run->y); break;
    }
}

void fpo_twin_epilogue(const fpo_twin_gemm *gemm, int64_t m, int64_t n, fpo_twin_value *y)
{
    const fpo_epilogue *epilogue = &gemm->spec->epilogue;
    twin_run run = {.gemm = gemm, .m = m, .n = n, .rounds = gemm->spec->accumulation.step.kind != FPO_STEP_EXACT};
    run.y = *y;
    fpo_twin_float(&run.coef, 1.0f);
    fpo_twin_float(&run.beta, gemm->problem->beta);
    for (int i = 0; i < FPO_EPILOGUE_STEPS && epilogue->steps[i].op != FPO_EPI_END; i++)
        operation(&run, epilogue->steps[i]);
    *y = run.y;
}

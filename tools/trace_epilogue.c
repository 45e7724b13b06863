/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The epilogue's program on one accumulator: exact under the exact model, f32 step by step otherwise. */
#include "trace.h"

typedef struct machine {
    const fpo_trace *trace;
    bool exact; /* operations do not round */
    mpfr_ptr y, coef;
    json_t *steps;
} machine;

/* The result of an operation: an f32 under a modelled accumulation. */
static void settle(const machine *m, mpfr_ptr x)
{
    if (m->exact || mpfr_regular_p(x) == 0)
        return;
    uint32_t bits = fpo_encode(FPO_F32, fpo_value_from_mpfr(x), fpo_cast_describe(FPO_CAST_IEEE), 0);
    fpo_value_to_mpfr(x, fpo_decode(FPO_F32, bits));
}

static void narrow(mpfr_ptr x, fpo_format format)
{
    uint32_t code = fpo_encode(format, fpo_value_from_mpfr(x), fpo_cast_describe(FPO_CAST_IEEE), 0);
    fpo_value_to_mpfr(x, fpo_decode(format, code));
}

static void set_float(mpfr_ptr x, float value)
{
    fpo_value_to_mpfr(x, fpo_value_from_float(value));
}

static const char *operand_name(fpo_epilogue_operand operand)
{
    switch (operand) {
    case FPO_EPI_ALPHA: return "alpha";
    case FPO_EPI_A_TENSOR_SCALE: return "a's tensor scale";
    case FPO_EPI_B_TENSOR_SCALE: return "b's tensor scale";
    case FPO_EPI_A_SCALE: return "a's scale";
    case FPO_EPI_B_SCALE: return "b's scale";
    case FPO_EPI_D_SCALE: return "d's scale";
    case FPO_EPI_NOTHING: break;
    }
    return "1";
}

/* One line: the operation as the registry words it, the number that it takes, and what y or the coefficient is then. */
static void record(const machine *m, fpo_epilogue_op op, const char *operand, mpfr_srcptr with, mpfr_srcptr result)
{
    json_t *step = json_pack("{s:s, s:s}", "operation", fpo_epilogue_op_describe(op)->name, "meaning",
                             fpo_epilogue_op_describe(op)->summary);
    if (operand != NULL) {
        json_object_set_new(step, "operand", json_string(operand));
        json_object_set_new(step, "operand_value", json_string(fpo_mpfr_text(with).text));
    }
    json_object_set_new(step, "result", json_string(fpo_mpfr_text(result).text));
    if (!m->exact) {
        uint32_t bits = fpo_encode(FPO_F32, fpo_value_from_mpfr(result), fpo_cast_describe(FPO_CAST_IEEE), 0);
        json_object_set_new(step, "bits", json_string(fpo_hex_text(FPO_F32, bits).text));
    }
    json_array_append_new(m->steps, step);
}

/* y = x * y + z */
static void multiply_add(const machine *m, mpfr_srcptr x, mpfr_srcptr z)
{
    mpfr_fma(m->y, x, m->y, z, MPFR_RNDN);
    settle(m, m->y);
}

/* What the operations with C, and with the bias, find. False: C is not read. */
static bool load_c(const machine *m, mpfr_ptr c)
{
    const fpo_gemm_context *context = m->trace->context;
    bool reads = fpo_epilogue_reads_c(context);
    set_float(c, reads ? fpo_epilogue_c(context, m->trace->row, m->trace->column) : 0.0f);
    return reads;
}

static void coef_beta_c(const machine *m, fpo_epilogue_op op, mpfr_ptr c)
{
    if (!load_c(m, c)) {
        multiply_add(m, m->coef, c); /* + 0 */
        record(m, op, NULL, NULL, m->y);
        return;
    }
    mpfr_t beta;
    mpfr_init2(beta, FPO_WIDE_BITS);
    set_float(beta, m->trace->context->problem->beta);
    mpfr_mul(beta, c, beta, MPFR_RNDN);
    settle(m, beta);
    multiply_add(m, m->coef, beta);
    record(m, op, "beta*C", beta, m->y);
    mpfr_clear(beta);
}

static void beta_c(const machine *m, fpo_epilogue_op op, mpfr_ptr c)
{
    bool has_c = m->trace->context->spec->epilogue.c != FPO_FORMAT_NONE;
    if (!load_c(m, c) && (op != FPO_EPI_FMA_BETA_C_ALWAYS || !has_c))
        return;
    mpfr_t beta;
    mpfr_init2(beta, FPO_WIDE_BITS);
    set_float(beta, m->trace->context->problem->beta);
    mpfr_fma(m->y, beta, c, m->y, MPFR_RNDN);
    settle(m, m->y);
    record(m, op, "C", c, m->y);
    mpfr_clear(beta);
}

/* y = y * x + bias; x is 1 for an addition alone. */
static void bias(const machine *m, fpo_epilogue_op op, const char *name, mpfr_srcptr x, mpfr_ptr scratch)
{
    const fpo_gemm_context *c = m->trace->context;
    bool has_bias = c->spec->epilogue.bias != FPO_FORMAT_NONE;
    if (!has_bias && op == FPO_EPI_ADD_BIAS)
        return;
    if (has_bias) {
        set_float(scratch, fpo_epilogue_bias(c, m->trace->row, m->trace->column));
        mpfr_fma(m->y, m->y, x, scratch, MPFR_RNDN);
    } else {
        mpfr_mul(m->y, m->y, x, MPFR_RNDN);
    }
    settle(m, m->y);
    record(m, op, has_bias ? "bias" : name, has_bias ? scratch : x, m->y);
}

/* x = x * factor */
static void multiply(const machine *m, mpfr_ptr x, mpfr_srcptr factor)
{
    mpfr_mul(x, x, factor, MPFR_RNDN);
    settle(m, x);
}

static void apply(const machine *m, fpo_epilogue_step step, mpfr_ptr x, mpfr_ptr scratch)
{
    const char *name = operand_name(step.operand);
    mpfr_ptr result = m->y;
    switch (step.op) {
    case FPO_EPI_END: return;
    case FPO_EPI_COEF_MUL:
        result = m->coef;
        multiply(m, m->coef, x);
        break;
    case FPO_EPI_COEF_ROUND_F16:
    case FPO_EPI_COEF_ROUND_BF16:
        result = m->coef;
        narrow(m->coef, step.op == FPO_EPI_COEF_ROUND_F16 ? FPO_F16 : FPO_BF16);
        break;
    case FPO_EPI_MUL: multiply(m, m->y, x); break;
    case FPO_EPI_MUL_COEF: multiply(m, m->y, m->coef); break;
    case FPO_EPI_MUL_COEF_OR_ZERO:
        if (mpfr_zero_p(m->coef) != 0)
            mpfr_set_zero(m->y, 1);
        else
            multiply(m, m->y, m->coef);
        break;
    case FPO_EPI_FMA_ZERO:
    case FPO_EPI_FMA_COEF_ZERO:
        mpfr_set_zero(scratch, 1);
        multiply_add(m, step.op == FPO_EPI_FMA_ZERO ? x : m->coef, scratch);
        break;
    case FPO_EPI_FMA_COEF_BETA_C_UNLESS_ONE:
        if (mpfr_nan_p(m->coef) == 0 && mpfr_cmp_ui(m->coef, 1) == 0 && !fpo_epilogue_reads_c(m->trace->context))
            break;
        coef_beta_c(m, step.op, scratch);
        return;
    case FPO_EPI_FMA_COEF_BETA_C: coef_beta_c(m, step.op, scratch); return;
    case FPO_EPI_FMA_BETA_C:
    case FPO_EPI_FMA_BETA_C_ALWAYS: beta_c(m, step.op, scratch); return;
    case FPO_EPI_ADD_BIAS:
    case FPO_EPI_FMA_BIAS: bias(m, step.op, name, x, scratch); return;
    case FPO_EPI_RELU:
        if (mpfr_nan_p(m->y) == 0 && mpfr_sgn(m->y) <= 0)
            mpfr_set_zero(m->y, 1);
        break;
    case FPO_EPI_ROUND_F16: narrow(m->y, FPO_F16); break;
    case FPO_EPI_ROUND_BF16: narrow(m->y, FPO_BF16); break;
    }
    bool takes = fpo_epilogue_op_describe(step.op)->takes_operand;
    record(m, step.op, takes ? name : NULL, x, result);
}

void fpo_trace_epilogue(const fpo_trace *trace, json_t *object, mpfr_ptr y)
{
    const fpo_gemm_context *c = trace->context;
    mpfr_t coef, x, scratch;
    mpfr_inits2(FPO_WIDE_BITS, coef, x, scratch, (mpfr_ptr)0);
    mpfr_set_ui(coef, 1, MPFR_RNDN);
    machine m = {trace, c->spec->accumulation.step.kind == FPO_STEP_EXACT, y, coef, json_array()};
    for (int i = 0; i < FPO_EPILOGUE_STEPS && c->spec->epilogue.steps[i].op != FPO_EPI_END; i++) {
        fpo_epilogue_step step = c->spec->epilogue.steps[i];
        mpfr_set_ui(x, 1, MPFR_RNDN);
        if (step.operand != FPO_EPI_NOTHING)
            set_float(x, fpo_epilogue_operand_value(c, step.operand, trace->row, trace->column));
        apply(&m, step, x, scratch);
    }
    json_object_set_new(object, "epilogue", m.steps);
    mpfr_clears(coef, x, scratch, (mpfr_ptr)0);
}

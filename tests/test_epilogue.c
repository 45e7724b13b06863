/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The epilogue: random programs over every operation, all casts of D, modelled and exact, against the twin and (exact)
 * against MPFR; the programs of the registry against the formulas in facts.md 6.5 and 6.5b. */
#include "gemm_data.h"
#include "gemm_mpfr.h"
#include "suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const fpo_format d_formats[] = {FPO_F32, FPO_BF16, FPO_F16, FPO_E4M3, FPO_E5M2};
static const fpo_format addends[] = {FPO_FORMAT_NONE, FPO_F32, FPO_BF16, FPO_F16};

static float special_or_random(gemm_random *r)
{
    static const float values[] = {0.0f, -0.0f, 1.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1p-126f, 0x1.fffffep127f};
    uint64_t pick = gemm_random_below(r, 27);
    return pick < 9 ? values[pick] : gemm_random_float(r, pick < 24 ? 6 : 0);
}

static void random_program(fpo_epilogue *e, gemm_random *r, int longest)
{
    int count = 1 + (int)gemm_random_below(r, (uint64_t)longest);
    memset(e->steps, 0, sizeof e->steps);
    for (int i = 0; i < count; i++) {
        fpo_epilogue_step *step = &e->steps[i];
        do
            step->op = (fpo_epilogue_op)(1 + gemm_random_below(r, FPO_EPI_ROUND_BF16));
        while (step->op == FPO_EPI_RELU && gemm_random_below(r, 2) != 0);
        if (fpo_epilogue_op_describe(step->op)->takes_operand)
            step->operand = (fpo_epilogue_operand)(1 + gemm_random_below(r, FPO_EPI_D_SCALE));
    }
}

static void random_cast(fpo_cast *cast, gemm_random *r, bool mpfr)
{
    static const fpo_rounding in_mpfr[] = {FPO_NEAREST_EVEN, FPO_TOWARD_ZERO, FPO_AWAY_FROM_ZERO, FPO_UP, FPO_DOWN};
    cast->rounding = mpfr ? in_mpfr[gemm_random_below(r, 5)] : (fpo_rounding)gemm_random_below(r, FPO_STOCHASTIC);
    cast->overflow = (fpo_overflow)gemm_random_below(r, 2);
    cast->infinity = (fpo_overflow)gemm_random_below(r, 2);
    cast->nan = (fpo_nan_policy)gemm_random_below(r, 3);
    cast->drop_negative_zero = !mpfr && gemm_random_below(r, 2) != 0;
}

/* Scales per tensor and per row, so that they are operands too. */
static gemm_case *make(gemm_random *r, bool mpfr)
{
    static const fpo_block_format formats[] = {FPO_BLOCK_FP8_TENSOR, FPO_BLOCK_FP8_ROW, FPO_BLOCK_FP8_E5M2_ROW};
    gemm_case *x = gemm_case_new(formats[gemm_random_below(r, 3)], formats[gemm_random_below(r, 3)], 2, 3, 4,
                                 d_formats[gemm_random_below(r, 5)]);
    fpo_format c = addends[gemm_random_below(r, 4)], bias = addends[gemm_random_below(r, 4)];
    if (c != FPO_FORMAT_NONE)
        gemm_case_add_c(x, c);
    if (bias != FPO_FORMAT_NONE)
        gemm_case_add_bias(x, bias, gemm_random_below(r, 2) != 0);
    gemm_data_fill(x, gemm_random_below(r, 8) == 0 ? DATA_ANY : DATA_SPARSE, r);
    for (int64_t row = 0; row < fpo_scale_rows(&x->spec.a.read.scale, 2); row++)
        gemm_case_set_scale(x, SIDE_A, row, 0, gemm_random_code(r, FPO_F32, 4));
    gemm_data_fill_epilogue(x, r, 6);
    float *const scalars[] = {&x->problem.alpha, &x->problem.beta, &x->problem.d_scale, &x->problem.a.tensor_scale,
                              &x->problem.b.tensor_scale};
    for (int i = 0; i < 5; i++) {
        if (gemm_random_below(r, 3) == 0)
            *scalars[i] = special_or_random(r);
    }
    random_program(&x->spec.epilogue, r, 12);
    random_cast(&x->spec.epilogue.d_cast, r, mpfr);
    return x;
}

START_TEST(random_programs)
{
    gemm_random r = {{20261130, 6}, 0};
    int repeats = getenv("FPO_LONG") != NULL ? 100000 : 3000;
    for (int i = 0; i < repeats; i++) {
        gemm_case *x = make(&r, i % 2 == 0);
        gemm_case_check_twin(x, "exact");
        if (i % 2 == 0)
            gemm_mpfr_check(x, "exact");
        x->spec.accumulation = fpo_model_by_name("fma_f32")->accumulation;
        gemm_case_check_twin(x, "modelled");
        gemm_case_free(x);
    }
}
END_TEST

/* Every operand an f32 at the ends of its range and every step a multiplication: the widest numbers there are. */
START_TEST(widest_numbers)
{
    static const float ends[] = {0x1p-149f, 0x1.fffffep127f, 0x1.fffffep-126f, -0x1p127f, 0x1.000002p0f};
    gemm_random r = {{20261130, 7}, 0};
    for (int i = 0; i < 200; i++) {
        gemm_case *x = gemm_case_new(FPO_BLOCK_PLAIN_F32, FPO_BLOCK_PLAIN_F32, 1, 1, 3, FPO_F32);
        gemm_case_add_c(x, FPO_F32);
        gemm_case_add_bias(x, FPO_F32, false);
        gemm_data_fill(x, DATA_EXTREME, &r);
        gemm_data_fill_epilogue(x, &r, 0);
        x->problem.alpha = ends[gemm_random_below(&r, 5)];
        x->problem.a.tensor_scale = ends[gemm_random_below(&r, 5)];
        x->problem.beta = ends[gemm_random_below(&r, 5)];
        fpo_epilogue_step *steps = x->spec.epilogue.steps;
        int coefficients = (int)gemm_random_below(&r, 8);
        for (int s = 0; s < FPO_EPILOGUE_STEPS; s++) {
            if (s < coefficients)
                steps[s] = (fpo_epilogue_step){FPO_EPI_COEF_MUL, s % 2 == 0 ? FPO_EPI_ALPHA : FPO_EPI_A_TENSOR_SCALE};
            else
                steps[s] =
                    (fpo_epilogue_step){s % 2 == 0 ? FPO_EPI_MUL_COEF : FPO_EPI_FMA_COEF_BETA_C, FPO_EPI_NOTHING};
        }
        steps[gemm_random_below(&r, 12)] = (fpo_epilogue_step){FPO_EPI_ADD_BIAS, FPO_EPI_NOTHING};
        gemm_case_check_twin(x, "widest");
        gemm_mpfr_check(x, "widest");
        gemm_case_free(x);
    }
}
END_TEST

/* ---- the registry's programs ---- */

typedef struct inputs {
    float acc, alpha, beta, c, bias, a_scale, b_scale;
} inputs;

static float rn(double x) /* products of two f32 are exact in double */
{
    return (float)x;
}

static float bf16(float x)
{
    uint32_t code = fpo_encode_double(FPO_BF16, x, fpo_cast_describe(FPO_CAST_IEEE));
    return (float)fpo_decode_double(FPO_BF16, code);
}

static float addend(const inputs *i, float y)
{
    return i->beta != 0 ? fmaf(i->beta, i->c, y) : y;
}

/* facts.md 6.5 and 6.5b, formula by formula. */
static float formula(fpo_epilogue_preset preset, const inputs *i)
{
    float product = rn((double)rn((double)i->a_scale * i->alpha) * i->b_scale);
    float scaled = rn((double)rn((double)i->acc * i->a_scale) * i->b_scale);
    float c = i->beta != 0 ? rn((double)i->beta * i->c) : 0.0f;
    switch (preset) {
    case FPO_EPILOGUE_CUBLASLT_FP8_TENSOR: return fmaf(product, i->acc, c) + i->bias;
    case FPO_EPILOGUE_CUBLASLT_FP8_TENSOR_SPLIT:
        return addend(i, product == 0 ? 0.0f : rn((double)product * i->acc)) + i->bias;
    case FPO_EPILOGUE_CUBLASLT_FP8_ROW:
        return (i->alpha == 1 && i->beta == 0 ? scaled : fmaf(i->alpha, scaled, c)) + i->bias;
    case FPO_EPILOGUE_CUBLASLT_FP8_ROW_SPLIT:
        return addend(i, i->alpha == 0 ? 0.0f : rn((double)i->alpha * scaled)) + i->bias;
    case FPO_EPILOGUE_CUBLASLT_FP8_BLOCK:
        return (i->alpha == 1 && i->beta == 0 ? i->acc : fmaf(i->alpha, i->acc, c)) + i->bias;
    case FPO_EPILOGUE_CUBLASLT_FP8_BLOCK_SPLIT:
        return addend(i, i->alpha == 0 ? 0.0f : rn((double)i->alpha * i->acc)) + i->bias;
    case FPO_EPILOGUE_CUDNN_FP8_AB: return rn((double)i->acc * rn((double)i->a_scale * i->b_scale));
    case FPO_EPILOGUE_CUDNN_FP8_A_THEN_B: return scaled;
    case FPO_EPILOGUE_CUTLASS: return addend(i, rn((double)i->alpha * i->acc)) + i->bias;
    case FPO_EPILOGUE_CUTLASS_C:
        return fmaf(i->beta, i->beta != 0 ? i->c : 0.0f, rn((double)i->alpha * i->acc)) + i->bias;
    case FPO_EPILOGUE_CUTLASS_CONTRACTED: return fmaf(i->alpha, i->acc, c) + i->bias;
    case FPO_EPILOGUE_VLLM_SCALED_MM: return fmaf(rn((double)i->acc * i->b_scale), i->a_scale, i->bias);
    case FPO_EPILOGUE_TORCHAO_NVFP4: {
        /* The tensor scales; the products of two bf16 numbers are exact. */
        float scale = bf16(rn((double)i->a_scale * i->b_scale));
        return bf16(bf16(bf16(i->acc) * scale) + i->bias);
    }
    case FPO_EPILOGUE_COUNT: break;
    }
    return NAN;
}

static void set_inputs(gemm_case *x, const inputs *i)
{
    uint32_t bits;
    x->problem.alpha = i->alpha;
    x->problem.beta = i->beta;
    x->problem.a.tensor_scale = i->a_scale;
    x->problem.b.tensor_scale = i->b_scale;
    memcpy(&bits, &i->acc, 4);
    gemm_case_set_element(x, SIDE_A, 0, 0, bits);
    memcpy(x->scales[SIDE_A], &i->a_scale, 4);
    memcpy(x->scales[SIDE_B], &i->b_scale, 4);
    memcpy(x->c, &i->c, 4);
    memcpy(x->bias, &i->bias, 4);
}

START_TEST(registry)
{
    gemm_random r = {{20261130, 8}, 0};
    ck_assert_int_eq(fpo_epilogue_by_name("nothing of the kind"), FPO_EPILOGUE_COUNT);
    ck_assert_ptr_null(fpo_epilogue_describe(FPO_EPILOGUE_COUNT));
    for (int preset = 0; preset < FPO_EPILOGUE_COUNT; preset++) {
        const fpo_epilogue_info *info = fpo_epilogue_describe((fpo_epilogue_preset)preset);
        ck_assert_int_eq(fpo_epilogue_by_name(info->name), preset);
        gemm_case *x = gemm_case_new(FPO_BLOCK_FP8_TENSOR, FPO_BLOCK_FP8_TENSOR, 1, 1, 1, FPO_F32);
        /* One f32 element: the accumulator is any f32 number. */
        x->spec.a.stored.element = x->spec.a.read.element = FPO_F32;
        free(x->codes[SIDE_A]);
        x->problem.a.codes = x->codes[SIDE_A] = calloc(4, 1);
        x->problem.a.codes_bytes = 4;
        gemm_case_add_c(x, FPO_F32);
        gemm_case_add_bias(x, FPO_F32, false);
        x->spec.accumulation = fpo_model_by_name("fma_f32")->accumulation;
        memcpy(x->spec.epilogue.steps, info->steps, sizeof info->steps);
        for (int i = 0; i < 2000; i++) {
            inputs in = {gemm_random_float(&r, 6), gemm_random_float(&r, 6), gemm_random_float(&r, 6),
                         gemm_random_float(&r, 6), gemm_random_float(&r, 6), gemm_random_float(&r, 6),
                         gemm_random_float(&r, 6)};
            static const float plain[] = {0.0f, -0.0f, 1.0f};
            if (i % 2 == 0)
                in.alpha = plain[gemm_random_below(&r, 3)];
            if (i % 3 == 0)
                in.beta = plain[gemm_random_below(&r, 3)];
            if (i % 5 == 0)
                in.bias = -0.0f;
            if (i % 7 == 0) /* the product underflows to a zero with a sign */
                in.acc = -0x1p-140f, in.a_scale = in.b_scale = 0x1p-10f;
            set_inputs(x, &in);
            gemm_case_run(x, NULL);
            float expected = formula((fpo_epilogue_preset)preset, &in);
            uint32_t bits;
            memcpy(&bits, &expected, 4);
            ck_assert_msg(gemm_case_code(x, 0, 0) == bits, "%s, case %d: %08x, the formula has %08x", info->name, i,
                          gemm_case_code(x, 0, 0), bits);
        }
        gemm_case_free(x);
    }
}
END_TEST

START_TEST(append_stops_when_full)
{
    fpo_epilogue e = {.steps = {{FPO_EPI_RELU, FPO_EPI_NOTHING}}};
    for (int i = 1; i < FPO_EPILOGUE_STEPS; i++)
        ck_assert(fpo_epilogue_append(&e, FPO_EPI_MUL, FPO_EPI_ALPHA));
    ck_assert(!fpo_epilogue_append(&e, FPO_EPI_RELU, FPO_EPI_NOTHING));
    ck_assert_int_eq(e.steps[FPO_EPILOGUE_STEPS - 1].op, FPO_EPI_MUL);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("epilogue");
    TCase *tests = tcase_create("epilogue");
    tcase_add_test(tests, random_programs);
    tcase_add_test(tests, widest_numbers);
    tcase_add_test(tests, registry);
    tcase_add_test(tests, append_stops_when_full);
    suite_add_tcase(suite, tests);
    return suite;
}

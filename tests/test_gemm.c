/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* How fpo_gemm runs: bytes that do not depend on threads, instruction set, tiles or the caller's floating-point
 * environment; single elements; views; errors that leave the output alone. */
#include "gemm_data.h"
#include "gemm_mpfr.h"
#include "suite.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

static const char *const models[] = {"exact", "fma_f32", "sm120_mxf4nvf4", "sm120_mxf8f6f4", "sm90_fp8_promote128"};

static gemm_case *make(fpo_block_format format, const char *model, int64_t m, int64_t n, int64_t k, fpo_format d,
                       gemm_data kind, uint64_t stream)
{
    gemm_random r = {{20261130, stream}, 0};
    gemm_case *x = gemm_case_new(format, format, m, n, k, d);
    x->spec.accumulation = fpo_model_by_name(model)->accumulation;
    gemm_case_add_c(x, FPO_BF16);
    gemm_case_add_bias(x, FPO_F32, stream % 2 == 0);
    gemm_data_fill(x, kind, &r);
    gemm_data_fill_epilogue(x, &r, 6);
    return x;
}

static void check_same(gemm_case *x, const fpo_execution *execution, const unsigned char *d,
                       const unsigned char *d_scale, const char *what)
{
    gemm_case_run(x, execution);
    ck_assert_msg(memcmp(d, x->d, x->d_bytes) == 0 && memcmp(d_scale, x->d_scale, x->d_scale_bytes) == 0,
                  "other bytes: %s", what);
}

/* More tiles than threads, ragged on both sides, NaN rows among them. */
START_TEST(execution_does_not_matter)
{
    static const struct {
        fpo_block_format format;
        int model;
        fpo_format d;
        gemm_data kind;
    } cases[] = {
        {FPO_BLOCK_NVFP4, 0, FPO_F32, DATA_FINITE},       {FPO_BLOCK_NVFP4, 0, FPO_E2M1, DATA_FINITE},
        {FPO_BLOCK_NVFP4, 0, FPO_BF16, DATA_ANY},         {FPO_BLOCK_MXFP8_E5M2, 0, FPO_F32, DATA_ANY},
        {FPO_BLOCK_PLAIN_BF16, 0, FPO_F16, DATA_EXTREME}, {FPO_BLOCK_NVFP4, 1, FPO_F32, DATA_FINITE},
        {FPO_BLOCK_NVFP4, 2, FPO_F32, DATA_FINITE},       {FPO_BLOCK_MXFP8_E4M3, 3, FPO_E2M1, DATA_FINITE},
        {FPO_BLOCK_PLAIN_E4M3, 4, FPO_BF16, DATA_FINITE},
    };
    static const int threads[] = {2, 3, 7};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gemm_case *x = make(cases[i].format, models[cases[i].model], 137, 203, 75, cases[i].d, cases[i].kind, i);
        fpo_execution execution = {.threads = 1, .isa = FPO_ISA_PORTABLE};
        gemm_case_run(x, &execution);
        unsigned char *d = x->d, *d_scale = x->d_scale;
        x->d = x->d_scale = NULL;
        for (int t = 0; t < 3; t++) {
            execution.threads = threads[t];
            check_same(x, &execution, d, d_scale, "threads");
        }
        for (int isa = FPO_ISA_BEST; isa <= FPO_ISA_AVX512; isa++) {
            execution = (fpo_execution){.threads = 2, .isa = (fpo_isa)isa};
            check_same(x, &execution, d, d_scale, "instruction set");
        }
        check_same(x, NULL, d, d_scale, "defaults");
        fesetround(FE_UPWARD);
        check_same(x, NULL, d, d_scale, "rounding mode of the caller");
        ck_assert_int_eq(fegetround(), FE_UPWARD);
        fesetround(FE_TONEAREST);
#ifdef __SSE__
        unsigned csr = __builtin_ia32_stmxcsr();
        __builtin_ia32_ldmxcsr(csr | 0x8040); /* flush to zero, denormals are zero */
        check_same(x, NULL, d, d_scale, "flush to zero");
        __builtin_ia32_ldmxcsr(csr);
#endif
        free(d);
        free(d_scale);
        gemm_case_free(x);
    }
}
END_TEST

START_TEST(larger_shapes_equal_the_twin)
{
    static const int64_t shapes[][3] = {{70, 83, 50}, {1, 130, 33}, {67, 1, 16}, {5, 17, 257}};
    for (int s = 0; s < 4; s++) {
        for (int kind = 0; kind < DATA_KINDS; kind++) {
            gemm_case *x = make(FPO_BLOCK_NVFP4, "exact", shapes[s][0], shapes[s][1], shapes[s][2], FPO_F32,
                                (gemm_data)kind, (uint64_t)(10 * s + kind));
            gemm_case_check_twin(x, "NVFP4");
            gemm_case_free(x);
        }
        gemm_case *x =
            make(FPO_BLOCK_MXFP4, "exact", shapes[s][0], shapes[s][1], shapes[s][2], FPO_F32, DATA_FINITE, 99);
        gemm_case_check_twin(x, "MXFP4");
        gemm_case_free(x);
    }
}
END_TEST

START_TEST(elements_equal_the_matrix)
{
    for (size_t i = 0; i < 8; i++) {
        fpo_block_format format = i % 2 == 0 ? FPO_BLOCK_NVFP4 : FPO_BLOCK_PLAIN_E4M3;
        static const int model[] = {0, 0, 1, 1, 2, 4, 0, 4};
        gemm_case *x = make(format, models[model[i]], 70, 90, 130, FPO_F16, i == 6 ? DATA_ANY : DATA_FINITE, 40 + i);
        gemm_random r = {{1, 2}, 0};
        fpo_element elements[50];
        uint32_t codes[50];
        fpo_error error;
        for (int j = 0; j < 50; j++)
            elements[j] = (fpo_element){(int64_t)gemm_random_below(&r, 70), (int64_t)gemm_random_below(&r, 90)};
        gemm_case_run(x, NULL);
        ck_assert_msg(fpo_gemm_elements(&x->spec, &x->problem, elements, 50, codes, NULL, &error) == FPO_OK, "%s",
                      error.message);
        for (int j = 0; j < 50; j++)
            ck_assert_uint_eq(codes[j], gemm_case_code(x, elements[j].row, elements[j].column));
        gemm_case_free(x);
    }
}
END_TEST

typedef struct progress_log {
    double last;
    int calls;
    bool fell;
} progress_log;

static void log_progress(void *context, double fraction)
{
    progress_log *log = context;
    log->fell |= fraction < log->last;
    log->last = fraction;
    log->calls++;
}

START_TEST(progress)
{
    gemm_case *x = make(FPO_BLOCK_NVFP4, "exact", 300, 300, 16, FPO_F32, DATA_FINITE, 1);
    progress_log log = {0, 0, false};
    fpo_execution execution = {.threads = 1, .progress = log_progress, .progress_context = &log};
    gemm_case_run(x, &execution);
    ck_assert_int_eq(log.calls, 26); /* the start and 25 tiles */
    ck_assert(log.last == 1.0 && !log.fell);
    log = (progress_log){0, 0, false};
    execution.threads = 4;
    gemm_case_run(x, &execution);
    ck_assert(log.calls >= 1 && log.last <= 1.0 && !log.fell);

    /* Nobody asked for threads, and 64 elements of K = 16 are not worth a second one: the first reports each. */
    log = (progress_log){0, 0, false};
    execution.threads = 0;
    fpo_element elements[64] = {{0, 0}};
    uint32_t codes[64];
    ck_assert_int_eq(fpo_gemm_elements(&x->spec, &x->problem, elements, 64, codes, &execution, NULL), FPO_OK);
    ck_assert_int_ge(log.calls, 64);
    gemm_case_free(x);
}
END_TEST

/* ---- the 64-bit accumulator's bound ---- */

START_TEST(longest_fixed_point_sums)
{
    /* 76,087 blocks of 16 are the most that 64 bits hold; one more takes the wide accumulator. */
    static const int64_t blocks[] = {76087, 76088};
    for (int i = 0; i < 2; i++) {
        for (int sign = 0; sign < 2; sign++) {
            gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 1, blocks[i] * 16, FPO_F32);
            memset(x->codes[SIDE_A], sign ? 0xFF : 0x77, x->problem.a.codes_bytes);
            memset(x->codes[SIDE_B], 0x77, x->problem.b.codes_bytes);
            memset(x->scales[SIDE_A], 0x7E, x->problem.a.scales_bytes);
            memset(x->scales[SIDE_B], 0x7E, x->problem.b.scales_bytes);
            gemm_case_run(x, NULL);
            double sum = (sign ? -1.0 : 1.0) * (double)blocks[i] * 16 * 36 * 448 * 448; /* below 2^53 */
            ck_assert_msg(gemm_case_value(x, 0, 0) == (double)(float)sum, "%a, not %a", gemm_case_value(x, 0, 0), sum);
            gemm_case_free(x);
        }
    }
}
END_TEST

/* The longest runs of the largest products that other formats add in 64 and in 128 bits. */
START_TEST(longest_segments)
{
    static const struct {
        fpo_format a, b;
        int32_t block_k; /* f32 scales, all of them the largest; 0: none */
    } cases[] = {{FPO_F16, FPO_E4M3, 0},      {FPO_E4M3, FPO_E5M2, 0},     {FPO_F16, FPO_F16, 0},
                 {FPO_E5M2, FPO_E5M2, 65536}, {FPO_E4M3, FPO_E4M3, 65536}, {FPO_F16, FPO_E5M2, 65536}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fpo_block_format format = cases[i].block_k > 0 ? FPO_BLOCK_FP8_TENSOR : FPO_BLOCK_PLAIN_F32;
        gemm_case *x = gemm_case_new(format, format, 1, 1, 70000, FPO_F32);
        for (int s = 0; s < 2; s++) {
            fpo_operand_spec *o = s == 0 ? &x->spec.a : &x->spec.b;
            fpo_operand *operand = s == 0 ? &x->problem.a : &x->problem.b;
            o->stored.element = o->read.element = s == 0 ? cases[i].a : cases[i].b;
            o->stored.scale.block_k = o->read.scale.block_k = cases[i].block_k;
            free(x->codes[s]);
            operand->codes_bytes = 70000u * fpo_format_describe(o->read.element)->storage_bytes;
            operand->codes = x->codes[s] = calloc(operand->codes_bytes, 1);
            gemm_case_fill_row(x, (gemm_side)s, 0, fpo_format_describe(o->read.element)->max_finite);
            if (cases[i].block_k == 0)
                continue;
            free(x->scales[s]);
            operand->scales_bytes = 8;
            operand->scales = x->scales[s] = calloc(8, 1);
            gemm_case_fill_scales(x, (gemm_side)s, 0, 0x7F7FFFFF);
        }
        memset(x->spec.epilogue.steps, 0, sizeof x->spec.epilogue.steps);
        ck_assert(fpo_epilogue_append(&x->spec.epilogue, FPO_EPI_MUL, FPO_EPI_ALPHA));
        ck_assert(fpo_epilogue_append(&x->spec.epilogue, FPO_EPI_MUL, FPO_EPI_ALPHA));
        ck_assert(fpo_epilogue_append(&x->spec.epilogue, FPO_EPI_MUL, FPO_EPI_ALPHA));
        x->problem.alpha = cases[i].block_k > 0 ? 0x1p-64f : 1.0f;
        gemm_case_run(x, NULL);
        gemm_mpfr_check(x, "longest segments");
        gemm_case_free(x);
    }
}
END_TEST

/* ---- views ---- */

START_TEST(views_equal_the_twin)
{
    static const fpo_block_format formats[] = {FPO_BLOCK_NVFP4, FPO_BLOCK_MXFP4, FPO_BLOCK_MXFP8_E4M3,
                                               FPO_BLOCK_FP8_1X128, FPO_BLOCK_FP8_128X128};
    static const fpo_format elements[] = {FPO_E2M1, FPO_E2M3, FPO_E3M2, FPO_E4M3, FPO_E5M2, FPO_F16};
    static const fpo_format scales[] = {FPO_UE4M3, FPO_UE8M0, FPO_F32, FPO_E4M3, FPO_BF16};
    static const int32_t blocks[] = {16, 32, 64, 128, 7};
    gemm_random r = {{20261130, 5}, 0};
    for (int i = 0; i < 600; i++) {
        fpo_block_format format = formats[i % 5];
        gemm_case *x =
            gemm_case_new(format, format, 1 + (int64_t)gemm_random_below(&r, 40), 1 + (int64_t)gemm_random_below(&r, 4),
                          1 + (int64_t)gemm_random_below(&r, 150), FPO_F32);
        gemm_data_fill(x, gemm_random_below(&r, 2) != 0 ? DATA_FINITE : DATA_ANY, &r);
        for (int side = 0; side < 2; side++) {
            fpo_operand_spec *o = side == 0 ? &x->spec.a : &x->spec.b;
            if (gemm_random_below(&r, 3) == 0)
                o->read.element = elements[gemm_random_below(&r, 6)];
            if (gemm_random_below(&r, 3) == 0)
                o->stored.packing = FPO_PACKING_NIBBLES_SWAPPED;
            if (gemm_random_below(&r, 3) == 0)
                o->read.packing = FPO_PACKING_NIBBLES_SWAPPED;
            if (gemm_random_below(&r, 3) == 0)
                o->stored.scale.layout = FPO_LAYOUT_128X4;
            if (gemm_random_below(&r, 3) == 0)
                o->read.scale.layout = FPO_LAYOUT_128X4;
            if (gemm_random_below(&r, 3) == 0)
                o->read.scale.format = scales[gemm_random_below(&r, 5)];
            if (gemm_random_below(&r, 3) == 0)
                o->read.scale.block_k = blocks[gemm_random_below(&r, 5)];
            if (gemm_random_below(&r, 5) == 0)
                o->read.scale.block_rows = blocks[gemm_random_below(&r, 5)];
            o->tensor_scale = (fpo_tensor_scale_use)gemm_random_below(&r, 4);
        }
        x->problem.a.tensor_scale = gemm_random_float(&r, 5);
        x->problem.b.tensor_scale = gemm_random_float(&r, 5);
        gemm_case_check_twin(x, "views");
        gemm_case_free(x);
    }
}
END_TEST

/* 1 scale a row is stored, 4 a row are read: rows 1 and later read zeros, which UE8M0 takes for 2^-127. */
START_TEST(bytes_beyond_the_buffer_are_zero)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_MXFP8_E4M3, FPO_BLOCK_PLAIN_E4M3, 1, 1, 128, FPO_F32);
    x->spec.a.stored.scale.block_k = 128;
    x->problem.a.scales_bytes = 1;
    gemm_case_run(x, NULL);
    ck_assert(gemm_case_value(x, 0, 0) == 32);
    gemm_case_fill_row(x, SIDE_A, 0, 0);
    gemm_case_set_element(x, SIDE_A, 0, 127, 0x38);
    gemm_case_run(x, NULL);
    ck_assert(gemm_case_value(x, 0, 0) == 0x1p-127);
    gemm_case_free(x);
}
END_TEST

/* ---- errors ---- */

/* Takes the case with it. */
static void expect_error(gemm_case *x, fpo_status expected, const char *fragment)
{
    unsigned char d[64], untouched[64];
    fpo_error error = {FPO_OK, ""};
    memset(d, 0x5C, sizeof d);
    memset(untouched, 0x5C, sizeof untouched);
    fpo_gemm_output output = {d, sizeof d, NULL, 0};
    fpo_status status = fpo_gemm(&x->spec, &x->problem, &output, NULL, &error);
    ck_assert_msg(status == expected, "status %s (%s), not %s", fpo_status_name(status), error.message,
                  fpo_status_name(expected));
    ck_assert_msg(strstr(error.message, fragment) != NULL, "\"%s\" does not say \"%s\"", error.message, fragment);
    ck_assert_int_eq(error.status, expected);
    ck_assert_mem_eq(d, untouched, sizeof d);
    ck_assert_int_eq(fpo_gemm(&x->spec, &x->problem, &output, NULL, NULL), expected);
    gemm_case_free(x);
}

static gemm_case *small(void)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 2, 3, 20, FPO_F32);
    gemm_case_add_c(x, FPO_F16);
    gemm_case_add_bias(x, FPO_BF16, false);
    return x;
}

START_TEST(errors)
{
    gemm_case *x;
    x = small(), x->problem.m = 0;
    expect_error(x, FPO_ERR_SHAPE, "at least 1");
    x = small(), x->problem.n = -5;
    expect_error(x, FPO_ERR_SHAPE, "-5");
    x = small(), x->problem.k = INT64_MIN;
    expect_error(x, FPO_ERR_SHAPE, "at least 1");
    x = small(), x->problem.m = 3;
    expect_error(x, FPO_ERR_SHAPE, "a: 20 bytes of codes given, 30 are needed for 3 x 20 e2m1");
    x = small(), x->problem.m = INT64_MAX;
    expect_error(x, FPO_ERR_SHAPE, "too many");
    x = small(), x->problem.k = INT64_MAX;
    expect_error(x, FPO_ERR_SHAPE, "too many");
    x = small(), x->problem.m = INT64_MAX / 2, x->problem.n = INT64_MAX / 2, x->problem.k = 1;
    expect_error(x, FPO_ERR_SHAPE, "a: ");
    x = small(), x->problem.a.codes = NULL;
    expect_error(x, FPO_ERR_ARGUMENT, "a: no codes");
    x = small(), x->problem.b.codes_bytes++;
    expect_error(x, FPO_ERR_SHAPE, "b: 31 bytes of codes given, 30");
    x = small(), x->problem.b.codes_bytes--;
    expect_error(x, FPO_ERR_SHAPE, "b: 29 bytes of codes given, 30");
    x = small(), x->problem.a.scales = NULL;
    expect_error(x, FPO_ERR_ARGUMENT, "a: no scales");
    x = small(), x->problem.a.scales_bytes = 3;
    expect_error(x, FPO_ERR_SHAPE, "a: 3 bytes of scales given, 4 are needed for 2 x 2 ue4m3");
    x = small(), x->problem.c = NULL;
    expect_error(x, FPO_ERR_ARGUMENT, "c: no numbers");
    x = small(), x->problem.c_bytes = 24;
    expect_error(x, FPO_ERR_SHAPE, "c: 24 bytes of numbers given, 12");
    x = small(), x->problem.bias_bytes = 4;
    expect_error(x, FPO_ERR_SHAPE, "bias: 4 bytes");
    x = small(), x->spec.epilogue.bias_per_row = true;
    expect_error(x, FPO_ERR_SHAPE, "bias: 6 bytes");
    x = small(), x->problem.m = 17, x->problem.a.codes_bytes = 170, x->problem.a.scales_bytes = 34, x->problem.beta = 0;
    expect_error(x, FPO_ERR_SHAPE, "d: 64 bytes");
    x = small(), x->spec.a.read.element = FPO_FORMAT_NONE;
    expect_error(x, FPO_ERR_ARGUMENT, "a.read.element");
    x = small(), x->spec.b.stored.element = FPO_FORMAT_COUNT;
    expect_error(x, FPO_ERR_ARGUMENT, "b.stored.element");
    x = small(), x->spec.a.stored.packing = FPO_PACKING_COUNT;
    expect_error(x, FPO_ERR_ARGUMENT, "a.stored.packing");
    x = small(), x->spec.a.read.scale.layout = (fpo_layout)-1;
    expect_error(x, FPO_ERR_ARGUMENT, "a.read.scale.layout");
    x = small(), x->spec.a.read.scale.format = (fpo_format)999;
    expect_error(x, FPO_ERR_ARGUMENT, "a.read.scale.format");
    x = small(), x->spec.a.read.scale.block_k = -1;
    expect_error(x, FPO_ERR_ARGUMENT, "block");
    x = small(), x->spec.a.stored.scale.format = FPO_FORMAT_NONE;
    expect_error(x, FPO_ERR_ARGUMENT, "a.stored has none");
    x = small(), x->spec.a.tensor_scale = (fpo_tensor_scale_use)4;
    expect_error(x, FPO_ERR_ARGUMENT, "tensor_scale");
    x = small(), x->spec.epilogue.c = FPO_E4M3;
    expect_error(x, FPO_ERR_ARGUMENT, "epilogue.c");
    x = small(), x->spec.epilogue.bias = FPO_UE8M0;
    expect_error(x, FPO_ERR_ARGUMENT, "epilogue.bias");
    x = small(), x->spec.epilogue.d = FPO_UE8M0;
    expect_error(x, FPO_ERR_ARGUMENT, "D in ue8m0");
    x = small(), x->spec.epilogue.d = FPO_E2M1;
    expect_error(x, FPO_ERR_ARGUMENT, "D in e2m1");
    x = small(), x->spec.epilogue.d_scale = FPO_UE4M3;
    expect_error(x, FPO_ERR_ARGUMENT, "block scales in ue4m3");
    x = small(), x->spec.epilogue.d_cast.rounding = FPO_STOCHASTIC;
    expect_error(x, FPO_ERR_ARGUMENT, "rounding");
    x = small(), x->spec.epilogue.d_cast.overflow = FPO_UNCHECKED;
    expect_error(x, FPO_ERR_ARGUMENT, "policy");
    x = small(), x->spec.epilogue.steps[1].op = (fpo_epilogue_op)77;
    expect_error(x, FPO_ERR_ARGUMENT, "steps[1]: no operation 77");
    x = small(), x->spec.epilogue.steps[0].operand = FPO_EPI_NOTHING;
    expect_error(x, FPO_ERR_ARGUMENT, "coef_mul needs an operand");
    x = small(), x->spec.epilogue.steps[4].operand = FPO_EPI_ALPHA;
    expect_error(x, FPO_ERR_ARGUMENT, "does not take");
    x = small(), x->spec.epilogue.steps[0].operand = FPO_EPI_A_SCALE;
    expect_error(x, FPO_ERR_ARGUMENT, "do not span K");
    x = small(), x->spec.accumulation.step.kind = (fpo_step_kind)9;
    expect_error(x, FPO_ERR_ARGUMENT, "kind");
}
END_TEST

START_TEST(errors_of_elements)
{
    gemm_case *x = small();
    fpo_element elements[] = {{0, 0}, {2, 0}, {0, -1}};
    uint32_t codes[3] = {7, 7, 7};
    fpo_error error;
    ck_assert_int_eq(fpo_gemm_elements(&x->spec, &x->problem, elements, 0, codes, NULL, &error), FPO_OK);
    ck_assert_int_eq(fpo_gemm_elements(&x->spec, &x->problem, elements, 2, codes, NULL, &error), FPO_ERR_SHAPE);
    ck_assert_ptr_nonnull(strstr(error.message, "element 1 is (2, 0), D is 2 x 3"));
    ck_assert_int_eq(fpo_gemm_elements(&x->spec, &x->problem, elements + 2, 1, codes, NULL, &error), FPO_ERR_SHAPE);
    ck_assert_uint_eq(codes[0], 7);
    gemm_case_free(x);
    x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 2, 3, 20, FPO_E2M1);
    ck_assert_int_eq(fpo_gemm_elements(&x->spec, &x->problem, elements, 1, codes, NULL, &error), FPO_ERR_UNSUPPORTED);
    gemm_case_free(x);
}
END_TEST

START_TEST(sizes)
{
    gemm_case *x = small();
    ck_assert_uint_eq(fpo_output_bytes(&x->spec, 2, 3), 24);
    ck_assert_uint_eq(fpo_output_scale_bytes(&x->spec, 2, 3), 0);
    ck_assert_uint_eq(fpo_output_bytes(&x->spec, 0, 3), 0);
    ck_assert_uint_eq(fpo_output_bytes(&x->spec, INT64_MAX, 3), 0);
    x->spec.epilogue.d = FPO_E2M1;
    x->spec.epilogue.d_scale = FPO_UE4M3;
    ck_assert_uint_eq(fpo_output_bytes(&x->spec, 5, 33), 85);
    ck_assert_uint_eq(fpo_output_scale_bytes(&x->spec, 5, 33), 15);
    gemm_case_free(x);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("gemm");
    TCase *tests = tcase_create("gemm");
    tcase_add_test(tests, execution_does_not_matter);
    tcase_add_test(tests, larger_shapes_equal_the_twin);
    tcase_add_test(tests, elements_equal_the_matrix);
    tcase_add_test(tests, progress);
    tcase_add_test(tests, longest_fixed_point_sums);
    tcase_add_test(tests, longest_segments);
    tcase_add_test(tests, views_equal_the_twin);
    tcase_add_test(tests, bytes_beyond_the_buffer_are_zero);
    tcase_add_test(tests, errors);
    tcase_add_test(tests, errors_of_elements);
    tcase_add_test(tests, sizes);
    suite_add_tcase(suite, tests);
    return suite;
}

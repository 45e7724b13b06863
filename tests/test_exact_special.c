/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* NaN and infinity in each place of a GEMM, one and two at a time, under the exact model and under the fma model:
 * against the twin, against MPFR, and against the rule that a NaN reaches every output that it feeds. */
#include "gemm_data.h"
#include "gemm_mpfr.h"
#include "suite.h"

#include <math.h>
#include <string.h>

typedef enum place {
    PLACE_A,
    PLACE_B,
    PLACE_A_SCALE,
    PLACE_B_SCALE,
    PLACE_A_TENSOR_SCALE,
    PLACE_B_TENSOR_SCALE,
    PLACE_ALPHA,
    PLACE_BETA,
    PLACE_C,
    PLACE_BIAS,
    PLACE_D_SCALE,
    PLACES
} place;

enum { M = 3, N = 4, K = 40, ROW = 1, COLUMN = 2 };

/* Plants a code of NaN or +-infinity, if the format has it; false if not. */
static bool special_code(fpo_format format, double special, uint32_t *code)
{
    fpo_value value = fpo_value_from_double(special);
    if (format == FPO_FORMAT_NONE)
        return false;
    *code = fpo_encode(format, value, fpo_cast_describe(FPO_CAST_IEEE), 0);
    return fpo_decode(format, *code).kind == value.kind && fpo_decode(format, *code).negative == value.negative;
}

static bool plant(gemm_case *x, place where, double special)
{
    fpo_gemm_problem *p = &x->problem;
    uint32_t code;
    switch (where) {
    case PLACE_A:
    case PLACE_B: {
        gemm_side side = where == PLACE_A ? SIDE_A : SIDE_B;
        if (!special_code(side == SIDE_A ? x->spec.a.read.element : x->spec.b.read.element, special, &code))
            return false;
        gemm_case_set_element(x, side, side == SIDE_A ? ROW : COLUMN, K - 3, code);
        return true;
    }
    case PLACE_A_SCALE:
    case PLACE_B_SCALE: {
        gemm_side side = where == PLACE_A_SCALE ? SIDE_A : SIDE_B;
        const fpo_scale_view *view = side == SIDE_A ? &x->spec.a.read.scale : &x->spec.b.read.scale;
        if (!special_code(view->format, special, &code))
            return false;
        int64_t row = view->block_rows == 1 ? (side == SIDE_A ? ROW : COLUMN) : 0;
        gemm_case_set_scale(x, side, row, fpo_scale_columns(view, K) - 1, code);
        return true;
    }
    case PLACE_A_TENSOR_SCALE: p->a.tensor_scale = (float)special; return true;
    case PLACE_B_TENSOR_SCALE: p->b.tensor_scale = (float)special; return true;
    case PLACE_ALPHA: p->alpha = (float)special; return true;
    case PLACE_BETA: p->beta = (float)special; return true;
    case PLACE_D_SCALE: p->d_scale = (float)special; return true;
    case PLACE_C:
        special_code(x->spec.epilogue.c, special, &code);
        fpo_store_code(x->spec.epilogue.c, x->c, ROW * N + COLUMN, code);
        return true;
    case PLACE_BIAS:
        special_code(x->spec.epilogue.bias, special, &code);
        fpo_store_code(x->spec.epilogue.bias, x->bias, x->spec.epilogue.bias_per_row ? ROW : COLUMN, code);
        return true;
    case PLACES: break;
    }
    return false;
}

static gemm_case *make(fpo_block_format a, fpo_block_format b, gemm_random *r)
{
    static const fpo_format d[] = {FPO_F32, FPO_BF16, FPO_F16, FPO_E4M3, FPO_E5M2};
    static const fpo_format addend[] = {FPO_F32, FPO_BF16, FPO_F16};
    gemm_case *x = gemm_case_new(a, b, M, N, K, d[gemm_random_below(r, 5)]);
    gemm_case_add_c(x, addend[gemm_random_below(r, 3)]);
    gemm_case_add_bias(x, addend[gemm_random_below(r, 3)], gemm_random_below(r, 2) != 0);
    gemm_data_fill(x, gemm_random_below(r, 2) != 0 ? DATA_FINITE : DATA_SPARSE, r);
    gemm_data_fill_epilogue(x, r, 8);
    return x;
}

/* Whether the special value of this place reaches element (m, n) of D. */
static bool reaches(const gemm_case *x, place where, int64_t m, int64_t n)
{
    switch (where) {
    case PLACE_A: return m == ROW;
    case PLACE_B: return n == COLUMN;
    case PLACE_A_SCALE: return x->spec.a.read.scale.block_rows != 1 || m == ROW;
    case PLACE_B_SCALE: return x->spec.b.read.scale.block_rows != 1 || n == COLUMN;
    case PLACE_A_TENSOR_SCALE: return x->spec.a.read.scale.format == FPO_UE4M3;
    case PLACE_B_TENSOR_SCALE: return x->spec.b.read.scale.format == FPO_UE4M3;
    case PLACE_C: return m == ROW && n == COLUMN;
    case PLACE_BIAS: return x->spec.epilogue.bias_per_row ? m == ROW : n == COLUMN;
    case PLACE_D_SCALE: return x->spec.epilogue.d == FPO_E4M3 || x->spec.epilogue.d == FPO_E5M2;
    case PLACE_ALPHA:
    case PLACE_BETA:
    case PLACES: break;
    }
    return true;
}

static void check_nan(const gemm_case *x, place where, const char *what)
{
    const fpo_format_info *d = fpo_format_describe(x->spec.epilogue.d);
    uint32_t canonical = (1u << (d->exponent_bits + d->mantissa_bits)) - 1;
    for (int64_t m = 0; m < M; m++) {
        for (int64_t n = 0; n < N; n++) {
            if (reaches(x, where, m, n))
                ck_assert_msg(gemm_case_code(x, m, n) == canonical, "%s: D[%d,%d] is %x", what, (int)m, (int)n,
                              gemm_case_code(x, m, n));
        }
    }
}

static const double specials[] = {NAN, INFINITY, -INFINITY};

static void check_pair(fpo_block_format a, fpo_block_format b, gemm_random *r)
{
    char what[200];
    const fpo_accumulation fma = fpo_model_by_name("fma_f32")->accumulation;
    for (int where = 0; where < PLACES; where++) {
        for (int s = 0; s < 3; s++) {
            gemm_case *x = make(a, b, r);
            snprintf(what, sizeof what, "%s x %s, %f in place %d", fpo_block_format_describe(a)->name,
                     fpo_block_format_describe(b)->name, specials[s], where);
            if (plant(x, (place)where, specials[s])) {
                gemm_case_check_twin(x, what);
                gemm_mpfr_check(x, what);
                if (s == 0)
                    check_nan(x, (place)where, what);
                /* A second one, anywhere. */
                plant(x, (place)gemm_random_below(r, PLACES), specials[gemm_random_below(r, 3)]);
                gemm_case_check_twin(x, what);
                gemm_mpfr_check(x, what);
                x->spec.accumulation = fma;
                gemm_case_check_twin(x, what);
            }
            gemm_case_free(x);
        }
    }
}

START_TEST(each_place)
{
    gemm_random r = {{20261130, 4}, 0};
    for (int format = 0; format < FPO_BLOCK_COUNT; format++) {
        check_pair((fpo_block_format)format, (fpo_block_format)format, &r);
        check_pair((fpo_block_format)format, (fpo_block_format)gemm_random_below(&r, FPO_BLOCK_COUNT), &r);
    }
}
END_TEST

/* Inf*0 from the element, from the scale, Inf - Inf, and infinities that survive. */
START_TEST(infinities)
{
    static const struct {
        double a0, b0, a1, b1, expected;
    } rows[] = {{INFINITY, 1, 1, 1, INFINITY},
                {INFINITY, 0, 1, 1, NAN},
                {-INFINITY, 2, 1, 1, -INFINITY},
                {INFINITY, -2, 1, 1, -INFINITY},
                {INFINITY, 1, -INFINITY, 1, NAN},
                {INFINITY, 1, INFINITY, 1, INFINITY},
                {INFINITY, 1, INFINITY, -1, NAN},
                {-INFINITY, 1, INFINITY, -1, -INFINITY},
                {0, INFINITY, 1, 1, NAN},
                {INFINITY, INFINITY, 1, -INFINITY, NAN},
                {NAN, 0, 1, 1, NAN},
                {INFINITY, INFINITY, 1, INFINITY, INFINITY}};
    static const fpo_block_format formats[] = {FPO_BLOCK_PLAIN_E5M2, FPO_BLOCK_PLAIN_F16, FPO_BLOCK_PLAIN_F32,
                                               FPO_BLOCK_MXFP8_E5M2, FPO_BLOCK_FP8_E5M2_1X128};
    const fpo_cast *cast = fpo_cast_describe(FPO_CAST_IEEE);
    for (int f = 0; f < 5; f++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            gemm_case *x = gemm_case_new(formats[f], formats[f], 1, 1, 5, FPO_F32);
            fpo_format element = x->spec.a.read.element;
            gemm_case_set_element(x, SIDE_A, 0, 0, fpo_encode_double(element, rows[i].a0, cast));
            gemm_case_set_element(x, SIDE_B, 0, 0, fpo_encode_double(element, rows[i].b0, cast));
            gemm_case_set_element(x, SIDE_A, 0, 4, fpo_encode_double(element, rows[i].a1, cast));
            gemm_case_set_element(x, SIDE_B, 0, 4, fpo_encode_double(element, rows[i].b1, cast));
            gemm_case_run(x, NULL);
            double got = gemm_case_value(x, 0, 0), expected = rows[i].expected;
            ck_assert_msg(expected != expected ? got != got : got == expected, "row %zu: %f", i, got);
            gemm_case_free(x);
        }
    }
}
END_TEST

/* alpha = 0 is a product like any other; beta = 0 leaves C unread. */
START_TEST(zero_factors)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 1, 16, FPO_F32);
    gemm_case_add_c(x, FPO_F32);
    fpo_store_code(FPO_F32, x->c, 0, 0x7FC00000);
    x->problem.beta = 0.0f;
    gemm_case_run(x, NULL);
    ck_assert(gemm_case_value(x, 0, 0) == 16);
    x->problem.beta = -0.0f;
    x->problem.c = NULL; /* not even there */
    gemm_case_run(x, NULL);
    ck_assert(gemm_case_value(x, 0, 0) == 16);
    x->problem.alpha = 0.0f;
    gemm_case_run(x, NULL);
    ck_assert_uint_eq(gemm_case_code(x, 0, 0), 0x00000000);
    x->problem.alpha = -0.0f;
    gemm_case_run(x, NULL);
    ck_assert_uint_eq(gemm_case_code(x, 0, 0), 0x80000000);
    x->problem.alpha = INFINITY;
    gemm_case_run(x, NULL);
    ck_assert_uint_eq(gemm_case_code(x, 0, 0), 0x7F800000);
    gemm_case_fill_row(x, SIDE_A, 0, 0);
    gemm_case_run(x, NULL);
    ck_assert_uint_eq(gemm_case_code(x, 0, 0), 0x7FFFFFFF); /* 0 * Inf */
    gemm_case_free(x);
}
END_TEST

/* A zero accumulator is +0 whatever its terms were; a number that rounds to zero keeps its sign. */
START_TEST(signs_of_zero)
{
    gemm_case *x = gemm_case_new(FPO_BLOCK_NVFP4, FPO_BLOCK_NVFP4, 1, 1, 20, FPO_F32);
    gemm_case_fill_row(x, SIDE_A, 0, 8); /* -0 */
    gemm_case_run(x, NULL);
    ck_assert_uint_eq(gemm_case_code(x, 0, 0), 0);
    x->problem.alpha = -1.0f; /* -1 * +0 */
    gemm_case_run(x, NULL);
    ck_assert_uint_eq(gemm_case_code(x, 0, 0), 0x80000000);
    gemm_case_add_bias(x, FPO_F32, false); /* -0 + +0 */
    gemm_case_run(x, NULL);
    ck_assert_uint_eq(gemm_case_code(x, 0, 0), 0);
    fpo_store_code(FPO_F32, x->bias, 0, 0x80000000); /* -0 + -0 */
    gemm_case_run(x, NULL);
    ck_assert_uint_eq(gemm_case_code(x, 0, 0), 0x80000000);
    gemm_case_fill_row(x, SIDE_A, 0, 2);
    x->problem.alpha = -0x1p-149f;
    x->problem.a.tensor_scale = 0x1p-20f;
    gemm_case_run(x, NULL);
    ck_assert_uint_eq(gemm_case_code(x, 0, 0), 0x80000000);
    x->spec.epilogue.d_cast.rounding = FPO_AWAY_FROM_ZERO;
    gemm_case_run(x, NULL);
    ck_assert_uint_eq(gemm_case_code(x, 0, 0), 0x80000001);
    gemm_case_free(x);
}
END_TEST

Suite *fpo_suite(void)
{
    Suite *suite = suite_create("exact, special values");
    TCase *tests = tcase_create("exact, special values");
    tcase_add_test(tests, each_place);
    tcase_add_test(tests, infinities);
    tcase_add_test(tests, zero_factors);
    tcase_add_test(tests, signs_of_zero);
    suite_add_tcase(suite, tests);
    return suite;
}

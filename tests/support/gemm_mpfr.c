/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The exact model in MPFR. */
#include "gemm_mpfr.h"
#include "suite.h"

#include <math.h>

enum { PRECISION = 13000 }; /* the widest range that an epilogue reaches is 12,288 bits (emu/wide.h) */

void gemm_mpfr_open(mpfr_t y)
{
    mpfr_init2(y, PRECISION);
}

static double block_scale(const gemm_case *x, gemm_side side, int64_t row, int64_t k)
{
    const fpo_scale_view *view = side == SIDE_A ? &x->spec.a.stored.scale : &x->spec.b.stored.scale;
    if (view->format == FPO_FORMAT_NONE || view->block_k == 0)
        return 1.0;
    int64_t r = view->block_rows > 0 ? row / view->block_rows : 0;
    return fpo_decode_double(view->format, gemm_case_scale(x, side, r, k / view->block_k));
}

static double element(const gemm_case *x, gemm_side side, int64_t row, int64_t k)
{
    return fpo_decode_double(side == SIDE_A ? x->spec.a.stored.element : x->spec.b.stored.element,
                             gemm_case_element(x, side, row, k));
}

static void accumulate(const gemm_case *x, int64_t m, int64_t n, mpfr_t acc)
{
    mpfr_t term;
    mpfr_init2(term, 300);
    mpfr_set_zero(acc, 1);
    for (int64_t k = 0; k < x->problem.k; k++) {
        mpfr_set_d(term, element(x, SIDE_A, m, k), MPFR_RNDN);
        mpfr_mul_d(term, term, block_scale(x, SIDE_A, m, k), MPFR_RNDN);
        mpfr_mul_d(term, term, element(x, SIDE_B, n, k), MPFR_RNDN);
        mpfr_mul_d(term, term, block_scale(x, SIDE_B, n, k), MPFR_RNDN);
        mpfr_add(acc, acc, term, MPFR_RNDN);
    }
    mpfr_clear(term);
}

static double operand(const gemm_case *x, fpo_epilogue_operand which, int64_t m, int64_t n)
{
    const fpo_scale_view *a = &x->spec.a.stored.scale, *b = &x->spec.b.stored.scale;
    switch (which) {
    case FPO_EPI_NOTHING: break;
    case FPO_EPI_ALPHA: return x->problem.alpha;
    case FPO_EPI_D_SCALE: return x->problem.d_scale;
    case FPO_EPI_A_TENSOR_SCALE: return x->problem.a.tensor_scale;
    case FPO_EPI_B_TENSOR_SCALE: return x->problem.b.tensor_scale;
    case FPO_EPI_A_SCALE:
        return fpo_decode_double(a->format, gemm_case_scale(x, SIDE_A, a->block_rows > 0 ? m / a->block_rows : 0, 0));
    case FPO_EPI_B_SCALE:
        return fpo_decode_double(b->format, gemm_case_scale(x, SIDE_B, b->block_rows > 0 ? n / b->block_rows : 0, 0));
    }
    return 1.0;
}

static void check_flags(void)
{
    ck_assert_msg(!mpfr_inexflag_p() && !mpfr_overflow_p() && !mpfr_underflow_p(), "the reference itself rounded");
}

static void round_in_place(fpo_format format, mpfr_t x)
{
    check_flags();
    mpfr_set_d(x, gemm_mpfr_round(format, fpo_cast_describe(FPO_CAST_IEEE), x), MPFR_RNDN);
    mpfr_clear_flags(); /* this rounding was meant */
}

/* y += beta * C, y * 1 + beta * 0, or nothing. */
static void add_c(const gemm_case *x, int64_t m, int64_t n, bool reads, bool zero_otherwise, mpfr_t y)
{
    fpo_format format = x->spec.epilogue.c;
    mpfr_t term;
    if (!reads && !zero_otherwise)
        return;
    mpfr_init2(term, 200);
    mpfr_set_d(term, x->problem.beta, MPFR_RNDN);
    mpfr_mul_d(term, term,
               reads ? fpo_decode_double(format, fpo_load_code(format, x->c, (size_t)(m * x->problem.n + n))) : 0.0,
               MPFR_RNDN);
    mpfr_add(y, y, term, MPFR_RNDN);
    mpfr_clear(term);
}

static void run(const gemm_case *x, int64_t m, int64_t n, mpfr_t y, mpfr_t coef)
{
    const fpo_epilogue *e = &x->spec.epilogue;
    bool reads_c = e->c != FPO_FORMAT_NONE && x->problem.beta != 0;
    mpfr_set_d(coef, 1.0, MPFR_RNDN);
    for (int i = 0; i < FPO_EPILOGUE_STEPS && e->steps[i].op != FPO_EPI_END; i++) {
        double v = operand(x, e->steps[i].operand, m, n), bias = 0;
        if (e->bias != FPO_FORMAT_NONE)
            bias = fpo_decode_double(e->bias, fpo_load_code(e->bias, x->bias, (size_t)(e->bias_per_row ? m : n)));
        switch (e->steps[i].op) {
        case FPO_EPI_END: break;
        case FPO_EPI_COEF_MUL: mpfr_mul_d(coef, coef, v, MPFR_RNDN); break;
        case FPO_EPI_COEF_ROUND_F16: round_in_place(FPO_F16, coef); break;
        case FPO_EPI_COEF_ROUND_BF16: round_in_place(FPO_BF16, coef); break;
        case FPO_EPI_FMA_BIAS:
        case FPO_EPI_MUL:
        case FPO_EPI_FMA_ZERO: mpfr_mul_d(y, y, v, MPFR_RNDN); break;
        case FPO_EPI_MUL_COEF_OR_ZERO:
        case FPO_EPI_MUL_COEF:
        case FPO_EPI_FMA_COEF_ZERO: mpfr_mul(y, y, coef, MPFR_RNDN); break;
        case FPO_EPI_FMA_COEF_BETA_C_UNLESS_ONE:
            if (!reads_c && mpfr_cmp_d(coef, 1.0) == 0 && !mpfr_nan_p(coef))
                continue;
            mpfr_mul(y, y, coef, MPFR_RNDN);
            break;
        case FPO_EPI_FMA_COEF_BETA_C: mpfr_mul(y, y, coef, MPFR_RNDN); break;
        case FPO_EPI_FMA_BETA_C: add_c(x, m, n, reads_c, false, y); break;
        case FPO_EPI_FMA_BETA_C_ALWAYS: add_c(x, m, n, reads_c, e->c != FPO_FORMAT_NONE, y); break;
        case FPO_EPI_ADD_BIAS: break;
        case FPO_EPI_RELU:
            if (!mpfr_nan_p(y) && mpfr_signbit(y))
                mpfr_set_zero(y, 1);
            break;
        case FPO_EPI_ROUND_F16: round_in_place(FPO_F16, y); break;
        case FPO_EPI_ROUND_BF16: round_in_place(FPO_BF16, y); break;
        }
        fpo_epilogue_op op = e->steps[i].op;
        if (op == FPO_EPI_MUL_COEF_OR_ZERO && mpfr_zero_p(coef))
            mpfr_set_zero(y, 1);
        if (op == FPO_EPI_FMA_ZERO || op == FPO_EPI_FMA_COEF_ZERO)
            mpfr_add_d(y, y, 0.0, MPFR_RNDN);
        if (op == FPO_EPI_FMA_COEF_BETA_C || op == FPO_EPI_FMA_COEF_BETA_C_UNLESS_ONE) {
            if (reads_c)
                add_c(x, m, n, true, false, y);
            else
                mpfr_add_d(y, y, 0.0, MPFR_RNDN);
        }
        if ((op == FPO_EPI_ADD_BIAS || op == FPO_EPI_FMA_BIAS) && e->bias != FPO_FORMAT_NONE)
            mpfr_add_d(y, y, bias, MPFR_RNDN);
    }
}

void gemm_mpfr_element(const gemm_case *x, int64_t m, int64_t n, mpfr_t y)
{
    mpfr_t coef;
    mpfr_init2(coef, 400);
    mpfr_clear_flags();
    accumulate(x, m, n, y);
    run(x, m, n, y, coef);
    check_flags();
    mpfr_clear(coef);
}

static mpfr_rnd_t mode(fpo_rounding rounding)
{
    switch (rounding) {
    case FPO_TOWARD_ZERO: return MPFR_RNDZ;
    case FPO_AWAY_FROM_ZERO: return MPFR_RNDA;
    case FPO_UP: return MPFR_RNDU;
    case FPO_DOWN: return MPFR_RNDD;
    case FPO_NEAREST_EVEN: return MPFR_RNDN;
    case FPO_NEAREST_AWAY:
    case FPO_NEAREST_TOWARD_ZERO:
    case FPO_STOCHASTIC: break;
    }
    ck_abort_msg("MPFR has no such rounding");
    return MPFR_RNDN;
}

double gemm_mpfr_round(fpo_format format, const fpo_cast *cast, const mpfr_t y)
{
    const fpo_format_info *info = fpo_format_describe(format);
    double largest = fpo_decode_double(format, info->max_finite);
    bool has_infinity = info->specials == FPO_SPECIALS_IEEE, has_nan = info->specials != FPO_SPECIALS_NONE;
    double beyond = has_infinity ? INFINITY : has_nan ? NAN : largest;

    if (mpfr_nan_p(y))
        return has_nan ? NAN : largest;
    if (mpfr_inf_p(y))
        return copysign(cast->infinity == FPO_SATURATE ? largest : beyond, mpfr_sgn(y));
    mpfr_rnd_t rounding = mode(cast->rounding);
    mpfr_exp_t emin = mpfr_get_emin();
    mpfr_t rounded;
    mpfr_init2(rounded, info->mantissa_bits + 1);
    int ternary = mpfr_set(rounded, y, rounding);
    mpfr_set_emin(info->quantum + 1);
    ternary = mpfr_check_range(rounded, ternary, rounding);
    mpfr_subnormalize(rounded, ternary, rounding);
    mpfr_set_emin(emin);
    double d = mpfr_get_d(rounded, MPFR_RNDN);
    mpfr_clear(rounded);
    if (fabs(d) <= largest)
        return d;
    bool toward_zero = rounding == MPFR_RNDZ || (rounding == MPFR_RNDU && d < 0) || (rounding == MPFR_RNDD && d > 0);
    return copysign(toward_zero || cast->overflow == FPO_SATURATE ? largest : beyond, d);
}

void gemm_mpfr_check(const gemm_case *x, const char *what)
{
    const fpo_epilogue *e = &x->spec.epilogue;
    mpfr_t y;
    gemm_mpfr_open(y);
    for (int64_t m = 0; m < x->problem.m; m++) {
        for (int64_t n = 0; n < x->problem.n; n++) {
            gemm_mpfr_element(x, m, n, y);
            double expected = gemm_mpfr_round(e->d, &e->d_cast, y), got = gemm_case_value(x, m, n);
            bool same = expected != expected ? got != got : expected == got && signbit(expected) == signbit(got);
            ck_assert_msg(same, "%s: D[%lld,%lld] is %a, MPFR says %a", what, (long long)m, (long long)n, got,
                          expected);
        }
    }
    mpfr_clear(y);
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* GEMM cases for tests. */
#include "gemm_case.h"
#include "suite.h"

#include <fp4oracle/compare.h>

#include <stdlib.h>
#include <string.h>

const fpo_model gemm_exact_model = {.name = "exact"}; /* FPO_STEP_EXACT is 0 */

static const fpo_operand_view *stored(const gemm_case *x, gemm_side side)
{
    return side == SIDE_A ? &x->spec.a.stored : &x->spec.b.stored;
}

static fpo_operand *operand(gemm_case *x, gemm_side side)
{
    return side == SIDE_A ? &x->problem.a : &x->problem.b;
}

int64_t gemm_case_rows(const gemm_case *x, gemm_side side)
{
    return side == SIDE_A ? x->problem.m : x->problem.n;
}

static void open_side(gemm_case *x, gemm_side side)
{
    const fpo_operand_view *view = stored(x, side);
    const fpo_cast *cast = fpo_cast_describe(FPO_CAST_IEEE);
    int64_t rows = gemm_case_rows(x, side), scale_columns = fpo_scale_columns(&view->scale, x->problem.k);
    fpo_operand *o = operand(x, side);

    o->codes_bytes = (size_t)(rows * fpo_packing_row_bytes(FPO_PACKING_CANONICAL, view->element, x->problem.k));
    o->codes = x->codes[side] = calloc(o->codes_bytes, 1);
    for (int64_t r = 0; r < rows; r++)
        gemm_case_fill_row(x, side, r, fpo_encode_double(view->element, 1.0, cast));
    o->tensor_scale = 1.0f;
    if (view->scale.format == FPO_FORMAT_NONE)
        return;
    int64_t scale_rows = fpo_scale_rows(&view->scale, rows);
    o->scales_bytes = (size_t)(scale_rows * scale_columns) * fpo_format_describe(view->scale.format)->storage_bytes;
    o->scales = x->scales[side] = calloc(o->scales_bytes, 1);
    for (int64_t r = 0; r < scale_rows; r++)
        gemm_case_fill_scales(x, side, r, fpo_encode_double(view->scale.format, 1.0, cast));
}

gemm_case *gemm_case_new(fpo_block_format a, fpo_block_format b, int64_t m, int64_t n, int64_t k, fpo_format d)
{
    gemm_case *x = calloc(1, sizeof *x);
    fpo_error error;
    ck_assert_msg(fpo_spec_init(&x->spec, a, b, &gemm_exact_model, d, &error) == FPO_OK, "%s", error.message);
    x->problem = (fpo_gemm_problem){.m = m, .n = n, .k = k, .alpha = 1.0f, .d_scale = 1.0f};
    open_side(x, SIDE_A);
    open_side(x, SIDE_B);
    return x;
}

void gemm_case_free(gemm_case *x)
{
    for (int side = 0; side < 2; side++) {
        free(x->codes[side]);
        free(x->scales[side]);
    }
    free(x->c);
    free(x->bias);
    free(x->d);
    free(x->d_scale);
    free(x);
}

void gemm_case_set_element(gemm_case *x, gemm_side side, int64_t row, int64_t k, uint32_t code)
{
    fpo_format format = stored(x, side)->element;
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, format, x->problem.k);
    unsigned char *codes = x->codes[side] + row * row_bytes;
    if (format == FPO_E2M1) {
        int shift = k % 2 == 0 ? 0 : 4;
        codes[k / 2] = (unsigned char)((codes[k / 2] & (0xF0 >> shift)) | (code & 15) << shift);
    } else {
        fpo_store_code(format, codes, (size_t)k, code);
    }
}

uint32_t gemm_case_element(const gemm_case *x, gemm_side side, int64_t row, int64_t k)
{
    fpo_format format = stored(x, side)->element;
    int64_t row_bytes = fpo_packing_row_bytes(FPO_PACKING_CANONICAL, format, x->problem.k);
    const unsigned char *codes = x->codes[side] + row * row_bytes;
    if (format == FPO_E2M1)
        return codes[k / 2] >> (k % 2 == 0 ? 0 : 4) & 15;
    return fpo_load_code(format, codes, (size_t)k);
}

static size_t scale_index(const gemm_case *x, gemm_side side, int64_t row, int64_t column)
{
    return (size_t)(row * fpo_scale_columns(&stored(x, side)->scale, x->problem.k) + column);
}

void gemm_case_set_scale(gemm_case *x, gemm_side side, int64_t row, int64_t column, uint32_t code)
{
    fpo_store_code(stored(x, side)->scale.format, x->scales[side], scale_index(x, side, row, column), code);
}

uint32_t gemm_case_scale(const gemm_case *x, gemm_side side, int64_t row, int64_t column)
{
    return fpo_load_code(stored(x, side)->scale.format, x->scales[side], scale_index(x, side, row, column));
}

void gemm_case_fill_row(gemm_case *x, gemm_side side, int64_t row, uint32_t code)
{
    for (int64_t k = 0; k < x->problem.k; k++)
        gemm_case_set_element(x, side, row, k, code);
}

void gemm_case_fill_scales(gemm_case *x, gemm_side side, int64_t row, uint32_t code)
{
    for (int64_t c = 0; c < fpo_scale_columns(&stored(x, side)->scale, x->problem.k); c++)
        gemm_case_set_scale(x, side, row, c, code);
}

void gemm_case_add_c(gemm_case *x, fpo_format format)
{
    free(x->c);
    x->spec.epilogue.c = format;
    x->problem.c_bytes = (size_t)(x->problem.m * x->problem.n) * fpo_format_describe(format)->storage_bytes;
    x->problem.c = x->c = calloc(x->problem.c_bytes, 1);
    x->problem.beta = 1.0f;
}

void gemm_case_add_bias(gemm_case *x, fpo_format format, bool per_row)
{
    free(x->bias);
    x->spec.epilogue.bias = format;
    x->spec.epilogue.bias_per_row = per_row;
    x->problem.bias_bytes =
        (size_t)(per_row ? x->problem.m : x->problem.n) * fpo_format_describe(format)->storage_bytes;
    x->problem.bias = x->bias = calloc(x->problem.bias_bytes, 1);
}

static fpo_gemm_output fresh_output(gemm_case *x)
{
    free(x->d);
    free(x->d_scale);
    x->d_bytes = fpo_output_bytes(&x->spec, x->problem.m, x->problem.n);
    x->d_scale_bytes = fpo_output_scale_bytes(&x->spec, x->problem.m, x->problem.n);
    ck_assert_uint_gt(x->d_bytes, 0);
    x->d = malloc(x->d_bytes);
    x->d_scale = malloc(x->d_scale_bytes + 1);
    memset(x->d, 0xA5, x->d_bytes);
    memset(x->d_scale, 0xA5, x->d_scale_bytes);
    return (fpo_gemm_output){x->d, x->d_bytes, x->d_scale, x->d_scale_bytes};
}

void gemm_case_run(gemm_case *x, const fpo_execution *execution)
{
    fpo_gemm_output output = fresh_output(x);
    fpo_error error;
    ck_assert_msg(fpo_gemm(&x->spec, &x->problem, &output, execution, &error) == FPO_OK, "%s", error.message);
}

void gemm_case_run_twin(gemm_case *x)
{
    fpo_gemm_output output = fresh_output(x);
    fpo_error error;
    ck_assert_msg(fpo_gemm_twin(&x->spec, &x->problem, &output, &error) == FPO_OK, "%s", error.message);
}

void gemm_case_check_twin(gemm_case *x, const char *what)
{
    gemm_case_run_twin(x);
    unsigned char *d = x->d, *d_scale = x->d_scale;
    x->d = x->d_scale = NULL;
    gemm_case_run(x, NULL);
    fpo_comparison c;
    fpo_compare(x->spec.epilogue.d, x->problem.m, x->problem.n, d, x->d, &c);
    ck_assert_msg(c.different == 0, "%s: %lld of %lld differ from the twin, first [%lld,%lld] %08x, the twin has %08x",
                  what, (long long)c.different, (long long)c.elements, (long long)c.first[0].row,
                  (long long)c.first[0].column, c.first[0].observed, c.first[0].expected);
    ck_assert_msg(memcmp(d, x->d, x->d_bytes) == 0, "%s: bytes between the codes differ from the twin", what);
    ck_assert_msg(memcmp(d_scale, x->d_scale, x->d_scale_bytes) == 0, "%s: scales of D differ from the twin", what);
    free(d);
    free(d_scale);
}

uint32_t gemm_case_code(const gemm_case *x, int64_t m, int64_t n)
{
    fpo_format d = x->spec.epilogue.d;
    if (d == FPO_E2M1)
        return x->d[m * ((x->problem.n + 1) / 2) + n / 2] >> (n % 2 == 0 ? 0 : 4) & 15;
    return fpo_load_code(d, x->d, (size_t)(m * x->problem.n + n));
}

double gemm_case_value(const gemm_case *x, int64_t m, int64_t n)
{
    return fpo_decode_double(x->spec.epilogue.d, gemm_case_code(x, m, n));
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fpo_gemm_twin: every element of D on its own, in the order of the specification. */
#include "twin.h"
#include "engine.h"

#include <stdlib.h>
#include <string.h>

/* acc = +0 + sf(A)*A*sf(B)*B + ..., nothing rounded. */
static void accumulate_exactly(const fpo_twin_gemm *gemm, int64_t m, int64_t n, fpo_twin_value *acc)
{
    fpo_twin_value x, y, scale;
    fpo_twin_zero(acc);
    for (int64_t k = 0; k < gemm->problem->k; k++) {
        fpo_twin_decode(gemm->spec->a.read.element, fpo_twin_element(&gemm->a, m, k), &x);
        fpo_twin_block_scale(&gemm->a, m, k, &scale);
        fpo_twin_multiply(&x, &x, &scale);
        fpo_twin_decode(gemm->spec->b.read.element, fpo_twin_element(&gemm->b, n, k), &y);
        fpo_twin_block_scale(&gemm->b, n, k, &scale);
        fpo_twin_multiply(&y, &y, &scale);
        fpo_twin_multiply(&x, &x, &y);
        fpo_twin_add(acc, acc, &x);
    }
}

static fpo_status finished_element(const fpo_twin_gemm *gemm, int64_t m, int64_t n, fpo_twin_value *y, fpo_error *error)
{
    fpo_status status = FPO_OK;
    if (gemm->spec->accumulation.step.kind == FPO_STEP_EXACT)
        accumulate_exactly(gemm, m, n, y);
    else
        status = fpo_twin_accumulate(gemm, m, n, y, error);
    if (status == FPO_OK)
        fpo_twin_epilogue(gemm, m, n, y);
    return status;
}

/* ---- the output ---- */

static void store_code(const fpo_gemm_spec *spec, const fpo_gemm_output *output, int64_t n_total, int64_t m, int64_t n,
                       uint32_t code)
{
    uint8_t *d = output->d;
    int64_t at = m * n_total + n;
    switch (spec->epilogue.d) {
    case FPO_E2M1:
        at = m * (n_total / 2 + n_total % 2) + n / 2;
        d[at] = (uint8_t)(n % 2 == 0 ? code : d[at] + 16 * code);
        break;
    case FPO_F32:
        for (int i = 0; i < 4; i++)
            d[4 * at + i] = (uint8_t)(code >> (8 * i));
        break;
    case FPO_F16:
    case FPO_BF16:
        for (int i = 0; i < 2; i++)
            d[2 * at + i] = (uint8_t)(code >> (8 * i));
        break;
    default: d[at] = (uint8_t)code; break;
    }
}

/* 1 / x to nearest f32: the f32 candidate whose product with x is nearest to 1. x is a positive finite number. */
static void reciprocal(fpo_twin_value *x)
{
    uint32_t low = 0, high = 0x7F7FFFFF; /* bits of the largest candidate with candidate * x <= 1 */
    fpo_twin_value one, candidate, next, product, product_above;
    fpo_twin_float(&one, 1.0f);
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        fpo_twin_decode(FPO_F32, middle, &candidate);
        fpo_twin_multiply(&product, &candidate, x);
        if (fpo_twin_compare(&product.number, &one.number) <= 0)
            low = middle;
        else
            high = middle - 1;
    }
    fpo_twin_decode(FPO_F32, low, &candidate);
    fpo_twin_decode(FPO_F32, low + 1, &next);
    fpo_twin_multiply(&product, &candidate, x);
    fpo_twin_multiply(&product_above, &next, x);
    fpo_twin_add(&product, &product, &product_above); /* twice the middle, times x; a tie is impossible for 1/x */
    fpo_twin_add(&one, &one, &one);
    *x = fpo_twin_compare(&product.number, &one.number) < 0 ? next : candidate;
}

/* RN(x / largest): the f32 candidate q whose product with it is nearest to x. x is finite and not negative. */
static void divide(fpo_twin_value *x, float largest)
{
    uint32_t low = 0, high = 0x7F7FFFFF;
    fpo_twin_value divisor, candidate, next, product, product_above, twice;
    fpo_twin_float(&divisor, largest);
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        fpo_twin_decode(FPO_F32, middle, &candidate);
        fpo_twin_multiply(&product, &candidate, &divisor);
        if (fpo_twin_compare(&product.number, &x->number) <= 0)
            low = middle;
        else
            high = middle - 1;
    }
    fpo_twin_decode(FPO_F32, low, &candidate);
    fpo_twin_decode(FPO_F32, low + 1, &next);
    fpo_twin_multiply(&product, &candidate, &divisor);
    fpo_twin_multiply(&product_above, &next, &divisor);
    fpo_twin_add(&product, &product, &product_above);
    fpo_twin_add(&twice, x, x);
    int side = fpo_twin_compare(&product.number, &twice.number);
    *x = side < 0 || (side == 0 && low % 2 == 1) ? next : candidate;
}

static void quantize_group(const fpo_twin_gemm *gemm, fpo_twin_value *y, int count, uint32_t *codes,
                           uint8_t *scale_code)
{
    const fpo_epilogue *epilogue = &gemm->spec->epilogue;
    const fpo_cast saturating = {.rounding = epilogue->d_scale == FPO_UE8M0 ? FPO_AWAY_FROM_ZERO : FPO_NEAREST_EVEN,
                                 .overflow = FPO_SATURATE,
                                 .infinity = FPO_SATURATE};
    float largest = epilogue->d == FPO_E2M1 ? 6.0f : epilogue->d == FPO_E4M3 ? 448.0f : 57344.0f;
    fpo_twin_value amax, scale;
    fpo_twin_zero(&amax);
    for (int i = 0; i < count; i++) {
        fpo_twin_round(FPO_F32, &y[i]);
        fpo_twin_value magnitude = y[i];
        magnitude.negative = false;
        if (magnitude.number.sign < 0)
            magnitude.number.sign = 1;
        if (amax.kind == FPO_TWIN_NAN || magnitude.kind == FPO_TWIN_NAN)
            fpo_twin_nan(&amax);
        else if (amax.kind != FPO_TWIN_INFINITY &&
                 (magnitude.kind == FPO_TWIN_INFINITY || fpo_twin_compare(&magnitude.number, &amax.number) > 0))
            amax = magnitude;
    }
    if (amax.kind == FPO_TWIN_NUMBER)
        divide(&amax, largest);
    *scale_code = (uint8_t)fpo_twin_encode(epilogue->d_scale, &amax, &saturating);
    fpo_twin_decode(epilogue->d_scale, *scale_code, &scale);
    if (scale.kind == FPO_TWIN_NUMBER && !fpo_twin_is_zero(&scale))
        reciprocal(&scale); /* a zero stays zero, NaN stays NaN */
    for (int i = 0; i < count; i++) {
        fpo_twin_multiply(&y[i], &y[i], &scale);
        fpo_twin_round(FPO_F32, &y[i]);
        codes[i] = fpo_twin_encode(epilogue->d, &y[i], &epilogue->d_cast);
    }
}

static fpo_status quantized_row(const fpo_twin_gemm *gemm, const fpo_gemm_output *output, int64_t m, fpo_error *error)
{
    enum { MOST = 32 };
    int64_t n_total = gemm->problem->n, block = gemm->spec->epilogue.d_scale == FPO_UE8M0 ? 32 : 16;
    fpo_twin_value *y = malloc(MOST * sizeof *y);
    fpo_status status = FPO_OK;
    if (y == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %d numbers", (int)MOST);
    for (int64_t n = 0; n < n_total && status == FPO_OK; n += block) {
        uint32_t codes[MOST];
        int count = (int)(n_total - n < block ? n_total - n : block);
        for (int i = 0; i < count && status == FPO_OK; i++)
            status = finished_element(gemm, m, n + i, &y[i], error);
        if (status != FPO_OK)
            break;
        quantize_group(gemm, y, count, codes,
                       (uint8_t *)output->d_scale + m * (n_total / block + (n_total % block > 0)) + n / block);
        for (int i = 0; i < count; i++)
            store_code(gemm->spec, output, n_total, m, n + i, codes[i]);
    }
    free(y);
    return status;
}

static fpo_status row(const fpo_twin_gemm *gemm, const fpo_gemm_output *output, int64_t m, fpo_error *error)
{
    const fpo_epilogue *epilogue = &gemm->spec->epilogue;
    fpo_twin_value y;
    if (epilogue->d_scale != FPO_FORMAT_NONE)
        return quantized_row(gemm, output, m, error);
    for (int64_t n = 0; n < gemm->problem->n; n++) {
        fpo_status status = finished_element(gemm, m, n, &y, error);
        if (status != FPO_OK)
            return status;
        store_code(gemm->spec, output, gemm->problem->n, m, n, fpo_twin_encode(epilogue->d, &y, &epilogue->d_cast));
    }
    return FPO_OK;
}

static fpo_status rows(const fpo_twin_gemm *gemm, const fpo_gemm_output *output, fpo_error *error)
{
    size_t d_bytes = fpo_output_bytes(gemm->spec, gemm->problem->m, gemm->problem->n);
    size_t scale_bytes = fpo_output_scale_bytes(gemm->spec, gemm->problem->m, gemm->problem->n);
    fpo_gemm_output result = {calloc(d_bytes, 1), d_bytes, calloc(scale_bytes + 1, 1), scale_bytes};
    fpo_status status = FPO_OK;
    if (result.d == NULL || result.d_scale == NULL)
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for D of %zu bytes", d_bytes);
    for (int64_t m = 0; m < gemm->problem->m && status == FPO_OK; m++)
        status = row(gemm, &result, m, error);
    if (status == FPO_OK) {
        memcpy(output->d, result.d, d_bytes);
        if (scale_bytes > 0)
            memcpy(output->d_scale, result.d_scale, scale_bytes);
    }
    free(result.d);
    free(result.d_scale);
    return status;
}

fpo_status fpo_gemm_twin(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_gemm_output *output,
                         fpo_error *error)
{
    fpo_twin_gemm *gemm = malloc(sizeof *gemm);
    fpo_status status = fpo_problem_check(spec, problem, output, error);
    if (status == FPO_OK && gemm == NULL)
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for the reference twin");
    if (status == FPO_OK) {
        gemm->spec = spec;
        gemm->problem = problem;
        status = fpo_twin_open(&spec->a, &problem->a, problem->m, problem->k, "a", &gemm->a, error);
    }
    if (status == FPO_OK) {
        status = fpo_twin_open(&spec->b, &problem->b, problem->n, problem->k, "b", &gemm->b, error);
        if (status == FPO_OK) {
            status = rows(gemm, output, error);
            fpo_twin_close(&gemm->b);
        }
        fpo_twin_close(&gemm->a);
    }
    free(gemm);
    return status;
}

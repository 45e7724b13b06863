/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What bench measures. */
#include "bench.h"

#include <omp.h>
#include <stdlib.h>

/* ---- operands ---- */

static float *normal_data(uint64_t stream, int64_t count)
{
    float *x = malloc((size_t)count * sizeof *x);
#pragma omp parallel for
    for (int64_t i = 0; i < (x != NULL ? count : 0); i++)
        x[i] = fpo_random_normal((fpo_random){20261130, stream}, (uint64_t)i);
    return x;
}

static fpo_status make_operand(fpo_block_format format, uint64_t stream, int64_t rows, int64_t k, fpo_operand *operand,
                               void **codes, void **scales, fpo_error *error)
{
    const fpo_operand_view *view = &fpo_block_format_describe(format)->view;
    fpo_quantized q = {.codes_bytes = fpo_operand_codes_bytes(view, rows, k),
                       .scales_bytes = fpo_operand_scales_bytes(view, rows, k)};
    float *x = normal_data(stream, rows * k);
    *codes = q.codes = malloc(q.codes_bytes);
    *scales = q.scales = malloc(q.scales_bytes + 1);
    fpo_status status;
    if (x == NULL || q.codes == NULL || q.scales == NULL)
        status =
            fpo_fail(error, FPO_ERR_MEMORY, "no memory for an operand of %lld x %lld", (long long)rows, (long long)k);
    else
        status = fpo_quantize(fpo_recipe_default(format), x, rows, k, &q, NULL, error);
    free(x);
    *operand = (fpo_operand){q.codes, q.codes_bytes, q.scales, q.scales_bytes, q.tensor_scale, NULL, FPO_FORMAT_NONE};
    return status;
}

fpo_status fpo_bench_open(fpo_block_format format, int64_t m, int64_t n, int64_t k, fpo_bench_problem *bench,
                          fpo_error *error)
{
    *bench = (fpo_bench_problem){.format = format};
    if (fpo_recipe_default(format) == FPO_RECIPE_COUNT)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s has no default recipe to make operands with",
                        fpo_block_format_describe(format)->name);
    bench->problem = (fpo_gemm_problem){.m = m, .n = n, .k = k, .alpha = 1, .d_scale = 1};
    fpo_status status = make_operand(format, 1, m, k, &bench->problem.a, &bench->a_codes, &bench->a_scales, error);
    if (status == FPO_OK)
        status = make_operand(format, 2, n, k, &bench->problem.b, &bench->b_codes, &bench->b_scales, error);
    bench->a = malloc((size_t)(m * k) * sizeof *bench->a);
    bench->b = malloc((size_t)(n * k) * sizeof *bench->b);
    bench->d = malloc((size_t)(m * n) * sizeof *bench->d);
    if (status == FPO_OK && (bench->a == NULL || bench->b == NULL || bench->d == NULL))
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for %lld x %lld x %lld in f32", (long long)m, (long long)n,
                          (long long)k);
    if (status != FPO_OK)
        fpo_bench_close(bench);
    return status;
}

void fpo_bench_close(fpo_bench_problem *bench)
{
    free(bench->a_codes);
    free(bench->b_codes);
    free(bench->a_scales);
    free(bench->b_scales);
    free(bench->a);
    free(bench->b);
    free(bench->d);
    *bench = (fpo_bench_problem){0};
}

/* ---- ours ---- */

fpo_status fpo_bench_model(const fpo_bench_problem *bench, const fpo_model *model, int64_t rows, int threads,
                           double *seconds, fpo_error *error)
{
    fpo_gemm_spec spec;
    fpo_gemm_problem problem = bench->problem;
    fpo_status status = fpo_spec_init(&spec, bench->format, bench->format, model, FPO_F32, error);
    if (status != FPO_OK)
        return status;
    problem.m = rows;
    problem.a.codes_bytes = fpo_operand_codes_bytes(&spec.a.stored, rows, problem.k);
    problem.a.scales_bytes = fpo_operand_scales_bytes(&spec.a.stored, rows, problem.k);
    fpo_gemm_output output = {.d = bench->d, .d_bytes = (size_t)(rows * problem.n) * sizeof *bench->d};
    fpo_execution execution = {.threads = threads};
    double start = omp_get_wtime();
    status = fpo_gemm(&spec, &problem, &output, &execution, error);
    *seconds = omp_get_wtime() - start;
    return status;
}

/* ---- BLAS ---- */

#ifdef FPO_OPENBLAS

#include <cblas.h>

bool fpo_bench_has_blas(void)
{
    return true;
}

const char *fpo_bench_blas_name(void)
{
    return openblas_get_config();
}

/* As a framework does it: one table of the element format, one multiplication a code. */
static void dequantise(const fpo_operand_view *view, const fpo_operand *operand, int64_t rows, int64_t k, int threads,
                       float *x)
{
    float elements[256];
    float scales[256];
    bool small_scales = view->scale.format == FPO_UE4M3 || view->scale.format == FPO_UE8M0;
    for (uint32_t code = 0; code < 256; code++) {
        elements[code] = (float)fpo_decode_double(view->element, code);
        scales[code] = small_scales ? (float)fpo_decode_double(view->scale.format, code) : 0;
    }
    int64_t block_k = view->scale.block_k > 0 ? view->scale.block_k : k;
    int64_t block_rows = view->scale.block_rows > 0 ? view->scale.block_rows : rows;
    int64_t columns = (k + block_k - 1) / block_k;
    const uint8_t *codes = operand->codes;
    bool packed = view->element == FPO_E2M1;
    int64_t row_bytes = packed ? (k + 1) / 2 : k;
#pragma omp parallel for num_threads(threads)
    for (int64_t r = 0; r < rows; r++)
        for (int64_t block = 0; block < columns; block++) {
            int64_t at = r / block_rows * columns + block;
            float scale =
                small_scales ? scales[((const uint8_t *)operand->scales)[at]] : ((const float *)operand->scales)[at];
            int64_t end = (block + 1) * block_k < k ? (block + 1) * block_k : k;
            for (int64_t i = block * block_k; i < end; i++) {
                uint8_t byte = codes[r * row_bytes + (packed ? i / 2 : i)];
                x[r * k + i] = elements[packed ? (i % 2 == 0 ? byte & 15 : byte >> 4) : byte] * scale;
            }
        }
}

void fpo_bench_blas(const fpo_bench_problem *bench, int64_t rows, int threads, double *dequantised, double *sgemm)
{
    const fpo_operand_view *view = &fpo_block_format_describe(bench->format)->view;
    const fpo_gemm_problem *p = &bench->problem;
    openblas_set_num_threads(threads);
    double start = omp_get_wtime();
    dequantise(view, &p->a, rows, p->k, threads, bench->a);
    dequantise(view, &p->b, p->n, p->k, threads, bench->b);
    double middle = omp_get_wtime();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)p->n, (blasint)p->k,
                p->a.tensor_scale * p->b.tensor_scale, bench->a, (blasint)p->k, bench->b, (blasint)p->k, 0, bench->d,
                (blasint)p->n);
    *dequantised = middle - start;
    *sgemm = omp_get_wtime() - middle;
}

#else

bool fpo_bench_has_blas(void)
{
    return false;
}

const char *fpo_bench_blas_name(void)
{
    return "none: built without OpenBLAS (libopenblas-dev)";
}

void fpo_bench_blas(const fpo_bench_problem *bench, int64_t rows, int threads, double *dequantised, double *sgemm)
{
    (void)bench, (void)rows, (void)threads;
    *dequantised = *sgemm = 0;
}

#endif

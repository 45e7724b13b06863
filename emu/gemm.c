/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fpo_gemm: operands prepared once, tiles of D shared out among threads. A tile depends on nothing but its place, so
 * the bytes do not depend on who computes it, nor when. */
#include "nvfp4.h"

#include <fenv.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- one tile ---- */

/* Codes of D of a tile, row by row without gaps (f32 bits of y with d_scale). */
static fpo_status tile_codes(const fpo_gemm_context *context, fpo_tile tile, uint32_t *codes, fpo_error *error)
{
    if (context->spec->accumulation.step.kind == FPO_STEP_EXACT)
        return fpo_exact_tile(context, tile, codes, error);

    float acc[FPO_TILE_M * FPO_TILE_N];
    fpo_status status = FPO_OK;
    if (!fpo_nvfp4_accumulate(context, tile, acc))
        status = fpo_accumulate_tile(context, tile, acc, error);
    if (status == FPO_OK)
        fpo_epilogue_tile(context, tile, acc, codes);
    return status;
}

/* Tiles begin at even columns, so no two of them share a byte of packed codes. */
static void store_nibbles(const fpo_gemm_context *context, fpo_tile tile, const uint32_t *codes, unsigned char *d)
{
    int64_t width = tile.n1 - tile.n0, row_bytes = context->problem->n / 2 + context->problem->n % 2;
    for (int64_t m = tile.m0; m < tile.m1; m++) {
        const uint32_t *row = codes + (m - tile.m0) * width;
        for (int64_t i = 0; i < width; i += 2)
            d[m * row_bytes + (tile.n0 + i) / 2] = (unsigned char)(row[i] | (i + 1 < width ? row[i + 1] << 4 : 0));
    }
}

static void store_tile(const fpo_gemm_context *context, fpo_tile tile, uint32_t *codes, const fpo_gemm_output *output)
{
    const fpo_epilogue *epilogue = &context->spec->epilogue;
    int64_t n = context->problem->n, width = tile.n1 - tile.n0;

    if (epilogue->d_scale != FPO_FORMAT_NONE) {
        int64_t block = fpo_output_block(epilogue), groups = fpo_output_scale_columns(epilogue, n);
        for (int64_t m = tile.m0; m < tile.m1; m++) {
            uint32_t *row = codes + (m - tile.m0) * width;
            for (int64_t i = 0; i < width; i += block) {
                uint32_t scale = fpo_quantize_output(epilogue, row + i, (int)(width - i < block ? width - i : block));
                ((uint8_t *)output->d_scale)[m * groups + (tile.n0 + i) / block] = (uint8_t)scale;
            }
        }
    }
    if (fpo_format_describe(epilogue->d)->bits == 4) {
        store_nibbles(context, tile, codes, output->d);
        return;
    }
    for (int64_t m = tile.m0; m < tile.m1; m++) {
        if (fpo_format_describe(epilogue->d)->storage_bytes == sizeof *codes) {
            memcpy((uint32_t *)output->d + m * n + tile.n0, codes + (m - tile.m0) * width,
                   (size_t)width * sizeof *codes);
            continue;
        }
        for (int64_t i = 0; i < width; i++)
            fpo_store_code(epilogue->d, output->d, (size_t)(m * n + tile.n0 + i), codes[(m - tile.m0) * width + i]);
    }
}

/* ---- all tiles ---- */

/* A run over `count` pieces of work. The error of the first piece that fails is kept. */
typedef struct fpo_work {
    const fpo_gemm_context *context;
    const fpo_execution *execution;
    int64_t count;
    int64_t done;
    int64_t failed; /* piece, or `count` */
    fpo_status status;
    fpo_error error;
    const fpo_gemm_output *output; /* fpo_gemm */
    const fpo_element *elements;   /* fpo_gemm_elements */
    const size_t *runs;            /* of neighbours in a row: where each begins, and the end of the last */
    uint32_t *codes;
} fpo_work;

static fpo_tile tile_at(const fpo_gemm_problem *problem, int64_t index)
{
    int64_t across = problem->n / FPO_TILE_N + (problem->n % FPO_TILE_N != 0);
    int64_t m0 = index / across * FPO_TILE_M, n0 = index % across * FPO_TILE_N;
    return (fpo_tile){m0, problem->m - m0 < FPO_TILE_M ? problem->m : m0 + FPO_TILE_M, n0,
                      problem->n - n0 < FPO_TILE_N ? problem->n : n0 + FPO_TILE_N};
}

static fpo_status do_piece(const fpo_work *work, int64_t index, fpo_error *error)
{
    if (work->elements != NULL) {
        size_t first = work->runs[index], count = work->runs[index + 1] - first;
        fpo_element e = work->elements[first];
        return tile_codes(work->context, (fpo_tile){e.row, e.row + 1, e.column, e.column + (int64_t)count},
                          work->codes + first, error);
    }
    uint32_t codes[FPO_TILE_M * FPO_TILE_N];
    fpo_tile tile = tile_at(work->context->problem, index);
    fpo_status status = tile_codes(work->context, tile, codes, error);
    if (status == FPO_OK)
        store_tile(work->context, tile, codes, work->output);
    return status;
}

static void note_failure(fpo_work *work, int64_t index, fpo_status status, const fpo_error *error)
{
#pragma omp critical(fpo_work_failure)
    if (index < work->failed) {
        work->failed = index;
        work->status = status;
        work->error = *error;
    }
}

static void report(fpo_work *work, double fraction)
{
    if (work->execution->progress != NULL)
        work->execution->progress(work->execution->progress_context, fraction);
}

/* A thread that the caller did not ask for has this many products to do. A diagnosis computes thousands of small
 * samples; where other programs have the processors, each wait for the other threads took milliseconds, and the search
 * a minute instead of two seconds. */
enum { THREAD_PRODUCTS = 1 << 15 };

static int thread_count(const fpo_execution *execution, int64_t pieces, double products)
{
    if (execution->threads > 0)
        return (int)(execution->threads < pieces ? execution->threads : pieces);
    double worth = products / THREAD_PRODUCTS;
    int64_t threads = omp_get_max_threads();
    threads = (double)threads > worth ? (int64_t)worth + 1 : threads;
    return (int)(threads < pieces ? threads : pieces);
}

/* The caller's rounding mode and flush-to-zero setting must not reach the arithmetic: every thread runs in the default
 * floating-point environment. */
static void run_pieces(fpo_work *work)
{
    const fpo_gemm_problem *problem = work->context->problem;
    double piece = work->elements != NULL ? 1 : FPO_TILE_M * FPO_TILE_N;
    int threads = thread_count(work->execution, work->count, piece * (double)work->count * (double)problem->k);
#pragma omp parallel num_threads(threads)
    {
        fenv_t environment;
        fegetenv(&environment);
        fesetenv(FE_DFL_ENV);
#pragma omp for schedule(dynamic)
        for (int64_t index = 0; index < work->count; index++) {
            fpo_error error;
            int64_t failed, done;
#pragma omp atomic read
            failed = work->failed;
            if (index > failed)
                continue;
            fpo_status status = do_piece(work, index, &error);
            if (status != FPO_OK)
                note_failure(work, index, status, &error);
#pragma omp atomic capture
            done = ++work->done;
            if (omp_get_thread_num() == 0)
                report(work, (double)done / (double)work->count);
        }
        fesetenv(&environment);
    }
}

static fpo_status finish(const fpo_work *work, fpo_error *error)
{
    if (work->status != FPO_OK && error != NULL)
        *error = work->error;
    return work->status;
}

static fpo_status open_context(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem,
                               const fpo_execution *execution, const bool *rows, const bool *columns,
                               fpo_gemm_context *context, fpo_error *error)
{
    *context = (fpo_gemm_context){.spec = spec, .problem = problem, .isa = fpo_isa_resolve(execution->isa)};
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    fpo_status status = fpo_prepare(&spec->a, &problem->a, problem->m, problem->k, "a", rows, &context->a, error);
    if (status == FPO_OK) {
        status = fpo_prepare(&spec->b, &problem->b, problem->n, problem->k, "b", columns, &context->b, error);
        if (status != FPO_OK)
            fpo_prepared_free(&context->a);
    }
    fesetenv(&environment);
    return status;
}

static void close_context(fpo_gemm_context *context)
{
    fpo_nvfp4_free(context->nvfp4);
    fpo_prepared_free(&context->a);
    fpo_prepared_free(&context->b);
}

static const fpo_execution defaults = {0};

fpo_status fpo_gemm(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_gemm_output *output,
                    const fpo_execution *execution, fpo_error *error)
{
    fpo_gemm_context context;
    fpo_status status = fpo_problem_check(spec, problem, output, error);
    if (execution == NULL)
        execution = &defaults;
    if (status == FPO_OK)
        status = open_context(spec, problem, execution, NULL, NULL, &context, error);
    if (status != FPO_OK)
        return status;

    context.nvfp4 =
        fpo_nvfp4_pack(&context, thread_count(execution, problem->m, (double)problem->m * (double)problem->k));

    /* The output is written at the end, so that it is untouched where a tile fails. */
    size_t d_bytes = fpo_output_bytes(spec, problem->m, problem->n);
    size_t scale_bytes = fpo_output_scale_bytes(spec, problem->m, problem->n);
    fpo_gemm_output result = {malloc(d_bytes), d_bytes, malloc(scale_bytes + 1), scale_bytes};
    int64_t down = problem->m / FPO_TILE_M + (problem->m % FPO_TILE_M != 0);
    int64_t across = problem->n / FPO_TILE_N + (problem->n % FPO_TILE_N != 0);
    fpo_work work = {.context = &context,
                     .execution = execution,
                     .count = down * across,
                     .failed = down * across,
                     .output = &result};

    if (result.d == NULL || result.d_scale == NULL) {
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for D of %lld x %lld", (long long)problem->m,
                          (long long)problem->n);
    } else {
        report(&work, 0.0);
        run_pieces(&work);
        status = finish(&work, error);
    }
    if (status == FPO_OK) {
        memcpy(output->d, result.d, d_bytes);
        if (scale_bytes > 0)
            memcpy(output->d_scale, result.d_scale, scale_bytes);
    }
    free(result.d);
    free(result.d_scale);
    close_context(&context);
    return status;
}

/* The rows of one operand that the elements need. */
static bool *wanted_rows(const fpo_element *elements, size_t count, int64_t rows, bool is_a)
{
    bool *wanted = calloc((size_t)rows, sizeof *wanted);
    for (size_t i = 0; i < count && wanted != NULL; i++)
        wanted[is_a ? elements[i].row : elements[i].column] = true;
    return wanted;
}

/* Elements that are neighbours in a row are one tile: its row of A is decoded once. Returns how many there are. */
static int64_t find_runs(const fpo_element *elements, size_t count, size_t *runs)
{
    int64_t found = 0;
    runs[0] = 0;
    for (size_t i = 1; i <= count; i++)
        if (i == count || elements[i].row != elements[i - 1].row || elements[i].column != elements[i - 1].column + 1 ||
            i - runs[found] == FPO_TILE_N)
            runs[++found] = i;
    return found;
}

static fpo_status elements_prepared(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem,
                                    const fpo_element *elements, size_t count, uint32_t *codes,
                                    const fpo_execution *execution, fpo_error *error)
{
    bool *rows = wanted_rows(elements, count, problem->m, true);
    bool *columns = wanted_rows(elements, count, problem->n, false);
    uint32_t *result = malloc(count * sizeof *result);
    size_t *runs = malloc((count + 1) * sizeof *runs);
    fpo_gemm_context context;
    fpo_status status;

    if (rows == NULL || columns == NULL || result == NULL || runs == NULL)
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu elements of D", count);
    else
        status = open_context(spec, problem, execution, rows, columns, &context, error);
    if (status == FPO_OK) {
        fpo_work work = {
            .context = &context, .execution = execution, .elements = elements, .runs = runs, .codes = result};
        work.count = work.failed = find_runs(elements, count, runs);
        run_pieces(&work);
        status = finish(&work, error);
        close_context(&context);
    }
    if (status == FPO_OK)
        memcpy(codes, result, count * sizeof *codes);
    free(result);
    free(runs);
    free(rows);
    free(columns);
    return status;
}

fpo_status fpo_gemm_elements(const fpo_gemm_spec *spec, const fpo_gemm_problem *problem, const fpo_element *elements,
                             size_t count, uint32_t *codes, const fpo_execution *execution, fpo_error *error)
{
    fpo_status status = fpo_problem_check(spec, problem, NULL, error);
    if (status != FPO_OK)
        return status;
    if (spec->epilogue.d_scale != FPO_FORMAT_NONE)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "single elements of a D with block scales depend on their group");
    for (size_t i = 0; i < count; i++) {
        if (elements[i].row < 0 || elements[i].row >= problem->m || elements[i].column < 0 ||
            elements[i].column >= problem->n)
            return fpo_fail(error, FPO_ERR_SHAPE, "element %zu is (%lld, %lld), D is %lld x %lld", i,
                            (long long)elements[i].row, (long long)elements[i].column, (long long)problem->m,
                            (long long)problem->n);
    }
    if (count == 0)
        return FPO_OK;
    if (count > SIZE_MAX / sizeof *codes / 2)
        return fpo_fail(error, FPO_ERR_SHAPE, "%zu elements are too many for this machine", count);
    return elements_prepared(spec, problem, elements, count, codes, execution == NULL ? &defaults : execution, error);
}

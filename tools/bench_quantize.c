/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* bench --recipe: how fast tensors are quantised, beside the speed of copying them. */
#include "bench_quantize.h"
#include "arguments.h"
#include "quantized.h"
#include "report.h"
#include "table.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPEAT = 99 };

typedef struct recipe_time {
    const fpo_recipe_info *recipe;
    double seconds;
} recipe_time;

/* The fastest run counts: what others do to the machine only adds. */
static double fastest(const double *seconds, int64_t count)
{
    double least = seconds[0];
    for (int64_t i = 1; i < count; i++)
        least = seconds[i] < least ? seconds[i] : least;
    return least;
}

static fpo_status generated(int64_t rows, int64_t k, fpo_tensor_numbers *numbers, fpo_error *error)
{
    *numbers = (fpo_tensor_numbers){.rows = rows, .k = k, .dtype = FPO_BF16};
    numbers->values = malloc((size_t)(rows * k) * sizeof *numbers->values);
    if (numbers->values == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %lld x %lld numbers", (long long)rows, (long long)k);
#pragma omp parallel for
    for (int64_t i = 0; i < rows * k; i++) {
        float x = fpo_random_normal((fpo_random){20261130, 1}, (uint64_t)i);
        numbers->values[i] = fpo_round_to_float(
            fpo_decode(FPO_BF16, fpo_encode(FPO_BF16, fpo_value_from_float(x), fpo_cast_describe(FPO_CAST_IEEE), 0)),
            FPO_NEAREST_EVEN);
    }
    return FPO_OK;
}

/* What the tensor's bytes cost at least: reading and writing them once. */
static double copy_seconds(const fpo_tensor_numbers *numbers, int threads, int64_t repeat)
{
    int64_t count = numbers->rows * numbers->k;
    float *to = malloc((size_t)count * sizeof *to);
    double seconds[MAX_REPEAT];
    for (int64_t i = 0; i <= repeat && to != NULL; i++) {
        double start = omp_get_wtime();
#pragma omp parallel for num_threads(threads)
        for (int64_t row = 0; row < numbers->rows; row++)
            memcpy(to + row * numbers->k, numbers->values + row * numbers->k, (size_t)numbers->k * sizeof *to);
        if (i > 0) /* the first one maps the pages */
            seconds[i - 1] = omp_get_wtime() - start;
    }
    bool measured = to != NULL;
    free(to);
    if (!measured)
        return 0;
    return fastest(seconds, repeat);
}

static fpo_status time_recipe(const fpo_tensor_numbers *numbers, int threads, int64_t repeat, recipe_time *t,
                              fpo_error *error)
{
    fpo_quantized q = {.codes_bytes = fpo_operand_codes_bytes(&t->recipe->view, numbers->rows, numbers->k),
                       .scales_bytes = fpo_operand_scales_bytes(&t->recipe->view, numbers->rows, numbers->k),
                       .dtype = numbers->dtype};
    q.codes = malloc(q.codes_bytes);
    q.scales = malloc(q.scales_bytes + 1);
    double seconds[MAX_REPEAT];
    fpo_execution execution = {.threads = threads};
    fpo_status status = FPO_OK;
    if (q.codes == NULL || q.scales == NULL)
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for the codes of %s", t->recipe->name);
    for (int64_t i = 0; i <= repeat && status == FPO_OK; i++) {
        double start = omp_get_wtime();
        status = fpo_quantize_by(t->recipe, numbers->values, numbers->rows, numbers->k, &q, &execution, error);
        double took = omp_get_wtime() - start;
        if (i > 0)
            seconds[i - 1] = took;
        else if (took > 2) { /* a slow one is run once: the pages count little */
            seconds[0] = took;
            repeat = 1;
            break;
        }
    }
    free(q.codes);
    free(q.scales);
    if (status == FPO_OK)
        t->seconds = fastest(seconds, repeat);
    return status;
}

static double giga_per_second(const fpo_tensor_numbers *numbers, double seconds)
{
    return (double)(numbers->rows * numbers->k) / seconds * 1e-9;
}

static int print_json(const fpo_tensor_numbers *numbers, int threads, double copy, const recipe_time *times,
                      size_t count)
{
    json_t *recipes = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(recipes, times[i].recipe->name,
                            json_pack("{s:f, s:f}", "seconds", times[i].seconds, "gelem_per_s",
                                      giga_per_second(numbers, times[i].seconds)));
    return fpo_print_json(json_pack("{s:[I, I], s:s, s:i, s:f, s:o}", "shape", (json_int_t)numbers->rows,
                                    (json_int_t)numbers->k, "dtype", fpo_format_describe(numbers->dtype)->name,
                                    "threads", threads, "copy_seconds", copy, "recipes", recipes));
}

static void print_table(const fpo_tensor_numbers *numbers, int threads, double copy, const recipe_time *times,
                        size_t count)
{
    fpo_heading("%lld x %lld numbers (%s), %d threads; copying their f32 takes %.4f s, %.2f Gelem/s",
                (long long)numbers->rows, (long long)numbers->k, fpo_format_describe(numbers->dtype)->name, threads,
                copy, giga_per_second(numbers, copy));
    putchar('\n');
    fpo_table *table = fpo_table_new(4);
    static const char *const heads[] = {"recipe", "seconds", "Gelem/s", "time / copy"};
    for (size_t i = 0; i < 4; i++) {
        fpo_table_add(table, "%s", heads[i]);
        if (i > 0)
            fpo_table_align_right(table, i);
    }
    for (size_t i = 0; i < count; i++) {
        fpo_table_add(table, "%s", times[i].recipe->name);
        fpo_table_add(table, "%.4f", times[i].seconds);
        fpo_table_add(table, "%.2f", giga_per_second(numbers, times[i].seconds));
        fpo_table_add(table, "%.2f", times[i].seconds / copy);
    }
    fpo_table_print(table, 0);
}

int fpo_bench_quantize(const fpo_bench_quantize_options *options)
{
    fpo_tensor_numbers numbers;
    fpo_error error = {FPO_OK, ""};
    fpo_status status = options->input != NULL ? fpo_tensor_numbers_read(options->input, &numbers, &error)
                                               : generated(options->rows, options->k, &numbers, &error);
    if (status != FPO_OK)
        return fpo_report_error(options->program, &error);
    recipe_time *times = calloc(FPO_RECIPE_COUNT, sizeof *times);
    fpo_progress_line line = {.label = ""};
    size_t count = 0;
    double copy = copy_seconds(&numbers, options->threads, options->repeat);
    for (int r = 0; r < FPO_RECIPE_COUNT && times != NULL && status == FPO_OK; r++) {
        if (options->recipe != FPO_RECIPE_COUNT && r != (int)options->recipe)
            continue;
        times[count].recipe = fpo_recipe_describe((fpo_recipe)r);
        line.label = times[count].recipe->name;
        fpo_progress(&line, (double)r / FPO_RECIPE_COUNT);
        status = time_recipe(&numbers, options->threads, options->repeat, &times[count++], &error);
    }
    fpo_progress_end(&line);
    if (status == FPO_OK && options->json)
        print_json(&numbers, options->threads, copy, times, count);
    else if (status == FPO_OK)
        print_table(&numbers, options->threads, copy, times, count);
    free(times);
    fpo_tensor_numbers_free(&numbers);
    return status == FPO_OK ? FPO_EXIT_OK : fpo_report_error(options->program, &error);
}

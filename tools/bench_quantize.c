/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* bench --recipe: how fast tensors are quantised, beside the speed of copying them and that of other libraries. */
#include "bench_quantize.h"
#include "arguments.h"
#include "bench_peers.h"
#include "quantized.h"
#include "report.h"
#include "table.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_REPEAT = 99 };

typedef struct recipe_time {
    const fpo_recipe_info *recipe;
    double seconds;
    double peers[FPO_PEERS]; /* 0: none */
} recipe_time;

/* The fastest run counts: what others do to the machine only adds. */
static double fastest(const double *seconds, int64_t count)
{
    double least = seconds[0];
    for (int64_t i = 1; i < count; i++)
        least = seconds[i] < least ? seconds[i] : least;
    return least;
}

/* In large pages where the system has them, as numpy has its arrays; NULL: no memory. */
static float *allocate(int64_t count)
{
    const size_t page = (size_t)2 << 20;
    size_t bytes = ((size_t)count * sizeof(float) + page - 1) / page * page;
    float *memory = aligned_alloc(page, bytes);
    if (memory != NULL)
        (void)madvise(memory, bytes, MADV_HUGEPAGE); /* a wish */
    return memory;
}

static fpo_status generated(int64_t rows, int64_t k, fpo_tensor_numbers *numbers, fpo_error *error)
{
    *numbers = (fpo_tensor_numbers){.rows = rows, .k = k, .dtype = FPO_BF16};
    numbers->values = allocate(rows * k);
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
    float *to = allocate(count);
    double seconds[MAX_REPEAT] = {0};
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

/* What there is to print. */
typedef struct report {
    const fpo_tensor_numbers *numbers;
    const fpo_peers *peers;
    int threads;
    double copy;
    const recipe_time *times;
    size_t count;
} report;

static json_t *peers_json(const recipe_time *t)
{
    json_t *peers = json_object();
    for (int i = 0; i < FPO_PEERS; i++)
        if (t->peers[i] > 0)
            json_object_set_new(peers, fpo_peer_names[i],
                                json_pack("{s:f, s:f}", "seconds", t->peers[i], "ratio", t->peers[i] / t->seconds));
    return peers;
}

static int print_json(const report *r)
{
    json_t *recipes = json_object();
    for (size_t i = 0; i < r->count; i++)
        json_object_set_new(recipes, r->times[i].recipe->name,
                            json_pack("{s:f, s:f, s:o}", "seconds", r->times[i].seconds, "gelem_per_s",
                                      giga_per_second(r->numbers, r->times[i].seconds), "peers",
                                      peers_json(&r->times[i])));
    return fpo_print_json(json_pack("{s:[I, I], s:s, s:i, s:f, s:s, s:o}", "shape", (json_int_t)r->numbers->rows,
                                    (json_int_t)r->numbers->k, "dtype", fpo_format_describe(r->numbers->dtype)->name,
                                    "threads", r->threads, "copy_seconds", r->copy,
                                    r->peers->present ? "peers" : "no_peers", r->peers->libraries, "recipes", recipes));
}

/* Whether any recipe was compared with this peer. */
static bool compared(const report *r, int peer)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->times[i].peers[peer] > 0)
            return true;
    return false;
}

static void add_row(fpo_table *table, const report *r, const recipe_time *t)
{
    fpo_table_add(table, "%s", t->recipe->name);
    fpo_table_add(table, "%.4f", t->seconds);
    fpo_table_add(table, "%.2f", giga_per_second(r->numbers, t->seconds));
    fpo_table_add(table, "%.2f", t->seconds / r->copy);
    for (int i = 0; i < FPO_PEERS; i++) {
        if (!compared(r, i))
            continue;
        if (t->peers[i] > 0)
            fpo_table_add(table, "%.1f", t->peers[i] / t->seconds);
        else
            fpo_table_add(table, "-");
    }
}

static void print_table(const report *r)
{
    fpo_heading("%lld x %lld numbers (%s), %d threads; copying their f32 takes %.4f s, %.2f Gelem/s",
                (long long)r->numbers->rows, (long long)r->numbers->k, fpo_format_describe(r->numbers->dtype)->name,
                r->threads, r->copy, giga_per_second(r->numbers, r->copy));
    if (r->peers->present)
        printf("beside it: %s; amax, scale and cast of the same numbers, their time over ours\n", r->peers->libraries);
    else
        printf("nothing to compare with: %s\n", r->peers->libraries);
    putchar('\n');
    const char *heads[4 + FPO_PEERS] = {"recipe", "seconds", "Gelem/s", "time / copy"};
    size_t columns = 4;
    for (int i = 0; i < FPO_PEERS; i++)
        if (compared(r, i))
            heads[columns++] = fpo_peer_names[i];
    fpo_table *table = fpo_table_new(columns);
    for (size_t i = 0; i < columns; i++) {
        fpo_table_add(table, "%s", heads[i]);
        if (i > 0)
            fpo_table_align_right(table, i);
    }
    for (size_t i = 0; i < r->count; i++)
        add_row(table, r, &r->times[i]);
    fpo_table_print(table, 0);
}

/* Recipes of one operand view have the same peers, unless the peer is the recipe's own library. */
static bool same_peers(const fpo_recipe_info *a, const fpo_recipe_info *b)
{
    static const char own[] = "torchao_";
    const fpo_operand_view *x = &a->view, *y = &b->view;
    return x->element == y->element && x->scale.format == y->scale.format &&
           x->scale.block_rows == y->scale.block_rows && x->scale.block_k == y->scale.block_k &&
           strncmp(a->name, own, sizeof own - 1) != 0 && strncmp(b->name, own, sizeof own - 1) != 0;
}

static void time_peers(fpo_peers *peers, int64_t repeat, recipe_time *times, size_t now)
{
    for (size_t i = 0; i < now; i++)
        if (same_peers(times[i].recipe, times[now].recipe)) {
            memcpy(times[now].peers, times[i].peers, sizeof times[now].peers);
            return;
        }
    fpo_peers_time(peers, times[now].recipe, repeat, times[now].peers);
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
    fpo_peers peers;
    fpo_peers_open(&peers, numbers.values, numbers.rows, numbers.k, options->threads);
    double copy = copy_seconds(&numbers, options->threads, options->repeat);
    for (int r = 0; r < FPO_RECIPE_COUNT && times != NULL && status == FPO_OK; r++) {
        if (options->recipe != FPO_RECIPE_COUNT && r != (int)options->recipe)
            continue;
        times[count].recipe = fpo_recipe_describe((fpo_recipe)r);
        line.label = times[count].recipe->name;
        fpo_progress(&line, (double)r / FPO_RECIPE_COUNT);
        status = time_recipe(&numbers, options->threads, options->repeat, &times[count], &error);
        if (status == FPO_OK)
            time_peers(&peers, options->repeat, times, count++);
    }
    fpo_progress_end(&line);
    const report r = {&numbers, &peers, options->threads, copy, times, count};
    if (status == FPO_OK && options->json)
        print_json(&r);
    else if (status == FPO_OK)
        print_table(&r);
    fpo_peers_close(&peers);
    free(times);
    fpo_tensor_numbers_free(&numbers);
    return status == FPO_OK ? FPO_EXIT_OK : fpo_report_error(options->program, &error);
}

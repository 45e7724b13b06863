/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* fp4oracle bench: how long each model takes against dequantise-and-sgemm, measured in turn in the same run; or how
 * long recipes take to quantise. */
#include "arguments.h"
#include "bench.h"
#include "bench_kernel.h"
#include "bench_quantize.h"
#include "report.h"
#include "table.h"

#include <argp.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_JSON = 0x100, OPTION_SHAPE, OPTION_THREADS, OPTION_REPEAT, OPTION_DEVICE, OPTION_INPUT, MAX_REPEAT = 99 };

static const struct argp_option options[] = {
    {.name = "format", .key = 'f', .arg = "F", .doc = "operand format (default nvfp4)"},
    {.name = "model", .key = 'm', .arg = "MODEL", .doc = "only this model (default: all that take the format)"},
    {.name = "shape", .key = OPTION_SHAPE, .arg = "MxNxK", .doc = "default 4096x4096x4096"},
    {.name = "threads", .key = OPTION_THREADS, .arg = "N", .doc = "of both (default: one a processor)"},
    {.name = "repeat", .key = OPTION_REPEAT, .arg = "N", .doc = "runs of each, of which the median counts (default 3)"},
    {.name = "kernel",
     .key = 'k',
     .arg = "PLUGIN:NAME",
     .doc = "times a launch of this kernel instead, and compares all bits of its output"},
    {.name = "device",
     .key = OPTION_DEVICE,
     .arg = "D",
     .doc = "where --kernel runs, as for `run`: virtual:sm120 for instance"},
    {.name = "recipe", .key = 'r', .arg = "NAME", .doc = "quantises by this recipe, or by all, and multiplies nothing"},
    {.name = "input",
     .key = OPTION_INPUT,
     .arg = "FILE[:TENSOR]",
     .doc = "what is quantised (default: M x K of the shape)"},
    {.name = "json", .key = OPTION_JSON, .doc = "the same facts for machines"},
    {0},
};

static const char documentation[] =
    "Times the emulator against the usual reference: both operands dequantised to f32, then OpenBLAS sgemm with the "
    "same number of threads. Ratios are our time over sgemm's alone; below 1 we are faster. A model that is slow is "
    "timed on fewer rows of A, and sgemm on the same rows for its ratio. With --recipe the time of quantising, beside "
    "that of copying the numbers, and of amax, scale and cast by ml_dtypes and torch where python3 (or FPO_PYTHON) has "
    "them; the fastest run counts.\v"
    "Examples:\n"
    "  fp4oracle bench\n"
    "  fp4oracle bench --shape 512x512x4096 --model sm120_mxf4nvf4 --json\n"
    "  fp4oracle bench --kernel cutlass_sm120:NAME --device virtual:sm120 --threads 2\n"
    "  fp4oracle bench --recipe modelopt_nvfp4 --threads 1";

typedef struct parsed {
    fpo_block_format format;
    const fpo_model *model;
    int64_t m, n, k, threads, repeat;
    const char *kernel, *device;
    bool json, quantizing;
    fpo_recipe recipe; /* FPO_RECIPE_COUNT: all */
    const char *input;
    fpo_error error;
} parsed;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    parsed *p = state->input;
    fpo_block_format b;
    fpo_status status = FPO_OK;
    switch (key) {
    case 'f':
        status = fpo_parse_block_formats(argument, &p->format, &b, &p->error);
        if (status == FPO_OK && b != p->format)
            status = fpo_fail(&p->error, FPO_ERR_ARGUMENT, "bench takes one format, not a pair");
        break;
    case 'm': status = fpo_parse_model(argument, &p->model, &p->error); break;
    case OPTION_SHAPE: status = fpo_parse_shape(argument, &p->m, &p->n, &p->k, &p->error); break;
    case OPTION_THREADS: status = fpo_parse_integer("threads", argument, 1, 1024, &p->threads, &p->error); break;
    case OPTION_REPEAT: status = fpo_parse_integer("repeat", argument, 1, MAX_REPEAT, &p->repeat, &p->error); break;
    case 'r':
        p->quantizing = true;
        p->recipe = FPO_RECIPE_COUNT;
        if (strcmp(argument, "all") != 0)
            status = fpo_parse_recipe(argument, &p->recipe, &p->error);
        break;
    case OPTION_INPUT: p->input = argument; break;
    case OPTION_JSON: p->json = true; break;
    case 'k': p->kernel = argument; break;
    case OPTION_DEVICE: p->device = argument; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    if (status != FPO_OK)
        argp_error(state, "%s", p->error.message);
    return 0;
}

static int compare_doubles(const void *x, const void *y)
{
    double a = *(const double *)x;
    double b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(double *values, int64_t count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* Medians over the repetitions of one model and of sgemm beside it. */
typedef struct timing {
    const fpo_model *model;
    int64_t rows;
    double seconds, dequantise, sgemm, ratio;
} timing;

/* All rows of a model that is fast, few of one that is slow: two short runs tell what a row costs, apart from what B
 * costs once. */
static fpo_status choose_rows(const parsed *p, const fpo_bench_problem *bench, const fpo_model *model, int64_t *rows,
                              fpo_error *error)
{
    enum { FEW = 16, MORE = 80 };
    static const double patience = 12; /* seconds */
    double few, more;
    *rows = p->m;
    if (p->m <= MORE)
        return FPO_OK;
    fpo_status status = fpo_bench_model(bench, model, FEW, (int)p->threads, &few, error);
    if (status == FPO_OK)
        status = fpo_bench_model(bench, model, MORE, (int)p->threads, &more, error);
    if (status == FPO_OK && few + (more - few) / (MORE - FEW) * (double)p->m > patience)
        *rows = MORE;
    return status;
}

static fpo_status time_model(const parsed *p, const fpo_bench_problem *bench, const fpo_model *model, timing *t,
                             fpo_error *error)
{
    double ours[MAX_REPEAT], dequantise[MAX_REPEAT], sgemm[MAX_REPEAT], ratios[MAX_REPEAT];
    *t = (timing){.model = model};
    fpo_status status = choose_rows(p, bench, model, &t->rows, error);
    for (int64_t i = 0; i < p->repeat && status == FPO_OK; i++) {
        status = fpo_bench_model(bench, model, t->rows, (int)p->threads, &ours[i], error);
        fpo_bench_blas(bench, t->rows, (int)p->threads, &dequantise[i], &sgemm[i]);
        ratios[i] = ours[i] / sgemm[i];
    }
    if (status != FPO_OK)
        return status;
    t->seconds = median(ours, p->repeat);
    t->dequantise = median(dequantise, p->repeat);
    t->sgemm = median(sgemm, p->repeat);
    t->ratio = median(ratios, p->repeat);
    return FPO_OK;
}

static double gmacs(const parsed *p, const timing *t, double seconds)
{
    return (double)t->rows * (double)p->n * (double)p->k / seconds * 1e-9;
}

static int print_json(const parsed *p, const timing *timings, size_t count)
{
    json_t *models = json_object();
    json_t *root = json_pack("{s:s, s:[I,I,I], s:I, s:I, s:s}", "format", fpo_block_format_describe(p->format)->name,
                             "shape", (json_int_t)p->m, (json_int_t)p->n, (json_int_t)p->k, "threads",
                             (json_int_t)p->threads, "repeat", (json_int_t)p->repeat, "blas", fpo_bench_blas_name());
    bool blas = fpo_bench_has_blas();
    for (size_t i = 0; i < count; i++) {
        const timing *t = &timings[i];
        json_t *model = json_pack("{s:I, s:f, s:f}", "rows", (json_int_t)t->rows, "seconds", t->seconds, "gmac_per_s",
                                  gmacs(p, t, t->seconds));
        if (blas) {
            json_object_set_new(model, "dequantise_seconds", json_real(t->dequantise));
            json_object_set_new(model, "sgemm_seconds", json_real(t->sgemm));
            json_object_set_new(model, "vs_sgemm", json_real(t->ratio));
        }
        if (blas && strcmp(t->model->name, "exact") == 0)
            json_object_set_new(root, "exact_vs_sgemm", json_real(t->ratio));
        if (blas && strcmp(t->model->name, "sm120_mxf4nvf4") == 0)
            json_object_set_new(root, "sm120_vs_sgemm", json_real(t->ratio));
        json_object_set_new(models, t->model->name, model);
    }
    json_object_set_new(root, "models", models);
    return fpo_print_json(root);
}

static void print_table(const parsed *p, const timing *timings, size_t count)
{
    fpo_heading("%s, %lld x %lld x %lld, %lld threads, median of %lld", fpo_block_format_describe(p->format)->name,
                (long long)p->m, (long long)p->n, (long long)p->k, (long long)p->threads, (long long)p->repeat);
    printf("BLAS: %s\n\n", fpo_bench_blas_name());
    fpo_table *table = fpo_table_new(6);
    static const char *const heads[] = {"model", "rows", "seconds", "GMAC/s", "sgemm GMAC/s", "time / sgemm"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        fpo_table_add(table, "%s", heads[i]);
        if (i > 0)
            fpo_table_align_right(table, i);
    }
    for (size_t i = 0; i < count; i++) {
        const timing *t = &timings[i];
        fpo_table_add(table, "%s", t->model->name);
        fpo_table_add(table, "%lld", (long long)t->rows);
        fpo_table_add(table, "%.3f", t->seconds);
        fpo_table_add(table, "%.2f", gmacs(p, t, t->seconds));
        if (fpo_bench_has_blas()) {
            fpo_table_add(table, "%.2f", gmacs(p, t, t->sgemm));
            fpo_table_add(table, "%.2f", t->ratio);
        } else {
            fpo_table_add(table, "-");
            fpo_table_add(table, "-");
        }
    }
    fpo_table_print(table, 0);
    if (count > 0 && fpo_bench_has_blas())
        printf("\nDequantising takes the BLAS way %.3f s more (%lld rows).\n", timings[0].dequantise,
               (long long)timings[0].rows);
}

static bool takes(fpo_block_format format, const fpo_model *model)
{
    const fpo_operand_view *view = &fpo_block_format_describe(format)->view;
    return fpo_model_takes(model, view, view);
}

int fpo_cmd_bench(int argc, char **argv)
{
    static const struct argp parser = {.options = options, .parser = parse, .doc = documentation};
    parsed p = {.format = FPO_BLOCK_NVFP4, .m = 4096, .n = 4096, .k = 4096, .repeat = 3};
    p.threads = omp_get_max_threads();
    argp_parse(&parser, argc, argv, 0, NULL, &p);
    if (p.quantizing)
        return fpo_bench_quantize(
            &(fpo_bench_quantize_options){argv[0], p.recipe, p.input, p.m, p.k, p.repeat, (int)p.threads, p.json});
    if (p.input != NULL)
        return fpo_report_unusable(argv[0], "--input is for --recipe: which one is to quantise %s?", p.input);
    if (p.model != NULL && !takes(p.format, p.model))
        return fpo_report_unusable(argv[0], "the model %s does not take %s", p.model->name,
                                   fpo_block_format_describe(p.format)->name);

    if (p.kernel != NULL) {
        const fpo_bench_kernel kernel = {p.kernel, p.device, p.format, p.m, p.n, p.k, p.threads, p.repeat, p.json};
        return fpo_bench_run_kernel(argv[0], &kernel);
    }
    if (p.device != NULL)
        return fpo_report_unusable(argv[0], "--device is for --kernel");
    size_t models = 0;
    while (fpo_model_at(models) != NULL)
        models++;
    timing *timings = calloc(models, sizeof *timings);
    fpo_bench_problem bench;
    fpo_error error = {FPO_OK, ""};
    if (timings == NULL)
        return fpo_report_unusable(argv[0], "no memory for %zu models", models);
    fpo_status status = fpo_bench_open(p.format, p.m, p.n, p.k, &bench, &error);
    if (status == FPO_OK) {
        size_t count = 0;
        fpo_progress_line line = {.label = ""};
        for (size_t i = 0; i < models && status == FPO_OK; i++) {
            const fpo_model *model = fpo_model_at(i);
            if (p.model != NULL ? model != p.model : !takes(p.format, model))
                continue;
            line.label = model->name;
            fpo_progress(&line, (double)i / (double)models);
            status = time_model(&p, &bench, model, &timings[count++], &error);
        }
        fpo_progress_end(&line);
        if (status == FPO_OK && p.json)
            print_json(&p, timings, count);
        else if (status == FPO_OK)
            print_table(&p, timings, count);
        fpo_bench_close(&bench);
    }
    free(timings);
    return status == FPO_OK ? FPO_EXIT_OK : fpo_report_error(argv[0], &error);
}

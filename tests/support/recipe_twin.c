/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "recipe_twin.h"

#include "quantizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every register has one value an element of a strip: the rows that share an amax. What changes less often is the same
 * in many. */
typedef struct twin {
    const fpo_program *program;
    const fpo_operand_view *view;
    const float *x;
    int64_t k, block_k;                     /* of a row, of a stored scale */
    int64_t region_rows, region_k, regions; /* of an amax; regions along K */
    int64_t first, rows;                    /* of the strip */
    fpo_draws draws;
    double *values;
    double *best; /* errors of the regions of a strip */
    double *choice;
    float *errors; /* of one region's part in a row */
    const fpo_quantized *given;
} twin;

static double *values_of(const twin *t, int r)
{
    return t->values + r * t->region_rows * t->k;
}

static void set_row(const twin *t, int r, int64_t row, double value)
{
    for (int64_t i = 0; r != FPO_NO_REGISTER && i < t->k; i++)
        values_of(t, r)[row * t->k + i] = value;
}

static void set_all(const twin *t, int r, double value)
{
    for (int64_t row = 0; row < t->rows; row++)
        set_row(t, r, row, value);
}

/* |x| by the rule; `step` 2 for every other element. */
static double amax_of(fpo_amax_rule rule, const double *x, int64_t count, int64_t step)
{
    double largest = 0;
    bool any = false, nan = false;
    for (int64_t i = 0; i < count; i += step) {
        nan = nan || isnan(x[i]);
        any = any || !isnan(x[i]);
        largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    }
    bool wins = rule == FPO_AMAX_NAN_WINS ? nan : rule != FPO_AMAX_NAN_ZERO && !any;
    return wins ? (double)NAN : largest;
}

static double amax(fpo_amax_rule rule, const double *x, int64_t count)
{
    if (rule != FPO_AMAX_EVEN_ODD || count < 2)
        return amax_of(rule, x, count, 1);
    double even = amax_of(rule, x, count, 2), odd = amax_of(rule, x + 1, count - 1, 2);
    return even > odd ? even : odd;
}

static double join(fpo_amax_rule rule, double a, double b)
{
    if (isnan(a) || isnan(b))
        return rule == FPO_AMAX_NAN_WINS ? (double)NAN : isnan(a) ? b : a;
    return a > b ? a : b;
}

/* A row of the strip times the Hadamard matrix over 4, 16 at a time: sums in order, zeros after the end. */
static void hadamard(const double *x, double *to, int64_t count)
{
    static const int signs[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
    for (int64_t at = 0; at < count; at++) {
        float sum = 0;
        for (int64_t i = 0; i < 16; i++) {
            float sign = (float)signs[i] * (__builtin_popcount((unsigned)(i & at % 16)) % 2 != 0 ? -0.25f : 0.25f);
            int64_t from = at / 16 * 16 + i;
            sum += sign * (from < count ? (float)x[from] : 0);
        }
        to[at] = (double)sum;
    }
}

static double round_randomly(const twin *t, const fpo_recipe_step *step, double x, int64_t i)
{
    uint32_t bits = fpo_draw_bits(&t->draws, t->first + i / t->k, i % t->k);
    return fpo_decode_double(step->format, fpo_encode(step->format, fpo_value_from_float((float)x), &step->cast, bits));
}

static void run_step(const twin *t, const fpo_recipe_step *step)
{
    double *to = values_of(t, step->to);
    double before[3] = {0, 0, 0};
    for (int64_t i = 0; i < t->rows * t->k; i++) {
        double arguments[3] = {0, 0, 0};
        for (int a = 0; a < 3 && step->argument[a] != FPO_NO_REGISTER; a++)
            arguments[a] = values_of(t, step->argument[a])[i];
        if (step->function == FPO_FN_HADAMARD) {
            if (i % t->k == 0)
                hadamard(values_of(t, step->argument[0]) + i, to + i, t->k);
        } else if (step->function == FPO_FN_ENCODE && step->cast.rounding == FPO_STOCHASTIC) {
            to[i] = round_randomly(t, step, arguments[0], i);
        } else if (i > 0 && memcmp(before, arguments, sizeof before) == 0) {
            to[i] = to[i - 1]; /* of the same block: only for speed */
        } else {
            to[i] = fpo_recipe_apply(step, arguments[0], arguments[1], arguments[2]);
        }
        memcpy(before, arguments, sizeof before);
    }
}

static void run_scope(const twin *t, fpo_scope scope)
{
    for (int i = 0; i < t->program->step_count; i++) {
        const fpo_recipe_step *step = &t->program->steps[i];
        if (step->scope != scope)
            continue;
        run_step(t, step);
        if (step->to == t->program->tensor_scale && t->given->given_library_scale)
            set_all(t, step->to, (double)t->given->library_scale);
    }
}

/* The elements of a strip, after `input:`. */
static void load(twin *t, int64_t first, int64_t rows)
{
    const fpo_program *program = t->program;
    t->first = first;
    t->rows = rows;
    /* An input's part that gives x no other value leaves it as it is. */
    for (int64_t i = 0; i < rows * t->k; i++) {
        values_of(t, program->x)[i] = (double)t->x[first * t->k + i];
        if (program->raw_x != FPO_NO_REGISTER)
            values_of(t, program->raw_x)[i] = (double)t->x[first * t->k + i];
    }
    for (int64_t i = 0; program->random != FPO_NO_REGISTER && i < rows * t->k; i++) {
        uint32_t bits = fpo_draw_bits(&t->draws, first + i / t->k, i % t->k);
        values_of(t, program->random)[i] = (double)fpo_draw_number(bits);
    }
    run_scope(t, FPO_SCOPE_INPUT);
}

static double row_amax(const twin *t, fpo_scope scope, int64_t row)
{
    return amax(t->program->amax_rule[scope], values_of(t, t->program->x) + row * t->k, t->k);
}

/* Elements of a region in one row. */
static int64_t part_of(const twin *t, int64_t region)
{
    int64_t left = t->k - region * t->region_k;
    return left < t->region_k ? left : t->region_k;
}

static void set_region(const twin *t, int r, int64_t region, double value)
{
    for (int64_t row = 0; r != FPO_NO_REGISTER && row < t->rows; row++)
        for (int64_t i = 0; i < part_of(t, region); i++)
            values_of(t, r)[row * t->k + region * t->region_k + i] = value;
}

static double region_amax(const twin *t, int64_t region)
{
    fpo_amax_rule rule = t->program->amax_rule[FPO_SCOPE_BLOCK];
    const double *x = values_of(t, t->program->x) + region * t->region_k;
    double all = amax(rule, x, part_of(t, region));
    for (int64_t row = 1; row < t->rows; row++)
        all = join(rule, all, amax(rule, x + row * t->k, part_of(t, region)));
    return all;
}

/* The sum of a region's errors row by row, then of the rows; or the largest of all. */
static double region_error(const twin *t, int64_t region)
{
    float sum = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        const double *errors = values_of(t, t->program->error) + row * t->k + region * t->region_k;
        for (int64_t i = 0; i < part_of(t, region); i++)
            t->errors[i] = (float)errors[i];
        float part = fpo_error_sum(t->program, t->errors, (int)part_of(t, region));
        sum = t->program->error_max ? (float)join(FPO_AMAX_NAN_WINS, (double)sum, (double)part) : sum + part;
    }
    return (double)sum;
}

/* The first candidate with the smallest error; NaN never replaces one. */
static void search(const twin *t)
{
    for (int attempt = 0; attempt < t->program->try_count; attempt++) {
        set_all(t, t->program->attempt, (double)t->program->tries[attempt]);
        run_scope(t, FPO_SCOPE_TRY);
        run_scope(t, FPO_SCOPE_ELEMENT);
        run_scope(t, FPO_SCOPE_ERROR);
        for (int64_t region = 0; region < t->regions; region++) {
            double error = region_error(t, region);
            if (attempt > 0 && !(error < t->best[region]))
                continue;
            t->best[region] = error;
            t->choice[region] = (double)t->program->tries[attempt];
        }
    }
    for (int64_t region = 0; region < t->regions && t->program->try_count > 0; region++)
        set_region(t, t->program->attempt, region, t->choice[region]);
}

static void tensor_scope(const twin *t, double largest)
{
    for (int r = 0; r < t->program->register_count; r++)
        if (t->program->registers[r].constant)
            set_all(t, r, t->program->registers[r].number);
    set_all(t, t->program->tensor_amax, largest);
    run_scope(t, FPO_SCOPE_TENSOR);
}

/* The values of a strip's registers, scope by scope. */
static void run_strip(twin *t, int64_t first, int64_t rows, double largest)
{
    const fpo_program *program = t->program;
    t->rows = rows;
    tensor_scope(t, largest);
    load(t, first, rows);
    for (int64_t row = 0; row < rows; row++)
        set_row(t, program->row_amax, row, row_amax(t, FPO_SCOPE_ROW, row));
    run_scope(t, FPO_SCOPE_ROW);
    for (int64_t region = 0; region < t->regions; region++)
        set_region(t, program->amax, region, region_amax(t, region));
    run_scope(t, FPO_SCOPE_BLOCK);
    search(t);
    run_scope(t, FPO_SCOPE_TRY);
    run_scope(t, FPO_SCOPE_ELEMENT);
}

static void store_row(const twin *t, int64_t row, fpo_quantized *result, uint8_t *codes)
{
    fpo_format element = t->view->element, format = t->view->scale.format;
    const double *values = values_of(t, t->program->code) + row * t->k;
    for (int64_t i = 0; i < t->k; i++)
        codes[i] = (uint8_t)fpo_encode_double(element, values[i], fpo_code_cast(element));
    size_t bytes = (size_t)fpo_packing_row_bytes(FPO_PACKING_CANONICAL, element, t->k);
    uint8_t *to = (uint8_t *)result->codes + (size_t)(t->first + row) * bytes;
    fpo_pack_row(FPO_PACKING_CANONICAL, element, t->k, codes, to);
    int64_t columns = (t->k + t->block_k - 1) / t->block_k;
    for (int64_t i = 0; i < columns; i++) {
        float scale = (float)values_of(t, t->program->scale)[row * t->k + i * t->block_k];
        int64_t at = (t->first + row) * columns + i;
        if (format == FPO_F32)
            ((float *)result->scales)[at] = fpo_canonical(scale);
        else
            ((uint8_t *)result->scales)[at] = (uint8_t)fpo_encode_double(format, (double)scale, fpo_scale_cast());
    }
}

static void store_strip(const twin *t, fpo_quantized *result, uint8_t *codes)
{
    const fpo_program *p = t->program;
    int row_scale = p->row_scale, row_multiplier = p->row_multiplier;
    row_multiplier = row_multiplier != FPO_NO_REGISTER ? row_multiplier : row_scale;
    for (int64_t row = 0; row < t->rows; row++) {
        store_row(t, row, result, codes);
        if (row_scale == FPO_NO_REGISTER)
            continue;
        result->row_scales[t->first + row] = fpo_canonical((float)values_of(t, row_multiplier)[row * t->k]);
        result->library_row_scales[t->first + row] = fpo_canonical((float)values_of(t, row_scale)[row * t->k]);
    }
    int multiplier = p->multiplier != FPO_NO_REGISTER ? p->multiplier : p->tensor_scale;
    result->tensor_scale = multiplier != FPO_NO_REGISTER ? fpo_canonical((float)values_of(t, multiplier)[0]) : 1;
    if (p->tensor_scale != FPO_NO_REGISTER)
        result->library_scale = fpo_canonical((float)values_of(t, p->tensor_scale)[0]);
}

static void run(twin *t, int64_t rows, fpo_quantized *result, uint8_t *codes)
{
    double largest = 0;
    fpo_amax_rule rule = t->program->amax_rule[FPO_SCOPE_TENSOR];
    t->rows = 1;
    tensor_scope(t, 0); /* what `input:` reads of the tensor's does not depend on its amax */
    for (int64_t row = 0; row < rows; row++) {
        load(t, row, 1);
        double part = row_amax(t, FPO_SCOPE_TENSOR, 0);
        largest = row == 0 ? part : join(rule, largest, part);
    }
    for (int64_t row = 0; row < rows; row += t->region_rows) {
        run_strip(t, row, rows - row < t->region_rows ? rows - row : t->region_rows, largest);
        store_strip(t, result, codes);
    }
}

bool fpo_twin_quantize(const fpo_program *program, const fpo_operand_view *view, const float *x, int64_t rows,
                       int64_t k, fpo_quantized *result)
{
    const fpo_quantized given = *result;
    twin t = {.program = program, .view = view, .x = x, .k = k, .given = &given};
    t.region_rows = program->amax_rows > 0 ? program->amax_rows : view->scale.block_rows;
    t.block_k = view->scale.block_k > 0 ? view->scale.block_k : k;
    t.region_k = program->amax_k > 0 ? program->amax_k : t.block_k;
    t.regions = (k + t.region_k - 1) / t.region_k;
    t.draws = (fpo_draws){program->draw_rule, result->seed, rows, k};
    t.values = calloc((size_t)(program->register_count * t.region_rows * k), sizeof(double));
    t.best = calloc((size_t)t.regions, sizeof(double));
    t.choice = calloc((size_t)t.regions, sizeof(double));
    t.errors = calloc((size_t)t.region_k, sizeof(float));
    uint8_t *codes = malloc((size_t)k);
    bool ready = t.values != NULL && t.best != NULL && t.choice != NULL && t.errors != NULL && codes != NULL;
    if (ready)
        run(&t, rows, result, codes);
    free(t.values), free(t.best), free(t.choice), free(t.errors), free(codes);
    return ready;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The constant factor of a wrong output: every element leaves an interval of factors that round to it. */
#include "diagnose_solve.h"

#include "edit_parts.h"

#include <math.h>
#include <string.h>

enum { MOST = 1024, FACTOR_BITS = 24, EXPONENT_BITS = 8 };

/* Wrong elements, spread over the output. */
typedef struct wrong_elements {
    size_t count;
    fpo_element at[MOST];
    uint32_t codes[MOST];
} wrong_elements;

typedef struct interval {
    double low, high;
} interval;

/* The numbers that round to a code, for any rounding to nearest; false for NaN, infinity and the largest number, which
 * under a block scale stands for all above it. */
static bool rounded_from(const fpo_epilogue *epilogue, uint32_t word, interval *from)
{
    fpo_format format = epilogue->d;
    bool scaled = epilogue->d_scale != FPO_FORMAT_NONE;
    uint32_t code = scaled ? word & 255 : word;
    const fpo_format_info *info = fpo_format_describe(format);
    double scale = scaled ? fpo_decode_double(epilogue->d_scale, word >> 8) : 1;
    uint32_t sign = 1u << (info->bits - 1), magnitude = code & (sign - 1);
    if (magnitude >= info->max_finite || !(scale > 0))
        return false;
    double x = fpo_decode_double(format, magnitude), above = fpo_decode_double(format, magnitude + 1);
    double below = magnitude > 0 ? fpo_decode_double(format, magnitude - 1) : -above;
    double low = scale * (x + below) / 2, high = scale * (x + above) / 2;
    *from = (code & sign) != 0 ? (interval){-high, -low} : (interval){low, high};
    return true;
}

static void choose(const fpo_solve_input *in, wrong_elements *chosen)
{
    const fpo_epilogue *epilogue = &in->spec->epilogue;
    int64_t n = in->problem->n, seen = 0;
    chosen->count = 0;
    for (int64_t i = 0; i < in->problem->m * n && chosen->count < MOST; i++) {
        uint32_t code = fpo_output_word(epilogue, n, in->observed, i / n, i % n);
        if (code == fpo_output_word(epilogue, n, in->expected, i / n, i % n))
            continue;
        if (seen++ * MOST < (int64_t)chosen->count * in->part->wrong)
            continue;
        chosen->at[chosen->count] = (fpo_element){i / n, i % n};
        chosen->codes[chosen->count++] = code;
    }
}

/* y of elements in f32 under another alpha. */
static bool scaled(const fpo_solve_input *in, float alpha, const wrong_elements *wrong, double *y)
{
    fpo_gemm_spec spec = *in->spec;
    fpo_gemm_problem problem = *in->problem;
    uint32_t codes[MOST];
    spec.epilogue.d = FPO_F32;
    spec.epilogue.d_scale = FPO_FORMAT_NONE;
    spec.epilogue.d_cast = *fpo_cast_describe(FPO_CAST_IEEE);
    problem.alpha = alpha;
    if (fpo_gemm_elements(&spec, &problem, wrong->at, wrong->count, codes, in->execution, NULL) != FPO_OK)
        return false;
    for (size_t i = 0; i < wrong->count; i++)
        y[i] = fpo_decode_double(FPO_F32, codes[i]);
    return true;
}

/* The factors that one element allows: observed = constant + factor * product, with a few roundings to f32. */
static interval factors_of(interval observed, double constant, double product)
{
    static const double slack = 0x1p-22;
    double low = (observed.low - constant) / product, high = (observed.high - constant) / product;
    double error = slack * (fabs(low) > fabs(high) ? fabs(low) : fabs(high)) + slack * fabs(constant / product);
    return product > 0 ? (interval){low - error, high + error} : (interval){high - error, low + error};
}

static bool common_interval(const fpo_solve_input *in, const wrong_elements *wrong, interval *common)
{
    size_t used = 0;
    double full[MOST], constant[MOST];
    *common = (interval){-INFINITY, INFINITY};
    if (wrong->count == 0 || !scaled(in, in->problem->alpha, wrong, full) || !scaled(in, 0.0f, wrong, constant))
        return false;
    for (size_t i = 0; i < wrong->count; i++) {
        interval observed;
        double product = full[i] - constant[i];
        if (!isfinite(product) || product == 0 || !rounded_from(&in->spec->epilogue, wrong->codes[i], &observed))
            continue;
        interval own = factors_of(observed, constant[i], product);
        common->low = own.low > common->low ? own.low : common->low;
        common->high = own.high < common->high ? own.high : common->high;
        used++;
    }
    return used > 0 && common->low <= common->high && isfinite(common->low) && isfinite(common->high);
}

/* The number with the fewest significant bits in an interval without zero. */
static float simplest(interval x)
{
    bool negative = x.high < 0;
    double low = negative ? -x.high : x.low, high = negative ? -x.low : x.high;
    for (int bits = 1; bits <= FACTOR_BITS; bits++) {
        int exponent;
        frexp(low, &exponent);
        for (int e = exponent; e <= exponent + 1; e++) {
            double unit = ldexp(1.0, e - bits), candidate = ceil(low / unit) * unit;
            if (candidate <= high)
                return (float)(negative ? -candidate : candidate);
        }
    }
    return (float)((x.low + x.high) / 2);
}

static void add_factor(fpo_edit_list *list, const fpo_part *part, float factor)
{
    fpo_edit_add_value(list, FPO_EDIT_SCALAR_FACTOR, 0, factor);
    bool all_rows = part->rows.first == 0 && part->rows.last == part->m - 1 && part->rows.period <= 1;
    bool all_columns = part->columns.first == 0 && part->columns.last == part->n - 1 && part->columns.period <= 1;
    bool to_right = part->columns.last == part->n - 1, to_bottom = part->rows.last == part->m - 1;
    if (all_rows && !all_columns && to_right && part->columns.first <= INT32_MAX)
        fpo_edit_add_value(list, FPO_EDIT_COLUMN_FACTOR, (int)part->columns.first, factor);
    if (all_columns && !all_rows && to_bottom && part->rows.first <= INT32_MAX)
        fpo_edit_add_value(list, FPO_EDIT_ROW_FACTOR, (int)part->rows.first, factor);
}

/* A power of two may as well be in the scales. */
static void add_power(fpo_edit_list *list, const fpo_gemm_spec *spec, float factor)
{
    int exponent;
    if (frexpf(factor, &exponent) != 0.5f || exponent == 1)
        return;
    for (int operand = FPO_OPERAND_A; operand <= FPO_OPERAND_B; operand++) {
        const fpo_operand_spec *s = operand == FPO_OPERAND_A ? &spec->a : &spec->b;
        if (s->read.scale.format != FPO_FORMAT_NONE)
            fpo_edit_add(list, FPO_EDIT_SCALE_EXPONENT_OFF, operand, 0, exponent - 1);
    }
}

static void solve_factor(const fpo_solve_input *in, const wrong_elements *wrong, fpo_edit_list *list)
{
    interval factors;
    if (!common_interval(in, wrong, &factors) || (factors.low <= 0 && factors.high >= 0))
        return;
    float first = simplest(factors), last = first;
    add_factor(list, in->part, first);
    add_power(list, in->spec, first);
    /* Narrow outputs leave an interval, of which the simplest number need not be right everywhere; f32 outputs a
     * handful of numbers, of which one is right to the last bit. */
    double centre = (factors.low + factors.high) / 2;
    for (int bits = 8; bits < FACTOR_BITS; bits++) {
        int exponent;
        frexp(centre, &exponent);
        float rounded = (float)ldexp(nearbyint(ldexp(centre, bits - exponent)), exponent - bits);
        if (rounded != first && rounded != last && (double)rounded >= factors.low && (double)rounded <= factors.high)
            add_factor(list, in->part, rounded);
        last = rounded;
    }
    float up = (float)centre, down = up;
    for (int i = 0; i < 12; i++, up = nextafterf(up, INFINITY), down = nextafterf(down, -INFINITY)) {
        if (up != first && (double)up <= factors.high)
            add_factor(list, in->part, up);
        if (i > 0 && down != first && (double)down >= factors.low)
            add_factor(list, in->part, down);
    }
}

static void solve_constant(const fpo_solve_input *in, const wrong_elements *wrong, fpo_edit_list *list)
{
    if (in->spec->epilogue.d_scale != FPO_FORMAT_NONE)
        return;
    for (size_t i = 1; i < wrong->count; i++)
        if (wrong->codes[i] != wrong->codes[0])
            return;
    if (wrong->count > 0 && wrong->codes[0] != 0)
        fpo_edit_add(list, FPO_EDIT_OUTPUT_CONSTANT, 0, (int)in->spec->epilogue.d, (int)wrong->codes[0]);
}

size_t fpo_solve_constants(const fpo_solve_input *input, fpo_edit *edits, size_t capacity)
{
    fpo_edit_list list = {edits, capacity, 0};
    bool uses_alpha = false;
    for (int i = 0; i < FPO_EPILOGUE_STEPS; i++)
        uses_alpha = uses_alpha || input->spec->epilogue.steps[i].operand == FPO_EPI_ALPHA;
    wrong_elements wrong;
    choose(input, &wrong);
    solve_constant(input, &wrong, &list);
    if (uses_alpha && input->problem->alpha != 0.0f)
        solve_factor(input, &wrong, &list);
    return list.count < capacity ? list.count : capacity;
}

double fpo_edit_found_bits(const fpo_edit *edit)
{
    int exponent;
    float fraction = fabsf(frexpf(edit->value, &exponent));
    if (edit->kind == FPO_EDIT_OUTPUT_CONSTANT && edit->to != 0)
        return fpo_format_describe((fpo_format)edit->from)->bits;
    if (edit->value == 0.0f)
        return 0;
    int bits = 0;
    for (; fraction != floorf(fraction) && bits < FACTOR_BITS; bits++)
        fraction *= 2;
    return bits + EXPONENT_BITS;
}

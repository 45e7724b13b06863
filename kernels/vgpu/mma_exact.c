/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* FP4 with block scales where nothing is cut but the result. The step aligns its terms to the largest exponent e and
 * cuts them fraction_bits below it. Where the smallest unit of any term, and C's, lies above that cut, the sum is exact
 * whatever the rules for e, and fits a double; one cut of it is the result. Other outputs take the general step.
 *
 * An element counts in halves (at most 12), a block of 16 products at most 2304: 16-bit integers, 8 columns at a time.
 */
#include "mma_exact.h"

enum { ROWS = 16, COLUMNS = 8, NO_SCALE = 1000 };

typedef int16_t columns16 __attribute__((vector_size(16)));

bool fpo_mma_is_exact_unit(const fpo_mma_unit *unit)
{
    const fpo_step *s = unit->step;
    return unit->element[0] == FPO_E2M1 && unit->element[1] == FPO_E2M1 && unit->scale != FPO_FORMAT_NONE &&
           s->kind == FPO_STEP_FUSED && s->operand_format == FPO_FORMAT_NONE && !s->dequantised && s->k == FPO_MMA_K &&
           s->fused == FPO_MMA_K && s->group == FPO_FAST_GROUP && s->fraction_bits >= 24 && s->e_zero <= -100 &&
           !s->c_late && !s->interleaved && s->accumulator == FPO_F32 && s->result_bits == 23 &&
           s->result_rounding == FPO_TOWARD_ZERO;
}

void fpo_mma_exact_scales(const fpo_mma_unit *unit, const fpo_mma_side *side, int row, fpo_mma_exact_row *out)
{
    int groups = FPO_MMA_K / FPO_FAST_GROUP;
    out->largest = -NO_SCALE;
    out->smallest = NO_SCALE;
    for (int g = 0; g < groups; g++) {
        int which = g * unit->scales / groups;
        fpo_digits x = side->factors[row][which];
        bool zero = x.significand == 0 || side->special[row];
        out->scale[g] = zero ? 0 : side->scale_value[row][which];
        if (zero)
            continue;
        out->largest = x.exponent > out->largest ? x.exponent : out->largest;
        out->smallest = x.exponent < out->smallest ? x.exponent : out->smallest;
    }
}

static double double_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Whether c + sum is exact, given the exponents that row and column can have: see above. */
static bool is_exact(const fpo_step *step, int unit_bits, const fpo_mma_exact_row *a, const fpo_mma_exact_row *b,
                     uint32_t c)
{
    int high = a->largest + b->largest, low = a->smallest + b->smallest, exponent = (int)(c >> 23 & 255) - 127;
    if ((c & 0x7FFFFFFF) == 0)
        return high - low <= step->fraction_bits - unit_bits;
    int e = high > exponent ? high : exponent;
    return exponent > -100 && exponent < 120 && e - low <= step->fraction_bits - unit_bits &&
           e - exponent <= step->fraction_bits - 23;
}

/* Cut to 24 bits toward zero. False: outside the range where that is an f32. */
static bool cut(double x, uint32_t *bits)
{
    double magnitude = x < 0 ? -x : x;
    if (magnitude == 0) {
        *bits = 0;
        return true;
    }
    if (!(magnitude > 0x1p-100 && magnitude < 0x1p120))
        return false;
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    word &= ~(uint64_t)0x1FFFFFFF;
    memcpy(&x, &word, sizeof x);
    float f = (float)x;
    memcpy(bits, &f, sizeof f);
    return true;
}

void fpo_mma_multiply_exact(const fpo_mma_unit *unit, const fpo_mma_side *a, const fpo_mma_side *b, uint32_t *d)
{
    int groups = FPO_MMA_K / FPO_FAST_GROUP, unit_bits = 2 + 2 * fpo_step_fraction(unit->scale);
    columns16 transposed[FPO_MMA_K];
    fpo_mma_exact_row rows[ROWS], columns[COLUMNS];
    for (int n = 0; n < COLUMNS; n++) {
        fpo_mma_exact_scales(unit, b, n, &columns[n]);
        for (int k = 0; k < FPO_MMA_K; k++)
            transposed[k][n] = b->number[n][k];
    }
    for (int m = 0; m < ROWS; m++) {
        fpo_mma_exact_scales(unit, a, m, &rows[m]);
        double sum[COLUMNS] = {0};
        for (int g = 0; g < groups; g++) {
            columns16 dot = {0};
            for (int k = g * FPO_FAST_GROUP; k < (g + 1) * FPO_FAST_GROUP; k++)
                dot += a->number[m][k] * transposed[k];
            double scale = 0.25 * rows[m].scale[g];
            for (int n = 0; n < COLUMNS; n++)
                sum[n] += dot[n] * (scale * columns[n].scale[g]);
        }
        for (int n = 0; n < COLUMNS; n++) {
            uint32_t *result = &d[m * COLUMNS + n], c = *result;
            bool special = a->special[m] || b->special[n] || (c & 0x7F800000) == 0x7F800000;
            if (special || !is_exact(unit->step, unit_bits, &rows[m], &columns[n], c) ||
                !cut(double_of(c) + sum[n], result))
                *result = fpo_mma_general(unit, a, m, b, n, c);
        }
    }
}

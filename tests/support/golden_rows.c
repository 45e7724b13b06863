/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "gemm_data.h"
#include "golden.h"

#include "assertions.h"
#include <math.h>
#include <string.h>

typedef enum row_kind {
    ROW_UNIFORM,      /* any finite codes */
    ROW_LADDER,       /* exponents that walk with k */
    ROW_CANCEL,       /* neighbours cancel but for a unit */
    ROW_C_CANCELS,    /* C cancels the largest product */
    ROW_ZEROS,        /* zeros times large elements, zero groups under large scales */
    ROW_NOTHING,      /* groups that cancel exactly under large scales */
    ROW_TINY,         /* results about the smallest subnormal number */
    ROW_HUGE,         /* results about the largest number */
    ROW_SPECIAL,      /* NaN and infinity somewhere */
    ROW_TIE,          /* C decides all but the rounding */
    ROW_FLOOR,        /* a number on the grid of the smallest results, another far below, C = 0 */
    ROW_UNNORMALISED, /* a subnormal times a large number, with something 9 to 28 bits below */
    ROW_SUBNORMAL,    /* products of the smallest numbers alone, C below them */
    ROW_ALONE,        /* all products are zero, C of any size */
    ROW_FAR,          /* one large product, which C cancels; the others far below */
    ROW_KINDS
} row_kind;

typedef struct maker {
    gemm_random random;
    const golden_pair *pair;
} maker;

static int below(maker *m, int bound)
{
    return (int)gemm_random_below(&m->random, (uint64_t)bound);
}

static bool chance(maker *m, int one_in)
{
    return below(m, one_in) == 0;
}

/* From low to high. */
static int between(maker *m, int low, int high)
{
    return low + below(m, high - low + 1);
}

static uint32_t encode(fpo_format format, double x)
{
    bool small = fpo_format_describe(format)->bits <= 8;
    return fpo_encode_double(format, x, fpo_cast_describe(small ? FPO_CAST_PTX : FPO_CAST_IEEE));
}

/* A number of about 2^exponent, of either sign, as a code. Never zero unless the format has nothing so small. */
static uint32_t about(maker *m, fpo_format format, int exponent)
{
    double x = ldexp(1.0 + below(m, 1 << 12) / 4096.0, exponent);
    return encode(format, chance(m, 2) ? -x : x);
}

static uint32_t negated(fpo_format format, uint32_t code)
{
    return code ^ 1u << (fpo_format_describe(format)->bits - 1);
}

/* Exponents of an element that are of use; the wide formats reach further than any product of theirs needs. */
static int lowest(fpo_format format)
{
    return fpo_format_describe(format)->quantum;
}

static int highest(fpo_format format)
{
    return fpo_format_describe(format)->max_exponent;
}

static int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

static uint32_t scale_code(maker *m, int exponent)
{
    fpo_format format = m->pair->scale;
    if (format == FPO_UE8M0)
        return (uint32_t)clamp(exponent + 127, 0, 254);
    uint32_t code = encode(format, ldexp(1.0 + below(m, 8) / 8.0, clamp(exponent, -9, 8)));
    return code | (chance(m, 8) ? 0x80 : 0); /* bit 7 does not count */
}

static void fill_scales(maker *m, uint32_t *sa, uint32_t *sb, int low, int high)
{
    for (int i = 0; m->pair->scale != FPO_FORMAT_NONE && i < m->pair->k / m->pair->block_k; i++) {
        sa[i] = scale_code(m, between(m, low, high));
        sb[i] = scale_code(m, between(m, low, high));
    }
}

static uint32_t c_about(maker *m, int exponent)
{
    return about(m, m->pair->accumulator, exponent);
}

/* Sometimes scales far apart. */
static void spread_scales(maker *m, uint32_t *sa, uint32_t *sb)
{
    if (chance(m, 2))
        fill_scales(m, sa, sb, m->pair->scale == FPO_UE8M0 ? -16 : -9, 8);
}

static void fill_about(maker *m, uint32_t *a, uint32_t *b, int low, int high)
{
    for (int k = 0; k < m->pair->k; k++) {
        int x = between(m, low, high);
        a[k] = about(m, m->pair->a, clamp(x, lowest(m->pair->a), highest(m->pair->a) - 1));
        b[k] = about(m, m->pair->b, clamp(between(m, low, high), lowest(m->pair->b), highest(m->pair->b) - 1));
    }
}

static void make_cancel(maker *m, uint32_t *a, uint32_t *b, bool exactly)
{
    for (int k = 0; k + 1 < m->pair->k; k += 2) {
        a[k + 1] = negated(m->pair->a, a[k]);
        b[k + 1] = b[k];
        if (!exactly && chance(m, 3))
            a[k + 1] ^= 1;
    }
}

static void make_zeros(maker *m, uint32_t *a, uint32_t *b, uint32_t *sa, uint32_t *sb)
{
    const golden_pair *p = m->pair;
    int kept = below(m, p->k);
    for (int k = 0; k < p->k; k++) {
        bool first = chance(m, 2);
        a[k] = first ? 0 : about(m, p->a, highest(p->a) - 1);
        b[k] = first ? about(m, p->b, highest(p->b) - 1) : 0;
    }
    int reach = highest(p->a) - lowest(p->a);
    a[kept] = about(m, p->a, lowest(p->a) + below(m, reach < 16 ? 3 : 16));
    b[kept] = about(m, p->b, lowest(p->b) + below(m, reach < 16 ? 3 : 16));
    int low = p->scale == FPO_UE8M0 ? -40 : -9;
    for (int i = 0; p->scale != FPO_FORMAT_NONE && i < p->k / p->block_k; i++) {
        bool mine = kept / p->block_k == i;
        sa[i] = mine ? scale_code(m, between(m, low, 0)) : chance(m, 4) ? 0 : scale_code(m, between(m, 0, 8));
        sb[i] = mine ? scale_code(m, between(m, low, 0)) : scale_code(m, between(m, 0, 8));
    }
}

/* Products whose exponents are about `exponent`, by elements where they reach, by scales otherwise. */
static void make_about(maker *m, uint32_t *a, uint32_t *b, uint32_t *sa, uint32_t *sb, int exponent)
{
    const golden_pair *p = m->pair;
    bool by_scale = p->scale == FPO_UE8M0;
    int half = exponent / 2;
    fill_scales(m, sa, sb, by_scale ? half - 3 : 0, by_scale ? half + 3 : 0);
    int x = by_scale ? 0 : clamp(half, lowest(p->a), highest(p->a));
    int y = by_scale ? 0 : clamp(exponent - x, lowest(p->b), highest(p->b));
    for (int k = 0; k < p->k; k++) {
        a[k] = chance(m, 4) ? 0 : about(m, p->a, clamp(x + between(m, -6, 2), lowest(p->a), highest(p->a)));
        b[k] = chance(m, 4) ? 0 : about(m, p->b, clamp(y + between(m, -6, 2), lowest(p->b), highest(p->b)));
    }
    if (chance(m, 2))
        make_cancel(m, a, b, false);
}

static uint32_t special_code(maker *m, fpo_format format)
{
    const fpo_format_info *info = fpo_format_describe(format);
    uint32_t sign = info->sign_bits != 0 && chance(m, 2) ? 1u << (info->bits - 1) : 0;
    switch (info->specials) {
    case FPO_SPECIALS_NONE: return sign | info->max_finite;
    case FPO_SPECIALS_NAN_ONLY: return sign | (info->max_finite + 1);
    case FPO_SPECIALS_UE8M0: return 0xFF;
    case FPO_SPECIALS_IEEE: break;
    }
    uint32_t infinity = info->max_finite + 1;
    return sign | infinity | (chance(m, 2) ? 0 : 1 + (uint32_t)below(m, (1 << info->mantissa_bits) - 1));
}

static void make_special(maker *m, golden_rows *rows, int row)
{
    const golden_pair *p = m->pair;
    for (int i = between(m, 1, 3); i > 0; i--) {
        int k = below(m, p->k);
        switch (below(m, p->scale != FPO_FORMAT_NONE ? 6 : 4)) {
        case 0: rows->a[row][k] = special_code(m, p->a); break;
        case 1: rows->b[row][k] = special_code(m, p->b); break;
        case 2: rows->c[row] = special_code(m, p->accumulator); break;
        case 3: rows->b[row][k] = 0; break;
        case 4: rows->sa[row][k / p->block_k] = special_code(m, p->scale); break;
        default: rows->sb[row][k / p->block_k] = special_code(m, p->scale); break;
        }
    }
}

/* The exact value of product k, for a C that cancels it. */
static double product(const golden_pair *p, const golden_rows *rows, int row, int k)
{
    double x = fpo_decode_double(p->a, rows->a[row][k]) * fpo_decode_double(p->b, rows->b[row][k]);
    if (p->scale != FPO_FORMAT_NONE)
        x *= fpo_decode_double(p->scale, rows->sa[row][k / p->block_k]) *
             fpo_decode_double(p->scale, rows->sb[row][k / p->block_k]);
    return x;
}

static void c_cancels(maker *m, golden_rows *rows, int row)
{
    const golden_pair *p = m->pair;
    int group = p->k == 64 ? 16 : 1; /* FP4: a group is one term */
    double most = 0;
    for (int k = 0; k < p->k; k += group) {
        double x = 0;
        for (int i = 0; i < group; i++)
            x += product(p, rows, row, k + i);
        most = fabs(x) > fabs(most) ? x : most;
    }
    rows->c[row] = encode(p->accumulator, chance(m, 4) ? -most * (1 - ldexp(1, -9)) : -most);
}

/* A product of about 2^exponent as element k, the scales of its block being given. */
static void place(maker *m, golden_rows *rows, int row, int k, int exponent)
{
    const golden_pair *p = m->pair;
    int x = clamp(exponent / 2, lowest(p->a), highest(p->a) - 1);
    int y = clamp(exponent - x, lowest(p->b), highest(p->b) - 1);
    x = clamp(exponent - y, lowest(p->a), highest(p->a) - 1);
    rows->a[row][k] = about(m, p->a, x);
    rows->b[row][k] = encode(p->b, ldexp(1, y));
}

static void make_floor(maker *m, golden_rows *rows, int row)
{
    const golden_pair *p = m->pair;
    int target = (p->accumulator == FPO_F16 ? -25 : -149) + below(m, 2), small = target - (5 + row / 4 % 24);
    int first = below(m, p->k), second = chance(m, 2) ? first ^ 1 : below(m, p->k), scale = 0;
    memset(rows->a[row], 0, sizeof rows->a[row]);
    memset(rows->b[row], 0, sizeof rows->b[row]);
    rows->c[row] = 0;
    if (p->scale == FPO_UE8M0) {
        /* The block of the large product; that of the small one may be the same. */
        scale = target - (highest(p->a) + highest(p->b) - 2);
        bool same = first / p->block_k == second / p->block_k;
        for (int i = 0; i < p->k / p->block_k; i++) { /* groups of zeros may count */
            rows->sa[row][i] = (uint32_t)(127 + small / 2);
            rows->sb[row][i] = (uint32_t)(127 + small - small / 2);
        }
        rows->sa[row][first / p->block_k] = (uint32_t)(127 + scale / 2);
        rows->sb[row][first / p->block_k] = (uint32_t)(127 + scale - scale / 2);
        place(m, rows, row, second, same ? small - scale : 0);
    } else {
        place(m, rows, row, second, small);
    }
    place(m, rows, row, first, target - scale);
    rows->a[row][first] =
        encode(p->a, ldexp(1, (target - scale) - (int)log2(fpo_decode_double(p->b, rows->b[row][first]))));
}

static void make_far(maker *m, golden_rows *rows, int row)
{
    const golden_pair *p = m->pair;
    int first = below(m, p->k), apart = between(m, 8, 44);
    for (int i = 0; p->scale != FPO_FORMAT_NONE && i < p->k / p->block_k; i++) {
        bool mine = i == first / p->block_k;
        rows->sa[row][i] = scale_code(m, mine ? 8 : 8 - apart / 2);
        rows->sb[row][i] = scale_code(m, mine ? 8 : 8 - apart + apart / 2);
    }
    for (int k = 0; k < p->k; k++) {
        bool alone = p->scale != FPO_FORMAT_NONE && p->block_k < p->k;
        rows->a[row][k] = alone && k / p->block_k == first / p->block_k
                              ? 0
                              : about(m, p->a, alone ? between(m, -1, 1) : clamp(4 - apart / 2, lowest(p->a), 8));
        rows->b[row][k] = about(m, p->b, alone ? between(m, -1, 1) : clamp(4 - apart / 2, lowest(p->b), 8));
    }
    rows->a[row][first] = encode(p->a, ldexp(1, clamp(highest(p->a), 0, 8)));
    rows->b[row][first] = encode(p->b, ldexp(1, clamp(highest(p->b), 0, 8)));
    rows->c[row] = encode(p->accumulator, -product(p, rows, row, first));
    if (chance(m, 2) && p->scale == FPO_FORMAT_NONE) { /* another product cancels it instead */
        int second = (first + 1) % p->k;
        rows->a[row][second] = negated(p->a, rows->a[row][first]);
        rows->b[row][second] = rows->b[row][first];
        rows->c[row] = 0;
    }
}

/* A subnormal times a large number, and what is cut or not as that subnormal is normalised or not; for f16 results on a
 * tie, which the small ones decide. */
static void make_unnormalised(maker *m, golden_rows *rows, int row)
{
    const golden_pair *p = m->pair;
    int first = below(m, p->k) / 4 * 4, high = highest(p->b), value = lowest(p->a) + high;
    int least = value - (9 + row / 4 % 20), sign = row / 80 % 2, beside = row / 160 % 2;
    memset(rows->a[row], 0, sizeof rows->a[row]);
    memset(rows->b[row], 0, sizeof rows->b[row]);
    rows->c[row] = 0;
    fill_scales(m, rows->sa[row], rows->sb[row], 0, 0);
    rows->a[row][first] = 1;
    rows->b[row][first] = encode(p->b, ldexp(1, high));
    if (p->accumulator == FPO_F16) {
        int tie = (first + 1) % p->k;
        rows->a[row][tie] = 1;
        rows->b[row][tie] = encode(p->b, ldexp(1, high - 11));
    }
    int small = (first + (p->k > 4 ? 4 : 2)) % p->k;
    if (beside != 0)
        place(m, rows, row, small, least);
    else
        rows->c[row] = c_about(m, clamp(least, fpo_format_describe(p->accumulator)->quantum, 0));
    if (sign != 0) {
        rows->a[row][small] = negated(p->a, rows->a[row][small]);
        rows->c[row] = rows->c[row] != 0 ? negated(p->accumulator, rows->c[row]) : 0;
    }
}

static void make_subnormal(maker *m, golden_rows *rows, int row)
{
    const golden_pair *p = m->pair;
    memset(rows->a[row], 0, sizeof rows->a[row]);
    memset(rows->b[row], 0, sizeof rows->b[row]);
    rows->c[row] = 0;
    fill_scales(m, rows->sa[row], rows->sb[row], 0, 0);
    for (int i = between(m, 1, 4); i > 0; i--) {
        int k = below(m, p->k);
        rows->a[row][k] = 1 + (uint32_t)below(m, 1 << fpo_format_describe(p->a)->mantissa_bits);
        rows->b[row][k] = 1 + (uint32_t)below(m, 1 << fpo_format_describe(p->b)->mantissa_bits);
        if (chance(m, 2))
            rows->a[row][k] = negated(p->a, rows->a[row][k]);
    }
    int least = lowest(p->a) + lowest(p->b);
    int bottom = fpo_format_describe(p->accumulator)->quantum;
    rows->c[row] = c_about(m, clamp(least - between(m, -3, 30), bottom, 0));
}

static void make_positive(golden_rows *rows, int row)
{
    const golden_pair *p = &rows->pair;
    for (int k = 0; k < p->k; k++) {
        rows->a[row][k] &= ~(1u << (fpo_format_describe(p->a)->bits - 1));
        rows->b[row][k] &= ~(1u << (fpo_format_describe(p->b)->bits - 1));
    }
    rows->c[row] &= ~(1u << (fpo_format_describe(p->accumulator)->bits - 1));
}

static void make_row(maker *m, golden_rows *rows, int row, row_kind kind)
{
    const golden_pair *p = m->pair;
    uint32_t *a = rows->a[row], *b = rows->b[row], *sa = rows->sa[row], *sb = rows->sb[row];
    bool half = p->accumulator == FPO_F16;
    int bottom = clamp(lowest(p->a) > lowest(p->b) ? lowest(p->a) : lowest(p->b), -12, 0), start = below(m, 64);
    fill_scales(m, sa, sb, -4, 4);
    fill_about(m, a, b, bottom, 4);
    rows->c[row] = chance(m, 4) ? 0 : c_about(m, between(m, half ? -14 : -20, 12));
    switch (kind) {
    case ROW_UNIFORM:
        for (int k = 0; k < p->k; k++) {
            a[k] = gemm_random_code(&m->random, p->a, 12);
            b[k] = gemm_random_code(&m->random, p->b, 12);
        }
        break;
    case ROW_LADDER:
        for (int k = 0; k < p->k; k++)
            a[k] = about(m, p->a, clamp(bottom + (k * 3 + start) % 24, lowest(p->a), highest(p->a) - 1));
        if (chance(m, 2))
            make_cancel(m, a, b, false);
        spread_scales(m, sa, sb);
        break;
    case ROW_CANCEL:
        make_cancel(m, a, b, false);
        spread_scales(m, sa, sb);
        break;
    case ROW_C_CANCELS:
        spread_scales(m, sa, sb);
        c_cancels(m, rows, row);
        break;
    case ROW_ZEROS:
        make_zeros(m, a, b, sa, sb);
        rows->c[row] = chance(m, 2) ? 0 : c_about(m, between(m, half ? -20 : -40, 0));
        break;
    case ROW_NOTHING:
        make_cancel(m, a, b, true);
        if (p->scale != FPO_FORMAT_NONE) {
            int lost = below(m, p->k);
            fill_scales(m, sa, sb, 0, 8);
            a[lost] ^= 1;
            sa[lost / p->block_k] = scale_code(m, -between(m, 4, 30));
        }
        rows->c[row] = chance(m, 2) ? 0 : c_about(m, between(m, half ? -20 : -40, 0));
        break;
    case ROW_TINY:
        make_about(m, a, b, sa, sb, half ? between(m, -34, -18) : between(m, -172, -128));
        rows->c[row] = chance(m, 3) ? 0 : c_about(m, half ? between(m, -24, -13) : between(m, -149, -124));
        break;
    case ROW_HUGE:
        make_about(m, a, b, sa, sb, half ? between(m, 8, 13) : between(m, 118, 126));
        rows->c[row] = c_about(m, half ? between(m, 13, 15) : between(m, 125, 127));
        if (chance(m, 2))
            make_positive(rows, row);
        break;
    case ROW_SPECIAL: make_special(m, rows, row); break;
    case ROW_TIE:
        fill_about(m, a, b, bottom, bottom + 2);
        for (int k = 0; k < p->k; k++)
            a[k] = chance(m, 2) ? 0 : a[k];
        rows->c[row] = c_about(m, between(m, half ? -4 : -2, 8));
        break;
    case ROW_FLOOR: make_floor(m, rows, row); break;
    case ROW_FAR: make_far(m, rows, row); break;
    case ROW_UNNORMALISED: make_unnormalised(m, rows, row); break;
    case ROW_SUBNORMAL: make_subnormal(m, rows, row); break;
    case ROW_ALONE:
        memset(chance(m, 2) ? a : b, 0, sizeof rows->a[row]);
        fill_scales(m, sa, sb, -4, 12);
        for (int i = 0; p->scale == FPO_UE4M3 && i < p->k / p->block_k; i++)
            sa[i] = chance(m, 2) ? 0 : sa[i];
        rows->c[row] = gemm_random_code(&m->random, p->accumulator, 0);
        if (chance(m, 2))
            rows->c[row] = c_about(m, half ? between(m, -24, -13) : between(m, -149, -125));
        break;
    case ROW_KINDS: break;
    }
}

bool golden_pair_at(const fpo_model *model, size_t index, golden_pair *pair)
{
    const fpo_step *step = &model->accumulation.step;
    if (step->kind != FPO_STEP_FUSED)
        return false;
    fpo_format elements[FPO_FORMAT_COUNT];
    size_t count = 0, forms = 0;
    for (int format = 1; format < FPO_FORMAT_COUNT; format++)
        if (model->operands.elements >> format & 1)
            elements[count++] = (fpo_format)format;
    if (model->operands.anything)
        elements[count++] = step->operand_format;
    while (forms < FPO_SCALE_FORMS && model->operands.scales[forms].format != FPO_FORMAT_NONE)
        forms++;
    size_t pairs = count > 3 ? 4 : count > 1 ? 3 : 1, form = index / pairs, which = index % pairs;
    if (form >= (forms > 0 ? forms : 1))
        return false;
    bool mixed = model->operands.mixed || count == 1;
    size_t a = which == 1 ? count - 1 : which == 3 ? count - 2 : 0; /* 3: e4m3 */
    size_t b = which == 0 || (which == 2 && !mixed) ? 0 : which == 3 ? a : count - 1;
    *pair = (golden_pair){.a = elements[a],
                          .b = elements[b],
                          .scale = forms > 0 ? model->operands.scales[form].format : FPO_FORMAT_NONE,
                          .block_k = forms > 0 ? model->operands.scales[form].block_k : step->k,
                          .k = step->k,
                          .accumulator = step->accumulator};
    return true;
}

void golden_rows_make(const golden_pair *pair, golden_rows *rows)
{
    memset(rows, 0, sizeof *rows);
    rows->pair = *pair;
    maker m = {.random = {{20261130, 77}, 0}, .pair = &rows->pair};
    for (int row = 0; row < GOLDEN_ROWS; row++) {
        /* A quarter each for the two kinds that hit one bit only. */
        row_kind kind = row % 4 == 1 ? ROW_UNNORMALISED : row % 4 == 3 ? ROW_FLOOR : (row_kind)(row / 2 % ROW_KINDS);
        make_row(&m, rows, row, kind);
    }
}

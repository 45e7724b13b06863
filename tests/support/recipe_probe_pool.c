/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Which probes there are. */
#include "recipe_probe.h"

#include <fp4oracle/random.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const fpo_format dtypes[] = {FPO_BF16, FPO_F32, FPO_F16};

static float round_to(fpo_format dtype, double x)
{
    return (float)fpo_decode_double(dtype, fpo_encode_double(dtype, x, fpo_cast_describe(FPO_CAST_IEEE)));
}

/* The neighbour of a number of the dtype, `steps` ulps from zero outwards. */
static float neighbour(fpo_format dtype, double x, int steps)
{
    uint32_t code = fpo_encode_double(dtype, x, fpo_cast_describe(FPO_CAST_IEEE));
    return (float)fpo_decode_double(dtype, code + (uint32_t)steps);
}

/* Bits of the significand that are needed, and how far the number is from 1. */
static uint32_t value_cost(float x)
{
    if (isnan(x))
        return 60000;
    if (isinf(x))
        return 50000;
    if (x == 0)
        return signbit(x) ? 2 : 0;
    int exponent, bits = 0;
    double rest = frexp(fabs((double)x), &exponent);
    for (; rest != 0; bits++)
        rest = fmod(rest * 2, 1);
    return 8 * (uint32_t)bits + (uint32_t)abs(exponent - 1) + (x < 0);
}

static uint32_t cost_of(const fpo_probe *probe)
{
    uint32_t cost = value_cost(probe->tensor), numbers = probe->tensor != 0;
    for (int i = 0; i < probe->count; i++) {
        cost += value_cost(probe->x[i]);
        numbers += probe->x[i] != 0;
    }
    numbers += probe->filled ? 1 : 0;
    uint32_t dtype = probe->dtype == FPO_BF16 ? 0 : probe->dtype == FPO_F32 ? 3000 : 6000;
    return numbers * 10000 + dtype + cost;
}

static void add(fpo_probes *probes, fpo_probe probe)
{
    probe.tensor = round_to(probe.dtype, (double)probe.tensor);
    for (int i = 0; i < probe.count; i++) {
        probe.x[i] = round_to(probe.dtype, (double)probe.x[i]);
        if (probe.tensor != 0 && fabsf(probe.x[i]) > probe.tensor)
            return;
        if (probe.dtype == FPO_F16 && isinf(probe.x[i]))
            return; /* the same as in bf16 */
    }
    probe.cost = cost_of(&probe);
    if (probes->count == probes->room) {
        probes->room = probes->room * 2 + 1024;
        probes->at = realloc(probes->at, probes->room * sizeof *probes->at);
    }
    probes->at[probes->count++] = probe;
}

static void add_one(fpo_probes *probes, fpo_format dtype, float tensor, double x)
{
    add(probes, (fpo_probe){.dtype = dtype, .tensor = tensor, .x = {(float)x}, .count = 1});
}

static void add_two(fpo_probes *probes, fpo_format dtype, float tensor, double x, double y)
{
    add(probes, (fpo_probe){.dtype = dtype, .tensor = tensor, .x = {(float)x, (float)y}, .count = 2});
}

/* A number and its neighbours, each the amax of a block. */
static void add_boundary(fpo_probes *probes, fpo_format dtype, float tensor, double x)
{
    for (int steps = -2; steps <= 3; steps++)
        add_one(probes, dtype, tensor, (double)neighbour(dtype, x, x != 0 ? steps : abs(steps)));
}

/* Midpoints between elements, one ulp to both sides, behind `amax`, in units of a scale. */
static void add_midpoints(fpo_probes *probes, const fpo_operand_view *view, fpo_format dtype, float tensor, double amax,
                          double scale)
{
    uint32_t largest = fpo_format_describe(view->element)->max_finite;
    /* All of e2m1; of wider formats those of the smallest and of the largest elements, where rules differ. */
    for (uint32_t code = 0; code < largest; code++) {
        if (code == 10 && largest > 20)
            code = largest - 5;
        double middle = (fpo_decode_double(view->element, code) + fpo_decode_double(view->element, code + 1)) / 2;
        for (int steps = -1; steps <= 1; steps++) {
            double y = (double)neighbour(dtype, middle * scale, steps);
            add_two(probes, dtype, tensor, amax, y);
            add_two(probes, dtype, tensor, amax, -y);
        }
    }
}

static void add_specials(fpo_probes *probes)
{
    static const float sets[][FPO_PROBE_VALUES + 1] = {
        {1, NAN},
        {2, NAN, 1},
        {2, 1, NAN},
        {1, INFINITY},
        {2, INFINITY, 1},
        {2, INFINITY, -1},
        {1, 0},
        {1, -0.0f},
        {2, 1, -0.0f},
        {2, INFINITY, NAN},
        {3, 0, NAN, 1},
        {4, 1, NAN, NAN, 2},
        {3, 1, 0, 2},
        {2, NAN, -0.0f},
        {2, INFINITY, -0.0f},
        {2, -INFINITY, 0x1p127f},
        {3, INFINITY, 0x1p127f, 1},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        fpo_probe probe = {.dtype = FPO_BF16, .count = (uint8_t)sets[i][0]};
        memcpy(probe.x, sets[i] + 1, sizeof probe.x);
        add(probes, probe);
    }
    static const float fills[] = {NAN, INFINITY, -0.0f, 1, -1};
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        add(probes, (fpo_probe){.dtype = FPO_BF16, .x = {fills[i]}, .count = 1, .filled = true});
}

static double largest_element(const fpo_operand_view *view)
{
    return fpo_decode_double(view->element, fpo_format_describe(view->element)->max_finite);
}

/* Numbers of all magnitudes whose significand is one where a rule for scales may turn over. */
static void add_magnitudes(fpo_probes *probes, const fpo_operand_view *view, fpo_format dtype, int step)
{
    const fpo_format_info *info = fpo_format_describe(dtype);
    int unused;
    double top = 2 * frexp(largest_element(view), &unused);
    const double significands[] = {1, 1.25, 1.5, 1.75, top, 1.375, 1.125, 1.625, 1.875, 1.9375, 1.96875};
    int least = info->min_exponent - info->mantissa_bits;
    int most = dtype == FPO_F16 ? 15 : 127;
    for (int exponent = least; exponent <= most; exponent++)
        for (size_t i = 0; i < sizeof significands / sizeof *significands; i++) {
            bool edge = exponent < info->min_exponent + 20 || exponent > most - 12 || abs(exponent) < 4;
            if (edge || exponent % step == 0)
                add_boundary(probes, dtype, 0, ldexp(significands[i], exponent));
        }
}

/* A block's amax at which scales of powers of two change, with midpoints behind it, for the scale that fits and the two
 * beside it. */
static void add_power_blocks(fpo_probes *probes, const fpo_operand_view *view, fpo_format dtype)
{
    static const int exponents[] = {0, -126, -127, -125, -124, -120, -118, 125, 127, -14, -20, 14};
    double largest = largest_element(view);
    int unused;
    double top = frexp(largest, &unused) * 2;
    const double amaxes[] = {1, top, 1.75, 1.9375};
    int reach = (int)log2(largest);
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++)
        for (size_t j = 0; j < sizeof amaxes / sizeof *amaxes; j++)
            for (int scale = exponents[i] - reach - 1; scale <= exponents[i] - reach + 1; scale++)
                add_midpoints(probes, view, dtype, 0, ldexp(amaxes[j], exponents[i]), ldexp(1, scale));
}

/* Every boundary of the ue4m3 codes, and midpoints under every code, below a given amax of the tensor. */
static void add_ue4m3_blocks(fpo_probes *probes, const fpo_operand_view *view, fpo_format dtype, float tensor)
{
    double unit = (double)tensor / 2688;
    for (uint32_t code = 0; code < 126; code++) {
        double here = fpo_decode_double(FPO_UE4M3, code), next = fpo_decode_double(FPO_UE4M3, code + 1);
        add_boundary(probes, dtype, tensor, (here + next) / 2 * 6 * unit);
        add_midpoints(probes, view, dtype, tensor, here * 6 * unit, here * unit);
    }
    for (int exponent = -140; exponent < 0; exponent += exponent < -24 ? 9 : 1)
        add_boundary(probes, dtype, tensor, ldexp((double)tensor, exponent));
    add_two(probes, dtype, tensor, (double)NAN, 1);
    add_two(probes, dtype, tensor, 1, -0.0);
}

/* Scales that are f32: every significand of bf16 as amax, midpoints and simple numbers behind some of them. */
static void add_f32_blocks(fpo_probes *probes, const fpo_operand_view *view, fpo_format dtype)
{
    double largest = largest_element(view);
    for (int i = 0; i < 128; i++) {
        double amax = 1 + i / 128.0;
        add_one(probes, dtype, 0, amax);
        if (i < 8 || i % 16 == 8)
            add_midpoints(probes, view, dtype, 0, amax, amax / largest);
    }
    static const double tiny[] = {0x1p-126, 0x1p-133, 1e-10, 1e-4, 0x1p-118, 0x1p-117};
    for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++)
        add_midpoints(probes, view, dtype, 0, tiny[i], tiny[i] / largest);
}

/* Pairs of numbers of few bits, the first the larger; where there is a tensor scale, behind a third. */
static void add_pairs(fpo_probes *probes, fpo_format dtype, float tensor, uint64_t count)
{
    fpo_random random = {7, 0};
    for (uint64_t i = 0; i < count; i++) {
        int bits = 1 + (int)(i % 7);
        double x = 1 + (double)fpo_random_below(random, 4 * i, 1u << bits) / (1u << bits);
        double y = 1 + (double)fpo_random_below(random, 4 * i + 1, 1u << bits) / (1u << bits);
        int down = (int)fpo_random_below(random, 4 * i + 2, 5);
        double unit =
            tensor != 0 ? ldexp(1, ilogb((double)tensor) - 1 - (int)fpo_random_below(random, 4 * i + 3, 6)) : 1;
        add_two(probes, dtype, tensor, x * unit, ldexp(y, -1 - down) * unit);
    }
}

static void add_tensor_scaled(fpo_probes *probes, const fpo_operand_view *view)
{
    static const float tensors[] = {2688, 1, 3, 1.0078125f, 5.5f};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        for (size_t d = 0; d < 2; d++) {
            add_ue4m3_blocks(probes, view, dtypes[d], tensors[i]);
            add_pairs(probes, dtypes[d], tensors[i], 1500);
        }
    add_ue4m3_blocks(probes, view, FPO_F16, 2688);
    for (int i = 0; i < 128; i += 3)
        add_one(probes, FPO_BF16, 0, 1 + i / 128.0);
    static const double amaxes[] = {0x1p-133, 0x1p-126, 0x1p-120, 0x1p-24, 0x1p-14, 1,
                                    448,      2688,     65504,    0x1p120, 0x1p127};
    for (size_t i = 0; i < sizeof amaxes / sizeof *amaxes; i++)
        for (size_t d = 0; d < 3; d++)
            add_boundary(probes, dtypes[d], 0, amaxes[i]);
    add_midpoints(probes, view, FPO_BF16, 0, 6, 1);
}

static void add_plain(fpo_probes *probes, const fpo_operand_view *view)
{
    /* One scale for the tensor: each probe is a tensor of its own, so they are fewer. */
    bool each_alone = view->scale.block_rows == 0;
    for (size_t d = 0; d < 3; d++) {
        add_magnitudes(probes, view, dtypes[d], each_alone ? 40 : 4);
        if (view->scale.format == FPO_UE8M0)
            add_power_blocks(probes, view, dtypes[d]);
        else
            add_f32_blocks(probes, view, dtypes[d]);
        add_pairs(probes, dtypes[d], 0, each_alone ? 500 : 3000);
    }
}

/* By cost; equal ones in an order that does not depend on the sort. */
static int compare(const void *a, const void *b)
{
    const fpo_probe *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->dtype != y->dtype)
        return x->dtype < y->dtype ? -1 : 1;
    if (x->tensor != y->tensor)
        return x->tensor < y->tensor ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return memcmp(x->x, y->x, sizeof x->x);
}

void fpo_probes_make(const fpo_operand_view *view, fpo_probes *probes)
{
    *probes = (fpo_probes){NULL, 0, 0};
    add_specials(probes);
    if (view->scale.format == FPO_UE4M3)
        add_tensor_scaled(probes, view);
    else
        add_plain(probes, view);
    qsort(probes->at, probes->count, sizeof *probes->at, compare);
    size_t kept = 0;
    for (size_t i = 0; i < probes->count; i++)
        if (i == 0 || compare(&probes->at[kept - 1], &probes->at[i]) != 0 ||
            probes->at[kept - 1].filled != probes->at[i].filled)
            probes->at[kept++] = probes->at[i];
    probes->count = kept;
}

bool fpo_probe_is_ordinary(const fpo_probe *probe)
{
    bool ordinary = !probe->filled && (probe->tensor == 0 || fabsf(probe->tensor) >= 0x1p-10f);
    for (int i = 0; i < probe->count; i++)
        ordinary = ordinary && fabsf(probe->x[i]) >= 0x1p-10f && fabsf(probe->x[i]) <= 0x1p15f;
    return ordinary;
}

void fpo_probes_free(fpo_probes *probes)
{
    free(probes->at);
}

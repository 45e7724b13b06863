/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The fast paths: terms aligned as f32 numbers and converted to integers toward zero, or groups summed as integers.
 * Every intermediate number is exact but for that conversion. */
#include "step_fast.h"

typedef float floats __attribute__((vector_size(16)));
typedef int32_t words __attribute__((vector_size(16)));
typedef int16_t halves __attribute__((vector_size(16)));

enum {
    /* A term is below 4 * 2^F and a lane adds at most four of them: within 31 bits up to F = 26. */
    MOST_FRACTION_BITS = 26,
    LEAST_SCALE = -100, /* 2^LEAST_SCALE times any product is below 1 */
    MOST_SCALE = 100    /* beyond it all products are zero: others lie in [2^-48, 2^33], the largest below 2^28 */
};

fpo_fast_path fpo_fast_path_for(const fpo_step *step, fpo_format a, fpo_format b, fpo_format a_scale,
                                fpo_format b_scale, int a_block_k, int b_block_k)
{
    const fpo_format_info *x = fpo_format_describe(fpo_step_operand_format(step, a));
    const fpo_format_info *y = fpo_format_describe(fpo_step_operand_format(step, b));
    fpo_fast_path path = {.kind = FPO_FAST_NONE, .step = step};
    if (step->kind != FPO_STEP_FUSED || step->term_rounding != FPO_TOWARD_ZERO || step->zero_product_enters ||
        step->zero_group_enters || (a_scale == FPO_FORMAT_NONE) != (b_scale == FPO_FORMAT_NONE))
        return path;
    bool scaled = a_scale != FPO_FORMAT_NONE;
    path.scale_fraction = scaled ? fpo_step_fraction(a_scale) + fpo_step_fraction(b_scale) : 0;
    if (step->group == FPO_FAST_GROUP) {
        bool small = x->max_exponent <= 4 && y->max_exponent <= 4 && x->quantum >= -4 && y->quantum >= -4;
        path.lowest = x->quantum + y->quantum;
        if (small && step->cancelled_group_enters && step->fraction_bits >= path.scale_fraction - path.lowest)
            path.kind = FPO_FAST_GROUPS;
        return path;
    }
    /* One scale for a whole sum, and a power of two. */
    bool one_scale = !scaled || (path.scale_fraction == 0 && a_block_k % step->fused == 0 &&
                                 b_block_k % step->fused == 0 && !step->interleaved);
    if (step->group != 1 || step->fraction_bits > MOST_FRACTION_BITS || !one_scale ||
        (step->fused != 4 && step->fused != 8 && step->fused != 16 && step->fused != 32))
        return path;
    bool narrow = x->max_exponent <= 15 && y->max_exponent <= 15;
    path.kind = narrow ? FPO_FAST_NARROW : scaled ? FPO_FAST_NONE : FPO_FAST_WIDE;
    return path;
}

int fpo_fast_order(const fpo_step *step, int position)
{
    int sum = position / step->fused, i = position % step->fused;
    return step->interleaved ? 4 * (i / 2) + 2 * sum + i % 2 : position;
}

int fpo_fast_lowest(fpo_format element)
{
    return fpo_format_describe(element)->quantum;
}

/* ---- the accumulator ---- */

typedef struct binary_format {
    int mantissa_bits, bias, min_exponent, max_exponent, sign_bit;
} binary_format;

static inline binary_format format_of(const fpo_step *step)
{
    return step->accumulator == FPO_F32 ? (binary_format){23, 127, -126, 127, 31}
                                        : (binary_format){10, 15, -14, 15, 15};
}

static inline int highest_bit(uint64_t x)
{
    return 63 - __builtin_clzll(x);
}

/* fpo_step_round for the roundings that instructions have. */
static inline uint32_t round_sum(const fpo_step *step, binary_format f, int64_t sum, int unit)
{
    if (sum == 0)
        return 0;
    uint64_t magnitude = sum < 0 ? -(uint64_t)sum : (uint64_t)sum;
    uint32_t sign = sum < 0 ? 1u << f.sign_bit : 0;
    int quantum = highest_bit(magnitude) + unit - step->result_bits;
    quantum = quantum < step->result_quantum ? step->result_quantum : quantum;
    int shift = quantum - unit;
    uint64_t kept;
    if (shift <= 0) {
        kept = magnitude << -shift;
    } else if (shift > 63) {
        return 0; /* below half of the smallest number, since |sum| < 2^62 */
    } else {
        kept = magnitude >> shift;
        if (step->result_rounding == FPO_NEAREST_EVEN) {
            uint64_t half = (uint64_t)1 << (shift - 1), rest = magnitude & (2 * half - 1);
            kept += rest > half || (rest == half && (kept & 1) != 0);
        }
        if (kept == 0)
            return 0;
    }
    int exponent = highest_bit(kept) + quantum;
    if (exponent > f.max_exponent) {
        uint32_t infinity = (uint32_t)(f.max_exponent + f.bias + 1) << f.mantissa_bits;
        return sign | (step->overflow == FPO_NON_FINITE ? infinity : infinity - 1);
    }
    bool normal = exponent >= f.min_exponent;
    int last_place = (normal ? exponent : f.min_exponent) - f.mantissa_bits;
    uint32_t mantissa =
        (uint32_t)(quantum >= last_place ? kept << (quantum - last_place) : kept >> (last_place - quantum));
    uint32_t field = normal ? (uint32_t)(exponent + f.bias) : 0;
    return sign | field << f.mantissa_bits | (mantissa & ((1u << f.mantissa_bits) - 1));
}

typedef struct decoded {
    int64_t significand;
    int exponent; /* FPO_FAST_ABSENT for zero */
} decoded;

static inline decoded decode_c(binary_format f, uint32_t c)
{
    uint32_t mantissa = c & ((1u << f.mantissa_bits) - 1);
    int field = (int)(c >> f.mantissa_bits & (uint32_t)(f.max_exponent + f.bias + 1));
    int64_t significand = field != 0 ? (int64_t)mantissa | (int64_t)1 << f.mantissa_bits : mantissa;
    int exponent = field != 0 ? field - f.bias : f.min_exponent;
    if (significand == 0)
        exponent = FPO_FAST_ABSENT;
    return (decoded){c >> f.sign_bit & 1 ? -significand : significand, exponent};
}

/* significand * 2^(exponent - fraction) in units of 2^(e - bits), toward zero; e >= exponent, bits >= fraction unless
 * the difference makes up for it. */
static inline int64_t align(int64_t significand, int below, int bits, int fraction)
{
    int64_t sign = significand >> 63;
    uint64_t magnitude = (uint64_t)((significand ^ sign) - sign);
    if (bits >= fraction)
        magnitude = below < 64 ? magnitude << (bits - fraction) >> below : 0;
    else
        magnitude = below + fraction - bits < 64 ? magnitude >> (below + fraction - bits) : 0;
    return ((int64_t)magnitude ^ sign) - sign;
}

static inline int larger(int x, int y)
{
    return x > y ? x : y;
}

/* ---- single products ---- */

static inline floats load_floats(const float *p)
{
    floats v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

static inline halves load_halves(const int16_t *p)
{
    halves v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

static inline halves larger_halves(halves x, halves y)
{
    halves first = x > y;
    return (x & first) | (y & ~first);
}

static inline int largest_exponent(const int16_t *x, const int16_t *y, int n)
{
    if (n == 4) {
        int e = x[0] + y[0];
        for (int i = 1; i < 4; i++)
            e = larger(e, x[i] + y[i]);
        return e;
    }
    halves most = load_halves(x) + load_halves(y);
    for (int i = 8; i < n; i += 8)
        most = larger_halves(most, load_halves(x + i) + load_halves(y + i));
    most = larger_halves(most, __builtin_shufflevector(most, most, 4, 5, 6, 7, 0, 1, 2, 3));
    most = larger_halves(most, __builtin_shufflevector(most, most, 2, 3, 0, 1, 6, 7, 4, 5));
    return larger(most[0], most[1]);
}

/* Lanes of four terms each. */
static inline int64_t add_lanes(words x, words y)
{
    return (int64_t)x[0] + x[1] + x[2] + x[3] + y[0] + y[1] + y[2] + y[3];
}

/* 2^exponent, -127 (which gives 0) <= exponent <= 127. */
static inline float power_of_two(int exponent)
{
    return fpo_float_of_bits((uint32_t)(exponent + 127) << 23);
}

static inline int64_t add_narrow(const float *x, const float *y, int n, int exponent)
{
    if (exponent < LEAST_SCALE || exponent > MOST_SCALE)
        return 0;
    float scale = power_of_two(exponent);
    if (n == 4)
        return add_lanes(__builtin_convertvector(load_floats(x) * load_floats(y) * scale, words), (words){0});
    words even = {0}, odd = {0};
    for (int i = 0; i < n; i += 8) {
        even += __builtin_convertvector(load_floats(x + i) * load_floats(y + i) * scale, words);
        odd += __builtin_convertvector(load_floats(x + i + 4) * load_floats(y + i + 4) * scale, words);
    }
    return add_lanes(even, odd);
}

/* Four products, each under an exponent of its own. 2^-127 and below count as 0: nothing is left of such a term. */
static inline words four_wide(const fpo_fast_row *a, const fpo_fast_row *b, int64_t at, int exponent)
{
    const int16_t *x = a->exponent + at, *y = b->exponent + at;
    words field = {x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]};
    field += exponent + 127;
    field = (field & ~(field >> 31)) << 23;
    return __builtin_convertvector(load_floats(a->value + at) * load_floats(b->value + at) * (floats)field, words);
}

static inline int64_t add_wide(const fpo_fast_row *a, const fpo_fast_row *b, int64_t at, int n, int exponent)
{
    words even = {0}, odd = {0};
    for (int64_t i = at; i < at + n; i += 8) {
        even += four_wide(a, b, i, exponent);
        if (n > 4)
            odd += four_wide(a, b, i + 4, exponent);
    }
    return add_lanes(even, odd);
}

static inline uint32_t products(const fpo_fast_path *path, const fpo_fast_row *a, const fpo_fast_row *b, int64_t at,
                                int n, uint32_t c)
{
    const fpo_step *step = path->step;
    binary_format f = format_of(step);
    decoded accumulator = decode_c(f, c);
    int bits = step->fraction_bits, scale = 0;
    if (a->scales != NULL)
        scale = a->scales[at / a->block_k].exponent + b->scales[at / b->block_k].exponent;
    int e = larger(step->e_zero, accumulator.exponent);
    e = larger(e, largest_exponent(a->exponent + at, b->exponent + at, n) + scale);
    int64_t sum = path->kind == FPO_FAST_NARROW ? add_narrow(a->value + at, b->value + at, n, bits - e + scale)
                                                : add_wide(a, b, at, n, bits - e);
    sum += align(accumulator.significand, e - accumulator.exponent, bits, f.mantissa_bits);
    return round_sum(step, f, sum, e - bits);
}

static inline uint32_t sums_of_products(const fpo_fast_path *path, const fpo_fast_row *a, const fpo_fast_row *b,
                                        int64_t at, uint32_t c)
{
    const fpo_step *step = path->step;
    int64_t end = at + step->k;
    uint32_t accumulator = step->c_late ? 0 : c;
    for (; at < end; at += step->fused) {
        switch (step->fused) {
        case 4: accumulator = products(path, a, b, at, 4, accumulator); break;
        case 8: accumulator = products(path, a, b, at, 8, accumulator); break;
        case 16: accumulator = products(path, a, b, at, 16, accumulator); break;
        default: accumulator = products(path, a, b, at, 32, accumulator); break;
        }
        if (fpo_accumulator_overflowed(step, accumulator))
            break; /* an infinity stays one in the sums that are left */
    }
    return step->c_late ? fpo_step_add(step, accumulator, c) : accumulator;
}

/* ---- groups ---- */

static inline int32_t dot16(const int16_t *x, const int16_t *y)
{
    int32_t sum = 0;
    for (int i = 0; i < FPO_FAST_GROUP; i++)
        sum += (int32_t)x[i] * y[i];
    return sum;
}

static inline uint32_t groups(const fpo_fast_path *path, const fpo_fast_row *a, const fpo_fast_row *b, int64_t at,
                              uint32_t c)
{
    enum { MOST = FPO_STEP_MAX_K / FPO_FAST_GROUP };
    const fpo_step *step = path->step;
    binary_format f = format_of(step);
    decoded accumulator = decode_c(f, c);
    int bits = step->fraction_bits, fraction = path->scale_fraction - path->lowest;
    int64_t term[MOST];
    int exponent[MOST], count = step->fused / FPO_FAST_GROUP;
    int e = larger(step->e_zero, accumulator.exponent);
    for (int g = 0; g < count; g++) {
        int64_t first = at + g * FPO_FAST_GROUP;
        fpo_digits sa = {1, 0}, sb = {1, 0};
        if (a->scales != NULL) {
            sa = a->scales[first / a->block_k];
            sb = b->scales[first / b->block_k];
        }
        int32_t scale = (int32_t)sa.significand * sb.significand;
        term[g] = (int64_t)dot16(a->fixed + first, b->fixed + first) * scale;
        exponent[g] = sa.exponent + sb.exponent;
        bool enters = (a->nonzero[first / FPO_FAST_GROUP] & b->nonzero[first / FPO_FAST_GROUP]) != 0 && scale != 0;
        e = larger(e, enters ? exponent[g] : FPO_FAST_ABSENT);
    }
    int64_t sum = align(accumulator.significand, e - accumulator.exponent, bits, f.mantissa_bits);
    for (int g = 0; g < count; g++)
        sum += align(term[g], larger(e - exponent[g], 0), bits, fraction); /* a zero term may lie above e */
    return round_sum(step, f, sum, e - bits);
}

uint32_t fpo_fast_step(const fpo_fast_path *path, const fpo_fast_row *a, const fpo_fast_row *b, int64_t index,
                       uint32_t c)
{
    const fpo_step *step = path->step;
    int64_t at = index * step->k;
    if (path->kind != FPO_FAST_GROUPS)
        return sums_of_products(path, a, b, at, c);
    uint32_t accumulator = step->c_late ? 0 : c;
    for (int64_t end = at + step->k; at < end && !fpo_accumulator_overflowed(step, accumulator); at += step->fused)
        accumulator = groups(path, a, b, at, accumulator);
    return step->c_late ? fpo_step_add(step, accumulator, c) : accumulator;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The twin's formats: fields from a table of its own, rounding by comparing with the numbers on both sides. */
#include "twin.h"

/* What the largest magnitudes stand for. */
typedef enum twin_top {
    TOP_NUMBERS,  /* nothing special */
    TOP_ONE_NAN,  /* all ones is NaN */
    TOP_EXPONENT, /* exponent all ones: infinity, or NaN with a mantissa */
    TOP_POWERS    /* no mantissa, no zero: powers of two, all ones is NaN */
} twin_top;

typedef struct twin_format {
    fpo_format format;
    int sign_bit; /* -1: none */
    int exponent_bits, mantissa_bits;
    int smallest; /* exponent of the smallest normal number */
    twin_top top;
} twin_format;

static const twin_format *find(fpo_format format)
{
    static const twin_format formats[] = {
        {FPO_E2M1, 3, 2, 1, 0, TOP_NUMBERS},      {FPO_E2M3, 5, 2, 3, 0, TOP_NUMBERS},
        {FPO_E3M2, 5, 3, 2, -2, TOP_NUMBERS},     {FPO_E4M3, 7, 4, 3, -6, TOP_ONE_NAN},
        {FPO_E5M2, 7, 5, 2, -14, TOP_EXPONENT},   {FPO_UE8M0, -1, 8, 0, -127, TOP_POWERS},
        {FPO_UE4M3, -1, 4, 3, -6, TOP_ONE_NAN},   {FPO_F16, 15, 5, 10, -14, TOP_EXPONENT},
        {FPO_BF16, 15, 8, 7, -126, TOP_EXPONENT}, {FPO_TF32, 18, 8, 10, -126, TOP_EXPONENT},
        {FPO_F32, 31, 8, 23, -126, TOP_EXPONENT},
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].format == format)
            return &formats[i];
    }
    return NULL;
}

static uint32_t magnitude_mask(const twin_format *f)
{
    return (1u << (f->exponent_bits + f->mantissa_bits)) - 1;
}

static bool sign_of(const twin_format *f, uint32_t code)
{
    return f->sign_bit >= 0 && (code >> f->sign_bit & 1) == 1;
}

/* A magnitude code that is a number, as mantissa * 2^power. */
static int64_t mantissa_of(const twin_format *f, uint32_t magnitude, int *power)
{
    int64_t mantissa = magnitude % (1u << f->mantissa_bits), hidden = (int64_t)1 << f->mantissa_bits;
    int field = (int)(magnitude >> f->mantissa_bits);
    if (f->top == TOP_POWERS) {
        *power = f->smallest + field;
        return 1;
    }
    *power = f->smallest - f->mantissa_bits;
    if (field == 0)
        return mantissa;
    *power += field - 1;
    return hidden + mantissa;
}

bool fpo_twin_decode(fpo_format format, uint32_t code, fpo_twin_value *value)
{
    const twin_format *f = find(format);
    fpo_twin_zero(value);
    if (f == NULL)
        return false;

    uint32_t magnitude = code & magnitude_mask(f);
    uint32_t infinity = magnitude_mask(f) - ((1u << f->mantissa_bits) - 1);
    bool all_ones = magnitude == magnitude_mask(f);
    if (((f->top == TOP_ONE_NAN || f->top == TOP_POWERS) && all_ones) ||
        (f->top == TOP_EXPONENT && magnitude > infinity)) {
        fpo_twin_nan(value);
        return true;
    }
    value->negative = sign_of(f, code);
    if (f->top == TOP_EXPONENT && magnitude == infinity) {
        value->kind = FPO_TWIN_INFINITY;
        return true;
    }
    int power;
    int64_t mantissa = mantissa_of(f, magnitude, &power);
    fpo_twin_integer(&value->number, value->negative ? -mantissa : mantissa, power);
    return true;
}

int fpo_twin_smallest_exponent(fpo_format format)
{
    return find(format)->smallest;
}

static uint32_t largest_magnitude(const twin_format *f)
{
    switch (f->top) {
    case TOP_NUMBERS: return magnitude_mask(f);
    case TOP_EXPONENT: return magnitude_mask(f) - (1u << f->mantissa_bits);
    case TOP_ONE_NAN:
    case TOP_POWERS: break;
    }
    return magnitude_mask(f) - 1;
}

/* The number of a magnitude code; one beyond the largest is where the next number would be. */
static void number_of(const twin_format *f, uint32_t magnitude, fpo_twin_number *x)
{
    int power;
    if (magnitude <= largest_magnitude(f)) {
        int64_t mantissa = mantissa_of(f, magnitude, &power);
        fpo_twin_integer(x, mantissa, power);
        return;
    }
    int64_t mantissa = mantissa_of(f, largest_magnitude(f), &power);
    fpo_twin_integer(x, mantissa + 1, power);
}

/* The code of the largest number that is not above |x|. */
static uint32_t floor_code(const twin_format *f, const fpo_twin_number *magnitude)
{
    uint32_t low = 0, high = largest_magnitude(f);
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        fpo_twin_number candidate;
        number_of(f, middle, &candidate);
        if (fpo_twin_compare(&candidate, magnitude) <= 0)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Whether x, which lies between the numbers of `below` and `below` + 1, goes to the upper one. */
static bool goes_up(const twin_format *f, uint32_t below, const fpo_twin_number *magnitude, bool negative,
                    fpo_rounding rounding)
{
    fpo_twin_number lower, upper, twice, ends;
    number_of(f, below, &lower);
    if (fpo_twin_compare(&lower, magnitude) == 0)
        return false;
    if (f->top == TOP_POWERS && fpo_twin_compare(&lower, magnitude) > 0) /* zero and all below the smallest number */
        return false;
    number_of(f, below + 1, &upper);
    fpo_twin_sum(&ends, &lower, &upper);
    fpo_twin_sum(&twice, magnitude, magnitude);
    int side = fpo_twin_compare(&twice, &ends);
    switch (rounding) {
    case FPO_NEAREST_EVEN: return side > 0 || (side == 0 && below % 2 == 1);
    case FPO_NEAREST_AWAY: return side >= 0;
    case FPO_NEAREST_TOWARD_ZERO: return side > 0;
    case FPO_AWAY_FROM_ZERO: return true;
    case FPO_UP: return !negative;
    case FPO_DOWN: return negative;
    case FPO_TOWARD_ZERO:
    case FPO_STOCHASTIC: break;
    }
    return false;
}

static uint32_t with_sign(const twin_format *f, uint32_t magnitude, bool negative)
{
    return f->sign_bit >= 0 && negative ? magnitude | 1u << f->sign_bit : magnitude;
}

/* NaN here has no sign: it counts as positive. */
static uint32_t nan_code(const twin_format *f, const fpo_cast *cast)
{
    if (f->top == TOP_NUMBERS && (cast->no_nan == FPO_NO_NAN_LARGEST || cast->no_nan == FPO_NO_NAN_LARGEST_SIGNED))
        return largest_magnitude(f);
    if (f->top == TOP_NUMBERS)
        return with_sign(f, 0, cast->no_nan == FPO_NO_NAN_ZERO_OPPOSITE);
    if (cast->nan == FPO_NAN_IEEE && f->top == TOP_EXPONENT)
        return magnitude_mask(f) - ((1u << (f->mantissa_bits - 1)) - 1);
    return magnitude_mask(f);
}

static uint32_t beyond(const twin_format *f, bool negative, fpo_overflow policy)
{
    if (policy == FPO_SATURATE || f->top == TOP_NUMBERS)
        return with_sign(f, largest_magnitude(f), negative);
    if (f->top == TOP_EXPONENT)
        return with_sign(f, largest_magnitude(f) + 1, negative);
    return with_sign(f, magnitude_mask(f), negative);
}

uint32_t fpo_twin_encode(fpo_format format, const fpo_twin_value *value, const fpo_cast *cast)
{
    const twin_format *f = find(format);
    if (f == NULL)
        return 0;
    if (value->kind == FPO_TWIN_NAN)
        return nan_code(f, cast);
    if (value->kind == FPO_TWIN_INFINITY)
        return beyond(f, value->negative, cast->infinity);

    fpo_twin_number magnitude = value->number;
    if (magnitude.sign < 0)
        magnitude.sign = 1;
    uint32_t code = floor_code(f, &magnitude);
    if (goes_up(f, code, &magnitude, value->negative, cast->rounding))
        code++;
    if (code > largest_magnitude(f))
        return beyond(f, value->negative, cast->overflow);
    return with_sign(f, code, value->negative && !(code == 0 && cast->drop_negative_zero));
}

void fpo_twin_round(fpo_format format, fpo_twin_value *value)
{
    const fpo_cast nearest = {
        .rounding = FPO_NEAREST_EVEN, .overflow = FPO_NON_FINITE, .infinity = FPO_NON_FINITE, .nan = FPO_NAN_CANONICAL};
    fpo_twin_decode(format, fpo_twin_encode(format, value, &nearest), value);
}

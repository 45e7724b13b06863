/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The meaning of one step of a recipe, on single values. */
#include "mufu.h"
#include "recipe.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float flush(float x)
{
    uint32_t bits = bits_of(x);
    return (bits & 0x7F800000u) == 0 ? from_bits(bits & 0x80000000u) : x;
}

/* The e2m1 value v with the smallest |v*b - a|, both operations rounded. Codes in order, the first smallest stays;
 * code 8, -0, never is. Source: ggml-quants.c best_index_mxfp4. */
static float nearest_e2m1(float a, float b)
{
    unsigned best = 0;
    float smallest = fabsf((float)(fpo_decode_double(FPO_E2M1, 0) * b) - a);
    for (unsigned code = 1; code < 16; code++) {
        float v = code == 8 ? 0.0f : (float)fpo_decode_double(FPO_E2M1, code);
        float product = v * b;
        float distance = fabsf(product - a);
        if (distance < smallest) {
            smallest = distance;
            best = code;
        }
    }
    return (float)fpo_decode_double(FPO_E2M1, best);
}

/* Steps of 0.5 below 2, of 1 below 4, of 2 from there on. Source: fouroversix 1.0.5, fake_quantize_to_e2m1. */
static float e2m1_grid(float x)
{
    float magnitude = fabsf(x);
    if (!(magnitude < INFINITY))
        return NAN; /* infinity times a mask of 0 */
    float step = magnitude < 2 ? 0.5f : magnitude < 4 ? 1 : 2;
    float rounded = rintf(magnitude / step) * step;
    return x < 0 ? -rounded : rounded;
}

/* The nibble of sign, two bits of exponent and one of mantissa, taken from a bf16 without looking whether they fit. A
 * NaN is x86's, negative. Source: fouroversix 1.0.5, quantize_bf16_to_unpacked_fp4. */
static float e2m1_wrap(float x)
{
    if (isnan(x))
        return -1.5f;
    if (x == 0)
        return x;
    uint32_t bits = bits_of(x);
    uint32_t exponent = (bits >> 23 & 0xFF) - 126, mantissa = bits >> 22 & 1;
    uint32_t code = exponent == 0 ? 1 : exponent << 1 | mantissa;
    return (float)fpo_decode_double(FPO_E2M1, (code | (bits >> 31) << 3) & 15);
}

static float encode(const fpo_recipe_step *step, float x)
{
    uint32_t code = fpo_encode(step->format, fpo_value_from_float(x), &step->cast, 0);
    return (float)fpo_decode_double(step->format, code);
}

static float e8(float code)
{
    if (!(code < 255))
        return NAN;
    return (float)fpo_decode_double(FPO_UE8M0, code > 0 ? (uint32_t)code : 0);
}

const fpo_cast *fpo_code_cast(fpo_format element)
{
    static const fpo_cast with_infinity = {.infinity = FPO_NON_FINITE};
    bool infinite = fpo_format_describe(element)->specials == FPO_SPECIALS_IEEE;
    return infinite ? &with_infinity : fpo_cast_describe(FPO_CAST_PTX);
}

const fpo_cast *fpo_scale_cast(void)
{
    static const fpo_cast cast = {.infinity = FPO_NON_FINITE, .negative = FPO_NEGATIVE_KEEP_BIT7};
    return &cast;
}

static float code_of(const fpo_recipe_step *step, float x)
{
    return (float)fpo_encode(step->format, fpo_value_from_float(x), &step->cast, 0);
}

/* IEEE 754 leaves a NaN among the arguments to the function; these are explicit. */
static float minimum(float a, float b, bool larger, bool skip_nan)
{
    if (isnan(a) || isnan(b)) {
        if (!skip_nan)
            return NAN;
        return isnan(a) ? b : a;
    }
    return (larger ? a > b : a < b) ? a : b;
}

static float exp2_exact(float x)
{
    return (float)exp2(x);
}

static float apply_f32(const fpo_recipe_step *step, float a, float b, float c)
{
    switch ((fpo_function)step->function) {
    case FPO_FN_COPY: return a;
    case FPO_FN_ADD: return a + b;
    case FPO_FN_SUB: return a - b;
    case FPO_FN_MUL: return a * b;
    case FPO_FN_DIV: return a / b;
    case FPO_FN_NEG: return from_bits(bits_of(a) ^ 0x80000000u);
    case FPO_FN_LT: return a < b;
    case FPO_FN_LE: return a <= b;
    case FPO_FN_GT: return a > b;
    case FPO_FN_GE: return a >= b;
    case FPO_FN_EQ: return a == b;
    case FPO_FN_NE: return a != b;
    case FPO_FN_SELECT: return a != 0 ? b : c;
    case FPO_FN_FMA: return fmaf(a, b, c);
    case FPO_FN_ABS: return from_bits(bits_of(a) & 0x7FFFFFFFu);
    case FPO_FN_RCP: return 1 / a;
    case FPO_FN_RCPA: return fpo_mufu(FPO_MUFU_RCP, a);
    case FPO_FN_DIV_FULL: return fpo_div_approx(a, b, true, step->ftz);
    case FPO_FN_MIN: return minimum(a, b, false, false);
    case FPO_FN_MAX: return minimum(a, b, true, false);
    case FPO_FN_FMIN: return minimum(a, b, false, true);
    case FPO_FN_FMAX: return minimum(a, b, true, true);
    case FPO_FN_LOG2: return (float)log2(a);
    case FPO_FN_RINT_LG2: return rintf(fpo_mufu(FPO_MUFU_LG2, a));
    case FPO_FN_EXP2: return exp2_exact(a);
    case FPO_FN_CEIL: return ceilf(a);
    case FPO_FN_FLOOR: return floorf(a);
    case FPO_FN_RINT: return rintf(a);
    case FPO_FN_FIELD: return (float)(bits_of(a) >> 23 & 0xFF);
    case FPO_FN_MANTISSA: return (float)(bits_of(a) & 0x7FFFFF);
    case FPO_FN_ADDBITS: return from_bits(bits_of(a) + (fabsf(b) < 0x1p31f ? (uint32_t)(int32_t)b : 0));
    case FPO_FN_ENCODE: return encode(step, a);
    case FPO_FN_E8: return e8(a);
    case FPO_FN_DECODE: return (float)fpo_decode_double(FPO_UE4M3, a > 0 ? (uint32_t)fminf(a, 127) : 0);
    case FPO_FN_CODE: return code_of(step, a);
    case FPO_FN_SIGNED: return from_bits((bits_of(a) & 0x7FFFFFFFu) | (b != 0 ? 0x80000000u : 0));
    case FPO_FN_NEAREST: return nearest_e2m1(a, b);
    case FPO_FN_GRID: return e2m1_grid(a);
    case FPO_FN_WRAP: return e2m1_wrap(a);
    case FPO_FN_HADAMARD:
    case FPO_FN_COUNT: break;
    }
    return a;
}

/* Python arithmetic: doubles. */
static double apply_f64(const fpo_recipe_step *step, double a, double b, double c)
{
    switch ((fpo_function)step->function) {
    case FPO_FN_ADD: return a + b;
    case FPO_FN_SUB: return a - b;
    case FPO_FN_MUL: return a * b;
    case FPO_FN_DIV: return a / b;
    case FPO_FN_RCP: return 1 / a;
    case FPO_FN_NEG: return -a;
    case FPO_FN_COPY: return a;
    case FPO_FN_SELECT: return a != 0 ? b : c;
    default: return apply_f32(step, (float)a, (float)b, (float)c);
    }
}

double fpo_recipe_apply(const fpo_recipe_step *step, double a, double b, double c)
{
    if (step->f64)
        return apply_f64(step, a, b, c);
    float x = (float)a, y = (float)b, z = (float)c;
    if (!step->ftz)
        return apply_f32(step, x, y, z);
    /* -ftz=true concerns arithmetic; moving, comparing bits and converting keep what they get. */
    switch ((fpo_function)step->function) {
    case FPO_FN_COPY:
    case FPO_FN_NEG:
    case FPO_FN_ABS:
    case FPO_FN_SELECT:
    case FPO_FN_ENCODE:
    case FPO_FN_FIELD:
    case FPO_FN_MANTISSA:
    case FPO_FN_ADDBITS:
    case FPO_FN_SIGNED: return apply_f32(step, x, y, z);
    default: return flush(apply_f32(step, flush(x), flush(y), flush(z)));
    }
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Exact values: from IEEE numbers, products, comparison. */
#include <fp4oracle/format.h>
#include <string.h>

fpo_value fpo_value_from_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    int field = (int)(bits >> 52 & 0x7FF);
    fpo_value value = {.negative = bits >> 63 != 0, .kind = FPO_FINITE};
    if (field == 0x7FF) {
        value.kind = mantissa == 0 ? FPO_INFINITE : FPO_NAN;
    } else if (field == 0) {
        value.kind = mantissa == 0 ? FPO_ZERO : FPO_FINITE;
        value.significand = mantissa;
        value.exponent = -1074;
    } else {
        value.significand = mantissa | UINT64_C(1) << 52;
        value.exponent = field - 1075;
    }
    return value;
}

fpo_value fpo_value_from_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return fpo_decode(FPO_F32, bits);
}

fpo_value fpo_value_multiply(fpo_value x, fpo_value y)
{
    fpo_value product = {.negative = x.negative != y.negative};
    if (x.kind == FPO_NAN || y.kind == FPO_NAN || (x.kind == FPO_INFINITE && y.kind == FPO_ZERO) ||
        (x.kind == FPO_ZERO && y.kind == FPO_INFINITE)) {
        return (fpo_value){.kind = FPO_NAN};
    }
    if (x.kind == FPO_INFINITE || y.kind == FPO_INFINITE) {
        product.kind = FPO_INFINITE;
    } else if (x.kind == FPO_ZERO || y.kind == FPO_ZERO) {
        product.kind = FPO_ZERO;
    } else {
        product.kind = FPO_FINITE;
        product.significand = x.significand * y.significand;
        product.exponent = x.exponent + y.exponent;
    }
    return product;
}

/* Zero, finite, infinite: also the order of magnitudes, since fpo_class is declared so. */
int fpo_value_compare_magnitude(fpo_value x, fpo_value y)
{
    if (x.kind != y.kind)
        return x.kind < y.kind ? -1 : 1;
    if (x.kind != FPO_FINITE)
        return 0;
    int x_shift = __builtin_clzll(x.significand), y_shift = __builtin_clzll(y.significand);
    int64_t x_exponent = (int64_t)x.exponent - x_shift, y_exponent = (int64_t)y.exponent - y_shift;
    if (x_exponent != y_exponent)
        return x_exponent < y_exponent ? -1 : 1;
    uint64_t x_top = x.significand << x_shift, y_top = y.significand << y_shift;
    return (x_top > y_top) - (x_top < y_top);
}

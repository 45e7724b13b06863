/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The twin's extended numbers: IEEE 754 sums and products without rounding. */
#include "twin.h"

#include <string.h>

void fpo_twin_nan(fpo_twin_value *x)
{
    fpo_twin_zero(x);
    x->kind = FPO_TWIN_NAN;
}

void fpo_twin_zero(fpo_twin_value *x)
{
    x->kind = FPO_TWIN_NUMBER;
    x->negative = false;
    fpo_twin_integer(&x->number, 0, 0);
}

void fpo_twin_float(fpo_twin_value *x, float value)
{
    uint32_t code;
    memcpy(&code, &value, sizeof code);
    fpo_twin_decode(FPO_F32, code, x);
}

bool fpo_twin_is_zero(const fpo_twin_value *x)
{
    return x->kind == FPO_TWIN_NUMBER && x->number.sign == 0;
}

void fpo_twin_multiply(fpo_twin_value *result, const fpo_twin_value *x, const fpo_twin_value *y)
{
    bool negative = x->negative != y->negative;
    bool infinite = x->kind == FPO_TWIN_INFINITY || y->kind == FPO_TWIN_INFINITY;
    bool zero = fpo_twin_is_zero(x) || fpo_twin_is_zero(y);

    if (x->kind == FPO_TWIN_NAN || y->kind == FPO_TWIN_NAN || (infinite && zero)) {
        fpo_twin_nan(result);
        return;
    }
    fpo_twin_value product;
    fpo_twin_zero(&product);
    product.kind = infinite ? FPO_TWIN_INFINITY : FPO_TWIN_NUMBER;
    product.negative = negative;
    if (!infinite)
        fpo_twin_product(&product.number, &x->number, &y->number);
    *result = product;
}

void fpo_twin_add(fpo_twin_value *result, const fpo_twin_value *x, const fpo_twin_value *y)
{
    fpo_twin_value sum;
    if (x->kind == FPO_TWIN_NAN || y->kind == FPO_TWIN_NAN ||
        (x->kind == FPO_TWIN_INFINITY && y->kind == FPO_TWIN_INFINITY && x->negative != y->negative)) {
        fpo_twin_nan(&sum);
    } else if (x->kind == FPO_TWIN_INFINITY) {
        sum = *x;
    } else if (y->kind == FPO_TWIN_INFINITY) {
        sum = *y;
    } else {
        fpo_twin_zero(&sum);
        fpo_twin_sum(&sum.number, &x->number, &y->number);
        /* A sum that is zero is -0 only if both terms are. */
        sum.negative =
            sum.number.sign < 0 || (fpo_twin_is_zero(x) && fpo_twin_is_zero(y) && x->negative && y->negative);
    }
    *result = sum;
}

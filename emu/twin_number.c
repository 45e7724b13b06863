/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The twin's numbers: school arithmetic on digits of base 65536. Sums and products are made with digits of any size and
 * sign first, and carried afterwards. */
#include "twin.h"

#include <string.h>

enum { BASE = 65536, ROOM = 2 * FPO_TWIN_DIGITS };

/* Digits of any size and sign to a number. */
static void carry_out(fpo_twin_number *x, int64_t *digit, int count, int low)
{
    int64_t carry = 0;
    for (int i = 0; i < count; i++) {
        int64_t d = digit[i] + carry;
        int64_t rest = ((d % BASE) + BASE) % BASE;
        carry = (d - rest) / BASE;
        digit[i] = rest;
    }
    while (carry != 0 && carry != -1) {
        int64_t rest = ((carry % BASE) + BASE) % BASE;
        digit[count++] = rest;
        carry = (carry - rest) / BASE;
    }
    if (carry == -1) { /* negative: change all signs and carry again */
        digit[count++] = -1;
        for (int i = 0; i < count; i++)
            digit[i] = -digit[i];
        carry_out(x, digit, count, low);
        x->sign = -x->sign;
        return;
    }

    int first = 0;
    while (count > 0 && digit[count - 1] == 0)
        count--;
    while (first < count && digit[first] == 0)
        first++;
    x->sign = count > first ? 1 : 0;
    x->low = low + first;
    x->count = count - first;
    for (int i = first; i < count; i++)
        x->digit[i - first] = (uint16_t)digit[i];
}

void fpo_twin_integer(fpo_twin_number *x, int64_t integer, int power_of_two)
{
    int64_t digit[8] = {0};
    int shift = ((power_of_two % 16) + 16) % 16;
    uint64_t magnitude = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    for (int i = 0; i < 4; i++)
        digit[i] = (int64_t)(magnitude >> (16 * i) & 0xFFFF) * ((int64_t)1 << shift);
    carry_out(x, digit, 4, (power_of_two - shift) / 16);
    if (integer < 0)
        x->sign = -x->sign;
}

void fpo_twin_sum(fpo_twin_number *sum, const fpo_twin_number *x, const fpo_twin_number *y)
{
    int64_t digit[ROOM];
    if (x->sign == 0 || y->sign == 0) {
        *sum = x->sign == 0 ? *y : *x;
        return;
    }
    int low = x->low < y->low ? x->low : y->low;
    int x_end = x->low + x->count, y_end = y->low + y->count;
    int count = (x_end > y_end ? x_end : y_end) - low;
    memset(digit, 0, (size_t)count * sizeof digit[0]);
    for (int i = 0; i < x->count; i++)
        digit[x->low - low + i] += x->sign * (int64_t)x->digit[i];
    for (int i = 0; i < y->count; i++)
        digit[y->low - low + i] += y->sign * (int64_t)y->digit[i];
    carry_out(sum, digit, count, low);
}

void fpo_twin_product(fpo_twin_number *product, const fpo_twin_number *x, const fpo_twin_number *y)
{
    int64_t digit[ROOM];
    int sign = x->sign * y->sign, count = x->count + y->count, low = x->low + y->low;
    if (sign == 0) {
        product->sign = product->low = product->count = 0;
        return;
    }
    memset(digit, 0, (size_t)count * sizeof digit[0]);
    for (int i = 0; i < x->count; i++) {
        for (int j = 0; j < y->count; j++)
            digit[i + j] += (int64_t)x->digit[i] * y->digit[j];
    }
    carry_out(product, digit, count, low);
    product->sign = sign;
}

int fpo_twin_compare(const fpo_twin_number *x, const fpo_twin_number *y)
{
    fpo_twin_number minus_y, difference;
    minus_y = *y;
    minus_y.sign = -minus_y.sign;
    fpo_twin_sum(&difference, x, &minus_y);
    return difference.sign;
}

int fpo_twin_leading_power(const fpo_twin_number *x)
{
    int power = 16 * (x->low + x->count - 1);
    for (unsigned top = x->digit[x->count - 1]; top > 1; top /= 2)
        power++;
    return power;
}

/* Quotient and remainder of floored division by 16. */
static int digit_of(int power, int *bit)
{
    *bit = ((power % 16) + 16) % 16;
    return (power - *bit) / 16;
}

void fpo_twin_truncate(fpo_twin_number *kept, const fpo_twin_number *x, int power)
{
    int64_t digit[ROOM];
    int bit, place = digit_of(power, &bit), sign = x->sign;
    for (int i = 0; i < x->count; i++) {
        digit[i] = x->digit[i];
        if (x->low + i < place)
            digit[i] = 0;
        else if (x->low + i == place)
            digit[i] -= digit[i] % (1 << bit);
    }
    carry_out(kept, digit, x->sign == 0 ? 0 : x->count, x->low);
    if (sign < 0)
        kept->sign = -kept->sign;
}

bool fpo_twin_bit(const fpo_twin_number *x, int power)
{
    int bit, place = digit_of(power, &bit) - x->low;
    return x->sign != 0 && place >= 0 && place < x->count && (x->digit[place] >> bit & 1) == 1;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Integer functions that rows of isa/ use. Edge cases as an H200 does them (kernels.md 5.2, rule 4). */
#ifndef FP4ORACLE_KERNELS_PTX_LANE_INTEGER_H
#define FP4ORACLE_KERNELS_PTX_LANE_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

static inline int32_t saturate_s32(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

/* A value given by its sign and its 64 bits (two's complement), clamped to [low, high]. */
static inline int64_t saturate_integer(bool negative, uint64_t bits, int64_t low, int64_t high)
{
    if (negative)
        return (int64_t)bits < low ? low : (int64_t)bits;
    return bits > (uint64_t)high ? high : (int64_t)bits;
}

static inline uint64_t high_u64(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    uint64_t carry = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (carry >> 32);
}

static inline int64_t high_s64(int64_t a, int64_t b)
{
    uint64_t high = high_u64((uint64_t)a, (uint64_t)b);
    return (int64_t)(high - (a < 0 ? (uint64_t)b : 0) - (b < 0 ? (uint64_t)a : 0));
}

static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    for (unsigned i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}

/* The 64-bit number b:a shifted by n in 0..32: its high word after a left shift, its low word after a right shift. */
static inline uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t n)
{
    return (uint32_t)((((uint64_t)b << 32 | a) << n) >> 32);
}

static inline uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t n)
{
    return (uint32_t)(((uint64_t)b << 32 | a) >> n);
}

/* bfe: `length` bits from `position`. A signed type extends them by the bit at the field's end, or by the register's
 * sign where the field reaches beyond it. */
static inline uint64_t extract(uint64_t a, uint32_t position, uint32_t length, uint32_t width, bool is_signed)
{
    if (length == 0)
        return 0;
    uint32_t available = position < width ? width - position : 0;
    uint32_t kept = length < available ? length : available;
    uint32_t sign_at = length <= available ? position + length - 1 : width - 1;
    uint64_t field = available > 0 ? a >> position : 0;
    if (kept < 64)
        field &= ((uint64_t)1 << kept) - 1;
    return field | (is_signed && kept < 64 && a >> sign_at & 1 ? ~(uint64_t)0 << kept : 0);
}

/* bfi: the low `length` bits of a placed into b at `position`. */
static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t position, uint32_t length, uint32_t width)
{
    if (position >= width || length == 0)
        return b;
    uint64_t mask = length < 64 ? ((uint64_t)1 << length) - 1 : ~(uint64_t)0;
    mask <<= position;
    return (b & ~mask) | (a << position & mask);
}

static inline uint64_t reverse(uint64_t a)
{
    uint64_t result = 0;
    for (int i = 0; i < 64; i++)
        result |= (a >> i & 1) << (63 - i);
    return result;
}

/* prmt: four selectors of four bits; bit 3 replicates the byte's sign. */
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t selector = selectors >> (4 * i);
        uint32_t byte = bytes >> (8 * (selector & 7)) & 255;
        if (selector & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

/* The selectors that a mode of prmt stands for: f4e, b4e, rc8, ecl, ecr, rc16 = 0..5. */
static inline uint32_t permute_mode(int mode, uint32_t n)
{
    n &= 3;
    uint32_t selectors = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t s = 0;
        switch (mode) {
        case 0: s = n + i; break;
        case 1: s = (n - i) & 7; break;
        case 2: s = n; break;
        case 3: s = i > n ? i : n; break;
        case 4: s = i < n ? i : n; break;
        default: s = (n & 1) * 2 + (i & 1); break;
        }
        selectors |= s << (4 * i);
    }
    return selectors;
}

#endif

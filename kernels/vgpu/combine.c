/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

#include "combine.h"

#include "lane_float.h"

static int64_t sign_extend(uint64_t value, unsigned bytes)
{
    return bytes == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

/* kernels.md 5.2 rule 6: f32 atomics on global memory flush subnormal inputs and results, those on shared memory do
 * not; NaN is canonical. */
static uint64_t add_floating(uint64_t old, uint64_t b, fpo_ptx_type type, bool flush)
{
    if (type == FPO_PTX_F64) {
        double x, y;
        memcpy(&x, &old, sizeof x);
        memcpy(&y, &b, sizeof y);
        x += y;
        memcpy(&old, &x, sizeof x);
        return x != x ? 0x7FFFFFFFFFFFFFFFu : old;
    }
    uint32_t bits[3] = {(uint32_t)old, (uint32_t)b, 0};
    for (int i = 0; i < 3; i++) {
        if (flush && (bits[i] & 0x7F800000) == 0)
            bits[i] &= 0x80000000;
        if (i == 1) {
            float x, y;
            memcpy(&x, &bits[0], sizeof x);
            memcpy(&y, &bits[1], sizeof y);
            x += y;
            memcpy(&bits[2], &x, sizeof x);
            if (x != x)
                bits[2] = 0x7FFFFFFF;
        }
    }
    return bits[2];
}

static bool is_half(fpo_ptx_type type)
{
    return type == FPO_PTX_F16 || type == FPO_PTX_BF16 || type == FPO_PTX_F16X2 || type == FPO_PTX_BF16X2;
}

/* Subnormals are kept (.noftz); one or two values. */
static uint32_t combine_half(fpo_ptx_value op, fpo_ptx_type type, uint32_t old, uint32_t b)
{
    const lane_format *f = type == FPO_PTX_F16 || type == FPO_PTX_F16X2 ? &F16 : &BF16;
    uint32_t result = 0;
    for (unsigned shift = 0; shift < 8 * fpo_ptx_type_bytes(type); shift += 16) {
        uint32_t x = old >> shift & 0xFFFF, y = b >> shift & 0xFFFF;
        uint32_t code = op == FPO_PTX_V_ADD ? (uint32_t)encode_rn(f, odd_add(decode(f, x), decode(f, y)))
                                            : extreme_half(x, y, f, op == FPO_PTX_V_MAX, false);
        result |= (code & 0xFFFF) << shift;
    }
    return result;
}

uint64_t fpo_combine(fpo_ptx_value op, fpo_ptx_type type, uint64_t old, uint64_t b, uint64_t c, bool flush)
{
    if (is_half(type))
        return combine_half(op, type, (uint32_t)old, (uint32_t)b);
    unsigned bytes = fpo_ptx_type_bytes(type);
    bool is_signed = type == FPO_PTX_S32 || type == FPO_PTX_S64;
    bool less = is_signed ? sign_extend(b, bytes) < sign_extend(old, bytes) : b < old;
    switch (op) {
    case FPO_PTX_V_ADD: return type == FPO_PTX_F32 || type == FPO_PTX_F64 ? add_floating(old, b, type, flush) : old + b;
    case FPO_PTX_V_MIN: return less ? b : old;
    case FPO_PTX_V_MAX: return less || b == old ? old : b;
    case FPO_PTX_V_AND: return old & b;
    case FPO_PTX_V_OR: return old | b;
    case FPO_PTX_V_XOR: return old ^ b;
    case FPO_PTX_V_INC: return old >= b ? 0 : old + 1;
    case FPO_PTX_V_DEC: return old == 0 || old > b ? b : old - 1;
    case FPO_PTX_V_CAS: return old == b ? c : old;
    default: return b; /* exch */
    }
}

void fpo_combine_array(fpo_ptx_value op, fpo_ptx_type type, uint8_t *to, const uint8_t *from, uint32_t bytes,
                       bool flush)
{
    if (op == FPO_PTX_V_NONE) {
        memcpy(to, from, bytes);
        return;
    }
    uint32_t size = fpo_ptx_type_bytes(type);
    for (uint32_t i = 0; i + size <= bytes; i += size) {
        uint64_t old = 0, b = 0;
        memcpy(&old, to + i, size);
        memcpy(&b, from + i, size);
        old = fpo_combine(op, type, old, b, 0, flush);
        memcpy(to + i, &old, size);
    }
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensor maps: the driver's encoding (226 maps recorded on an H200 are reproduced by tests) and its inverse. */
#include "tensor_map.h"

#include <string.h>

/* API type -> bits of an element, type of the hardware, tf32 flag. */
static const struct {
    uint8_t bits, hardware;
    bool tf32;
} types[] = {{8, FPO_TENSOR_U8, false},       {16, FPO_TENSOR_U16, false},     {32, FPO_TENSOR_U32, false},
             {32, FPO_TENSOR_S32, false},     {64, FPO_TENSOR_U64, false},     {64, FPO_TENSOR_S64, false},
             {16, FPO_TENSOR_F16, false},     {32, FPO_TENSOR_F32, false},     {64, FPO_TENSOR_F64, false},
             {16, FPO_TENSOR_BF16, false},    {32, FPO_TENSOR_F32_FTZ, false}, {32, FPO_TENSOR_F32, true},
             {32, FPO_TENSOR_F32_FTZ, true},  {4, FPO_TENSOR_U4, false},       {4, FPO_TENSOR_U4_PADDED, false},
             {6, FPO_TENSOR_U6_PADDED, false}};
enum { API_U4_ALIGN8 = 13, API_U4_ALIGN16 = 14, API_U6_ALIGN16 = 15, PADDED_BOX = 128 };

static bool is_acceptable(const fpo_tensor_request *r, int capability)
{
    if (r->type > API_U6_ALIGN16 || (r->type >= API_U4_ALIGN8 && capability < 100))
        return false;
    bool padded = r->type > API_U4_ALIGN8;
    if (r->rank < 1 || r->rank > FPO_BOX_RANK || r->interleave > 2 || (r->interleave != 0 && r->rank < 3) ||
        r->swizzle > 3 || r->l2_promotion > 3 || r->fill > 1 || r->address % 16 != 0 || r->address >> 57 != 0)
        return false;
    bool floating = types[r->type].hardware >= FPO_TENSOR_F16 && types[r->type].hardware < FPO_TENSOR_U4;
    if (r->fill != 0 && !floating)
        return false;
    for (uint32_t i = 0; i < r->rank; i++) {
        if (r->dim[i] == 0 || r->dim[i] > (uint64_t)1 << 32 || r->box[i] == 0 || r->box[i] > 256 ||
            r->element_stride[i] == 0 || r->element_stride[i] > 8)
            return false;
        if (i > 0 && (r->stride[i - 1] % (padded ? 32 : 16) != 0 || r->stride[i - 1] >= (uint64_t)1 << 40))
            return false;
    }
    /* cuda.h of CUDA 13.0 has these rules for the padded types. */
    if (padded)
        return r->address % 32 == 0 && r->dim[0] % PADDED_BOX == 0 && r->box[0] == PADDED_BOX && r->interleave == 0 &&
               (r->swizzle == 0 || r->swizzle == 3);
    uint64_t row = (uint64_t)r->box[0] * types[r->type].bits / 8;
    if (row % 16 != 0 || (r->swizzle != 0 && row > (uint64_t)16 << r->swizzle))
        return false;
    return r->type != API_U4_ALIGN8 || r->dim[0] % 2 == 0;
}

static void put(uint8_t *map, unsigned word, uint64_t value)
{
    memcpy(map + 8 * word, &value, sizeof value);
}

bool fpo_tensor_map_encode(const fpo_tensor_request *r, int capability, uint8_t map[FPO_TENSOR_MAP_BYTES])
{
    if (!is_acceptable(r, capability))
        return false;
    uint64_t stride[FPO_BOX_RANK - 1] = {0}, dim[FPO_BOX_RANK] = {0}, box[FPO_BOX_RANK] = {0};
    uint64_t box_bits = types[r->type].bits, element_strides = 0;
    for (uint32_t i = 0; i < r->rank; i++) {
        dim[i] = (uint32_t)(r->dim[i] - 1);
        box[i] = r->box[i] - 1;
        box_bits *= r->box[i] / r->element_stride[i];
        element_strides |= (uint64_t)(r->element_stride[i] - 1) << (32 + 3 * i);
        if (i > 0)
            stride[i - 1] = r->stride[i - 1];
    }
    memset(map, 0, FPO_TENSOR_MAP_BYTES);
    put(map, 0, r->address);
    put(map, 1,
        (uint64_t)(r->rank - 1) << 4 | (uint64_t)types[r->type].hardware << 7 | (uint64_t)r->interleave << 11 |
            (uint64_t)r->swizzle << 13 | (uint64_t)r->fill << 15 | (uint64_t)types[r->type].tf32 << 16 |
            (uint64_t)r->l2_promotion << 17 | (uint64_t)(uint32_t)(stride[0] >> 4) << 32);
    put(map, 2, (uint32_t)(stride[1] >> 4) | (uint64_t)(uint32_t)(stride[2] >> 4) << 32);
    uint64_t high = 0;
    for (int i = 0; i < FPO_BOX_RANK - 1; i++)
        high |= (stride[i] >> 36 & 15) << (32 + 4 * i);
    put(map, 3, (uint32_t)(stride[3] >> 4) | high);
    put(map, 4, dim[0] | dim[1] << 32);
    put(map, 5, dim[2] | dim[3] << 32);
    put(map, 6, dim[4] | element_strides | box[0] << 56);
    put(map, 7, box[1] | box[2] << 8 | box[3] << 16 | box[4] << 24);
    put(map, 8, box_bits / 8);
    put(map, 9, r->swizzle == 0 ? 16 : (uint64_t)128 << r->swizzle);
    return true;
}

static uint64_t get(const uint8_t *map, unsigned word)
{
    uint64_t value;
    memcpy(&value, map + 8 * word, sizeof value);
    return value;
}

const char *fpo_tensor_map_decode(const uint8_t map[FPO_TENSOR_MAP_BYTES], fpo_tensor_map *m)
{
    static const uint8_t bits[16] = {8, 16, 32, 32, 64, 64, 16, 32, 32, 64, 16, 4, 4, 6};
    uint64_t w1 = get(map, 1), w3 = get(map, 3), w6 = get(map, 6), w7 = get(map, 7);
    memset(m, 0, sizeof *m);
    m->address = get(map, 0);
    m->rank = (uint32_t)(w1 >> 4 & 7) + 1;
    m->type = w1 >> 7 & 15;
    m->bits = bits[m->type];
    m->padded = m->type == FPO_TENSOR_U4_PADDED || m->type == FPO_TENSOR_U6_PADDED;
    m->swizzle = w1 >> 13 & 3;
    m->nan_fill = w1 >> 15 & 1;
    if (m->rank > FPO_BOX_RANK)
        return "rank";
    if (m->bits == 0)
        return "element type";
    if ((w1 >> 11 & 3) != 0)
        return "interleave";
    if ((w6 >> 32 & 0x7FFF) != 0)
        return "element strides";
    const uint64_t low[] = {w1 >> 32, get(map, 2) & 0xFFFFFFFF, get(map, 2) >> 32, w3 & 0xFFFFFFFF};
    const uint64_t dim[] = {get(map, 4) & 0xFFFFFFFF, get(map, 4) >> 32, get(map, 5) & 0xFFFFFFFF, get(map, 5) >> 32,
                            w6 & 0xFFFFFFFF};
    for (unsigned i = 0; i < FPO_BOX_RANK; i++) {
        m->dim[i] = dim[i] + 1;
        m->box[i] = (uint32_t)((i == 0 ? w6 >> 56 : w7 >> (8 * (i - 1))) & 255) + 1;
        if (i > 0)
            m->stride[i] = (low[i - 1] | (w3 >> (32 + 4 * (i - 1)) & 15) << 32) << 4;
    }
    return NULL;
}

uint64_t fpo_tensor_box_bytes(const fpo_tensor_map *m)
{
    uint64_t bits = m->bits;
    for (unsigned i = 0; i < m->rank; i++)
        bits *= m->box[i];
    return bits / 8;
}

uint32_t fpo_tensor_row_bytes(const fpo_tensor_map *m)
{
    return m->padded ? m->box[0] : fpo_tensor_packed_row_bytes(m);
}

uint32_t fpo_tensor_packed_row_bytes(const fpo_tensor_map *m)
{
    return m->box[0] * m->bits / 8;
}

static void put_bits(uint8_t *map, unsigned word, unsigned start, unsigned bits, uint64_t value)
{
    uint64_t mask = bits == 64 ? UINT64_MAX : (((uint64_t)1 << bits) - 1) << start;
    put(map, word, (get(map, word) & ~mask) | (value << start & mask));
}

static const char *set_stride(uint8_t *map, uint32_t dimension, uint64_t bytes)
{
    static const uint8_t word[] = {1, 2, 2, 3}, start[] = {32, 0, 32, 0};
    if (dimension > 3 || bytes % 16 != 0 || bytes >= (uint64_t)1 << 40)
        return "four strides, each a multiple of 16 below 2^40";
    put_bits(map, word[dimension], start[dimension], 32, bytes >> 4);
    put_bits(map, 3, 32 + 4 * dimension, 4, bytes >> 36);
    return NULL;
}

/* One of five numbers that are stored less 1. */
static const char *set_dimension(uint8_t *map, fpo_tensor_field field, uint32_t d, uint64_t value)
{
    static const char problem[] = "a dimension from 0 to 4, and at least 1, at most 2^32, 256 or 8";
    if (d >= FPO_BOX_RANK || value == 0)
        return problem;
    value--;
    if (field == FPO_TENSOR_SET_DIM) {
        put_bits(map, 4 + d / 2, d % 2 * 32, 32, value);
    } else if (field == FPO_TENSOR_SET_BOX) {
        if (value > 255)
            return problem;
        put_bits(map, d == 0 ? 6 : 7, d == 0 ? 56 : 8 * (d - 1), 8, value);
    } else {
        if (value > 7)
            return problem;
        put_bits(map, 6, 32 + 3 * d, 3, value);
    }
    return NULL;
}

/* elemtype of tensormap.replace: the hardware's order up to bf16, then tf32 with and without subnormals, then the
 * packed types. */
static const struct {
    uint8_t hardware;
    bool tf32;
} elemtypes[] = {
    {FPO_TENSOR_U8, false},      {FPO_TENSOR_U16, false}, {FPO_TENSOR_U32, false},       {FPO_TENSOR_S32, false},
    {FPO_TENSOR_U64, false},     {FPO_TENSOR_S64, false}, {FPO_TENSOR_F16, false},       {FPO_TENSOR_F32, false},
    {FPO_TENSOR_F32_FTZ, false}, {FPO_TENSOR_F64, false}, {FPO_TENSOR_BF16, false},      {FPO_TENSOR_F32, true},
    {FPO_TENSOR_F32_FTZ, true},  {FPO_TENSOR_U4, false},  {FPO_TENSOR_U4_PADDED, false}, {FPO_TENSOR_U6_PADDED, false}};

const char *fpo_tensor_map_set(uint8_t map[FPO_TENSOR_MAP_BYTES], fpo_tensor_field field, uint32_t dimension,
                               uint64_t value)
{
    static const struct {
        uint8_t most, start, bits;
        const char *problem;
    } small[] = {[FPO_TENSOR_SET_RANK] = {4, 4, 3, "from 0, for one dimension, to 4"},
                 [FPO_TENSOR_SET_INTERLEAVE] = {2, 11, 2, "0 to 2"},
                 [FPO_TENSOR_SET_SWIZZLE] = {3, 13, 2, "0 to 3"},
                 [FPO_TENSOR_SET_FILL] = {1, 15, 1, "0 or 1"}};
    switch (field) {
    case FPO_TENSOR_SET_ADDRESS: put(map, 0, value); return NULL;
    case FPO_TENSOR_SET_STRIDE: return set_stride(map, dimension, value);
    case FPO_TENSOR_SET_DIM:
    case FPO_TENSOR_SET_BOX:
    case FPO_TENSOR_SET_ELEMENT_STRIDE: return set_dimension(map, field, dimension, value);
    case FPO_TENSOR_SET_TYPE:
        if (value >= sizeof elemtypes / sizeof elemtypes[0])
            return "0 to 15";
        put_bits(map, 1, 7, 4, elemtypes[value].hardware);
        put_bits(map, 1, 16, 1, elemtypes[value].tf32);
        return NULL;
    default:
        if (value > small[field].most)
            return small[field].problem;
        put_bits(map, 1, small[field].start, small[field].bits, value);
        return NULL;
    }
}

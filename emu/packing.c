/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Element packings: the one formula over the registry's numbers, and the copies both ways. */
#include <fp4oracle/layout.h>

#include <string.h>

static const fpo_packing_info packings[FPO_PACKING_COUNT] = {
#define DIGITS(...)                                                                                                    \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define FPO_PACKING(ID, name, width, codes, bytes, first, digits, summary)                                             \
    [FPO_PACKING_##ID] = {name, summary, width, codes, bytes, first, digits},
#include <fp4oracle/packings.inc>
#undef FPO_PACKING
#undef DIGITS
};

const fpo_packing_info *fpo_packing_describe(fpo_packing packing)
{
    return (unsigned)packing < FPO_PACKING_COUNT ? &packings[packing] : NULL;
}

const char *fpo_packing_name(fpo_packing packing)
{
    return (unsigned)packing < FPO_PACKING_COUNT ? packings[packing].name : "?";
}

const char *fpo_packing_summary(fpo_packing packing)
{
    return (unsigned)packing < FPO_PACKING_COUNT ? packings[packing].summary : "?";
}

fpo_packing fpo_packing_by_name(const char *name)
{
    int packing = 0;
    while (packing < FPO_PACKING_COUNT && strcmp(packings[packing].name, name) != 0)
        packing++;
    return (fpo_packing)packing;
}

static bool concerns(const fpo_packing_info *info, const fpo_format_info *format)
{
    return info->width == format->bits || (info->width == 0 && format->bits <= 8);
}

int64_t fpo_packing_row_bytes(fpo_packing packing, fpo_format format, int64_t k)
{
    const fpo_packing_info *info = &packings[packing];
    const fpo_format_info *f = fpo_format_describe(format);
    int64_t codes = 1, bytes = f->storage_bytes, size;
    if (concerns(info, f)) {
        codes = info->codes;
        bytes = info->bytes;
    }
    int64_t groups = k / codes + (k % codes != 0);
    return k < 0 || __builtin_mul_overflow(groups, bytes, &size) ? -1 : size;
}

/* Lowest bit of code `i` of a group. */
static int bit_of(const fpo_packing_info *info, int i)
{
    int bit = info->first;
    for (int d = 0; d < FPO_DIGITS && info->digits[d].extent != 0; d++) {
        bit += i % info->digits[d].extent * info->digits[d].stride;
        i /= info->digits[d].extent;
    }
    return bit;
}

/* Two a byte, the usual case, without the general formula. `even` is the shift of an even code. */
static void pack_nibbles(int64_t k, const uint8_t *codes, uint8_t *packed, int even)
{
    int odd = 4 - even;
    for (int64_t i = 0; i + 1 < k; i += 2)
        packed[i / 2] = (uint8_t)((codes[i] & 15) << even | (codes[i + 1] & 15) << odd);
    if (k % 2 != 0)
        packed[k / 2] = (uint8_t)((codes[k - 1] & 15) << even);
}

static void unpack_nibbles(int64_t k, const uint8_t *packed, uint8_t *codes, int even)
{
    int odd = 4 - even;
    for (int64_t i = 0; i + 1 < k; i += 2) {
        codes[i] = packed[i / 2] >> even & 15;
        codes[i + 1] = packed[i / 2] >> odd & 15;
    }
    if (k % 2 != 0)
        codes[k - 1] = packed[k / 2] >> even & 15;
}

static bool is_nibbles(const fpo_packing_info *info)
{
    return info->width == 4 && info->codes == 2 && info->bytes == 1;
}

void fpo_pack_row(fpo_packing packing, fpo_format format, int64_t k, const void *codes, void *packed)
{
    const fpo_packing_info *info = &packings[packing];
    const fpo_format_info *f = fpo_format_describe(format);
    if (!concerns(info, f)) {
        memcpy(packed, codes, (size_t)k * f->storage_bytes);
        return;
    }
    if (is_nibbles(info)) {
        pack_nibbles(k, codes, packed, info->first);
        return;
    }
    const uint8_t *from = codes;
    uint8_t *to = packed;
    memset(to, 0, (size_t)fpo_packing_row_bytes(packing, format, k));
    for (int64_t i = 0; i < k; i++) {
        int bit = bit_of(info, (int)(i % info->codes));
        uint8_t *at = to + i / info->codes * info->bytes + bit / 8;
        unsigned code = (from[i] & f->code_mask) << bit % 8;
        at[0] |= (uint8_t)code;
        if (code > 0xFF)
            at[1] |= (uint8_t)(code >> 8);
    }
}

void fpo_unpack_row(fpo_packing packing, fpo_format format, int64_t k, const void *packed, void *codes)
{
    const fpo_packing_info *info = &packings[packing];
    const fpo_format_info *f = fpo_format_describe(format);
    if (!concerns(info, f)) {
        memcpy(codes, packed, (size_t)k * f->storage_bytes);
        return;
    }
    if (is_nibbles(info)) {
        unpack_nibbles(k, packed, codes, info->first);
        return;
    }
    const uint8_t *from = packed;
    uint8_t *to = codes;
    for (int64_t i = 0; i < k; i++) {
        int bit = bit_of(info, (int)(i % info->codes));
        const uint8_t *at = from + i / info->codes * info->bytes + bit / 8;
        unsigned word = at[0];
        if (bit % 8 + f->bits > 8)
            word |= (unsigned)at[1] << 8;
        to[i] = (uint8_t)(word >> bit % 8 & f->code_mask);
    }
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Fat binaries: a header, then entries with headers of their own. An entry's data are plain, LZ4 or zstd. */
#include "fatbin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define CONTAINER 0xBA55ED50u
#define ZSTD_FRAME 0xFD2FB528u
enum { KIND_PTX = 1, ENTRY_HEADER = 64 };

static uint64_t field(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

/* One LZ4 block; false unless it fills `out` exactly. */
static int unpack_lz4(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    const uint8_t *end = in + in_size;
    size_t at = 0;
    while (in < end) {
        unsigned token = *in++;
        size_t literals = token >> 4, match = token & 15;
        for (unsigned more = 255; literals >= 15 && more == 255 && in < end;)
            literals += more = *in++;
        if (literals > (size_t)(end - in) || literals > out_size - at)
            return 0;
        memcpy(out + at, in, literals);
        in += literals;
        at += literals;
        if (in == end)
            break;
        if (end - in < 2)
            return 0;
        size_t distance = in[0] | (size_t)in[1] << 8;
        in += 2;
        for (unsigned more = 255; match >= 15 && more == 255 && in < end;)
            match += more = *in++;
        match += 4;
        if (distance == 0 || distance > at || match > out_size - at)
            return 0;
        for (; match > 0; match--, at++)
            out[at] = out[at - distance];
    }
    return at == out_size;
}

static int take_entry(const uint8_t *header, uint32_t header_size, uint64_t size,
                      int (*take)(void *, const char *, size_t), void *context, const char **problem)
{
    const uint8_t *data = header + header_size;
    uint64_t packed = field(header + 16, 4), unpacked = field(header + 56, 8);
    if (packed == 0 || unpacked == 0)
        return take(context, (const char *)data, size);
    char *text = packed <= size && unpacked < (uint64_t)1 << 32 ? malloc(unpacked + 1) : NULL;
    int ok = text != NULL;
    if (ok && field(data, 4) == ZSTD_FRAME)
        ok = ZSTD_decompress(text, unpacked, data, packed) == unpacked;
    else if (ok)
        ok = unpack_lz4(data, packed, (uint8_t *)text, unpacked);
    if (!ok)
        *problem = "its PTX cannot be unpacked";
    else
        ok = take(context, text, unpacked);
    free(text);
    return ok;
}

int fpo_fatbin_each(const void *image, int (*take)(void *, const char *, size_t), void *context, const char **problem)
{
    const uint8_t *header = image;
    *problem = NULL;
    if (field(header, 4) != CONTAINER) {
        *problem = "its magic number is not that of a fat binary";
        return 0;
    }
    const uint8_t *at = header + field(header + 6, 2), *end = at + field(header + 8, 8);
    while (end - at >= ENTRY_HEADER) {
        uint32_t kind = (uint32_t)field(at, 2), header_size = (uint32_t)field(at + 4, 4);
        uint64_t size = field(at + 8, 8);
        if (header_size < ENTRY_HEADER || header_size > (uint64_t)(end - at) ||
            size > (uint64_t)(end - at) - header_size) {
            *problem = "an entry is longer than the container";
            return 0;
        }
        if (kind == KIND_PTX && !take_entry(at, header_size, size, take, context, problem))
            return 0;
        at += header_size + size;
    }
    return 1;
}

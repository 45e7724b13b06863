/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* An operand to numbers: where a code and its scale are, and their product. */
#include "cpu_reference.h"

#include <string.h>

static uint32_t load(const void *memory, int64_t index, int bits)
{
    const uint8_t *bytes = (const uint8_t *)memory + index * (bits / 8);
    uint32_t code = 0;
    for (int i = 0; i < bits / 8; i++) {
        code |= (uint32_t)bytes[i] << 8 * i;
    }
    return code;
}

static uint32_t load_element(const cpu_operand *operand, int64_t row, int64_t k, int bits)
{
    const uint8_t *line = (const uint8_t *)operand->codes + row * operand->line;
    if (bits > 4) {
        return load(line, k, bits);
    }
    int high = (k & 1) != ((operand->faults & CPU_SWAP_NIBBLES) != 0);
    return high ? line[k / 2] >> 4 : line[k / 2] & 15u;
}

/* The 128x4 tiles of cuBLASLt and CUTLASS: 512 bytes hold 128 rows of 4 scales, tiles along K first. */
static int64_t offset_128x4(int64_t row, int64_t column, int64_t columns)
{
    int64_t tile = row / 128 * ((columns + 3) / 4) + column / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column % 4;
}

typedef struct scale_reader {
    const void *scales;
    cpu_decode decode;
    int bits, tiled;
    int64_t columns, end;
} scale_reader;

static scale_reader reader_of(const cpu_operand *operand)
{
    const fpo_kernel_operand *kind = operand->kind;
    int as_ue8m0 = (operand->faults & CPU_SCALES_AS_UE8M0) != 0,
        as_ue4m3 = (operand->faults & CPU_SCALES_AS_UE4M3) != 0;
    int tiled = kind->scale_layout != NULL && strcmp(kind->scale_layout, "128x4") == 0;
    scale_reader reader = {.scales = operand->scales};
    reader.decode = cpu_decode_of(as_ue8m0 ? "ue8m0" : as_ue4m3 ? "ue4m3" : kind->scale, &reader.bits);
    reader.tiled = (operand->faults & CPU_READS_128X4) != 0 || (tiled && (operand->faults & CPU_READS_LINEAR) == 0);
    reader.columns = kind->scale_k > 0 ? (operand->k + kind->scale_k - 1) / kind->scale_k : 1;
    reader.end = operand->scale_bytes / (reader.bits / 8);
    return reader;
}

static float scale_at(const scale_reader *reader, int64_t row, int64_t column)
{
    int64_t index = reader->tiled ? offset_128x4(row, column, reader->columns) : row * reader->columns + column;
    /* A wrong layout reaches beyond the end: taken as zero bytes, so that the fault is the same every time. */
    return reader->decode(index < reader->end ? load(reader->scales, index, reader->bits) : 0);
}

static int64_t scale_row(const fpo_kernel_operand *kind, int64_t row)
{
    return kind->scale_rows > 0 ? row / kind->scale_rows : 0;
}

void cpu_dequantise(const cpu_operand *operand, float *numbers)
{
    const fpo_kernel_operand *kind = operand->kind;
    int bits = 0;
    cpu_decode decode = cpu_decode_of(kind->element, &bits);
    int scaled = kind->scale != NULL && kind->scale_k > 0 && (operand->faults & CPU_IGNORES_SCALES) == 0;
    scale_reader reader = {0};
    if (scaled) {
        reader = reader_of(operand);
    }
    for (int64_t row = 0; row < operand->rows; row++) {
        float scale = 1.0f;
        for (int64_t k = 0; k < operand->k; k++) {
            if (scaled && k % kind->scale_k == 0) {
                scale = scale_at(&reader, scale_row(kind, row), k / kind->scale_k);
            }
            numbers[row * operand->k + k] = decode(load_element(operand, row, k, bits)) * scale;
        }
    }
}

float cpu_row_factor(const cpu_operand *operand, int64_t row)
{
    const fpo_kernel_operand *kind = operand->kind;
    if (kind->scale == NULL || kind->scale_k > 0 || (operand->faults & CPU_IGNORES_SCALES) != 0) {
        return 1.0f;
    }
    scale_reader reader = reader_of(operand);
    return scale_at(&reader, scale_row(kind, row), 0);
}

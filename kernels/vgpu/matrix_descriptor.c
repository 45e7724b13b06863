/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Where a descriptor's elements lie: see matrix_descriptor.h. */
#include "matrix_descriptor.h"
#include "shadow.h"

enum { ATOM_LINES = 8, GRANULE = 16 };

static uint32_t field(uint64_t descriptor, int bit)
{
    return (uint32_t)(descriptor >> bit & 0x3FFF) * GRANULE;
}

static fpo_matrix offsets(uint64_t descriptor)
{
    return (fpo_matrix){.start = field(descriptor, 0),
                        .leading = field(descriptor, 16),
                        .stride = field(descriptor, 32),
                        .unit = GRANULE,
                        .used = GRANULE};
}

const char *fpo_matrix_of_wgmma(uint64_t descriptor, fpo_matrix *matrix)
{
    static const uint32_t spans[] = {16, 128, 64, 32};
    *matrix = offsets(descriptor);
    matrix->span = spans[descriptor >> 62];
    if ((descriptor >> 49 & 7) != 0)
        return "base offset (bits 49-51)";
    if ((descriptor >> 14 & 3) != 0 || (descriptor >> 30 & 3) != 0 || (descriptor >> 46 & 7) != 0 ||
        (descriptor >> 52 & 0x3FF) != 0)
        return "reserved bits (14-15, 30-31, 46-48, 52-61)";
    return NULL;
}

const char *fpo_matrix_of_tcgen05(uint64_t descriptor, fpo_matrix *matrix)
{
    static const uint32_t spans[] = {16, 128, 128, 0, 64, 0, 32, 0};
    uint32_t swizzle = (uint32_t)(descriptor >> 61);
    *matrix = offsets(descriptor);
    matrix->span = spans[swizzle];
    matrix->tcgen05 = true;
    if (swizzle == 1)
        matrix->unit = 2 * GRANULE;
    if (matrix->span == 0)
        return "swizzle (bits 61-63)";
    if ((descriptor >> 46 & 7) != 1)
        return "constant in bits 46-48, which is not 1";
    if ((descriptor >> 49 & 7) != 0)
        return "base offset (bits 49-51)";
    if ((descriptor >> 52 & 1) != 0)
        return "absolute leading address (bit 52)";
    if ((descriptor >> 53 & 0xFF) != 0 || (descriptor >> 14 & 3) != 0 || (descriptor >> 30 & 3) != 0)
        return "reserved bits (14-15, 30-31, 53-60)";
    return NULL;
}

/* The swizzle exchanges units by the address bits above those of a row of 128 bytes. */
static uint32_t swizzled(const fpo_matrix *matrix, uint32_t address)
{
    uint32_t units = matrix->span / matrix->unit;
    return address ^ (address >> 7 & (units - 1)) * matrix->unit;
}

uint32_t fpo_matrix_address(const fpo_matrix *matrix, bool k_contiguous, uint32_t line, uint32_t unit)
{
    uint32_t lines = matrix->unit == GRANULE ? ATOM_LINES : ATOM_LINES / 2, per_row = matrix->span / GRANULE,
             within = line % lines * matrix->span, atom = line / lines, address;
    if (per_row == 1) /* the two offsets change places between the two orders */
        address = within + (k_contiguous ? atom * matrix->stride + unit * matrix->leading
                                         : unit * matrix->stride + atom * matrix->leading);
    else if (k_contiguous)
        address = within + atom * matrix->stride + unit * GRANULE;
    else
        address = within + atom * matrix->stride + unit / per_row * matrix->leading + unit % per_row * GRANULE;
    return swizzled(matrix, matrix->start + address);
}

bool fpo_matrix_fetch(fpo_warp *warp, const fpo_cta *cta, const fpo_matrix *matrix, bool k_contiguous, uint32_t line,
                      uint32_t unit, uint8_t bytes[16], int lane)
{
    uint32_t address = fpo_matrix_address(matrix, k_contiguous, line, unit);
    const uint8_t *at = fpo_locate_in(warp, cta, address, GRANULE, GRANULE, lane);
    if (at == NULL)
        return false;
    if (matrix->tcgen05)
        fpo_check_core_read(warp, cta, (uint32_t)(at - cta->shared), matrix->used, lane);
    memcpy(bytes, at, GRANULE);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Every scale code, NaN included: row r has code r, modulo their number, in all its blocks; rows of A and of B alike,
 * so that with as many rows as codes every pair meets. f32 scales have too many codes: those at which readers differ.
 * Elements are positive, so that neither cancellation nor a zero hides a scale. */
#include "pattern.h"

static const uint32_t f32_codes[] = {
    0x3F400000,                         /* 0.75: not a power of two */
    0x3F7FFFFF,                         /* 1 - 2^-24 */
    0x3F800001,                         /* 1 + 2^-23 */
    0x40490FDB,                         /* pi */
    0x3F800000,                         /* 1 */
    0x3F000000,                         /* 0.5 */
    0x43E00000,                         /* 448 */
    0xBF400000,                         /* -0.75 */
    0x00800000,                         /* the smallest normal number */
    0x007FFFFF,                         /* the largest subnormal one */
    0x00000001,                         /* the smallest */
    0x00000000, 0x80000000, 0x7F7FFFFF, /* the largest */
    0x5F800000,                         /* 2^64 */
    0x1F800000,                         /* 2^-64 */
    0x3EAAAAAB,                         /* 1/3 */
    0x3FFFFFFF,                         /* 2 - 2^-23 */
    0x3D4CCCCD,                         /* 0.05 */
    0x7F800000,                         /* infinity */
    0x7FC00000,                         /* NaN */
};
enum { F32_CODES = sizeof f32_codes / sizeof f32_codes[0] };

static uint32_t element_at(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    return fpo_pattern_positive(p, fpo_pattern_element_bits(p, row, column));
}

static uint32_t scale_at(const void *context, int64_t row, int64_t column)
{
    const fpo_pattern *p = context;
    (void)column;
    uint64_t number = (uint64_t)row + p->seed;
    if (p->view->scale.format == FPO_F32)
        return f32_codes[number % F32_CODES];
    /* Few rows of them have 128x128: the smallest, and NaN. */
    if (p->view->scale.block_rows > 1)
        number = (uint64_t)row * 255 + p->seed;
    return (uint32_t)number & fpo_format_describe(p->view->scale.format)->code_mask;
}

fpo_status fpo_generate_scale_codes(fpo_vector *vector, const fpo_generate *wanted, fpo_error *error)
{
    fpo_status status = fpo_pattern_narrow(wanted, "scale_codes", error);
    return status == FPO_OK ? fpo_pattern_fill(vector, wanted, element_at, scale_at, 0, error) : status;
}

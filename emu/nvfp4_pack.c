/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* NVFP4 operands as the vector kernels take them. */
#include "exact.h"
#include "nvfp4.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Twice the number. */
static int8_t twice(uint8_t code)
{
    static const int8_t values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    return values[code & 15];
}

/* A ue4m3 scale: its number in units of 2^-9, and 2^exponent, where a subnormal has the exponent -6. NaN counts as 0:
 * its row never gets as far as the sums. */
typedef struct scale_digits {
    int32_t units;
    double power;
} scale_digits;

static scale_digits scale_of(uint8_t code)
{
    int exponent = code >> 3 & 15;
    int mantissa = code & 7;
    scale_digits s = {0, 0};
    if ((code & 0x7F) == 0x7F)
        return s;
    s.units = exponent == 0 ? mantissa : (8 + mantissa) << (exponent - 1);
    s.power = s.units == 0 ? 0 : ldexp(1, (exponent == 0 ? 1 : exponent) - 7);
    return s;
}

/* ---- reading one row ---- */

typedef struct row_reader {
    const fpo_prepared *operand;
    const uint8_t *codes, *scales;
} row_reader;

static row_reader reader_of(const fpo_prepared *operand, int64_t row)
{
    return (row_reader){operand, (const uint8_t *)operand->codes + row * operand->k,
                        (const uint8_t *)operand->scales + fpo_scale_index(operand, row, 0)};
}

static int8_t element_at(const row_reader *r, int64_t k)
{
    return k < r->operand->k ? twice(r->codes[k]) : 0;
}

static scale_digits scale_at(const row_reader *r, int64_t block)
{
    return scale_of(block < r->operand->scale_columns ? r->scales[block] : 0);
}

/* ---- A ---- */

static void pack_row(fpo_nvfp4 *packed, const fpo_prepared *a, int64_t row)
{
    fpo_nvfp4_rows *to = &packed->a;
    row_reader reader = reader_of(a, row);
    int64_t blocks = packed->steps * FPO_NVFP4_BLOCKS;
    int8_t *elements = to->elements + row * packed->steps * FPO_NVFP4_STEP;
    for (int64_t block = 0; block < blocks; block++) {
        int sum = 0;
        for (int64_t k = block * FPO_NVFP4_BLOCK; k < (block + 1) * FPO_NVFP4_BLOCK; k++) {
            elements[k] = element_at(&reader, k);
            sum += elements[k];
        }
        scale_digits scale = scale_at(&reader, block);
        to->corrections[row * blocks + block] = -FPO_NVFP4_OFFSET * sum;
        to->scales[row * blocks + block] = scale.units;
        to->largest_scale[row] = fmax(to->largest_scale[row], scale.power);
        if (scale.power > 0)
            to->smallest_scale[row] = fmin(to->smallest_scale[row], scale.power);
    }
}

/* ---- B ---- */

static void pack_column(fpo_nvfp4 *packed, const fpo_prepared *b, int64_t panel, int64_t j)
{
    fpo_nvfp4_panels *to = &packed->b;
    int64_t column = panel * FPO_NVFP4_COLUMNS + j;
    row_reader reader = reader_of(b, column);
    int64_t blocks = packed->steps * FPO_NVFP4_BLOCKS;
    uint8_t *elements = to->elements + panel * packed->steps * FPO_NVFP4_STEP * FPO_NVFP4_COLUMNS;
    for (int64_t k = 0; k < packed->steps * FPO_NVFP4_STEP; k++)
        elements[(k / 4 * FPO_NVFP4_COLUMNS + j) * 4 + k % 4] = (uint8_t)(element_at(&reader, k) + FPO_NVFP4_OFFSET);
    for (int64_t block = 0; block < blocks; block++) {
        scale_digits scale = scale_at(&reader, block);
        to->scales[(panel * blocks + block) * FPO_NVFP4_COLUMNS + j] = scale.units;
        to->largest_scale[panel] = fmax(to->largest_scale[panel], scale.power);
        if (scale.power > 0)
            to->smallest_scale[panel] = fmin(to->smallest_scale[panel], scale.power);
    }
}

static void pack_panel(fpo_nvfp4 *packed, const fpo_prepared *b, int64_t panel)
{
    for (int64_t j = 0; j < FPO_NVFP4_COLUMNS && panel * FPO_NVFP4_COLUMNS + j < b->rows; j++)
        pack_column(packed, b, panel, j);
}

/* ---- both ---- */

/* Zeroed memory for count * size bytes, aligned for the widest vectors; NULL where there is none. */
static void *allocate(int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > (SIZE_MAX - 64) / size)
        return NULL;
    size_t bytes = ((size_t)count * size + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes == 0 ? 64 : bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

static bool allocate_all(fpo_nvfp4 *p, int64_t rows, int64_t panels)
{
    int64_t k = p->steps * FPO_NVFP4_STEP;
    int64_t blocks = p->steps * FPO_NVFP4_BLOCKS;
    p->a.elements = allocate(rows * k, 1);
    p->a.corrections = allocate(rows * blocks, sizeof *p->a.corrections);
    p->a.scales = allocate(rows * blocks, sizeof *p->a.scales);
    p->a.smallest_scale = allocate(rows, sizeof *p->a.smallest_scale);
    p->a.largest_scale = allocate(rows, sizeof *p->a.largest_scale);
    p->b.elements = allocate(panels * k * FPO_NVFP4_COLUMNS, 1);
    p->b.scales = allocate(panels * blocks * FPO_NVFP4_COLUMNS, sizeof *p->b.scales);
    p->b.smallest_scale = allocate(panels, sizeof *p->b.smallest_scale);
    p->b.largest_scale = allocate(panels, sizeof *p->b.largest_scale);
    return p->a.elements != NULL && p->a.corrections != NULL && p->a.scales != NULL && p->a.smallest_scale != NULL &&
           p->a.largest_scale != NULL && p->b.elements != NULL && p->b.scales != NULL && p->b.smallest_scale != NULL &&
           p->b.largest_scale != NULL;
}

fpo_nvfp4 *fpo_nvfp4_pack(const fpo_gemm_context *context, int threads)
{
    if (context->isa == FPO_ISA_PORTABLE || !fpo_fixed64_fits(context))
        return NULL;
    int64_t rows = (context->a.rows + FPO_NVFP4_ROWS - 1) / FPO_NVFP4_ROWS * FPO_NVFP4_ROWS;
    int64_t panels = (context->b.rows + FPO_NVFP4_COLUMNS - 1) / FPO_NVFP4_COLUMNS;
    fpo_nvfp4 *packed = calloc(1, sizeof *packed);
    if (packed == NULL)
        return NULL;
    packed->steps = (context->a.k + FPO_NVFP4_STEP - 1) / FPO_NVFP4_STEP;
    if (!allocate_all(packed, rows, panels)) {
        fpo_nvfp4_free(packed);
        return NULL;
    }
    for (int64_t row = 0; row < rows; row++)
        packed->a.smallest_scale[row] = INFINITY;
    for (int64_t panel = 0; panel < panels; panel++)
        packed->b.smallest_scale[panel] = INFINITY;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static) nowait
        for (int64_t row = 0; row < context->a.rows; row++)
            pack_row(packed, &context->a, row);
#pragma omp for schedule(static)
        for (int64_t panel = 0; panel < panels; panel++)
            pack_panel(packed, &context->b, panel);
    }
    return packed;
}

void fpo_nvfp4_free(fpo_nvfp4 *packed)
{
    if (packed == NULL)
        return;
    void *all[] = {packed->a.elements,       packed->a.corrections,    packed->a.scales,
                   packed->a.smallest_scale, packed->a.largest_scale,  packed->b.elements,
                   packed->b.scales,         packed->b.smallest_scale, packed->b.largest_scale};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(packed);
}

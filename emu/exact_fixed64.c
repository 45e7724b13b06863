/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* NVFP4 sums in 64-bit fixed point. An e2m1 number is an integer of at most 12 in units of 2^-1, a ue4m3 scale one of
 * at most 448 * 512 in units of 2^-9. So a block of 16 products is at most 16 * 144 = 2304 (12 bits, exact in int16),
 * times one scale at most 2304 * 229376 < 2^30 (exact in int32), times the other below 2^47 (exact in int64). */
#include "exact.h"

#include <stdlib.h>

enum {
    BLOCK = 16,
    LANES = 8,    /* int16 in one vector of 16 bytes */
    COLUMNS = 16, /* of one panel of B */
    ROWS = 4,     /* of A that share what is loaded of B */
    MAX_BLOCK = BLOCK * 12 * 12,
    MAX_SCALE = 448 * 512
};

/* Blocks whose sum cannot leave int64: 76,087, K up to 1,217,392. */
static const int64_t max_blocks = INT64_MAX / ((int64_t)MAX_BLOCK * MAX_SCALE * MAX_SCALE);

typedef int16_t lanes __attribute__((vector_size(2 * LANES)));

static bool is_nvfp4(const fpo_prepared *p)
{
    return p->element == FPO_E2M1 && p->scale.format == FPO_UE4M3 && p->scale.block_k == BLOCK;
}

bool fpo_fixed64_fits(const fpo_gemm_context *context)
{
    return is_nvfp4(&context->a) && is_nvfp4(&context->b) && context->a.scale_columns <= max_blocks;
}

/* Twice the number, in int16. */
static int16_t twice(uint8_t code)
{
    static const int8_t values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    return values[code & 15];
}

/* The scale in units of 2^-9; 0 for NaN. */
static int32_t scale_units(uint8_t code)
{
    int32_t exponent = code >> 3 & 15, mantissa = code & 7;
    if ((code & 0x7F) == 0x7F)
        return 0;
    return exponent == 0 ? mantissa : (8 + mantissa) << (exponent - 1);
}

/* COLUMNS rows of B, interleaved: b[k][column], scales[block][column]; K padded to whole blocks with zeros. */
typedef struct panel {
    lanes (*b)[COLUMNS / LANES];
    int32_t (*scales)[COLUMNS];
} panel;

/* ROWS rows of A: a[k][row], scales[block][row]. */
typedef struct strip {
    int16_t (*a)[ROWS];
    int32_t (*scales)[ROWS];
} strip;

static void fill_panel(panel p, const fpo_prepared *b, int64_t n0, int64_t n1)
{
    const uint8_t *codes = b->codes, *scales = b->scales;
    for (int64_t j = 0; j < COLUMNS; j++) {
        bool inside = n0 + j < n1;
        const uint8_t *row = codes + (inside ? n0 + j : n0) * b->k;
        for (int64_t k = 0; k < b->scale_columns * BLOCK; k++)
            p.b[k][j / LANES][j % LANES] = inside && k < b->k ? twice(row[k]) : 0;
        const uint8_t *row_scales = scales + fpo_scale_index(b, inside ? n0 + j : n0, 0);
        for (int64_t block = 0; block < b->scale_columns; block++)
            p.scales[block][j] = scale_units(row_scales[block]);
    }
}

static void fill_strip(strip s, const fpo_prepared *a, int64_t m0, int64_t m1)
{
    const uint8_t *codes = a->codes, *scales = a->scales;
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t m = m0 + i < m1 ? m0 + i : m0;
        const uint8_t *row = codes + m * a->k;
        for (int64_t k = 0; k < a->scale_columns * BLOCK; k++)
            s.a[k][i] = k < a->k ? twice(row[k]) : 0;
        const uint8_t *row_scales = scales + fpo_scale_index(a, m, 0);
        for (int64_t block = 0; block < a->scale_columns; block++)
            s.scales[block][i] = scale_units(row_scales[block]);
    }
}

static void sum_strip(strip s, panel p, int64_t blocks, int64_t acc[ROWS][COLUMNS])
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            acc[i][j] = 0;

    for (int64_t block = 0; block < blocks; block++) {
        lanes sums[ROWS][COLUMNS / LANES] = {{{0}}};
        int16_t(*a)[ROWS] = s.a + block * BLOCK;
        lanes(*b)[COLUMNS / LANES] = p.b + block * BLOCK;
        for (int k = 0; k < BLOCK; k++) {
            for (int i = 0; i < ROWS; i++) {
                for (int v = 0; v < COLUMNS / LANES; v++)
                    sums[i][v] += b[k][v] * a[k][i];
            }
        }
        for (int i = 0; i < ROWS; i++) {
            int64_t a_scale = s.scales[block][i];
            for (int j = 0; j < COLUMNS; j++)
                acc[i][j] += (int64_t)(sums[i][j / LANES][j % LANES] * p.scales[block][j]) * a_scale;
        }
    }
}

static void sum_tile(const fpo_gemm_context *context, fpo_tile tile, panel p, strip s, int64_t *acc)
{
    int64_t width = tile.n1 - tile.n0, blocks = context->a.scale_columns;
    for (int64_t n = tile.n0; n < tile.n1; n += COLUMNS) {
        fill_panel(p, &context->b, n, tile.n1);
        for (int64_t m = tile.m0; m < tile.m1; m += ROWS) {
            int64_t sums[ROWS][COLUMNS];
            fill_strip(s, &context->a, m, tile.m1);
            sum_strip(s, p, blocks, sums);
            for (int64_t i = 0; i < ROWS && m + i < tile.m1; i++) {
                for (int64_t j = 0; j < COLUMNS && n + j < tile.n1; j++)
                    acc[(m + i - tile.m0) * width + n + j - tile.n0] = sums[i][j];
            }
        }
    }
}

/* A single element, as fpo_gemm_elements asks for: no panels. */
static int64_t sum_one(const fpo_prepared *a, const fpo_prepared *b, int64_t m, int64_t n)
{
    const uint8_t *a_row = (const uint8_t *)a->codes + m * a->k, *b_row = (const uint8_t *)b->codes + n * b->k;
    const uint8_t *a_scales = (const uint8_t *)a->scales + fpo_scale_index(a, m, 0);
    const uint8_t *b_scales = (const uint8_t *)b->scales + fpo_scale_index(b, n, 0);
    int64_t acc = 0;

    for (int64_t block = 0; block < a->scale_columns; block++) {
        int64_t end = (block + 1) * BLOCK < a->k ? (block + 1) * BLOCK : a->k;
        int32_t sum = 0;
        for (int64_t k = block * BLOCK; k < end; k++)
            sum += twice(a_row[k]) * twice(b_row[k]);
        acc += (int64_t)(sum * scale_units(b_scales[block])) * scale_units(a_scales[block]);
    }
    return acc;
}

fpo_status fpo_fixed64_sums_portable(const fpo_gemm_context *context, fpo_tile tile, int64_t *acc, fpo_error *error)
{
    if (tile.m1 - tile.m0 == 1 && tile.n1 - tile.n0 == 1) {
        acc[0] = sum_one(&context->a, &context->b, tile.m0, tile.n0);
        return FPO_OK;
    }

    size_t blocks = (size_t)context->a.scale_columns;
    panel p = {malloc(blocks * BLOCK * sizeof *p.b), malloc(blocks * sizeof *p.scales)};
    strip s = {malloc(blocks * BLOCK * sizeof *s.a), malloc(blocks * sizeof *s.scales)};
    fpo_status status = FPO_OK;

    if (p.b != NULL && p.scales != NULL && s.a != NULL && s.scales != NULL)
        sum_tile(context, tile, p, s, acc);
    else
        status = fpo_fail(error, FPO_ERR_MEMORY, "no memory for a tile of K = %lld", (long long)context->a.k);
    free(p.b);
    free(p.scales);
    free(s.a);
    free(s.scales);
    return status;
}

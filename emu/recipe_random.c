/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The random bits of an element: those of fpo_random_block at a place that follows from the element's.
 *
 * TransformerEngine's kernel for NVFP4 (quantize_transpose_nvfp4_tuned_1D) seeds a Philox4x32-10 with the first word of
 * its rng_state; the counter's upper half is the thread, counted over the grid, its lower half counts the thread's
 * blocks from the second word of rng_state on, which is 0 here. A CTA of 128 threads has a chunk of 128x128 elements,
 * in four tiles of 64x64, one after the other. Of a tile each thread quantises 16 elements of two rows, then, where the
 * transposed copy is made, 16 rows of two columns; 16 elements take one block of the generator, four a word. A thread
 * of the upper half of a warp begins a row's 16 elements with the second eight. */
#include "recipe.h"

#include <fp4oracle/random.h>

enum { CHUNK = 128, TILE = 64, TILES = CHUNK / TILE, THREADS = 128 };

static uint64_t chunk_of(int64_t row, int64_t column, int64_t columns)
{
    return (uint64_t)(row / CHUNK * ((columns + CHUNK - 1) / CHUNK) + column / CHUNK);
}

static uint64_t tile_of(int64_t row, int64_t column)
{
    return (uint64_t)(row % CHUNK / TILE * TILES + column % CHUNK / TILE);
}

/* 4 threads a row of a tile, 32 rows at a time. */
static fpo_draw_block of_row(const fpo_draws *draws, int64_t row, int64_t column)
{
    uint64_t blocks = draws->rule == FPO_DRAW_TE_BOTH ? 4 : 2; /* of a thread, a tile */
    uint64_t thread = (uint64_t)(row % 32 * 4 + column % TILE / FPO_DRAW_GROUP);
    return (fpo_draw_block){.stream = chunk_of(row, column, draws->k) * THREADS + thread,
                            .index = tile_of(row, column) * blocks + (uint64_t)(row % TILE / 32),
                            .upper_first = thread % 32 >= 16};
}

/* A lane has two columns of a tile, and a warp a quarter of its rows, which goes round with the lane. */
static fpo_draw_block of_column(const fpo_draws *draws, int64_t row, int64_t column)
{
    uint64_t lane = (uint64_t)(column % TILE / 2), quarter = (uint64_t)(row % TILE / FPO_DRAW_GROUP);
    uint64_t thread = (quarter - lane / 2) % 4 * 32 + lane;
    return (fpo_draw_block){.stream = chunk_of(row, column, draws->rows) * THREADS + thread,
                            .index = tile_of(row, column) * 4 + 2 + (uint64_t)(column % 2)};
}

fpo_draw_block fpo_draw_block_of(const fpo_draws *draws, int64_t row, int64_t group)
{
    if (draws->rule == FPO_DRAW_TE_COLUMNS) /* a row here is a column there */
        return of_column(draws, group * FPO_DRAW_GROUP, row);
    return of_row(draws, row, group * FPO_DRAW_GROUP);
}

int fpo_draw_byte(fpo_draw_rule rule, int element)
{
    /* PTX of cvt.rs.e2m1x4 {a, b, e, f}, f the first element: e and f take the lower bytes of both halves of the word,
     * a and b the upper ones. That f has the lower half's, as in the forms of two operands, is a guess. */
    static const int of_cvt[4] = {0, 2, 1, 3};
    return rule == FPO_DRAW_TE_ROWS_CVT ? of_cvt[element % 4] : element % 4;
}

uint32_t fpo_draw_bits(const fpo_draws *draws, int64_t row, int64_t column)
{
    uint32_t words[4];
    if (draws->rule == FPO_DRAW_INDEX) {
        fpo_random_block((fpo_random){.seed = draws->seed}, (uint64_t)(row * draws->k + column), words);
        return words[0];
    }
    fpo_draw_block block = fpo_draw_block_of(draws, row, column / FPO_DRAW_GROUP);
    fpo_random_block((fpo_random){draws->seed, block.stream}, block.index, words);
    int element = (int)(column % FPO_DRAW_GROUP);
    uint32_t word = words[element / 4 ^ (block.upper_first ? 2 : 0)];
    return word >> 8 * fpo_draw_byte(draws->rule, element) << 24;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The sums of a search's errors, as fpo_error_sum adds those of one block: many blocks at a time. Part of
 * quantize_loops.h. */
#ifndef FP4ORACLE_EMU_QUANTIZE_ERRORS_H
#define FP4ORACLE_EMU_QUANTIZE_ERRORS_H

#include "quantize_functions.h"
#include "quantize_kernels.h"
#include "quantize_lanes.h"

/* Blocks at a time, of which a loop has several vectors, for a sum waits for the one before; elements of each. */
enum { SUMS = 64, BLOCK_MOST = 32 };

/* Error i of each block. */
static void transpose_errors(const float *restrict errors, int block, int blocks, float to[][SUMS])
{
    int b = 0;
#ifdef __AVX2__
    for (; block % FPO_LANES == 0 && b + FPO_LANES <= blocks; b += FPO_LANES)
        for (int i = 0; i < block; i += FPO_LANES) {
            fpo_floats v[FPO_LANES];
            fpo_load_lanes(errors + b * block + i, block, v);
            for (int l = 0; l < FPO_LANES; l++)
                *(fpo_floats *)(void *)&to[i + l][b] = v[l];
        }
#endif
    for (int i = 0; i < block && b < blocks; i++)
        for (int rest = b; rest < blocks; rest++)
            to[i][rest] = errors[rest * block + i];
}

/* to[b] = a[b] + x[b], which may be the same arrays. */
FPO_LANE void add_sums(const float *a, const float *x, float *to, int blocks, bool ftz)
{
#pragma omp simd
    for (int b = 0; b < blocks; b++) {
        float sum = a[b] + x[b];
        to[b] = ftz ? flush(sum) : sum;
    }
}

FPO_LANE void sum_errors(const fpo_program *program, float (*e)[SUMS], int block, int blocks, bool ftz)
{
    int chunk = program->error_chunk > 0 ? program->error_chunk : block, n = 0;
    for (int at = 0; at < block; at += chunk, n++) {
        memmove(e[n], e[at], sizeof *e);
        for (int i = at + 1; i < at + chunk && i < block; i++)
            add_sums(e[n], e[i], e[n], blocks, ftz);
    }
    for (; n > 1; n = (n + 1) / 2)
        for (int i = 0; i < n; i += 2)
            if (i + 1 < n)
                add_sums(e[i], e[i + 1], e[i / 2], blocks, ftz);
            else
                memmove(e[i / 2], e[i], sizeof *e);
}

FPO_LANE void sum_squares(float (*e)[SUMS], int block, int blocks, bool ftz)
{
    float sums[SUMS] = {0};
    for (int i = 0; i < block; i++)
#ifdef __FMA__
#pragma omp simd
#endif
        for (int b = 0; b < blocks; b++) {
            float sum = fmaf(e[i][b], e[i][b], sums[b]);
            sums[b] = ftz ? flush(sum) : sum;
        }
    memcpy(e[0], sums, sizeof sums);
}

static bool error_sums(const fpo_program *program, const float *errors, int64_t block, int blocks, float *sums)
{
    if (block < 2 || block > BLOCK_MOST || program->error_max)
        return false;
    _Alignas(FPO_LINE) float e[BLOCK_MOST][SUMS];
    for (int b = 0; b < blocks; b += SUMS) {
        int count = blocks - b < SUMS ? blocks - b : SUMS;
        transpose_errors(errors + b * block, (int)block, count, e);
        if (program->error_fma && program->error_ftz)
            sum_squares(e, (int)block, count, true);
        else if (program->error_fma)
            sum_squares(e, (int)block, count, false);
        else if (program->error_ftz)
            sum_errors(program, e, (int)block, count, true);
        else
            sum_errors(program, e, (int)block, count, false);
        memcpy(sums + b, e[0], (size_t)count * sizeof *sums);
    }
    return true;
}

#endif

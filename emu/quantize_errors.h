/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The sums of a search's errors, as fpo_error_sum adds those of one block: many blocks at a time. Part of
 * quantize_loops.h. */
#ifndef FP4ORACLE_EMU_QUANTIZE_ERRORS_H
#define FP4ORACLE_EMU_QUANTIZE_ERRORS_H

#include "quantize_kernels.h"
#include "quantize_lanes.h"

enum { SUMS = 16, BLOCK_MOST = 32 }; /* blocks at a time, and elements of each */

/* Error i of SUMS blocks; the last one stands for those past it. */
static void transpose_errors(const float *restrict errors, int block, int blocks, float to[][SUMS])
{
#ifdef __AVX2__
    if (blocks == SUMS && block % FPO_LANES == 0) {
        for (int b = 0; b < SUMS; b += FPO_LANES)
            for (int i = 0; i < block; i += FPO_LANES) {
                fpo_floats v[FPO_LANES];
                fpo_load_lanes(errors + b * block + i, block, v);
                for (int l = 0; l < FPO_LANES; l++)
                    *(fpo_floats *)(void *)&to[i + l][b] = v[l];
            }
        return;
    }
#endif
    for (int i = 0; i < block; i++)
#pragma omp simd
        for (int b = 0; b < SUMS; b++)
            to[i][b] = errors[(b < blocks ? b : blocks - 1) * block + i];
}

/* The sums of SUMS blocks. */
FPO_LANE void sum_errors(const fpo_program *program, float (*restrict e)[SUMS], int block, bool ftz,
                         float *restrict sums)
{
    int chunk = program->error_chunk > 0 ? program->error_chunk : block, n = 0;
    for (int at = 0; at < block; at += chunk, n++)
        for (int i = at; i < at + chunk && i < block; i++)
#pragma omp simd
            for (int lane = 0; lane < SUMS; lane++) {
                float sum = e[n][lane] + e[i][lane];
                e[n][lane] = i == at ? e[i][lane] : ftz ? flush(sum) : sum;
            }
    for (; n > 1; n = (n + 1) / 2)
        for (int i = 0; i < n; i += 2)
#pragma omp simd
            for (int lane = 0; lane < SUMS; lane++) {
                float sum = e[i][lane] + e[i + 1 < n ? i + 1 : i][lane];
                e[i / 2][lane] = i + 1 == n ? e[i][lane] : ftz ? flush(sum) : sum;
            }
    memcpy(sums, e[0], sizeof e[0]);
}

static void sum_squares(float (*restrict e)[SUMS], int block, bool ftz, float *restrict sums)
{
    memset(sums, 0, SUMS * sizeof *sums);
    for (int i = 0; i < block; i++)
#ifdef __FMA__
#pragma omp simd
#endif
        for (int lane = 0; lane < SUMS; lane++) {
            float sum = fmaf(e[i][lane], e[i][lane], sums[lane]);
            sums[lane] = ftz ? flush(sum) : sum;
        }
}

static bool error_sums(const fpo_program *program, const float *errors, int64_t block, int blocks, float *sums)
{
    if (block < 2 || block > BLOCK_MOST || program->error_max)
        return false;
    _Alignas(FPO_LINE) float e[BLOCK_MOST][SUMS], group[SUMS];
    for (int b = 0; b < blocks; b += SUMS) {
        int count = blocks - b < SUMS ? blocks - b : SUMS;
        transpose_errors(errors + b * block, (int)block, count, e);
        if (program->error_fma)
            sum_squares(e, (int)block, program->error_ftz, group);
        else if (program->error_ftz)
            sum_errors(program, e, (int)block, true, group);
        else
            sum_errors(program, e, (int)block, false, group);
        memcpy(sums + b, group, (size_t)count * sizeof *sums);
    }
    return true;
}

#endif

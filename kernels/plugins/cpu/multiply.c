/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The sum: each output is one chain of fused multiply-adds in order of k. Eight of them run side by side. */
#include "cpu_reference.h"

#include <math.h>

enum { SIDE_BY_SIDE = 8 };

static inline __attribute__((always_inline)) void multiply(const float *a, const float *b, int64_t m_count,
                                                           int64_t n_count, int64_t line, int64_t k_count, float *sum)
{
    for (int64_t m = 0; m < m_count; m++) {
        for (int64_t n = 0; n < n_count; n += SIDE_BY_SIDE) {
            float chain[SIDE_BY_SIDE] = {0};
            int64_t count = n_count - n < SIDE_BY_SIDE ? n_count - n : SIDE_BY_SIDE;
            for (int64_t k = 0; k < k_count; k++) {
                for (int64_t i = 0; i < count; i++) {
                    chain[i] = fmaf(a[m * line + k], b[(n + i) * line + k], chain[i]);
                }
            }
            for (int64_t i = 0; i < count; i++) {
                sum[m * n_count + n + i] = chain[i];
            }
        }
    }
}

#if defined(__x86_64__)
__attribute__((target("fma"))) static void multiply_fma(const float *a, const float *b, int64_t m_count,
                                                        int64_t n_count, int64_t line, int64_t k_count, float *sum)
{
    multiply(a, b, m_count, n_count, line, k_count, sum);
}
#endif

void cpu_multiply(const float *a, const float *b, int64_t m_count, int64_t n_count, int64_t line, int64_t k_count,
                  float *sum)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports(
            "fma")) { /* an instruction where there is one: fmaf() as a call takes 20 times as long */
        multiply_fma(a, b, m_count, n_count, line, k_count, sum);
        return;
    }
#endif
    multiply(a, b, m_count, n_count, line, k_count, sum);
}

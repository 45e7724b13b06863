/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The reference kernels: how the table of plugin.c starts one. */
#ifndef FP4ORACLE_PLUGINS_REFERENCE_SM120_LAUNCH_H
#define FP4ORACLE_PLUGINS_REFERENCE_SM120_LAUNCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a launch is given; addresses are of the device. A line is a row of A or B, or a row of D, in bytes. */
typedef struct reference_problem {
    const uint8_t *a, *b, *a_scale, *b_scale;
    void *d;
    int32_t m, n, k;
    int32_t a_line, b_line, d_line;
    float alpha;
    int32_t bf16; /* D is bf16, otherwise f32 */
} reference_problem;

/* Starts a kernel and returns what CUDA says of it (cudaError_t). */
typedef int (*reference_launch)(const reference_problem *problem);

/* By instruction, and where it has several, by the pair of element types. */
#define REFERENCE(instruction, a, b, ...) int reference_##instruction##_##a##_##b(const reference_problem *problem);
#include "kernels.inc"
#undef REFERENCE

#ifdef __cplusplus
}
#endif

#endif

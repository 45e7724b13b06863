/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A GEMM as somebody writes it who has the format definitions and no oracle: decode, multiply by the scale, fused
 * multiply-add in order of k. It shares no code with libfp4oracle, on purpose. Some entries carry a planted fault. */
#ifndef FP4ORACLE_PLUGINS_CPU_REFERENCE_H
#define FP4ORACLE_PLUGINS_CPU_REFERENCE_H

#include <fp4oracle/kernel_plugin.h>

/* What a kernel does wrong with one operand. */
enum {
    CPU_SWAP_NIBBLES = 1 << 0,
    CPU_SCALES_AS_UE8M0 = 1 << 1,
    CPU_SCALES_AS_UE4M3 = 1 << 2,
    CPU_READS_128X4 = 1 << 3, /* whatever it declared */
    CPU_READS_LINEAR = 1 << 4,
    CPU_IGNORES_SCALES = 1 << 5,
    CPU_TENSOR_SCALE_DROPPED = 1 << 6,
    CPU_TENSOR_SCALE_INVERTED = 1 << 7,
    CPU_TENSOR_SCALE_TWICE = 1 << 8
};

/* ... and with the whole. */
enum {
    CPU_SCALES_SWAPPED = 1 << 0,
    CPU_LAST_BLOCK_DROPPED = 1 << 1,
    CPU_NARROWED_FIRST = 1 << 2,
    CPU_OUTPUT_TRUNCATED = 1 << 3,
    CPU_ALPHA_DROPPED = 1 << 4,
    CPU_BETA_DROPPED = 1 << 5
};

typedef struct cpu_fault {
    uint32_t a, b, all;
} cpu_fault;

/* One code to its number. */
typedef float (*cpu_decode)(uint32_t code);
/* NULL for a format that is not known here. `bits` gets the width of a code in memory: 4, 8, 16 or 32. */
cpu_decode cpu_decode_of(const char *format, int *bits);

/* f32 to the code of D's format, to nearest even or toward zero; NaN becomes the canonical one of NVIDIA's GPUs. */
uint32_t cpu_to_f16(float x, int toward_zero);
uint32_t cpu_to_bf16(float x, int toward_zero);

/* One operand. */
typedef struct cpu_operand {
    const fpo_kernel_operand *kind;
    const void *codes;
    int64_t line;
    const void *scales;
    int64_t scale_bytes;
    int64_t rows, k;
    uint32_t faults;
} cpu_operand;

/* rows x k numbers, each code times the scale of its block (scales that span K are left to the epilogue). */
void cpu_dequantise(const cpu_operand *operand, float *numbers);
/* The factor of a row in the epilogue: 1 where the scales do not span K. */
float cpu_row_factor(const cpu_operand *operand, int64_t row);

/* sum[m * n_count + n], in order of k, one fused multiply-add each; `line` numbers from one row of a or b to the next.
 */
void cpu_multiply(const float *a, const float *b, int64_t m_count, int64_t n_count, int64_t line, int64_t k_count,
                  float *sum);

extern const fpo_kernel cpu_kernels[];
extern const uint32_t cpu_kernel_count;

#endif

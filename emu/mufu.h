/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* NAME.approx.f32 and NAME.approx.ftz.f32 as an H200 computes them, bit for bit: its multi-function unit (MUFU) as a
 * table of quadratics. Measured by tools/mufu_on_gpu.cu on one NVIDIA H200 (compute capability 9.0, driver 580.159.04,
 * CUDA 13.0.88, 2026-12-01) for all arguments; docs/vgpu.md says what is assumed of other GPUs. */
#ifndef FP4ORACLE_EMU_MUFU_H
#define FP4ORACLE_EMU_MUFU_H

#include <stdbool.h>
#include <stdint.h>

typedef enum fpo_mufu_function {
#define FPO_MUFU(ID, name) FPO_MUFU_##ID,
#include "mufu.inc"
#undef FPO_MUFU
    FPO_MUFU_COUNT
} fpo_mufu_function;

/* What the unit itself returns: subnormal arguments and results are zeros. */
float fpo_mufu(fpo_mufu_function function, float x);

/* What the instruction returns: without ftz, subnormal numbers are scaled before and after. */
float fpo_approx(fpo_mufu_function function, float x, bool ftz);

/* ex2 and tanh of f16 and bf16 codes: the f32 result cut to the format; ex2.approx.bf16 exists with .ftz alone. */
uint16_t fpo_approx_f16(fpo_mufu_function function, uint16_t code);
uint16_t fpo_approx_bf16(fpo_mufu_function function, uint16_t code);

#endif

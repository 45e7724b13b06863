/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The 32-bit instruction descriptor of tcgen05.mma (PTX 9.7.16.4.2, tables 43 and 44), decoded strictly: what is
 * reserved, unknown or not modelled is refused by name. */
#ifndef FP4ORACLE_KERNELS_VGPU_TMEM_INSTRUCTION_H
#define FP4ORACLE_KERNELS_VGPU_TMEM_INSTRUCTION_H

#include "machine.h"

typedef struct fpo_tmem_instruction {
    uint32_t m, n, k;
    fpo_format a, b, scale; /* scale FPO_FORMAT_NONE: none */
    bool f16_accumulator;
    bool negate_a, negate_b;
    bool across_a, across_b;         /* K is not contiguous (MN-major) */
    uint32_t scale_id_a, scale_id_b; /* first byte of a scale word */
    uint32_t scales;                 /* of a row */
    fpo_vgpu_mma mma;
} fpo_tmem_instruction;

/* NULL, or what cannot be. */
const char *fpo_tmem_decode(const fpo_ptx_arguments *how, uint32_t descriptor, fpo_tmem_instruction *instruction);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Where the operands of tensor cores come from. While a launch is traced, every byte of shared memory and of the
 * registers has the address of the byte of global memory that it is a copy of, and every accumulator the output and the
 * K that it stands for. The first mma that puts together what does not belong together is the finding. */
#ifndef FP4ORACLE_KERNELS_VGPU_TRACE_H
#define FP4ORACLE_KERNELS_VGPU_TRACE_H

#include "machine.h"

bool fpo_trace_start(fpo_cta *cta); /* false: out of memory */
void fpo_trace_stop(fpo_cta *cta);

/* What the instruction will do to the sources of its results: called before it is executed. */
void fpo_trace(fpo_warp *warp, const fpo_ptx_instruction *instruction);
/* Bytes that a bulk or tensor copy brings to shared memory; global 0: fill. */
void fpo_trace_copy(fpo_cta *cta, uint32_t shared, uint64_t global, uint64_t bytes);
/* trace_mma.c: an mma with all its lanes. */
void fpo_trace_mma(fpo_warp *warp, const fpo_ptx_instruction *instruction);

/* A source: nothing known, a fill, an address, or an accumulator. */
#define FPO_SOURCE_FILL 1u
#define FPO_SOURCE_ACCUMULATOR ((uint64_t)1 << 63)

/* Of byte `byte` of a lane; 0 for constants. */
static inline uint64_t fpo_source(const fpo_warp *warp, const fpo_ptx_operand *o, uint32_t lane, uint32_t byte)
{
    return o->kind == FPO_PTX_REGISTER && byte < o->bytes ? warp->sources[o->slot + lane * o->bytes + byte] : 0;
}

static inline void fpo_set_source(const fpo_warp *warp, const fpo_ptx_operand *o, uint32_t lane, uint32_t byte,
                                  uint64_t source)
{
    if (o->kind == FPO_PTX_REGISTER && byte < o->bytes)
        warp->sources[o->slot + lane * o->bytes + byte] = source;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* From slots and offsets to addresses. */
#include "worker_state.h"

static const void *address(const fpo_worker *w, const fpo_wire_problem *wire, fpo_slot role)
{
    const fpo_wire_buffer *buffer = &wire->buffer[role];
    if (buffer->host != 0) {
        return &buffer->scalar;
    }
    return buffer->slot < FPO_SLOT_COUNT && w->slot[buffer->slot] != NULL
               ? (const char *)w->slot[buffer->slot] + buffer->offset
               : NULL;
}

fpo_kernel_problem fpo_worker_problem(const fpo_worker *w, const fpo_wire_problem *wire)
{
    return (fpo_kernel_problem){
        .size = sizeof(fpo_kernel_problem),
        .variant = wire->variant,
        .m = wire->m,
        .n = wire->n,
        .k = wire->k,
        .a = address(w, wire, FPO_SLOT_A),
        .b = address(w, wire, FPO_SLOT_B),
        .a_line = wire->a_line,
        .b_line = wire->b_line,
        .c_line = wire->c_line,
        .d_line = wire->d_line,
        .a_scale = address(w, wire, FPO_SLOT_A_SCALE),
        .b_scale = address(w, wire, FPO_SLOT_B_SCALE),
        .a_scale_bytes = wire->a_scale_bytes,
        .b_scale_bytes = wire->b_scale_bytes,
        .d_scale_bytes = wire->d_scale_bytes,
        .a_tensor_scale = address(w, wire, FPO_SLOT_A_TENSOR_SCALE),
        .b_tensor_scale = address(w, wire, FPO_SLOT_B_TENSOR_SCALE),
        .alpha = address(w, wire, FPO_SLOT_ALPHA),
        .beta = address(w, wire, FPO_SLOT_BETA),
        .c = address(w, wire, FPO_SLOT_C),
        .bias = address(w, wire, FPO_SLOT_BIAS),
        .d = (void *)(uintptr_t)address(w, wire, FPO_SLOT_D),
        .d_scale = (void *)(uintptr_t)address(w, wire, FPO_SLOT_D_SCALE),
        .d_norm = &wire->d_norm,
        .workspace = (void *)(uintptr_t)address(w, wire, FPO_SLOT_WORKSPACE),
        .workspace_bytes = wire->workspace_bytes,
    };
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Asynchronous copies between issue and performance. */
#ifndef FP4ORACLE_KERNELS_VGPU_BULK_H
#define FP4ORACLE_KERNELS_VGPU_BULK_H

#include "machine.h"
#include "tensor_map.h"

struct fpo_pending {
    fpo_pending *next;
    fpo_warp *warp;  /* that issued it, for messages */
    fpo_cta *cta;    /* whose shared memory it reads or writes */
    fpo_cta *signal; /* of a load: whose mbarrier it completes */
    uint32_t at;     /* index of the instruction */
    int lane;
    bool tensor, load;
    uint8_t op, type;    /* of a reduction: fpo_ptx_value and fpo_ptx_type; no operation: a copy */
    bool from_registers; /* `value` goes to shared memory */
    uint8_t value[16];
    bool between; /* from shared memory of the issuing CTA, at `global`, to that of another */
    fpo_tensor_map map;
    int32_t coordinate[FPO_BOX_RANK];
    uint64_t global;
    uint32_t shared; /* offset */
    uint32_t bytes;
    uint64_t mbarrier;
    uint32_t group; /* of a store: number of groups committed when it was issued */
};

/* tensor_copy.c: moves the box. False after a fault. */
bool fpo_tensor_copy(fpo_warp *warp, const fpo_pending *copy);
/* The ranges of shared memory that the box takes; nothing if they do not fit. */
void fpo_tensor_visit(const fpo_pending *copy,
                      void (*visit)(const fpo_pending *copy, uint32_t address, uint32_t bytes));

#endif

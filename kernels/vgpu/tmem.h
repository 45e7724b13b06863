/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Tensor memory of sm_100: 128 lanes by 512 columns of 32 bits a CTA (one CTA is resident on an SM). An address has the
 * lane in its upper half and the column in its lower. What uses it asynchronously waits in a queue of its CTA. */
#ifndef FP4ORACLE_KERNELS_VGPU_TMEM_H
#define FP4ORACLE_KERNELS_VGPU_TMEM_H

#include "machine.h"

enum {
    FPO_TMEM_LANES = 128,
    FPO_TMEM_COLUMNS = 512,
    FPO_TMEM_PARTITION = 32, /* lanes that one warp of four reaches */
    FPO_TMEM_MASK_WORDS = 4,
    FPO_TMEM_GROUPS = 8 /* of 16 lanes: what the checks tell apart */
};

/* An instruction that was issued: its operands as they were then. */
typedef struct fpo_tmem_operation {
    struct fpo_tmem_operation *next;
    fpo_warp *warp;
    const fpo_ptx_instruction *instruction;
    uint32_t at; /* index of the instruction */
    int lane;
    uint32_t target;     /* tensor address written */
    uint64_t a, b;       /* descriptors, a tensor address, or the mbarrier */
    uint32_t descriptor; /* of the instruction; the CTA mask of a commit */
    uint32_t scale_a, scale_b;
    bool accumulate;
    uint32_t left_out[FPO_TMEM_MASK_WORDS]; /* lanes not written */
    uint32_t first_column, columns;         /* that are in flight */
} fpo_tmem_operation;

typedef struct fpo_tmem {
    uint32_t word[FPO_TMEM_COLUMNS][FPO_TMEM_LANES];
    uint32_t written[FPO_TMEM_COLUMNS][FPO_TMEM_LANES / 32]; /* a bit a lane */
    bool allocated[FPO_TMEM_COLUMNS];
    uint32_t allocated_at[FPO_TMEM_COLUMNS]; /* index of the instruction */
    uint32_t allocated_by[FPO_TMEM_COLUMNS]; /* warp */
    uint16_t in_flight[FPO_TMEM_COLUMNS];    /* operations that will write here */
    bool relinquished;
    fpo_tmem_operation *queue; /* oldest first */
} fpo_tmem;

/* Columns, and a bit for each group of 16 lanes. */
typedef struct fpo_tmem_region {
    uint32_t column, columns;
    uint8_t groups;
} fpo_tmem_region;

/* Columns that a warp may use: NULL after a fault that names the use ("accumulator"). Makes nothing allocated. */
fpo_tmem *fpo_tmem_columns(fpo_warp *warp, fpo_cta *cta, uint32_t column, uint32_t count, const char *what, int lane);

static inline uint32_t fpo_tmem_column(uint32_t address)
{
    return address & 0xFFFF;
}

static inline uint32_t fpo_tmem_lane(uint32_t address)
{
    return address >> 16;
}

/* The CTA, or the pair that it belongs to, the even one first: how many, 0 after a fault. */
uint32_t fpo_tmem_group(fpo_warp *warp, bool pair, int lane, fpo_cta *ctas[2]);

/* 16 elements of 4 or 6 bits (FPO_PTX_V_B4, B6) in the low 8 or 12 bytes, to a byte each: 4 bits to bits 2 to 5, 6 to
 * the low ones. */
void fpo_tmem_unpack(uint8_t bytes[16], uint8_t packing);
uint32_t fpo_tmem_packed_bytes(uint8_t packing); /* 8, 12, or 16 without a packing */

/* One word. A read of what nothing has written is reported by the checks. */
uint32_t fpo_tmem_load(fpo_warp *warp, const fpo_tmem *memory, uint32_t column, uint32_t tmem_lane, int lane);
void fpo_tmem_store(fpo_tmem *memory, uint32_t column, uint32_t tmem_lane, uint32_t word);

/* tmem_queue.c: performs an operation now or, under a seed, later; in the order of issue. */
fpo_outcome fpo_tmem_issue(const fpo_tmem_operation *operation);
/* Performs what is queued: all of it, or as much as chance picks. True if anything was performed. */
bool fpo_cta_perform_tmem(fpo_cta *cta, bool all);
void fpo_tmem_free(fpo_cta *cta);
/* Reports what is still allocated when the CTA ends. */
void fpo_tmem_check_end(const fpo_cta *cta);

/* What an operation does; false after a fault. */
bool fpo_tmem_perform_copy(const fpo_tmem_operation *operation);
bool fpo_tmem_perform_shift(const fpo_tmem_operation *operation);
bool fpo_tmem_perform_commit(const fpo_tmem_operation *operation);
bool fpo_tmem_perform_mma(const fpo_tmem_operation *operation);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Checks that only an emulator can do: a shadow of each byte of shared memory. They report and change no result. */
#ifndef FP4ORACLE_KERNELS_VGPU_SHADOW_H
#define FP4ORACLE_KERNELS_VGPU_SHADOW_H

#include "machine.h"

typedef enum fpo_check {
    FPO_CHECK_UNWRITTEN,       /* a read of shared memory that nothing has written */
    FPO_CHECK_READ_IN_FLIGHT,  /* a read where a copy has not arrived */
    FPO_CHECK_WRITE_IN_FLIGHT, /* a write there, or a second copy */
    FPO_CHECK_STORE_SOURCE,    /* a write to bytes that a store has still to read */
    FPO_CHECK_PROXY,           /* a copy or a tensor core reads bytes that a thread wrote without a proxy fence since */
    FPO_CHECK_TMEM_UNWRITTEN,  /* a read of tensor memory that nothing has written */
    FPO_CHECK_TMEM_IN_FLIGHT,  /* use of columns that a tensor core will still write */
    FPO_CHECK_TMEM_REPLICAS,   /* scales that differ between the partitions of tensor memory */
    FPO_CHECK_NOT_WAITED,      /* use of bytes of a cp.async that no wait of those that one knows of covers */
    FPO_CHECK_RACE_READ,       /* a read that is not ordered after a write of another warp, or of a copy */
    FPO_CHECK_RACE_WRITE,      /* a write not ordered after another's access */
    FPO_CHECK_RACE_COPY,       /* a copy to shared memory, as a write */
    FPO_CHECK_RACE_STORE,      /* a copy from shared memory, as a read */
    FPO_CHECK_GLOBAL_UNWRITTEN, /* a read of global memory that nothing has written */
    FPO_CHECK_TMEM_RACE_READ,   /* of tensor memory, as RACE_READ and RACE_WRITE */
    FPO_CHECK_TMEM_RACE_WRITE,  /* a write there, or a release of columns */
    FPO_CHECK_TMEM_LATE,        /* use of a register that tcgen05.ld will write, before a wait; under late_loads */
    FPO_CHECK_TMEM_KEPT,        /* columns that are allocated when the CTA ends */
    FPO_CHECK_MBARRIER,         /* use of an mbarrier that is not ordered after its initialisation */
    FPO_CHECK_WGMMA_D,          /* use of a register that a wgmma will write, before a wait */
    FPO_CHECK_WGMMA_A,          /* a write of a register that a wgmma has still to read */
    FPO_CHECK_COUNT
} fpo_check;

/* What is known of a byte. */
typedef struct fpo_shadow {
    uint8_t state;   /* bits: written, in flight, source of a store, of a cp.async */
    uint8_t writer;  /* warp + 1 of the last write by a thread, 0: a copy */
    uint16_t fences; /* of that warp when it wrote */
} fpo_shadow;

bool fpo_check_start(fpo_cta *cta); /* false: out of memory */
void fpo_check_stop(fpo_cta *cta);

/* A report about a place in tensor memory. */
enum { FPO_EVERY_LANE = -1 };
void fpo_check_tmem(fpo_warp *warp, fpo_check check, uint32_t column, int tmem_lane, int lane);
/* Accesses to tensor memory by a warp, or by a tensor core for it: their order. */
struct fpo_tmem_region;
void fpo_check_tmem_read(fpo_warp *warp, fpo_cta *cta, const struct fpo_tmem_region *region, bool core, int lane);
void fpo_check_tmem_write(fpo_warp *warp, fpo_cta *cta, const struct fpo_tmem_region *region, bool core, int lane);
/* Use of the n-th register of a tcgen05.ld on that line of the PTX. */
void fpo_check_late_register(fpo_warp *warp, uint32_t number, uint32_t line, int lane);

/* Accesses to [address, address + bytes) of shared memory, inside it. Nothing without a shadow. */
void fpo_check_read(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane);
/* Use of the n-th register of a wgmma's D or A, of the one on that line of the PTX. */
void fpo_check_wgmma_register(fpo_warp *warp, fpo_check check, uint32_t number, uint32_t line, int lane);
/* By the wgmma that the warp issues; by tcgen05, of any CTA. */
void fpo_check_wgmma_read(fpo_warp *warp, uint32_t address, uint32_t bytes);
void fpo_check_core_read(fpo_warp *warp, const fpo_cta *cta, uint32_t address, uint32_t bytes, int lane);
void fpo_check_copy_async(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane);
/* An access that orders: atomic, volatile, relaxed, acquire, release. */
void fpo_check_synchronise(fpo_warp *warp, uint32_t address, uint32_t bytes, bool write, int lane);
/* The mbarrier at a place in the process, of any CTA of the cluster: it is initialised (in the warp's own CTA), or used. */
void fpo_check_mbarrier_init(fpo_warp *warp, const void *at, int lane);
void fpo_check_mbarrier_use(fpo_warp *warp, const void *at, int lane);
/* Bytes of global memory, inside an allocation. */
void fpo_check_global_read(fpo_warp *warp, uint64_t address, uint64_t bytes, int lane);
void fpo_check_global_write(fpo_warp *warp, uint64_t address, uint64_t bytes);
void fpo_check_write(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane);
void fpo_check_copy_issued(fpo_warp *warp, fpo_cta *cta, uint32_t address, uint32_t bytes, int lane);
/* Written by another CTA, or by the machine. */
void fpo_check_remote_write(fpo_cta *cta, uint32_t address, uint32_t bytes);
void fpo_check_copy_arrived(fpo_cta *cta, uint32_t address, uint32_t bytes);
void fpo_check_store_issued(fpo_warp *warp, uint32_t address, uint32_t bytes, int lane);
void fpo_check_store_read(fpo_cta *cta, uint32_t address, uint32_t bytes);

#endif

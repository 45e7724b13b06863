/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Inside the machine: grid, CTAs, warps; and what every instruction is executed with. */
#ifndef FP4ORACLE_KERNELS_VGPU_MACHINE_H
#define FP4ORACLE_KERNELS_VGPU_MACHINE_H

#include "ptx.h"
#include "vgpu.h"

#include <string.h>

/* Shared memory starts at 1024, as on the hardware, where a CTA's first KB is reserved. Generic addresses of spaces
 * other than global have a tag in their top bits, which no address of the process has. */
#define FPO_SHARED_BASE 1024u
/* A shared address has its CTA's rank in the cluster above its offset, addresses of variables too: code for pairs of
 * CTAs clears the lowest bit of the rank in them. */
#define FPO_SHARED_RANK_SHIFT 24
#define FPO_SHARED_OFFSET ((1u << FPO_SHARED_RANK_SHIFT) - 1)
#define FPO_WINDOW_MASK 0xF000000000000000u
#define FPO_WINDOW_SHARED 0x1000000000000000u
#define FPO_WINDOW_LOCAL 0x2000000000000000u
#define FPO_WINDOW_PARAM 0x3000000000000000u

enum { FPO_NAMED_BARRIERS = 16, FPO_MAX_WARPS = 32, FPO_CLUSTER_CTAS = 16, FPO_WGMMA_GROUPS = 8, FPO_POISON = 0xCB };

typedef struct fpo_warp fpo_warp;
typedef struct fpo_cta fpo_cta;
typedef struct fpo_cluster fpo_cluster;
typedef struct fpo_grid fpo_grid;
typedef struct fpo_pending fpo_pending;
typedef struct fpo_finding fpo_finding;
typedef struct fpo_clocks fpo_clocks;
typedef struct fpo_race fpo_race;
typedef struct fpo_late_load fpo_late_load;
typedef struct fpo_late_copy fpo_late_copy;
typedef struct fpo_late_wgmma fpo_late_wgmma;
typedef struct fpo_open_wgmma fpo_open_wgmma;

typedef enum fpo_outcome {
    FPO_NEXT,    /* go on with the next instruction */
    FPO_JUMP,    /* the lanes of warp->mask go to the target */
    FPO_ENDED,   /* the lanes of warp->mask have exited */
    FPO_WAITING, /* the lanes of warp->mask try this instruction again later */
    FPO_LEAVE,   /* done, and let other warps run */
    FPO_FAULT    /* grid->error says what happened */
} fpo_outcome;

typedef fpo_outcome (*fpo_execute)(fpo_warp *warp, const fpo_ptx_instruction *instruction);
extern const fpo_execute fpo_executors[FPO_PTX_SEMANTICS_COUNT];

struct fpo_warp {
    fpo_cta *cta;
    uint32_t id;
    uint32_t alive;   /* lanes that have not exited */
    uint32_t waiting; /* lanes that have to try their instruction again */
    uint32_t group;   /* lanes that execute together now, at `at` */
    uint32_t mask;    /* of them, those that the guard lets execute */
    uint32_t at;
    uint32_t next_other; /* smallest pc of the other lanes that can run */
    uint32_t pc[FPO_PTX_WARP];
    uint8_t *registers, *constants;
    uint8_t *local;  /* 32 times local_stride bytes */
    bool at_barrier; /* has arrived at a barrier and waits for its generation to pass */
    uint32_t barrier_generation;
    bool moved;                  /* executed something since the flag was cleared */
    bool give_up;                /* a suspended try_wait shall return false */
    const void *last_allocation; /* that a global access hit */
    fpo_pending *stores;         /* bulk stores not yet performed, oldest first */
    uint32_t store_groups;       /* committed and not performed */
    uint64_t wgmmas;             /* issued */
    fpo_late_wgmma *late_wgmmas; /* of them, those not yet performed, oldest first */
    fpo_open_wgmma *open_wgmmas; /* those that no wait of the warp covers yet, oldest first; NULL: not checked */
    uint32_t wgmma_groups;
    uint64_t wgmma_group_end[FPO_WGMMA_GROUPS]; /* `wgmmas` when a group was closed, by its number modulo the size */
    bool at_cluster_barrier;                    /* has arrived at the cluster's barrier and not waited */
    uint32_t cluster_generation;
    uint16_t fences;            /* proxy fences executed */
    uint64_t *sources;          /* of bytes of registers; NULL: not traced */
    uint32_t copy_group;        /* of cp.async, that is open */
    fpo_late_load *late_loads;  /* of tensor memory, whose registers are not yet there */
    fpo_late_copy *late_copies; /* of cp.async, and arrivals that wait for them, oldest first */
};

typedef struct fpo_barrier {
    uint32_t arrived;  /* threads */
    uint32_t expected; /* 0: all threads of the CTA that are alive */
    uint32_t generation;
    uint32_t holding, threads; /* of bar.red: threads so far, those among them whose predicate holds */
    uint32_t held[2], of[2];   /* the same of a generation that is complete, by its number modulo 2 */
} fpo_barrier;

struct fpo_cta {
    fpo_grid *grid;
    fpo_cluster *cluster;
    uint32_t rank; /* in the cluster */
    uint32_t index[3];
    uint32_t sm;
    uint8_t *shared; /* indexed by offsets of shared addresses: the first FPO_SHARED_BASE bytes are never used */
    uint32_t shared_end;
    uint32_t warp_count, warps_alive;
    fpo_warp *warps;
    uint8_t *register_memory, *local_memory;
    fpo_barrier barriers[FPO_NAMED_BARRIERS];
    uint64_t clock;            /* advanced by each read */
    fpo_pending *loads;        /* copies in flight to this CTA's shared memory */
    struct fpo_tmem *tmem;     /* tensor memory; NULL until it is used */
    struct fpo_shadow *shadow; /* of shared memory, by address; NULL: not checked */
    fpo_race *race;            /* NULL: not checked */
    uint64_t *sources;         /* of bytes of shared memory, by address; NULL: not traced */
};

/* CTAs that are resident together and reach each other's shared memory; one where a launch asks for no clusters. */
struct fpo_cluster {
    uint32_t size;
    fpo_cta *ctas[FPO_CLUSTER_CTAS]; /* by rank */
    uint32_t barrier_generation;
    uint32_t barrier_missing; /* living warps that have not arrived in this generation */
    fpo_clocks *clocks;       /* NULL: not checked */
};

struct fpo_grid {
    fpo_vgpu *gpu;
    const fpo_vgpu_function *function;
    const fpo_ptx_kernel *kernel;
    const fpo_vgpu_launch *launch;
    uint32_t cluster[3];
    bool explicit_cluster;                /* the launch or the kernel asks for clusters */
    uint8_t *constants[FPO_CLUSTER_CTAS]; /* of the kernel, with relocations, for CTAs of each rank */
    uint8_t *parameters;
    uint32_t shared_bytes, local_stride, dynamic_offset;
    uint64_t next, total; /* clusters; those not yet started are next, next + stride, ... */
    uint64_t stride;
    uint32_t first_slot; /* number of the place where the first resident cluster runs */
    uint64_t random;
    uint64_t changes;         /* counts what may end a wait: barriers, memory writes, exits */
    struct fpo_mma_room *mma; /* NULL until the first tensor core instruction */
    uint32_t *reported;       /* for each instruction, the checks that it has failed; NULL: not checked */
    bool is_part;             /* one of several that share a launch: spread.c */
    fpo_finding *findings;    /* of a part */
    fpo_vgpu_statistics statistics;
    fpo_error *error;
    fpo_status status;
};

struct fpo_vgpu_function {
    fpo_vgpu_module *module;
    fpo_ptx_kernel *kernel;
    fpo_vgpu_function *next;
};

/* Ends the launch: the message gets the kernel, PTX line, CTA, warp, lane and instruction. */
fpo_outcome fpo_fault(fpo_warp *warp, int lane, const char *format, ...) FPO_PRINTF(3, 4);

/* memory.c: where `bytes` at `address` are, or NULL after a fault. Alignment to `align` is required. */
void *fpo_locate(fpo_warp *warp, fpo_ptx_value space, uint64_t address, uint32_t bytes, uint32_t align, int lane);
void *fpo_locate_global(fpo_warp *warp, uint64_t address, uint64_t bytes, int lane);
/* Shared memory of the warp's own CTA; of the CTA that the address names; of the given CTA, at the address's offset. */
void *fpo_locate_shared(fpo_warp *warp, uint64_t address, uint64_t bytes, uint32_t align, int lane);
void *fpo_locate_cluster(fpo_warp *warp, uint64_t address, uint64_t bytes, uint32_t align, int lane);
void *fpo_locate_in(fpo_warp *warp, const fpo_cta *cta, uint64_t address, uint64_t bytes, uint32_t align, int lane);
/* The CTA whose shared memory the address names; NULL after a fault. */
fpo_cta *fpo_shared_owner(fpo_warp *warp, uint64_t address, int lane);

/* device.c */
fpo_vgpu *fpo_vgpu_of(const fpo_vgpu_function *function);
const fpo_model *fpo_vgpu_model(const fpo_vgpu *gpu, fpo_vgpu_mma mma);
uint64_t fpo_vgpu_symbol(const fpo_vgpu_module *module, uint64_t variable);
fpo_vgpu_trace *fpo_vgpu_traced(const fpo_vgpu *gpu); /* NULL: launches are not traced */
const void *fpo_vgpu_find(const fpo_vgpu *gpu, uint64_t address, uint64_t bytes, const void *hint);

/* Global memory that is checked: bytes that a kernel writes or reads; false, with the place in the allocation, where
 * one that it reads was never written. fpo_vgpu_note_host sees what the host has written since. */
void fpo_vgpu_note_write(fpo_vgpu *gpu, const void *memory, uint64_t bytes);
bool fpo_vgpu_note_read(fpo_vgpu *gpu, uint64_t address, uint64_t bytes, uint64_t *first);
void fpo_vgpu_note_host(fpo_vgpu *gpu);

/* launch.c */
fpo_status fpo_fail_endless(fpo_grid *grid);
/* False: every cluster has started. */
bool fpo_grid_take(fpo_grid *grid, uint64_t *number);
uint32_t fpo_grid_random(fpo_grid *grid, uint32_t bound);
/* collective.c: true if all living lanes of `wanted` are at this instruction; warp->group and mask then hold them. */
bool fpo_gather(fpo_warp *warp, const fpo_ptx_instruction *instruction, uint32_t wanted);
uint32_t fpo_guard_mask(const fpo_warp *warp, const fpo_ptx_instruction *instruction, uint32_t group);

/* wgmma.c: an instruction's use of registers of a wgmma that is not complete. */
void fpo_open_wgmmas_check(fpo_warp *warp, const fpo_ptx_instruction *instruction);

/* tmem_registers.c: what late loads still owe the warp's registers; an instruction's use of one of these. */
void fpo_late_loads_end(fpo_warp *warp);
void fpo_late_loads_check(fpo_warp *warp, const fpo_ptx_instruction *instruction);

/* mbarrier.c */
/* In the shared memory of that CTA, whatever rank the address has. */
fpo_outcome fpo_mbarrier_arrive(fpo_warp *warp, fpo_cta *cta, uint64_t address, int lane);
fpo_outcome fpo_mbarrier_complete(fpo_warp *warp, fpo_cta *cta, uint64_t address, uint64_t bytes, int lane);

/* At an mbarrier of the warp's CTA, announced now and made later, when copies of the lane are done. `counted`: it is
 * one of those that the phase expects; else the phase expects one more. Who waits there has waited for the lane's first
 * `groups` groups of cp.async, too. */
bool fpo_mbarrier_promise(fpo_warp *warp, uint64_t address, bool counted, int lane);
bool fpo_mbarrier_keep_promise(fpo_warp *warp, uint64_t address, uint32_t groups, int lane);

/* Under a seed, asynchronous work is performed later than it is issued. */
static inline bool fpo_is_late(const fpo_warp *warp)
{
    const fpo_vgpu *gpu = warp->cta->grid->gpu;
    return gpu != NULL && fpo_vgpu_configuration(gpu)->seed != 0;
}

/* bulk.c: performs copies in flight; all of them, or those that chance picks. True if any was performed. */
bool fpo_cta_perform_loads(fpo_cta *cta, bool all);
bool fpo_warp_perform_stores(fpo_warp *warp, uint32_t groups_left);
/* copy_async.c and wgmma.c: likewise, and at least one if there is one and `one` is set. */
bool fpo_cta_perform_copies(fpo_cta *cta, bool one);
bool fpo_cta_perform_wgmma(fpo_cta *cta, bool one);
void fpo_copy_async_free(fpo_warp *warp);
void fpo_wgmma_free(fpo_warp *warp);

/* Operands. A lane's address is its register plus the offset in the instruction. */
static inline void *fpo_lanes_of(const fpo_warp *warp, const fpo_ptx_operand *operand)
{
    return (operand->kind == FPO_PTX_REGISTER ? warp->registers : warp->constants) + operand->slot;
}

static inline uint64_t fpo_address(const fpo_warp *warp, const fpo_ptx_operand *operand, int lane)
{
    const void *lanes = fpo_lanes_of(warp, operand);
    uint64_t base = operand->bytes == 4 ? ((const uint32_t *)lanes)[lane] : ((const uint64_t *)lanes)[lane];
    return base + (uint64_t)operand->offset;
}

static inline uint32_t fpo_u32(const fpo_warp *warp, const fpo_ptx_operand *operand, int lane)
{
    return ((const uint32_t *)fpo_lanes_of(warp, operand))[lane];
}

static inline uint32_t fpo_predicate(const fpo_warp *warp, const fpo_ptx_operand *operand)
{
    uint32_t value = *(const uint32_t *)fpo_lanes_of(warp, operand);
    return operand->negated ? ~value : value;
}

static inline void fpo_set_predicate(fpo_warp *warp, const fpo_ptx_operand *operand, uint32_t value)
{
    if (operand->kind == FPO_PTX_NO_OPERAND)
        return;
    uint32_t *p = fpo_lanes_of(warp, operand);
    *p = (*p & ~warp->mask) | (value & warp->mask);
}

/* Shared memory of the CTA itself where nothing is odd about the access; NULL: fpo_locate has to look. `bytes` is a
 * power of two and the alignment. */
static inline uint8_t *fpo_plain_shared(const fpo_cta *cta, uint64_t address, uint32_t bytes)
{
    uint32_t offset = (uint32_t)address & FPO_SHARED_OFFSET;
    bool plain = (uint32_t)address >> FPO_SHARED_RANK_SHIFT == cta->rank && offset >= FPO_SHARED_BASE &&
                 offset <= cta->shared_end && bytes <= cta->shared_end - offset && (offset & (bytes - 1)) == 0;
    return plain ? cta->shared + offset : NULL;
}

/* The same for all lanes of a warp together: their offsets in shared memory; false: fpo_locate has to look. */
static inline bool fpo_plain_shared_warp(const fpo_warp *warp, const fpo_ptx_operand *address, uint32_t bytes,
                                         uint32_t offsets[FPO_PTX_WARP])
{
    const fpo_cta *cta = warp->cta;
    if (address->bytes != 4 || bytes > cta->shared_end - FPO_SHARED_BASE)
        return false;
    const uint32_t *lanes = (const uint32_t *)fpo_lanes_of(warp, address);
    uint32_t start = cta->rank << FPO_SHARED_RANK_SHIFT, first = start + FPO_SHARED_BASE;
    uint32_t last = start + cta->shared_end - bytes, outside = 0, low = 0;
    for (int lane = 0; lane < FPO_PTX_WARP; lane++) {
        uint32_t where = lanes[lane] + (uint32_t)address->offset;
        outside |= (where - first) | (last - where); /* the top bit: one of these is negative */
        low |= where;
        offsets[lane] = where - start;
    }
    return outside >> 31 == 0 && (low & (bytes - 1)) == 0;
}

static inline int fpo_first_lane(uint32_t mask)
{
    return __builtin_ctz(mask);
}

/* for (FPO_EACH_LANE(lane, mask)) */
#define FPO_EACH_LANE(lane, mask)                                                                                      \
    uint32_t lane##_rest = (mask), lane = 0;                                                                           \
    lane##_rest != 0 && (lane = (uint32_t)__builtin_ctz(lane##_rest), true);                                           \
    lane##_rest &= lane##_rest - 1

#endif

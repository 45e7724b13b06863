/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A virtual NVIDIA GPU: executes PTX on the CPU, with the emulator's own arithmetic for the tensor cores. Its addresses
 * of global memory are addresses of the process. The same launch with the same seed gives the same result; other seeds
 * give other legal interleavings of warps, and other moments at which asynchronous copies complete. */
#ifndef FP4ORACLE_KERNELS_VGPU_H
#define FP4ORACLE_KERNELS_VGPU_H

#include <fp4oracle/gemm.h>
#include <fp4oracle/model.h>

/* Instructions of the tensor cores that a model can be chosen for. */
typedef enum fpo_vgpu_mma {
#define FPO_VGPU_MMA(ID, sm120, sm100, sm90, summary) FPO_VGPU_##ID,
#include "mma_kinds.inc"
#undef FPO_VGPU_MMA
    FPO_VGPU_MMA_COUNT
} fpo_vgpu_mma;

/* A kind of virtual GPU (machines.inc). */
typedef struct fpo_vgpu_machine {
    const char *name; /* "sm120" */
    int capability;   /* 120 */
    const char *text; /* "12.0" */
    uint32_t shared;  /* of a CTA, bytes */
} fpo_vgpu_machine;

const fpo_vgpu_machine *fpo_vgpu_machine_at(size_t index);   /* NULL beyond the end */
const fpo_vgpu_machine *fpo_vgpu_machine_of(int capability); /* NULL if there is none */

typedef struct fpo_vgpu_config {
    int capability;            /* of machines.inc */
    int multiprocessors;       /* CTAs that are resident at a time; 0: 4 */
    uint64_t seed;             /* 0: round robin, copies complete at once */
    bool late_loads;           /* registers of tcgen05.ld hold a pattern until tcgen05.wait::ld */
    bool check;                /* look at every access to shared memory: reports through fpo_vgpu_launch.report */
    int threads;               /* of the host; 0: one a processor. Results are the same for any number. */
    fpo_isa isa;               /* of the loops for tensor cores: the same bits with each */
    uint64_t max_instructions; /* warp instructions of a launch after which it counts as hung; 0: no limit */
    const fpo_model *models[FPO_VGPU_MMA_COUNT]; /* NULL: the default of the capability */
} fpo_vgpu_config;

/* "capability=120,sms=4,threads=2,seed=1,check=1,isa=avx2,max_instructions=N,mxf4nvf4=MODEL,...": the
 * names of mma_kinds.inc in small letters stand for the models. An empty text is the default sm120. */
fpo_status fpo_vgpu_config_parse(const char *text, fpo_vgpu_config *config, fpo_error *error);

typedef struct fpo_vgpu fpo_vgpu;
typedef struct fpo_vgpu_module fpo_vgpu_module;
typedef struct fpo_vgpu_function fpo_vgpu_function;

fpo_status fpo_vgpu_new(const fpo_vgpu_config *config, fpo_vgpu **gpu, fpo_error *error);
void fpo_vgpu_free(fpo_vgpu *gpu); /* and its modules and memory */
const fpo_vgpu_config *fpo_vgpu_configuration(const fpo_vgpu *gpu);

/* The target of a module's PTX ("sm_120a"). */
const char *fpo_vgpu_target(const fpo_vgpu_module *module);
/* NULL beyond the end. */
const char *fpo_vgpu_function_at(const fpo_vgpu_module *module, size_t index);

/* Global memory: never-written bytes hold a pattern. NULL: out of memory. Accesses outside allocations end the launch.
 */
void *fpo_vgpu_allocate(fpo_vgpu *gpu, size_t bytes);
bool fpo_vgpu_release(fpo_vgpu *gpu, void *memory); /* false: no such allocation */
bool fpo_vgpu_is_allocated(const fpo_vgpu *gpu, const void *memory, size_t bytes);
/* Memory of the caller that kernels may access (host pointers in tests); it is not freed. */
bool fpo_vgpu_attach(fpo_vgpu *gpu, void *memory, size_t bytes);

/* With check=1, which bytes of global memory kernels read: those of [memory, memory + bytes) that none did get a 1 in
 * `unread`; returns how many. What is not in a checked allocation counts as read. */
uint64_t fpo_vgpu_unread(const fpo_vgpu *gpu, const void *memory, uint64_t bytes, uint8_t *unread);
void fpo_vgpu_forget_reads(fpo_vgpu *gpu, const void *memory, uint64_t bytes);

fpo_status fpo_vgpu_load(fpo_vgpu *gpu, const char *ptx, size_t length, fpo_vgpu_module **module, fpo_error *error);
/* Decodes the kernel: what the virtual GPU cannot do is refused here. */
fpo_status fpo_vgpu_get_function(fpo_vgpu_module *module, const char *name, fpo_vgpu_function **function,
                                 fpo_error *error);
/* NULL if the module has no such variable. */
void *fpo_vgpu_variable(const fpo_vgpu_module *module, const char *name, size_t *bytes);

/* One operand of a GEMM in global memory, for a trace. */
typedef struct fpo_vgpu_operand {
    const void *codes;
    uint64_t bytes, line; /* of all rows, of a row: K runs along it */
    int bits;             /* of an element in memory */
    const void *scales;
    uint64_t scale_bytes;
    const int32_t (*scale_places)[2]; /* of each scale byte: row and K block; -1: padding */
    int block_k;
    fpo_format element, scale; /* what an instruction must read them as; FPO_FORMAT_NONE: not known */
} fpo_vgpu_operand;

/* Launches are traced while it is set: the first mma.sync whose operands do not belong together is described in
 * `finding`, "" if there is none. With an interval scales are not traced: they are factors of sums, which have no
 * source.
 */
typedef struct fpo_vgpu_trace {
    fpo_vgpu_operand a, b;
    int64_t k;
    bool split; /* accumulators may start in the middle of K */
    /* Elements of K whose sum leaves the accumulator to be scaled and added elsewhere, as scales in f32 want it: an
     * accumulator starts at the border of a block and ends at the next. 0: scales are the instruction's. */
    int interval;
    char finding[1024];
} fpo_vgpu_trace;

void fpo_vgpu_set_trace(fpo_vgpu *gpu, fpo_vgpu_trace *trace); /* NULL: no more */

typedef struct fpo_vgpu_launch {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    uint32_t cluster[3];                                /* 0: 1 */
    void (*report)(void *context, const char *message); /* of the checks; NULL: only counted */
    void *report_context;
    const void *const *arguments; /* one pointer a parameter, as cuLaunchKernel has them */
} fpo_vgpu_launch;

typedef struct fpo_vgpu_statistics {
    uint64_t instructions; /* of warps */
    uint64_t mmas, tensor_copies, rounds, cancelled;
    uint64_t reports; /* of the checks: one for each instruction and kind */
} fpo_vgpu_statistics;

/* Runs the grid to its end. An error is what the kernel did (FPO_ERR_KERNEL: fault, trap, deadlock) with its PTX line,
 * CTA, warp and instruction, or a launch that makes no sense. */
fpo_status fpo_vgpu_run(fpo_vgpu_function *function, const fpo_vgpu_launch *launch, fpo_vgpu_statistics *statistics,
                        fpo_error *error);

/* Parameters of a function: number, offsets and sizes. */
uint32_t fpo_vgpu_param_count(const fpo_vgpu_function *function);
uint32_t fpo_vgpu_param_offset(const fpo_vgpu_function *function, uint32_t index);
uint32_t fpo_vgpu_param_size(const fpo_vgpu_function *function, uint32_t index);
const char *fpo_vgpu_function_name(const fpo_vgpu_function *function);

typedef struct fpo_vgpu_function_info {
    uint32_t shared_bytes, local_bytes; /* static shared memory of a CTA, local memory of a thread */
    uint32_t max_threads;               /* 0: the kernel does not say */
    uint32_t cluster[3];                /* that the kernel requires; 0: none */
} fpo_vgpu_function_info;

fpo_vgpu_function_info fpo_vgpu_describe(const fpo_vgpu_function *function);

#endif

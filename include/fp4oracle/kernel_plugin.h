/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The C ABI between `fp4oracle run` and a plug-in that holds GEMM kernels. It needs this file alone: no CUDA, nothing
 * of the emulator. docs/plugins.md explains it with an example.
 *
 *   D[m,n] = cvt( alpha * tensor scales * sum_k  sfA(m,k) * A[m,k] * sfB(n,k) * B[n,k]  +  beta * C[m,n] + bias[n] )
 *
 * A is M x K, B is N x K. A kernel declares how it wants every buffer; the runner converts, allocates, guards, poisons
 * and compares. A plug-in never reorders data.
 *
 * Names of formats, packings, layouts, models and epilogue steps are those of `fp4oracle list`, as text: a plug-in may
 * name what a runner of its time does not know yet, and gets a clear refusal.
 *
 * Growth: every struct says its size as the plug-in was compiled; new fields go to the end; a field beyond the size
 * counts as zero, and zero always means "as before". Zero-initialise every struct. */
#ifndef FP4ORACLE_KERNEL_PLUGIN_H
#define FP4ORACLE_KERNEL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FPO_PLUGIN_ABI 1u
#define FPO_PLUGIN_SYMBOL "fpo_plugin_v1"
#if defined(__GNUC__)
#define FPO_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define FPO_PLUGIN_EXPORT
#endif

/* What every function returns. All but FPO_PLUGIN_OK write one line, the reason with its numbers, to `why`, which has
 * room for FPO_PLUGIN_TEXT bytes with the final zero. */
typedef int32_t fpo_plugin_status;
enum {
    FPO_PLUGIN_OK = 0,
    FPO_PLUGIN_UNSUPPORTED = 1, /* this shape, device or library cannot do it: said, and not counted as a failure */
    FPO_PLUGIN_OUT_OF_MEMORY = 2,
    FPO_PLUGIN_FAILED = 3,     /* a launch or library call failed; the next one may work */
    FPO_PLUGIN_DEVICE_LOST = 4 /* a sticky error: this process can run nothing more on the device */
};
enum { FPO_PLUGIN_TEXT = 512 };

/* Which index runs fastest in memory. */
enum {
    FPO_MAJOR_K = 0, /* A, B: K contiguous, one line a row */
    FPO_MAJOR_MN = 1 /* A, B: rows contiguous, one line for each k */
};
enum {
    FPO_ROW_MAJOR = 0,   /* C, D: N contiguous, one line for each m */
    FPO_COLUMN_MAJOR = 1 /* C, D: M contiguous, one line for each n */
};

/* Where a kernel reads an f32 scalar (alpha, beta, tensor scales). */
enum {
    FPO_SCALAR_NONE = 0,  /* it has no such scalar; vectors that need one are not run */
    FPO_SCALAR_HOST = 1,  /* the pointer in the problem is host memory */
    FPO_SCALAR_DEVICE = 2 /* memory of the device (the same as HOST for a plug-in that works in host memory) */
};

/* How the f32 tensor scales of A and B reach the kernel. */
enum {
    FPO_TENSOR_SCALES_IN_ALPHA = 0, /* the runner passes alpha = RN(RN(scale of A * alpha) * scale of B) */
    FPO_TENSOR_SCALES_HOST = 1,     /* a_tensor_scale and b_tensor_scale of the problem, host memory */
    FPO_TENSOR_SCALES_DEVICE = 2
};

/* What does the multiplications of the main loop. */
enum {
    FPO_ARITHMETIC_DEVICE = 0,   /* the device's own matrix instructions */
    FPO_ARITHMETIC_EMULATED = 1, /* software in place of matrix instructions that the device lacks */
    FPO_ARITHMETIC_PLAIN = 2     /* ordinary scalar or vector arithmetic */
};

/* What the padding bytes of a scale layout may hold. Kernels that multiply zero-filled elements of a last K tile by the
 * scales that stand in the padding get NaN from a NaN there. */
enum {
    FPO_PADDING_ANY = 0,     /* it does not matter: the runner tries five fills, NaN among them */
    FPO_PADDING_NUMBERS = 1, /* anything but NaN */
    FPO_PADDING_ZERO = 2     /* the caller must put zero bytes there */
};

/* How a kernel takes A or B. Scales that cover all of K (scale_k = 0) are one f32 per tensor (scale_rows = 0) or a
 * vector of one f32 a row (scale_rows = 1). */
typedef struct fpo_kernel_operand {
    const char *element;      /* "e2m1", "e4m3", ... */
    const char *packing;      /* NULL: "canonical" */
    const char *scale;        /* format of the scale factors: "ue4m3", "ue8m0", "f32"; NULL: none */
    const char *scale_layout; /* "128x4", ...; NULL: "linear" */
    int32_t scale_rows;       /* rows that one scale covers, 0: all */
    int32_t scale_k;          /* elements of K that one scale covers, 0: all */
    uint32_t major;           /* FPO_MAJOR_ */
    uint32_t line_multiple;   /* a line starts at multiples of so many bytes; 0: lines follow without a gap */
    uint32_t scale_padding;   /* FPO_PADDING_ */
    uint32_t reserved_word;
    uint64_t reserved[3];
} fpo_kernel_operand;

/* How the sum is formed, as far as it decides bits. Zero and NULL mean "as the model says". */
typedef struct fpo_kernel_order {
    uint32_t size;         /* sizeof(fpo_kernel_order) */
    int32_t parts;         /* splits of K */
    const char *models;    /* names of accumulation models that describe the kernel, separated by commas; NULL: unknown,
                              every model that takes these operands is tried */
    const char *epilogue;  /* the steps from the accumulator to D (docs/plugins.md); NULL: y * alpha + beta * C + bias,
                              each rounded to f32 */
    const char *split;     /* "contiguous", "even", "interleaved", "cublaslt", "stream_k" */
    const char *reduction; /* "serial", "pairwise", "last_adds" */
    int32_t tile_m, tile_n, tile_k;                 /* output tile and elements of K in a tile */
    int32_t instruction_k;                          /* elements of K in one matrix instruction: for people */
    int32_t quantum, wave, min_k_tiles, max_groups; /* of split-K and Stream-K: model.h */
    int32_t swap_ab;                                /* 1: the kernel computes the transpose */
} fpo_kernel_order;

typedef struct fpo_kernel {
    const char *name;    /* unique in the plug-in: "cutlass/79a/nvfp4/bf16/128x128x128" */
    const char *summary; /* one line for people */
    const char *source;  /* where the kernel comes from, with its version; NULL: the plug-in itself */
    const char *fault;   /* what was broken on purpose, in one sentence; NULL in a kernel that means to be right */
    const void *user;    /* the plug-in's own */
    fpo_kernel_operand a, b;
    const char *c;              /* format of C, NULL: it takes none */
    const char *bias;           /* format of the bias, NULL: it takes none */
    const char *d;              /* format of D */
    const char *d_scale;        /* format of the scales that it writes with D ("ue4m3" for nvfp4 output), NULL: none */
    const char *d_scale_layout; /* NULL: "linear" */
    uint32_t bias_per_row;      /* 1: bias[m] instead of bias[n] */
    uint32_t c_order, d_order;  /* FPO_ROW_MAJOR, FPO_COLUMN_MAJOR */
    uint32_t c_line_multiple, d_line_multiple; /* bytes, as in fpo_kernel_operand */
    uint32_t any_line;      /* 1: the kernel honours the strides of the problem, whatever (aligned) value they have;
                               the runner then leaves gaps between lines and watches them */
    uint32_t alpha, beta;   /* FPO_SCALAR_ */
    uint32_t tensor_scales; /* FPO_TENSOR_SCALES_ */
    int32_t m_multiple, n_multiple, k_multiple; /* shapes that are no multiples are not run; 0: any */
    uint32_t arithmetic;                        /* FPO_ARITHMETIC_ on a device in `native` */
    const int32_t *native;   /* compute capabilities, 120 for 12.0, ended by 0; NULL: the device does not matter */
    const int32_t *emulated; /* those on which the kernel runs with FPO_ARITHMETIC_EMULATED; NULL: none */
    const fpo_kernel_order *order; /* NULL: nothing is known */
} fpo_kernel;

/* One launch. Addresses belong to the plug-in's memory, scalars to the place that the kernel declared. */
typedef struct fpo_kernel_problem {
    uint32_t size;    /* sizeof(fpo_kernel_problem) as the runner was compiled */
    uint32_t variant; /* 0 ... variants - 1 */
    int64_t m, n, k;
    const void *a, *b;                      /* codes */
    int64_t a_line, b_line, c_line, d_line; /* bytes from one line to the next */
    const void *a_scale, *b_scale;          /* NULL where the kernel has none */
    int64_t a_scale_bytes, b_scale_bytes, d_scale_bytes;
    const float *a_tensor_scale, *b_tensor_scale; /* NULL with FPO_TENSOR_SCALES_IN_ALPHA */
    const float *alpha, *beta;                    /* NULL with FPO_SCALAR_NONE */
    const void *c, *bias;                         /* NULL where the vector has none */
    void *d, *d_scale;
    const float *d_norm; /* what multiplies a narrow output before it is converted, host memory */
    void *workspace;
    uint64_t workspace_bytes;
} fpo_kernel_problem;

/* A way of computing one problem, where a kernel has several: an algorithm of a library, a tile, a split. */
typedef struct fpo_kernel_variant {
    uint32_t size; /* set by the runner */
    uint32_t reserved;
    const fpo_kernel_order *order; /* NULL: the kernel's own. This and its strings stay valid until the next call */
    char name[FPO_PLUGIN_TEXT];    /* "algo 66 tile 128x128 stages 4 splitk 2" */
} fpo_kernel_variant;

enum { FPO_DEVICE_GPU = 0, FPO_DEVICE_VIRTUAL = 1, FPO_DEVICE_OTHER = 2 };

typedef struct fpo_plugin_device {
    uint32_t size;              /* set by the runner */
    uint32_t kind;              /* FPO_DEVICE_ */
    int32_t compute_capability; /* 120 for 12.0; 0 where there is no such thing */
    int32_t multiprocessors;
    uint64_t memory_bytes;
    char name[128];                 /* "NVIDIA H200" */
    char software[FPO_PLUGIN_TEXT]; /* driver, runtime and library versions: "driver 580.159, CUDA 13.0, cuBLASLt 13.1"
                                     */
} fpo_plugin_device;

/* Memory of a device that the host cannot address. Addresses are multiples of 256. Transfers are complete on return
 * and ordered after everything that was launched before. */
typedef struct fpo_plugin_memory {
    uint32_t size; /* sizeof(fpo_plugin_memory) */
    uint32_t reserved;
    /* Number of devices; FPO_PLUGIN_UNSUPPORTED with the reason if there are none. */
    fpo_plugin_status (*count)(int32_t *devices, char *why);
    /* FPO_PLUGIN_UNSUPPORTED with the reason for a device that is there and cannot be used. */
    fpo_plugin_status (*describe)(int32_t device, fpo_plugin_device *description, char *why);
    /* Once in a process, before anything below. */
    fpo_plugin_status (*open)(int32_t device, char *why);
    fpo_plugin_status (*allocate)(uint64_t bytes, void **address, char *why);
    fpo_plugin_status (*release)(void *address, char *why);
    fpo_plugin_status (*upload)(void *to, const void *from, uint64_t bytes, char *why);
    fpo_plugin_status (*download)(void *to, const void *from, uint64_t bytes, char *why);
    /* Waits for everything that was launched, and reports what went wrong in it. */
    fpo_plugin_status (*synchronise)(char *why);
} fpo_plugin_memory;

typedef struct fpo_plugin {
    uint32_t size; /* sizeof(fpo_plugin) */
    uint32_t abi;  /* FPO_PLUGIN_ABI */
    const char *name;
    const char *version;
    const fpo_kernel *kernels;
    uint32_t kernel_count;
    uint32_t kernel_size;            /* sizeof(fpo_kernel) */
    const fpo_plugin_memory *memory; /* NULL: the kernels work in host memory */
    /* Optional (NULL): whether this problem can be run. All addresses are valid but that of the workspace. */
    fpo_plugin_status (*check)(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why);
    /* Optional: number of variants (at least 1), and what one is. */
    fpo_plugin_status (*variants)(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint32_t *count,
                                  char *why);
    fpo_plugin_status (*describe)(const fpo_kernel *kernel, const fpo_kernel_problem *problem,
                                  fpo_kernel_variant *variant, char *why);
    /* Optional: bytes of scratch memory for this problem and variant. */
    fpo_plugin_status (*workspace)(const fpo_kernel *kernel, const fpo_kernel_problem *problem, uint64_t *bytes,
                                   char *why);
    /* Starts the kernel; may return before it is done, memory->synchronise waits for it. Launches keep their order. */
    fpo_plugin_status (*run)(const fpo_kernel *kernel, const fpo_kernel_problem *problem, char *why);
} fpo_plugin;

/* The one symbol that a plug-in exports: the table for this ABI, or NULL if it cannot serve it. The table stays valid
 * as long as the plug-in is loaded. */
FPO_PLUGIN_EXPORT const fpo_plugin *fpo_plugin_v1(uint32_t abi_wanted);
typedef const fpo_plugin *(*fpo_plugin_entry)(uint32_t abi_wanted);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The process's virtual GPU, behind the CUDA runtime and driver functions that stand in for NVIDIA's libraries. CUDA
 * has one state a process, and so has this: one structure, one lock. */
#ifndef FP4ORACLE_KERNELS_VGPU_CUDA_STANDIN_H
#define FP4ORACLE_KERNELS_VGPU_CUDA_STANDIN_H

#include "vgpu.h"

#define FPO_CUDA_EXPORT __attribute__((visibility("default")))

/* Codes that the runtime and the driver share. */
enum {
    FPO_CUDA_OK = 0,
    FPO_CUDA_INVALID_VALUE = 1,
    FPO_CUDA_MEMORY = 2,
    FPO_CUDA_RUNTIME_INVALID_FUNCTION = 98,
    FPO_CUDA_NO_DEVICE = 100,
    FPO_CUDA_INVALID_DEVICE = 101,
    FPO_CUDA_INVALID_IMAGE = 200,
    FPO_CUDA_INVALID_HANDLE = 400,
    FPO_CUDA_NOT_FOUND = 500,
    FPO_CUDA_LAUNCH_FAILED = 719,
    FPO_CUDA_NOT_SUPPORTED = 801
};

enum { FPO_CUDA_VERSION = 13000 };

typedef struct fpo_cuda_dim3 {
    unsigned x, y, z;
} fpo_cuda_dim3;

/* NULL if FP4ORACLE_VGPU is not understood (a message was written to stderr). */
fpo_vgpu *fpo_cuda_gpu(void);
void fpo_cuda_lock(void);
void fpo_cuda_unlock(void);

/* The last failure: code and message. A kernel's failure stays, as a CUDA context's does. */
int fpo_cuda_fail(int code, const char *message);
int fpo_cuda_last(bool clear);
const char *fpo_cuda_message(int code);

/* A module from PTX text or a fat binary; NULL after a failure. */
typedef struct fpo_cuda_module fpo_cuda_module;
fpo_cuda_module *fpo_cuda_module_new(const void *image, bool fat_binary);
/* NULL if it has no such kernel. Decoding waits for the first launch. */
typedef struct fpo_cuda_kernel fpo_cuda_kernel;
fpo_cuda_kernel *fpo_cuda_kernel_get(fpo_cuda_module *module, const char *name);
const char *fpo_cuda_kernel_name(const fpo_cuda_kernel *kernel);
fpo_cuda_module *fpo_cuda_kernel_module(const fpo_cuda_kernel *kernel);
/* Whether `pointer` is a kernel's handle: functions take one where they take a host symbol. */
bool fpo_cuda_is_kernel(const void *pointer);
/* Decodes the kernel. A code. */
int fpo_cuda_describe(fpo_cuda_kernel *kernel, fpo_vgpu_function_info *info);
/* The kernel of that number in its module, or NULL beyond the end. */
fpo_cuda_kernel *fpo_cuda_kernel_at(fpo_cuda_module *module, unsigned index);
void *fpo_cuda_global(fpo_cuda_module *module, const char *name, size_t *bytes);

/* `packed`: all parameters in one buffer instead of `arguments`; or NULL. */
int fpo_cuda_launch(fpo_cuda_kernel *kernel, fpo_cuda_dim3 grid, fpo_cuda_dim3 block, unsigned shared,
                    const unsigned *cluster, void **arguments, const void *packed);

int fpo_cuda_attribute(int attribute, int *value);
size_t fpo_cuda_total_memory(void);
void fpo_cuda_name(char *name, size_t size);
/* The driver's function of that name, or NULL. */
void *fpo_cuda_entry_point(const char *name);

/* The cluster among the attributes of a launch, NULL if there is none; their layout is the runtime's and the driver's.
 */
typedef struct fpo_cuda_attribute_value {
    int id;
    char padding[4];
    unsigned value[16];
} fpo_cuda_attribute_value;
const unsigned *fpo_cuda_cluster(const fpo_cuda_attribute_value *attributes, unsigned count);

/* CTAs of a multiprocessor, and clusters of the GPU, that are resident at a time. */
int fpo_cuda_resident_ctas(fpo_cuda_kernel *kernel, int threads, size_t shared, int *count);
int fpo_cuda_resident_clusters(const unsigned *cluster, int *count);
int fpo_cuda_function_attribute(fpo_cuda_kernel *kernel, int attribute, int *value);

/* cuTensorMapEncodeTiled. */
int fpo_cuda_encode_tiled(void *map, int type, unsigned rank, void *address, const unsigned long long *dim,
                          const unsigned long long *stride, const unsigned *box, const unsigned *element_stride,
                          int interleave, int swizzle, int l2_promotion, int fill);

#endif

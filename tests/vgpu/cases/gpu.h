/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Small kernels and what they must write, by formulas. One program (gpu_cases) runs them through the CUDA driver's
 * functions, so that the same binary runs on a real GPU and, under `fp4oracle vgpu`, on the virtual one. */
#ifndef FP4ORACLE_TESTS_VGPU_CASES_GPU_H
#define FP4ORACLE_TESTS_VGPU_CASES_GPU_H

#include <stddef.h>
#include <stdint.h>

typedef struct gpu_launch {
    const char *kernel;
    unsigned grid[3], block, cluster[3], shared;
} gpu_launch;

/* All of them end the program with a message if they fail. */
void gpu_start(const char *folder);
int gpu_capability(void); /* 90 */
/* Loads FOLDER/NAME; launches take their kernels from it. */
void gpu_module(const char *name);
void gpu_module_text(const char *ptx);
uint64_t gpu_allocate(size_t bytes); /* filled with 0xEE */
uint64_t gpu_upload(const void *bytes, size_t size);
void gpu_download(void *to, uint64_t from, size_t bytes);
/* Returns the driver's code of the launch or of its end; 0: success. */
int gpu_try(const gpu_launch *launch, void **arguments);
void gpu_run(const gpu_launch *launch, void **arguments);

typedef struct gpu_map {
    int type, swizzle, fill;
    unsigned rank;
    uint64_t address;
    unsigned long long dim[5], stride[4];
    unsigned box[5];
} gpu_map;

/* cuTensorMapEncodeTiled; 0: success. */
int gpu_encode(const gpu_map *request, void *map);

/* Counts a comparison and says where the first differences are. */
void gpu_compare(const char *what, const void *got, const void *expected, size_t bytes);
void gpu_expect(const char *what, int true_or_not);
extern unsigned gpu_compared, gpu_different;

void cases_cluster(void);
void cases_tensormap(void);
void cases_wgmma(void);
void cases_runtime(void);
void cases_reduce(void);

#endif

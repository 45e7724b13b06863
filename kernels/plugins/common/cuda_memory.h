/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The memory of a CUDA device for plug-ins, through the CUDA runtime. */
#ifndef FP4ORACLE_PLUGINS_CUDA_MEMORY_H
#define FP4ORACLE_PLUGINS_CUDA_MEMORY_H

#include <cuda_runtime_api.h>
#include <fp4oracle/kernel_plugin.h>

/* `software` is appended to the driver and runtime versions: the library's own name and version. */
const fpo_plugin_memory *fpo_cuda_memory(const char *software);

/* The status of a CUDA call, with the call and CUDA's words in `why`. Errors that leave the context unusable are
 * FPO_PLUGIN_DEVICE_LOST. */
fpo_plugin_status fpo_cuda_status(cudaError_t error, const char *call, char *why);

/* Compute capability of the current device, 90 for 9.0; 0 if there is none. */
int32_t fpo_cuda_capability(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* cuBLASLt as a plug-in: what a kernel entry means to the library. D is column major there, so A is M x K with K
 * contiguous (transposed in the library's words), B is N x K, and the bias runs along M. */
#ifndef FP4ORACLE_PLUGINS_CUBLASLT_H
#define FP4ORACLE_PLUGINS_CUBLASLT_H

#include <cublasLt.h>
#include <fp4oracle/kernel_plugin.h>

typedef struct lt_mode {
    const char *name;
    cublasLtMatmulMatrixScale_t a, b;
    const char *epilogue, *split_epilogue; /* on compute capability 9.0; NULL: not known */
    int32_t quantum;
} lt_mode;

/* fpo_kernel.user */
typedef struct lt_kernel {
    const lt_mode *mode;
    cudaDataType_t a, b, c, d, bias;
    int fast;          /* FAST_ACCUM */
    const char *model; /* of the accumulation on compute capability 9.0 */
} lt_kernel;

extern const fpo_kernel *lt_kernels;
uint32_t lt_make_kernels(void); /* fills the table once; returns how many there are */

/* One problem as the library sees it. */
typedef struct lt_call {
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c, d;
} lt_call;

fpo_plugin_status lt_open_call(const fpo_kernel *kernel, const fpo_kernel_problem *problem, lt_call *call, char *why);
void lt_close_call(lt_call *call);
fpo_plugin_status lt_status(cublasStatus_t status, const char *call, char *why);

#endif

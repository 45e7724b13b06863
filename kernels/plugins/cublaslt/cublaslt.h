/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* cuBLASLt as a plug-in: what a kernel entry means to the library. D is column major there, and its bias runs along M.
 * Frameworks, whose D is row major, hand it B in place of A and A in place of B; a plain entry is called like that and
 * is the transpose of what the library computes. Entries with "/column" have no such exchange, and a column-major D. */
#ifndef FP4ORACLE_PLUGINS_CUBLASLT_H
#define FP4ORACLE_PLUGINS_CUBLASLT_H

#include <cublasLt.h>
#include <fp4oracle/kernel_plugin.h>

typedef struct lt_mode {
    const char *name;
    cublasLtMatmulMatrixScale_t a, b;
    const char *epilogue,
        *split_epilogue; /* on compute capability 9.0, in the library's own A and B; NULL: not known */
    int32_t quantum;
} lt_mode;

/* fpo_kernel.user */
typedef struct lt_kernel {
    const lt_mode *mode;
    cudaDataType_t a, b, c, d, bias;
    int fast;          /* FAST_ACCUM */
    int exchange;      /* the library's A is our B */
    const char *model; /* of the accumulation on compute capability 9.0 */
} lt_kernel;

extern const fpo_kernel *lt_kernels;
/* The epilogue of an entry, after split-K or not, in our A and B; NULL if it is not known. `text` has room. */
const char *lt_epilogue(const lt_kernel *kernel, int split, char *text, size_t size);

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

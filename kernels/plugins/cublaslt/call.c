/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* A problem in the library's terms. */
#include "../common/cuda_memory.h"
#include "cublaslt.h"

#include <stdio.h>
#include <string.h>

fpo_plugin_status lt_status(cublasStatus_t status, const char *call, char *why)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return FPO_PLUGIN_OK;
    snprintf(why, FPO_PLUGIN_TEXT, "%s: %s", call, cublasLtGetStatusString(status));
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? FPO_PLUGIN_UNSUPPORTED : FPO_PLUGIN_FAILED;
}

static cublasStatus_t set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, const void *value,
                          size_t size)
{
    return cublasLtMatmulDescSetAttribute(operation, attribute, value, size);
}

/* One operand of the library: what it calls A or B. */
typedef struct side {
    cudaDataType_t type;
    cublasLtMatmulMatrixScale_t mode;
    const void *scale;
    int64_t rows, line;
} side;

static void sides(const lt_kernel *k, const fpo_kernel_problem *p, side *a, side *b)
{
    side ours_a = {k->a, k->exchange ? k->mode->b : k->mode->a, p->a_scale, p->m, p->a_line};
    side ours_b = {k->b, k->exchange ? k->mode->a : k->mode->b, p->b_scale, p->n, p->b_line};
    *a = k->exchange ? ours_b : ours_a;
    *b = k->exchange ? ours_a : ours_b;
}

static fpo_plugin_status describe_operation(const lt_kernel *k, const fpo_kernel_problem *p, cublasLtMatmulDesc_t o,
                                            char *why)
{
    side a, b;
    sides(k, p, &a, &b);
    cublasOperation_t transpose = CUBLAS_OP_T, keep = CUBLAS_OP_N;
    int8_t fast = (int8_t)k->fast;
    cublasStatus_t s = set(o, CUBLASLT_MATMUL_DESC_TRANSA, &transpose, sizeof transpose);
    s = s ? s : set(o, CUBLASLT_MATMUL_DESC_TRANSB, &keep, sizeof keep);
    s = s ? s : set(o, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast);
    s = s ? s : set(o, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &a.mode, sizeof a.mode);
    s = s ? s : set(o, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &b.mode, sizeof b.mode);
    s = s ? s : set(o, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &a.scale, sizeof a.scale);
    s = s ? s : set(o, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &b.scale, sizeof b.scale);
    if (!s && p->bias != NULL) {
        cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
        s = set(o, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
        s = s ? s : set(o, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &k->bias, sizeof k->bias);
        s = s ? s : set(o, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->bias, sizeof p->bias);
    }
    return lt_status(s, "cublasLtMatmulDescSetAttribute", why);
}

static int64_t elements(int64_t line_bytes, cudaDataType_t type)
{
    switch (type) {
    case CUDA_R_4F_E2M1: return line_bytes * 2;
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2: return line_bytes;
    case CUDA_R_32F: return line_bytes / 4;
    default: return line_bytes / 2;
    }
}

/* What the kernel multiplies a narrow output by, on the device. The library reads it when the kernel runs, so it lives
 * until the process ends; one process runs one kernel. */
static fpo_plugin_status set_output_scale(const fpo_kernel_problem *p, cublasLtMatmulDesc_t o, char *why)
{
    static float *on_device;
    fpo_plugin_status status = FPO_PLUGIN_OK;
    if (on_device == NULL)
        status = fpo_cuda_status(cudaMalloc((void **)&on_device, sizeof *on_device), "cudaMalloc", why);
    if (status == FPO_PLUGIN_OK)
        status = fpo_cuda_status(cudaMemcpy(on_device, p->d_norm, sizeof *on_device, cudaMemcpyHostToDevice),
                                 "copying the scale of D", why);
    if (status != FPO_PLUGIN_OK)
        return status;
    return lt_status(set(o, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &on_device, sizeof on_device),
                     "setting the scale of D", why);
}

fpo_plugin_status lt_open_call(const fpo_kernel *kernel, const fpo_kernel_problem *p, lt_call *call, char *why)
{
    const lt_kernel *k = kernel->user;
    side a, b;
    sides(k, p, &a, &b);
    uint64_t rows = (uint64_t)a.rows, columns = (uint64_t)b.rows, depth = (uint64_t)p->k;
    memset(call, 0, sizeof *call);
    cublasStatus_t s = cublasLtMatmulDescCreate(&call->operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    s = s ? s : cublasLtMatrixLayoutCreate(&call->a, a.type, depth, rows, elements(a.line, a.type));
    s = s ? s : cublasLtMatrixLayoutCreate(&call->b, b.type, depth, columns, elements(b.line, b.type));
    /* The library wants a C layout also where there is no C. */
    int64_t c_line = p->c != NULL ? elements(p->c_line, k->c) : (a.rows + 15) / 16 * 16;
    s = s ? s : cublasLtMatrixLayoutCreate(&call->c, k->c, rows, columns, c_line);
    s = s ? s : cublasLtMatrixLayoutCreate(&call->d, k->d, rows, columns, elements(p->d_line, k->d));
    fpo_plugin_status status = lt_status(s, "creating the descriptors", why);
    if (status == FPO_PLUGIN_OK)
        status = describe_operation(k, p, call->operation, why);
    if (status == FPO_PLUGIN_OK && k->d == CUDA_R_8F_E4M3)
        status = set_output_scale(p, call->operation, why);
    if (status != FPO_PLUGIN_OK)
        lt_close_call(call);
    return status;
}

void lt_close_call(lt_call *call)
{
    cublasLtMatrixLayout_t layouts[] = {call->a, call->b, call->c, call->d};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i] != NULL)
            cublasLtMatrixLayoutDestroy(layouts[i]);
    if (call->operation != NULL)
        cublasLtMatmulDescDestroy(call->operation);
    memset(call, 0, sizeof *call);
}
